//! Joining two ranks, so that each can lend to the other.

use crate::bounce_buffer::BounceMemory;
use crate::descriptor::{Acks, Borrower as In, DESCRIPTORS, Descriptor, Lender as Out, Reading};
use crate::endpoint::Endpoint;
use crate::link::Link;
use corecast_wire::{Line, LineRef, LineSlice, Parker, Segment, SegmentError, fence_kind};
use std::sync::Arc;

/// The memory that the descriptors between two ranks name.
#[derive(Clone, Copy, Debug)]
pub enum Memory<'a> {
    /// Addresses: both are threads of this process, and their lines are in its own memory.
    Address,
    /// Bytes of the lender's bounce buffer. Each rank has one of its own in the team's segment.
    BounceBuffers([&'a BounceMemory; 2]),
}

/// One end of a link: the endpoint, the first of its two tokens, the parker of its thread, and the
/// memory for its lines.
pub type End<'a> = (
    &'a mut Endpoint,
    u32,
    (&'a LineRef<Line<Parker>>, &'a Arc<Segment>),
);

/// Joins two endpoints, each of which gives the link its next number. An end's thread sleeps with its
/// first token for a descriptor of the other end, and with the token after it for the return of one of
/// its own.
///
/// # Errors
///
/// [`SegmentError::Full`].
///
/// # Panics
///
/// If addresses are to be lent by lines in memory that other processes can write, or of which there are
/// views (Invariant 2). If an endpoint has a bounce buffer or an eager buffer already.
pub fn join(a: End<'_>, b: End<'_>, memory: Memory<'_>) -> Result<(), SegmentError> {
    let (a_endpoint, a_token, (a_parker, a_memory)) = a;
    let (b_endpoint, b_token, (b_parker, b_memory)) = b;
    let ([a_out, b_out], [a_symmetric, b_symmetric]) = match memory {
        Memory::Address => {
            let kept = a_memory.keep_for_addresses() && b_memory.keep_for_addresses();
            assert!(kept, "addresses in memory that others write");
            ([None, None], [None, None])
        }
        Memory::BounceBuffers(both) => (
            both.map(|memory| Some(memory.lines())),
            both.map(BounceMemory::symmetric),
        ),
    };
    // The lines that a thread polls lie in its own memory.
    let to_b: LineSlice<Descriptor> = b_memory.lines(DESCRIPTORS)?;
    let to_a: LineSlice<Descriptor> = a_memory.lines(DESCRIPTORS)?;
    let from_b: LineRef<Acks> = a_memory.lines(1)?.get(0);
    let from_a: LineRef<Acks> = b_memory.lines(1)?.get(0);
    let at_a: LineRef<Reading> = a_memory.lines(1)?.get(0);
    let at_b: LineRef<Reading> = b_memory.lines(1)?.get(0);
    // Only threads of this process read addresses, whatever other processes are in the team.
    let fence = fence_kind();
    a_endpoint.join(Link {
        lender: Out::new(to_b.clone(), from_b.clone(), at_b.clone(), fence),
        borrower: In::new(to_a.clone(), from_a.clone(), at_a.clone(), fence),
        peer: b_parker.clone(),
        descriptor_token: b_token,
        ack_token: b_token + 1,
        theirs: b_out,
        symmetric: b_symmetric,
        heap: None,
        kernel_copy: None,
        seen: None,
        fills: false,
        pipelined: 0,
        waited: 0,
    });
    b_endpoint.join(Link {
        lender: Out::new(to_a, from_a, at_a, fence),
        borrower: In::new(to_b, from_b, at_b, fence),
        peer: a_parker.clone(),
        descriptor_token: a_token,
        ack_token: a_token + 1,
        theirs: a_out,
        symmetric: a_symmetric,
        heap: None,
        kernel_copy: None,
        seen: None,
        fills: false,
        pipelined: 0,
        waited: 0,
    });
    Ok(())
}
