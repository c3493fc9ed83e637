//! Ranks that panic or leave amid operations.

use super::apart::clock_ns;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Set when the ranks of this process that are to end shall do so.
static TIME: AtomicBool = AtomicBool::new(false);

/// When the first rank ended, by [`clock_ns`]; 0 before.
static GONE_AT: AtomicU64 = AtomicU64::new(0);

/// How a rank ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doom {
    /// It panics, also within an operator.
    Panic,
    /// It is dropped, so it leaves the team.
    Leave,
}

thread_local! {
    static DOOM: Cell<Option<Doom>> = const { Cell::new(None) };
}

/// Makes this thread's rank end in this way after [`strike`].
pub(crate) fn await_time(doom: Option<Doom>) {
    DOOM.set(doom);
}

/// Makes the ranks of this process end that are to do so.
pub(crate) fn strike() {
    // Relaxed, because no data depend on it.
    TIME.store(true, Ordering::Relaxed);
}

/// When the first rank of this process ended, by [`clock_ns`], if one did.
pub(crate) fn gone_at() -> Option<u64> {
    Some(GONE_AT.load(Ordering::Relaxed)).filter(|&at| at != 0)
}

pub(crate) const ON_PURPOSE: &str = "doomed on purpose";

/// Whether this thread's rank is to end now in this way; records the time if it is.
fn is_time(for_what: Doom) -> bool {
    let now = DOOM.get() == Some(for_what) && TIME.load(Ordering::Relaxed);
    if now {
        let _ = GONE_AT.compare_exchange(0, clock_ns(), Ordering::Relaxed, Ordering::Relaxed);
    }
    now
}

/// Panics if this thread's rank is to end by a panic now.
pub(crate) fn panic_in_time() {
    if !std::thread::panicking() && is_time(Doom::Panic) {
        panic!("{ON_PURPOSE}");
    }
}

/// Whether this thread's rank is to leave now.
pub(crate) fn is_time_to_leave() -> bool {
    is_time(Doom::Leave)
}
