//! A simulated machine that is fitted to measured messages: its parts reproduce the measured times.
//!
//! The probe measures a message of one line after a pause, a long message, one line each way, and a long message that
//! has already arrived ([`Messages`]); none of these is a collective. The same four programs run on the simulated
//! machine, and its parts are set such that they take the measured times:
//!
//! | part | from |
//! | --- | --- |
//! | the way between two cores, the same both ways | a message of one line that has already arrived: two ways |
//! | how long a core that polls takes to notice | a message of one line to a core that waits, beyond four ways |
//! | time of a cache to give a copy up | each further line that is written |
//! | time of a cache for a request | each further line that is read |
//! | by how much ranks begin apart | two messages that cross, beyond their simulated time: one rank waits |
//! | time of an operation besides its lines | an operation of a team of one |
//!
//! The last two rows are not parts; they describe how collectives are called and measured.

use crate::drive::{Call, Job};
use crate::engine::{RunOptions, SimError};
use crate::fabric::{CallPrediction, CallSetting, Shots, predict, shots};
use crate::machine::Inner;
use crate::machine::{SimMachine, pairs};
use crate::symbolic::{Analysis, Bounds, CostRules, Placement, record_job};
use corecast_model::{CostModel, Matrix, Messages, Place};
use corecast_wire::queue::body_lines_for;

/// A fitted machine; core i is thread i of what was measured.
#[derive(Clone, Debug)]
pub struct MeasuredMachine {
    machine: SimMachine,
    messages: Messages,
    /// The greatest delay with which a rank begins.
    skew: f64,
    placement: Placement,
}

/// Stores and reads of a core that are under way at once; they are so many that only the caches limit them.
const AT_ONCE: usize = 64;

/// Lines of a cache, more than any call touches.
const CACHED: usize = 1 << 26;

/// The cores on which the small programs run.
const FIRST_TWO: [usize; 2] = [0, 1];

/// Iterations of the fit.
const ROUNDS: usize = 8;

/// Runs of a short call of two ranks, which begin with random delays. More ranks take fewer runs, because one run has
/// more delays, but at least `RUNS_LEAST`.
const RUNS: usize = 64;
const RUNS_LEAST: usize = 4;

/// Calls of up to this length are short. In longer calls the delays with which ranks begin do not matter.
const SHORT_BYTES: usize = 16 << 10;

/// The greatest delay of a rank for a mean difference of 1: two random numbers below 1 differ by 1/3 on average.
const SPREAD: f64 = 3.0;

impl MeasuredMachine {
    /// Fits a machine to measured `costs` and `messages` of the same threads, which are at `places`.
    ///
    /// # Errors
    ///
    /// Those of [`run`](crate::engine::run).
    ///
    /// # Panics
    ///
    /// If there are fewer than two threads, or `messages` has another number of them.
    ///
    /// # Cost
    ///
    /// It takes some runs of two ranks, a few milliseconds.
    pub fn new(
        name: &str,
        costs: &CostModel,
        messages: &Messages,
        places: Vec<Place>,
    ) -> Result<Self, SimError> {
        let n = costs.n();
        assert!(
            n >= 2 && messages.one.n() == n,
            "two threads at least, the same of both"
        );
        let mut machine = pairs::machine(name, costs);
        let typical = typical(messages);
        let unit = typical.one;
        let own = &mut machine.costs;
        // These are small beside the way between two cores; the true ones are part of the measured time of a message.
        own.l1 = unit / 200.0;
        own.l2 = unit / 50.0;
        own.store = unit / 200.0;
        own.atomic = unit / 20.0;
        own.copy_line = own.l1;
        if messages.combine > 0.0 {
            own.combine_bytes = messages.combine;
        }
        let sizes = &mut machine.sizes;
        (sizes.stores, sizes.draining, sizes.misses) = (AT_ONCE, AT_ONCE, AT_ONCE);
        sizes.pipelined = false;
        // Memory was not measured, so all lines that ranks touch stay in their caches.
        (sizes.l1, sizes.l2) = (CACHED, CACHED);

        // The parts are fitted on two cores first.
        let mut pair = machine.clone();
        pair.cores.truncate(2);
        pair.homes.truncate(2);
        let lines = body_lines_for(messages.long_bytes).max(1) as f64;
        let fetch = fetch(typical.one, typical.alone);
        let mut parts = FittedParts::default();
        for _ in 0..ROUNDS {
            set(&mut pair, parts, |_, _| parts.way);
            let found = shots(&pair, FIRST_TWO, messages.long_bytes)?;
            let read = (typical.taken - found.taken) / lines;
            let written = (typical.long - found.long) / lines - read;
            parts = FittedParts {
                way: (parts.way + (fetch - found.alone) / 2.0).max(0.0),
                poll: (parts.poll + unit - found.one).max(0.0),
                answer: (parts.answer + read).max(0.0),
                give_up: (parts.give_up + written).max(0.0),
            };
        }
        set(&mut pair, parts, |_, _| parts.way);
        set(&mut machine, parts, |i, j| {
            let both = |matrix: &Matrix| (matrix.get(i, j) + matrix.get(j, i)) / 2.0;
            let own = self::fetch(both(&messages.one), both(&messages.alone));
            (parts.way + (own - fetch) / 2.0).max(0.0)
        });
        let together = shots(&pair, FIRST_TWO, messages.long_bytes)?.crossed;
        Ok(Self {
            machine,
            messages: messages.clone(),
            placement: placement(costs, messages, places),
            skew: SPREAD * (typical.crossed - together).max(0.0),
        })
    }

    /// The fitted machine.
    pub fn machine(&self) -> &SimMachine {
        &self.machine
    }

    /// The time of a call with rank r on core `cores[r]`, as a program measures it whose ranks begin at an agreed
    /// instant: the longest time of a rank from its begin to its end, and of short calls the mean of several runs.
    ///
    /// # Errors
    ///
    /// Those of [`predict`].
    pub fn latency(&self, cores: &[usize], job: &Job) -> Result<f64, SimError> {
        let short = job.call().bytes <= SHORT_BYTES && self.skew > 0.0;
        let runs = match short {
            true => (2 * RUNS / cores.len()).clamp(RUNS_LEAST, RUNS) as u64,
            false => 1,
        };
        let mut sum = 0.0;
        for seed in 0..runs {
            let skew = if short { self.skew } else { 0.0 };
            sum += self.once(cores, job, skew, seed)?.longest();
        }
        Ok(sum / runs as f64)
    }

    /// The bounds of the symbolic model for the call, with its [`entry`](Self::entry) time added; `None` for calls
    /// that the model cannot follow.
    pub fn bounds(&self, job: &Job) -> Option<Bounds> {
        let graph = record_job(job).ok()?;
        let bounds = Analysis::new(&graph, &self.placement, &CostRules::repeated()).bounds();
        let entry = self.entry(job.call());
        Some(Bounds {
            t_min: bounds.t_min + entry,
            t_max: bounds.t_max + entry,
        })
    }

    fn once(
        &self,
        cores: &[usize],
        job: &Job,
        skew: f64,
        seed: u64,
    ) -> Result<CallPrediction, SimError> {
        let setting = CallSetting {
            skew,
            entry: self.entry(job.call()),
            options: RunOptions {
                seed,
                ..RunOptions::default()
            },
            ..CallSetting::default()
        };
        predict(&self.machine, cores, job, &setting)
    }

    /// The measured time of a call besides its lines, in the machine's unit.
    pub fn entry(&self, call: &Call) -> f64 {
        self.messages.call(call.collective.name())
    }
}

/// The measured costs for the symbolic model: a message of a line is a store that takes the line and a load that
/// fetches it, each half of the time.
fn placement(costs: &CostModel, messages: &Messages, places: Vec<Place>) -> Placement {
    let half = |i: usize, j: usize| (messages.one.get(i, j) + messages.one.get(j, i)) / 4.0;
    let numa = costs.numa_nodes().to_vec();
    let of_half = CostModel::from_fn(costs.unit(), numa, half, half);
    let of_half = of_half.expect("half of what are costs");
    let typical = typical(messages);
    let lines = body_lines_for(messages.long_bytes).max(1) as f64;
    let read = ((typical.taken - typical.one / 2.0) / lines).max(0.0);
    let written = ((typical.long - typical.one) / lines - read).max(0.0);
    Placement::of_model(&of_half, places)
        .with_further_lines(read, written)
        .with_lent_lines(read)
}

/// The means of the measured messages over all pairs of threads.
fn typical(messages: &Messages) -> Shots {
    let mean = |matrix: &Matrix| {
        let n = matrix.n();
        let sum: f64 = matrix.rows().flatten().sum();
        sum / (n * (n - 1)) as f64
    };
    let [one, long, alone, taken, crossed] = messages.matrices().map(mean);
    Shots {
        one,
        long,
        alone,
        taken,
        crossed,
    }
}

/// The time of a line from cache to cache, where a message takes `one`: it is `alone`, but at most half of `one`.
fn fetch(one: f64, alone: f64) -> f64 {
    alone.min(one / 2.0)
}

/// The fitted times of parts.
#[derive(Clone, Copy, Debug, Default)]
struct FittedParts {
    way: f64,
    poll: f64,
    answer: f64,
    give_up: f64,
}

/// Sets the parts of a machine.
fn set(machine: &mut SimMachine, parts: FittedParts, way: impl Fn(usize, usize) -> f64) {
    machine.costs.poll = parts.poll;
    machine.costs.invalidate = parts.give_up;
    machine.costs.snoop = parts.answer;
    let n = machine.cores.len();
    let latency = (0..n * n).map(|index| match (index / n, index % n) {
        (i, j) if i == j => 0.0,
        (i, j) => way(i, j),
    });
    machine.inner = Inner::Crossbar {
        stops: n as u32,
        latency: latency.collect(),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::Collective;
    use corecast_model::Matrix;

    fn messages([one, long, alone, taken, crossed]: [f64; 5]) -> Messages {
        let all = |ns| Matrix::from_fn(2, |i, j| if i == j { 0.0 } else { ns });
        Messages {
            long_bytes: 4096,
            one: all(one),
            long: all(long),
            alone: all(alone),
            taken: all(taken),
            crossed: all(crossed),
            calls: [("broadcast".to_owned(), 10.0)].into(),
            combine: 60.0,
            copy: 50.0,
        }
    }

    #[test]
    fn small_programs_take_what_was_measured() {
        let costs = corecast_model::synthetic("core:2").unwrap();
        for [one, long, alone, taken] in [[70.0, 240.0, 24.0, 100.0], [300.0, 880.0, 100.0, 400.0]]
        {
            let messages = messages([one, long, alone, taken, 1.5 * one]);
            let places = costs.machine().pus.iter().map(Place::from).collect();
            let fitted = MeasuredMachine::new("two", costs.costs(), &messages, places).unwrap();
            let found = shots(fitted.machine(), FIRST_TWO, 4096).unwrap();
            for (found, wanted) in [
                (found.one, one),
                (found.long, long),
                (found.alone, alone),
                (found.taken, taken),
            ] {
                assert!((found / wanted - 1.0).abs() < 0.02, "{found} for {wanted}");
            }
            assert!(fitted.skew > 0.0);
        }
    }

    #[test]
    fn at_least_it_takes_the_message_and_the_call() {
        let costs = corecast_model::synthetic("core:2").unwrap();
        let messages = messages([70.0, 240.0, 24.0, 100.0, 80.0]);
        let places = costs.machine().pus.iter().map(Place::from).collect();
        let fitted = MeasuredMachine::new("two", costs.costs(), &messages, places).unwrap();
        let plans =
            corecast_collectives::Plans::of_tree(&corecast_plan::patterns::sequential(2, 0));
        let t_min = |bytes| {
            let call = Call::new(Collective::Broadcast, "messages", 0, bytes).unwrap();
            let bounds = fitted.bounds(&Job::new(&call, &plans).unwrap()).unwrap();
            assert!(bounds.t_min <= bounds.t_max);
            bounds.t_min
        };
        // A message of one line takes 70, the call 10.
        assert!((t_min(8) - 80.0).abs() < 1e-9, "{}", t_min(8));
        // The message that was measured: a slot and 64 lines of body.
        let wanted = 240.0 + 10.0;
        assert!((t_min(4096) - wanted).abs() < 1e-9, "{}", t_min(4096));
    }
}
