//! Queues in memory that another process corrupts, or leaves in the middle of a message: an end may
//! get nonsense or an error, but it neither hangs nor panics.

use corecast_wire::queue::{
    self, Backend, Capacity, ExactError, FIRST_LINK, ReceiveError, Receiver, SendError, Sender,
    TAG_MAX,
};
use corecast_wire::wait::Watch;
use corecast_wire::{Segment, WaitConfig, WaitStrategy, shared_fence_kind};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

const SLOTS: usize = 16;
const SLOT_BYTES: u64 = 64;

/// The offset in bytes of the body in the receiver's memory.
const BODY_AT: u64 = SLOTS as u64 * SLOT_BYTES;

/// A queue of which both memories can be written as if by another process.
struct Queue {
    sender: Sender,
    receiver: Receiver,
    /// The sender's memory, which holds the acknowledgement line.
    at_sender: File,
    /// The receiver's memory, which holds the slots and the body.
    at_receiver: File,
}

fn make(backend: Backend) -> Queue {
    let (sender_memory, at_sender) = Segment::shared(queue::sender_bytes()).unwrap();
    let (receiver_memory, at_receiver) =
        Segment::shared(queue::receiver_bytes(Capacity::of(SLOTS))).unwrap();
    let wait_strategy = || {
        let parker = Segment::one(None).unwrap();
        WaitStrategy::with_fence(WaitConfig::OVERSUBSCRIBED, parker, shared_fence_kind())
    };
    let (sender, receiver) = queue::join(
        backend,
        Capacity::of(SLOTS),
        FIRST_LINK,
        (&wait_strategy(), &sender_memory),
        (&wait_strategy(), &receiver_memory),
    )
    .unwrap();
    Queue {
        sender,
        receiver,
        at_sender: at_sender.into(),
        at_receiver: at_receiver.into(),
    }
}

/// Ends a wait at its first check.
struct Lost;

impl Watch for Lost {
    type Error = &'static str;

    fn check(&mut self, _waited: Duration) -> Result<(), Self::Error> {
        Err("lost")
    }
}

/// The header of the first slot, in the first lap, and a payload of sevens.
fn slot(tag: u64, len: u64) -> [u8; SLOT_BYTES as usize] {
    let mut slot = [7; SLOT_BYTES as usize];
    slot[..8].copy_from_slice(&(tag << 24 | len << 1 | 1).to_ne_bytes());
    slot
}

/// The sender's process was killed after it had written `written` of the body lines of a message.
#[test]
fn a_sender_that_ends_amid_a_message_takes_it_along() {
    for backend in Backend::ALL {
        for written in 1..=3 {
            let put = |queue: &Queue| {
                // The slot, which a sender writes last, is missing.
                let body = vec![7; written * SLOT_BYTES as usize];
                queue.at_receiver.write_all_at(&body, BODY_AT).unwrap();
            };
            let mut buffer = [0; 200];
            let mut queue = make(backend);
            put(&queue);
            assert!(!queue.receiver.can_receive());
            let error = queue.receiver.receive_exact(5, &mut buffer, || Lost);
            assert_eq!(
                error,
                Err(ExactError::Ended("lost")),
                "{backend}, {written}"
            );

            let mut queue = make(backend);
            put(&queue);
            let gone = 1u32.to_ne_bytes();
            queue.at_sender.write_all_at(&gone, 16).unwrap();
            let error = queue.receiver.receive(&mut buffer).unwrap_err();
            assert!(
                matches!(error, ReceiveError::Ended(_)),
                "{backend}: {error}"
            );
        }
        // With its slot the message is whole.
        let mut queue = make(backend);
        queue.at_receiver.write_all_at(&[7; 192], BODY_AT).unwrap();
        queue.at_receiver.write_all_at(&slot(5, 200), 0).unwrap();
        let mut buffer = [0; 200];
        assert_eq!(
            queue.receiver.receive_exact(5, &mut buffer, || Lost),
            Ok(())
        );
        assert_eq!(buffer, [7; 200]);
    }
}

fn word(rng: &mut fastrand::Rng) -> u64 {
    match rng.u32(..4) {
        0 => rng.u64(..),
        1 => rng.u64(..2 * SLOTS as u64),
        2 => u64::MAX - rng.u64(..2 * SLOTS as u64),
        _ => rng.u64(..1 << 26),
    }
}

#[test]
fn odd_bytes_neither_hang_nor_end_an_end() {
    let mut got = 0;
    for seed in 0..400 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut queue = make(Backend::ALL[rng.usize(..2)]);
        let mut buffer = vec![0; 10_000];
        for _ in 0..200 {
            match rng.u32(..8) {
                0 => {
                    let count = word(&mut rng).to_ne_bytes();
                    // The number of slots that were read, or the number of body lines.
                    let place = 8 * rng.u64(..2);
                    queue.at_sender.write_all_at(&count, place).unwrap();
                }
                1 | 2 => {
                    let header = word(&mut rng).to_ne_bytes();
                    let place = rng.u64(..SLOTS as u64) * SLOT_BYTES;
                    queue.at_receiver.write_all_at(&header, place).unwrap();
                }
                3 | 4 => {
                    let len = rng.usize(..=queue.sender.message_bytes_max());
                    let tag = rng.u32(..=TAG_MAX);
                    match queue.sender.send_watched(tag, &buffer[..len], || Lost) {
                        Ok(()) | Err(SendError::Ended("lost")) => {}
                        Err(error) => panic!("seed {seed}: {error:?}"),
                    }
                }
                5 => {
                    let len = rng.usize(..buffer.len());
                    if let Some(next) = queue.receiver.peek() {
                        assert!(next.tag <= TAG_MAX && next.len < 1 << 23);
                    }
                    got += usize::from(queue.receiver.try_receive(&mut buffer[..len]).is_ok());
                }
                6 => {
                    let next = queue.receiver.wait_watched(|| Lost);
                    let Ok(next) = next else { continue };
                    let len = next.len.min(buffer.len());
                    let received =
                        queue
                            .receiver
                            .receive_exact(next.tag, &mut buffer[..len], || Lost);
                    got += usize::from(received.is_ok());
                }
                _ => {
                    let tag = rng.u32(..=TAG_MAX);
                    let len = rng.usize(..buffer.len());
                    let received = queue
                        .receiver
                        .receive_exact(tag, &mut buffer[..len], || Lost);
                    got += usize::from(received.is_ok());
                }
            }
        }
    }
    assert!(got > 1000, "{got}");
}
