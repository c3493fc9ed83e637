//! What a team runs where nothing was measured, raced or asked for, beside the best algorithm on simulated machines.
//! Writes docs/defaults.md.

use crate::after_tuning::{self, AfterTuning};
use crate::document::table;
use corecast_collectives::preferences::TeamOutline;
use corecast_collectives::{Algorithms, Plans, entry};
use corecast_model::{CostModel, builtin};
use corecast_plan::Pattern;
use corecast_sim::drive::{Call, Collective, Job, algorithms};
use corecast_sim::fabric::{CallSetting, costs, predict};
use corecast_sim::machine::{SimMachine, known, pairs};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// Machines in parts, which are fitted to published costs.
pub const OF_PARTS: [&str; 4] = [
    "tilepro64",
    "xeon-e5-2650",
    "xeon-e5-2660",
    "xeon-phi-5110p",
];

/// Machines of which pairwise costs were published.
pub const OF_PAIRS: [&str; 7] = [
    "barcelona-8x4",
    "bloomfield-2x4x2",
    "istanbul-4x6",
    "ivybridge-2x10",
    "magnycours-4x12",
    "nehalem-4x8",
    "shanghai-4x4",
];

/// Longest blocks in bytes of an operation whose calls are simulated. Times of longer ones are extrapolated from this length
/// and half of it, where all that eight ranks send is longer than a message.
const fn simulated_max(operation: Collective) -> usize {
    match operation {
        Collective::Broadcast | Collective::Reduce | Collective::Allreduce | Collective::Scan => {
            128 << 10
        }
        // Each rank has a block for each, or gets one from each.
        _ => 32 << 10,
    }
}

/// Blocks of up to this length are short.
const SHORT_BYTES: usize = 4 << 10;

/// By how much a choice may be slower than the best algorithm.
const WITHIN: f64 = 1.03;

/// Times that were simulated, by operation, algorithm and bytes of a block.
type Times = HashMap<(Collective, &'static str, usize), Option<f64>>;

/// A team on a simulated machine: its first cores, in the order of packages.
#[derive(Debug)]
pub struct SimulatedTeam {
    machine: SimMachine,
    cores: Vec<usize>,
    plans: Plans,
    half_bytes: usize,
    times: RefCell<Times>,
}

/// An operation on blocks of one length.
#[derive(Clone, Debug)]
pub struct Case {
    /// The operation.
    pub operation: Collective,
    /// Bytes of a block.
    pub bytes: usize,
    /// The fastest algorithm.
    pub best: &'static str,
    /// What runs where n½ was not measured, and its time divided by that of the fastest.
    pub unmeasured: (&'static str, f64),
    /// The same where the machine's own n½ is known.
    pub measured: (&'static str, f64),
}

impl SimulatedTeam {
    /// A team of `ranks` on one of [`OF_PARTS`] or [`OF_PAIRS`]; `None` if the machine has fewer cores, or there is no
    /// such machine.
    pub fn new(name: &str, ranks: usize) -> Option<Self> {
        let (machine, costs) = match known::named(name) {
            Ok(machine) => {
                let cores: Vec<usize> = (0..ranks).collect();
                let enough = machine.cores.len() >= ranks;
                let costs =
                    enough.then(|| costs(&machine, &cores).expect("a machine that runs"))?;
                (machine, costs)
            }
            Err(_) => {
                let costs = one_of_each_core(name, ranks)?;
                (pairs::machine(name, &costs), costs)
            }
        };
        let plans = Plans::of_pattern(&costs, Pattern::Smelt, None).expect("costs of a team");
        let mut team = Self {
            machine,
            cores: (0..ranks).collect(),
            plans,
            half_bytes: 0,
            times: RefCell::default(),
        };
        team.half_bytes = team.measure_half_bytes(&costs);
        Some(team)
    }

    /// n½ of the first two cores: the length in bytes at which a message takes twice as long as one of a line.
    pub fn half_bytes(&self) -> usize {
        self.half_bytes
    }

    /// The plans of the team.
    pub fn plans(&self) -> &Plans {
        &self.plans
    }

    fn measure_half_bytes(&self, costs: &CostModel) -> usize {
        let pair = costs.subset(&[0, 1]).expect("two ranks at least");
        let plans = Plans::of_pattern(&pair, Pattern::Smelt, None).expect("costs of a team");
        let at = |bytes| {
            let call = Call::new(Collective::Broadcast, "messages", 0, bytes).expect("it exists");
            let job = Job::new(&call, &plans).expect("two ranks can do it");
            let told = predict(&self.machine, &[0, 1], &job, &CallSetting::default());
            told.expect("a machine that runs").latency
        };
        let (one, long) = (at(8), at(SHORT_BYTES));
        (SHORT_BYTES as f64 * one / (long - one)).round() as usize
    }

    /// The time of an operation by one algorithm, which may have a size; `None` if such a team does not run it, or if its
    /// segments are too long for an extrapolation to these blocks.
    pub fn time(
        &self,
        operation: Collective,
        algorithm: &'static str,
        bytes: usize,
    ) -> Option<f64> {
        let most = simulated_max(operation);
        if bytes > most {
            let known = entry(operation.algorithms_of(), algorithm);
            let segment = known.and_then(|known| known.size_of(algorithm));
            if segment.is_some_and(|segment| segment > most / 4) {
                return None;
            }
            let at = |bytes| self.time(operation, algorithm, bytes);
            let (half, whole) = (at(most / 2)?, at(most)?);
            let per_byte = (whole - half).max(0.0) / (most / 2) as f64;
            return Some(whole + per_byte * (bytes - most) as f64);
        }
        let key = (operation, algorithm, bytes);
        let known = self.times.borrow().get(&key).copied();
        known.unwrap_or_else(|| {
            let time = self.simulate(operation, algorithm, bytes);
            self.times.borrow_mut().insert(key, time);
            time
        })
    }

    fn simulate(&self, operation: Collective, algorithm: &str, bytes: usize) -> Option<f64> {
        // No team shares lines in a plan unless a program asks for that.
        if (operation, algorithm) == (Collective::Broadcast, "groups") {
            return None;
        }
        let blocks = operation.blocks(self.cores.len());
        let call = Call::new(operation, algorithm, 0, bytes * blocks).ok()?;
        let job = Job::new(&call, &self.plans).ok()?;
        if !call.is_as_on_hardware() || job.call().algorithm != algorithm {
            return None;
        }
        let told = predict(&self.machine, &self.cores, &job, &CallSetting::default());
        Some(told.expect("a machine that runs").latency)
    }

    /// What such a team runs that asks for these algorithms.
    pub fn runs(&self, operation: Collective, bytes: usize, asked: &Algorithms) -> &'static str {
        let outline = TeamOutline {
            long_posts: false,
            ..TeamOutline::new(&self.plans)
        };
        let chosen = outline.chooses(asked, operation.name(), bytes);
        chosen.expect("it has algorithms").algorithm()
    }

    /// The fastest algorithm with its built-in size, and its time.
    pub fn best(&self, operation: Collective, bytes: usize) -> (&'static str, f64) {
        let timed = |name: &&'static str| Some((*name, self.time(operation, name, bytes)?));
        let names = algorithms(operation);
        let all = names.iter().filter_map(timed);
        all.min_by(|a, b| a.1.total_cmp(&b.1))
            .expect("one runs at least")
    }

    /// Compares what runs with all algorithms.
    pub fn case(&self, operation: Collective, bytes: usize) -> Case {
        let (best, least) = self.best(operation, bytes);
        let of = |half_bytes| {
            let name = self.runs(operation, bytes, &unasked(half_bytes));
            let time = self.time(operation, name, bytes);
            (name, time.expect("what is chosen runs") / least)
        };
        Case {
            operation,
            bytes,
            best,
            unmeasured: of(None),
            measured: of(Some(self.half_bytes)),
        }
    }
}

/// What a team asks for that asks for no algorithm, where n½ is known or not.
pub fn unasked(half_bytes: Option<usize>) -> Algorithms {
    let mut unasked = Algorithms::default();
    unasked.half_bytes = half_bytes;
    unasked
}

/// Costs between the first cores of a built-in machine, one thread of each; `None` if it has fewer.
fn one_of_each_core(name: &str, ranks: usize) -> Option<CostModel> {
    let file = builtin(name)?;
    let mut seen = HashSet::new();
    let pus = file.machine().pus.iter().enumerate();
    let first = pus.filter(|(_, pu)| seen.insert(pu.core)).map(|(at, _)| at);
    let at: Vec<usize> = first.take(ranks).collect();
    let costs = (at.len() == ranks).then(|| file.costs().subset(&at))?;
    Some(
        costs
            .expect("threads of the file")
            .without_lines()
            .into_owned(),
    )
}

/// The operations whose algorithms differ by length.
fn operations() -> impl Iterator<Item = Collective> {
    let all = Collective::WITH_ALGORITHMS.into_iter();
    all.filter(|&one| one != Collective::Barrier)
}

/// The numbers of ranks of the document.
const RANKS: [usize; 3] = [2, 8, 16];

/// The lengths of the document: 8 B to 16 MiB, for many ranks short blocks alone.
fn lengths(ranks: usize) -> impl Iterator<Item = usize> {
    let all = (3..=23).step_by(2).chain([24]).map(|log| 1 << log);
    all.filter(move |&bytes| ranks <= 8 || bytes <= SHORT_BYTES)
}

/// The teams that are tuned have so many ranks at most.
const TUNED_RANKS_MAX: usize = 8;

/// Every power of two from 8 B to 16 MiB.
fn all_lengths() -> impl Iterator<Item = usize> {
    (3..=24).map(|log| 1 << log)
}

const HEAD: &str = "\
# Choices where nothing was measured

What a team runs where no algorithm was raced, learned or asked for ([tuning.md](tuning.md)), beside the best algorithm on
eleven [simulated machines](simulator.md), each rank on a core of its own: 2 and 8 ranks at 8 B to 16 MiB, more ranks up to
4 KiB. Written by `cargo run --release -p corecast-validation`; with `-- --check` it says whether this file is what would be
written, which CI does.

## The model

More than two ranks with a hardware thread each choose by one number of the machine: Hockney's n½, the length at which a message
takes twice as long as one of a line. `corecast probe` measures it (`messages`: *one* and *long*); else it is taken to be 1 KiB.
The formulas for the limits are in `crates/collectives/src/registry/round_limits.rs`, and `corecast explain` says them:

| ranks | allreduce by `doubling` below | blocks travel together below |
| ---: | ---: | ---: |
";

const WHY: &str = "\
Blocks travel together by `binomial` (gathers), by `halving` (reduce-scatters of 2^k ranks) and, of more than 8 ranks, by `bruck`
(allgathers), if those of half of the ranks fit a message. Allreductions beyond the limit, or a message, go by `rabenseifner`
(2^k ranks, up to two messages), then by `owners`. Two ranks, and ranks that share hardware threads, have the limits that were
measured, see `algorithm.rs` of each collective: there rounds need more turns of the scheduler.

Absolute costs do not matter, only n½ and the number of ranks do. So there is no table of processors: nobody has published how
long messages of many lines take on the families of today. A wrong n½ costs little, as the two kinds of columns show.
";

const AFTER: &str = "\
## After the main job

The tuner of the main job ([tuning.md](tuning.md)) races on the same machines, in its own 17 s of their time: what it times are
simulated times with the noise of a busy machine, contenders that take up to 3 % longer or shorter in a whole replicate, and
predictions that are wrong by up to a quarter. Nine operations were raced at nine lengths, and in between where winners differ; all
are those of 22 lengths, each power of two from 8 B to 16 MiB, beside the fastest algorithm without noise.

What is left beyond 3 % is what 17 s do not decide: a call of 4 MiB takes 10 to 80 ms of 8 ranks on the older of these machines, and
what runs without a race stays until three replicates show that it takes 1.1 times as long. `corecast tune` takes longer and
leaves less.
";

const NOT: &str = "\
## What the simulator does not decide

Short blocks are messages, which the simulator times within 7.5 % on hardware (median, [validation.md](validation.md#this-machine)).
Beyond some KiB it is no judge of algorithms, and the built-in choices do not follow it there:

- **Copies within a rank take no time.** `bruck` of an alltoall, `doubling` of scans and of long allreductions, and `halving` of
  long blocks copy all data to scratch and back. Two threads on a KVM guest (AMD EPYC, 26 November 2026, `corecast tune
  --check-only` in an empty cache folder, against predictions from the same guest's probe): of 72 operations and lengths
  66 of the built-in choices were within 3 % of the fastest algorithm, and 50 of those that the model predicts to be the fastest.
  Of the 22 that it got wrong 18 were of 32 KiB and more, and took 1.2 to 12.7 times the least time.
- **Messages or loans?** On a machine of pairwise costs stores leave one by one, which is what short messages do, so a message of
  4 KiB takes three times as long as a loan; on `xeon-e5-2660` it takes 0.6 times as long, and on that guest 0.85 to 0.96 times.
- **Memory.** A machine of pairwise costs has one memory, to which every line that changes hands is written back. Long blocks
  wait there.
- **Software.** A published `line` is faster than a message by the simulator, and not on hardware
  ([ARCHITECTURE.md](../ARCHITECTURE.md)). An alltoall by `bruck` has some n·log2 n small copies at every rank, which are not in
  its simulated time either, so alltoalls stay as they are.
";

/// The document.
pub fn report() -> String {
    use corecast_collectives::registry::{HALF_BYTES, RoundLimits};
    let mut out = HEAD.to_owned();
    for ranks in [3, 4, 6, 8, 12, 16, 32, 64] {
        let limits = RoundLimits::new(ranks, HALF_BYTES);
        let _ = writeln!(out, "| {ranks} | {} | {} |", limits.whole, limits.together);
    }
    let _ = write!(out, "\n{WHY}");
    let mut rows: Vec<[String; 8]> = Vec::new();
    let mut slow: Vec<(usize, &str, Case)> = Vec::new();
    let mut after: Vec<[String; 6]> = Vec::new();
    for ranks in RANKS {
        for (seed, name) in (0..).zip(OF_PARTS.into_iter().chain(OF_PAIRS)) {
            let Some(team) = SimulatedTeam::new(name, ranks) else {
                continue;
            };
            let of_length = |bytes| operations().map(move |operation| (operation, bytes));
            let all: Vec<Case> = lengths(ranks)
                .flat_map(of_length)
                .map(|(operation, bytes)| team.case(operation, bytes))
                .collect();
            let (short, long): (Vec<_>, Vec<_>) =
                all.iter().partition(|case| case.bytes <= SHORT_BYTES);
            let unmeasured =
                |cases: &[&Case]| summary(cases.iter().map(|case| case.unmeasured.1), WITHIN);
            let measured =
                |cases: &[&Case]| summary(cases.iter().map(|case| case.measured.1), WITHIN);
            let ([within, mean], [own_within, own_mean]) = (unmeasured(&short), measured(&short));
            let [long_within, _] = unmeasured(&long);
            rows.push([
                ranks.to_string(),
                name.to_owned(),
                team.half_bytes.to_string(),
                within,
                mean,
                own_within,
                own_mean,
                long_within,
            ]);
            if ranks <= TUNED_RANKS_MAX {
                let operations: Vec<Collective> = operations().collect();
                let tuned = AfterTuning::of(&team, &operations, seed);
                let cases = all_lengths().flat_map(of_length);
                after.push(after_tuning::row(name, &tuned, cases, WITHIN));
            }
            let beyond = |case: &Case| case.unmeasured.1 > WITHIN;
            slow.extend(
                all.into_iter()
                    .filter(beyond)
                    .map(|case| (ranks, name, case)),
            );
        }
    }
    let head = [
        "ranks",
        "machine",
        "n½",
        "up to 4 KiB within 3 %",
        "mean",
        "by its own n½",
        "mean",
        "beyond 4 KiB within 3 %",
    ];
    let _ = write!(
        out,
        "\n## On eleven machines\n\nHow many choices are within 3 % of the best algorithm, and the geometric mean of their times relative to it.\n\n{}",
        table(head, rows)
    );
    let head = [
        "ranks",
        "machine",
        "raced within 3 %",
        "all within 3 %",
        "mean",
        "worst",
    ];
    let _ = write!(out, "\n{AFTER}\n{}", table(head, after));
    let _ = write!(
        out,
        "\n## Slower by more than 3 %\n\nOf all machines together, n½ not measured.\n\n{}\n{NOT}",
        worst(&slow)
    );
    out
}

/// How many ratios are at most `within`, and their geometric mean.
pub(crate) fn summary(ratios: impl Iterator<Item = f64>, within: f64) -> [String; 2] {
    let all: Vec<f64> = ratios.collect();
    let within = all.iter().filter(|&&ratio| ratio <= within).count();
    if all.is_empty() {
        return ["–".to_owned(), "–".to_owned()];
    }
    let mean = all.iter().map(|ratio| ratio.ln()).sum::<f64>() / all.len() as f64;
    [
        format!("{within} of {}", all.len()),
        format!("{:.2}", mean.exp()),
    ]
}

/// The worst case of each operation, for short blocks and for long ones.
fn worst(slow: &[(usize, &str, Case)]) -> String {
    let mut rows: Vec<[String; 8]> = Vec::new();
    for operation in operations() {
        for ranks in RANKS {
            for short in [true, false] {
                let of = |one: &&(usize, &str, Case)| {
                    let (n, _, case) = one;
                    let kind = (case.operation, case.bytes <= SHORT_BYTES);
                    (*n, kind) == (ranks, (operation, short))
                };
                let all = || slow.iter().filter(of);
                let worst = all().max_by(|a, b| a.2.unmeasured.1.total_cmp(&b.2.unmeasured.1));
                let Some((_, machine, case)) = worst else {
                    continue;
                };
                let (chosen, ratio) = case.unmeasured;
                rows.push([
                    operation.to_string(),
                    ranks.to_string(),
                    if short { "up to 4 KiB" } else { "longer" }.to_owned(),
                    all().count().to_string(),
                    format!("{ratio:.2}"),
                    (*machine).to_owned(),
                    case.bytes.to_string(),
                    format!("{chosen}, best {}", case.best),
                ]);
            }
        }
    }
    let head = [
        "operation",
        "ranks",
        "blocks",
        "cases",
        "worst",
        "where",
        "bytes",
        "what",
    ];
    table(head, rows)
}
