//! The time to read a line, or to write it until all threads see that, by its state, level and place.
//!
//! The method is that of Molka and others, on which the tables of Mencagli and others rest (§4.2): lines
//! are put into a state by what two or three threads do with them one after another, driven to a level by
//! reading other lines, and then followed by one thread from line to line, each line saying which is the next.
//! So no access begins before the one before has ended, and the time of a line needs no reading of the
//! clock of its own.
//!
//! | state | how |
//! | --- | --- |
//! | modified | the owner writes the lines |
//! | exclusive | the owner writes them, flushes them, reads them |
//! | shared | the same, and another thread reads them |
//! | invalid | the owner writes and flushes them |
//!
//! The second reader of a shared line is a third thread where there is one. On two hardware threads it is the
//! one that is timed, which then drives its own copy out by reading as much as its private caches hold thrice.
//!
//! A write is a store and a full fence, as the synchronous writes of the paper, and then a look at the line just
//! written, which says where to go on. So it includes what a fence and a read of an own line cost by
//! themselves; both are measured too.

use std::hint::black_box;
use std::time::Duration;

use corecast_model::deep::{Access, Figure, Level, State};
use corecast_wire::{LINE_BYTES, drain_stores, microbench};

use super::crew::{Mate, Stop};
use super::order::{AREA_BYTES, LINES_MAX, Picker, SEED};
use super::settle::CHAINS;

/// Lines of a batch.
const LINES: usize = 64;

/// Lines of a batch that was driven out of the first cache, which takes long.
const LINES_DRIVEN: usize = 256;
const _: () = assert!(LINES_DRIVEN <= LINES_MAX);

/// Number of times that a batch is read whose lines stay as they are.
const ROUNDS: usize = 8;

/// Number of times that a cache's own size is read to drive lines out of it.
pub(super) const DRIVE: usize = 3;

/// The access that is timed, with the state and the level of the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LatencyCase {
    pub(super) access: Access,
    pub(super) state: State,
    pub(super) level: Level,
}

/// The ranks of the crew that take part. Rank 0 is the one that is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Roles {
    /// The rank in whose caches and whose memory the lines are.
    pub(super) owner: usize,
    /// The rank that also reads the lines when they are to be shared.
    pub(super) sharer: usize,
}

/// The bytes that have to be read to drive lines to a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Drive {
    /// The private caches before the level.
    pub(super) to_level: usize,
    /// All private caches.
    pub(super) out: usize,
}

impl Drive {
    /// Returns the bytes of lines that a thread needs to drive lines out.
    pub(super) fn buffer_bytes(self) -> usize {
        AREA_BYTES + DRIVE * self.to_level.max(self.out)
    }
}

/// Measures one case; all threads of the crew call it. Rank 0 has the figure.
pub(super) fn measure(
    mate: &mut Mate<'_>,
    case: LatencyCase,
    roles: Roles,
    drive: Drive,
    limit: Duration,
) -> Result<Option<Figure>, Stop> {
    let mut picker = Picker::new(SEED);
    let count = match case.level {
        Level::Cache(level) if level > 1 => LINES_DRIVEN,
        _ => LINES,
    };
    // Reading lines where they are changes nothing, so they can be read again.
    let rounds = match case {
        LatencyCase {
            access: Access::Read,
            level: Level::Cache(1),
            ..
        } if roles.owner == 0 => ROUNDS,
        _ => 1,
    };
    mate.until_settled(CHAINS, limit, |mate| {
        let lines = picker.lines(count);
        prepare(mate, case.state, case.level, roles, drive, &lines)?;
        if mate.rank > 0 {
            return Ok(None);
        }
        mate.touch(roles.owner, picker.pages());
        mate.dither();
        Ok(Some(match case.access {
            Access::Read => read(mate, roles.owner, &lines, rounds),
            Access::Write => write(mate, roles.owner, &lines),
        }))
    })
}

/// Puts lines into a state and drives them to a level; all threads of the crew call it.
pub(super) fn prepare(
    mate: &mut Mate<'_>,
    state: State,
    level: Level,
    roles: Roles,
    drive: Drive,
    lines: &[usize],
) -> Result<(), Stop> {
    let owns = mate.rank == roles.owner;
    if owns {
        own(mate, roles.owner, state, lines);
    }
    mate.meet()?;
    if state == State::Shared {
        if mate.rank == roles.sharer {
            look(mate, roles.owner, lines);
            if roles.sharer == 0 && roles.owner != 0 {
                drive_out(mate, drive.out);
            }
        }
        mate.meet()?;
    }
    if owns && level != Level::Memory {
        drive_out(mate, drive.to_level);
    }
    mate.meet()
}

/// Puts the lines into a state as far as their owner does it.
pub(super) fn own(mate: &Mate<'_>, owner: usize, state: State, lines: &[usize]) {
    let lines_of = mate.lines_of(owner);
    chain(mate, owner, lines);
    if state != State::Modified {
        lines.iter().for_each(|&line| lines_of.flush(line));
        microbench::finish_flushes();
    }
    if matches!(state, State::Exclusive | State::Shared) {
        look(mate, owner, lines);
    }
    drain_stores();
}

/// Writes into each line which line is the next.
fn chain(mate: &Mate<'_>, owner: usize, lines: &[usize]) {
    let nexts = lines.iter().cycle().skip(1);
    for (&line, &next) in lines.iter().zip(nexts) {
        mate.lines_of(owner).store(line, next as u64);
    }
}

fn look(mate: &Mate<'_>, owner: usize, lines: &[usize]) {
    mate.touch(owner, lines.iter().copied());
    // Without this a line might still be on its way.
    mate.timer.now();
}

/// Reads this many bytes thrice, behind the lines that are measured.
fn drive_out(mate: &Mate<'_>, bytes: usize) {
    let end = mate
        .lines_of(mate.rank)
        .bytes()
        .min(AREA_BYTES + DRIVE * bytes);
    mate.touch(mate.rank, (AREA_BYTES..end).step_by(LINE_BYTES));
    mate.timer.now();
}

/// Follows a chain of lines. Returns the nanoseconds for each line.
pub(super) fn read(mate: &Mate<'_>, owner: usize, lines: &[usize], rounds: usize) -> f64 {
    let lines_of = mate.lines_of(owner);
    let steps = lines.len() * rounds;
    let mut at = lines[0];
    let start = mate.timer.now();
    for _ in 0..steps {
        at = lines_of.load(at) as usize;
    }
    black_box(at);
    let end = mate.timer.now();
    mate.timer.ns(start, end) / steps as f64
}

/// Follows a chain of lines and writes each. Returns the nanoseconds for each line. The word that is written
/// lies beside the one that names the next line: without a look at the latter a processor would ask for the next
/// lines while it waits at the fence.
fn write(mate: &Mate<'_>, owner: usize, lines: &[usize]) -> f64 {
    let lines_of = mate.lines_of(owner);
    let mut at = lines[0];
    let start = mate.timer.now();
    for _ in 0..lines.len() {
        lines_of.store(at + size_of::<u64>(), 1);
        drain_stores();
        at = lines_of.load(at) as usize;
    }
    black_box(at);
    let end = mate.timer.now();
    mate.timer.ns(start, end) / lines.len() as f64
}
