//! Lines that a misbehaving process writes: whoever reads them gets an error or wrong data, and nothing worse.

mod loans;
mod memory;
mod queues;
mod rings;
mod teams;

use arbitrary::Unstructured;

/// Runs one end of what processes share while another process writes to its memory.
///
/// # Panics
///
/// When the end does, or writes outside of its caller's buffer.
pub fn lines(bytes: &[u8]) {
    let mut u = Unstructured::new(bytes);
    // An input that ends early has been run as far as it goes.
    let _ = match u.int_in_range(0..=3).unwrap_or(0) {
        0 => queues::run(&mut u),
        1 => rings::run(&mut u),
        2 => loans::run(&mut u),
        _ => teams::run(&mut u),
    };
}
