//! The user's own store, as the commands use it.

use std::path::PathBuf;

use anyhow::Result;
use corecast::store::Store;
pub(crate) use corecast::store::Stored;
use corecast_model::{Machine, MachineFile, Profile};

/// What was raced on `machine`.
pub(crate) fn profile(machine: &Machine) -> Stored<Profile> {
    Store::standard().profile(machine)
}

/// Keeps the costs in `text`, a machine file.
pub(crate) fn save_machine(_: &Machine, text: &str) -> Result<PathBuf> {
    Ok(Store::standard().save_machine(&MachineFile::from_json(text)?)?)
}

/// Keeps the races in `text`, a profile of `machine`.
pub(crate) fn save_profile(machine: &Machine, text: &str) -> Result<PathBuf> {
    Ok(Store::standard().save_profile(machine, &Profile::from_json(text)?)?)
}

/// `machine` with the literature's costs.
pub(crate) fn assumed(machine: &Machine) -> Result<MachineFile> {
    Ok(corecast::costs::built_in(machine))
}
