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
    /// Where they ran, as [`crate::cpu_placement::describe`] puts it.
    pub placements: String,
    /// Whether ranks had to share PUs.
    pub oversubscribed: bool,
    /// Counted rounds.
    pub rounds: usize,
    /// One per entrant, in the order given.
    pub entries: Vec<Entry>,
    /// What the reader should know, such as refused pinning.
    pub notes: Vec<String>,
}

/// One entrant's part of a [`Comparison`].
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Name.
    pub name: String,
    /// What the entrant is.
    pub role: Role,
    /// How it was set up.
    pub setting: String,
    /// What a model said that one operation takes.
    pub predicted_ns: Option<f64>,
    /// What models of the machine say beside that.
    pub forecast: Option<Forecast>,
    /// How it fared.
    pub status: Status,
    /// Operations per batch at the end of the race; 0 for programs, which choose
    /// for themselves.
    pub batch: u64,
    /// Rounds without a sample because a launch failed.
    pub misses: u32,
    /// Operations in all counted rounds.
    pub operations: u64,
    /// What each rank saw, in the rounds in which that is known.
    pub rank_times: Vec<RankTimes>,
    /// Nanoseconds per operation in each round, `None` where there is none.
    pub samples: Vec<Option<f64>>,
}

/// What models of the machine say that one operation takes, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// At least, by the symbolic model.
    pub t_min_ns: Option<f64>,
    /// At most.
    pub t_max_ns: Option<f64>,
    /// On a simulated machine.
    pub simulated_ns: f64,
}

impl Forecast {
    /// What its columns are called in tables.
    pub const COLUMNS: [&str; 3] = ["T_min", "T_max", "simulated"];

    /// What stands in them.
    #[must_use]
    pub fn columns(forecast: Option<Self>) -> [Option<f64>; 3] {
        forecast.map_or([None; 3], |times| {
            [times.t_min_ns, times.t_max_ns, Some(times.simulated_ns)]
        })
    }
}

/// How an entrant fared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Has not run yet.
    Pending,
    /// Took part to the end.
    Timed,
    /// Could not take part, for this reason.
    Skipped(String),
    /// Was found wrong, failed or hung, for this reason; its samples do not count.
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

    /// The same once the race is over: who has not run by then has failed.
    #[must_use]
    pub fn word_at_end(&self) -> &'static str {
        match self {
            Self::Pending => "failed",
            ended => ended.word(),
        }
    }

    /// Why somebody was skipped or failed.
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
    /// The samples that exist.
    pub fn timed(&self) -> Vec<f64> {
        self.samples.iter().flatten().copied().collect()
    }

    /// How far apart ranks began, in the rounds in which that is known: nanoseconds.
    pub fn start_spreads(&self) -> Vec<f64> {
        let times = self.rank_times.iter();
        times.filter_map(|times| times.start_spread).collect()
    }

    /// What each rank saw, the medians of the rounds, if the entrant was timed.
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

    /// How many times as long `entry` takes as `base`, round by round.
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
    /// Bytes of other memory that each rank went through before each of them; 0: caches were warm.
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
    /// Where they ran.
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
    /// What the reader should know.
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
    /// What the entrant is.
    pub role: Role,
    /// How it was set up.
    pub setting: String,
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
    /// What each rank saw of an operation.
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
    /// Times as long as the fastest floor.
    pub ratio_to_floor: Option<Ratio>,
    /// Times as long as the fastest peer.
    pub ratio_to_best_peer: Option<Ratio>,
}

/// Of the mean time of an operation on each rank, in nanoseconds: what the micro-benchmarks of Ohio
/// State University print. Medians of the rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankReport {
    /// Mean over the ranks.
    pub average: f64,
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
}

/// Made-up outcomes, for tests of who shows them.
#[cfg(test)]
pub(crate) mod made {
    use super::{Comparison, Entry, Status};
    use crate::engine::Role;

    /// Somebody who took so many nanoseconds in each round.
    pub(crate) fn entry(name: &str, role: Role, samples: &[f64]) -> Entry {
        Entry {
            name: name.to_owned(),
            role,
            setting: String::new(),
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

    /// A barrier of two ranks.
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
