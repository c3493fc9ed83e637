//! The tuning of a team: which algorithm runs at which length, and the races that decided it.
//!
//! This module does not know the names of operations and algorithms; the program that applies a tuning
//! checks them.

use super::error::ProfileError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Most ranges of lengths of an operation.
pub const RANGES_MAX: usize = 8;

/// The tuning of one team: the circumstances under which it holds, and the result.
///
/// # Examples
///
/// ```
/// use corecast_model::profile::{Mode, Start, TunedOperation, TunedRange, Tuning};
///
/// let mut tuning = Tuning::new(vec![0, 1], true, Mode::Threads, Start::Together);
/// tuning.operations.push(TunedOperation {
///     operation: "broadcast".into(),
///     ranges: vec![
///         TunedRange::new(Some(4096), None),
///         TunedRange::new(None, Some("chain".into())),
///     ],
/// });
/// let range = tuning.operation("broadcast").unwrap().at(4097);
/// assert_eq!(range.algorithm.as_deref(), Some("chain"));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// Operating-system numbers of the members, by rank.
    pub threads: Vec<u32>,
    /// Whether the members were pinned to these threads.
    pub pinned: bool,
    /// Whether the members were threads or processes.
    pub mode: Mode,
    /// How the raced operations began.
    pub synchronisation: Start,
    /// The circumstances of the races.
    pub under: Circumstances,
    /// Date and time, as the tuning program wrote it.
    pub created: String,
    /// How members wait; absent for Corecast's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<TunedWaits>,
    /// From how many bytes on the kernel copies data between processes, 0 for never; absent where that was not raced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_copies_from: Option<u64>,
    /// The tuned operations, each at most once.
    pub operations: Vec<TunedOperation>,
}

/// The kind of the members of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Threads of one process.
    Threads,
    /// Processes.
    Processes,
}

/// The way in which measured operations begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Start {
    /// All ranks at one instant, behind a barrier: `strict`.
    #[default]
    #[serde(rename = "strict")]
    Together,
    /// One operation after the other, each rank as soon as it can: `loose`.
    #[serde(rename = "loose")]
    BackToBack,
}

/// The circumstances on which a tuning depends: another value makes it stale.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Circumstances {
    /// The revision of the processors' microcode, where the kernel tells.
    #[serde(default)]
    pub microcode: Option<String>,
    /// The PUs that the process may use, as `taskset` lists them.
    pub cpuset: String,
    /// The set of algorithms and built-in choices, as Corecast's `edition` names it.
    pub edition: String,
}

/// The waits of members: how long to spin, to wait in the CPU and to yield, and whether to park then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TunedWaits {
    /// How long to poll with the CPU's pause instruction in between, in nanoseconds.
    pub spin_ns: u32,
    /// How long to wait in the CPU for a write of the line that is looked at, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_no_time")]
    pub hardware_ns: u32,
    /// How long to poll before that, where a wait does not spin and such polls have ended waits, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_no_time")]
    pub soon_ns: u32,
    /// How long to poll with the CPU offered to others in between, in nanoseconds.
    pub yield_ns: u32,
    /// Whether to park after that.
    pub park: bool,
}

fn is_no_time(ns: &u32) -> bool {
    *ns == 0
}

/// One operation, in ranges of lengths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TunedOperation {
    /// The name of the operation.
    pub operation: String,
    /// The ranges in increasing order, up to [`RANGES_MAX`]; the last one has no end.
    pub ranges: Vec<TunedRange>,
}

/// The algorithm of one range of lengths, and the races that decided it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TunedRange {
    /// The longest block of the range, in bytes; `None` for the last one.
    pub up_to_bytes: Option<u64>,
    /// The algorithm's name; `None` for the built-in choice.
    pub algorithm: Option<String>,
    /// A sentence that says why it runs in place of the winner, where a guideline was violated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mended: Option<String>,
    /// The races of the range, by size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub races: Vec<SizeRace>,
}

/// The race of one operation at one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizeRace {
    /// Bytes of a block; 0 for a barrier.
    pub bytes: u64,
    /// All candidates, the one that runs among them.
    pub candidates: Vec<TunedCandidate>,
}

/// One candidate that was raced, or that was left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TunedCandidate {
    /// The algorithm's name; `None` for the built-in choice.
    pub algorithm: Option<String>,
    /// The time that the model predicts, in nanoseconds, where it predicts one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted_ns: Option<f64>,
    /// Median of the measured latencies, in nanoseconds, if it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_ns: Option<f64>,
    /// Confidence interval of that median, low and high end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_ns: Option<(f64, f64)>,
    /// The number of measurements.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub samples: u64,
    /// When and why it was dropped, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Mode {
    /// Returns the name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Processes => "processes",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Start {
    /// Returns the name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Together => "strict",
            Self::BackToBack => "loose",
        }
    }
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A word that is no [`Start`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no synchronisation: take one of strict, loose")]
pub struct StartError(pub String);

impl FromStr for Start {
    type Err = StartError;

    fn from_str(name: &str) -> Result<Self, StartError> {
        match name {
            "strict" => Ok(Self::Together),
            "loose" => Ok(Self::BackToBack),
            _ => Err(StartError(name.to_owned())),
        }
    }
}

impl Circumstances {
    /// Says why a tuning from these circumstances does not hold under `now`; `None` where it does.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_model::profile::Circumstances;
    ///
    /// let then = Circumstances { cpuset: "0-3".into(), ..Circumstances::default() };
    /// let now = Circumstances { cpuset: "0-1".into(), ..Circumstances::default() };
    /// assert_eq!(then.stale(&then), None);
    /// assert_eq!(then.stale(&now).unwrap(), "it was tuned with PU 0-3, this process may use PU 0-1");
    /// ```
    #[must_use]
    pub fn stale(&self, now: &Self) -> Option<String> {
        if self.edition != now.edition {
            return Some(format!(
                "it was tuned by edition {:?} of Corecast's algorithms, this is {:?}",
                self.edition, now.edition
            ));
        }
        if self.microcode != now.microcode {
            let name = |one: &Option<String>| one.clone().unwrap_or_else(|| "unknown".to_owned());
            return Some(format!(
                "it was tuned under microcode {}, now it is {}",
                name(&self.microcode),
                name(&now.microcode)
            ));
        }
        (self.cpuset != now.cpuset).then(|| {
            format!(
                "it was tuned with PU {}, this process may use PU {}",
                self.cpuset, now.cpuset
            )
        })
    }
}

impl Tuning {
    /// Makes the tuning of a team without any result.
    #[must_use]
    pub fn new(threads: Vec<u32>, pinned: bool, mode: Mode, synchronisation: Start) -> Self {
        Self {
            threads,
            pinned,
            mode,
            synchronisation,
            under: Circumstances::default(),
            created: String::new(),
            waits: None,
            kernel_copies_from: None,
            operations: Vec::new(),
        }
    }

    /// Returns the result for an operation.
    #[must_use]
    pub fn operation(&self, name: &str) -> Option<&TunedOperation> {
        self.operations.iter().find(|one| one.operation == name)
    }

    /// Whether the tuning is for the same team, with the same way to begin operations.
    pub(super) fn same_team(&self, other: &Self) -> bool {
        self.threads == other.threads
            && self.pinned == other.pinned
            && self.mode == other.mode
            && self.synchronisation == other.synchronisation
    }

    pub(super) fn check(&self, at: usize) -> Result<(), ProfileError> {
        let wrong = |reason: String| Err(ProfileError::Tuning { tuning: at, reason });
        if self.threads.is_empty() {
            return wrong("it is of no threads".to_owned());
        }
        for (index, operation) in self.operations.iter().enumerate() {
            let name = &operation.operation;
            let others = &self.operations[..index];
            if others.iter().any(|other| other.operation == *name) {
                return wrong(format!("{name:?} is there twice"));
            }
            if let Err(reason) = operation.check() {
                return wrong(format!("{name:?}: {reason}"));
            }
        }
        Ok(())
    }
}

impl TunedOperation {
    /// Returns the range of a block of `bytes`.
    ///
    /// # Panics
    ///
    /// When there are no ranges, which no profile that was read holds.
    #[must_use]
    pub fn at(&self, bytes: u64) -> &TunedRange {
        let ends_before = |range: &TunedRange| range.up_to_bytes.is_some_and(|end| end < bytes);
        let index = self.ranges.partition_point(ends_before);
        &self.ranges[index.min(self.ranges.len() - 1)]
    }

    fn check(&self) -> Result<(), String> {
        let count = self.ranges.len();
        if !(1..=RANGES_MAX).contains(&count) {
            return Err(format!("{count} ranges, expected 1 to {RANGES_MAX}"));
        }
        let mut before = None;
        for (index, range) in self.ranges.iter().enumerate() {
            match (range.up_to_bytes, index + 1 == count) {
                (Some(end), true) => {
                    return Err(format!(
                        "the last range ends at {end} bytes, expected no end"
                    ));
                }
                (None, false) => {
                    return Err(format!("range {index} has no end, and is not the last"));
                }
                (Some(end), false) if before.is_some_and(|before| before >= end) => {
                    return Err(format!(
                        "range {index} ends at {end} bytes, before it begins"
                    ));
                }
                (end, _) => before = end,
            }
            range
                .check()
                .map_err(|reason| format!("range {index}: {reason}"))?;
        }
        Ok(())
    }
}

impl TunedRange {
    /// Makes a range that was not raced.
    #[must_use]
    pub fn new(up_to_bytes: Option<u64>, algorithm: Option<String>) -> Self {
        Self {
            up_to_bytes,
            algorithm,
            mended: None,
            races: Vec::new(),
        }
    }

    /// Returns the race whose size is nearest to `bytes` by ratio, and of two equally near the
    /// smaller.
    #[must_use]
    pub fn race_near(&self, bytes: u64) -> Option<&SizeRace> {
        let away = |race: &&SizeRace| {
            let (a, b) = (race.bytes.max(1) as f64, bytes.max(1) as f64);
            (a / b).ln().abs()
        };
        self.races.iter().min_by(|a, b| away(a).total_cmp(&away(b)))
    }

    fn check(&self) -> Result<(), String> {
        for race in &self.races {
            for candidate in &race.candidates {
                candidate.check().map_err(|what| {
                    let name = candidate
                        .algorithm
                        .as_deref()
                        .unwrap_or("the built-in choice");
                    format!("{name} at {} bytes: {what}", race.bytes)
                })?;
            }
        }
        Ok(())
    }
}

impl SizeRace {
    /// Returns the record of an algorithm, or of the built-in choice for `None`.
    #[must_use]
    pub fn candidate(&self, algorithm: Option<&str>) -> Option<&TunedCandidate> {
        let named = |one: &&TunedCandidate| one.algorithm.as_deref() == algorithm;
        self.candidates.iter().find(named)
    }
}

impl TunedCandidate {
    /// Makes a candidate without any result.
    #[must_use]
    pub fn new(algorithm: Option<String>) -> Self {
        Self {
            algorithm,
            predicted_ns: None,
            measured_ns: None,
            interval_ns: None,
            samples: 0,
            dropped: None,
        }
    }

    fn check(&self) -> Result<(), String> {
        let ends = self
            .interval_ns
            .map_or([None; 2], |(low, high)| [Some(low), Some(high)]);
        let [low, high] = ends;
        for time in [self.predicted_ns, self.measured_ns, low, high]
            .into_iter()
            .flatten()
        {
            if !time.is_finite() || time < 0.0 {
                return Err(format!("{time} ns is no time"));
            }
        }
        if low > high {
            return Err("an interval that ends before it begins".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
