//! The end of a process: whether it was asked to end, and children that do not outlive it.
//!
//! Whoever listens to signals calls [`ask`]; measurements look at [`is_asked`] between two steps, stop there, and
//! return what they have. Nothing that waits in a collective looks at it.

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// When this process was asked to end.
static ASKED: OnceLock<Instant> = OnceLock::new();

/// Asks this process to end with what it has. There is no way back.
pub fn ask() {
    // An error means that it was asked before.
    let _ = ASKED.set(Instant::now());
}

/// Whether this process was asked to end.
///
/// # Cost
///
/// One load of a line that is written once.
///
/// # Examples
///
/// ```
/// assert!(!corecast_wire::ending::is_asked());
/// ```
#[must_use]
pub fn is_asked() -> bool {
    ASKED.get().is_some()
}

/// The time since this process was asked to end; `None` if it was not.
///
/// # Examples
///
/// ```
/// assert_eq!(corecast_wire::ending::since_asked(), None);
/// ```
#[must_use]
pub fn since_asked() -> Option<Duration> {
    ASKED.get().map(Instant::elapsed)
}

/// Has `run` called when this process ends by `exit` or by returning from `main`, but not by a signal or `_exit`; returns
/// whether that was possible. The functions of a library that is unloaded are called then. A forked process calls `run`
/// as well.
///
/// # Examples
///
/// ```
/// extern "C" fn last_words() {
///     println!("that was all");
/// }
/// assert!(corecast_wire::ending::at_exit(last_words));
/// ```
pub fn at_exit(run: extern "C" fn()) -> bool {
    // SAFETY: the function takes and gives nothing, and the C library drops it with the code that it is in.
    unsafe { libc::atexit(run) == 0 }
}

/// Has the kernel send `signal` to the process that `command` starts when this one ends, however it ends.
///
/// The kernel looks at the thread that starts the process, so that thread has to live as long as the process may. A
/// program that changes its user at its start is not signalled.
///
/// # Examples
///
/// ```
/// use corecast_wire::ending::not_outliving;
/// use std::process::Command;
///
/// let mut command = Command::new("true");
/// let status = not_outliving(&mut command, rustix::process::Signal::KILL).status()?;
/// assert!(status.success());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn not_outliving(command: &mut Command, signal: Signal) -> &mut Command {
    let parent = getpid();
    let before_exec = move || {
        set_parent_process_death_signal(Some(signal))?;
        // A parent that ended before this call sends no signal, and another process has taken its place.
        match getppid() == Some(parent) {
            true => Ok(()),
            false => Err(rustix::io::Errno::SRCH.into()),
        }
    };
    // SAFETY: between fork and exec only what is safe in a signal handler may be called, since other threads may have
    // held locks at the fork. The closure makes two bare system calls, and its error is a number without memory.
    unsafe { command.pre_exec(before_exec) }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    /// The kernel watches the thread that starts a process, which stands here for a process that is killed.
    #[test]
    fn a_process_ends_with_the_thread_that_started_it() {
        let mut command = Command::new("sleep");
        command.arg("1000");
        let start = || not_outliving(&mut command, Signal::TERM).spawn().unwrap();
        let mut child = std::thread::scope(|scope| scope.spawn(start).join().unwrap());
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), Some(Signal::TERM.as_raw()));
    }
}
