//! The C interface under any sequence of calls: what it should refuse it refuses, with a status and a text and as if
//! nothing had been called, and what succeeds gives what a simple model gives.
//!
//! What the contract leaves to callers, such as handles that were freed or buffers that are shorter than was said, is
//! not called.
#![allow(unsafe_code, reason = "a caller of C hands over pointers")]

mod alone;
mod calls;
mod data;
mod settings;
mod statuses;
mod teams;

use arbitrary::Unstructured;

/// Calls functions of the C interface as the input says.
///
/// # Panics
///
/// When a status, a text, a result or the bytes around a buffer are not what they should be.
pub fn c_interface(bytes: &[u8]) {
    let mut u = Unstructured::new(bytes);
    // An input that ends early has been run as far as it goes.
    let _ = match u.int_in_range(0..=7).unwrap_or(0) {
        0 => alone::queue(&mut u),
        1 => alone::barrier(&mut u),
        2 => settings::refusals(&mut u),
        _ => teams::run(&mut u),
    };
}
