//! Measures single messages, loans and flags on an idle simulated machine: the least and the greatest time over all
//! moments at which the receiver can arrive.
//!
//! | time | from | to |
//! | --- | --- | --- |
//! | given | the sender begins | the sender continues |
//! | came | the sender begins | a receiver that came in time has it |
//! | taken | the receiver begins, after all has arrived | the receiver has it |
//! | behind | the sender begins | its next store sets out, at least |
//! | drained | the sender begins | all its stores are done |
//! | back | the borrower continues | the lender knows of the return |
//! | regained | the lender looks for a return that has arrived | the lender knows of it |

use super::{SimFabric, SimTeam};
use crate::engine::{Cpu, RunOptions, SimError, run};
use crate::machine::SimMachine;
use crate::ticks;
use corecast_collectives::Groups;
use corecast_wire::{Fabric, LINE_BYTES};
use std::collections::BTreeMap;

/// An operation of two ranks: the first one sends, the second one receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Exchange {
    /// A flag.
    Flag,
    /// A message of so many bytes.
    Message(usize),
    /// A loan of so many lines.
    Loan(usize),
    /// A published line with so many bytes, for which all others wait.
    Publish(usize),
    /// An addition to an arrival counter, which the second rank collects.
    Addition,
    /// The first rank writes so many of its own lines anew, which the second one has read.
    Fill(usize),
}

/// Beyond this number of lines the moment at which the receiver arrives hardly matters.
const SHORT_LINES: usize = 4;

impl Exchange {
    /// A shorter operation of the same kind, if this one is long.
    fn short(self) -> Option<Self> {
        match self {
            Self::Loan(lines) if lines > SHORT_LINES => Some(Self::Loan(SHORT_LINES)),
            Self::Message(bytes) if bytes > SHORT_LINES * LINE_BYTES => {
                Some(Self::Message(SHORT_LINES * LINE_BYTES))
            }
            _ => None,
        }
    }
}

/// The least and the greatest of several times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TimeRange {
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl TimeRange {
    const NONE: Self = Self {
        least: f64::INFINITY,
        most: 0.0,
    };

    /// The range that covers both.
    fn with(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }

    fn and(&mut self, time: f64) {
        self.least = self.least.min(time);
        self.most = self.most.max(time);
    }
}

/// For how long each server works, by its name.
pub(crate) type ServerWork = BTreeMap<String, f64>;

/// The times in the table of this module's documentation.
#[derive(Clone, Debug)]
pub(crate) struct LoneTimes {
    pub(crate) given: TimeRange,
    pub(crate) came: TimeRange,
    /// The time of `came`, where the receiver has polled for long.
    polled: f64,
    pub(crate) taken: TimeRange,
    pub(crate) behind: f64,
    pub(crate) drained: f64,
    pub(crate) back: TimeRange,
    pub(crate) regained: TimeRange,
    pub(crate) work: ServerWork,
}

impl LoneTimes {
    /// The ranges that cover the times of both, and the greater work of each server.
    pub(crate) fn either(self, other: &Self) -> Self {
        let mut work = self.work;
        for (name, &busy) in &other.work {
            let most = work.entry(name.clone()).or_default();
            *most = most.max(busy);
        }
        Self {
            given: self.given.with(other.given),
            came: self.came.with(other.came),
            polled: self.polled.max(other.polled),
            taken: self.taken.with(other.taken),
            behind: self.behind.min(other.behind),
            drained: self.drained.max(other.drained),
            back: self.back.with(other.back),
            regained: self.regained.with(other.regained),
            work,
        }
    }

    /// Widens the ranges by these trials. Returns by how much the taker was later than the giver in the fastest one,
    /// or 0 if none was faster than before.
    fn swept(&mut self, all: &[Vec<Clocks>], lates: &[Late]) -> f64 {
        let trials = || all[0].iter().zip(&all[1]).zip(lates);
        let mut best = 0.0;
        for ((giver, taker), late) in trials() {
            let (begins, ends) = (giver[0], taker[1]);
            self.given.and(giver[1] - begins);
            self.drained = self.drained.max(giver[2] - begins);
            self.taken.least = self.taken.least.min(ends - taker[0]);
            if ends - begins < self.came.least {
                (self.came.least, best) = (ends - begins, late.taker - late.giver);
            }
            if late.taker <= late.giver {
                self.came.most = self.came.most.max(ends - begins);
            }
        }
        for ((giver, taker), _) in trials() {
            if taker[1] > giver[0] + self.came.most {
                self.taken.most = self.taken.most.max(taker[1] - taker[0]);
            }
        }
        best
    }

    fn new(work: ServerWork) -> Self {
        Self {
            given: TimeRange::NONE,
            came: TimeRange::NONE,
            polled: 0.0,
            taken: TimeRange::NONE,
            behind: 0.0,
            drained: 0.0,
            back: TimeRange::NONE,
            regained: TimeRange::NONE,
            work,
        }
    }
}

/// How late each of two ranks begins.
#[derive(Clone, Copy, Debug, Default)]
struct Late {
    giver: f64,
    taker: f64,
    /// The delay with which the giver asks for its loan.
    asks: f64,
}

impl Late {
    /// Delays the taker by `shift`, or the giver if `shift` is negative.
    fn by(shift: f64) -> Self {
        Self {
            giver: (-shift).max(0.0),
            taker: shift.max(0.0),
            asks: 0.0,
        }
    }
}

/// Which ranks take part in a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TrialMode {
    Plain,
    /// The first rank sets a flag for the last one right behind the operation, and the last one times the flag.
    Flagged,
    /// A third rank takes it before the second does.
    Second,
    /// All others take it.
    All,
}

impl TrialMode {
    /// The first rank that takes nothing.
    fn readers(self, ranks: usize) -> usize {
        match self {
            Self::Second | Self::All => ranks,
            Self::Plain | Self::Flagged => 2,
        }
    }
}

/// Clock readings of a rank in a trial: when it begins, when it goes on, when all its stores are done, when it asks
/// for its loan, and when it knows of the return.
type Clocks = [f64; 5];

/// The clock readings by rank and trial, and the work of the servers in the last trial.
type Trials = (Vec<Vec<Clocks>>, ServerWork);

/// A sweep moves the arrival of the taker in steps; this many steps are twice the typical time of the operation.
const SWEEP: usize = 64;

/// Measures `shot` from the first core to the second one. If there is a third core, it may have taken the data first.
///
/// # Errors
///
/// Those of [`run`].
pub(crate) fn lone(
    machine: &SimMachine,
    cores: &[usize],
    shot: Exchange,
) -> Result<LoneTimes, SimError> {
    let pair = &cores[..2];
    let (first, work) = trials(
        machine,
        pair,
        shot,
        TrialMode::Plain,
        vec![Late::default(); 2],
    )?;
    let (giver, taker) = (&first[0], &first[1]);
    if let Exchange::Fill(_) = shot {
        return Ok(filled(giver, work));
    }
    let typical = taker[1][1] - giver[1][0];
    let mut found = match shot.short() {
        Some(short) => {
            let short = lone(machine, pair, short)?;
            long(machine, pair, (shot, typical), &short)?
        }
        None => swept(machine, pair, shot, typical)?,
    };
    if shot != Exchange::Addition {
        found.behind = behind(machine, cores, shot, typical)?;
    }
    second(machine, cores, shot, &mut found)?;
    Ok(found)
}

/// Measures a short operation, with a taker that arrives at any moment.
fn swept(
    machine: &SimMachine,
    pair: &[usize],
    shot: Exchange,
    typical: f64,
) -> Result<LoneTimes, SimError> {
    let polled = Late::by(-typical);
    let (all, work) = trials(machine, pair, shot, TrialMode::Plain, vec![polled; 2])?;
    let mut found = LoneTimes::new(work);
    found.polled = all[1][1][1] - all[0][1][0];
    let coarse = sweep(typical);
    let (all, _) = trials(machine, pair, shot, TrialMode::Plain, coarse.clone())?;
    let best = found.swept(&all, &coarse);
    // A finer sweep around the best moment.
    let step = 2.0 * typical / SWEEP as f64;
    let fine: Vec<Late> = (0..=SWEEP / 4)
        .map(|place| Late::by(best + (8.0 * place as f64 / SWEEP as f64 - 1.0) * step))
        .collect();
    let (all, _) = trials(machine, pair, shot, TrialMode::Plain, fine.clone())?;
    found.swept(&all, &fine);
    if matches!(shot, Exchange::Loan(_)) {
        asked(machine, pair, shot, typical, &mut found)?;
    }
    Ok(found)
}

/// Measures an operation of many lines, with a taker that arrives early, in time or late. How much the moment of
/// arrival matters besides is taken from `short`, an operation of few lines.
fn long(
    machine: &SimMachine,
    pair: &[usize],
    (shot, typical): (Exchange, f64),
    short: &LoneTimes,
) -> Result<LoneTimes, SimError> {
    let times = vec![Late::by(-typical), Late::by(0.0), Late::by(2.0 * typical)];
    let trial = |late| trials(machine, pair, shot, TrialMode::Plain, vec![late; 3]);
    let (polled, work) = trial(times[0])?;
    let mut found = LoneTimes {
        back: short.back,
        regained: short.regained,
        ..LoneTimes::new(work)
    };
    found.polled = polled[1][2][1] - polled[0][2][0];
    for late in times {
        let (all, _) = trial(late)?;
        found.swept(&all, &[late; 3]);
    }
    found.came.least = found.came.least.min(found.polled) - (short.polled - short.came.least);
    found.came.most = found.came.most.max(found.polled) + short.came.most - short.polled;
    Ok(found)
}

/// The times of a rank that writes to its own buffer.
fn filled(trials: &[Clocks], work: ServerWork) -> LoneTimes {
    let mut found = LoneTimes::new(work);
    for [begins, goes_on, done, ..] in trials {
        found.given.and(goes_on - begins);
        found.drained = found.drained.max(done - begins);
    }
    found
}

/// Delays with which a taker arrives before, during and after an operation of the typical time.
fn sweep(typical: f64) -> Vec<Late> {
    let step = 2.0 * typical / SWEEP as f64;
    let shift = |place: usize| (place as f64 - SWEEP as f64 / 2.0) * step;
    (0..=3 * SWEEP / 2)
        .map(|place| Late::by(shift(place)))
        .collect()
}

/// Measures how long a lender waits that asks for its loan soon or late.
fn asked(
    machine: &SimMachine,
    pair: &[usize],
    shot: Exchange,
    typical: f64,
    found: &mut LoneTimes,
) -> Result<(), SimError> {
    let step = 2.0 * typical / SWEEP as f64;
    let swept: Vec<Late> = (0..=2 * SWEEP)
        .map(|place| Late {
            asks: place as f64 * step,
            ..Late::default()
        })
        .collect();
    let (all, _) = trials(machine, pair, shot, TrialMode::Plain, swept)?;
    for (giver, taker) in all[0].iter().zip(&all[1]) {
        let [.., asks, knows] = *giver;
        let returned = taker[1];
        found.back.least = found.back.least.min(knows - returned);
        found.regained.least = found.regained.least.min(knows - asks);
        match asks < returned {
            true => found.back.most = found.back.most.max(knows - returned),
            false => found.regained.most = found.regained.most.max(knows - asks),
        }
    }
    Ok(())
}

/// When the next store behind an operation can set out: the least delay of a flag that is set next, for the same rank
/// or another one that polls it.
fn behind(
    machine: &SimMachine,
    cores: &[usize],
    shot: Exchange,
    typical: f64,
) -> Result<f64, SimError> {
    let polled = Late::by(-typical);
    let came = |cores: &[usize], mode, shot| -> Result<f64, SimError> {
        let (all, _) = trials(machine, cores, shot, mode, vec![polled; 2])?;
        Ok(all[cores.len() - 1][1][1] - all[0][1][0])
    };
    let mut found = f64::INFINITY;
    for many in 2..=cores.len() {
        let (cores, to) = (&cores[..many], cores[many - 1]);
        let flag = came(&[cores[0], to], TrialMode::Plain, Exchange::Flag)?;
        found = found.min(came(cores, TrialMode::Flagged, shot)? - flag);
    }
    Ok(found.max(0.0))
}

/// Widens the ranges by a taker that comes after another one, because the data may lie nearer or farther then.
fn second(
    machine: &SimMachine,
    cores: &[usize],
    shot: Exchange,
    found: &mut LoneTimes,
) -> Result<(), SimError> {
    if cores.len() < 3 || !matches!(shot, Exchange::Loan(_) | Exchange::Publish(_)) {
        return Ok(());
    }
    let late = vec![Late::default(); 2];
    let (all, _) = trials(machine, cores, shot, TrialMode::Second, late)?;
    for clocks in &all[1] {
        let took = clocks[1] - clocks[0];
        found.came.least -= (found.taken.least - took).max(0.0);
        found.came.most += (took - found.taken.most).max(0.0);
        found.taken.and(took);
    }
    Ok(())
}

/// Measures a published line of `bytes` bytes from the first core to all others, which wait for it.
///
/// # Errors
///
/// Those of [`run`].
pub(crate) fn publish(
    machine: &SimMachine,
    cores: &[usize],
    bytes: usize,
) -> Result<LoneTimes, SimError> {
    let typical = lone(machine, &cores[..2], Exchange::Publish(bytes))?;
    let late = Late {
        giver: 2.0 * typical.came.most,
        ..Late::default()
    };
    let (mut all, work) = trials(
        machine,
        cores,
        Exchange::Publish(bytes),
        TrialMode::All,
        vec![late; 3],
    )?;
    let givers = all.remove(0);
    let mut found = LoneTimes::new(work);
    for (trial, giver) in givers.iter().enumerate() {
        found.given.and(giver[1] - giver[0]);
        found.drained = found.drained.max(giver[2] - giver[0]);
        for reader in &all {
            found.came.and(reader[trial][1] - giver[0]);
        }
    }
    Ok(found)
}

/// Runs an operation on the first cores, once for each of `lates`.
fn trials(
    machine: &SimMachine,
    cores: &[usize],
    shot: Exchange,
    mode: TrialMode,
    lates: Vec<Late>,
) -> Result<Trials, SimError> {
    let cores = match mode {
        TrialMode::Plain => &cores[..2],
        TrialMode::Second | TrialMode::Flagged | TrialMode::All => cores,
    };
    let ranks = cores.len();
    let mut groups = Groups::new(ranks);
    let readers = mode.readers(ranks);
    groups.ring(0, (1..readers).collect());
    // The second rank collects what the first one adds.
    groups.counter(1, vec![0]);
    let team = SimTeam::new(cores, &groups);
    let combine = machine.costs.combine_bytes;
    let bytes = match shot {
        Exchange::Message(bytes) | Exchange::Publish(bytes) => bytes,
        Exchange::Loan(lines) | Exchange::Fill(lines) => lines * LINE_BYTES,
        Exchange::Flag | Exchange::Addition => 0,
    };
    let body = move |cpu: &mut Cpu<'_>, (): &()| {
        let mut fabric = SimFabric::new(cpu, &team, combine);
        let rank = fabric.rank();
        let mut data = vec![0; bytes];
        let mut all = Vec::with_capacity(lates.len());
        for late in &lates {
            fabric.begin();
            all.push(match rank {
                0 => give(&mut fabric, shot, mode, late, &mut data),
                _ => {
                    fabric.cpu().arrive_and_wait(ranks);
                    let before = mode == TrialMode::Second && rank == 2;
                    if mode == TrialMode::Second && !before {
                        fabric.cpu().arrive_and_wait(ranks);
                    }
                    fabric.cpu().pass(ticks(late.taker));
                    let begins = fabric.cpu().now();
                    let flagged = mode == TrialMode::Flagged && rank == ranks - 1;
                    if flagged {
                        let Ok(()) = fabric.wait(0);
                    } else {
                        take(&mut fabric, shot, &mut data);
                    }
                    let ends = fabric.cpu().now();
                    if flagged && rank == 1 {
                        take(&mut fabric, shot, &mut data);
                    }
                    if before || matches!(shot, Exchange::Fill(_)) {
                        fabric.cpu().arrive_and_wait(ranks);
                    }
                    [begins, ends, ends, ends, ends]
                }
            });
        }
        all
    };
    let found = run(machine, cores, &RunOptions::default(), |_| (), body)?;
    let work = found.servers.into_iter();
    let work = work.map(|server| (server.name, server.utilisation * found.span));
    Ok((found.results, work.collect()))
}

fn give(
    fabric: &mut SimFabric<'_, '_>,
    shot: Exchange,
    mode: TrialMode,
    late: &Late,
    data: &mut [u8],
) -> Clocks {
    let ranks = fabric.size();
    let readers = mode.readers(ranks);
    let copy = data.to_vec();
    let lends = matches!(shot, Exchange::Loan(_) | Exchange::Fill(_));
    let mut window = lends.then(|| fabric.open(data, true));
    fabric.cpu().arrive_and_wait(ranks);
    if let (Exchange::Fill(_), Some(window)) = (shot, &window) {
        let Ok(()) = fabric.lend(window, 1..2, 0..copy.len());
        let Ok(()) = fabric.flush();
        fabric.cpu().arrive_and_wait(ranks);
    }
    fabric.cpu().pass(ticks(late.giver));
    let begins = fabric.cpu().now();
    let given = match (shot, &mut window) {
        (Exchange::Flag, _) => fabric.notify(1),
        (Exchange::Message(_), _) => fabric.send(1, &copy),
        (Exchange::Publish(_), _) => fabric.publish(0, &copy),
        (Exchange::Addition, _) => fabric.add(0),
        (Exchange::Loan(_), Some(window)) => fabric.lend(window, 1..readers, 0..copy.len()),
        (Exchange::Fill(_), Some(window)) => {
            fabric.write_into(window.bytes);
            Ok(())
        }
        (Exchange::Loan(_) | Exchange::Fill(_), None) => unreachable!("it is open"),
    };
    let Ok(()) = given;
    let goes_on = fabric.cpu().now();
    if mode == TrialMode::Flagged {
        let Ok(()) = fabric.notify(ranks - 1);
    }
    fabric.cpu().fence();
    let done = fabric.cpu().now();
    if mode == TrialMode::Second {
        fabric.cpu().arrive_and_wait(ranks);
    }
    fabric.cpu().pass(ticks(late.asks));
    let asks = fabric.cpu().now();
    if window.is_some() {
        let Ok(()) = fabric.flush();
    }
    let knows = fabric.cpu().now();
    [begins, goes_on, done, asks, knows]
}

fn take(fabric: &mut SimFabric<'_, '_>, shot: Exchange, data: &mut [u8]) {
    let taken = match shot {
        Exchange::Flag => fabric.wait(0),
        Exchange::Message(_) => fabric.receive(0, data),
        Exchange::Publish(_) => fabric.read(0, data),
        Exchange::Addition => fabric.collect(0),
        Exchange::Loan(_) | Exchange::Fill(_) => fabric.borrow(0, data.len(), |_, _| ()),
    };
    let Ok(()) = taken;
}
