//! What passes between this command and what it starts: signals one way, exit codes the other.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use anyhow::{Context, Result};
use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};

/// An exit code as shells give it.
pub(super) fn code_of(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// The signals that have come to this command.
pub(super) struct Signals(SignalsInfo<WithOrigin>);

/// One signal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Came {
    signal: i32,
    /// A terminal sends its own to all of its programs.
    is_for_all: bool,
}

impl Signals {
    /// Listens from now on.
    pub(super) fn listen() -> Result<Self> {
        let all = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];
        let signals = SignalsInfo::new(all).context("cannot pass signals on")?;
        Ok(Self(signals))
    }

    pub(super) fn pending(&mut self) -> impl Iterator<Item = Came> {
        self.0.pending().map(Came::of)
    }

    /// Waits for one after the other.
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

    /// The signal, if others have to be told.
    pub(super) fn to_hand_on(self) -> Option<Signal> {
        Signal::from_named_raw(self.signal).filter(|_| !self.is_for_all)
    }

    /// Whether it asks to end.
    pub(super) fn is_end(self) -> bool {
        ![SIGUSR1, SIGUSR2].contains(&self.signal)
    }
}
