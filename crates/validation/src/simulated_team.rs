//! A team on a simulated machine: its plans, what it runs, and the time that each algorithm takes there.

use corecast_collectives::preferences::TeamOutline;
use corecast_collectives::{Algorithms, Plans, entry};
use corecast_model::{CostModel, builtin};
use corecast_plan::Pattern;
use corecast_sim::drive::{Call, Collective, Job, algorithms};
use corecast_sim::fabric::{CallSetting, costs, predict};
use corecast_sim::machine::{SimMachine, known, pairs};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

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

/// Bytes of the long message by which n½ is measured.
const LONG_BYTES: usize = 4 << 10;

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
        let (one, long) = (at(8), at(LONG_BYTES));
        (LONG_BYTES as f64 * one / (long - one)).round() as usize
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
