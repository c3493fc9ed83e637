//! Both ends of a queue whose slots, body and acknowledgements another process writes.

use super::memory::{Guarded, Lost, shared, wait_strategy, word, write};
use arbitrary::{Result, Unstructured};
use corecast_wire::queue::{self, Backend, Capacity, FIRST_LINK, SendError, TAG_MAX};

pub(super) fn run(u: &mut Unstructured) -> Result<()> {
    let slots = 2 << u.int_in_range(0..=4)?;
    let (sender_memory, at_sender) = shared(queue::sender_bytes());
    let (receiver_memory, at_receiver) = shared(queue::receiver_bytes(Capacity::of(slots)));
    let (mut sender, mut receiver) = queue::join(
        *u.choose(&Backend::ALL)?,
        Capacity::of(slots),
        FIRST_LINK,
        (&wait_strategy(), &sender_memory),
        (&wait_strategy(), &receiver_memory),
    )
    .expect("there is room");
    let words = (queue::receiver_bytes(Capacity::of(slots)) / 8) as u64;
    for _ in 0..200 {
        if u.is_empty() {
            break;
        }
        match u.int_in_range(0..=8)? {
            // The counts of slots and body lines that were read, and who has gone.
            0 => write(&at_sender, 8 * u.int_in_range(0..=15)?, word(u)?),
            // The header of a slot, and anything.
            1 | 2 => write(
                &at_receiver,
                64 * u.int_in_range(0..=slots as u64 - 1)?,
                word(u)?,
            ),
            3 => write(&at_receiver, 8 * u.int_in_range(0..=words - 1)?, word(u)?),
            4 | 5 => {
                let payload = vec![7; u.int_in_range(0..=sender.message_bytes_max() + 1)?];
                let sent = sender.send_watched(u.int_in_range(0..=TAG_MAX)?, &payload, || Lost);
                match sent {
                    Ok(()) | Err(SendError::Ended(())) => {}
                    Err(SendError::TooLong { len, max }) => assert!(len > max),
                    Err(error) => panic!("{error:?}"),
                }
            }
            6 => {
                let next = receiver.peek();
                let mut buffer = Guarded::new(u.int_in_range(0..=4096)?);
                let received = receiver.try_receive(buffer.data());
                let len = buffer.len;
                assert!(received.is_err() || next.is_some_and(|next| next.len <= len));
            }
            7 => {
                let Ok(next) = receiver.wait_watched(|| Lost) else {
                    continue;
                };
                assert!(next.tag <= TAG_MAX);
                let mut buffer = Guarded::new(next.len.min(u.int_in_range(0..=1 << 17)?));
                let _ = receiver.receive_exact(next.tag, buffer.data(), || Lost);
            }
            _ => {
                let mut buffer = Guarded::new(u.int_in_range(0..=4096)?);
                let _ =
                    receiver.receive_exact(u.int_in_range(0..=TAG_MAX)?, buffer.data(), || Lost);
            }
        }
    }
    Ok(())
}
