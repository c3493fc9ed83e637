use super::*;
use crate::fault::{self, Fault};
use crate::model_checker::{Explored, explore};

const STATES_MAX: usize = 40_000_000;

/// One transaction of two participants.
const USUAL: Bounds = Bounds {
    participants: 2,
    transactions: 1,
    crashes: 2,
    timeouts: 1,
};

fn explored(bounds: Bounds, fault: Option<Fault>) -> Explored {
    fault::with(fault, || explore(&Group::new(bounds), STATES_MAX))
}

/// Explores all of it, and returns the number of states.
#[track_caller]
fn holds(bounds: Bounds) -> usize {
    explored(bounds, None).states_of_all(&bounds)
}

#[test]
fn all_commit_or_none_does() {
    let states = [
        Bounds {
            crashes: 3,
            timeouts: 2,
            ..USUAL
        },
        Bounds {
            participants: 3,
            crashes: 1,
            ..USUAL
        },
        Bounds {
            participants: 3,
            ..USUAL
        },
        Bounds {
            participants: 1,
            transactions: 2,
            crashes: 1,
            ..USUAL
        },
    ]
    .map(holds);
    assert_eq!(states, [157_511, 45_052, 217_910, 127_524]);
}

/// The check runs it: `cargo test -p corecast-agree --lib -- --ignored wider`.
#[test]
#[ignore = "takes a minute"]
fn all_commit_or_none_does_within_wider_bounds() {
    let states = [
        Bounds {
            participants: 1,
            transactions: 2,
            ..USUAL
        },
        Bounds {
            transactions: 2,
            crashes: 1,
            timeouts: 0,
            ..USUAL
        },
    ]
    .map(holds);
    assert_eq!(states, [1_360_791, 966_449]);
}

/// Each rule that is broken is noticed, and by a shortest counterexample of so many steps.
#[test]
fn a_broken_rule_is_noticed() {
    let again = Bounds {
        transactions: 2,
        participants: 1,
        ..USUAL
    };
    let faults = [
        (Fault::VoteUnforced, USUAL, 8),
        (Fault::AcknowledgedUnforced, USUAL, 15),
        (Fault::PreparedAbortsAlone, USUAL, 9),
        (Fault::PreparedForgotten, USUAL, 9),
        (Fault::FloorIgnored, again, 12),
        (Fault::CommitToldUnforced, USUAL, 11),
        (Fault::OneVoteEnough, USUAL, 6),
        (Fault::NoIgnored, USUAL, 5),
        (Fault::OneAcknowledgementEnough, USUAL, 14),
        (Fault::UndecidedPresumed, USUAL, 11),
        (Fault::CommitPresumed, USUAL, 9),
        (Fault::CommitsForgotten, USUAL, 12),
        (Fault::NumbersReused, again, 10),
    ];
    for (fault, bounds, steps) in faults {
        let explored = explored(bounds, Some(fault));
        let Some(found) = explored.broken else {
            panic!("{fault:?}: all of {} states are well", explored.states);
        };
        println!(
            "{fault:?}: {} after {} states",
            found.invariant, explored.states
        );
        let actions = found.actions;
        assert_eq!(
            actions.len(),
            steps,
            "{fault:?}: {}: {actions:#?}",
            found.invariant
        );
    }
}
