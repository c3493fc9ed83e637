//! Where Corecast keeps what it measured: `$XDG_CACHE_HOME/corecast` or `~/.cache/corecast`.
//!
//! File names carry the topology's fingerprint, because a home folder is often shared by several
//! machines, and because a changed cpuset or BIOS setting makes old costs meaningless.

use std::path::PathBuf;

use corecast_model::{Machine, MachineFile, Profile};

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

/// Reads and checks the file at `path`.
fn load<T>(path: Option<PathBuf>, read: impl FnOnce(&str) -> Result<T, String>) -> Stored<T> {
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
