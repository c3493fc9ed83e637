//! One-way queues of line-sized slots between two threads: reliable, ordered, bounded.
//!
//! Two back ends behind one interface (Smelt §4.1):
//!
//! - **UMP** ([`Backend::Ump`]): a slot is new when its header's lap bit has turned. The receiver
//!   never writes a slot; once in half a lap it writes how far it has read to the acknowledgement
//!   line, and the sender looks there only when it seems to have run out of slots.
//! - **FastForward** ([`Backend::FastForward`]): a slot is new when its header is not empty, and
//!   free when the receiver has emptied it. There is no other shared state; every message moves
//!   its line twice.
//!
//! A message takes one slot. The part that does not fit the slot's payload lies in the next slot, if that holds it and both are
//! a pair of lines, which many processors fetch at once; else in the queue's *body*, a second ring of lines without headers. It is
//! written before the slot.
//!
//! | slot | header | payload belongs to | next |
//! | --- | --- | --- | --- |
//! | free | old lap (UMP), empty (FastForward) | sender | sender writes payload, then header |
//! | full | this lap, not empty | receiver | receiver reads payload, then gives back |
//!
//! **Invariant 1:** the sender touches slot `s` only after it has seen that slot `s - slots` was
//! given back, and body line `b` only after it has seen that of line `b - lines`. **Invariant 2:** the
//! receiver touches slot `s` only after it has seen the header of `s` in its lap, and then the second slot or as many body
//! lines as the message has. **Invariant 3:** the receiver gives back within every half lap of either
//! ring, and no message has more than a quarter of the body, or two slots of less than eight, so a sender that waits for room never waits
//! for a receiver that has read everything.
//!
//! Orderings: header `Release` → `Acquire` carries slot and body forward; acknowledgement (or empty
//! header) `Release` → `Acquire` carries the permission to overwrite back. In both back ends the body is
//! acknowledged in the line.
//!
//! **Measured** on two cores of an AMD EPYC (Zen 5), 2026-11, by hand-written loops, from an agreed instant
//! until the receiver has its copy. The unit is the time of handing over the address and waiting for the
//! reader's return. "In slots" is a long message in as many slots as it takes, each with a header. The
//! transfer of a line took 45 ns, and 150 ns in the last two columns:
//!
//! | bytes | in slots | slot and body | in slots, 150 ns | slot and body, 150 ns |
//! | --- | --- | --- | --- | --- |
//! | 512 | 0.6 | 0.55 | 0.7 | 0.5 |
//! | 1,024 | 0.65 | 0.6 | 0.9 | 0.65 |
//! | 2,048 | 0.95 | 0.7 | 1.3 | 0.8 |
//! | 4,096 | 1.2 | 1.1 | 1.7 | 1.1 |

mod backend;
pub(crate) mod body;
mod header;
mod pair;
mod receiver;
mod sender;
mod shared;

pub use backend::{Backend, UnknownBackend};
pub use body::{body_lines, body_lines_for, message_bytes_max};
pub use header::{SLOT_PAYLOAD_BYTES, TAG_MAX};
pub use pair::{QueuePair, pair};
pub use receiver::{ExactError, ReceiveError, Received, Receiver, TryReceiveError};
pub use sender::{SendError, Sender, TrySendError};
pub use shared::Gone;

use crate::segment::{Segment, SegmentError};
use crate::{WaitConfig, WaitStrategy};
use body::BodyLine;
pub(crate) use header::Slot;
use shared::{Ack, QueueMemory, Tokens};
use std::cell::Cell;

/// The options of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The protocol.
    pub backend: Backend,
    /// Slots, a power of two, at least 2.
    pub slots: usize,
    /// The wait configuration of both ends.
    pub wait_config: WaitConfig,
    /// NUMA node of the receiver, where the slots are to lie.
    pub receiver_node: Option<u32>,
    /// NUMA node of the sender, where the acknowledgement line is to lie.
    pub sender_node: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            backend: Backend::Ump,
            slots: DEFAULT_SLOTS,
            wait_config: WaitConfig::BALANCED,
            receiver_node: None,
            sender_node: None,
        }
    }
}

/// Slots of a queue by default: they take 4 KiB, and their body 32 KiB.
pub const DEFAULT_SLOTS: usize = 64;

/// What a queue holds.
///
/// # Examples
///
/// ```
/// use corecast_wire::queue::{Capacity, receiver_bytes};
///
/// let usual = Capacity::of(64);
/// let ahead = usual.with_slots(256);
/// assert_eq!(receiver_bytes(ahead) - receiver_bytes(usual), (256 - 64) * 64);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Messages of a line that the sender can be ahead of the receiver.
    slots: usize,
    body_lines: usize,
}

impl Capacity {
    /// That of a queue with `slots` slots and the [body](body_lines) for them.
    pub const fn of(slots: usize) -> Self {
        Self {
            slots,
            body_lines: body_lines(slots),
        }
    }

    /// The same with other slots: long messages are as long, and there is room for as many.
    pub const fn with_slots(self, slots: usize) -> Self {
        Self { slots, ..self }
    }
}

/// Makes a queue whose ends have parkers of their own.
///
/// # Errors
///
/// [`SegmentError`] when memory is short.
///
/// # Panics
///
/// If `options.slots` is not a power of two, or less than 2.
///
/// # Examples
///
/// ```
/// use corecast_wire::queue::{self, Options};
///
/// let (mut sender, mut receiver) = queue::queue(&Options::default())?;
/// let other = std::thread::spawn(move || {
///     let mut word = [0; 8];
///     receiver.receive(&mut word).map(|_| u64::from_ne_bytes(word))
/// });
/// sender.send(&42u64.to_ne_bytes())?;
/// assert_eq!(other.join().unwrap()?, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn queue(options: &Options) -> Result<(Sender, Receiver), SegmentError> {
    let sender = WaitStrategy::new(options.wait_config, Segment::one(options.sender_node)?);
    let receiver = WaitStrategy::new(options.wait_config, Segment::one(options.receiver_node)?);
    let sender_memory = Segment::new(sender_bytes(), options.sender_node)?;
    let receiver_memory = Segment::new(
        receiver_bytes(Capacity::of(options.slots)),
        options.receiver_node,
    )?;
    join(
        options.backend,
        Capacity::of(options.slots),
        FIRST_LINK,
        (&sender, &sender_memory),
        (&receiver, &receiver_memory),
    )
}

/// The number of the first queue among those that share parkers.
pub const FIRST_LINK: u32 = 0;

/// Bytes that a queue takes in its receiver's segment; `usize::MAX` if they are more than that, which no segment has.
pub const fn receiver_bytes(capacity: Capacity) -> usize {
    let ring = Segment::bytes_for::<Slot>(capacity.slots);
    ring.saturating_add(Segment::bytes_for::<BodyLine>(capacity.body_lines))
}

/// Bytes that a queue takes in its sender's segment.
pub const fn sender_bytes() -> usize {
    Segment::bytes_for::<Ack>(1)
}

/// Makes a queue between two threads that have parkers and memory already, as the members
/// of a team do. `link` tells the queue from every other one that shares either wait strategy's parker.
///
/// # Errors
///
/// [`SegmentError::Full`] when a segment is smaller than [`receiver_bytes`] or [`sender_bytes`] say.
///
/// # Panics
///
/// If the slots are not a power of two or less than 2, or `link` is above 2^28.
pub fn join(
    backend: Backend,
    capacity: Capacity,
    link: u32,
    (sender, sender_memory): (&WaitStrategy, &std::sync::Arc<Segment>),
    (receiver, receiver_memory): (&WaitStrategy, &std::sync::Arc<Segment>),
) -> Result<(Sender, Receiver), SegmentError> {
    let parts = parts(capacity, link, sender_memory, receiver_memory)?;
    Ok((
        parts.sender(backend, sender, receiver),
        parts.receiver(backend, receiver, sender),
    ))
}

/// The memory of a queue without its ends, each of which can be taken once. Of two processes that share it, each takes
/// its own end.
#[derive(Debug)]
pub struct Parts {
    memory: QueueMemory,
    tokens: Tokens,
    sender: Cell<bool>,
    receiver: Cell<bool>,
}

/// Notes that an end is taken.
///
/// # Panics
///
/// If it was taken before: the ends of a queue or broadcast ring are alone with slots that they have not handed over,
/// and two of one kind would not be.
#[track_caller]
pub(crate) fn take(taken: &Cell<bool>, end: &str) {
    assert!(
        !taken.replace(true),
        "the {end} was taken before, and there is one"
    );
}

/// Takes the memory of a queue; see [`join`].
///
/// # Errors
///
/// [`SegmentError::Full`] when a segment is smaller than [`receiver_bytes`] or [`sender_bytes`] say.
///
/// # Panics
///
/// As [`join`].
pub fn parts(
    Capacity { slots, body_lines }: Capacity,
    link: u32,
    sender_memory: &std::sync::Arc<Segment>,
    receiver_memory: &std::sync::Arc<Segment>,
) -> Result<Parts, SegmentError> {
    assert!(
        slots.is_power_of_two() && slots >= 2,
        "a queue has a power of two of slots, at least 2; {slots} was asked for"
    );
    Ok(Parts {
        memory: QueueMemory {
            ring: receiver_memory.lines(slots)?,
            body: receiver_memory.lines(body_lines)?,
            ack: sender_memory.lines(1)?.get(0),
        },
        tokens: tokens(link),
        sender: Cell::new(false),
        receiver: Cell::new(false),
    })
}

impl Parts {
    /// The sending end.
    ///
    /// # Panics
    ///
    /// If it was taken before.
    pub fn sender(
        &self,
        backend: Backend,
        sender: &WaitStrategy,
        receiver: &WaitStrategy,
    ) -> Sender {
        take(&self.sender, "sending end of this queue");
        Sender::new(backend, self.memory.clone(), sender, receiver, self.tokens)
    }

    /// The receiving end.
    ///
    /// # Panics
    ///
    /// If it was taken before.
    pub fn receiver(
        &self,
        backend: Backend,
        receiver: &WaitStrategy,
        sender: &WaitStrategy,
    ) -> Receiver {
        take(&self.receiver, "receiving end of this queue");
        Receiver::new(backend, self.memory.clone(), receiver, sender, self.tokens)
    }
}

/// The queue's tokens of link number `link`: 1 + 8·link and the next one. The third token of a link
/// belongs to its flag, the fourth and fifth to its loans.
fn tokens(link: u32) -> Tokens {
    assert!(link <= 1 << 28, "too many links: {link}");
    Tokens {
        message: 8 * link + 1,
        room: 8 * link + 2,
    }
}

/// The token by which a thread waits for the flag of link number `link`.
pub const fn flag_token(link: u32) -> u32 {
    8 * link + 3
}

/// The token by which a thread waits for a loan over link number `link` of an endpoint of
/// `corecast-transfer`. The next token is for the acknowledgement of what it has lent.
pub const fn loan_token(link: u32) -> u32 {
    8 * link + 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::park::{ANY, AWAKE};
    use std::collections::BTreeSet;

    /// A waker that rings for another wait would have to be told apart.
    #[test]
    fn no_two_waits_of_a_thread_have_one_token() {
        let mut known = BTreeSet::from([AWAKE, ANY]);
        for link in (0..500).chain((1 << 28) - 500..=1 << 28) {
            let Tokens { message, room } = tokens(link);
            let loan = loan_token(link);
            for token in [message, room, flag_token(link), loan, loan + 1] {
                assert!(known.insert(token), "link {link}: {token}");
            }
        }
    }
}
