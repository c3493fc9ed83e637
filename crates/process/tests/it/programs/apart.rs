//! This program again, as other processes that play a part each.

use rustix::process::{Signal, kill_process, set_parent_process_death_signal};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const PART: &str = "CORECAST_TEST_PART";

/// The words of the part that this process plays, if it was started by [`Apart::start`].
pub(crate) fn part() -> Option<Vec<String>> {
    let part = std::env::var(PART).ok()?;
    // The kernel kills this process if the test that started it ends.
    set_parent_process_death_signal(Some(Signal::KILL)).unwrap();
    Some(part.split(' ').map(str::to_owned).collect())
}

/// Another process, which is killed when this is dropped if it still runs.
pub(crate) struct Apart {
    child: Child,
    out: BufReader<ChildStdout>,
    heard: String,
}

impl Drop for Apart {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("another process: {}", self.complaint());
        }
    }
}

impl Apart {
    pub(crate) fn start(part: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "programs::part",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(PART, part)
            .env("RUST_BACKTRACE", "0")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            out,
            heard: String::new(),
        }
    }

    /// Reads until the process prints a line that begins with `word`, and returns the rest of the
    /// line; `None` if the process ends before.
    pub(crate) fn may_say(&mut self, word: &str) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.out.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            self.heard += &line;
            if let Some(rest) = line.strip_prefix(word) {
                return Some(rest.trim().to_owned());
            }
        }
    }

    /// Does what [`may_say`](Self::may_say) does, for a process that must print the line.
    #[track_caller]
    pub(crate) fn says(&mut self, word: &str) -> String {
        self.may_say(word).unwrap_or_else(|| {
            let complained = self.complaint();
            panic!("ended before it said {word}: {}{complained}", self.heard)
        })
    }

    fn complaint(&mut self) -> String {
        let mut text = String::new();
        let _ = self
            .child
            .stderr
            .take()
            .map(|mut it| it.read_to_string(&mut text));
        text
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(rustix::process::Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the end of the process, with any status.
    pub(crate) fn ends(mut self) {
        self.child.wait().unwrap();
    }

    /// Waits until the process ends, which it must do with success within `limit`.
    #[track_caller]
    pub(crate) fn ends_well(mut self, limit: Duration) {
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if begin.elapsed() > limit {
                self.child.kill().unwrap();
                panic!("no end after {limit:?}: {}", self.complaint());
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let complained = self.complaint();
        assert!(status.success(), "{status}: {complained}");
    }
}

/// Nanoseconds of a clock that all processes share.
pub(crate) fn clock_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
