//! Where the machine comes from: `-i FILE|builtin:NAME|synthetic:SPEC`, or this machine.

use std::io::Read;

use anyhow::{Context, Result, anyhow, bail};
use corecast::costs::{self, CostSource};
use corecast::store::Store;
use corecast_machine::Discovery;
use corecast_model::{CostBasis, MachineFile, builtin, builtin_names, synthetic};

/// A machine with costs, and how it was come by.
#[derive(Debug)]
pub(crate) struct Source {
    /// The machine and its costs.
    pub(crate) file: MachineFile,
    /// Whose costs these are.
    pub(crate) costs: CostBasis,
    /// What discovery found, where the machine is this one.
    pub(crate) here: Option<Discovery>,
    /// What a reader should know about the machine or its costs, one sentence each.
    pub(crate) notes: Vec<String>,
}

/// Most bytes that are read: beyond the matrices of 4,096 threads nothing is a machine file.
const BYTES_MAX: u64 = 1 << 30;

/// The machine that `text` names; this machine for none.
///
/// # Errors
///
/// What cannot be read or is no valid machine, quoting `text`.
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

/// Whether `text` is a synthetic machine without its prefix, as lstopo takes them.
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

/// What discovery finds here, with the costs that a team would be planned with.
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
