//! Which content a file has, without reading it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// What changes with a file's content, and not when the file is renamed: whoever writes one renames a new file to it.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Version {
    inode: u64,
    /// Seconds and nanoseconds.
    written: (i64, i64),
    bytes: u64,
}

impl Version {
    pub(super) fn of(path: &Path) -> Option<Self> {
        Some(Self::of_file(&std::fs::metadata(path).ok()?))
    }

    pub(super) fn of_file(file: &Metadata) -> Self {
        Self {
            inode: file.ino(),
            written: (file.mtime(), file.mtime_nsec()),
            bytes: file.len(),
        }
    }
}
