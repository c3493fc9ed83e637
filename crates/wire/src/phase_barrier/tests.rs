//! Phase barriers under each configuration of waits.

use super::*;
use crate::hardware_wait::HardwareWait;
use std::sync::{Arc, mpsc};
use std::thread;

const POLICIES: [WaitConfig; 4] = [
    WaitConfig::BALANCED,
    WaitConfig::OVERSUBSCRIBED,
    WaitConfig::PARK,
    WaitConfig {
        spin_ns: 1_000,
        soon_ns: 0,
        yield_ns: 1_000,
        ..WaitConfig::PARK
    },
];

/// Phases in which the CPU waits that are over before the others come, and such that last until they come.
#[test]
fn threads_that_wait_in_the_cpu_pass_all_phases() {
    for (hardware_ns, park) in [
        (1_000, true),
        (1_000, false),
        (4_000_000_000, true),
        (4_000_000_000, false),
    ] {
        let wait_config = WaitConfig {
            hardware_ns,
            park,
            yield_ns: 1_000,
            ..WaitConfig::PARK
        };
        let mut phase_barrier = PhaseBarrier::new(2, WaitConfig::PARK);
        phase_barrier.pace = Pace::with_hardware(wait_config, HardwareWait::pretended());
        thread::scope(|scope| {
            for late in [0, 1] {
                let phase_barrier = &phase_barrier;
                scope.spawn(move || {
                    for lap in 0..100 {
                        if lap % 2 == late {
                            thread::sleep(Duration::from_micros(50));
                        }
                        let arrival = phase_barrier.arrive(1, || ()).unwrap();
                        phase_barrier.wait(arrival);
                    }
                });
            }
        });
    }
}

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

/// A watchdog against hangs, not a measurement.
const WATCHDOG: Duration = Duration::from_secs(300);

/// Two threads meet, while a third one arrives by mistake for more than are expected.
#[test]
fn refused_arrivals_take_no_place_of_others() {
    const PHASES: u64 = 20_000;
    let phase_barrier = Arc::new(PhaseBarrier::new(3, WaitConfig::OVERSUBSCRIBED));
    // From the next phase on two are expected, so three are always too many.
    phase_barrier.arrive_and_drop(|| ()).unwrap();
    let _ = phase_barrier.arrive(2, || ()).unwrap();
    let (told, tells) = mpsc::channel();
    let laps = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
    for own in 0..2 {
        let (phase_barrier, laps) = (Arc::clone(&phase_barrier), Arc::clone(&laps));
        let told = told.clone();
        thread::spawn(move || {
            let meet = |lap| {
                laps[own].store(lap, Ordering::Relaxed);
                let arrival = phase_barrier.arrive(1, || ()).map_err(|e| e.to_string())?;
                phase_barrier.wait(arrival);
                let other = laps[1 - own].load(Ordering::Relaxed);
                match other >= lap {
                    true => Ok(()),
                    false => Err(format!("the other one is in lap {other} of {lap}")),
                }
            };
            let _ = told.send((1..=PHASES).try_for_each(meet));
        });
    }
    let stop = Arc::new(AtomicU64::new(0));
    let too_many = {
        let (phase_barrier, stop) = (Arc::clone(&phase_barrier), Arc::clone(&stop));
        thread::spawn(move || {
            while stop.load(Ordering::Relaxed) == 0 {
                assert!(phase_barrier.arrive(3, || ()).is_err());
            }
        })
    };
    for _ in 0..2 {
        let ended = tells.recv_timeout(WATCHDOG).expect("nobody goes on");
        ended.unwrap();
    }
    stop.store(1, Ordering::Relaxed);
    too_many.join().unwrap();
    let one = phase_barrier.arrive(1, || unreachable!()).unwrap();
    assert!(!phase_barrier.is_over(one));
    assert_eq!(phase_barrier.arrive(1, || ()).unwrap(), one);
    assert!(phase_barrier.is_over(one));
}

/// The count takes half of the word, and the mark of sleepers is the bit above it.
#[test]
fn as_many_as_can_be_expected_leave_the_other_half_alone() {
    const MOST: u32 = PhaseBarrier::MOST;
    let phase_barrier = PhaseBarrier::new(MOST, WaitConfig::PARK);
    let upper = || phase_barrier.word.load(Ordering::Relaxed) >> 32;
    let first = phase_barrier
        .arrive(MOST - 1, || unreachable!("one is missing"))
        .unwrap();
    for arrivals in [2, MOST, u32::MAX] {
        let missing = 1;
        let too_many = TooMany { arrivals, missing };
        assert_eq!(phase_barrier.arrive(arrivals, || ()), Err(too_many));
        assert_eq!((upper(), phase_barrier.is_over(first)), (0, false));
    }
    let complete = || {
        for arrivals in [1, 2, MOST, u32::MAX] {
            let missing = 0;
            let too_many = TooMany { arrivals, missing };
            assert_eq!(phase_barrier.arrive(arrivals, || ()), Err(too_many));
        }
        let too_many = TooMany {
            arrivals: 1,
            missing: 0,
        };
        assert_eq!(phase_barrier.arrive_and_drop(|| ()), Err(too_many));
        assert_eq!(phase_barrier.word.load(Ordering::Relaxed), FULL);
    };
    assert_eq!(phase_barrier.arrive(1, complete).unwrap(), first);
    assert_eq!(
        phase_barrier.word.load(Ordering::Relaxed),
        1 << PHASE_SHIFT | 1
    );
    assert_eq!(phase_barrier.arrive(MOST, || ()).unwrap().phase(), 1);
}
