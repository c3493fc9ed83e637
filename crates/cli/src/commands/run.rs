//! `corecast run`: starts processes that are one team from their first line on.

use std::ffi::OsString;
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use anyhow::Context;
use corecast_coll::process::{TEAM_FD, TEAM_RANK, TEAM_SIZE};
use rustix::io::FdFlags;
use rustix::process::{Pid, Signal, kill_process};

use crate::Global;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The program becomes part of the team by `corecast::Builder::inherited`, which finds its rank, the size \
and the team's memory in the environment (CORECAST_TEAM_RANK, _SIZE, _FD).

Exit codes: that of the first process that fails, 128 and the number of its signal if it was killed; 0 \
if all succeed. When one fails the others hear of it at once; who has not ended 10 s later is stopped.")]
pub(crate) struct RunArgs {
    /// Processes, one rank each [default: one for each usable PU]
    #[arg(short = 'n', long, value_name = "N")]
    ranks: Option<usize>,

    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// How long the others have after the first failure.
const GRACE: Duration = Duration::from_secs(10);
/// How long they have after they were asked to end.
const LAST_GRACE: Duration = Duration::from_secs(2);

pub(crate) fn run(global: &Global, args: &RunArgs) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        global.machine.is_none() && !global.json,
        "run starts programs on this machine and prints nothing itself: leave out -i and --json"
    );
    let usable = || corecast_machine::discover().usable.len();
    let size = args.ranks.unwrap_or_else(usable);
    anyhow::ensure!(size > 0, "-n 0: a team has at least one process");
    let fd = corecast::Builder::new().found(size)?;
    rustix::io::fcntl_setfd(&fd, FdFlags::empty()).context("cannot hand the team's memory on")?;
    let (ask, asked) = mpsc::channel();
    // A second signal finds nobody who listens, when all have ended.
    let pass_on = move || {
        let _ = ask.send(());
    };
    ctrlc::set_handler(pass_on).context("cannot pass signals on")?;
    let (program, arguments) = args.program.split_first().expect("clap requires one");
    let mut children = Children(Vec::with_capacity(size));
    for rank in 0..size {
        let child = Command::new(program)
            .args(arguments)
            .env(TEAM_FD, fd.as_raw_fd().to_string())
            .env(TEAM_RANK, rank.to_string())
            .env(TEAM_SIZE, size.to_string())
            .spawn();
        let child = child.with_context(|| format!("cannot start '{}'", program.display()))?;
        children.0.push(child);
    }
    drop(fd);
    Ok(ExitCode::from(children.wait(&asked)?))
}

/// The team's processes. None outlives this.
struct Children(Vec<Child>);

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that has ended already is no failure.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Children {
    /// Waits for all; the exit code of the whole.
    fn wait(&mut self, asked_to: &Receiver<()>) -> anyhow::Result<u8> {
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
            if asked_to.try_recv().is_ok() {
                self.ask();
                since = Some(Instant::now());
                asked = true;
            }
            match since.map(|since| since.elapsed()) {
                Some(waited) if !asked && waited > GRACE => {
                    self.ask();
                    since = Some(Instant::now());
                    asked = true;
                }
                // The rest is killed when this is dropped.
                Some(waited) if asked && waited > LAST_GRACE => break,
                _ => {}
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
        Ok(code)
    }

    /// Asks those that are left to end.
    fn ask(&self) {
        for child in &self.0 {
            // One that has just ended needs no asking.
            let _ = kill_process(Pid::from_child(child), Signal::TERM);
        }
    }
}

/// An exit code as shells give it.
fn code_of(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
