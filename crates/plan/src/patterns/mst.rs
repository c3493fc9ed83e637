//! Minimum spanning tree by Prim's algorithm (Smelt §2.4).

use std::ops::ControlFlow;

use corecast_model::CostModel;

use crate::pace::{self, FAR, Pace};
use crate::tree::Tree;

/// Prim's tree from the root: the cheapest message from a member inside to a member outside is
/// added until all are in. A message costs send + receive; children keep the order of adding.
///
/// The paper limits no out-degree; Smelt's released code limits it to two. `degree_max` is that
/// limit, [`usize::MAX`] for none.
///
/// ```text
///    two NUMA nodes {0,1,2} and {3,4,5}: one expensive message
///
///      0 ──► 1      3 ──► 4
///      │     │      ▲ ╲
///      ▼     └──────┘  ► 5
///      2
/// ```
///
/// # Panics
///
/// When the root is outside of the team or `degree_max` is 0 (and there are others to serve).
///
/// # Cost
///
/// O(n² log n): 40 to 80 ms at 1,024 members (2.5 GHz Xeon, November 2026, release build).
#[must_use]
pub fn mst(costs: &CostModel, root: usize, degree_max: usize) -> Tree {
    pace::unwatched(|pace| mst_within(costs, root, degree_max, pace))
}

/// Returns [`mst`], unless a watcher ends the search.
pub(crate) fn mst_within(
    costs: &CostModel,
    root: usize,
    degree_max: usize,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), Tree> {
    let weight = |i, j| costs.send(i, j) + costs.receive(i, j);
    prim(costs.n(), root, degree_max, weight, pace)
}

/// Prim's algorithm over any weight, least first; ties by the inner, then the outer rank. A watcher may end it.
pub(super) fn prim(
    n: usize,
    root: usize,
    degree_max: usize,
    weight: impl Fn(usize, usize) -> f64,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), Tree> {
    assert!(root < n, "root {root} is outside of a team of {n}");
    assert!(degree_max > 0 || n == 1, "somebody must serve");

    // Each member inside keeps all others sorted by weight and skips those that came in meanwhile.
    struct Inside {
        rank: usize,
        /// Cheapest last.
        others: Vec<usize>,
    }
    let enter = |rank: usize, inside: &[bool]| {
        let mut others: Vec<usize> = (0..n).filter(|&j| !inside[j]).collect();
        others.sort_by(|&a, &b| weight(rank, b).total_cmp(&weight(rank, a)).then(b.cmp(&a)));
        Inside { rank, others }
    };

    // To sort a row, and to look at the first outer member of each row.
    let steps = n as u64 * (2 * u64::from(n.max(2).ilog2()) + FAR);
    let mut children = vec![Vec::new(); n];
    let mut inside = vec![false; n];
    inside[root] = true;
    let mut open = vec![enter(root, &inside)];
    for _ in 1..n {
        pace.spend(steps)?;
        let mut best: Option<(f64, usize, usize, usize)> = None;
        for (at, member) in open.iter_mut().enumerate() {
            while member.others.last().is_some_and(|&j| inside[j]) {
                member.others.pop();
            }
            let Some(&outer) = member.others.last() else {
                continue;
            };
            let w = weight(member.rank, outer);
            if best.is_none_or(|(b, rank, ..)| w.total_cmp(&b).then(member.rank.cmp(&rank)).is_lt())
            {
                best = Some((w, member.rank, outer, at));
            }
        }
        let Some((_, parent, child, at)) = best else {
            break;
        };
        children[parent].push(child);
        inside[child] = true;
        if children[parent].len() >= degree_max {
            open.swap_remove(at);
        }
        open.push(enter(child, &inside));
    }
    ControlFlow::Continue(Tree::by_construction(root, children))
}
