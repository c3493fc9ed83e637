//! Starts processes that are one team from their start on, and waits for them.

use std::ffi::OsString;
use std::os::fd::AsRawFd;
use std::process::{Child, Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::Context;
use corecast::record::FOLDER;
use corecast_process::{TEAM_FD, TEAM_RANK, TEAM_SIZE};
use corecast_wire::ending::not_outliving;
use rustix::io::FdFlags;
use rustix::process::{Pid, Signal, kill_process};

use super::children::{Signals, code_of};
use super::waits;
use crate::options::Global;
use crate::team;

/// Time that the other processes have after the first failure.
const GRACE: Duration = Duration::from_secs(10);
/// Time that processes have after they were asked to end; then they are killed.
const LAST_GRACE: Duration = Duration::from_secs(2);

/// What is done with the processes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choices<'a> {
    /// Whether their waits are shown at the end.
    pub(super) explain: bool,
    /// Whether the others run on when one fails.
    pub(super) keep_going: bool,
    /// The PU of each rank, where it is not the builder's own.
    pub(super) cores: Option<&'a str>,
}

pub(super) fn run(
    global: &Global,
    size: usize,
    command: &[OsString],
    Choices {
        explain,
        keep_going,
        cores,
    }: Choices<'_>,
) -> anyhow::Result<ExitCode> {
    team::check_ranks("-n", size)?;
    let folder = explain.then(waits::folder).transpose()?;
    let mut builder = corecast::Builder::new();
    if explain {
        builder = builder.record(true);
    }
    if let Some(cores) = cores {
        builder = builder.cores(cores);
    }
    let fd = builder.found(size)?;
    rustix::io::fcntl_setfd(&fd, FdFlags::empty()).context("cannot hand the team's memory on")?;
    let mut signals = Signals::listen()?;
    let (program, arguments) = command.split_first().expect("clap requires one");
    let mut children = Children(Vec::with_capacity(size));
    for rank in 0..size {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env(TEAM_FD, fd.as_raw_fd().to_string())
            .env(TEAM_RANK, rank.to_string())
            .env(TEAM_SIZE, size.to_string());
        if let Some(folder) = &folder {
            command.env(FOLDER, folder.path());
        }
        let child = not_outliving(&mut command, Signal::TERM).spawn();
        let child = child.with_context(|| format!("cannot start '{}'", program.display()))?;
        children.0.push(child);
    }
    drop(fd);
    let grace = (!keep_going).then_some(GRACE);
    let code = children.wait(&mut signals, grace)?;
    // Those that have not ended would write into a folder that is being read.
    drop(children);
    if let Some(folder) = &folder {
        waits::explain(global, folder.path())?;
    }
    Ok(ExitCode::from(code))
}

/// The team's processes, which are killed when this is dropped.
struct Children(Vec<Child>);

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // An error means that the process has ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Children {
    /// Waits for all processes, and returns the exit code of the first that failed, else 0. The others are asked to end
    /// when `grace` has passed after that.
    fn wait(&mut self, signals: &mut Signals, grace: Option<Duration>) -> anyhow::Result<u8> {
        let (mut code, mut since) = (0, None::<Instant>);
        let mut asked = false;
        let mut pause = Duration::from_micros(200);
        while !self.0.is_empty() {
            let mut refused = None;
            self.0.retain_mut(|child| match child.try_wait() {
                Ok(None) => true,
                Ok(Some(status)) => {
                    if code == 0 && !status.success() {
                        code = code_of(status);
                        since = Some(Instant::now());
                    }
                    false
                }
                Err(error) => {
                    refused = Some(error);
                    true
                }
            });
            if let Some(error) = refused {
                return Err(error).context("cannot wait for a process");
            }
            for came in signals.pending() {
                if let Some(signal) = came.to_hand_on() {
                    self.tell(signal);
                }
                if came.is_end() {
                    since = Some(Instant::now());
                    asked = true;
                }
            }
            match since.map(|since| since.elapsed()) {
                Some(waited) if !asked && grace.is_some_and(|grace| waited > grace) => {
                    self.tell(Signal::TERM);
                    since = Some(Instant::now());
                    asked = true;
                }
                // Processes that are left are killed when this is dropped.
                Some(waited) if asked && waited > LAST_GRACE => break,
                _ => {}
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
        Ok(code)
    }

    fn tell(&self, signal: Signal) {
        for child in &self.0 {
            // An error means that the process has just ended.
            let _ = kill_process(Pid::from_child(child), signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One process fails at once, the other one does this.
    fn wait(grace: Option<Duration>, script: &str) -> (u8, bool) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ended");
        let start = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]).env("ENDED", &file);
            command.spawn().unwrap()
        };
        let mut children = Children(vec![start("exit 3"), start(script)]);
        let code = children.wait(&mut Signals::listen().unwrap(), grace);
        drop(children);
        (code.unwrap(), file.exists())
    }

    #[test]
    fn others_are_stopped_unless_they_shall_go_on() {
        // It would never end by itself, and leaves no child behind.
        let stopped = wait(Some(Duration::ZERO), "exec tail -f /dev/null");
        assert_eq!(stopped, (3, false));
        assert_eq!(wait(None, "sleep 0.2; touch $ENDED"), (3, true));
    }
}
