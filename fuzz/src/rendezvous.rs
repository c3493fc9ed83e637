//! The rendezvous of processes: what strangers send to a server, what strange servers answer, and memory whose header
//! anybody wrote.

mod clients;
mod headers;
mod messages;
mod servers;

use arbitrary::Unstructured;

/// Meets whoever the input says, or takes its memory.
///
/// # Panics
///
/// When a rank is given twice, when a server does not answer any more, when a header that is accepted makes a team that
/// gives wrong results.
pub fn rendezvous(bytes: &[u8]) {
    let mut u = Unstructured::new(bytes);
    // An input that ends early has been run as far as it goes.
    let _ = match u.int_in_range(0..=2).unwrap_or(0) {
        0 => clients::run(&mut u),
        1 => servers::run(&mut u),
        _ => headers::run(&mut u),
    };
}
