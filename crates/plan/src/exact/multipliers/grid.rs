//! The costs in steps of time.

use crate::bound::measure::gcd;
use crate::exact::ticks::{NEVER, Ticks};

/// A message that a tree within the limit can have.
pub(super) struct Edge {
    /// The member that gets it.
    pub(super) child: usize,
    /// Steps until the holder is free again.
    pub(super) send: usize,
    /// Steps until the child is informed.
    pub(super) way: usize,
}

/// The costs of messages in steps of time, rounded down.
pub(super) struct Grid {
    /// Ticks of a step.
    pub(super) step: i32,
    /// Steps of the latency that is to be beaten.
    pub(super) steps: usize,
    /// For each holder its messages, the shortest first. None goes to a fixed root.
    pub(super) edges: Vec<Vec<Edge>>,
    /// The least steps that a send takes: so many steps can be computed at once.
    pub(super) block: usize,
}

impl Grid {
    /// Makes the grid for trees of at most `limit` ticks, with about `steps` steps. It is exact
    /// where the costs have a common measure that is no shorter.
    ///
    /// `None` where some message takes less than a step to send: nothing limits what is collected
    /// then.
    pub(super) fn new(ticks: &Ticks, root: Option<usize>, limit: i32, steps: i32) -> Option<Self> {
        let n = ticks.n();
        let pairs = || (0..n * n).map(|at| (at / n, at % n));
        let matters = |&(i, j): &(usize, usize)| {
            i != j && Some(j) != root && ticks.send(i, j) < NEVER && ticks.receive(i, j) < NEVER
        };
        let short = (limit / steps).max(1);
        let measure = pairs().filter(matters).try_fold(0, |measure, (i, j)| {
            let costs = [ticks.send(i, j), ticks.receive(i, j)];
            let measure = costs.into_iter().fold(measure, |a, b| gcd(a, b as u64));
            (measure == 0 || measure > short as u64).then_some(measure)
        });
        let step = (measure.unwrap_or(0) as i32).max(short);
        let steps = (limit / step) as usize;
        let mut edges: Vec<Vec<Edge>> = (0..n).map(|_| Vec::new()).collect();
        let mut block = steps + 1;
        for (i, j) in pairs().filter(matters) {
            let way = ((ticks.send(i, j) + ticks.receive(i, j)) / step) as usize;
            let send = (ticks.send(i, j) / step) as usize;
            if way > steps {
                continue;
            }
            block = block.min(send);
            edges[i].push(Edge {
                child: j,
                send,
                way,
            });
        }
        for edges in &mut edges {
            edges.sort_by_key(|edge| (edge.way, edge.child));
        }
        (block > 0).then_some(Self {
            step,
            steps,
            edges,
            block,
        })
    }

    pub(super) fn n(&self) -> usize {
        self.edges.len()
    }
}
