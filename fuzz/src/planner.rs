//! The planner against the checker and, for small teams, against the exact optimum.

use arbitrary::{Arbitrary, Unstructured};
use corecast_plan::{Operation, Plan, PlanError, RootChoice, Shape, bound, check, plan};

use crate::case::Case;
use crate::{optimum, searches};

/// Sums taken in another order differ in their last bits.
const ROUNDING: f64 = 1e-9;

/// Teams up to this size are compared with the exact optimum.
const EXACT_MAX: usize = 7;

/// Plans a case in every way there is, and judges each plan.
pub fn planner(bytes: &[u8]) {
    let Ok(case) = Case::arbitrary(&mut Unstructured::new(bytes)) else {
        return;
    };
    let truth = Truth::of(&case);
    for root in [RootChoice::Rank(case.root), RootChoice::Auto] {
        match plan(&case.costs, case.pattern, case.operation, root) {
            Ok(made) => {
                if let RootChoice::Rank(rank) = root {
                    assert_eq!(made.root, rank);
                }
                truth.judge(&case, &made);
                let again = plan(&case.costs, case.pattern, case.operation, root);
                assert_eq!(again, Ok(made), "the same input gives the same plan");
            }
            Err(PlanError::Unsuited { .. }) => assert_ne!(case.operation, Operation::Barrier),
            Err(error) => panic!("{case:?}: {error}"),
        }
    }
    truth.bounds(&case);
    for free_root in [false, true] {
        for found in searches::all(&case, free_root) {
            let (search, root, latency) = (found.search, found.root, found.latency);
            truth.possible(&case, root, latency, search);
        }
    }
}

/// What is known for sure about a case.
struct Truth {
    /// For each root the least latency with that root; `None` where the team is too large.
    least: Option<Vec<f64>>,
}

impl Truth {
    fn of(case: &Case) -> Self {
        let least = (case.costs.n() <= EXACT_MAX).then(|| {
            let outward = || optimum::broadcasts(&case.costs);
            let inward = || optimum::broadcasts(&case.costs.mirrored());
            match case.operation {
                Operation::Broadcast => outward(),
                Operation::Reduce => inward(),
                Operation::Barrier => {
                    let both = outward().into_iter().zip(inward());
                    both.map(|(outward, inward)| outward + inward).collect()
                }
            }
        });
        Self { least }
    }

    /// Least latency over all trees with this root, or with any.
    fn least(&self, root: Option<usize>) -> Option<f64> {
        let least = self.least.as_ref()?;
        Some(match root {
            Some(root) => least[root],
            None => least.iter().copied().fold(f64::INFINITY, f64::min),
        })
    }

    /// Whether a plan is a schedule, is what it says, and is no better than possible.
    fn judge(&self, case: &Case, plan: &Plan) {
        if let Err(error) = check::plan(&case.costs, plan) {
            panic!("{case:?}: {plan:?}: {error}");
        }
        if matches!(plan.shape, Shape::Rounds(_)) {
            return;
        }
        self.possible(case, plan.root, plan.latency, "plan");
        if let Some(least) = self.least(Some(plan.root)) {
            let most = least * (1.0 + ROUNDING);
            let sound = plan.lower_bound <= most && (!plan.proved_optimal || plan.latency <= most);
            assert!(sound, "{case:?}: {plan:?}: the optimum is {least}");
        }
    }

    /// Whether a latency is neither below the optimum nor below the bound.
    fn possible(&self, case: &Case, root: usize, latency: f64, who: &str) {
        let bound = bound::lower_bound(&case.costs, case.operation, Some(root));
        let least = self.least(Some(root)).unwrap_or(bound).max(bound);
        assert!(
            latency >= least * (1.0 - ROUNDING),
            "{case:?}: {who} with root {root}: {latency}, below {least}"
        );
    }

    /// Bounds for this root and for any against the optimum.
    fn bounds(&self, case: &Case) {
        for root in [Some(case.root), None] {
            let bound = bound::lower_bound(&case.costs, case.operation, root);
            assert!(bound.is_finite() && bound >= 0.0, "{case:?}: {bound}");
            if let Some(least) = self.least(root) {
                assert!(
                    bound <= least * (1.0 + ROUNDING),
                    "{case:?} root {root:?}: bound {bound}, optimum {least}"
                );
            }
        }
    }
}
