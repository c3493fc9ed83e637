//! How the ranks of a session are started.

use std::ffi::OsString;
use std::path::PathBuf;

/// The argument that stands for the path of the session's folder.
pub const FOLDER: &str = "{folder}";

/// How to start the ranks.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The starter.
    pub program: PathBuf,
    /// Its arguments; one that is [`FOLDER`] becomes the folder's path.
    pub arguments: Vec<OsString>,
    /// Variables set in its environment.
    pub environment: Vec<(String, String)>,
    /// Variables removed from its environment.
    pub environment_removed: Vec<String>,
    /// Number of ranks.
    pub ranks: usize,
    /// Whether ranks share hardware threads.
    pub oversubscribed: bool,
}
