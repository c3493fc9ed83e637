//! The promises of the nine combinations of synchronisation, and that the loose ones wait for no
//! more than they promise.

use crate::own_process::WATCHDOG;
use corecast_collectives::Plans;
use corecast_collectives::operator::Sum;
use corecast_plan::Pattern;
use corecast_team::{Await, Member, Synchrony, Team};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn team(n: usize) -> Team {
    let machine = corecast_model::synthetic(&format!("core:{n}")).unwrap();
    Team::new(Plans::of_pattern(machine.costs(), Pattern::Binomial, None).unwrap()).unwrap()
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
