//! The costs of waiting: `pause`, waits in the processor, yields, fences, futexes.

use std::hint::black_box;
use std::time::{Duration, Instant};

use corecast_model::deep::{Figure, HARDWARE_SEEN, POLLED, SHORTEST_HARDWARE_WAIT, WAKE, YIELD};
use corecast_wire::microbench::{self, BareFutex, LineBuffer};
use corecast_wire::sync::AtomicU64;
use corecast_wire::{HardwareWait, Line, Monitored, arch, drain_stores};

use super::crew::{Mate, Stop};
use super::settle::Settle;

/// A word of a field that is watched.
const LINE: usize = 0;

/// The time in which a sleeper falls asleep, in nanoseconds.
const ASLEEP_NS: f64 = 30_000.0;

/// Longest wait in the processor for a write that does not come, in nanoseconds.
const HARDWARE_LIMIT_NS: f64 = 1e6;

/// Longest sleep of a thread that nobody wakes.
const SLEEP_LIMIT: Duration = Duration::from_millis(20);

/// Figures in nanoseconds, by name.
pub(super) type NamedFigures = Vec<(&'static str, Figure)>;

/// Measures what one thread can measure alone, while the other threads of the crew wait.
pub(super) fn alone(mate: &mut Mate<'_>, limit: Duration) -> Result<NamedFigures, Stop> {
    let mut all = NamedFigures::new();
    let timer = mate.timer;
    let bell = BareFutex::default();
    each(&mut all, mate, limit, "pause", 1000, arch::relax)?;
    each(&mut all, mate, limit, "full fence", 1000, || {
        drain_stores();
        // Without this a compiler may merge several fences into one.
        black_box(());
    })?;
    each(&mut all, mate, limit, YIELD, 100, std::thread::yield_now)?;
    each(
        &mut all,
        mate,
        limit,
        "membarrier",
        20,
        microbench::heavy_fence,
    )?;
    each(
        &mut all,
        mate,
        limit,
        "futex wake, nobody sleeps",
        100,
        || bell.ring(),
    )?;
    each(&mut all, mate, limit, "reading the counter", 1000, || {
        black_box(timer.now());
    })?;
    each(
        &mut all,
        mate,
        limit,
        "reading the system's clock",
        1000,
        || {
            black_box(Instant::now());
        },
    )?;
    if let Some(hardware_wait) = HardwareWait::here() {
        let nobodys = Line(AtomicU64::new(0));
        // The deadline has come by the time that the look is over.
        let shortest = || {
            let word = Monitored::new(&nobodys);
            let _ = hardware_wait.wait_for(word, arch::cycles() + 1, || None::<()>);
        };
        if hardware_wait.instruction().keeps_deadlines() {
            each(&mut all, mate, limit, SHORTEST_HARDWARE_WAIT, 10, shortest)?;
        }
    }
    Ok(all)
}

/// Times `count` calls of `call` on rank 0.
fn each(
    all: &mut NamedFigures,
    mate: &mut Mate<'_>,
    limit: Duration,
    name: &'static str,
    count: usize,
    call: impl Fn(),
) -> Result<(), Stop> {
    let mut settle = Settle::new(1, Instant::now() + limit);
    while mate.rank == 0 && !settle.is_settled() {
        let start = mate.timer.now();
        (0..count).for_each(|_| call());
        let end = mate.timer.now();
        settle.take(mate.timer.ns(start, end) / count as f64);
    }
    mate.meet()?;
    all.extend(settle.figure().map(|figure| (name, figure)));
    Ok(())
}

/// Measures the wake-up of a sleeper: rank 0 wakes, rank 1 sleeps.
pub(super) fn wakes(
    mate: &mut Mate<'_>,
    bell: &BareFutex,
    limit: Duration,
) -> Result<NamedFigures, Stop> {
    let mut all = NamedFigures::new();
    let sleep = |_: &Mate<'_>, seen: u64| {
        while u64::from(bell.rung()) == seen {
            let before = Instant::now();
            bell.sleep(seen as u32, SLEEP_LIMIT);
            if before.elapsed() >= SLEEP_LIMIT {
                break;
            }
        }
    };
    let [call, until] = wake(mate, limit, |_, _| bell.ring(), sleep)?;
    all.extend(call.map(|figure| ("futex wake, the waker's part", figure)));
    all.extend(until.map(|figure| (WAKE, figure)));
    if let Some(hardware_wait) = HardwareWait::here() {
        // The difference of the two is what a wait in the processor costs.
        let waits = |word: Monitored<'_>, deadline, lines: &LineBuffer, seen| {
            let look = || (lines.load(LINE) != seen).then_some(());
            let _ = hardware_wait.wait_for(word, deadline, look);
        };
        let polls = |_: Monitored<'_>, _, _: &LineBuffer, _| arch::relax();
        all.extend(seen(mate, limit, waits)?.map(|figure| (HARDWARE_SEEN, figure)));
        all.extend(seen(mate, limit, polls)?.map(|figure| (POLLED, figure)));
    }
    Ok(all)
}

/// Returns the nanoseconds from before rank 0's store until rank 1 runs, which does `between` between two looks.
fn seen(
    mate: &mut Mate<'_>,
    limit: Duration,
    between: impl Fn(Monitored<'_>, u64, &LineBuffer, u64),
) -> Result<Option<Figure>, Stop> {
    if mate.rank == 1 {
        mate.lines_of(1).store(LINE, 0);
    }
    let store = |mate: &Mate<'_>, round| mate.lines_of(1).store(LINE, round + 1);
    let wait = |mate: &Mate<'_>, seen| {
        let lines = mate.lines_of(1);
        let start = arch::cycles();
        let limit = mate.timer.ticks(HARDWARE_LIMIT_NS);
        while lines.load(LINE) == seen && arch::cycles().wrapping_sub(start) < limit {
            between(
                lines.monitored(LINE),
                start.wrapping_add(limit),
                lines,
                seen,
            );
        }
    };
    wake(mate, limit, store, wait).map(|[_, until]| until)
}

/// Returns the nanoseconds of rank 0's call, and, where both have one counter, those from before
/// the call until rank 1 runs.
fn wake(
    mate: &mut Mate<'_>,
    limit: Duration,
    wake: impl Fn(&Mate<'_>, u64),
    sleep: impl Fn(&Mate<'_>, u64),
) -> Result<[Option<Figure>; 2], Stop> {
    let deadline = Instant::now() + limit;
    let (mut calls, mut delays) = (Settle::new(1, deadline), Settle::new(1, deadline));
    for round in 0.. {
        mate.meet()?;
        let mut called = 0.0;
        if mate.rank == 0 {
            let begin = mate.timer.now();
            let wait = mate.timer.ticks(ASLEEP_NS);
            while mate.timer.now().wrapping_sub(begin) < wait {
                arch::relax();
            }
            let start = mate.timer.now();
            wake(mate, round);
            let end = mate.timer.now();
            calls.take(mate.timer.ns(start, end));
            called = mate.timer.at_ns(start);
        } else if mate.rank == 1 {
            sleep(mate, round);
            mate.leave(mate.timer.at_ns(mate.timer.now()));
        }
        mate.meet()?;
        if mate.rank == 0 {
            delays.take(mate.left(1) - called);
        }
        if !mate.agree(!(calls.is_settled() && delays.is_settled()))? {
            break;
        }
    }
    let delay = delays.figure().filter(|_| mate.timer.is_common());
    Ok([calls.figure(), delay])
}
