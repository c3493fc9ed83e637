//! `--explain`: runs the program as a child, and shows at its end how long its threads waited.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use corecast::record::FOLDER;
use corecast_wire::ending::not_outliving;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::children::{Signals, code_of};
use super::waits;
use crate::Global;

/// Runs the program to its end. The inner error means that it could not be started.
pub(super) fn run(global: &Global, mut command: Command) -> Result<std::io::Result<ExitCode>> {
    let folder = waits::folder()?;
    command.env(FOLDER, folder.path());
    let mut signals = Signals::listen()?;
    let mut child = match not_outliving(&mut command, Signal::TERM).spawn() {
        Ok(child) => child,
        Err(error) => return Ok(Err(error)),
    };
    // A descriptor is safe where a process id is not: the id may be reused once the program has ended.
    let handle = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())
        .context("cannot watch the program")?;
    std::thread::spawn(move || {
        for signal in signals.forever().filter_map(|came| came.to_hand_on()) {
            // An error means that the program has ended.
            let _ = pidfd_send_signal(&handle, signal);
        }
    });
    let status = child.wait().context("cannot wait for the program")?;
    waits::explain(global, folder.path())?;
    Ok(Ok(ExitCode::from(code_of(status))))
}
