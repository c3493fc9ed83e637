//! Peers that only run as a process of their own.
//!
//! Such a peer is a command that measures itself and prints a line
//!
//! ```text
//! ns_per_op 378.25
//! ```
//!
//! on standard output. It may also print how many operations it timed, and the mean, the least and
//! the most of the times that its ranks saw, in nanoseconds per operation:
//!
//! ```text
//! operations 5288
//! rank_ns 371.5 370.25 372.75
//! ```
//!
//! Everything else it prints is ignored. It is launched
//! once per round, while all threads of the race sleep. It fails by a non-zero
//! exit, by printing no result, or by taking longer than its limit, upon
//! which its whole process group is killed.

use crate::scratch::Scratch;
use crate::sized::RankTimes;
use corecast_wire::ending;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Time that one launch may take unless set otherwise.
pub const LIMIT: Duration = Duration::from_secs(20);

/// How often a wait for a program looks whether this process was asked to end: seldom enough not to disturb it.
const LOOK: Duration = Duration::from_millis(100);

/// Time that a program has to end after it was asked to.
const FAREWELL: Duration = Duration::from_millis(200);

/// Time that a program that builds something may take.
const BUILD_LIMIT: Duration = Duration::from_secs(600);

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
    /// Format of what it prints.
    pub print: Print,
    home: Option<Arc<Scratch>>,
}

/// Format of what a program prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Print {
    /// Lines of a key and its values, as the module's documentation shows.
    Keys,
    /// A table of times in nanoseconds, separated by commas, of which the mean counts. The number
    /// says how many operations each time comes from.
    Matrix(u64),
}

/// Result of one launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Nanoseconds per operation, the slowest rank's.
    pub ns: f64,
    /// Number of operations timed, 0 if the program does not say.
    pub operations: u64,
    /// Times that the ranks saw, if the program says.
    pub rank_times: Option<RankTimes>,
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
    /// This process was asked to end, and the program was killed.
    #[error("interrupted")]
    Interrupted,
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
            print: Print::Keys,
            home: None,
        }
    }

    /// Keeps the folder that the program lies in until the last clone is gone.
    pub(crate) fn keep(&mut self, home: Arc<Scratch>) {
        self.home = Some(home);
    }

    /// Runs the program once and returns all that it says.
    ///
    /// # Errors
    ///
    /// [`ExternalError`]; no process of the group is left behind.
    pub fn measure(&self) -> Result<Measured, ExternalError> {
        let deadline = Instant::now() + self.limit;
        let mut command = Command::new(&self.program);
        for key in &self.environment_removed {
            command.env_remove(key);
        }
        command
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(k, v)| (k, v)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = ending::not_outliving(&mut command, Signal::TERM)
            .spawn()
            .map_err(|source| ExternalError::Launch {
                program: self.program.display().to_string(),
                source,
            })?;
        // Threads blocked in `read` use no CPU while the peer runs; polling
        // for its end would disturb it.
        let stdout = collect(child.stdout.take());
        let stderr = collect(child.stderr.take());
        let texts = receive(&stdout, deadline).zip(receive(&stderr, deadline));
        let Some((stdout, stderr)) = texts else {
            kill_group(&mut child);
            return Err(match ending::is_asked() {
                true => ExternalError::Interrupted,
                false => ExternalError::TimedOut(self.limit),
            });
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
        let found = match self.print {
            Print::Keys => parse(&stdout),
            Print::Matrix(of_one) => matrix(&stdout, of_one),
        };
        found.ok_or_else(|| ExternalError::NoResult(last_line(&stdout)))
    }
}

/// Reads the last well-formed line of each key; `None` if there is no result.
fn parse(stdout: &str) -> Option<Measured> {
    let rank_times = numbers(stdout, "rank_ns").map(|[average, min, max]| RankTimes {
        average,
        min,
        max,
        start_spread: None,
    });
    let [ns] = numbers(stdout, KEY)?;
    Some(Measured {
        ns,
        operations: numbers(stdout, "operations").map_or(0, |[many]| many as u64),
        rank_times,
    })
}

/// The numbers on the last line that has this key and exactly `N` positive numbers.
fn numbers<const N: usize>(stdout: &str, key: &str) -> Option<[f64; N]> {
    let mut lines = stdout.lines().filter_map(|line| {
        let (first, rest) = line.trim().split_once(char::is_whitespace)?;
        let numbers = rest.split_ascii_whitespace().map(number);
        let numbers = (first == key).then(|| numbers.collect::<Option<Vec<f64>>>())??;
        numbers.try_into().ok()
    });
    lines.next_back()
}

fn number(word: &str) -> Option<f64> {
    let number: f64 = word.parse().ok()?;
    (number.is_finite() && number > 0.0).then_some(number)
}

/// The mean of all positive numbers of a table.
fn matrix(stdout: &str, of_one: u64) -> Option<Measured> {
    let numbers: Vec<f64> = stdout
        .split([',', '\n'])
        .filter_map(|word| number(word.trim()))
        .collect();
    (!numbers.is_empty()).then(|| Measured {
        ns: numbers.iter().sum::<f64>() / numbers.len() as f64,
        operations: of_one * numbers.len() as u64,
        rank_times: None,
    })
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

/// The text, unless the deadline passes or this process is asked to end before it has come.
fn receive(texts: &Receiver<String>, deadline: Instant) -> Option<String> {
    while !ending::is_asked() {
        let left = deadline.saturating_duration_since(Instant::now());
        match texts.recv_timeout(left.min(LOOK)) {
            Ok(text) => return Some(text),
            Err(RecvTimeoutError::Timeout) if left > LOOK => {}
            Err(_) => return None,
        }
    }
    None
}

/// Runs a program that builds something, and returns how it ended and what it wrote to standard error; `None` if this
/// process was asked to end before, which ends the program and all that it started.
///
/// # Errors
///
/// The program cannot be started, or is still there long after any compiler would have ended.
pub(crate) fn finish(command: &mut Command) -> io::Result<Option<(ExitStatus, String)>> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0);
    let mut child = ending::not_outliving(command, Signal::TERM).spawn()?;
    let said = collect(child.stderr.take());
    let deadline = Instant::now() + BUILD_LIMIT;
    if let Some(said) = receive(&said, deadline)
        && let Some(status) = wait(&mut child, deadline)
    {
        return Ok(Some((status, said)));
    }
    kill_group(&mut child);
    match ending::is_asked() {
        true => Ok(None),
        false => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// Waits for a child that has closed its output and so is about to end.
fn wait(child: &mut Child, deadline: Instant) -> Option<ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_micros(200)),
            Ok(None) | Err(_) => return None,
        }
    }
}

/// Ends the program and all processes of its group: it may first remove what it has in `/dev/shm`.
fn kill_group(child: &mut Child) {
    // The child is not reaped yet, so its number, which is the group's, cannot
    // have passed to another process. Both calls fail only if it has ended.
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        let _ = kill_process_group(group, Signal::TERM);
        // The child stays unreaped, so that the second signal meets the same group.
        let deadline = Instant::now() + FAREWELL;
        while Instant::now() < deadline && !has_ended(group) {
            thread::sleep(Duration::from_millis(1));
        }
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}

/// Whether a child has ended; it stays unreaped.
fn has_ended(pid: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(pid), options).is_ok_and(|status| status.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_found_among_other_lines() {
        let ns = |text| parse(text).map(|found| found.ns);
        assert_eq!(ns("hello\n ns_per_op 12.5\n"), Some(12.5));
        assert_eq!(ns("ns_per_op 1\nns_per_op 2e3"), Some(2000.0));
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
    fn what_each_rank_saw_is_read_too() {
        let found = parse("operations 40\nrank_ns 3 2 4\nns_per_op 5\n").unwrap();
        assert_eq!(found.operations, 40);
        let times = found.rank_times.unwrap();
        assert_eq!((times.average, times.min, times.max), (3.0, 2.0, 4.0));
        assert_eq!(
            parse("ns_per_op 5\nrank_ns 3 2\n").unwrap().rank_times,
            None
        );
    }

    #[test]
    fn tables_count_by_their_mean() {
        let found = matrix(",,\n50.5,,\n60.5,x,\n", 10).unwrap();
        assert_eq!((found.ns, found.operations), (55.5, 20));
        assert_eq!(matrix("NaN,\n,0\n", 10), None);
    }

    #[test]
    fn quoted_output_is_short() {
        assert_eq!(last_line("a\nb \n\n"), "b");
        assert_eq!(last_line(" \n"), "no output");
        assert_eq!(last_line(&"x".repeat(999)).len(), 200);
    }
}
