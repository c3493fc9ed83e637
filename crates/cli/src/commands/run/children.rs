//! Passes signals to the processes that this command starts, and their exit codes back.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use anyhow::{Context, Result};
use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};

/// The exit code that a shell would report: the program's, or 128 and the number of the signal that killed it.
pub(super) fn code_of(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// The signals that this command receives.
pub(super) struct Signals(SignalsInfo<WithOrigin>);

/// One received signal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Came {
    signal: i32,
    /// Whether the kernel sent it, as for a terminal, which signals all of its processes.
    is_for_all: bool,
}

impl Signals {
    /// Begins to collect signals.
    pub(super) fn listen() -> Result<Self> {
        let all = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];
        let signals = SignalsInfo::new(all).context("cannot pass signals on")?;
        Ok(Self(signals))
    }

    pub(super) fn pending(&mut self) -> impl Iterator<Item = Came> {
        self.0.pending().map(Came::of)
    }

    /// An endless iterator that blocks until the next signal.
    pub(super) fn forever(&mut self) -> impl Iterator<Item = Came> {
        self.0.forever().map(Came::of)
    }
}

impl Came {
    fn of(origin: Origin) -> Self {
        Self {
            signal: origin.signal,
            is_for_all: origin.cause == Cause::Kernel,
        }
    }

    /// The signal, if it has to be passed on; `None` if the children have received it too.
    pub(super) fn to_hand_on(self) -> Option<Signal> {
        Signal::from_named_raw(self.signal).filter(|_| !self.is_for_all)
    }

    /// Whether the signal asks this command to end.
    pub(super) fn is_end(self) -> bool {
        ![SIGUSR1, SIGUSR2].contains(&self.signal)
    }
}
