//! Long data: lent by the rank that has them, read where they lie.
//!
//! A queue moves 56 bytes per line and copies twice. Long data are *lent* instead: the lender names
//! a part of its buffer in one line (an offer), the borrower reads it in place, once, at the speed of
//! the memory, and returns the offer. Between threads of one process an offer names an address.
//! Between processes it names bytes of the lender's *outbox*, a part of the team's segment to which
//! they are copied first, chunk by chunk, while the borrower reads the chunks before.
//!
//! The protocol of a single offer and its invariants are in `bulk/offer.rs`.
//!
//! **Invariant 1:** an address is only offered within a [`scope`], which ends when nobody reads what
//! it has opened. **Invariant 2:** addresses travel in lines of this process's own memory, so no
//! other process can write one.

mod desk;
mod error;
#[cfg(not(loom))]
mod far;
#[cfg(loom)]
#[path = "modelled.rs"]
mod far;
mod link;
#[cfg(not(loom))]
mod offer;
#[cfg(loom)]
pub mod offer;
mod outbox;
mod piece;
mod scope;
mod shelf;
mod staged;
mod window;

pub use desk::Desk;
pub use error::{Outside, Unfetched};
pub use far::Process;
pub use outbox::OutboxMemory;
pub use piece::Piece;
pub use scope::{Host, scope, scope_to_read};
pub use window::Window;

use crate::Line;
use crate::fence::fence_kind;
use crate::park::Parker;
use crate::segment::{LineRef, LineSlice, Segment, SegmentError};
use link::Link;
use offer::{Borrower, Lender, OFFERS, Offer, Reading, Returns};
use std::sync::Arc;

/// What an offer between two ranks names.
#[derive(Clone, Copy, Debug)]
pub enum Memory<'a> {
    /// Addresses: both are threads of this process, and their lines are in its own memory.
    Address,
    /// Bytes of an outbox in the team's segment: each rank's own.
    Outboxes([&'a OutboxMemory; 2]),
}

/// Bytes that a link takes in each of its two ranks' segments.
pub const fn link_bytes() -> usize {
    Segment::bytes_for::<Offer>(OFFERS)
        + Segment::bytes_for::<Returns>(1)
        + Segment::bytes_for::<Reading>(1)
}

/// One end of a link: the desk, the token of the first of its two directions, where its thread
/// sleeps, and its memory.
pub type End<'a> = (
    &'a mut Desk,
    u32,
    (&'a LineRef<Line<Parker>>, &'a Arc<Segment>),
);

/// Joins two desks; each gets its next link number. Tokens `token` and `token + 1` are what that
/// end's thread sleeps for: an offer of the other end, and a return.
///
/// # Errors
///
/// [`SegmentError::Full`].
///
/// # Panics
///
/// If addresses are to be offered in memory that other processes can write, or of which there are views
/// (Invariant 2).
pub fn join(a: End<'_>, b: End<'_>, memory: Memory<'_>) -> Result<(), SegmentError> {
    let (a_desk, a_token, (a_parker, a_memory)) = a;
    let (b_desk, b_token, (b_parker, b_memory)) = b;
    let [a_out, b_out] = match memory {
        Memory::Address => {
            let kept = a_memory.keep_for_addresses() && b_memory.keep_for_addresses();
            assert!(kept, "addresses in memory that others write");
            [None, None]
        }
        Memory::Outboxes(both) => both.map(|memory| Some(memory.lines())),
    };
    // What a thread polls lies in its own memory.
    let to_b: LineSlice<Offer> = b_memory.lines(OFFERS)?;
    let to_a: LineSlice<Offer> = a_memory.lines(OFFERS)?;
    let from_b: LineRef<Returns> = a_memory.lines(1)?.get(0);
    let from_a: LineRef<Returns> = b_memory.lines(1)?.get(0);
    let at_a: LineRef<Reading> = a_memory.lines(1)?.get(0);
    let at_b: LineRef<Reading> = b_memory.lines(1)?.get(0);
    // Addresses are of this process alone, whoever else is in the team.
    let fence = fence_kind();
    a_desk.links.push(Link {
        lender: Lender::new(to_b.clone(), from_b.clone(), at_b.clone(), fence),
        borrower: Borrower::new(to_a.clone(), from_a.clone(), at_a.clone(), fence),
        peer: b_parker.clone(),
        offer_token: b_token,
        return_token: b_token + 1,
        theirs: b_out,
        far: None,
        seen: None,
        staged: 0,
        waited: 0,
    });
    b_desk.links.push(Link {
        lender: Lender::new(to_a, from_a, at_a, fence),
        borrower: Borrower::new(to_b, from_b, at_b, fence),
        peer: a_parker.clone(),
        offer_token: a_token,
        return_token: a_token + 1,
        theirs: a_out,
        far: None,
        seen: None,
        staged: 0,
        waited: 0,
    });
    Ok(())
}
