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

/// Time that a command has for its end after the first signal. What is under way is a batch of a race, one pair, or a
/// phase of a search, and looks many times a second whether it shall end; only where it hangs does this matter. A shorter
/// time would cost results: peers of a race are asked to end before they are shown, and a busy machine may let an MPI
/// take seconds for that.
const LAST: Duration = Duration::from_secs(10);

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
                    std::thread::sleep(LAST);
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
