//! Ranks that go amid what they do.

use super::apart::clock_ns;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Raised when the doomed of this process are to go.
static TIME: AtomicBool = AtomicBool::new(false);

/// When the first went.
static GONE_AT: AtomicU64 = AtomicU64::new(0);

/// How a rank goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doom {
    /// It panics, also within an operator.
    Panic,
    /// It is dropped.
    Leave,
}

thread_local! {
    static DOOM: Cell<Option<Doom>> = const { Cell::new(None) };
}

/// This thread's rank goes when the time has come.
pub(crate) fn await_time(doom: Option<Doom>) {
    DOOM.set(doom);
}

/// The time has come.
pub(crate) fn strike() {
    // Relaxed: nothing is handed on.
    TIME.store(true, Ordering::Relaxed);
}

/// When the first rank of this process went, by [`clock_ns`], if one did.
pub(crate) fn gone_at() -> Option<u64> {
    Some(GONE_AT.load(Ordering::Relaxed)).filter(|&at| at != 0)
}

pub(crate) const ON_PURPOSE: &str = "doomed on purpose";

/// Whether this thread's rank is to go now, and notes when.
fn is_time(for_what: Doom) -> bool {
    let now = DOOM.get() == Some(for_what) && TIME.load(Ordering::Relaxed);
    if now {
        let _ = GONE_AT.compare_exchange(0, clock_ns(), Ordering::Relaxed, Ordering::Relaxed);
    }
    now
}

/// Panics if it is time for that.
pub(crate) fn panic_in_time() {
    if !std::thread::panicking() && is_time(Doom::Panic) {
        panic!("{ON_PURPOSE}");
    }
}

/// Whether it is time to leave.
pub(crate) fn is_time_to_leave() -> bool {
    is_time(Doom::Leave)
}
