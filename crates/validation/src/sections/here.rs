//! The project's own machine: measured times of collectives beside predictions from single messages and empty calls
//! that were measured in the same minute.

use crate::document::{Content, percent, table};
use corecast_collectives::{BarrierPlan, Plans};
use corecast_model::{MachineFile, Place};
use corecast_plan::{Rounds, patterns};
use corecast_sim::drive::{Call, Collective, Job};
use corecast_sim::measured::MeasuredMachine;
use serde_json::Value;

/// The output of `corecast bench --probe --json`, shortened.
const RECORD: &str = include_str!("../../records/2026-11-26-predictions.json");

/// Predictions of up to this size are held to [`LIMIT`].
pub const SHORT_BYTES: usize = 4096;

/// The greatest median of relative errors that the test allows.
pub const LIMIT: f64 = 0.2;

/// One race: an operation at a size.
pub struct RaceRow {
    operation: Collective,
    /// The algorithm that ran, and is predicted.
    algorithm: String,
    /// Bytes of a block.
    pub bytes: usize,
    /// The measured median, ns.
    pub measured: f64,
    /// The lower bound of the symbolic model, ns.
    pub t_min: f64,
    /// The upper bound of the symbolic model, ns.
    pub t_max: f64,
    /// The simulated time, ns.
    pub simulated: f64,
    /// The time of a message of one line in that minute, ns.
    message: f64,
}

impl RaceRow {
    /// Whether a time lies between the bounds.
    pub fn holds(&self, time: f64) -> bool {
        self.t_min <= time && time <= self.t_max
    }

    /// The relative error of the simulator.
    pub fn error(&self) -> f64 {
        (self.simulated / self.measured - 1.0).abs()
    }
}

/// The races of the record with blocks of at most `bytes`, and new predictions of them.
///
/// Races of algorithms that are not simulated are left out.
pub fn rows(bytes: usize) -> Vec<RaceRow> {
    let mut races = races();
    races.retain(|race| race.bytes <= bytes);
    races.iter().filter_map(Race::predicted).collect()
}

/// Operations and algorithms of the races without a prediction, with the shortest of their sizes.
fn not_simulated() -> Vec<String> {
    let races = races().into_iter();
    let mut left: Vec<Race> = races.filter(|race| race.job().is_none()).collect();
    left.dedup_by(|a, b| (a.operation, &a.algorithm) == (b.operation, &b.algorithm));
    left.iter()
        .map(|race| {
            format!(
                "{} by `{}` from {} B",
                race.operation, race.algorithm, race.bytes
            )
        })
        .collect()
}

/// A race as it was recorded.
struct Race {
    operation: Collective,
    algorithm: String,
    bytes: usize,
    measured: f64,
    /// What single messages and empty calls took in that minute.
    profile: MachineFile,
}

fn races() -> Vec<Race> {
    let record: Value = serde_json::from_str(RECORD).expect("JSON");
    let races = record["races"].as_array().expect("a list");
    let race = |race: &Value| Race {
        operation: text(race, "operation").parse().expect("a collective"),
        algorithm: text(race, "algorithm"),
        bytes: race["bytes"].as_u64().expect("a size") as usize,
        measured: race["median_ns"].as_f64().expect("a time"),
        profile: MachineFile::from_json(&race["profile"].to_string()).expect("a machine"),
    };
    races.iter().map(race).collect()
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().expect("text").to_owned()
}

impl Race {
    fn predicted(&self) -> Option<RaceRow> {
        let job = self.job()?;
        let messages = self.profile.messages().expect("messages were measured");
        let pus = &self.profile.machine().pus;
        let places = pus.iter().map(Place::from).collect();
        let costs = self.profile.costs();
        let machine = MeasuredMachine::new("here", costs, messages, places).expect("a machine");
        let bounds = machine.bounds(&job).expect("the model follows");
        Some(RaceRow {
            operation: self.operation,
            algorithm: self.algorithm.clone(),
            bytes: self.bytes,
            measured: self.measured,
            t_min: bounds.t_min,
            t_max: bounds.t_max,
            simulated: machine.latency(&[0, 1], &job).expect("a time"),
            message: (messages.one.get(0, 1) + messages.one.get(1, 0)) / 2.0,
        })
    }

    /// The call that two ranks ran, unless it runs in another way in the simulator.
    fn job(&self) -> Option<Job> {
        let tree = patterns::sequential(2, 0);
        let rounds = BarrierPlan::Rounds(Rounds::dissemination(2, 2));
        let plans = Plans::of_tree(&tree)
            .with_barrier(rounds)
            .expect("two ranks");
        let bytes = self.bytes * self.operation.blocks(2);
        let call = Call::new(self.operation, &self.algorithm, 0, bytes).ok()?;
        let job = Job::new(&call, &plans).ok()?;
        (call.is_as_on_hardware() && job.call().algorithm == self.algorithm).then_some(job)
    }
}

/// The median of the errors of short races.
pub fn median_error(rows: &[RaceRow]) -> f64 {
    let short = rows.iter().filter(|row| row.bytes <= SHORT_BYTES);
    let mut errors: Vec<f64> = short.map(RaceRow::error).collect();
    errors.sort_by(f64::total_cmp);
    let middle = errors.len() / 2;
    match errors.len() % 2 {
        0 => (errors[middle - 1] + errors[middle]) / 2.0,
        _ => errors[middle],
    }
}

/// The section of docs/validation.md.
pub fn section() -> Content {
    let record: Value = serde_json::from_str(RECORD).expect("JSON");
    let races = record["races"].as_array().expect("a list");
    let is_changed = |race: &&Value| {
        race["changed"]
            .as_array()
            .is_some_and(|notes| !notes.is_empty())
    };
    let changed = races.iter().filter(is_changed).count();
    let rows = rows(usize::MAX);
    let cells = rows.iter().map(|row| {
        [
            row.operation.to_string(),
            row.algorithm.clone(),
            row.bytes.to_string(),
            format!("{:.0}", row.message),
            format!("{:.0}", row.measured),
            format!("{:.0}", row.t_min),
            format!("{:.0}", row.t_max),
            format!("{:.0}", row.simulated),
            percent(row.simulated, row.measured),
        ]
    });
    let head = [
        "operation",
        "algorithm",
        "bytes",
        "message",
        "measured",
        "T_min",
        "T_max",
        "simulated",
        "error",
    ];
    let all: Vec<&RaceRow> = rows.iter().collect();
    let short: Vec<&RaceRow> = rows.iter().filter(|row| row.bytes <= SHORT_BYTES).collect();
    let counts = [("all sizes", &all), ("up to 4 KiB", &short)].map(|(sizes, rows)| {
        let count =
            |is: fn(&RaceRow) -> bool| rows.iter().filter(|row| is(row)).count().to_string();
        [
            sizes.to_owned(),
            rows.len().to_string(),
            count(|row| row.holds(row.measured)),
            count(|row| row.measured < row.t_min),
            count(|row| row.measured > row.t_max),
            count(|row| row.holds(row.simulated)),
        ]
    });
    let counted = [
        "races",
        "of them",
        "T_min ≤ measured ≤ T_max",
        "measured < T_min",
        "measured > T_max",
        "T_min ≤ simulated ≤ T_max",
    ];
    format!(
        "Every operation of `corecast bench`, two ranks on two cores, threads; nanoseconds.\n\
         {}, {}, by\n\
         `{}`\n\
         (`crates/validation/records/2026-11-26-predictions.json`). Before each race the probe measured what\n\
         single messages take (*message*: of one line, after a pause) and calls with nobody to talk to; the host moves the\n\
         processors about, so a message takes 70 ns in one minute and 280 in the next. What is simulated follows from these figures alone,\n\
         see [simulator.md](simulator.md#this-machine); nothing is fitted to a collective. {} of the races ended while\n\
         messages took longer or shorter than before it by more than 15 %. *Algorithm* is what ran, and what is simulated and\n\
         bounded. Not simulated: {}.\n\n\
         {}\n\
         Up to 4 KiB: {} of {} races, median error **{:.1} %** (at most {:.0} % is asked for; `crates/validation/tests/it/here.rs`\n\
         holds it). How many races lie between the bounds of the symbolic model:\n\n\
         {}\n\
         No test holds measured times to these bounds.\n",
        text(&record, "machine"),
        text(&record, "date"),
        text(&record, "command"),
        changed,
        not_simulated().join(", "),
        table(head, cells),
        short.len(),
        rows.len(),
        100.0 * median_error(&rows),
        100.0 * LIMIT,
        table(counted, counts),
    )
    .into()
}
