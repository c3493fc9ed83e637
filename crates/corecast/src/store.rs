//! The folder with measured costs and races: `$XDG_CACHE_HOME/corecast` or `~/.cache/corecast`.
//!
//! File names carry the topology's fingerprint, because a home folder is often shared by several
//! machines, and because a changed cpuset or BIOS setting makes old costs meaningless. A file that cannot
//! be read is [`Stored::Unusable`] and no error: old measurements must not keep a program from running.

use std::io;
use std::path::{Path, PathBuf};

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

/// Why nothing was stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The environment names no folder.
    #[error("nowhere to save: set XDG_CACHE_HOME or HOME, or name a file")]
    Nowhere,
    /// The system refused.
    #[error(
        "cannot save in {:?}, set XDG_CACHE_HOME to another folder: {reason}",
        path.display()
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        reason: io::Error,
    },
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

    /// The folder; `None` where the environment names none.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
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

    /// The races of `machine`.
    pub fn profile(&self, machine: &Machine) -> Stored<Profile> {
        load(self.profile_path(machine), |text| {
            let profile = Profile::from_json(text).map_err(|error| error.to_string())?;
            same_machine(machine, &profile.machine_key)?;
            Ok(profile)
        })
    }

    /// Keeps the costs of `file`'s machine; readers see the old file or the new one, never a part.
    ///
    /// A measurement in depth that the old file has is kept, unless `file` has one, because it takes long.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn save_machine(&self, file: &MachineFile) -> Result<PathBuf, StoreError> {
        let path = self.machine_path(file.machine());
        if file.deep().is_some() {
            return keep(path, &file.to_json());
        }
        let earlier = match self.measured(file.machine()) {
            Stored::Found(_, earlier) if earlier.threads() == file.threads() => {
                earlier.deep().cloned()
            }
            _ => None,
        };
        let file = file.clone().with_deep(earlier);
        let file = file.expect("the section was checked when it was read");
        keep(path, &file.to_json())
    }

    /// Keeps the races of `machine`; readers see the old file or the new one, never a part.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn save_profile(
        &self,
        machine: &Machine,
        profile: &Profile,
    ) -> Result<PathBuf, StoreError> {
        keep(self.profile_path(machine), &profile.to_json())
    }
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
    let checked = match std::fs::read_to_string(&path) {
        Ok(text) => read(&text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Stored::Absent,
        Err(error) => Err(error.to_string()),
    };
    match checked {
        Ok(value) => Stored::Found(path, value),
        Err(reason) => Stored::Unusable(format!("{} cannot be used: {reason}", path.display())),
    }
}

/// Writes `text` to a file beside `path` and renames it to `path`.
fn keep(path: Option<PathBuf>, text: &str) -> Result<PathBuf, StoreError> {
    let path = path.ok_or(StoreError::Nowhere)?;
    let folder = path.parent().ok_or(StoreError::Nowhere)?;
    let partial = path.with_extension(format!("{}.partial", std::process::id()));
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&partial, text))
        .and_then(|()| std::fs::rename(&partial, &path));
    match written {
        Ok(()) => Ok(path),
        Err(reason) => Err(StoreError::Write { path, reason }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> MachineFile {
        corecast_model::synthetic("core:2").unwrap()
    }

    #[test]
    fn what_is_kept_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("new"));
        let file = machine();
        assert_eq!(store.measured(file.machine()), Stored::Absent);
        let path = store.save_machine(&file).unwrap();
        assert_eq!(store.measured(file.machine()), Stored::Found(path, file));
    }

    #[test]
    fn a_measurement_in_depth_outlives_new_costs() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        let plain = machine();
        let section = include_str!("../../model/src/deep/example.json");
        let text = plain.to_json();
        let text = text.replacen("\"unit\"", &format!("\"deep\": {section}, \"unit\""), 1);
        let full = MachineFile::from_json(&text).unwrap();
        assert!(full.deep().is_some());
        store.save_machine(&full).unwrap();
        let path = store.save_machine(&plain).unwrap();
        assert_eq!(
            store.measured(plain.machine()),
            Stored::Found(path, full.clone())
        );
    }

    #[test]
    fn garbage_and_foreign_files_are_unusable() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        let file = machine();
        let foreign = Profile::new("another 1p1n2c2t-0".into(), "2026-11-21".into());
        store.save_profile(file.machine(), &foreign).unwrap();
        let Stored::Unusable(reason) = store.profile(file.machine()) else {
            panic!("a foreign profile was taken");
        };
        assert!(
            reason.contains("another machine, \"another 1p1n2c2t-0\""),
            "{reason}"
        );
        std::fs::write(store.machine_path(file.machine()).unwrap(), "{").unwrap();
        let Stored::Unusable(reason) = store.measured(file.machine()) else {
            panic!("garbage was taken");
        };
        assert!(
            reason.contains("cannot be used: not a machine file"),
            "{reason}"
        );
    }

    #[test]
    fn nowhere_is_an_error_with_a_way_out() {
        let store = Store { folder: None };
        let error = store.save_machine(&machine()).unwrap_err().to_string();
        assert!(error.contains("set XDG_CACHE_HOME"), "{error}");
        assert_eq!(store.measured(machine().machine()), Stored::Absent);
    }
}
