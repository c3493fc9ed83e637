//! Ctrl-C: the first one ends a search or a race with the results so far, the second one ends the process.

use std::sync::{Once, OnceLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Set when the user has pressed Ctrl-C.
static INTERRUPTED: OnceLock<()> = OnceLock::new();

/// Begins to listen: the first Ctrl-C is remembered, and the second one ends the process.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // If the handler cannot be installed, the first Ctrl-C ends the process.
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

/// Whether Ctrl-C was pressed since [`listen`].
pub(crate) fn happened() -> bool {
    INTERRUPTED.get().is_some()
}
