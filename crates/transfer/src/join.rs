//! Joining two ranks, so that each can lend to the other.

use crate::desk::Desk;
use crate::link::Link;
use crate::offer::{Borrower as In, Lender as Out, OFFERS, Offer, Reading, Returns};
use crate::outbox::OutboxMemory;
use corecast_wire::{Line, LineRef, LineSlice, Parker, Segment, SegmentError, fence_kind};
use std::sync::Arc;

/// What an offer between two ranks names.
#[derive(Clone, Copy, Debug)]
pub enum Memory<'a> {
    /// Addresses: both are threads of this process, and their lines are in its own memory.
    Address,
    /// Bytes of an outbox in the team's segment: each rank's own.
    Outboxes([&'a OutboxMemory; 2]),
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
        lender: Out::new(to_b.clone(), from_b.clone(), at_b.clone(), fence),
        borrower: In::new(to_a.clone(), from_a.clone(), at_a.clone(), fence),
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
        lender: Out::new(to_a, from_a, at_a, fence),
        borrower: In::new(to_b, from_b, at_b, fence),
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
