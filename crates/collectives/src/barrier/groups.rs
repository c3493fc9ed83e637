//! A barrier of a fan-in and a fan-out over trees whose parents serve groups that share a line: CLa's notification
//! trees (§3.1, §3.2).
//!
//! ```text
//!        0            in:   1, 2 and 3 add to one line, which 0 collects; 4 notifies 0
//!      ╱ │            out:  0 notifies 4, and publishes once for 1, 2 and 3
//!     4  ├─┬─┐
//!        1 2 3
//! ```
//!
//! One group of all others is CLa's *same line* in both directions. Where groups of another size are asked for, the
//! first rank of each group goes on in the next level, in groups of that size again: [`grouped`].
//! Each group has lines of its own (*single-use
//! lines*), so that no rank polls a line that another group writes.

use crate::groups::{GroupRoute, Groups, Stop};
use corecast_plan::groups::Grouped;
use corecast_wire::Fabric;

/// One rank's part of a barrier over groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupSchedule {
    fan_in: GroupRoute,
    fan_out: GroupRoute,
}

impl GroupSchedule {
    /// The parts of all ranks. Where fan-in and fan-out have different roots, the root of the fan-in notifies that
    /// of the fan-out.
    ///
    /// # Panics
    ///
    /// If fan-in and fan-out are for teams of different sizes.
    pub fn all(fan_in: &Grouped, fan_out: &Grouped, groups: &mut Groups) -> Vec<Self> {
        assert_eq!(fan_in.len(), fan_out.len(), "two ways of one team");
        let (last, first) = (fan_in.root(), fan_out.root());
        let mut inward = GroupRoute::fan_in(fan_in, groups);
        let mut outward = GroupRoute::fan_out(fan_out, groups);
        if last != first {
            inward[last].parent = Some(Stop::Rank(first));
            outward[first].parent = Some(Stop::Rank(last));
        }
        Self::of_both(inward, outward)
    }

    /// The parts of all ranks over [`grouped`], which need no links between ranks.
    ///
    /// # Panics
    ///
    /// Those of [`grouped`].
    pub fn sized(size: usize, root: usize, packages: &[u32], groups: &mut Groups) -> Vec<Self> {
        let (fan_in, fan_out) = grouped(size, root, packages);
        let inward = GroupRoute::fan_in_over_lines(&fan_in, groups);
        let outward = GroupRoute::fan_out_over_lines(&fan_out, groups);
        Self::of_both(inward, outward)
    }

    fn of_both(inward: Vec<GroupRoute>, outward: Vec<GroupRoute>) -> Vec<Self> {
        let schedule = inward.into_iter().zip(outward);
        schedule
            .map(|(fan_in, fan_out)| Self { fan_in, fan_out })
            .collect()
    }
}

/// The fan-in and the fan-out in which at most `size` ranks share a line with the one that they belong to. Groups of
/// one level lie in one package each, and the leaders of packages have levels of their own; rank `root` leads all.
/// `packages` has the package of each rank.
///
/// # Panics
///
/// If `size` is 0, or `root` has no package.
///
/// # Source
///
/// CLa §3.2: several notification trees of groups, whose size is a parameter.
///
/// # Examples
///
/// ```
/// use corecast_collectives::barrier::grouped;
///
/// let (fan_in, fan_out) = grouped(2, 0, &[0; 9]);
/// // Near ranks are collected first, and released last.
/// assert_eq!(fan_in.groups(0), [[1, 2], [3, 6]]);
/// assert_eq!(fan_out.groups(0), [[3, 6], [1, 2]]);
/// assert_eq!(fan_in.groups(6), [[7, 8]]);
/// ```
pub fn grouped(size: usize, root: usize, packages: &[u32]) -> (Grouped, Grouped) {
    assert!(size > 0, "a group has members");
    let n = packages.len();
    let mut inward = vec![Vec::new(); n];
    let mut level_up = |mut level: Vec<usize>| {
        while level.len() > 1 {
            let clusters = level.chunks(size + 1);
            let led = clusters.map(|cluster| {
                if let [leader, others @ ..] = cluster
                    && !others.is_empty()
                {
                    inward[*leader].push(others.to_vec());
                }
                cluster[0]
            });
            level = led.collect();
        }
        level[0]
    };
    // The root comes first in its package, and its package first of all, so that it leads each level.
    let key = |rank: &usize| (packages[*rank] != packages[root], *rank != root);
    let mut members = crate::packages::members(packages);
    for ranks in &mut members {
        ranks.sort_by_key(key);
    }
    members.sort_by_key(|ranks| key(&ranks[0]));
    let leaders = members.into_iter().map(&mut level_up).collect();
    level_up(leaders);
    let outward: Vec<_> = inward
        .iter()
        .map(|groups| groups.iter().rev().cloned().collect())
        .collect();
    let tree = |groups| match Grouped::from_groups(root, groups) {
        Ok(tree) => tree,
        Err(error) => panic!("each rank but the root is in one group: {error}"),
    };
    (tree(inward), tree(outward))
}

/// Returns when all ranks have come.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// n − 1 additions or notifications in and n − 1 reads out; a parent writes one line for each group,
/// and takes one from it.
///
/// # Source
///
/// CLa §3.1 and §3.2, Equations 6 to 9 and 14 to 18, and 26 for trees of groups.
#[inline(always)]
pub fn groups<F: Fabric>(fabric: &mut F, schedule: &GroupSchedule) -> Result<(), F::Error> {
    for &from in &schedule.fan_in.groups {
        match from {
            Stop::Rank(peer) => fabric.wait(peer)?,
            Stop::Line(line) => fabric.collect(line)?,
        }
    }
    match schedule.fan_in.parent {
        Some(Stop::Rank(peer)) => fabric.notify(peer)?,
        Some(Stop::Line(line)) => fabric.add(line)?,
        None => {}
    }
    match schedule.fan_out.parent {
        Some(Stop::Rank(peer)) => fabric.wait(peer)?,
        Some(Stop::Line(line)) => fabric.read(line, &mut [])?,
        None => {}
    }
    for &to in &schedule.fan_out.groups {
        match to {
            Stop::Rank(peer) => fabric.notify(peer)?,
            Stop::Line(line) => fabric.publish(line, &[])?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    #[test]
    fn groups_have_the_size_and_stay_in_their_packages() {
        let mut rng = Rng::with_seed(31);
        for n in 1..=40usize {
            for size in [1, 2, 3, 5, 64] {
                let count = rng.u32(1..=4);
                let packages: Vec<u32> = (0..n).map(|_| rng.u32(0..count)).collect();
                let root = rng.usize(..n);
                let (fan_in, fan_out) = grouped(size, root, &packages);
                assert_eq!((fan_in.root(), fan_out.root()), (root, root));
                let mut crossing = std::collections::BTreeSet::new();
                for rank in 0..n {
                    let mut groups = fan_in.groups(rank).to_vec();
                    for group in &groups {
                        assert!(group.len() <= size, "{groups:?}");
                        let other = |member: &&usize| packages[**member] != packages[rank];
                        crossing.extend(group.iter().filter(other).map(|&one| packages[one]));
                    }
                    groups.reverse();
                    assert_eq!(fan_out.groups(rank), groups);
                }
                // One rank of each package but the root's is led from another one.
                let mut used = packages.clone();
                used.sort_unstable();
                used.dedup();
                assert_eq!(crossing.len(), used.len() - 1);
                if count == 1 {
                    let depth = |rank| {
                        std::iter::successors(Some(rank), |&at| fan_in.tree().parent(at)).count()
                            - 1
                    };
                    let levels = (0..).find(|&levels| (size + 1).pow(levels) >= n).unwrap();
                    assert!((0..n).all(|rank| depth(rank) <= levels as usize));
                }
            }
        }
    }
}
