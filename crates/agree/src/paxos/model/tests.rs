use super::*;
use crate::fault::{self, Fault};
use crate::model_checker::{Explored, explore};

const STATES_MAX: usize = 40_000_000;

/// Three members, of which two may become leader; two commands; the configuration log begins at position 1.
const USUAL: Bounds = Bounds {
    size: 3,
    commands: 2,
    positions: 2,
    restarts: 0,
    losses: 0,
    reports: false,
    asks: false,
    both: false,
    leaders: 2,
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
fn members_agree_when_leaders_and_acceptors_change_and_restart() {
    let states = [
        Bounds {
            restarts: 1,
            ..USUAL
        },
        Bounds { losses: 1, ..USUAL },
        Bounds {
            commands: 1,
            positions: 4,
            ..USUAL
        },
        Bounds {
            commands: 1,
            positions: 3,
            restarts: 1,
            ..USUAL
        },
        Bounds {
            size: 4,
            commands: 1,
            restarts: 1,
            leaders: 3,
            ..USUAL
        },
    ]
    .map(holds);
    assert_eq!(states, [558_851, 403_464, 117_396, 113_371, 347_724]);
}

#[test]
fn what_is_dropped_is_known_to_a_member() {
    let states = [
        Bounds {
            commands: 1,
            restarts: 1,
            losses: 1,
            reports: true,
            ..USUAL
        },
        Bounds {
            size: 2,
            restarts: 1,
            reports: true,
            both: true,
            ..USUAL
        },
        Bounds {
            commands: 1,
            restarts: 1,
            asks: true,
            ..USUAL
        },
    ]
    .map(holds);
    assert_eq!(states, [236_184, 356_202, 627_834]);
}

/// The check runs it: `cargo test -p corecast-agree --lib -- --ignored wider`.
#[test]
#[ignore = "takes a minute"]
fn members_agree_within_wider_bounds() {
    let states = [
        Bounds {
            positions: 3,
            ..USUAL
        },
        Bounds {
            size: 4,
            commands: 1,
            positions: 3,
            ..USUAL
        },
        Bounds { size: 4, ..USUAL },
        Bounds {
            restarts: 1,
            both: true,
            leaders: 3,
            ..USUAL
        },
        Bounds {
            reports: true,
            ..USUAL
        },
    ]
    .map(holds);
    assert_eq!(
        states,
        [1_763_102, 1_407_864, 6_723_810, 3_746_881, 1_787_900]
    );
}

/// Each rule that is broken is noticed, and by a shortest counterexample of so many steps.
#[test]
fn a_broken_rule_is_noticed() {
    let later = Bounds {
        positions: 3,
        ..USUAL
    };
    let restarting = Bounds {
        restarts: 1,
        ..later
    };
    let reporting = Bounds {
        restarts: 1,
        reports: true,
        ..USUAL
    };
    let two = Bounds {
        size: 2,
        positions: 3,
        both: true,
        ..reporting
    };
    let faults = [
        (Fault::NothingCarried, later, 13),
        (Fault::CarriedIgnored, later, 13),
        (Fault::ChangedBeforePromise, later, 11),
        (Fault::AppendUncompared, later, 10),
        (Fault::StillToOldAcceptor, later, 13),
        (Fault::ReportIgnored, later, 11),
        (Fault::AcceptorFromStart, later, 13),
        (Fault::BallotIgnored, later, 11),
        (Fault::LeaderChangeDropsCarried, later, 13),
        (
            Fault::AcceptorRestartsEmpty,
            Bounds { losses: 1, ..USUAL },
            12,
        ),
        (Fault::ChosenNotCarried, restarting, 14),
        (Fault::FloorOfLeader, reporting, 9),
        (Fault::FloorNotCarried, two, 17),
        (Fault::RestartedLeads, restarting, 8),
        (Fault::DeposedLeads, later, 12),
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
