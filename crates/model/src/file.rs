//! The machine file: one machine and the costs of its messages, as versioned JSON.
//!
//! ```json
//! { "schema": 1,
//!   "machine": { "name": "…", "pus": [ { "os_index": 0, "package": 0, … } ] },
//!   "threads": [0, 1],
//!   "unit": "ns",
//!   "send": [[0, 60], [55, 0]],
//!   "receive": [[0, 220], [210, 0]] }
//! ```
//!
//! `threads` are the operating-system numbers of the measured threads; row and column r of each
//! matrix belong to entry r of it. Optional: `send_interval` and `receive_interval`, the half width
//! of each pair's confidence interval; `measured`, how the numbers came about; and `lines`, what a
//! line costs that several threads share, by class of proximity (see [`crate::lines`]):
//!
//! ```json
//! "lines": { "write": 70, "invalidate": [0, 0, 0, 0], "transfer": [2.3, 35, 35, 94],
//!            "base": [2.3, 35, 35, 94], "slope": [0, 0, 0, 0] }
//! ```
//!
//! A file may also have `messages`, the costs of messages that come alone and of calls, see
//! [`crate::messages`], and `deep`, the results of a measurement in depth, see [`crate::deep`].
//!
//! The file of several hosts has `cluster`, which says where one ends and the next one begins, see [`crate::cluster`].
//!
//! A file without `schema` is read as the format of Smelt's public machine database, see
//! [`database`].

mod content;
pub mod database;
mod error;
mod raw;

pub use content::{MachineFile, Measured};
pub use error::FileError;
pub use raw::SCHEMA;

use serde::Deserialize;

impl MachineFile {
    /// Reads Corecast's own format, or that of Smelt's machine database when there is no `schema`.
    ///
    /// # Errors
    ///
    /// Text that is no JSON or cut short; an unknown schema or unit; a matrix that is ragged, or
    /// has a missing (`null`), negative or non-numeric entry; a thread unknown, repeated, in two
    /// NUMA nodes or in none.
    pub fn from_json(text: &str) -> Result<Self, FileError> {
        #[derive(Deserialize)]
        #[serde(expecting = "a machine as a JSON object")]
        struct Version {
            schema: Option<serde_json::Value>,
            // The version is looked at first: in another version all the rest may be different.
            deep: Option<DeepVersion>,
        }
        #[derive(Deserialize)]
        #[serde(expecting = "a measurement in depth as a JSON object")]
        struct DeepVersion {
            schema: serde_json::Value,
        }
        let version: Version = serde_json::from_str(text)?;
        if let Some(DeepVersion { schema }) = version.deep
            && schema.as_u64() != Some(crate::deep::SCHEMA)
        {
            return Err(FileError::DeepSchema {
                found: schema.to_string(),
            });
        }
        match version.schema {
            None => database::read(text),
            Some(schema) if schema.as_u64() == Some(SCHEMA) => raw::read(text),
            Some(schema) => Err(FileError::Schema {
                found: schema.to_string(),
            }),
        }
    }

    /// Corecast's own format, one matrix row a line, so that two files can be compared by eye.
    ///
    /// Reading it back gives an equal value: numbers are written in full.
    #[must_use]
    pub fn to_json(&self) -> String {
        raw::write(self)
    }
}

#[cfg(test)]
mod tests;
