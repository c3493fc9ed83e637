//! Other people's queues.
//!
//! Queues that never block are polled, with or without the CPU's pause hint
//! (`PAUSE`): which is faster depends on the machine, so both are raced.

use crate::link::{Message, Rx, Tx};
use crossbeam_queue::ArrayQueue;
use std::hint;
use std::sync::Arc;
use std::sync::mpsc;

#[inline(always)]
fn pause<const PAUSE: bool>() {
    if PAUSE {
        hint::spin_loop();
    }
}

/// rtrb, message by message.
pub(crate) struct Rtrb<E, const PAUSE: bool>(E);

pub(crate) fn rtrb<const PAUSE: bool>(
    slots: usize,
) -> (
    Rtrb<rtrb::Producer<Message>, PAUSE>,
    Rtrb<rtrb::Consumer<Message>, PAUSE>,
) {
    let (producer, consumer) = rtrb::RingBuffer::new(slots);
    (Rtrb(producer), Rtrb(consumer))
}

impl<const PAUSE: bool> Tx for Rtrb<rtrb::Producer<Message>, PAUSE> {
    #[inline(always)]
    fn send(&mut self, message: Message) {
        while self.0.push(message).is_err() {
            pause::<PAUSE>();
        }
    }
}

impl<const PAUSE: bool> Rx for Rtrb<rtrb::Consumer<Message>, PAUSE> {
    #[inline(always)]
    fn receive(&mut self) -> Message {
        loop {
            if let Ok(message) = self.0.pop() {
                return message;
            }
            pause::<PAUSE>();
        }
    }
}

/// Messages per chunk of [`RtrbChunks`].
pub(crate) const CHUNK: u64 = 16;

/// rtrb, in chunks: one publication for [`CHUNK`] messages.
pub(crate) struct RtrbChunks<E>(E);

pub(crate) fn rtrb_chunks(
    slots: usize,
) -> (
    RtrbChunks<rtrb::Producer<Message>>,
    RtrbChunks<rtrb::Consumer<Message>>,
) {
    let (producer, consumer) = rtrb::RingBuffer::new(slots);
    (RtrbChunks(producer), RtrbChunks(consumer))
}

impl Tx for RtrbChunks<rtrb::Producer<Message>> {
    fn send(&mut self, message: Message) {
        while self.0.push(message).is_err() {
            hint::spin_loop();
        }
    }

    fn send_run(&mut self, first: u64, count: u64) {
        let mut number = first;
        let end = first + count;
        while number < end {
            let size = CHUNK.min(end - number);
            match self.0.write_chunk_uninit(size as usize) {
                Ok(chunk) => {
                    chunk.fill_from_iter((number..number + size).map(Message::new));
                    number += size;
                }
                Err(_) => hint::spin_loop(),
            }
        }
    }
}

impl Rx for RtrbChunks<rtrb::Consumer<Message>> {
    fn receive(&mut self) -> Message {
        loop {
            if let Ok(message) = self.0.pop() {
                return message;
            }
            hint::spin_loop();
        }
    }

    fn receive_run(&mut self, count: u64, mut each: impl FnMut(Message)) {
        let mut left = count;
        while left > 0 {
            let size = CHUNK.min(left);
            match self.0.read_chunk(size as usize) {
                Ok(chunk) => {
                    chunk.into_iter().for_each(&mut each);
                    left -= size;
                }
                Err(_) => hint::spin_loop(),
            }
        }
    }
}

/// crossbeam's bounded queue, which any number of threads may use.
pub(crate) struct Array<const PAUSE: bool>(Arc<ArrayQueue<Message>>);

pub(crate) fn array<const PAUSE: bool>(slots: usize) -> (Array<PAUSE>, Array<PAUSE>) {
    let queue = Arc::new(ArrayQueue::new(slots));
    (Array(Arc::clone(&queue)), Array(queue))
}

impl<const PAUSE: bool> Tx for Array<PAUSE> {
    #[inline(always)]
    fn send(&mut self, message: Message) {
        while self.0.push(message).is_err() {
            pause::<PAUSE>();
        }
    }
}

impl<const PAUSE: bool> Rx for Array<PAUSE> {
    #[inline(always)]
    fn receive(&mut self) -> Message {
        loop {
            if let Some(message) = self.0.pop() {
                return message;
            }
            pause::<PAUSE>();
        }
    }
}

/// The standard library's bounded channel; it spins a little, then sleeps.
pub(crate) fn sync_channel(
    slots: usize,
) -> (mpsc::SyncSender<Message>, Blocking<mpsc::Receiver<Message>>) {
    let (sender, receiver) = mpsc::sync_channel(slots);
    (sender, Blocking(receiver))
}

/// The standard library's unbounded channel.
pub(crate) fn channel() -> (mpsc::Sender<Message>, Blocking<mpsc::Receiver<Message>>) {
    let (sender, receiver) = mpsc::channel();
    (sender, Blocking(receiver))
}

/// The standard library's bounded channel, whose receiver polls.
pub(crate) fn polled_channel(
    slots: usize,
) -> (mpsc::SyncSender<Message>, Polling<mpsc::Receiver<Message>>) {
    let (sender, receiver) = mpsc::sync_channel(slots);
    (sender, Polling(receiver))
}

/// Receives with `recv`.
pub(crate) struct Blocking<R>(R);

/// Receives with `try_recv` in a loop.
pub(crate) struct Polling<R>(R);

const GONE: &str = "both ends last as long as the race";

impl Tx for mpsc::SyncSender<Message> {
    #[inline(always)]
    fn send(&mut self, message: Message) {
        mpsc::SyncSender::send(self, message).expect(GONE);
    }
}

impl Tx for mpsc::Sender<Message> {
    #[inline(always)]
    fn send(&mut self, message: Message) {
        mpsc::Sender::send(self, message).expect(GONE);
    }
}

impl Rx for Blocking<mpsc::Receiver<Message>> {
    #[inline(always)]
    fn receive(&mut self) -> Message {
        self.0.recv().expect(GONE)
    }
}

impl Rx for Polling<mpsc::Receiver<Message>> {
    #[inline(always)]
    fn receive(&mut self) -> Message {
        loop {
            if let Ok(message) = self.0.try_recv() {
                return message;
            }
            hint::spin_loop();
        }
    }
}
