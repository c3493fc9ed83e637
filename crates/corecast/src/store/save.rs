//! Saves measured costs and races.

use std::io;
use std::path::PathBuf;

use corecast_model::{Machine, MachineFile, Profile};

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
