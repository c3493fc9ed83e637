//! The interface of a queue in this comparison: two ends that move messages.

/// Words of payload in a message: as many as a cache line holds beside Corecast's header.
pub(crate) const WORDS: usize = 7;

/// A message of 56 bytes, alone on its cache line. Its words differ from each
/// other and from message to message, so that a torn or stale one is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Message(pub(crate) [u64; WORDS]);

const _: () = assert!(size_of::<Message>() == 64);

impl Message {
    /// The message with this number.
    #[inline(always)]
    pub(crate) fn new(number: u64) -> Message {
        Message(std::array::from_fn(|i| number + i as u64))
    }
}

/// The sending end of a queue. Waits for room as long as it takes.
pub(crate) trait Tx: Send {
    /// Sends one message.
    fn send(&mut self, message: Message);

    /// Sends the messages numbered from `first`.
    #[inline]
    fn send_run(&mut self, first: u64, count: u64) {
        for number in first..first + count {
            self.send(Message::new(number));
        }
    }
}

/// The receiving end of a queue. Waits for messages as long as it takes.
pub(crate) trait Rx: Send {
    /// Receives one message.
    fn receive(&mut self) -> Message;

    /// Receives `count` messages in order.
    #[inline]
    fn receive_run(&mut self, count: u64, mut each: impl FnMut(Message))
    where
        Self: Sized,
    {
        for _ in 0..count {
            each(self.receive());
        }
    }
}
