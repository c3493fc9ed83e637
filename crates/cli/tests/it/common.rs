//! Runs the built command, and reads its output.

use crate::references::machine_database;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs the command with an empty cache folder, so that it finds no earlier measurement.
pub(crate) fn corecast(args: &[&str]) -> Run {
    corecast_in(Path::new("/nonexistent/corecast-tests"), args)
}

/// Runs the command with `cache` as its cache folder.
pub(crate) fn corecast_in(cache: &Path, args: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_corecast"))
        .args(args)
        .env("XDG_CACHE_HOME", cache)
        .env_remove("CLICOLOR_FORCE")
        .output()
        .expect("the command was built");
    Run {
        args: args.iter().map(ToString::to_string).collect(),
        output,
    }
}

/// One finished run.
pub(crate) struct Run {
    args: Vec<String>,
    pub(crate) output: Output,
}

impl Run {
    /// Standard output of a run that must have succeeded with nothing on standard error.
    pub(crate) fn text(&self) -> String {
        assert_eq!(
            self.output.status.code(),
            Some(0),
            "{:?}: {}",
            self.args,
            self.stderr()
        );
        assert_eq!(self.stderr(), "", "{:?}", self.args);
        String::from_utf8(self.output.stdout.clone()).expect("output is text")
    }

    /// Standard output as JSON, which must be one line with a schema version.
    pub(crate) fn json(&self) -> serde_json::Value {
        let text = self.text();
        assert_eq!(
            text.matches('\n').count(),
            1,
            "{:?}: one line, not {text}",
            self.args
        );
        let value: serde_json::Value = serde_json::from_str(&text).expect("output is JSON");
        assert_eq!(value["schema"], 1, "{:?}", self.args);
        value
    }

    /// The one line on standard error of a run that must have refused its input.
    pub(crate) fn refusal(&self) -> String {
        let line = self.stderr();
        assert_eq!(
            self.output.status.code(),
            Some(2),
            "{:?}: {line}",
            self.args
        );
        assert_eq!(
            line.matches('\n').count(),
            1,
            "{:?}: one line, not {line:?}",
            self.args
        );
        assert!(line.starts_with("corecast: "), "{line}");
        assert!(
            self.output.stdout.is_empty(),
            "{:?}: nothing on standard output",
            self.args
        );
        assert!(!line.trim_end().chars().any(char::is_control), "{line:?}");
        line
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }
}

/// A file of Smelt's public machine database; `None`, with a message, where this checkout has
/// none beside it.
pub(crate) fn database(name: &str) -> Option<PathBuf> {
    let path = machine_database()?.join(name);
    assert!(path.exists(), "{}", path.display());
    Some(path)
}

/// A valid machine file of two threads in two NUMA nodes, numbered 2 and 5.
pub(crate) const TWO_THREADS: &str = r#"{"schema":1,"machine":{"name":"m","pus":[
  {"os_index":2,"package":0,"numa_node":0,"numa_os_index":0,"core":0},
  {"os_index":5,"package":0,"numa_node":1,"numa_os_index":3,"core":1}]},
  "threads":[5,2],"unit":"ns","send":[[0,60],[55,0]],"receive":[[0,220],[210,0]]}"#;

/// Writes `content` to `name` in `folder`.
pub(crate) fn file(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content).expect("the folder is writable");
    path.to_str().expect("its name is text").to_owned()
}
