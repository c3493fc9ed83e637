//! Ctrl-C and its relatives: the first one ends what is measured or searched with the results so far, the second one
//! ends the process.
//!
//! Only commands that have results so far listen. All others end at once, by the signal itself, and `run` leaves
//! signals to the program that it starts.

use std::process::ExitCode;
use std::sync::{Once, OnceLock};
use std::time::Duration;

use corecast_bench::scratch;
use corecast_wire::ending;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::failure;

/// The first signal that asked this process to end.
static INTERRUPTED: OnceLock<i32> = OnceLock::new();

/// Time in which a command ends after the first signal: what is under way looks many times a second whether it shall. One
/// that has not says why, since only the user knows whether its results are worth the wait.
const PROMISED: Duration = Duration::from_secs(1);

/// Time after the first signal at which a command is stopped without its results. Where a machine is busy with other things,
/// ranks of a race that take turns on a core need seconds for the batch or the check that they are in, and none of them can
/// leave it alone. Containers are killed 10 s after the signal, and what is left then is not cleaned up.
const LAST: Duration = Duration::from_secs(5);

/// Begins to listen: the first signal is remembered, and the second one ends the process.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // If the handler cannot be installed, the first signal ends the process.
        let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else {
            return;
        };
        std::thread::spawn(move || {
            for signal in signals.forever() {
                if INTERRUPTED.set(signal).is_err() {
                    leave(signal);
                }
                ending::ask();
                std::thread::spawn(move || {
                    std::thread::sleep(PROMISED);
                    failure::warn(&format!(
                        "interrupted: what is under way ends first, within {:?}; a second signal stops it at once",
                        LAST - PROMISED
                    ));
                    std::thread::sleep(LAST - PROMISED);
                    failure::warn(&format!(
                        "interrupted, and not at the end {LAST:?} later: stopped"
                    ));
                    leave(signal);
                });
            }
        });
    });
}

/// Whether a signal has come since [`listen`].
pub(crate) fn happened() -> bool {
    INTERRUPTED.get().is_some()
}

/// The exit code of a command that was interrupted before it had a result, as a shell would report it; `None` if no
/// signal has come.
pub(crate) fn code() -> Option<ExitCode> {
    let signal = *INTERRUPTED.get()?;
    Some(ExitCode::from(code_of(signal)))
}

fn code_of(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(1)
}

/// Ends the process now. The kernel ends the programs that it started, see [`ending::not_outliving`].
fn leave(signal: i32) -> ! {
    scratch::remove_all();
    std::process::exit(code_of(signal).into())
}
