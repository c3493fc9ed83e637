//! Phase barriers: no thread passes before all have come, each sees what the others did before, and none
//! sleeps for ever.

use super::check;
use corecast_wire::mutant::Mutant;
use corecast_wire::{PhaseBarrier, WaitConfig};
// `Arc` is not loom's, which panics when a model that has failed drops it.
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use std::sync::Arc;

/// Each of two threads writes, arrives, and reads what the other one wrote. The last one to arrive sees
/// both writes.
fn two_threads(laps: u64) {
    let phase_barrier = Arc::new(PhaseBarrier::new(2, WaitConfig::PARK));
    let cells = Arc::new([AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0)]);
    let run = move |own: usize, phase_barrier: &PhaseBarrier, cells: &[AtomicU64; 3]| {
        for lap in 1..=laps {
            // All accesses are Relaxed, because the phase barrier must order them.
            cells[own].store(lap, Ordering::Relaxed);
            let complete = || {
                let both = [0, 1].map(|cell| cells[cell].load(Ordering::Relaxed));
                assert_eq!(both, [lap, lap]);
                cells[2].store(lap, Ordering::Relaxed);
            };
            let arrival = phase_barrier.arrive(1, complete).unwrap();
            phase_barrier.wait(arrival);
            assert!(cells[1 - own].load(Ordering::Relaxed) >= lap);
            assert!(cells[2].load(Ordering::Relaxed) >= lap);
        }
    };
    let other = {
        let (phase_barrier, cells) = (Arc::clone(&phase_barrier), Arc::clone(&cells));
        thread::spawn(move || run(1, &phase_barrier, &cells))
    };
    run(0, &phase_barrier, &cells);
    other.join().unwrap();
}

#[test]
fn once() {
    let mutants = [
        Mutant::ComeRelaxed,
        Mutant::OpenRelaxed,
        Mutant::PassRelaxed,
    ];
    check("phase barrier", None, &mutants, || two_threads(1));
}

#[test]
fn twice() {
    check("phase barrier, two phases", Some(3), &[], || two_threads(2));
}

/// Two sleepers, and one thread that opens the phase. A sleeper that finds the other's mark sets none.
#[test]
fn two_sleepers() {
    let mutants = [Mutant::RingRelaxed, Mutant::HearRelaxed];
    check("phase barrier, two sleepers", Some(2), &mutants, || {
        let phase_barrier = Arc::new(PhaseBarrier::new(1, WaitConfig::PARK));
        let sleepers = [0, 1].map(|_| {
            let phase_barrier = Arc::clone(&phase_barrier);
            thread::spawn(move || {
                phase_barrier.wait(corecast_wire::phase_barrier::Arrival::of_phase(0))
            })
        });
        let _ = phase_barrier.arrive(1, || ()).unwrap();
        for sleeper in sleepers {
            sleeper.join().unwrap();
        }
    });
}

/// Two threads are expected. One has come when another thread arrives for two, which is refused unless the
/// phase is over by then.
#[test]
fn refused_arrivals_for_many() {
    let mutants = [Mutant::ManyAddFirst];
    check("phase barrier, refused for two", None, &mutants, || {
        let phase_barrier = Arc::new(PhaseBarrier::new(2, WaitConfig::PARK));
        let _ = phase_barrier.arrive(1, || ()).unwrap();
        let other = {
            let phase_barrier = Arc::clone(&phase_barrier);
            thread::spawn(move || phase_barrier.arrive(2, || ()).is_ok())
        };
        let last = phase_barrier.arrive(1, || ()).unwrap();
        assert!(phase_barrier.is_over(last));
        let phases = 1 + u32::from(other.join().unwrap());
        let first = phase_barrier
            .arrive(1, || panic!("one is missing"))
            .unwrap();
        assert_eq!(first.phase(), phases);
        assert_eq!(phase_barrier.arrive(1, || ()).unwrap(), first);
        assert!(phase_barrier.is_over(first));
    });
}

/// One thread is expected. Another one may arrive while the first completes the phase, and is refused then.
#[test]
fn refused_arrival_of_one() {
    let mutants = [Mutant::TakeBackAnyway];
    check("phase barrier, refused for one", None, &mutants, || {
        let phase_barrier = Arc::new(PhaseBarrier::new(1, WaitConfig::PARK));
        let other = {
            let phase_barrier = Arc::clone(&phase_barrier);
            thread::spawn(move || phase_barrier.arrive(1, || ()).is_ok())
        };
        let own = phase_barrier.arrive(1, || ()).is_ok();
        let phases = u32::from(own) + u32::from(other.join().unwrap());
        for phase in phases..phases + 2 {
            let arrival = phase_barrier.arrive(1, || ()).unwrap();
            assert_eq!(arrival.phase(), phase);
            assert!(phase_barrier.is_over(arrival));
        }
    });
}

/// Two threads are expected, and one of them leaves.
#[test]
fn one_leaves() {
    let mutants = [Mutant::LeaversUnawaited];
    check("phase barrier, one leaves", None, &mutants, || {
        let phase_barrier = Arc::new(PhaseBarrier::new(2, WaitConfig::PARK));
        let other = {
            let phase_barrier = Arc::clone(&phase_barrier);
            thread::spawn(move || phase_barrier.arrive_and_drop(|| ()).unwrap())
        };
        let first = phase_barrier.arrive(1, || ()).unwrap();
        phase_barrier.wait(first);
        let alone = phase_barrier.arrive(1, || ()).unwrap();
        assert!(phase_barrier.is_over(alone));
        other.join().unwrap();
    });
}

/// One thread is expected. Another one that wants to leave takes its place, or the place of the next phase, or
/// is refused. In the last case as many are expected as before.
#[test]
fn refused_leaver() {
    check("phase barrier, refused leaver", None, &[], || {
        let phase_barrier = Arc::new(PhaseBarrier::new(1, WaitConfig::PARK));
        let other = {
            let phase_barrier = Arc::clone(&phase_barrier);
            thread::spawn(move || phase_barrier.arrive_and_drop(|| ()).is_ok())
        };
        let own = phase_barrier.arrive(1, || ());
        match other.join().unwrap() {
            true => assert!(phase_barrier.arrive(1, || ()).is_err()),
            false => {
                assert_eq!(own.unwrap().phase(), 0);
                for phase in 1..3 {
                    let arrival = phase_barrier.arrive(1, || ()).unwrap();
                    assert_eq!(arrival.phase(), phase);
                    assert!(phase_barrier.is_over(arrival));
                }
            }
        }
    });
}
