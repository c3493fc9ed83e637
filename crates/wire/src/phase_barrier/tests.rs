//! Phase barriers under each configuration of waits.

use super::*;
use std::thread;

const POLICIES: [WaitConfig; 4] = [
    WaitConfig::BALANCED,
    WaitConfig::OVERSUBSCRIBED,
    WaitConfig::PARK,
    WaitConfig {
        spin_ns: 1_000,
        yield_ns: 1_000,
        park: true,
    },
];

#[test]
fn nobody_goes_on_before_all_have_come_and_one_completes() {
    const PHASES: u64 = 300;
    for wait_config in POLICIES {
        for threads in [1, 2, 5u32] {
            let phase_barrier = PhaseBarrier::new(threads, wait_config);
            let (come, completed) = (AtomicU64::new(0), AtomicU64::new(0));
            thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        for lap in 1..=PHASES {
                            come.fetch_add(1, Ordering::Relaxed);
                            let complete = || {
                                assert_eq!(come.load(Ordering::Relaxed), lap * u64::from(threads));
                                completed.fetch_add(1, Ordering::Relaxed);
                            };
                            let arrival = phase_barrier.arrive(1, complete).unwrap();
                            phase_barrier.wait(arrival);
                            assert!(completed.load(Ordering::Relaxed) >= lap);
                        }
                    });
                }
            });
            assert_eq!(completed.into_inner(), PHASES);
        }
    }
}

#[test]
fn whoever_leaves_is_expected_no_more() {
    for wait_config in POLICIES {
        let phase_barrier = PhaseBarrier::new(4, wait_config);
        let phases = AtomicU64::new(0);
        let complete = || {
            phases.fetch_add(1, Ordering::Relaxed);
        };
        // Thread t comes t times and leaves.
        thread::scope(|scope| {
            for times in 0..4 {
                let phase_barrier = &phase_barrier;
                scope.spawn(move || {
                    for _ in 0..times {
                        let arrival = phase_barrier.arrive(1, complete).unwrap();
                        phase_barrier.wait(arrival);
                    }
                    phase_barrier.arrive_and_drop(complete).unwrap();
                });
            }
        });
        assert_eq!(phases.into_inner(), 4);
        let too_many = TooMany {
            arrivals: 1,
            missing: 0,
        };
        assert_eq!(phase_barrier.arrive_and_drop(|| ()), Err(too_many));
        assert_eq!(phase_barrier.arrive(1, || ()), Err(too_many));
    }
}

#[test]
fn one_may_arrive_for_many_and_too_many_change_nothing() {
    let phase_barrier = PhaseBarrier::new(5, WaitConfig::PARK);
    let first = phase_barrier
        .arrive(4, || unreachable!("one is missing"))
        .unwrap();
    for arrivals in [2, 5, 6, u32::MAX] {
        assert!(phase_barrier.arrive(arrivals, || unreachable!()).is_err());
        assert!(!phase_barrier.is_over(first));
    }
    let last = phase_barrier.arrive(1, || ()).unwrap();
    assert_eq!(first, last);
    assert!(phase_barrier.is_over(first));
    phase_barrier.wait(last);
    // A completion that panics holds nobody up.
    let panics = || phase_barrier.arrive(5, || panic!("no"));
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).unwrap_err();
    assert!(phase_barrier.is_over(Arrival::of_phase(1)));
    assert_eq!(phase_barrier.arrive(5, || ()).unwrap().phase(), 2);
}

#[test]
fn phases_begin_again_at_zero() {
    let phase_barrier = PhaseBarrier::new(1, WaitConfig::PARK);
    let last = u64::from(PHASE_MASK) << PHASE_SHIFT | (FULL - 1);
    phase_barrier.word.store(last, Ordering::Relaxed);
    let arrival = phase_barrier.arrive(1, || ()).unwrap();
    assert_eq!(arrival.phase(), PHASE_MASK);
    assert!(phase_barrier.is_over(arrival));
    assert_eq!(phase_barrier.arrive(1, || ()).unwrap().phase(), 0);
}
