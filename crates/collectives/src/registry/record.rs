//! A record of the algorithms that ran, for tests that compare choices with what was executed.
//!
//! Only builds with debug assertions record; in others [`ran`] does nothing.

#[cfg(debug_assertions)]
use std::cell::RefCell;

use super::Entry;

#[cfg(debug_assertions)]
thread_local! {
    static RAN: RefCell<Option<Vec<&'static Entry>>> = const { RefCell::new(None) };
}

/// Records that this thread runs an algorithm, if it is within [`recorded`].
#[inline(always)]
pub fn ran(entry: &'static Entry) {
    #[cfg(debug_assertions)]
    RAN.with_borrow_mut(|ran| {
        if let Some(ran) = ran {
            ran.push(entry);
        }
    });
    let _ = entry;
}

/// Runs `body`, and returns the algorithms that this thread ran meanwhile, in order: an algorithm that runs others
/// comes before them.
///
/// # Panics
///
/// In builds without debug assertions, which record nothing.
pub fn recorded<R>(body: impl FnOnce() -> R) -> (R, Vec<&'static Entry>) {
    #[cfg(not(debug_assertions))]
    {
        let _ = body;
        panic!("only builds with debug assertions record what ran");
    }
    #[cfg(debug_assertions)]
    {
        let outer = RAN.replace(Some(Vec::new()));
        let result = body();
        let ran = RAN.replace(outer).unwrap_or_default();
        (result, ran)
    }
}
