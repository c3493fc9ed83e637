//! A team that runs several times.

use crate::common::plans_of;
use corecast_collectives::operator::Sum;
use corecast_plan::Pattern;
use corecast_process::{Address, ProcessGroup};
use corecast_team::{Failure, Loss, Options, Team};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

#[test]
fn ranks_go_on_where_they_were() {
    let team = Team::new(plans_of(3, Pattern::Smelt)).unwrap();
    for run in 0..3 {
        let sums = team.run(|member| {
            let mut data = vec![member.rank() as u64 + run; 700];
            let mut later = [value(run)];
            let requested = member.overlap(|flight| flight.allreduce(&mut later, &Sum)?.wait());
            requested.unwrap().unwrap();
            member.allreduce(&mut data, Sum).unwrap();
            (later[0], data[699])
        });
        assert_eq!(sums, [(3 * value(run), 3 + 3 * run); 3]);
        for rank in 0..3 {
            assert!(!team.is_joined(rank));
            assert_eq!(team.progress(rank).ended.unwrap().completed, 2 * (run + 1));
        }
    }
    assert!(team.join(0).is_err());
}

fn value(run: u64) -> u64 {
    run * 100 + 7
}

#[test]
fn whoever_ends_a_later_run_early_has_left_the_others() {
    let team = Team::new(plans_of(2, Pattern::Smelt)).unwrap();
    team.run(|member| member.barrier().unwrap());
    let ended = team.run(|member| match member.rank() {
        0 => Ok(()),
        _ => member.barrier(),
    });
    let Err(Failure::PeerLost { remote, how, .. }) = &ended[1] else {
        panic!("{:?}", ended[1]);
    };
    assert_eq!((remote.rank, how), (0, &Loss::Left));
    // A team that has failed stays so.
    assert_eq!(
        team.run(|member| member.barrier()),
        [ended[1].clone(), ended[1].clone()]
    );
}

#[test]
fn what_has_failed_in_flight_is_said_of_the_rank() {
    let team = Team::new(plans_of(2, Pattern::Smelt)).unwrap();
    let ended = team.run(|member| {
        member.barrier()?;
        if member.rank() == 0 {
            return Ok(());
        }
        let mut data = [7_u64];
        let flown = member.overlap(|flight| flight.allreduce(&mut data, &Sum)?.wait());
        flown.unwrap()
    });
    assert!(ended[1].is_err());
    let ended = team.progress(1).ended.unwrap();
    let failed: Vec<String> = ended.failed.iter().map(ToString::to_string).collect();
    assert!(
        ended.completed == 1 && failed.len() == 1 && failed[0].contains("allreduce in flight"),
        "{} {failed:?}",
        ended.completed
    );
}

#[test]
fn after_a_panic_there_is_no_other_run() {
    let team = Team::new(plans_of(2, Pattern::Smelt)).unwrap();
    let run = || team.run(|member| assert_ne!(member.rank(), 1));
    assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    assert_eq!(team.progress(0).lost, None);
    assert_eq!(team.progress(1).lost, Some(Loss::Panicked));
    let said = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    let said = said.downcast::<String>().unwrap();
    assert!(said.contains("joined twice"), "{said}");
}

/// Each rank is the root of its own broadcast, sends, and waits for nobody: blocking, and in flight.
#[test]
fn members_that_end_after_different_operations_are_named() {
    let ends = |in_flight: bool| {
        let team = Team::new(plans_of(2, Pattern::Smelt)).unwrap();
        let run = || {
            team.run(|member| {
                let mut data = [7_u64];
                let root = member.rank();
                if in_flight {
                    let flown = member.overlap(|flight| flight.broadcast(root, &mut data)?.wait());
                    flown.unwrap().unwrap();
                } else {
                    member.broadcast(root, &mut data).unwrap();
                }
            });
        };
        let said = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
        said.downcast_ref::<String>().unwrap().clone()
    };
    for in_flight in [false, true] {
        let said = ends(in_flight);
        for rank in ["broadcast from rank 0", "broadcast from rank 1"] {
            assert!(said.contains(rank), "in flight {in_flight}: {said}");
        }
    }
}

/// However many there are: each operation context counts, not only what they have in common.
#[test]
fn members_that_end_after_many_different_operations_in_flight_are_named() {
    let options = Options {
        depth: 24,
        ..Options::default()
    };
    let team = Team::with_options(plans_of(2, Pattern::Smelt), &options).unwrap();
    let run = || {
        team.run(|member| {
            let root = member.rank();
            let mut data = [[7_u64]; 24];
            let flown = member.overlap(|flight| {
                for data in &mut data {
                    drop(flight.broadcast(root, data)?);
                }
                Ok::<(), Failure>(())
            });
            flown.unwrap().unwrap();
        });
    };
    let said = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    let said = said.downcast::<String>().unwrap();
    for rank in ["broadcast from rank 0", "broadcast from rank 1"] {
        assert!(said.contains(rank), "{said}");
    }
}

/// One process rests between two runs while the other waits for it, and is told when it leaves.
#[test]
fn processes_wait_for_the_next_run_and_not_for_one_that_cannot_come() {
    let name = format!("runs-{}", std::process::id());
    let enter = || -> Team {
        let address = Address::Name(name.clone());
        let plans = || Ok::<_, std::fmt::Error>(plans_of(2, Pattern::Smelt));
        ProcessGroup::enter(&address, 2, &[None], plans, &Options::default()).unwrap()
    };
    let (about_to_wait, waits) = channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            let team = enter();
            let first = team.run(|member| member.barrier());
            assert_eq!(first, [Ok(())]);
            for run in 0..2 {
                waits.recv().unwrap();
                // The other rank is about to wait for this one, which rests.
                thread::yield_now();
                if run == 0 {
                    assert_eq!(team.run(|member| member.barrier()), [Ok(())]);
                }
            }
        });
        let team = enter();
        assert_eq!(team.run(|member| member.barrier()), [Ok(())]);
        let ended = team.run(|member| {
            about_to_wait.send(()).unwrap();
            member.barrier()?;
            about_to_wait.send(()).unwrap();
            member.barrier()
        });
        let Err(Failure::PeerLost { how, .. }) = &ended[0] else {
            panic!("{ended:?}");
        };
        assert_eq!(how, &Loss::Left);
    });
}

/// A rank of another process that has come to the end of a run may come again, so others wait for it for as long as they have
/// patience.
#[test]
fn whoever_rests_between_runs_has_not_left_those_of_other_processes() {
    let options = Options {
        patience: Some(Duration::from_millis(50)),
        ..Options::default()
    };
    let memory = ProcessGroup::found(&plans_of(2, Pattern::Smelt), &options).unwrap();
    let attach = |rank| ProcessGroup::attach(&memory, &[rank], &options).unwrap();
    let (one, other) = thread::scope(|scope| {
        let one = scope.spawn(|| attach(0));
        let other = attach(1);
        (one.join().unwrap(), other)
    });
    one.run(|_| ());
    let ended = other.run(|member| member.barrier());
    let Err(Failure::Stalled { remote, .. }) = &ended[0] else {
        panic!("{ended:?}");
    };
    assert_eq!(remote.rank, 0);
}

/// Rank 0 has left rank 2 of its process, which waits for rank 1 of another one, which waits for rank 0.
#[test]
fn whoever_leaves_its_run_early_is_noticed_through_another_process() {
    let name = format!("runs-chain-{}", std::process::id());
    let enter = |ranks: &[Option<usize>]| -> Team {
        let address = Address::Name(name.clone());
        let plans = || Ok::<_, std::fmt::Error>(plans_of(3, Pattern::Chain));
        ProcessGroup::enter(&address, 3, ranks, plans, &Options::default()).unwrap()
    };
    let is_left = |ended: &Result<(), Failure>| match ended {
        Err(Failure::PeerLost { remote, how, .. }) => (remote.rank, how) == (0, &Loss::Left),
        _ => false,
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            let team = enter(&[Some(1)]);
            let ended = team.run(|member| member.barrier());
            assert!(is_left(&ended[0]), "{ended:?}");
        });
        let team = enter(&[Some(0), Some(2)]);
        let ended = team.run(|member| match member.rank() {
            0 => Ok(()),
            _ => member.barrier(),
        });
        assert!(is_left(&ended[1]), "{ended:?}");
    });
}
