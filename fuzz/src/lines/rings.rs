//! Both ends of a broadcast ring, an operation history and a counter in memory that another process writes.

use super::memory::{Guarded, parker, shared, word, write};
use arbitrary::{Result, Unstructured};
use corecast_wire::op_history::OpHistory;
use corecast_wire::queue::TAG_MAX;
use corecast_wire::robust_list::EndMark;
use corecast_wire::{
    ArrivalCounter, CounterBarrier, LineRef, Segment, StopWord, Words, broadcast_ring,
    shared_fence_kind,
};

pub(super) fn run(u: &mut Unstructured) -> Result<()> {
    let (readers, body_lines) = (u.int_in_range(1..=3)?, u.int_in_range(0..=8)?);
    let shape = broadcast_ring::Shape {
        slots: 16 << u.int_in_range(0..=2)?,
        ..broadcast_ring::Shape::new(readers, body_lines)
    };
    let bytes = shape.bytes()
        + Segment::bytes_for::<OpHistory>(1)
        + Segment::bytes_for::<ArrivalCounter>(1)
        + Segment::bytes_for::<StopWord>(1)
        + Segment::bytes_for::<Words>(1);
    let (memory, file) = shared(bytes);
    let fence = shared_fence_kind();
    let parts = broadcast_ring::parts(1, shape, &memory).expect("there is room");
    let bells = vec![parker(); readers];
    let mut writer = parts.writer(&bells, fence);
    let mut ends: Vec<_> = (0..readers)
        .map(|index| parts.reader(index, &parker(), fence))
        .collect();
    let history: LineRef<OpHistory> = memory.lines(1).expect("there is room").get(0);
    let counter = memory.lines(1).expect("there is room").get(0);
    let counter = CounterBarrier::new(1, counter, bells.into(), fence);
    let stop: LineRef<StopWord> = memory.lines(1).expect("there is room").get(0);
    let mark = EndMark::new(memory.lines(1).expect("there is room").get(0), 0);
    let max = writer.publish_bytes_max();
    for _ in 0..200 {
        if u.is_empty() {
            break;
        }
        match u.int_in_range(0..=7)? {
            0 => write(
                &file,
                8 * u.int_in_range(0..=bytes as u64 / 8 - 1)?,
                word(u)?,
            ),
            // The header of a slot: for the number of a message that may come next.
            1 | 2 => {
                let number: u64 = u.int_in_range(0..=40)?;
                let header = number << 40 | u.int_in_range(0..=(1 << 40) - 1)?;
                write(&file, 64 * (number % shape.slots as u64), header);
            }
            3 => {
                let payload = vec![7; u.int_in_range(0..=max)?];
                if let Some(reader) = writer.holder(payload.len()) {
                    assert!(reader < readers);
                } else {
                    writer.publish(u.int_in_range(0..=TAG_MAX)?, &payload);
                }
            }
            4 | 5 => {
                let reader = u.choose_index(readers)?;
                let Some(message) = ends[reader].look() else {
                    continue;
                };
                let mut buffer = Guarded::new(message.len.min(max));
                // The other process writes between the look and the copy, too.
                let is_overwritten = u.arbitrary()?;
                if is_overwritten {
                    write(&file, 64 * u.int_in_range(0..=15)?, word(u)?);
                }
                let taken = ends[reader].take(buffer.data());
                assert!(taken || is_overwritten, "{message:?}");
            }
            6 => {
                let seq = u.arbitrary()?;
                let _ = (history.now(), history.read_at(seq), history.joined_at());
                let _ = (history.presence(), history.has_ended(seq), history.rests());
                let _ = (stop.get(), mark.is_known(), mark.has_ended());
            }
            _ => {
                let _ = counter.come(word(u)?);
                counter.wake();
            }
        }
    }
    Ok(())
}
