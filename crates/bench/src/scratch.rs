//! Temporary folders that are removed also when the process ends without dropping what it has.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

/// The folders that are there now.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A temporary folder, removed with all that is in it when this is dropped, and by [`remove_all`].
#[derive(Debug)]
pub struct Scratch(TempDir);

impl Scratch {
    /// Makes a folder whose name begins with `prefix`.
    ///
    /// # Errors
    ///
    /// The system's reason why it cannot be made.
    ///
    /// # Examples
    ///
    /// ```
    /// let folder = corecast_bench::scratch::Scratch::new("corecast-example-")?;
    /// assert!(folder.path().is_dir());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn new(prefix: &str) -> io::Result<Scratch> {
        let folder = tempfile::Builder::new().prefix(prefix).tempdir()?;
        lock().push(folder.path().to_owned());
        Ok(Scratch(folder))
    }

    /// Where the folder is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        lock().retain(|path| path != self.0.path());
    }
}

/// Removes all folders at once, for a process that is about to end without dropping their owners.
pub fn remove_all() {
    for path in lock().drain(..) {
        // What cannot be removed stays, as the process has no time left to say so.
        let _ = std::fs::remove_dir_all(path);
    }
}

fn lock() -> MutexGuard<'static, Vec<PathBuf>> {
    // No code that can panic runs under the lock.
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_with_its_owner() {
        let folder = Scratch::new("corecast-test-").unwrap();
        let path = folder.path().to_owned();
        std::fs::write(path.join("file"), "x").unwrap();
        assert!(lock().contains(&path));
        drop(folder);
        assert!(!path.exists() && !lock().contains(&path));
    }
}
