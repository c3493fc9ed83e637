//! The outline of a team chooses what its members choose.

use super::*;
use crate::plans::BarrierPlan;
use corecast_plan::Pattern;

fn plans(n: usize, pattern: Pattern) -> Plans {
    let machine = corecast_model::synthetic(&format!("core:{n}")).unwrap();
    Plans::of_pattern(machine.costs(), pattern, None).unwrap()
}

#[test]
fn what_runs_without_a_wish() {
    let usual = |n, oversubscribed, operation, bytes| {
        let plans = plans(n, Pattern::Smelt);
        let setting = TeamOutline {
            oversubscribed,
            ..TeamOutline::new(&plans)
        };
        let runs = setting
            .chooses(&Algorithms::default(), operation, bytes)
            .unwrap();
        assert!(!runs.as_asked);
        runs.algorithm()
    };
    for (n, oversubscribed, operation, bytes, expected) in [
        (4, false, "barrier", 0, "tree"),
        (4, false, "broadcast", 8, "messages"),
        (4, true, "broadcast", 8, "line"),
        (17, true, "broadcast", 8, "messages"),
        (4, true, "broadcast", 1 << 20, "fixed"),
        (2, false, "broadcast", 1 << 20, "line"),
        (2, false, "broadcast", 8 << 20, "whole"),
        (4, false, "reduce", 8, "messages"),
        (2, false, "reduce", 1 << 20, "whole"),
        (3, false, "reduce", 1 << 20, "fixed"),
        (2, false, "allreduce", 8, "messages"),
        (8, false, "allreduce", 8, "doubling"),
        (8, true, "allreduce", 8, "messages"),
        (8, false, "allreduce", 16 << 10, "rabenseifner"),
        (12, false, "allreduce", 8 << 10, "doubling"),
        (12, false, "allreduce", 16 << 10, "owners"),
        (8, true, "allreduce", 16 << 10, "trees"),
        (8, false, "allreduce", 1 << 20, "owners"),
        (100, false, "allreduce", 8, "messages"),
        (100, false, "allreduce", 1 << 20, "trees"),
        (128, false, "allreduce", 8, "doubling"),
        (8, false, "scatter", 8, "push"),
        (4, false, "gather", 8, "push"),
        (8, false, "gather", 8, "binomial"),
        (8, true, "gather", 8, "push"),
        (8, false, "gather", 1 << 10, "push"),
        (8, false, "gather", 1 << 20, "pull"),
        (100, false, "gather", 8, "binomial"),
        (8, false, "allgather", 8, "direct"),
        (16, false, "allgather", 8, "bruck"),
        (16, true, "allgather", 8, "direct"),
        (64, false, "allgather", 512, "direct"),
        (100, false, "allgather", 8, "bruck"),
        (100, false, "allgather", 1 << 20, "ring"),
        (100, false, "alltoall", 8, "bruck"),
        (8, false, "reduce_scatter", 8, "halving"),
        (8, true, "reduce_scatter", 8, "owners"),
        (8, false, "reduce_scatter", 1 << 10, "owners"),
        (12, false, "reduce_scatter", 8, "owners"),
        (100, false, "reduce_scatter", 8, "ring"),
        (3, false, "scan", 8, "doubling"),
        (2, false, "scan", 8, "chain"),
    ] {
        let found = usual(n, oversubscribed, operation, bytes);
        assert_eq!(
            found, expected,
            "{operation} of {bytes} on {n}, {oversubscribed}"
        );
    }
    let counter = plans(3, Pattern::Smelt).with_barrier(BarrierPlan::Counter(3));
    let found = TeamOutline::new(&counter.unwrap()).chooses(&Algorithms::default(), "barrier", 0);
    assert_eq!(found.unwrap().algorithm(), "counter");
    let rounds = plans(3, "dissemination:2".parse().unwrap());
    let found = TeamOutline::new(&rounds).chooses(&Algorithms::default(), "barrier", 0);
    assert_eq!(found.unwrap().algorithm(), "dissemination");
    let error = TeamOutline::new(&rounds).chooses(&Algorithms::default(), "gossip", 0);
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("\"gossip\" is unknown: use one of barrier")
    );
}

#[test]
fn wishes_that_cannot_be_are_not_what_runs() {
    let asks = |n, text: &str, deterministic| {
        let plans = plans(n, Pattern::Smelt);
        let setting = TeamOutline {
            deterministic,
            ..TeamOutline::new(&plans)
        };
        let operation = text.split('=').next().unwrap();
        let runs = setting
            .chooses(&text.parse().unwrap(), operation, 100_000)
            .unwrap();
        (runs.algorithm(), runs.as_asked)
    };
    assert_eq!(asks(3, "allreduce=ring", false), ("ring", true));
    assert_eq!(asks(3, "allreduce=ring", true), ("owners", false));
    assert_eq!(asks(3, "allreduce=rabenseifner", false), ("owners", false));
    assert_eq!(
        asks(4, "allreduce=rabenseifner", false),
        ("rabenseifner", true)
    );
    assert_eq!(asks(17, "broadcast=line", false), ("fixed", false));
    assert_eq!(asks(16, "broadcast=line", false), ("line", true));
    assert_eq!(asks(4, "broadcast=groups", false), ("fixed", false));
    assert_eq!(asks(100, "gather=push", false), ("binomial", false));
    assert_eq!(asks(5, "scan=doubling", true), ("chain", false));
    assert_eq!(asks(5, "scan=doubling@..99999", false), ("chain", false));
}
