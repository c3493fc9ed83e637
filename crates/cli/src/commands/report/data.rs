//! The data of a report, as JSON.

use std::path::Path;

use anyhow::{Context, Result, bail};
use corecast_bench::comparison::Report;
use corecast_model::MachineFile;
use corecast_probe::now_utc;
use serde::{Deserialize, Serialize};

use crate::source::Source;
use corecast_model::CostBasis;

/// Version of [`Data`].
pub(super) const SCHEMA: u32 = 1;

/// A machine and the races on it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Data {
    /// [`SCHEMA`].
    pub(super) schema: u32,
    /// Always `report`.
    pub(super) kind: String,
    /// Date and time, UTC.
    pub(super) when: String,
    /// Name and version of the program that wrote this.
    pub(super) tool: String,
    /// The command line that repeats the races.
    pub(super) command: String,
    /// Whether the costs are measured, given or assumed.
    pub(super) costs: CostBasis,
    /// Notes on machine and costs for the reader.
    pub(super) notes: Vec<String>,
    /// The races; none for other machines than this one.
    pub(super) comparisons: Vec<Report>,
    /// The machine and its costs.
    #[serde(with = "machine_file")]
    pub(super) machine: MachineFile,
}

impl Data {
    /// The data of `source` with these races, dated now.
    pub(super) fn of_machine(source: &Source, comparisons: Vec<Report>) -> Self {
        let arguments = std::env::args().skip(1);
        let command = std::iter::once("corecast".to_owned()).chain(arguments);
        Self {
            schema: SCHEMA,
            kind: "report".to_owned(),
            when: now_utc(),
            tool: concat!("corecast ", env!("CARGO_PKG_VERSION")).to_owned(),
            command: command.collect::<Vec<_>>().join(" "),
            costs: source.costs,
            notes: source.notes.clone(),
            comparisons,
            machine: source.file.clone(),
        }
    }

    /// Reads a file that an earlier report has written.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no data of a report; the message quotes the path.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {path:?}"))?;
        Self::of_json(&text).with_context(|| format!("{path:?} is no data of a report"))
    }

    fn of_json(text: &str) -> Result<Self> {
        /// The fields that every version of the data has.
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
            kind: String,
        }
        let version: Version = serde_json::from_str(text)?;
        if version.kind != "report" {
            bail!("it is of kind {:?}", version.kind);
        }
        if version.schema != SCHEMA {
            bail!(
                "schema {} is unknown, this program reads {SCHEMA}",
                version.schema
            );
        }
        Ok(serde_json::from_str(text)?)
    }

    pub(super) fn to_json(&self) -> String {
        let mut text = serde_json::to_string(self).expect("plain data with text keys");
        text.push('\n');
        text
    }

    /// The beginning of the names of the machine's files: its name and fingerprint, in characters that every file
    /// system takes.
    pub(super) fn stem(&self) -> String {
        let machine = self.machine.machine();
        let name = format!("{}-{}", machine.name, machine.fingerprint()).to_ascii_lowercase();
        let words = name.split(|c: char| !c.is_ascii_alphanumeric());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        words.join("-")
    }
}

/// A machine file inside of other JSON, in its own format.
mod machine_file {
    use corecast_model::MachineFile;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
    use serde_json::Value;

    pub(super) fn serialize<S: Serializer>(
        file: &MachineFile,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let value: Value = serde_json::from_str(&file.to_json()).map_err(ser::Error::custom)?;
        value.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<MachineFile, D::Error> {
        let value = Value::deserialize(deserializer)?;
        MachineFile::from_json(&value.to_string()).map_err(de::Error::custom)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    #[test]
    fn what_is_no_data_is_refused_with_a_reason() {
        let source = crate::source::open(Some("builtin:ryzen-5950x-16")).unwrap();
        let data = Data::of_machine(&source, Vec::new());
        let text = data.to_json();
        let again = Data::of_json(&text).unwrap();
        assert_eq!(again.machine, source.file);
        let takes = |c: char| c.is_ascii_alphanumeric() || c == '-';
        assert!(!again.stem().is_empty() && again.stem().chars().all(takes));
        for (from, to, part) in [
            ("\"schema\":1,\"kind\"", "\"schema\":7,\"kind\"", "schema 7"),
            ("\"report\"", "\"comparison\"", "\"comparison\""),
            (
                "\"comparisons\":[]",
                "\"comparisons\":0",
                "expected a sequence",
            ),
            ("\"machine\":{", "\"machine\":5,\"else\":{", "machine file"),
        ] {
            let wrong = text.replacen(from, to, 1);
            assert_ne!(wrong, text, "{from}");
            let error = format!("{:#}", Data::of_json(&wrong).unwrap_err());
            assert!(error.contains(part), "{from}: {error}");
        }
    }
}
