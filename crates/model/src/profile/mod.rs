//! The races on a machine: for each operation and team the winner, and the losers with their predicted and
//! measured latencies.
//!
//! A [`Tuning`] says for one team which algorithm each operation runs at which length.
//!
//! The losers are kept because they show how far the model can be trusted, and because a later race
//! can start from them.
//!
//! The version stays when a field is added: the field is optional, and a program that does not know it can
//! still run the rest. The version changes when an old program would misread a file.

mod error;
mod tuning;

pub use error::ProfileError;
pub use tuning::{
    Circumstances, Mode, RANGES_MAX, SizeRace, Start, StartError, TunedCandidate, TunedOperation,
    TunedRange, TunedWaits, Tuning,
};

use serde::{Deserialize, Serialize};

use crate::machine::Machine;

/// The version of the format that [`Profile::to_json`] writes.
pub const SCHEMA: u64 = 1;

/// All races of one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Version of the format, [`SCHEMA`].
    pub schema: u64,
    /// The key of the machine, see [`machine_key`].
    pub machine_key: String,
    /// Date and time of the last race, as the racing program wrote it.
    pub created: String,
    /// One entry for each operation and team.
    pub entries: Vec<ProfileEntry>,
    /// One entry for each team that was tuned; absent in older files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tunings: Vec<Tuning>,
}

/// One race: an operation on a team.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProfileEntry {
    /// `broadcast`, `reduce` or `barrier`.
    pub operation: String,
    /// Operating-system numbers of the members, by rank.
    pub threads: Vec<u32>,
    /// Pattern of the fastest candidate.
    pub winner: String,
    /// All candidates that ran, the winner among them.
    pub candidates: Vec<RacedCandidate>,
}

/// One candidate of a race.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RacedCandidate {
    /// The pattern's name.
    pub pattern: String,
    /// The rank that starts or ends the operation; 0 for round schedules, which have none.
    pub root: usize,
    /// For each rank the ordered ranks that it serves; absent for round schedules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub children: Option<Vec<Vec<usize>>>,
    /// For each rank the ranks whose messages it takes, in that order, where a barrier goes in over
    /// another tree than out; absent where one tree serves both ways, and in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fan_in: Option<Vec<Vec<usize>>>,
    /// The latency that the cost model predicts, in nanoseconds.
    pub predicted_ns: f64,
    /// Median of the measured latencies, in nanoseconds.
    pub measured_ns: f64,
    /// Confidence interval of that median, low and high end.
    pub interval_ns: (f64, f64),
}

/// The key of a machine in profiles: its processor's name and its topology's fingerprint.
///
/// # Examples
///
/// ```
/// let machine = corecast_model::builtin("sandybridge-2x8").unwrap().machine().clone();
/// let key = corecast_model::profile::machine_key(&machine);
/// assert!(key.starts_with("Intel Xeon E5-2660 (Sandy Bridge), 2.20 GHz 2p2n16c32t-"));
/// ```
#[must_use]
pub fn machine_key(machine: &Machine) -> String {
    let cpu = machine.cpu.as_deref().unwrap_or("unknown processor");
    format!("{cpu} {}", machine.fingerprint())
}

impl Profile {
    /// An empty profile of a machine.
    #[must_use]
    pub fn new(machine_key: String, created: String) -> Self {
        Self {
            schema: SCHEMA,
            machine_key,
            created,
            entries: Vec::new(),
            tunings: Vec::new(),
        }
    }

    /// Returns the entry of an operation on a team.
    #[must_use]
    pub fn find(&self, operation: &str, threads: &[u32]) -> Option<&ProfileEntry> {
        self.entries
            .iter()
            .find(|e| e.operation == operation && e.threads == threads)
    }

    /// Adds an entry, and removes an earlier one for the same operation and team.
    pub fn record(&mut self, entry: ProfileEntry) {
        let same =
            |e: &&mut ProfileEntry| e.operation == entry.operation && e.threads == entry.threads;
        match self.entries.iter_mut().find(same) {
            Some(old) => *old = entry,
            None => self.entries.push(entry),
        }
    }

    /// Adds a tuning, and removes an earlier one for the same team.
    pub fn record_tuning(&mut self, tuning: Tuning) {
        let same = |one: &&mut Tuning| one.same_team(&tuning);
        match self.tunings.iter_mut().find(same) {
            Some(old) => *old = tuning,
            None => self.tunings.push(tuning),
        }
    }

    /// Reads a profile.
    ///
    /// # Errors
    ///
    /// Text that is no profile, an unknown schema, a winner that did not run, a tree whose number of
    /// members is not the team's, ranges of lengths that do not follow each other, or a time that is no
    /// number.
    pub fn from_json(text: &str) -> Result<Self, ProfileError> {
        #[derive(Deserialize)]
        #[serde(expecting = "a profile as a JSON object")]
        struct Version {
            schema: u64,
        }
        let json = |error: serde_json::Error| ProfileError::Json {
            reason: error.to_string(),
        };
        let read: Result<Self, _> = serde_json::from_str(text);
        // A good file is parsed once; of a bad one the version says more than the field that it lacks.
        let schema = match &read {
            Ok(profile) => profile.schema,
            Err(_) => serde_json::from_str::<Version>(text).map_err(json)?.schema,
        };
        if schema != SCHEMA {
            return Err(ProfileError::Schema { found: schema });
        }
        let profile = read.map_err(json)?;
        for (at, entry) in profile.entries.iter().enumerate() {
            entry.check(at)?;
        }
        for (at, tuning) in profile.tunings.iter().enumerate() {
            tuning.check(at)?;
            let mut others = profile.tunings[..at].iter();
            if let Some(other) = others.position(|other| other.same_team(tuning)) {
                let reason = format!("tuning {other} is of the same team");
                return Err(ProfileError::Tuning { tuning: at, reason });
            }
        }
        Ok(profile)
    }

    /// The profile with what runs alone: without the races that decided it, which are most of it.
    #[must_use]
    pub fn without_races(&self) -> Self {
        let mut choices = self.clone();
        let operations = choices
            .tunings
            .iter_mut()
            .flat_map(|tuning| &mut tuning.operations);
        for range in operations.flat_map(|operation| &mut operation.ranges) {
            range.races.clear();
        }
        choices
    }

    /// The profile as JSON in one line.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("plain data with text keys") + "\n"
    }
}

impl ProfileEntry {
    /// The winner's record.
    #[must_use]
    pub fn winning(&self) -> Option<&RacedCandidate> {
        self.candidates.iter().find(|c| c.pattern == self.winner)
    }

    fn check(&self, entry: usize) -> Result<(), ProfileError> {
        if self.winning().is_none() {
            return Err(ProfileError::NoWinner {
                entry,
                winner: self.winner.clone(),
            });
        }
        let expected = self.threads.len();
        for candidate in &self.candidates {
            for lists in [&candidate.children, &candidate.fan_in]
                .into_iter()
                .flatten()
            {
                if lists.len() != expected {
                    return Err(ProfileError::TeamSize {
                        entry,
                        pattern: candidate.pattern.clone(),
                        found: lists.len(),
                        expected,
                    });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> Profile {
        let candidate = |pattern: &str, measured_ns| RacedCandidate {
            pattern: pattern.to_owned(),
            root: 0,
            children: Some(vec![vec![1], vec![]]),
            fan_in: None,
            predicted_ns: 280.0,
            measured_ns,
            interval_ns: (measured_ns - 1.0, measured_ns + 1.0),
        };
        let mut profile = Profile::new("cpu 1p1n2c2t-0".into(), "2026-11-21".into());
        profile.record(ProfileEntry {
            operation: "barrier".into(),
            threads: vec![0, 1],
            winner: "smelt".into(),
            candidates: vec![candidate("smelt", 251.5), candidate("binary", 300.0)],
        });
        profile
    }

    #[test]
    fn a_round_trip_keeps_all() {
        let profile = profile();
        assert_eq!(Profile::from_json(&profile.to_json()).unwrap(), profile);
        assert_eq!(
            profile
                .find("barrier", &[0, 1])
                .unwrap()
                .winning()
                .unwrap()
                .measured_ns,
            251.5
        );
        assert!(profile.find("barrier", &[1, 0]).is_none());
    }

    #[test]
    fn a_second_tree_is_kept_and_its_absence_is_no_error() {
        let mut profile = profile();
        assert!(!profile.to_json().contains("fan_in"));
        profile.entries[0].candidates[0].fan_in = Some(vec![vec![1], vec![]]);
        let text = profile.to_json();
        assert_eq!(Profile::from_json(&text).unwrap(), profile);
        profile.entries[0].candidates[0].fan_in = Some(vec![vec![]]);
        let error = Profile::from_json(&profile.to_json()).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("1 lists of children, expected 2")
        );
    }

    #[test]
    fn recording_again_replaces() {
        let mut profile = profile();
        let mut entry = profile.entries[0].clone();
        entry.winner = "binary".into();
        profile.record(entry);
        assert_eq!(profile.entries.len(), 1);
        assert_eq!(profile.entries[0].winner, "binary");
    }

    #[test]
    fn bad_profiles_are_refused() {
        let text = profile().to_json();
        for (from, to, part) in [
            ("\"schema\":1", "\"schema\":9", "schema 9"),
            ("\"winner\":\"smelt\"", "\"winner\":\"x\"", "\"x\""),
            ("\"entries\"", "\"entry\"", "missing field"),
        ] {
            assert!(text.contains(from));
            let error = Profile::from_json(&text.replace(from, to))
                .unwrap_err()
                .to_string();
            assert!(error.contains(part), "{error}");
        }
        let mut short = profile();
        short.entries[0].threads.push(2);
        let error = Profile::from_json(&short.to_json())
            .unwrap_err()
            .to_string();
        assert!(error.contains("2 lists of children, expected 3"), "{error}");
    }
}
