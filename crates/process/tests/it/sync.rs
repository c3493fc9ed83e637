//! The promises of the nine combinations of synchronisation, and that the loose ones wait for no
//! more than they promise.

use crate::common::plans_of;
use crate::overlap::in_time;
use crate::own_process::{WATCHDOG, eventually};
use corecast_collectives::Plans;
use corecast_collectives::operator::Sum;
use corecast_plan::Pattern;
use corecast_team::{Await, Member, Options, Synchrony, Team};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn team(n: usize) -> Team {
    Team::new(plans_of(n, Pattern::Binomial)).unwrap()
}

const N: usize = 4;

#[test]
fn all_means_all() {
    type Operation = fn(&mut Member);
    let operations: [Operation; 4] = [
        |member| member.broadcast(1, &mut [0u8; 3000]).unwrap(),
        |member| member.reduce(2, &mut [1u64], Sum).unwrap(),
        |member| {
            member
                .gather(
                    0,
                    &[1u8],
                    Some(&mut [0; N])
                        .filter(|_| member.rank() == 0)
                        .map(|r| &mut r[..]),
                )
                .unwrap()
        },
        |member| member.allreduce(&mut [1u64; 1000], Sum).unwrap(),
    ];
    for sync in Synchrony::all() {
        for operation in operations {
            let (entered, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
            team(N).run(|member| {
                let mut rng = fastrand::Rng::with_seed(member.rank() as u64);
                for round in 1..=20 {
                    std::thread::sleep(Duration::from_micros(rng.u64(0..200)));
                    entered.fetch_add(1, Ordering::Relaxed);
                    let seen = |what: &AtomicUsize| what.load(Ordering::Relaxed) >= round * N;
                    let done = member.synced(sync, |member| {
                        if sync.entry == Await::All {
                            assert!(seen(&entered), "{sync}: begun before all had come");
                        }
                        operation(member);
                        ended.fetch_add(1, Ordering::Relaxed);
                        Ok(())
                    });
                    done.unwrap();
                    if sync.exit == Await::All {
                        assert!(seen(&ended), "{sync}: left before all had ended");
                    }
                }
            });
        }
    }
}

/// The root of a short broadcast and a leaf of a short reduction wait for no other rank.
#[test]
fn loose_members_leave_before_others_come() {
    for sync in Synchrony::all().filter(|s| s.entry != Await::All && s.exit != Await::All) {
        let left = AtomicBool::new(false);
        let wait = |member: &mut Member| {
            let begin = Instant::now();
            while member.rank() == 0 && !left.load(Ordering::Acquire) {
                assert!(begin.elapsed() < WATCHDOG, "{sync}: the other waits");
                std::thread::yield_now();
            }
        };
        team(2).run(|member| {
            wait(member);
            member
                .synced(sync, |member| member.broadcast_value(1, 7u8))
                .unwrap();
            member
                .synced(sync, |member| member.reduce_value(0, 7u8, |a, b| a + b))
                .unwrap();
            left.store(true, Ordering::Release);
        });
    }
}

#[test]
fn names_are_read_as_they_are_shown() {
    for sync in Synchrony::all() {
        assert_eq!(sync.to_string().parse(), Ok(sync));
    }
    assert_eq!(
        ("loose".parse(), "strict".parse()),
        (Ok(Synchrony::LOOSE), Ok(Synchrony::STRICT))
    );
    let said = "all/none".parse::<Synchrony>().unwrap_err().to_string();
    assert!(
        said.contains("'all/none'") && said.contains("all/my"),
        "{said}"
    );
}

/// Three ranks whose data go down a tree of `pattern` from rank 0, long ones lent in one piece. The test fails
/// instead of hanging.
fn three(what: String, pattern: Pattern, body: impl Fn(&mut Member) + Send + Sync + 'static) {
    let machine = corecast_model::synthetic("core:3").unwrap();
    let plans = Plans::of_pattern(machine.costs(), pattern, Some(0)).unwrap();
    let options = Options {
        algorithms: "broadcast=whole".parse().unwrap(),
        ..Options::default()
    };
    in_time(what, move || {
        Team::with_options(plans, &options).unwrap().run(body);
    });
}

/// Bytes that are lent and not copied.
const LONG: usize = 1 << 20;

/// How operations are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Blocking,
    InFlight,
}

/// Each form in each mode.
fn modes() -> impl Iterator<Item = (Form, Synchrony)> {
    let of = |form| Synchrony::all().map(move |sync| (form, sync));
    of(Form::Blocking).chain(of(Form::InFlight))
}

/// Broadcasts long data from rank 0 and calls `after` where the mode lets this rank leave.
fn broadcast(member: &mut Member, (form, sync): (Form, Synchrony), after: impl FnOnce(usize)) {
    let rank = member.rank();
    let mut data = vec![rank as u8 + 1; LONG];
    match form {
        Form::Blocking => {
            let done = member.synced(sync, |member| member.broadcast(0, &mut data));
            done.unwrap();
            after(rank);
        }
        Form::InFlight => {
            let overlapped = member.overlap(|flight| {
                let started = flight.synced(sync, |flight| flight.broadcast(0, &mut data));
                drop(started.unwrap());
                after(rank);
            });
            overlapped.unwrap();
        }
    }
    assert!(data.iter().all(|&byte| byte == 1), "{form:?} {sync}");
}

/// Lets a member that waits for too little go on. One that waits as it should does so however long this takes.
fn dawdle() {
    (0..2000).for_each(|_| std::thread::yield_now());
}

fn set(flag: &AtomicBool) {
    flag.store(true, Ordering::Release);
}

fn is_set(flag: &AtomicBool) -> bool {
    flag.load(Ordering::Acquire)
}

/// With exit NO, the root of a long broadcast leaves before any other member has come.
#[test]
fn exit_no_leaves_before_others_come() {
    let early = |&(form, sync): &(Form, Synchrony)| {
        form == Form::InFlight && sync.entry != Await::All && sync.exit == Await::No
    };
    for mode in modes().filter(early) {
        let left = AtomicBool::new(false);
        three(
            format!("{mode:?}: the root waits"),
            Pattern::Chain,
            move |member| {
                if member.rank() != 0 {
                    eventually("the root leaves", || is_set(&left));
                }
                broadcast(member, mode, |rank| {
                    if rank == 0 {
                        set(&left);
                    }
                });
            },
        );
    }
}

/// With exit MY, the root of a long broadcast leaves when the rank that reads its data has done so, and before the
/// last rank of the chain has come. A call that blocks gives as much for exit NO.
#[test]
fn exit_my_waits_for_its_own_data_alone() {
    let own = |&(form, sync): &(Form, Synchrony)| {
        let blocks = form == Form::Blocking && sync.exit == Await::No;
        sync.entry != Await::All && (sync.exit == Await::My || blocks)
    };
    for mode in modes().filter(own) {
        let (read, left) = (AtomicBool::new(false), AtomicBool::new(false));
        three(
            format!("{mode:?}: the root waits"),
            Pattern::Chain,
            move |member| {
                match member.rank() {
                    1 => {
                        dawdle();
                        set(&read);
                    }
                    2 => eventually("the root leaves", || is_set(&left)),
                    _ => {}
                }
                broadcast(member, mode, |rank| {
                    if rank == 0 {
                        assert!(
                            is_set(&read),
                            "{mode:?}: left while its data were to be read"
                        );
                        set(&left);
                    }
                });
            },
        );
    }
}

/// With exit MY, a member waits for no operation that it had started before.
#[test]
fn exit_my_does_not_wait_for_what_was_in_flight_before() {
    let modes = modes().filter(|&(form, sync)| {
        form == Form::InFlight && sync.entry != Await::All && sync.exit == Await::My
    });
    for (form, sync) in modes {
        let left = AtomicBool::new(false);
        let what = format!("{form:?} {sync}: rank 0 waits for the barrier");
        three(what, Pattern::Chain, move |member| {
            if member.rank() != 0 {
                eventually("rank 0 leaves", || is_set(&left));
            }
            let mut data = [7u8];
            let flown = member.overlap(|flight| {
                let before = flight.barrier()?;
                drop(flight.synced(sync, |flight| flight.broadcast(0, &mut data))?);
                set(&left);
                before.wait()
            });
            flown.unwrap().unwrap();
        });
    }
}

/// With exit ALL, the last rank of a chain, which gives its data first, leaves when all are combined at the root.
/// With the other exits it leaves before the root has come.
#[test]
fn exit_all_waits_for_the_data_of_all() {
    const COUNT: usize = 4;
    for mode in modes().filter(|(_, sync)| sync.entry != Await::All) {
        let (form, sync) = mode;
        let (combined, left) = (AtomicUsize::new(0), AtomicBool::new(false));
        three(
            format!("{mode:?}: the last waits"),
            Pattern::Chain,
            move |member| {
                let rank = member.rank();
                let add = |a: u64, b: u64| {
                    combined.fetch_add(1, Ordering::Relaxed);
                    a + b
                };
                if rank == 0 {
                    match sync.exit {
                        Await::All => dawdle(),
                        _ => eventually("the last leaves", || is_set(&left)),
                    }
                }
                let leave = || {
                    if rank == 2 && sync.exit == Await::All {
                        assert_eq!(combined.load(Ordering::Relaxed), 2 * COUNT, "{mode:?}");
                    }
                    if rank == 2 {
                        set(&left);
                    }
                };
                let mut data = [1_u64; COUNT];
                match form {
                    Form::Blocking => {
                        member
                            .synced(sync, |member| member.reduce(0, &mut data, add))
                            .unwrap();
                        leave();
                    }
                    Form::InFlight => {
                        let overlapped = member.overlap(|flight| {
                            let started =
                                flight.synced(sync, |flight| flight.reduce(0, &mut data, &add));
                            drop(started.unwrap());
                            leave();
                        });
                        overlapped.unwrap();
                    }
                }
                assert!(rank != 0 || data == [3; COUNT]);
            },
        );
    }
}

/// With entry ALL, no data move before all have come; with the other entries a rank gets its data before the other
/// child of the root has come.
#[test]
fn entry_all_waits_for_all_to_come() {
    for mode in modes().filter(|(form, sync)| match form {
        // What a rank that has got its data does next needs an exit that waits for these and for no more.
        Form::Blocking => sync.exit != Await::All,
        Form::InFlight => sync.exit == Await::My,
    }) {
        let (come, got) = (AtomicBool::new(false), AtomicBool::new(false));
        let all = mode.1.entry == Await::All;
        three(
            format!("{mode:?}: rank 1 waits"),
            Pattern::Sequential,
            move |member| {
                if member.rank() == 2 {
                    match all {
                        true => dawdle(),
                        false => eventually("rank 1 gets its data", || is_set(&got)),
                    }
                    set(&come);
                }
                broadcast(member, mode, |rank| {
                    if rank == 1 {
                        assert!(
                            !all || is_set(&come),
                            "{mode:?}: data came before all members"
                        );
                        set(&got);
                    }
                });
            },
        );
    }
}
