//! Opens the machine that a command is about: `-i FILE|builtin:NAME|synthetic:SPEC`, or this machine.

use std::io::Read;

use anyhow::{Context, Result, anyhow, bail};
use corecast::costs::{self, CostSource};
use corecast::store::Store;
use corecast_machine::Discovery;
use corecast_model::{CostBasis, MachineFile, builtin, builtin_names, synthetic};
use tempfile::TempDir;

/// A machine with costs, and where they come from.
#[derive(Debug)]
pub(crate) struct Source {
    /// The machine and its costs.
    pub(crate) file: MachineFile,
    /// Whether the costs are measured, given or assumed.
    pub(crate) costs: CostBasis,
    /// The result of discovery; `None` if the machine is not this one.
    pub(crate) here: Option<Discovery>,
    /// Notes on the machine or its costs for the reader, one sentence each.
    pub(crate) notes: Vec<String>,
}

impl Source {
    /// A temporary folder that can be the cache folder of processes, and the store in it, which has the measured costs and
    /// no profile.
    ///
    /// # Errors
    ///
    /// The folder cannot be written.
    pub(crate) fn cache_of_costs(&self) -> Result<(TempDir, Store)> {
        let home = tempfile::tempdir().context("a folder for measured costs")?;
        let store = Store::at(home.path().join("corecast"));
        if self.costs == CostBasis::Measured {
            store.save_machine(&self.file)?;
        }
        Ok((home, store))
    }
}

/// The most bytes of a machine file that are read: enough for the matrices of 4,096 threads.
const BYTES_MAX: u64 = 1 << 30;

/// Opens the machine that `text` names; this machine for `None`.
///
/// # Errors
///
/// The machine cannot be read or is not valid; the message quotes `text`.
pub(crate) fn open(text: Option<&str>) -> Result<Source> {
    let Some(text) = text else {
        return Ok(this_machine());
    };
    let given = |file| Source {
        file,
        costs: CostBasis::Given,
        here: None,
        notes: Vec::new(),
    };
    if let Some(name) = text.strip_prefix("builtin:") {
        let known = builtin_names().join(", ");
        let file = builtin(name)
            .ok_or_else(|| anyhow!("no built-in machine {name:?}, there are {known}"))?;
        return Ok(given(file));
    }
    if let Some(spec) = text
        .strip_prefix("synthetic:")
        .or(is_spec(text).then_some(text))
    {
        let file = synthetic(spec).with_context(|| format!("synthetic machine {spec:?}"))?;
        return Ok(given(file));
    }
    let file =
        MachineFile::from_json(&read(text)?).with_context(|| format!("machine file {text:?}"))?;
    Ok(given(file))
}

/// Whether `text` describes a synthetic machine without its prefix, in lstopo's form.
fn is_spec(text: &str) -> bool {
    ["package:", "numa:", "core:", "pu:"]
        .iter()
        .any(|level| text.starts_with(level))
}

/// The content of the file at `path`, or of standard input for `-`.
fn read(path: &str) -> Result<String> {
    let mut bytes = Vec::new();
    let read = if path == "-" {
        std::io::stdin()
            .lock()
            .take(BYTES_MAX + 1)
            .read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|f| f.take(BYTES_MAX + 1).read_to_end(&mut bytes))
    };
    read.with_context(|| format!("cannot read machine file {path:?}"))?;
    if bytes.len() as u64 > BYTES_MAX {
        bail!(
            "machine file {path:?} is larger than {} MiB",
            BYTES_MAX >> 20
        );
    }
    String::from_utf8(bytes).map_err(|e| {
        anyhow!(
            "machine file {path:?} is not text: byte {} is not UTF-8",
            e.utf8_error().valid_up_to()
        )
    })
}

/// This machine, with the costs from which a team would be planned.
fn this_machine() -> Source {
    let here = corecast_machine::discover();
    let (file, source) = costs::here(&Store::standard(), &here);
    let (costs, note) = match source {
        CostSource::BuiltIn { why } => (
            CostBasis::Assumed,
            format!("{why}: costs by class of proximity from the literature are used instead"),
        ),
        other => (CostBasis::Measured, format!("costs {other}")),
    };
    Source {
        file,
        costs,
        here: Some(here),
        notes: vec![note],
    }
}
