//! The planner against the checker and, for small teams, against the exact optimum.

use arbitrary::{Arbitrary, Unstructured};
use corecast_plan::{Operation, Plan, PlanError, Progress, plan_with};

use crate::case::Case;
use crate::truth::Truth;
use crate::{grouped, proofs, repairs, searches};

/// Plans a case in every way there is, and oracles each plan.
pub fn planner(bytes: &[u8]) {
    let Ok(case) = Case::arbitrary(&mut Unstructured::new(bytes)) else {
        return;
    };
    let truth = Truth::of(&case);
    if let Some(made) = planned(&case) {
        truth.oracle(&case, &made);
        truth.check_root(&case, &made);
        repairs::all(&case, &truth, &made);
    }
    for found in searches::all(&case) {
        truth.possible(&case, found.root, found.latency, found.search);
    }
    let least = truth.least.as_deref();
    match case.operation {
        Operation::Broadcast => proofs::all(&case, &case.costs, least),
        Operation::Reduce => proofs::all(&case, &case.costs.mirrored(), least),
        Operation::Barrier => {}
    }
    grouped::all(&case, truth.grouped.as_deref());
}

/// The plan of the case; `None` where its pattern cannot do the operation.
fn planned(case: &Case) -> Option<Plan> {
    let mut seen = case.watcher();
    let mut before: Option<Progress> = None;
    let watch = &mut |now: &Progress| {
        let later = before.is_none_or(|before| before.moves <= now.moves);
        assert!(later, "{case:?}: {now:?} after {before:?}");
        before = Some(*now);
        seen()
    };
    let (costs, root, effort) = (&case.costs, case.root_choice, case.effort());
    match plan_with(costs, case.pattern, case.operation, root, effort, watch) {
        Ok(made) => Some(made),
        Err(PlanError::Unsuited { .. }) => {
            assert_ne!(case.operation, Operation::Barrier);
            None
        }
        Err(error) => panic!("{case:?}: {error}"),
    }
}
