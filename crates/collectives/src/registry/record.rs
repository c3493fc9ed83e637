//! A record of the algorithms that ran, for tests that compare choices with what was executed.
//!
//! Only builds with debug assertions record; in others [`ran`] does nothing.

use super::{Registered, Selection};
use corecast_model::Collective;
#[cfg(debug_assertions)]
use std::cell::RefCell;
#[cfg(debug_assertions)]
use std::mem::ManuallyDrop;

/// An algorithm that ran: its collective, and its name with the size if it was asked for with one.
pub type Ran = (Collective, &'static str);

#[cfg(debug_assertions)]
thread_local! {
    /// Without a destructor, for which the C library would take the loader's lock: a thread of a constructor's may meet
    /// others while the loader holds it. [`recorded`] takes the list out.
    static RAN: RefCell<ManuallyDrop<Option<Vec<Ran>>>> =
        const { RefCell::new(ManuallyDrop::new(None)) };
}

/// Records that this thread runs an algorithm, if it is within [`recorded`].
#[inline(always)]
pub fn ran<A: Registered>(selection: Selection<A>) {
    #[cfg(debug_assertions)]
    RAN.with_borrow_mut(|ran| {
        if let Some(ran) = &mut **ran {
            ran.push((A::COLLECTIVE, selection.name()));
        }
    });
    #[cfg(not(debug_assertions))]
    let _ = selection;
}

/// Runs `body`, and returns the algorithms that this thread ran meanwhile, in order: an algorithm that runs others
/// comes before them.
///
/// # Panics
///
/// In builds without debug assertions, which record nothing.
pub fn recorded<R>(body: impl FnOnce() -> R) -> (R, Vec<Ran>) {
    #[cfg(not(debug_assertions))]
    {
        let _ = body;
        panic!("only builds with debug assertions record what ran");
    }
    #[cfg(debug_assertions)]
    {
        let outer = RAN.replace(ManuallyDrop::new(Some(Vec::new())));
        let result = body();
        let ran = ManuallyDrop::into_inner(RAN.replace(outer));
        (result, ran.unwrap_or_default())
    }
}
