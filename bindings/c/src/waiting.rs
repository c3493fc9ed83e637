//! Wait strategies by name, as C gives them.

use crate::memory::word;
use crate::status::Refusal;
use corecast::{Error, WaitConfig, Waiting, WaitingError, Waits};
use std::ffi::c_char;

/// The wait strategy of this name.
///
/// # Safety
///
/// `waiting` is NULL or a text that ends.
pub(crate) unsafe fn of_word(waiting: *const c_char) -> Result<Waiting, Refusal> {
    // SAFETY: the caller's promise.
    let text = unsafe { word("waiting", waiting)? };
    text.parse().map_err(Refusal::invalid_of)
}

/// The waits of `threads` threads on this machine: those that `waiting` names, or for NULL those of
/// `CORECAST_WAIT` or the default.
///
/// # Safety
///
/// `waiting` is NULL or a text that ends.
pub(crate) unsafe fn wait_config(
    threads: usize,
    waiting: *const c_char,
) -> Result<WaitConfig, Refusal> {
    let here = corecast::machine::discover();
    let waits = Waits::of_team(threads, &here, None);
    let waits = match waiting.is_null() {
        true => waits
            .by_environment()
            .map_err(|error: WaitingError| Error::from(error))?,
        // SAFETY: the caller's promise.
        false => waits.with(unsafe { of_word(waiting)? }),
    };
    Ok(waits.as_wait_config())
}
