//! A member leaves a plan and comes back: both times the plan is one of the new team.

use corecast_plan::{Plan, RepairError, Shape, check};

use crate::case::Case;
use crate::truth::Truth;

/// Repairs a plan of the case's team.
///
/// # Panics
///
/// When a repaired plan is no schedule, is of another team or is better than possible.
pub(crate) fn all(case: &Case, truth: &Truth, plan: &Plan) {
    let n = case.costs.n();
    let outside = plan.without(&case.costs, n).map(|_| ());
    assert!(matches!(outside, Err(RepairError::RankOutside { .. })));
    let rank = case.choice % n;
    let stay: Vec<usize> = (0..n).filter(|&r| r != rank).collect();
    if stay.is_empty() {
        let alone = plan.without(&case.costs, rank).map(|_| ());
        assert_eq!(alone, Err(RepairError::LastMember));
        return;
    }
    let is_grouped = matches!(plan.shape, Shape::Groups(_) | Shape::GroupedTrees { .. });
    let costs = case.costs.subset(&stay).expect("ranks of the team");
    let less = match plan.without(&costs, rank) {
        Ok(repair) => repair,
        Err(RepairError::Groups) => {
            assert!(is_grouped, "{case:?}: {plan:?}");
            return;
        }
        Err(error) => panic!("{case:?} without {rank}: {error}"),
    };
    assert!(!is_grouped, "{case:?}: {plan:?} was repaired");
    let oracle = |costs, plan: &Plan, moved: &[usize]| {
        if let Err(error) = check::plan(costs, plan) {
            panic!("{case:?} at rank {rank}: {plan:?}: {error}");
        }
        assert_eq!(plan.shape.len(), costs.n());
        let rising = moved.windows(2).all(|pair| pair[0] < pair[1]);
        assert!(rising && moved.last().is_none_or(|&last| last < costs.n()));
    };
    oracle(&costs, &less.plan, &less.moved);
    let again = match less.plan.with(&case.costs, rank) {
        Ok(repair) => repair,
        Err(error) => panic!("{case:?} with {rank}: {error}"),
    };
    oracle(&case.costs, &again.plan, &again.moved);
    assert!(!again.moved.contains(&rank), "{case:?}: {again:?}");
    truth.oracle(case, &again.plan);
    let full = again.plan.certify(&case.costs);
    // A bound over more schedules may be lower.
    if full.scope == again.plan.scope {
        assert!(
            full.lower_bound >= again.plan.lower_bound,
            "{case:?}: {again:?}, {full:?}"
        );
    }
    truth.oracle(case, &full);
    if plan.root != rank && !matches!(plan.shape, Shape::Rounds(_)) {
        assert_eq!(again.plan.root, plan.root, "{case:?}: {again:?}");
    }
}
