//! The planner against the checker and, for small teams, against the exact optimum.

use arbitrary::{Arbitrary, Unstructured};
use corecast_plan::{Operation, Plan, PlanError, RootChoice, Shape, bound, check, plan};

use crate::case::Case;
use crate::{optimum, searches};

/// Sums taken in another order differ in their last bits.
const ROUNDING: f64 = 1e-9;

/// Teams up to this size are compared with the exact optimum.
const EXACT_MAX: usize = 7;

/// Additions that the bound by levels may take.
const LEVELS_WORK: u64 = 20_000;

/// Plans a case in every way there is, and judges each plan.
pub fn planner(bytes: &[u8]) {
    let Ok(case) = Case::arbitrary(&mut Unstructured::new(bytes)) else {
        return;
    };
    let truth = Truth::of(&case);
    let root = case.root_choice;
    match plan(&case.costs, case.pattern, case.operation, root) {
        Ok(made) => {
            if let RootChoice::Rank(rank) = root {
                assert_eq!(made.root, rank);
            }
            truth.judge(&case, &made);
        }
        Err(PlanError::Unsuited { .. }) => assert_ne!(case.operation, Operation::Barrier),
        Err(error) => panic!("{case:?}: {error}"),
    }
    for found in searches::all(&case) {
        truth.possible(&case, found.root, found.latency, found.search);
    }
}

/// What is known for sure about a case.
struct Truth {
    /// For each root the least latency with that root; `None` where the team is too large.
    least: Option<Vec<f64>>,
    /// No tree with any root is faster.
    bound: f64,
}

impl Truth {
    /// # Panics
    ///
    /// When a bound is above the optimum.
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
        let bound = bound::lower_bound(&case.costs, case.operation, None);
        let truth = Self { least, bound };
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
        let least = self.least(Some(root)).unwrap_or(self.bound).max(self.bound);
        assert!(
            latency >= least * (1.0 - ROUNDING),
            "{case:?}: {who} with root {root}: {latency}, below {least}"
        );
    }
}
