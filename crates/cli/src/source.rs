//! Opens the machine that a command is about: `-i FILE|builtin:NAME|synthetic:SPEC`, a list of hosts, or this machine.

use std::io::Read;

use anyhow::{Context, Result, anyhow, bail};
use corecast::costs::{self, CostSource};
use corecast::store::Store;
use corecast_machine::Discovery;
use corecast_model::synthetic::synthetic_like;
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
        if is_machine_list(spec) {
            return Ok(given(machine_list(spec)?));
        }
        let file = synthetic(spec).with_context(|| format!("synthetic machine {spec:?}"))?;
        return Ok(given(file));
    }
    if text.starts_with("parts:") {
        bail!(
            "{text:?}: machines of parts are simulated, see corecast sim; they have no costs to plan by"
        );
    }
    let content = read(text)?;
    // What follows # on a line of a machine list is a comment.
    let lines = content
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim());
    let list = lines
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    let file = match is_machine_list(&list) {
        true => machine_list(&list),
        false => MachineFile::from_json(&content).map_err(Into::into),
    };
    Ok(given(
        file.with_context(|| format!("machine file {text:?}"))?,
    ))
}

/// Whether `text` describes a synthetic machine without its prefix, in lstopo's form.
fn is_spec(text: &str) -> bool {
    let levels = ["package:", "numa:", "core:", "pu:"];
    is_machine_list(text) || levels.iter().any(|level| text.starts_with(level))
}

/// Whether `text` lists hosts, as in `hosts: a b c` or `cluster:8 package:2 core:6`.
fn is_machine_list(text: &str) -> bool {
    ["hosts:", "cluster:"]
        .iter()
        .any(|word| text.starts_with(word))
}

/// The machine of a list of hosts. Those of a list without levels are like this machine.
fn machine_list(spec: &str) -> Result<MachineFile> {
    let levels = ["package:", "numa:", "core:", "pu:"];
    let mut words = spec.split_whitespace();
    let given = words.any(|word| levels.iter().any(|level| word.starts_with(level)));
    let file = match given {
        true => synthetic(spec),
        false => synthetic_like(spec, &this_machine().file),
    };
    file.with_context(|| format!("machine list {spec:?}"))
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
