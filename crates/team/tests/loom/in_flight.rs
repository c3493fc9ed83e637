//! Operations in flight: each context's data are its own, whoever waits for which operation first, and a context is used
//! again only when its operation has ended on both sides.

use crate::check::check;
use crate::{members, options, plans, run};
use corecast_team::{Failure, Loss, Member};
use corecast_wire::mutant::Mutant;

/// Two operations are in flight, for which the two ranks wait in different orders, and a blocking one follows.
#[test]
fn operations_in_flight_and_one_that_blocks() {
    let faults = [
        Mutant::PublishRelaxed,
        Mutant::ObserveRelaxed,
        Mutant::NoHeavyFence,
        Mutant::NoLightFence,
        Mutant::NoLastLook,
    ];
    let plans = plans();
    check("two in flight", Some(2), &faults, move || {
        let plans = plans.clone();
        let body = |member: &mut Member| {
            let rank = member.rank();
            let (mut there, mut back) = ([1 - rank as u64], [rank as u64]);
            let done = member.overlap(|flight| {
                let one = flight.broadcast(0, &mut there)?;
                let two = flight.broadcast(1, &mut back)?;
                let (first, second) = if rank == 0 { (one, two) } else { (two, one) };
                first.wait()?;
                second.wait()
            });
            assert_eq!(done.unwrap(), Ok(()));
            assert_eq!((there, back), ([1], [1]));
            assert_eq!(member.barrier(), Ok(()));
        };
        run(move || members(&plans, options(2)), body, body);
    });
}

/// Three operations after each other take the one context, and the first slot of its queue twice. Nobody reads what an
/// earlier one left there.
#[test]
fn a_context_serves_a_later_operation() {
    let faults = [
        Mutant::PublishRelaxed,
        Mutant::ObserveRelaxed,
        Mutant::GiveBackRelaxed,
        Mutant::NoFlowControl,
    ];
    let plans = plans();
    check("context again", Some(1), &faults, move || {
        let plans = plans.clone();
        let body = |member: &mut Member| {
            let mut values = match member.rank() {
                0 => [[1u64], [2], [3]],
                _ => [[0]; 3],
            };
            let done = member.overlap(|flight| {
                for value in &mut values {
                    // Its request is dropped: the next one waits for the context.
                    drop(flight.broadcast(0, value)?);
                }
                Ok::<(), Failure>(())
            });
            assert_eq!(done.unwrap(), Ok(()));
            assert_eq!(values, [[1], [2], [3]]);
        };
        run(move || members(&plans, options(1)), body, body);
    });
}

/// A member that only polls learns that its peer has left.
#[test]
fn polls_end_when_the_peer_has_left() {
    let plans = plans();
    check("polls", None, &[Mutant::PollsInVain], move || {
        let plans = plans.clone();
        let polled = |member: &mut Member| {
            let ended = member.overlap(|flight| {
                let request = flight.barrier()?;
                // A thread that yields goes on when all others wait or have ended.
                for _ in 0..10 {
                    if request.test()? {
                        return Ok(());
                    }
                    loom::thread::yield_now();
                }
                panic!("polls do not end");
            });
            ended.unwrap()
        };
        let (ended, ()) = run(move || members(&plans, options(1)), polled, |_| ());
        let how = match ended {
            Err(Failure::PeerLost { how, .. }) => how,
            other => panic!("{other:?}"),
        };
        assert_eq!(how, Loss::Left);
    });
}
