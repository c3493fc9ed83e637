//! The folder with measured costs and races: `$XDG_CACHE_HOME/corecast` or `~/.cache/corecast`.
//!
//! File names carry the topology's fingerprint, because a home folder is often shared by several
//! machines, and because a changed cpuset or BIOS setting makes old costs meaningless. A file that cannot
//! be read is [`Stored::Unusable`] and no error: old measurements must not keep a program from running.

mod choices;
mod kernel_texts;
mod save;
#[cfg(test)]
mod tests;
mod version;

pub use save::StoreError;

use std::io;
use std::path::PathBuf;

use corecast_model::cluster::Cluster;
use corecast_model::profile::machine_key;
use corecast_model::{Machine, MachineFile, Profile};

/// A folder of machine files and profiles.
///
/// # Examples
///
/// ```
/// use corecast::store::{Store, Stored};
///
/// let here = corecast::machine::discover().machine;
/// match Store::standard().profile(&here) {
///     Stored::Found(path, profile) => println!("{}: {}", path.display(), profile.created),
///     Stored::Absent => println!("nothing was raced here yet"),
///     Stored::Unusable(reason) => println!("{reason}"),
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    folder: Option<PathBuf>,
}

/// The result of reading a stored file.
#[derive(Clone, Debug, PartialEq)]
pub enum Stored<T> {
    /// The file is valid.
    Found(PathBuf, T),
    /// There is no such file.
    Absent,
    /// The file cannot be used; the sentence names it and the reason.
    Unusable(String),
}

impl<T> Stored<T> {
    pub(crate) fn map<U>(self, other: impl FnOnce(T) -> U) -> Stored<U> {
        match self {
            Self::Found(path, value) => Stored::Found(path, other(value)),
            Self::Absent => Stored::Absent,
            Self::Unusable(reason) => Stored::Unusable(reason),
        }
    }
}

impl Store {
    /// The user's own folder: `$XDG_CACHE_HOME/corecast`, else `$HOME/.cache/corecast`. If neither is an
    /// absolute path, nothing is found and nothing can be saved.
    pub fn standard() -> Self {
        let absolute = |name: &str| {
            std::env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let cache =
            absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
        Self {
            folder: cache.map(|cache| cache.join("corecast")),
        }
    }

    /// The files directly in `folder`, which is made when something is saved.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: Some(folder.into()),
        }
    }

    /// The file with the costs of `machine`.
    pub fn machine_path(&self, machine: &Machine) -> Option<PathBuf> {
        self.path("machine", machine)
    }

    /// The file with the races of `machine`.
    pub fn profile_path(&self, machine: &Machine) -> Option<PathBuf> {
        self.path("profile", machine)
    }

    fn path(&self, what: &str, machine: &Machine) -> Option<PathBuf> {
        let name = format!("{what}-{}.json", machine.fingerprint());
        Some(self.folder.as_ref()?.join(name))
    }

    /// The costs that were measured on `machine`.
    pub fn measured(&self, machine: &Machine) -> Stored<MachineFile> {
        load(self.machine_path(machine), |text| {
            let file = MachineFile::from_json(text).map_err(|error| error.to_string())?;
            same_machine(machine, &machine_key(file.machine()))?;
            Ok(file)
        })
    }

    /// The newest costs of a network between hosts of which one has this name. What cannot be read is passed over.
    pub fn network_of(&self, host: &str) -> Option<(PathBuf, Cluster)> {
        let entries = std::fs::read_dir(self.folder.as_ref()?).ok()?;
        let found = entries.filter_map(|entry| {
            let path = entry.ok()?.path();
            let name = path.file_name()?.to_str()?;
            if !name.starts_with("machine-") || !name.ends_with(".json") {
                return None;
            }
            let file = MachineFile::from_json(&std::fs::read_to_string(&path).ok()?).ok()?;
            let cluster = file.cluster()?.clone();
            let written = std::fs::metadata(&path).and_then(|data| data.modified());
            let is_there = cluster.hosts.iter().any(|known| known.name == host);
            is_there.then_some((written.ok()?, path, cluster))
        });
        let newest = found.max_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        newest.map(|(_, path, cluster)| (path, cluster))
    }

    /// The races of `machine`.
    pub fn profile(&self, machine: &Machine) -> Stored<Profile> {
        load(self.profile_path(machine), |text| profile_of(machine, text))
    }
}

fn profile_of(machine: &Machine, text: &str) -> Result<Profile, String> {
    let profile = Profile::from_json(text).map_err(|error| error.to_string())?;
    same_machine(machine, &profile.machine_key)?;
    Ok(profile)
}

fn same_machine(machine: &Machine, found: &str) -> Result<(), String> {
    if found == machine_key(machine) {
        Ok(())
    } else {
        Err(format!("it is about another machine, {found:?}"))
    }
}

/// Reads and checks the file at `path`.
fn load<T>(path: Option<PathBuf>, read: impl FnOnce(&str) -> Result<T, String>) -> Stored<T> {
    let Some(path) = path else {
        return Stored::Absent;
    };
    use io::ErrorKind::{NotADirectory, NotFound};
    let checked = match std::fs::read_to_string(&path) {
        Ok(text) => read(&text),
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => return Stored::Absent,
        Err(error) => Err(error.to_string()),
    };
    match checked {
        Ok(value) => Stored::Found(path, value),
        Err(reason) => Stored::Unusable(format!("{} cannot be used: {reason}", path.display())),
    }
}
