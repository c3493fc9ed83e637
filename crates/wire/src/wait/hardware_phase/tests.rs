//! The hardware phase ends by a look, by the watch and by itself, on an instruction that is pretended.

use super::*;
use crate::park::Parker;
use crate::sync::{AtomicU64, Ordering};
use crate::wait::{Pace, Watch};
use crate::{Flag, Line, LineRef, Segment, WaitConfig, WaitStrategy, fence_kind};
use std::convert::Infallible;
use std::thread;
use std::time::Duration;

/// A phase of `ns` nanoseconds on a counter that ticks once in a nanosecond.
fn phase(before_ns: u32, ns: u32) -> HardwarePhase {
    HardwarePhase::new(HardwareWait::pretended(), before_ns, ns, u64::from)
}

#[test]
fn waits_for_a_line_fill_the_phase() {
    let phase = phase(800, 250_000);
    assert_eq!(phase.next(0, true), Some(100_000));
    assert_eq!(phase.next(240_000, true), Some(10_000));
    assert_eq!(phase.next(250_000, true), None);
    // The counter of another CPU may be behind.
    assert_eq!(phase.next(u64::MAX, true), None);
}

#[test]
fn waits_without_a_line_are_late_by_an_eighth_at_most() {
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..2000 {
        let (before, ns) = (random.u32(..100_000), random.u32(..3_000_000));
        let phase = phase(before, ns);
        let (mut waited, mut waits) = (0, 0);
        while let Some(next) = phase.next(waited, false) {
            let lasted = u64::from(before) + waited;
            assert!(next > 0 && next <= (lasted / 8).max(1), "{before} {waited}");
            waited += next;
            waits += 1;
        }
        assert_eq!(
            waited,
            u64::from(ns),
            "the phase is as long as it was asked for"
        );
        // Each wait is longer than the one before by an eighth, but for the first ones of single ticks.
        assert!(waits <= 160, "{before} {ns}: {waits}");
    }
}

#[test]
fn no_phase_is_no_wait() {
    for is_monitored in [false, true] {
        assert_eq!(phase(1000, 0).next(0, is_monitored), None);
    }
}

/// Both kinds of waits, with the word that is monitored.
fn both(word: &AtomicU64) -> [Option<Monitored<'_>>; 2] {
    [Some(Monitored::new(word)), None]
}

#[test]
fn a_look_ends_the_phase() {
    let word = AtomicU64::new(0);
    for monitored in both(&word) {
        let mut looks = 0;
        let mut look = || {
            looks += 1;
            (looks == 5).then_some(looks)
        };
        // A phase that would last for seconds.
        let phase = HardwarePhase::new(HardwareWait::pretended(), 0, u32::MAX, u64::from);
        let found = phase.wait(monitored, &mut look, || Ok::<(), Infallible>(()));
        assert_eq!(found, Some(Ok(5)));
    }
}

#[test]
fn a_write_of_the_line_ends_the_phase() {
    let word = Line(AtomicU64::new(0));
    let phase = HardwarePhase::new(HardwareWait::pretended(), 0, u32::MAX, u64::from);
    for turn in 1..=100 {
        thread::scope(|scope| {
            // Release: synchronises with the look.
            scope.spawn(|| word.store(turn, Ordering::Release));
            // Acquire: synchronises with the store.
            let mut look = || (word.load(Ordering::Acquire) == turn).then_some(turn);
            let word = Some(Monitored::new(&word));
            let found = phase.wait(word, &mut look, || Ok::<(), Infallible>(()));
            assert_eq!(found, Some(Ok(turn)));
        });
    }
}

#[test]
fn the_watch_ends_the_phase() {
    let word = AtomicU64::new(0);
    for monitored in both(&word) {
        let mut asked = 0;
        let check = || {
            asked += 1;
            if asked == 3 { Err("gone") } else { Ok(()) }
        };
        let phase = HardwarePhase::new(HardwareWait::pretended(), 0, u32::MAX, u64::from);
        let ended = phase.wait(monitored, &mut || None::<()>, check);
        assert_eq!((ended, asked), (Some(Err("gone")), 3));
    }
}

#[test]
fn the_phase_ends_by_itself_and_is_counted() {
    let word = AtomicU64::new(0);
    for monitored in both(&word) {
        let before = hardware_wait::waits();
        let ended = phase(100, 20_000).wait(monitored, &mut || None::<()>, || Err("not asked"));
        // A thread that lost its CPU meanwhile has a question to ask.
        assert!(matches!(ended, None | Some(Err("not asked"))));
        assert!(hardware_wait::waits() > before);
    }
}

/// Phases on a CPU with the pretended instruction.
fn pace(hardware_ns: u32, park: bool) -> Pace {
    let wait_config = WaitConfig {
        spin_ns: 100,
        hardware_ns,
        soon_ns: 0,
        yield_ns: 1_000,
        park,
    };
    Pace::with_hardware(wait_config, HardwareWait::pretended())
}

fn wait_strategy(hardware_ns: u32, park: bool) -> (WaitStrategy, LineRef<Line<Parker>>) {
    let parker: LineRef<Line<Parker>> = Segment::one(None).unwrap();
    let mut wait_strategy = WaitStrategy::new(WaitConfig::PARK, parker.clone());
    wait_strategy.pace = pace(hardware_ns, park);
    (wait_strategy, parker)
}

/// Phases that are over before anything comes, and such that never end before it comes.
const PHASES: [(u32, bool); 4] = [
    (1_000, true),
    (1_000, false),
    (4_000_000_000, true),
    (4_000_000_000, false),
];

#[test]
fn waits_with_this_phase_end_whether_or_not_they_know_their_line() {
    for (hardware_ns, park) in PHASES {
        let (wait_strategy, parker) = wait_strategy(hardware_ns, park);
        let flag: LineRef<Flag> = Segment::one(None).unwrap();
        for seq in 1..=50 {
            thread::scope(|scope| {
                scope.spawn(|| {
                    thread::sleep(Duration::from_micros(50));
                    flag.raise(seq);
                    parker.wake_for(3, fence_kind());
                });
                let word = (seq % 2 == 0).then(|| flag.monitored());
                let look = || Some(flag.seq()).filter(|&found| found == seq);
                let patient = || crate::wait::Patient;
                let Ok(found) = wait_strategy.wait_watched_at(word, 3, patient, look);
                assert_eq!(found, seq);
            });
        }
    }
}

/// Ends a wait when it is asked for the third time.
struct Impatient(u32);

impl Watch for Impatient {
    type Error = &'static str;

    fn check(&mut self, _waited: Duration) -> Result<(), &'static str> {
        self.0 += 1;
        if self.0 < 3 { Ok(()) } else { Err("enough") }
    }
}

#[test]
fn a_watch_ends_waits_in_every_phase() {
    for (hardware_ns, park) in PHASES {
        let (wait_strategy, _) = wait_strategy(hardware_ns, park);
        let word = AtomicU64::new(0);
        for word in both(&word) {
            let ended = wait_strategy.wait_watched_at(word, 3, || Impatient(0), || None::<()>);
            assert_eq!(ended, Err("enough"));
        }
    }
}

#[test]
fn a_cpu_without_the_instruction_polls_for_as_long() {
    let wait_config = WaitConfig {
        spin_ns: 800,
        hardware_ns: 2_400,
        ..WaitConfig::BALANCED
    };
    let polls = Pace::without_hardware(wait_config);
    let alone = WaitConfig {
        spin_ns: 3_200,
        hardware_ns: 0,
        ..wait_config
    };
    assert_eq!(polls.spin_ticks, Pace::without_hardware(alone).spin_ticks);
    assert!(polls.hardware.is_none());
    let waits = Pace::with_hardware(wait_config, HardwareWait::pretended());
    assert!(waits.spin_ticks < polls.spin_ticks && waits.hardware.is_some());
    // Nothing is asked for, so nothing is there, whatever the CPU has.
    assert!(Pace::new(WaitConfig::BALANCED).hardware.is_none());
}
