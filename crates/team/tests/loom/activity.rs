//! The record of what each rank does: it never makes a member fail that could have gone on, and it always ends the wait of
//! one that could not.

use crate::check::check;
use crate::{activity, barrier, broadcast, members, options, pair, plans, run};
use corecast_team::{Collective, Failure, Loss, Member};
use corecast_wire::mutant::Mutant;
use loom::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

/// The first member looks for the flag, and then at what the peer does, which has raised the flag and gone on in between.
/// Neither barrier fails.
#[test]
fn members_that_agree_never_fail() {
    let faults = [
        Mutant::NoSecondLook,
        Mutant::AskRelaxed,
        Mutant::NoHeavyFence,
        Mutant::NoLightFence,
        Mutant::NoLastLook,
    ];
    let plans = plans();
    check("two barriers", Some(2), &faults, move || {
        let plans = plans.clone();
        let twice = |member: &mut Member| {
            for _ in 0..2 {
                assert_eq!(member.barrier(), Ok(()));
            }
        };
        run(move || members(&plans, options(0)), twice, twice);
    });
}

/// The same where each rank tells the other before it notes what it is in.
#[test]
fn ranks_that_exchange_never_fail() {
    let faults = [Mutant::NoSecondLook, Mutant::AskRelaxed, Mutant::NoLastLook];
    let plans = pair();
    check("two exchanges", Some(2), &faults, move || {
        let plans = plans.clone();
        let twice = |member: &mut Member| {
            for _ in 0..2 {
                assert_eq!(member.barrier(), Ok(()));
            }
        };
        run(move || members(&plans, options(0)), twice, twice);
    });
}

/// Each rank waits for the other in another operation. One of them finds that out, wakes the other, and both get the same
/// failure, which names both operations and call sites.
#[test]
fn operations_that_differ_fail_everywhere_with_both_call_sites() {
    let faults = [
        Mutant::TellRelaxed,
        Mutant::AskRelaxed,
        Mutant::NoHeavyFence,
        Mutant::NoLastLook,
    ];
    let plans = plans();
    check("mismatch", Some(3), &faults, move || {
        let plans = plans.clone();
        let ((one, first), (other, second)) = run(
            move || members(&plans, options(0)),
            |member| barrier(member),
            |member| broadcast(member, 0),
        );
        assert_eq!(first, second);
        let Err(Failure::Mismatch { local, remote }) = first else {
            panic!("{first:?}");
        };
        let mut said = [local, remote];
        said.sort_by_key(|activity| activity.rank);
        let expected = [
            activity(0, (1, Collective::Barrier, 0), one),
            activity(1, (1, Collective::Broadcast, 0), other),
        ];
        assert_eq!(said, expected);
    });
}

/// A member that leaves has given all before, so a barrier in which it took part succeeds. The next one fails.
#[test]
fn a_member_that_has_left_is_missed_and_what_it_gave_is_not() {
    let faults = [
        Mutant::NoSecondLook,
        Mutant::AskRelaxed,
        Mutant::NoHeavyFence,
        Mutant::NoLightFence,
        Mutant::NoLastLook,
    ];
    let plans = plans();
    check("leave", Some(2), &faults, move || {
        let plans = plans.clone();
        let ([(_, whole), (mine, missed)], (theirs, last)) = run(
            move || members(&plans, options(0)),
            |member| [barrier(member), barrier(member)],
            |member| barrier(member),
        );
        assert_eq!((whole, last), (Ok(()), Ok(())));
        let lost = Failure::PeerLost {
            local: activity(0, (2, Collective::Barrier, 0), mine),
            remote: activity(1, (1, Collective::Barrier, 0), theirs),
            how: Loss::Left,
        };
        assert_eq!(missed, Err(lost));
    });
}

/// A member cancels what comes after its broadcast, in which it waits for nobody, and leaves. The broadcast succeeds, and
/// the barrier after it is cancelled: that the member has left afterwards is not why it ends.
#[test]
fn a_cancellation_ends_what_was_not_begun_before() {
    let faults = [
        Mutant::CancelTooEarly,
        Mutant::AskRelaxed,
        Mutant::NoHeavyFence,
    ];
    let plans = plans();
    check("cancellation", Some(2), &faults, move || {
        let plans = plans.clone();
        // Loom compares an exchange with the last access of its word alone, which is a look of the same thread here. So it
        // would not try a rank that begins after the cancellation. This word, which orders nothing, makes it do so.
        let cancelled = Arc::new(AtomicU32::new(0));
        let tried = cancelled.clone();
        let ([(_, whole), (_, ended)], (_, last)) = run(
            move || members(&plans, options(0)),
            move |member| {
                tried.load(Ordering::Relaxed);
                [broadcast(member, 1), barrier(member)]
            },
            move |member| {
                let called = broadcast(member, 1);
                member.cancel();
                cancelled.store(1, Ordering::Relaxed);
                called
            },
        );
        assert_eq!((whole, last), (Ok(()), Ok(())));
        assert_eq!(ended, Err(Failure::Cancelled { rank: 0 }));
    });
}
