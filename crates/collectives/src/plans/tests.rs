//! Plans of a team are chosen and checked.

use super::*;

/// The costs include shared lines, over which groups are best.
#[test]
fn plans_share_lines_where_costs_know_them() {
    let words = "package:2 core:3 send=10,20 receive=30,60 write=5 transfer=2,4";
    let file = corecast_model::synthetic(words).unwrap();
    let costs = file.costs();
    let plans = Plans::of_pattern(costs, Pattern::Best, None).unwrap();
    let shares = |plans: &Plans| {
        let in_barrier = match plans.barrier() {
            BarrierPlan::Groups { fan_in, fan_out } => {
                fan_in.shares_lines() || fan_out.shares_lines()
            }
            _ => false,
        };
        [in_barrier, plans.broadcast_groups().is_some()]
    };
    assert_eq!(shares(&plans), [true; 2]);
    let groups = plans.broadcast_groups().unwrap();
    assert_eq!(groups.tree(), plans.broadcast());
    let bare = Plans::of_pattern(&costs.without_lines(), Pattern::Best, None).unwrap();
    assert_eq!(shares(&bare), [false; 2]);
    // Smelt's pattern is no search, so it has no groups.
    let smelt = Plans::of_pattern(costs, Pattern::Smelt, None).unwrap();
    assert_eq!(shares(&smelt), [false; 2]);
}

#[test]
fn packages_are_as_many_as_ranks() {
    let plans = Plans::of_tree(&Tree::from_children(0, vec![vec![1], vec![]]).unwrap());
    let error = plans.clone().with_packages(vec![0]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "1 packages were given for 2 ranks: give one for each rank, or none at all"
    );
    let plans = plans.with_packages(vec![4, 9]).unwrap();
    assert_eq!(plans.packages(), Some(&[4, 9][..]));
}
