//! Where Corecast keeps what it measured: `$XDG_CACHE_HOME/corecast` or `~/.cache/corecast`.
//!
//! File names carry the topology's fingerprint, because a home folder is often shared by several
//! machines, and because a changed cpuset or BIOS setting makes old costs meaningless.

use std::path::PathBuf;

use anyhow::{Context, Result};
use corecast_model::{Machine, MachineFile, Profile, default_costs_for};

/// The folder; `None` where neither variable is set.
fn folder() -> Option<PathBuf> {
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|p| p.is_absolute())
    };
    let cache =
        absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("corecast"))
}

/// The file with the costs of `machine`.
pub(crate) fn machine_path(machine: &Machine) -> Option<PathBuf> {
    folder().map(|f| f.join(format!("machine-{}.json", machine.fingerprint())))
}

/// The file with what was raced on `machine`.
pub(crate) fn profile_path(machine: &Machine) -> Option<PathBuf> {
    folder().map(|f| f.join(format!("profile-{}.json", machine.fingerprint())))
}

/// A stored file: there, absent, or unusable with the reason.
#[derive(Debug)]
pub(crate) enum Stored<T> {
    /// Read and valid.
    Found(PathBuf, T),
    /// No such file.
    Absent,
    /// There, but it cannot be used; one sentence.
    Unusable(String),
}

/// The costs that were measured on `machine`.
pub(crate) fn measured(machine: &Machine) -> Stored<MachineFile> {
    let key = corecast_model::profile::machine_key(machine);
    load(machine_path(machine), |text| {
        let file = MachineFile::from_json(text).map_err(|e| e.to_string())?;
        let found = corecast_model::profile::machine_key(file.machine());
        if found == key {
            Ok(file)
        } else {
            Err(format!("it is about another machine, {found:?}"))
        }
    })
}

/// What was raced on `machine`.
pub(crate) fn profile(machine: &Machine) -> Stored<Profile> {
    let key = corecast_model::profile::machine_key(machine);
    load(profile_path(machine), |text| {
        let profile = Profile::from_json(text).map_err(|e| e.to_string())?;
        if profile.machine_key == key {
            Ok(profile)
        } else {
            Err(format!(
                "it is about another machine, {:?}",
                profile.machine_key
            ))
        }
    })
}

/// Keeps `text` as the costs of `machine`; readers see the old file or the new one, never a part.
///
/// # Errors
///
/// No folder to keep it in, or one that cannot be written.
pub(crate) fn save_machine(machine: &Machine, text: &str) -> Result<PathBuf> {
    keep(machine_path(machine), text)
}

/// Keeps `text` as the races of `machine`.
///
/// # Errors
///
/// As [`save_machine`].
pub(crate) fn save_profile(machine: &Machine, text: &str) -> Result<PathBuf> {
    keep(profile_path(machine), text)
}

/// Writes `text` beside `path` and moves it there.
fn keep(path: Option<PathBuf>, text: &str) -> Result<PathBuf> {
    let path = path.context("nowhere to save: set XDG_CACHE_HOME or HOME, or name a file")?;
    let partial = path.with_extension(format!("{}.partial", std::process::id()));
    let folder = path.parent().context("the path has a folder")?;
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&partial, text))
        .and_then(|()| std::fs::rename(&partial, &path))
        .with_context(|| {
            format!(
                "cannot save in {:?}, set XDG_CACHE_HOME to another folder",
                path.display()
            )
        })?;
    Ok(path)
}

/// `machine` with the literature's costs, for want of its own.
///
/// # Errors
///
/// A machine that is not valid.
pub(crate) fn assumed(machine: &Machine) -> Result<MachineFile> {
    MachineFile::of_whole(machine.clone(), default_costs_for(machine)).context("this machine")
}

/// Reads and checks the file at `path`.
fn load<T>(
    path: Option<PathBuf>,
    read: impl FnOnce(&str) -> std::result::Result<T, String>,
) -> Stored<T> {
    let Some(path) = path else {
        return Stored::Absent;
    };
    let checked = match std::fs::read_to_string(&path) {
        Ok(text) => read(&text),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Stored::Absent,
        Err(e) => Err(e.to_string()),
    };
    match checked {
        Ok(value) => Stored::Found(path, value),
        Err(reason) => Stored::Unusable(format!("{} cannot be used: {reason}", path.display())),
    }
}
