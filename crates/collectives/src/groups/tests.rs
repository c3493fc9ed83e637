//! Ranks number the lines that they share with groups.

use super::*;
use corecast_plan::groups::Grouped;

#[test]
fn every_rank_numbers_its_own_lines() {
    let mut groups = Groups::new(4);
    let first = groups.ring(0, vec![1, 2]);
    let second = groups.ring(0, vec![3, 2]);
    let third = groups.counter(2, vec![0, 1]);
    assert_eq!((first.one, &first.others[..]), (0, &[0, 0][..]));
    assert_eq!((second.one, &second.others[..]), (1, &[0, 1][..]));
    assert_eq!((third.one, &third.others[..]), (0, &[0, 0][..]));
    assert_eq!(groups.counter_barrier(vec![3, 1]), [0, 0]);
    assert_eq!(groups.counter_barrier(vec![1, 2]), [1, 0]);
    assert_eq!((groups.rings().len(), groups.counters().len()), (2, 1));
    assert_eq!(groups.counter_barriers(), [[3, 1], [1, 2]]);
}

#[test]
fn groups_of_one_are_links() {
    let lists = vec![vec![vec![3], vec![1, 2]], vec![], vec![], vec![]];
    let plan = Grouped::from_groups(0, lists).unwrap();
    let mut groups = Groups::new(4);
    let fan_in = GroupRoute::fan_in(&plan, &mut groups);
    let fan_out = GroupRoute::fan_out(&plan, &mut groups);
    assert_eq!(fan_in[0].groups, [Stop::Rank(3), Stop::Line(0)]);
    assert_eq!(fan_out[0].groups, fan_in[0].groups);
    assert_eq!((fan_in[0].parent, fan_out[0].parent), (None, None));
    assert_eq!(fan_in[3].parent, Some(Stop::Rank(0)));
    assert_eq!(fan_out[2].parent, Some(Stop::Line(0)));
    assert_eq!((groups.rings().len(), groups.counters().len()), (1, 1));
}
