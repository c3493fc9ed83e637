//! The outcome of a race, and its JSON form.

use crate::engine::Role;
use crate::sized::{Conditions, RankTimes, Task};
use crate::stats::{self, Ratio, Summary};
use serde::{Deserialize, Serialize};

/// Version of [`Report`]. It rises when a field changes meaning or goes away;
/// fields may be added without.
pub const SCHEMA: u32 = 1;

/// Outcome of a race.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What was raced.
    pub title: String,
    /// The operation and its size, where the race was about one of [`crate::sized`].
    pub task: Option<Task>,
    /// How its operations were started and what was in the caches.
    pub conditions: Option<Conditions>,
    /// Half-width of the interval of a median, as a part of it, at which an entrant was done.
    pub precision: f64,
    /// Number of ranks.
    pub ranks: usize,
    /// Where the ranks ran, as [`crate::cpu_placement::describe`] puts it.
    pub placements: String,
    /// Whether ranks had to share PUs.
    pub oversubscribed: bool,
    /// Counted rounds.
    pub rounds: usize,
    /// One per entrant, in the order given.
    pub entries: Vec<Entry>,
    /// Notes for the reader, such as a refused pinning.
    pub notes: Vec<String>,
}

/// One entrant's part of a [`Comparison`].
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Name.
    pub name: String,
    /// Role of the entrant.
    pub role: Role,
    /// How it was set up.
    pub setting: String,
    /// The algorithm that it ran, as its ranks say; `None` where they do not.
    pub algorithm: Option<String>,
    /// What a model said that one operation takes.
    pub predicted_ns: Option<f64>,
    /// What models of the machine say that one operation takes.
    pub forecast: Option<Forecast>,
    /// Whether it was timed, and if not why.
    pub status: Status,
    /// Operations per batch at the end of the race; 0 for programs, which choose
    /// for themselves.
    pub batch: u64,
    /// Rounds without a sample because a launch failed.
    pub misses: u32,
    /// Operations in all counted rounds.
    pub operations: u64,
    /// Times that the ranks saw, of the rounds in which they are known.
    pub rank_times: Vec<RankTimes>,
    /// Nanoseconds per operation in each round, `None` where there is none.
    pub samples: Vec<Option<f64>>,
}

/// What models of the machine say that one operation takes, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// The lower bound of the symbolic model.
    pub t_min_ns: Option<f64>,
    /// The upper bound of the symbolic model.
    pub t_max_ns: Option<f64>,
    /// The time on a simulated machine.
    pub simulated_ns: f64,
}

impl Forecast {
    /// Headers of its columns in tables.
    pub const COLUMNS: [&str; 3] = ["T_min", "T_max", "simulated"];

    /// Values of the columns, in the order of [`COLUMNS`](Self::COLUMNS).
    #[must_use]
    pub fn columns(forecast: Option<Self>) -> [Option<f64>; 3] {
        forecast.map_or([None; 3], |times| {
            [times.t_min_ns, times.t_max_ns, Some(times.simulated_ns)]
        })
    }
}

/// State of an entrant in a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// The entrant has not run yet.
    Pending,
    /// The entrant has samples, and has not failed.
    Timed,
    /// The entrant could not take part, for this reason.
    Skipped(String),
    /// The entrant was found wrong, failed or hung, for this reason; its samples do not count.
    Failed(String),
}

impl Status {
    /// `pending`, `timed`, `skipped` or `failed`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Timed => "timed",
            Self::Skipped(_) => "skipped",
            Self::Failed(_) => "failed",
        }
    }

    /// Like [`word`](Self::word) after the race: an entrant that has not run by then has failed.
    #[must_use]
    pub fn word_at_end(&self) -> &'static str {
        match self {
            Self::Pending => "failed",
            ended => ended.word(),
        }
    }

    /// Why the entrant was skipped or failed.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_bench::Status;
    ///
    /// let status = Status::Skipped("no compiler".to_owned());
    /// assert_eq!((status.word(), status.reason()), ("skipped", Some("no compiler")));
    /// assert_eq!(Status::Timed.reason(), None);
    /// ```
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Skipped(reason) | Self::Failed(reason) => Some(reason),
            Self::Pending | Self::Timed => None,
        }
    }
}

impl Entry {
    /// The samples of the rounds that have one, in nanoseconds per operation.
    pub fn timed(&self) -> Vec<f64> {
        self.samples.iter().flatten().copied().collect()
    }

    /// How long after the first rank the last one began, in nanoseconds, of the rounds in which that
    /// is known.
    pub fn start_spreads(&self) -> Vec<f64> {
        let times = self.rank_times.iter();
        times.filter_map(|times| times.start_spread).collect()
    }

    /// Times that the ranks saw, as medians over the rounds, if the entrant was timed.
    pub fn rank_summary(&self) -> Option<RankTimes> {
        let median = |of: fn(&RankTimes) -> f64| {
            stats::median(&self.rank_times.iter().map(of).collect::<Vec<_>>())
        };
        (self.status == Status::Timed).then_some(())?;
        Some(RankTimes {
            average: median(|times| times.average)?,
            min: median(|times| times.min)?,
            max: median(|times| times.max)?,
            start_spread: stats::median(&self.start_spreads()),
        })
    }

    /// Summary of the samples, if the entrant was timed.
    pub fn summary(&self) -> Option<Summary> {
        (self.status == Status::Timed)
            .then(|| Summary::of(&self.timed()))
            .flatten()
    }

    pub(crate) fn is_racing(&self) -> bool {
        matches!(self.status, Status::Pending | Status::Timed)
    }

    pub(crate) fn fail(&mut self, reason: String) {
        self.status = Status::Failed(reason);
    }
}

impl Comparison {
    /// The entry with the lowest median among those of `role`.
    pub fn fastest(&self, role: Role) -> Option<&Entry> {
        let timed = self.entries.iter().filter(|entry| entry.role == role);
        let medians = timed.filter_map(|entry| Some((entry, entry.summary()?.median)));
        medians
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(entry, _)| entry)
    }

    /// How many entries of `role` were found wrong or failed.
    pub fn failed(&self, role: Role) -> usize {
        let of_role = self.entries.iter().filter(|entry| entry.role == role);
        of_role
            .filter(|entry| matches!(entry.status, Status::Failed(_)))
            .count()
    }

    /// How many times as long `entry` takes as `base`, from ratios of each round; `None` unless both
    /// were timed.
    pub fn ratio(&self, entry: &Entry, base: &Entry) -> Option<Ratio> {
        let timed = entry.status == Status::Timed && base.status == Status::Timed;
        timed
            .then(|| stats::paired_ratio(&entry.samples, &base.samples))
            .flatten()
    }

    /// The JSON form.
    pub fn report(&self) -> Report {
        let floor = self.fastest(Role::Floor);
        let peer = self.fastest(Role::Peer);
        let entry = |entry: &Entry| EntryReport {
            name: entry.name.clone(),
            role: entry.role,
            setting: entry.setting.clone(),
            algorithm: entry.algorithm.clone(),
            status: entry.status.word().to_owned(),
            reason: entry.status.reason().map(str::to_owned),
            batch: entry.batch,
            misses: entry.misses,
            operations: entry.operations,
            settled: entry
                .summary()
                .is_some_and(|found| found.settled(self.precision)),
            rank_ns: entry.rank_summary().map(|times| RankReport {
                average: times.average,
                min: times.min,
                max: times.max,
            }),
            start_spread_ns: entry.rank_summary().and_then(|times| times.start_spread),
            predicted_ns: entry.predicted_ns,
            forecast: entry.forecast,
            ns_per_op: entry.summary(),
            ratio_to_floor: floor.and_then(|floor| self.ratio(entry, floor)),
            ratio_to_best_peer: peer.and_then(|peer| self.ratio(entry, peer)),
        };
        Report {
            schema: SCHEMA,
            kind: "comparison".to_owned(),
            title: self.title.clone(),
            operation: self.task.map(|task| task.operation.name().to_owned()),
            bytes: self.task.map(|task| task.bytes),
            start: self.conditions.map(|under| under.start.to_string()),
            cold_bytes: self.conditions.map(|under| under.cold_bytes),
            precision: self.precision,
            unit: "ns".to_owned(),
            ranks: self.ranks,
            placements: self.placements.clone(),
            oversubscribed: self.oversubscribed,
            rounds: self.rounds,
            floor: floor.map(Label::of),
            best_peer: peer.map(Label::of),
            entries: self.entries.iter().map(entry).collect(),
            notes: self.notes.clone(),
        }
    }
}

/// JSON form of a [`Comparison`]. All times are nanoseconds per operation; a
/// ratio of 2 means twice as long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Always `comparison`.
    pub kind: String,
    /// What was raced.
    pub title: String,
    /// The operation, where the race was about one size of one.
    #[serde(default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Bytes of a block of the operation; 0 for a barrier.
    #[serde(default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// `window` or `barrier`: how operations of one size were started.
    #[serde(default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// Bytes of other memory that each rank went through before each operation, so that caches were
    /// cold; 0 if they were warm.
    #[serde(default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold_bytes: Option<usize>,
    /// Half-width of the interval of a median, as a part of it, at which an entrant is `settled`.
    #[serde(default)]
    pub precision: f64,
    /// Always `ns`.
    pub unit: String,
    /// Number of ranks.
    pub ranks: usize,
    /// Where the ranks ran.
    #[serde(rename = "seats")]
    pub placements: String,
    /// Whether ranks had to share PUs.
    pub oversubscribed: bool,
    /// Counted rounds.
    pub rounds: usize,
    /// The floor that ratios relate to.
    pub floor: Option<Label>,
    /// The fastest peer.
    pub best_peer: Option<Label>,
    /// One per entrant.
    pub entries: Vec<EntryReport>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// Name and setting of an entry, which together identify it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// Name.
    pub name: String,
    /// Setting.
    pub setting: String,
}

impl Label {
    fn of(entry: &Entry) -> Label {
        Label {
            name: entry.name.clone(),
            setting: entry.setting.clone(),
        }
    }
}

/// JSON form of an [`Entry`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntryReport {
    /// Name.
    pub name: String,
    /// Role of the entrant.
    pub role: Role,
    /// How it was set up.
    pub setting: String,
    /// The algorithm that it ran, as its ranks say; `null` where they do not.
    #[serde(default)]
    pub algorithm: Option<String>,
    /// `timed`, `skipped`, `failed` or `pending`.
    pub status: String,
    /// Why it was skipped or failed.
    pub reason: Option<String>,
    /// Operations per batch at the end of the race; 0 for programs, which choose
    /// for themselves.
    pub batch: u64,
    /// Rounds without a sample because a launch failed.
    pub misses: u32,
    /// Operations in all counted rounds.
    #[serde(default)]
    pub operations: u64,
    /// Whether the interval of the median came down to the race's precision.
    #[serde(default)]
    pub settled: bool,
    /// Times of an operation that the ranks saw.
    #[serde(default)]
    pub rank_ns: Option<RankReport>,
    /// How long after the first rank the last one began, where operations have a start each.
    #[serde(default)]
    pub start_spread_ns: Option<f64>,
    /// What a model said that one operation takes.
    #[serde(default)]
    pub predicted_ns: Option<f64>,
    /// What models of the machine say: `t_min_ns`, `t_max_ns`, `simulated_ns`; absent where they do not know.
    #[serde(flatten)]
    pub forecast: Option<Forecast>,
    /// Summary of the samples.
    pub ns_per_op: Option<Summary>,
    /// How many times as long it takes as the fastest floor.
    pub ratio_to_floor: Option<Ratio>,
    /// How many times as long it takes as the fastest peer.
    pub ratio_to_best_peer: Option<Ratio>,
}

/// Mean, least and most over the ranks of the mean time of an operation on each, in nanoseconds, as
/// the OSU Micro-Benchmarks print them. Each is a median over the rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankReport {
    /// Mean over the ranks.
    pub average: f64,
    /// Least among the ranks.
    pub min: f64,
    /// Most among the ranks.
    pub max: f64,
}

/// Made-up comparisons, for tests of tables and summaries.
#[cfg(test)]
pub(crate) mod made {
    use super::{Comparison, Entry, Status};
    use crate::engine::Role;

    /// An entry that was timed, with `samples` in nanoseconds per operation.
    pub(crate) fn entry(name: &str, role: Role, samples: &[f64]) -> Entry {
        Entry {
            name: name.to_owned(),
            role,
            setting: String::new(),
            algorithm: None,
            predicted_ns: None,
            forecast: None,
            status: Status::Timed,
            batch: 1,
            misses: 0,
            operations: samples.len() as u64,
            rank_times: Vec::new(),
            samples: samples.iter().copied().map(Some).collect(),
        }
    }

    /// A comparison of barriers of two ranks.
    pub(crate) fn comparison(entries: Vec<Entry>) -> Comparison {
        let rounds = entries.iter().map(|entry| entry.samples.len()).max();
        Comparison {
            title: "barrier".to_owned(),
            task: None,
            conditions: None,
            precision: 0.02,
            ranks: 2,
            placements: "0,1".to_owned(),
            oversubscribed: false,
            rounds: rounds.unwrap_or(0),
            entries,
            notes: Vec::new(),
        }
    }
}
