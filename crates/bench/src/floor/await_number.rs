//! Loops in which hand-written code waits for a number in a cache line.

use std::hint;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Waits for `number` or more: the other rank may be one operation ahead.
#[inline(always)]
pub(super) fn await_number<const PAUSE: bool>(line: &AtomicU64, number: u64) {
    while line.load(Ordering::Acquire) < number {
        if PAUSE {
            hint::spin_loop();
        }
    }
}

/// [`await_number`] that takes the line to write it, for a rank that writes another word of the line next: a copy to read
/// would cost a second transfer then.
#[inline(always)]
pub(super) fn take_number(line: &AtomicU64, number: u64) {
    while line.load(Ordering::Acquire) < number {
        hint::spin_loop();
        claim(line);
    }
}

/// Asks for a line to write it.
#[inline(always)]
pub(super) fn claim(line: &AtomicU64) {
    corecast_wire::arch::claim(std::ptr::from_ref(line).cast());
}

/// Waits for `number` or more. If ranks are `oversubscribed`, it yields the PU to other ranks.
#[inline(always)]
pub(crate) fn await_turn(line: &AtomicU64, number: u64, oversubscribed: bool) {
    // Acquire pairs with the Release store of the rank that owns the line.
    while line.load(Ordering::Acquire) < number {
        match oversubscribed {
            true => thread::yield_now(),
            false => hint::spin_loop(),
        }
    }
}
