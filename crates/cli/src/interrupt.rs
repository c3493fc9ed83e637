//! Ctrl-C: the first one ends a search or a race with what it has, the second one the process.

use std::sync::{Once, OnceLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Set when the user has pressed Ctrl-C.
static INTERRUPTED: OnceLock<()> = OnceLock::new();

/// From now on the first Ctrl-C is remembered, and the second one ends the process.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Where signals cannot be listened to, the first one ends the process.
        if let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) {
            std::thread::spawn(move || {
                for _ in signals.forever() {
                    if INTERRUPTED.set(()).is_err() {
                        std::process::exit(130);
                    }
                }
            });
        }
    });
}

/// Whether Ctrl-C was pressed since.
pub(crate) fn happened() -> bool {
    INTERRUPTED.get().is_some()
}
