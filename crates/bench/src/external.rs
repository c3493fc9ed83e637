//! Peers that only run as a process of their own.
//!
//! Such a peer is a command that measures itself and prints a line
//!
//! ```text
//! ns_per_op 378.25
//! ```
//!
//! on standard output; everything else it prints is ignored. It is launched
//! once per round, while all threads of the race sleep. It fails by a non-zero
//! exit, by printing no such line, or by taking longer than its limit, upon
//! which its whole process group is killed.

use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Time that one launch may take unless set otherwise.
pub const LIMIT: Duration = Duration::from_secs(20);

/// First word of the line that carries the result.
const KEY: &str = "ns_per_op";

/// A program that measures itself.
#[derive(Clone, Debug)]
pub struct External {
    /// Name in the comparison.
    pub name: String,
    /// How it is set up, as a line that lets others repeat it.
    pub setting: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables set in its environment.
    pub environment: Vec<(String, String)>,
    /// Variables removed from its environment, so that those of the user's
    /// shell do not change the setting that is printed.
    pub environment_removed: Vec<String>,
    /// Time that one launch may take.
    pub limit: Duration,
    home: Option<Arc<TempDir>>,
}

/// Why a launch gave no number.
#[derive(Debug, thiserror::Error)]
pub enum ExternalError {
    /// The program did not start.
    #[error("{program} did not start: {source}")]
    Launch {
        /// The program.
        program: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The program took too long and was killed.
    #[error("not done after {0:?}: killed")]
    TimedOut(Duration),
    /// The program failed.
    #[error("ended with {status}: {stderr}")]
    Failed {
        /// Exit status or signal.
        status: String,
        /// Last line it wrote to standard error.
        stderr: String,
    },
    /// The program ended well and printed no result.
    #[error("printed no line `{KEY} <number>`, but: {0}")]
    NoResult(String),
}

impl External {
    /// A program without arguments and with the default limit.
    pub fn new(
        name: impl Into<String>,
        setting: impl Into<String>,
        program: impl Into<PathBuf>,
    ) -> External {
        External {
            name: name.into(),
            setting: setting.into(),
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            environment_removed: Vec::new(),
            limit: LIMIT,
            home: None,
        }
    }

    /// Keeps the folder that the program lies in until the last clone is gone.
    pub(crate) fn keep(&mut self, home: Arc<TempDir>) {
        self.home = Some(home);
    }

    /// Runs the program once: nanoseconds per operation.
    ///
    /// # Errors
    ///
    /// [`ExternalError`]; no process of the group is left behind.
    pub fn launch(&self) -> Result<f64, ExternalError> {
        let deadline = Instant::now() + self.limit;
        let mut command = Command::new(&self.program);
        for key in &self.environment_removed {
            command.env_remove(key);
        }
        let mut child = command
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(k, v)| (k, v)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|source| ExternalError::Launch {
                program: self.program.display().to_string(),
                source,
            })?;
        // Threads blocked in `read` wake nobody while the peer runs; polling
        // for its end would disturb it.
        let stdout = collect(child.stdout.take());
        let stderr = collect(child.stderr.take());
        let texts = receive(&stdout, deadline).zip(receive(&stderr, deadline));
        let Some((stdout, stderr)) = texts else {
            kill_group(&mut child);
            return Err(ExternalError::TimedOut(self.limit));
        };
        let Some(status) = wait(&mut child, deadline) else {
            kill_group(&mut child);
            return Err(ExternalError::TimedOut(self.limit));
        };
        if !status.success() {
            return Err(ExternalError::Failed {
                status: status.to_string(),
                stderr: last_line(&stderr),
            });
        }
        parse(&stdout).ok_or_else(|| ExternalError::NoResult(last_line(&stdout)))
    }
}

/// The number on the last well-formed result line.
fn parse(stdout: &str) -> Option<f64> {
    let mut numbers = stdout.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let number: f64 = (words.next()? == KEY)
            .then(|| words.next())??
            .parse()
            .ok()?;
        (number.is_finite() && number > 0.0 && words.next().is_none()).then_some(number)
    });
    numbers.next_back()
}

fn last_line(text: &str) -> String {
    let line = text.lines().rfind(|line| !line.trim().is_empty());
    line.map_or("no output".to_owned(), |line| {
        line.trim().chars().take(200).collect()
    })
}

fn collect(stream: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // What arrived before an error is still worth quoting.
            let _ = stream.read_to_end(&mut bytes);
        }
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

fn receive(texts: &Receiver<String>, deadline: Instant) -> Option<String> {
    let left = deadline.saturating_duration_since(Instant::now());
    texts.recv_timeout(left).ok()
}

/// Waits for a child that has closed its output and so is about to end.
fn wait(child: &mut Child, deadline: Instant) -> Option<std::process::ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_micros(200)),
            Ok(None) | Err(_) => return None,
        }
    }
}

fn kill_group(child: &mut Child) {
    // The child is not reaped yet, so its number, which is the group's, cannot
    // have passed to another process. Both calls fail only if it has ended.
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_found_among_other_lines() {
        assert_eq!(parse("hello\n ns_per_op 12.5\n"), Some(12.5));
        assert_eq!(parse("ns_per_op 1\nns_per_op 2e3"), Some(2000.0));
        for bad in [
            "",
            "ns_per_op",
            "ns_per_op x",
            "ns_per_op nan",
            "ns_per_op inf",
            "ns_per_op -3",
            "ns_per_op 0",
            "ns_per_op 3 4",
            "ns_per_op: 3",
            "12.5",
        ] {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn quoted_output_is_short() {
        assert_eq!(last_line("a\nb \n\n"), "b");
        assert_eq!(last_line(" \n"), "no output");
        assert_eq!(last_line(&"x".repeat(999)).len(), 200);
    }
}
