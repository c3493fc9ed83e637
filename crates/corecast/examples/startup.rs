//! Measures how long a starting team plans: all decisions for its barrier, broadcast and reduction.
//!
//! ```text
//! cargo run --release -p corecast --example startup [MACHINE.json ...]
//! ```
//!
//! Each machine is planned first without any race, so that all patterns are planned and `best` is searched for,
//! then with races that were won by exactly these threads. The table has medians and maxima of many runs, which
//! take turns over the machines. CPU time is the planning thread's own; wall-clock time includes whatever else
//! the machine does meanwhile. The last columns are the time for reading the stored costs and races as JSON,
//! before any planning.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use corecast::choose::{Choice, Preferences, Races, choose_all};
use corecast::model::profile::machine_key;
use corecast::model::{MachineFile, Profile, ProfileEntry, RacedCandidate, synthetic};
use corecast::plan::{Pattern, Shape, Tree};
use rustix::time::{ClockId, clock_gettime};

/// Runs of each machine and kind.
const RUNS: usize = 200;

/// Machines of 2 to 128 hardware threads, for runs without files.
const MACHINES: [&str; 9] = [
    "core:2",
    "core:4",
    "package:2 core:4",
    "package:2 core:8",
    "package:2 numa:2 core:8",
    "package:2 numa:4 core:6",
    "package:2 numa:4 core:8",
    "package:4 numa:3 core:8",
    "package:4 numa:4 core:8",
];

/// Times in milliseconds, wall-clock and CPU.
#[derive(Default)]
struct Times {
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

impl Times {
    fn take<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (start, cpu) = (Instant::now(), cpu_ms());
        let result = black_box(work());
        self.cpu.push(cpu_ms() - cpu);
        self.wall.push(start.elapsed().as_secs_f64() * 1e3);
        result
    }
}

/// CPU time of this thread, in milliseconds.
fn cpu_ms() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Median and maximum.
fn summary(times: &[f64]) -> String {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (median, max) = (sorted[sorted.len() / 2], sorted[sorted.len() - 1]);
    format!("{median:7.2} {max:7.2}")
}

/// One machine and its measurements.
struct Subject {
    name: String,
    file: MachineFile,
    /// The costs as JSON, as they would be stored.
    costs: String,
    profile: String,
    planned: Times,
    raced: Times,
    read: Times,
}

impl Subject {
    fn new(name: String, file: MachineFile) -> Result<Self, Box<dyn Error>> {
        let races = Races::none("nothing was raced");
        let choices = choose_all(
            file.costs(),
            file.threads(),
            &Preferences::default(),
            &races,
        )?;
        Ok(Self {
            name,
            costs: file.to_json(),
            profile: profile(&file, &choices).to_json(),
            file,
            planned: Times::default(),
            raced: Times::default(),
            read: Times::default(),
        })
    }

    fn run(&mut self) -> Result<(), Box<dyn Error>> {
        let (costs, threads, preferences) = (
            self.file.costs(),
            self.file.threads(),
            Preferences::default(),
        );
        let none = Races::none("nothing was raced");
        self.planned
            .take(|| choose_all(costs, threads, &preferences, &none))?;
        let read = || {
            (
                MachineFile::from_json(&self.costs),
                Profile::from_json(&self.profile),
            )
        };
        let (file, profile) = self.read.take(read);
        let races = Races::of(profile?, "this example");
        file?;
        self.raced
            .take(|| choose_all(costs, threads, &preferences, &races))?;
        Ok(())
    }
}

/// Races of up to five plans each, won by the plan that the model predicts to be fastest.
fn profile(file: &MachineFile, choices: &[Choice]) -> Profile {
    let mut profile = Profile::new(machine_key(file.machine()), "2026-11-22".to_owned());
    let lists = |tree: &Tree| tree.child_lists().to_vec();
    for choice in choices {
        let entrants = choice
            .candidates
            .iter()
            .take(5)
            .map(|entrant| RacedCandidate {
                pattern: entrant.pattern.to_string(),
                root: entrant.root,
                children: match &entrant.shape {
                    Shape::Tree(tree) | Shape::Trees { fan_out: tree, .. } => Some(lists(tree)),
                    _ => None,
                },
                fan_in: match &entrant.shape {
                    Shape::Trees { fan_in, .. } => Some(lists(fan_in)),
                    _ => None,
                },
                predicted_ns: entrant.latency,
                measured_ns: entrant.latency,
                interval_ns: (entrant.latency, entrant.latency),
            });
        profile.record(ProfileEntry {
            operation: choice.operation.to_string(),
            threads: file.threads().to_vec(),
            winner: choice.chosen().pattern.to_string(),
            candidates: entrants.collect(),
        });
    }
    profile
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut subjects = Vec::new();
    for path in std::env::args().skip(1) {
        let file = MachineFile::from_json(&std::fs::read_to_string(&path)?)?;
        subjects.push(Subject::new(file.machine().name.clone(), file)?);
    }
    if subjects.is_empty() {
        for spec in MACHINES {
            subjects.push(Subject::new(spec.to_owned(), synthetic(spec)?)?);
        }
    }
    for _ in 0..RUNS {
        for subject in &mut subjects {
            subject.run()?;
        }
    }
    println!("milliseconds, median and maximum of {RUNS} runs");
    println!(
        "{:7} {:28} {:15} {:15} {:15} {:15} {:15} best leads",
        "members",
        "machine",
        " planned, CPU",
        "  wall clock",
        " raced, CPU",
        "  wall clock",
        " read, CPU"
    );
    for subject in &subjects {
        let (costs, threads) = (subject.file.costs(), subject.file.threads());
        let races = Races::none("nothing was raced");
        let choices = choose_all(costs, threads, &Preferences::default(), &races)?;
        let leads = choices
            .iter()
            .filter(|c| c.chosen().pattern == Pattern::Best)
            .count();
        println!(
            "{:7} {:28.28} {} {} {} {} {} {leads} of 3",
            threads.len(),
            subject.name,
            summary(&subject.planned.cpu),
            summary(&subject.planned.wall),
            summary(&subject.raced.cpu),
            summary(&subject.raced.wall),
            summary(&subject.read.cpu),
        );
    }
    Ok(())
}
