//! What is known for sure about a case, and whether plans contradict it.

use corecast_plan::{Operation, Pattern, Plan, RootChoice, Shape, bound, check, groups, smelt};

use crate::case::Case;
use crate::grouped;
use crate::limits::{EXACT_MAX, LEVELS_WORK, PROVED, ROUNDING};
use crate::optima::optima;

/// What is known for sure about a case.
pub(crate) struct Truth {
    /// For each root the least latency with that root; `None` where the team is too large.
    pub(crate) least: Option<Vec<f64>>,
    /// The same for trees with groups.
    pub(crate) grouped: Option<Vec<f64>>,
    /// No tree without groups is faster, with any root.
    bound: f64,
}

impl Truth {
    /// # Panics
    ///
    /// When a bound is above the optimum.
    pub(crate) fn of(case: &Case) -> Self {
        let least = (case.costs.n() <= EXACT_MAX).then(|| {
            let outward = || optima(&case.costs);
            let inward = || optima(&case.costs.mirrored());
            match case.operation {
                Operation::Broadcast => outward(),
                Operation::Reduce => inward(),
                Operation::Barrier => {
                    let both = outward().into_iter().zip(inward());
                    both.map(|(outward, inward)| outward + inward).collect()
                }
            }
        });
        let bound = bound::lower_bound(&case.costs, case.operation, None);
        let truth = Self {
            least,
            grouped: grouped::least(case),
            bound,
        };
        let at = Some(case.root);
        let mut bounds = vec![
            (None, bound),
            (at, bound::lower_bound(&case.costs, case.operation, at)),
        ];
        if case.operation == Operation::Broadcast {
            bounds.extend(
                [None, at].map(|root| (root, bound::levels(&case.costs, root, LEVELS_WORK))),
            );
        }
        for (root, bound) in bounds {
            let least = truth.least(root).unwrap_or(f64::MAX);
            let most = (least * (1.0 + ROUNDING)).min(f64::MAX);
            assert!(
                (0.0..=most).contains(&bound),
                "{case:?} root {root:?}: bound {bound}, optimum {least}"
            );
        }
        truth
    }

    /// Least latency over all trees with this root, or with any.
    fn least(&self, root: Option<usize>) -> Option<f64> {
        self.least.as_ref().map(|least| at(least, root))
    }

    /// Whether a plan is a schedule, is what it says, and is no better than possible.
    ///
    /// # Panics
    ///
    /// When it is not; so do the other judgements.
    pub(crate) fn oracle(&self, case: &Case, plan: &Plan) {
        if let Err(error) = check::plan(&case.costs, plan) {
            panic!("{case:?}: {plan:?}: {error}");
        }
        let root = Some(plan.root);
        match plan.shape {
            Shape::Rounds(_) => {}
            Shape::Tree(_) | Shape::Trees { .. } => {
                self.possible(case, plan.root, plan.latency, "plan");
                if let Some(least) = self.least(root) {
                    self.check_claims(case, plan, least);
                }
            }
            // Shared lines make more possible.
            _ => {
                if let Some(least) = &self.grouped {
                    self.check_claims(case, plan, least[plan.root]);
                }
                let bound = groups::lower_bound(&case.costs, plan.operation, root);
                let sound = plan.latency >= bound * (1.0 - ROUNDING);
                assert!(sound, "{case:?}: {plan:?}: the bound is {bound}");
            }
        }
    }

    /// Whether the root is the one that was asked for, or else the plan's bound is one for all.
    pub(crate) fn check_root(&self, case: &Case, plan: &Plan) {
        let root = match case.root_choice {
            RootChoice::Rank(rank) => Some(rank),
            RootChoice::Smelt => Some(smelt::root(&case.costs)),
            RootChoice::Auto if is_searched(case.pattern) => None,
            RootChoice::Auto => Some(smelt::root(&case.costs)),
        };
        assert!(root.is_none_or(|root| plan.root == root), "{case:?}");
        if !is_searched(case.pattern) {
            return;
        }
        // What was searched for is compared with trees of all kinds.
        let shares = case.costs.lines().is_some() && case.operation != Operation::Reduce;
        let all = if shares { &self.grouped } else { &self.least };
        if let Some(least) = all.as_ref().map(|least| at(least, root)) {
            self.check_claims(case, plan, least);
        }
    }

    /// Whether what a plan says about the optimum is true, and whether it is possible.
    fn check_claims(&self, case: &Case, plan: &Plan, least: f64) {
        let optimal = plan.latency <= least * (1.0 + PROVED);
        let sound = plan.lower_bound <= least * (1.0 + ROUNDING)
            && plan.latency >= least * (1.0 - ROUNDING)
            && (!plan.proved_optimal || optimal);
        assert!(sound, "{case:?}: {plan:?}: the optimum is {least}");
    }

    /// Whether a latency is neither below the optimum nor below the bound.
    pub(crate) fn possible(&self, case: &Case, root: usize, latency: f64, who: &str) {
        let least = self.least(Some(root)).unwrap_or(self.bound).max(self.bound);
        assert!(
            latency >= least * (1.0 - ROUNDING),
            "{case:?}: {who} with root {root}: {latency}, below {least}"
        );
    }
}

/// The least with this root, or with any.
fn at(least: &[f64], root: Option<usize>) -> f64 {
    match root {
        Some(root) => least[root],
        None => least.iter().copied().fold(f64::INFINITY, f64::min),
    }
}

fn is_searched(pattern: Pattern) -> bool {
    matches!(pattern, Pattern::Best | Pattern::Optimal)
}
