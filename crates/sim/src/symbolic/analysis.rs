//! T_min and T_max of a graph on a machine, and the paths that take that long.

use super::graph::Graph;
use super::least::ActTimes;
use super::placement::Placement;
use super::price::Priced;
use super::rules::CostRules;
use serde::Serialize;

/// A lower and an upper bound of a time, in the unit of the costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bounds {
    /// The lower bound: no rank that polls a line steals it from its writer.
    pub t_min: f64,
    /// The upper bound: every rank that polls a line steals it.
    pub t_max: f64,
}

impl Bounds {
    /// The upper bound, in the unit of the costs; `None` if it is infinite, see
    /// [`OnParts::bounds`](super::OnParts::bounds).
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_sim::symbolic::Bounds;
    ///
    /// let mut bounds = Bounds { t_min: 90.0, t_max: 140.0 };
    /// assert_eq!(bounds.finite_t_max(), Some(140.0));
    /// bounds.t_max = f64::INFINITY;
    /// assert_eq!(bounds.finite_t_max(), None);
    /// ```
    #[must_use]
    pub fn finite_t_max(self) -> Option<f64> {
        self.t_max.is_finite().then_some(self.t_max)
    }
}

/// The bounds and critical paths of a graph on a machine.
#[derive(Clone, Debug)]
pub struct Analysis<'a> {
    graph: &'a Graph,
    least: ActTimes,
    greatest: ActTimes,
}

impl<'a> Analysis<'a> {
    /// Finds both critical paths.
    ///
    /// # Panics
    ///
    /// If the graph has another number of ranks than `placement`.
    ///
    /// # Cost
    ///
    /// Time in E·log(E) for E acts; with congestion, also in the square of the number of transfers
    /// between packages.
    #[must_use]
    pub fn new(graph: &'a Graph, placement: &Placement, rules: &CostRules) -> Self {
        let (ranks, seated) = (graph.ranks(), placement.ranks());
        assert_eq!(
            ranks, seated,
            "a graph of {ranks} ranks needs as many places"
        );
        let priced = Priced {
            graph,
            placement,
            rules,
        };
        let least = priced.least();
        let greatest = priced.greatest(&priced.together(&least));
        Self {
            graph,
            least,
            greatest,
        }
    }

    /// The bounds of the time at which the last rank ends.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        let last = |times: &ActTimes| times.finish.iter().copied().fold(0.0, f64::max);
        Bounds {
            t_min: last(&self.least),
            t_max: last(&self.greatest),
        }
    }

    /// The bounds of the time at which each rank ends.
    #[must_use]
    pub fn by_rank(&self) -> Vec<Bounds> {
        let none = Bounds {
            t_min: 0.0,
            t_max: 0.0,
        };
        let mut all = vec![none; self.graph.ranks()];
        for (index, act) in self.graph.acts().iter().enumerate() {
            let of = &mut all[act.rank];
            of.t_min = of.t_min.max(self.least.finish[index]);
            of.t_max = of.t_max.max(self.greatest.finish[index]);
        }
        all
    }

    /// The start, cost and end of each act in the best case.
    #[must_use]
    pub fn least(&self) -> &ActTimes {
        &self.least
    }

    /// The start, cost and end of each act in the worst case.
    #[must_use]
    pub fn greatest(&self) -> &ActTimes {
        &self.greatest
    }

    /// The acts on the critical path of T_min, first one first.
    #[must_use]
    pub fn critical(&self) -> Vec<usize> {
        self.path(&self.least)
    }

    /// The acts on the longest path of T_max, first one first.
    #[must_use]
    pub fn longest(&self) -> Vec<usize> {
        self.path(&self.greatest)
    }

    /// The graph that was analysed.
    #[must_use]
    pub fn graph(&self) -> &'a Graph {
        self.graph
    }

    fn path(&self, times: &ActTimes) -> Vec<usize> {
        let ends = times.finish.iter().enumerate();
        let end = ends.max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)));
        let crowd_of = self.graph.crowd_of();
        let mut path = Vec::new();
        let mut at = end.map(|(act, _)| act);
        while let Some(act) = at {
            path.push(act);
            at = times.cause[act];
            let Some(crowd) = at.and_then(|cause| crowd_of[cause]) else {
                continue;
            };
            let (order, Some(last)) = &times.order[crowd] else {
                continue;
            };
            let waits = self.graph.acts()[act].after.contains(&order[0]);
            if waits {
                // The path visits the whole crowd, and continues with the act before the member
                // that came last.
                path.extend(order.iter().rev());
                at = self.graph.acts()[*last].before;
            }
        }
        path.reverse();
        path
    }
}
