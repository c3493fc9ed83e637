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
    let usual = |n, sharing, operation, bytes| {
        let plans = plans(n, Pattern::Smelt);
        let setting = TeamOutline {
            sharing,
            ..TeamOutline::new(&plans)
        };
        let runs = setting
            .chooses(&Algorithms::default(), operation, bytes)
            .unwrap();
        assert!(!runs.as_asked);
        runs.algorithm()
    };
    for (n, sharing, operation, bytes, expected) in [
        (4, 1, "barrier", 0, "tree"),
        (4, 1, "broadcast", 8, "messages"),
        (4, 2, "broadcast", 8, "line"),
        (17, 2, "broadcast", 8, "messages"),
        (4, 2, "broadcast", 1 << 20, "whole"),
        (8, 1, "broadcast", 1 << 20, "fixed"),
        (64, 2, "broadcast", 4 << 20, "fixed:64K"),
        (2, 1, "broadcast", 1 << 20, "whole"),
        (2, 2, "broadcast", 64 << 10, "line"),
        (4, 1, "reduce", 8, "messages"),
        (2, 1, "reduce", 1 << 20, "owners"),
        (100, 1, "reduce", 1 << 20, "fixed"),
        (8, 4, "reduce", 128 << 10, "fixed:128K"),
        (8, 4, "reduce", 16 << 20, "owners"),
        (8, 8, "reduce", 16 << 20, "fixed:1M"),
        (2, 1, "allreduce", 8, "messages"),
        (8, 1, "allreduce", 8, "doubling"),
        (8, 2, "allreduce", 8, "messages"),
        (8, 1, "allreduce", 16 << 10, "rabenseifner"),
        (12, 1, "allreduce", 8 << 10, "doubling"),
        (12, 1, "allreduce", 16 << 10, "owners"),
        (8, 2, "allreduce", 16 << 10, "trees"),
        (8, 1, "allreduce", 1 << 20, "owners"),
        (100, 1, "allreduce", 8, "messages"),
        (100, 1, "allreduce", 1 << 20, "trees"),
        (128, 1, "allreduce", 8, "doubling"),
        (8, 1, "scatter", 8, "push"),
        (4, 1, "gather", 8, "push"),
        (8, 1, "gather", 8, "binomial"),
        (8, 2, "gather", 8, "push"),
        (8, 1, "gather", 1 << 10, "push"),
        (8, 1, "gather", 1 << 20, "put"),
        (100, 1, "gather", 8, "binomial"),
        (8, 1, "allgather", 8, "direct"),
        (16, 1, "allgather", 8, "bruck"),
        (16, 2, "allgather", 8, "trees"),
        (16, 2, "allgather", 16 << 10, "direct"),
        (8, 4, "allgather", 2 << 10, "trees"),
        (8, 4, "allgather", 4 << 10, "direct"),
        (17, 2, "allgather", 8, "direct"),
        (4, 2, "allgather", 8, "direct"),
        (64, 1, "allgather", 512, "direct"),
        (100, 1, "allgather", 8, "bruck"),
        (100, 1, "allgather", 1 << 20, "ring"),
        (100, 1, "alltoall", 8, "bruck"),
        (8, 1, "reduce_scatter", 8, "halving"),
        (8, 2, "reduce_scatter", 8, "owners"),
        (8, 1, "reduce_scatter", 1 << 10, "owners"),
        (12, 1, "reduce_scatter", 8, "owners"),
        (100, 1, "reduce_scatter", 8, "ring"),
        (3, 1, "scan", 8, "doubling"),
        (2, 1, "scan", 8, "chain"),
        (8, 4, "scan", 8, "chain"),
        (16, 8, "scan", 8, "chain"),
        (12, 2, "scan", 8, "doubling"),
        (8, 1, "scan", 1 << 20, "chain"),
        (8, 4, "scan", 1 << 20, "chain:64K"),
    ] {
        let found = usual(n, sharing, operation, bytes);
        assert_eq!(found, expected, "{operation} of {bytes} on {n}, {sharing}");
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
