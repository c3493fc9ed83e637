//! One-way queues between two threads, without a team.

use crate::memory::{give, to_read, to_write, word};
use crate::status::{Refusal, Status, StatusCode, entry};
use crate::waiting;
use corecast::queue::{
    self, Options, ReceiveError, Received, SendError, TryReceiveError, TrySendError,
};
use corecast_wire::exclusive::{Exclusive, Unusable};
use std::ffi::{c_char, c_void};

/// Any NUMA node. cbindgen.toml has it for C, as -1.
pub const ANY_NODE: i32 = -1;

/// The most slots of a queue: 64 MiB of slots, and four times as much for messages that are longer than a
/// slot.
const SLOTS_MAX: usize = 1 << 20;

/// The sending end of a queue. One thread at a time may use it.
#[derive(Debug)]
pub struct Sender {
    message_bytes_max: usize,
    end: Exclusive<queue::Sender>,
}

/// The receiving end of a queue. One thread at a time may use it.
#[derive(Debug)]
pub struct Receiver {
    end: Exclusive<queue::Receiver>,
}

/// What a message is, besides its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Message {
    /// Bytes of the message.
    pub bytes: usize,
    /// The number that the sender gave along.
    pub tag: u32,
}

impl From<Received> for Message {
    fn from(Received { len, tag }: Received) -> Self {
        Self { bytes: len, tag }
    }
}

#[cold]
fn refuse(end: &str, why: Unusable) -> Refusal {
    match why {
        Unusable::Busy => Refusal::new(
            Status::Busy,
            format!("this {end} is in use already, on another thread: a queue has one of each"),
        ),
        Unusable::Dropped => Refusal::new(
            Status::Left,
            format!(
                "this {end} has left its queue, because Corecast panicked in a call before: free it"
            ),
        ),
    }
}

#[cold]
fn closed(error: queue::Gone) -> Refusal {
    Refusal::new(Status::Closed, error.to_string())
}

fn check_tag(tag: u32) -> Result<(), Refusal> {
    match tag <= queue::TAG_MAX {
        true => Ok(()),
        false => Err(Refusal::invalid(format!(
            "the tag {tag} is above {}, the largest one",
            queue::TAG_MAX
        ))),
    }
}

fn node(name: &str, node: i32) -> Result<Option<u32>, Refusal> {
    match u32::try_from(node) {
        Ok(node) => Ok(Some(node)),
        Err(_) if node == ANY_NODE => Ok(None),
        Err(_) => Err(Refusal::invalid(format!(
            "`{name}` is {node}: give a NUMA node, or {ANY_NODE} (CORECAST_ANY_NODE)"
        ))),
    }
}

/// Runs `body` on the sending end behind a handle, inside of an `entry`.
///
/// # Safety
///
/// `sender` is NULL, or a live handle on which no other thread begins a call at this very instant.
#[inline(always)]
unsafe fn sending<R>(
    sender: *const Sender,
    body: impl FnOnce(&mut queue::Sender) -> Result<R, Refusal>,
) -> Result<R, Refusal> {
    // SAFETY: NULL, or the caller's promise.
    let sender = unsafe { sender.as_ref() }.ok_or_else(|| Refusal::null("sender"))?;
    // SAFETY: the caller's promise.
    unsafe { sender.end.with(|why| refuse("sender", why), body) }
}

/// Runs `body` on the receiving end behind a handle, inside of an `entry`.
///
/// # Safety
///
/// `receiver` is NULL, or a live handle on which no other thread begins a call at this very instant.
#[inline(always)]
unsafe fn receiving<R>(
    receiver: *const Receiver,
    body: impl FnOnce(&mut queue::Receiver) -> Result<R, Refusal>,
) -> Result<R, Refusal> {
    // SAFETY: NULL, or the caller's promise.
    let receiver = unsafe { receiver.as_ref() }.ok_or_else(|| Refusal::null("receiver"))?;
    // SAFETY: the caller's promise.
    unsafe { receiver.end.with(|why| refuse("receiver", why), body) }
}

/// Writes a message's length and tag to a place that may be NULL.
///
/// # Safety
///
/// `message` is NULL or a place for one.
#[inline(always)]
unsafe fn tell(message: *mut Message, received: Received) {
    if !message.is_null() {
        // SAFETY: not NULL, and the caller's promise.
        unsafe { message.write(received.into()) };
    }
}

/// Makes a queue in which messages go one way, from one thread to another, in the order in which they
/// were sent. `slots` is how many short messages it holds: a power of two, at least 2 and at most
/// 1,048,576; 0 means 64. A message of at most 56 bytes takes one slot, a longer one two or a slot and room
/// for its rest: `corecast_sender_message_bytes_max` says how long it may be.
///
/// `backend` is the protocol, "ump" or "fastforward"; NULL means "ump". `waiting` is a word as for
/// `corecast_builder_wait`; NULL means as `CORECAST_WAIT` says, else as fits the machine. The nodes are
/// those NUMA nodes at which the memory of each end is to lie, or `CORECAST_ANY_NODE`; a system that
/// refuses to place it is no error.
///
/// Threads: any.
///
/// # Safety
///
/// `backend` and `waiting` are NULL or texts that end; `sender` and `receiver` are NULL or places for
/// handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_queue_new(
    slots: usize,
    backend: *const c_char,
    waiting: *const c_char,
    sender_node: i32,
    receiver_node: i32,
    sender: *mut *mut Sender,
    receiver: *mut *mut Receiver,
) -> StatusCode {
    entry(|| {
        if sender.is_null() {
            return Err(Refusal::null("sender"));
        }
        if receiver.is_null() {
            return Err(Refusal::null("receiver"));
        }
        let slots = if slots == 0 {
            queue::DEFAULT_SLOTS
        } else {
            slots
        };
        if !slots.is_power_of_two() || !(2..=SLOTS_MAX).contains(&slots) {
            return Err(Refusal::invalid(format!(
                "a queue has a power of two of slots, at least 2 and at most {SLOTS_MAX}; {slots} were \
                 asked for"
            )));
        }
        let backend = match backend.is_null() {
            true => queue::Backend::default(),
            // SAFETY: the caller's promise, here and below.
            false => unsafe { word("backend", backend)? }
                .parse()
                .map_err(Refusal::invalid_of)?,
        };
        let options = Options {
            backend,
            slots,
            // SAFETY: as above.
            wait_config: unsafe { waiting::wait_config(2, waiting)? },
            sender_node: node("sender_node", sender_node)?,
            receiver_node: node("receiver_node", receiver_node)?,
        };
        let (sending, receiving) = queue::queue(&options)
            .map_err(|error| Refusal::new(Status::Failed, error.to_string()))?;
        let sending = Box::new(Sender {
            message_bytes_max: sending.message_bytes_max(),
            end: Exclusive::new(sending),
        });
        let receiving = Box::new(Receiver {
            end: Exclusive::new(receiving),
        });
        // SAFETY: as above.
        unsafe {
            give("sender", sender, Box::into_raw(sending))?;
            give("receiver", receiver, Box::into_raw(receiving))
        }
    })
}

/// Frees the sending end. The receiver still gets what was sent, and then `CORECAST_STATUS_CLOSED`.
/// NULL is allowed and does nothing.
///
/// Threads: one.
///
/// # Safety
///
/// `sender` is NULL or a live handle, which is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_sender_free(sender: *mut Sender) -> StatusCode {
    entry(|| {
        if !sender.is_null() {
            // SAFETY: `corecast_queue_new` made it, and the caller's promise.
            drop(unsafe { Box::from_raw(sender) });
        }
        Ok(())
    })
}

/// Frees the receiving end, and what it has not received. A sender that waits for room, or sends when
/// there is none, gets `CORECAST_STATUS_CLOSED`. NULL is allowed and does nothing.
///
/// Threads: one.
///
/// # Safety
///
/// `receiver` is NULL or a live handle, which is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_receiver_free(receiver: *mut Receiver) -> StatusCode {
    entry(|| {
        if !receiver.is_null() {
            // SAFETY: `corecast_queue_new` made it, and the caller's promise.
            drop(unsafe { Box::from_raw(receiver) });
        }
        Ok(())
    })
}

/// The longest message in bytes that a queue takes; 0 for NULL.
///
/// Threads: any.
///
/// # Safety
///
/// `sender` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_sender_message_bytes_max(sender: *const Sender) -> usize {
    // SAFETY: NULL, or the caller's promise; the field never changes.
    unsafe { sender.as_ref() }.map_or(0, |sender| sender.message_bytes_max)
}

/// Sends a message, and waits for room if there is none. `tag` is a number of the caller's that the
/// receiver gets along with it, at most 16,777,215. A message without bytes is allowed.
///
/// Threads: one.
///
/// # Safety
///
/// `sender` is NULL or a live handle; `data` has `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_sender_send(
    sender: *mut Sender,
    tag: u32,
    data: *const c_void,
    bytes: usize,
) -> StatusCode {
    // SAFETY: the caller's promise.
    entry(|| unsafe {
        sending(sender, |end| {
            check_tag(tag)?;
            let data = to_read("data", data, bytes)?;
            end.send_tagged(tag, data).map_err(|error| match error {
                SendError::Ended(gone) => closed(gone),
                other => Refusal::invalid_of(other),
            })
        })
    })
}

/// Sends a message if there is room at once, and writes to `sent` whether it was sent.
///
/// Threads: one.
///
/// # Safety
///
/// `sender` is NULL or a live handle; `data` has `bytes` bytes; `sent` is NULL or a place for an
/// answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_sender_try_send(
    sender: *mut Sender,
    tag: u32,
    data: *const c_void,
    bytes: usize,
    sent: *mut bool,
) -> StatusCode {
    // SAFETY: the caller's promise.
    entry(|| unsafe {
        give("sent", sent, false)?;
        sending(sender, |end| {
            check_tag(tag)?;
            let data = to_read("data", data, bytes)?;
            match end.try_send_tagged(tag, data) {
                Ok(()) => give("sent", sent, true),
                Err(TrySendError::Full) => Ok(()),
                Err(TrySendError::Gone(gone)) => Err(closed(gone)),
                Err(other) => Err(Refusal::invalid_of(other)),
            }
        })
    })
}

/// Waits for the next message, copies it to the front of `buffer`, and writes to `message`, unless
/// that is NULL, how long it is and its tag. One that is longer than `capacity` is refused and stays in
/// the queue; `message` says how much room it needs.
///
/// Threads: one.
///
/// # Safety
///
/// `receiver` is NULL or a live handle; `buffer` has `capacity` bytes; `message` is NULL or a place for
/// one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_receiver_receive(
    receiver: *mut Receiver,
    buffer: *mut c_void,
    capacity: usize,
    message: *mut Message,
) -> StatusCode {
    // SAFETY: the caller's promise.
    entry(|| unsafe {
        receiving(receiver, |end| {
            let buffer = to_write("buffer", buffer, capacity)?;
            match end.receive(buffer) {
                Ok(received) => {
                    tell(message, received);
                    Ok(())
                }
                Err(ReceiveError::Ended(gone)) => Err(closed(gone)),
                Err(other) => Err(too_long(end, message, other)),
            }
        })
    })
}

/// Receives the next message as `corecast_receiver_receive` does if it is there at once, and writes to
/// `received` whether it was.
///
/// Threads: one.
///
/// # Safety
///
/// `receiver` is NULL or a live handle; `buffer` has `capacity` bytes; `message` is NULL or a place for
/// one, `received` NULL or a place for an answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_receiver_try_receive(
    receiver: *mut Receiver,
    buffer: *mut c_void,
    capacity: usize,
    message: *mut Message,
    received: *mut bool,
) -> StatusCode {
    // SAFETY: the caller's promise.
    entry(|| unsafe {
        give("received", received, false)?;
        receiving(receiver, |end| {
            let buffer = to_write("buffer", buffer, capacity)?;
            match end.try_receive(buffer) {
                Ok(one) => {
                    tell(message, one);
                    give("received", received, true)
                }
                Err(TryReceiveError::Empty) => Ok(()),
                Err(TryReceiveError::Gone(gone)) => Err(closed(gone)),
                Err(other) => Err(too_long(end, message, other)),
            }
        })
    })
}

/// Makes the refusal of a message that is longer than its buffer, and writes its length and tag.
///
/// # Safety
///
/// `message` is NULL or a place for one.
#[cold]
unsafe fn too_long(
    end: &queue::Receiver,
    message: *mut Message,
    error: impl std::fmt::Display,
) -> Refusal {
    if let Some(next) = end.peek() {
        // SAFETY: the caller's promise.
        unsafe { tell(message, next) };
    }
    Refusal::invalid_of(error)
}

/// Writes to `there` whether a message could be received without waiting, and if so to `message`,
/// unless that is NULL, how long it is and its tag. The message stays in the queue.
///
/// Threads: one.
///
/// # Safety
///
/// `receiver` is NULL or a live handle; `message` is NULL or a place for one, `there` NULL or a place
/// for an answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_receiver_peek(
    receiver: *mut Receiver,
    message: *mut Message,
    there: *mut bool,
) -> StatusCode {
    // SAFETY: the caller's promise.
    entry(|| unsafe {
        receiving(receiver, |end| {
            let next = end.peek();
            give("there", there, next.is_some())?;
            if let Some(next) = next {
                tell(message, next);
            }
            Ok(())
        })
    })
}
