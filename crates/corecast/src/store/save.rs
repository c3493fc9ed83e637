//! Saves measured costs and races.

use std::fs;
use std::io;
use std::path::PathBuf;

use corecast_model::{Machine, MachineFile, Profile};

use super::version::Version;
use super::{Store, Stored};

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
    /// Keeps the costs of `file`'s machine; readers see the old file or the new one, never a part. With them it keeps what
    /// the kernel says of this host's parts, for the teams of programs that start later.
    ///
    /// A measurement in depth that the old file has is kept, unless `file` has one, because it takes long.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn save_machine(&self, file: &MachineFile) -> Result<PathBuf, StoreError> {
        let path = self.machine_path(file.machine());
        self.save_kernel_texts()?;
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

    /// Keeps the races of `machine`; readers see the old file or the new one, never a part. With them it keeps what teams
    /// read, as [`save_machine`](Self::save_machine).
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn save_profile(
        &self,
        machine: &Machine,
        profile: &Profile,
    ) -> Result<PathBuf, StoreError> {
        let (path, version) = keep_version(self.profile_path(machine), &profile.to_json())?;
        self.save_choices(&version, machine, profile)?;
        self.save_kernel_texts()?;
        Ok(path)
    }
}

/// Writes `text` to a file beside `path` and renames it to `path`.
pub(super) fn keep(path: Option<PathBuf>, text: &str) -> Result<PathBuf, StoreError> {
    keep_version(path, text).map(|(path, _)| path)
}

/// [`keep`], with the version that was written: another process may have written one since.
fn keep_version(path: Option<PathBuf>, text: &str) -> Result<(PathBuf, Version), StoreError> {
    let path = path.ok_or(StoreError::Nowhere)?;
    let folder = path.parent().ok_or(StoreError::Nowhere)?;
    let partial = path.with_extension(format!("{}.partial", std::process::id()));
    let write = || {
        fs::create_dir_all(folder)?;
        fs::write(&partial, text)?;
        let version = Version::of_file(&fs::metadata(&partial)?);
        fs::rename(&partial, &path)?;
        Ok(version)
    };
    match write() {
        Ok(version) => Ok((path, version)),
        Err(reason) => Err(StoreError::Write { path, reason }),
    }
}
