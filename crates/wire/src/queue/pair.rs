//! Queue pairs: two queues in opposite directions between two threads.

use super::{
    Backend, Capacity, FIRST_LINK, Options, ReceiveError, Received, Receiver, SendError, Sender,
    TryReceiveError, TrySendError, join, receiver_bytes, sender_bytes,
};
use crate::WaitStrategy;
use crate::segment::{Segment, SegmentError};

/// One end of two one-way queues in opposite directions (Smelt §4.1's queue pair).
#[derive(Debug)]
pub struct QueuePair {
    /// Sends to the other end.
    pub sender: Sender,
    /// Receives from the other end.
    pub receiver: Receiver,
}

/// Makes both ends. `options.sender_node` is the first end's NUMA node, `receiver_node` the
/// second's; each direction's slots lie with its receiver.
///
/// # Errors
///
/// [`SegmentError`] when memory is short.
///
/// # Panics
///
/// As [`queue`](super::queue).
///
/// # Examples
///
/// ```
/// use corecast_wire::queue::{self, Options};
///
/// let (mut here, mut there) = queue::pair(&Options::default())?;
/// let echo = std::thread::spawn(move || {
///     let mut buffer = [0; 16];
///     let message = there.receive(&mut buffer).unwrap();
///     there.send(&buffer[..message.len]).unwrap();
/// });
/// here.send(b"round trip")?;
/// let mut buffer = [0; 16];
/// let message = here.receive(&mut buffer)?;
/// assert_eq!(&buffer[..message.len], b"round trip");
/// echo.join().unwrap();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn pair(options: &Options) -> Result<(QueuePair, QueuePair), SegmentError> {
    let capacity = Capacity::of(options.slots);
    let bytes = receiver_bytes(capacity).saturating_add(sender_bytes());
    let end = |node| -> Result<_, SegmentError> {
        let wait_strategy = WaitStrategy::new(options.wait_config, Segment::one(node)?);
        Ok((wait_strategy, Segment::new(bytes, node)?))
    };
    let (a, a_memory) = end(options.sender_node)?;
    let (b, b_memory) = end(options.receiver_node)?;
    let backend = options.backend;
    let (a, b) = ((&a, &a_memory), (&b, &b_memory));
    let (to_b, from_a) = join(backend, capacity, FIRST_LINK, a, b)?;
    let (to_a, from_b) = join(backend, capacity, FIRST_LINK + 1, b, a)?;
    let end = |sender, receiver| QueuePair { sender, receiver };
    Ok((end(to_b, from_b), end(to_a, from_a)))
}

impl QueuePair {
    /// [`Sender::send`].
    ///
    /// # Errors
    ///
    /// Those of [`Sender::send`].
    #[inline]
    pub fn send(&mut self, payload: &[u8]) -> Result<(), SendError> {
        self.sender.send(payload)
    }

    /// [`Receiver::receive`].
    ///
    /// # Errors
    ///
    /// Those of [`Receiver::receive`].
    #[inline]
    pub fn receive(&mut self, buffer: &mut [u8]) -> Result<Received, ReceiveError> {
        self.receiver.receive(buffer)
    }

    /// [`Sender::try_send`].
    ///
    /// # Errors
    ///
    /// Those of [`Sender::try_send`].
    #[inline]
    pub fn try_send(&mut self, payload: &[u8]) -> Result<(), TrySendError> {
        self.sender.try_send(payload)
    }

    /// [`Receiver::try_receive`].
    ///
    /// # Errors
    ///
    /// Those of [`Receiver::try_receive`].
    #[inline]
    pub fn try_receive(&mut self, buffer: &mut [u8]) -> Result<Received, TryReceiveError> {
        self.receiver.try_receive(buffer)
    }

    /// [`Sender::notify`].
    ///
    /// # Errors
    ///
    /// Those of [`Sender::notify`].
    #[inline]
    pub fn notify(&mut self) -> Result<(), SendError> {
        self.sender.notify()
    }

    /// [`Sender::can_send`].
    pub fn can_send(&mut self, len: usize) -> bool {
        self.sender.can_send(len)
    }

    /// [`Receiver::can_receive`].
    pub fn can_receive(&self) -> bool {
        self.receiver.can_receive()
    }

    /// The back end of both directions.
    pub fn backend(&self) -> Backend {
        self.sender.backend()
    }
}
