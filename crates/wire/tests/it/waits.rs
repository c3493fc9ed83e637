//! Waits end under every configuration.

use corecast_wire::WaitConfig;
use corecast_wire::phase_barrier::PhaseBarrier;
use corecast_wire::queue::{self, Options};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

/// A watchdog against hangs, not a measurement.
const WATCHDOG: Duration = Duration::from_secs(300);

/// Configurations whose phases are empty, or so short that a slow counter does not tick in them.
const SHORT: [WaitConfig; 4] = [
    short(0, 0, false),
    short(1, 0, false),
    short(0, 1, false),
    short(0, 0, true),
];

const fn short(spin_ns: u32, yield_ns: u32, park: bool) -> WaitConfig {
    WaitConfig {
        spin_ns,
        hardware_ns: 0,
        soon_ns: 0,
        yield_ns,
        park,
    }
}

/// Runs `body` on a thread of its own, and panics if it does not end.
#[track_caller]
pub(crate) fn ends(what: &str, body: impl FnOnce() + Send + 'static) {
    let (told, tells) = mpsc::channel();
    let thread = thread::spawn(move || {
        body();
        let _ = told.send(());
    });
    match tells.recv_timeout(WATCHDOG) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what} never ends"),
        _ => thread.join().unwrap(),
    }
}

#[test]
fn queues_are_looked_at_under_every_configuration() {
    for wait_config in SHORT {
        ends(&format!("a queue under {wait_config:?}"), move || {
            let options = Options {
                wait_config,
                slots: 2,
                ..Options::default()
            };
            let (mut sender, mut receiver) = queue::queue(&options).unwrap();
            let other = thread::spawn(move || {
                for number in 0..100u64 {
                    // The receiver is in its long wait by then.
                    thread::sleep(Duration::from_micros(50));
                    sender.send(&number.to_ne_bytes()).unwrap();
                }
            });
            for number in 0..100u64 {
                let mut word = [0; 8];
                receiver.receive(&mut word).unwrap();
                assert_eq!(u64::from_ne_bytes(word), number);
            }
            other.join().unwrap();
        });
    }
}

#[test]
fn phase_barriers_are_looked_at_under_every_configuration() {
    for wait_config in SHORT {
        ends(
            &format!("a phase barrier under {wait_config:?}"),
            move || {
                let phase_barrier = Arc::new(PhaseBarrier::new(2, wait_config));
                let meet = |phase_barrier: Arc<PhaseBarrier>, late: bool| {
                    for lap in 0..100 {
                        if late == (lap % 2 == 0) {
                            thread::sleep(Duration::from_micros(50));
                        }
                        let arrival = phase_barrier.arrive(1, || ()).unwrap();
                        phase_barrier.wait(arrival);
                    }
                };
                let other = Arc::clone(&phase_barrier);
                let other = thread::spawn(move || meet(other, true));
                meet(phase_barrier, false);
                other.join().unwrap();
            },
        );
    }
}
