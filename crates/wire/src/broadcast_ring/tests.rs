use super::*;
use crate::{LINE_BYTES, WaitConfig, WaitStrategy, fence_kind};
use std::sync::Arc;

fn bell() -> LineRef<Line<Parker>> {
    Segment::one(None).unwrap()
}

/// The number of body lines of a slot.
const LINES: usize = 5;

/// The ends of a broadcast ring, and the wait strategy of each reader, then of the writer.
fn ring(
    shape: Shape,
    wait_config: WaitConfig,
) -> (Writer, Vec<(Reader, WaitStrategy)>, WaitStrategy) {
    let readers = shape.readers;
    let memory = Segment::new(shape.bytes(), None).unwrap();
    let parts = parts(3, shape, &memory).unwrap();
    let bells: Vec<_> = (0..readers).map(|_| bell()).collect();
    let writer = WaitStrategy::new(wait_config, bell());
    let ends = bells.iter().enumerate().map(|(index, bell)| {
        let reader = parts.reader(index, writer.parker(), fence_kind());
        (reader, WaitStrategy::new(wait_config, bell.clone()))
    });
    let ends = ends.collect();
    (parts.writer(&bells, fence_kind()), ends, writer)
}

/// The payload of message `number`. All lengths occur.
fn payload(number: u32) -> Vec<u8> {
    let len = number as usize % (RING_PAYLOAD_BYTES + LINES * LINE_BYTES + 1);
    (0..len)
        .map(|index| (number as usize + index) as u8)
        .collect()
}

#[test]
fn every_reader_gets_every_message_however_anybody_waits() {
    for wait_config in [
        WaitConfig::PARK,
        WaitConfig::OVERSUBSCRIBED,
        WaitConfig::BALANCED,
    ] {
        for (readers, slots) in [(1, 16), (2, 16), (5, 16), (1, 64), (3, 256)] {
            let shape = Shape {
                slots,
                ..Shape::new(readers, LINES)
            };
            let (mut writer, ends, wait_strategy) = ring(shape, wait_config);
            let publishes = 3000u32;
            std::thread::scope(|scope| {
                for (index, (mut reader, wait_strategy)) in ends.into_iter().enumerate() {
                    scope.spawn(move || {
                        let mut rng = fastrand::Rng::with_seed(index as u64);
                        for number in 0..publishes {
                            if rng.u32(..300) == 0 {
                                std::thread::sleep(std::time::Duration::from_micros(200));
                            }
                            let seen = wait_strategy.wait(token(3), || reader.look());
                            let expected = payload(number);
                            assert_eq!((seen.tag, seen.len), (number, expected.len()));
                            let mut found = vec![0; seen.len];
                            assert!(reader.take(&mut found));
                            assert_eq!(found, expected);
                        }
                    });
                }
                for number in 0..publishes {
                    let payload = payload(number);
                    wait_strategy.wait(room_token(3), || {
                        writer.holder(payload.len()).is_none().then_some(())
                    });
                    writer.publish(number, &payload);
                }
            });
        }
    }
}

#[test]
fn a_writer_has_room_for_a_lap_before_anybody_reads_and_not_for_more() {
    let (mut writer, mut ends, _) = ring(Shape::new(2, LINES), WaitConfig::PARK);
    for number in 0..RING_SLOTS as u32 {
        assert_eq!(writer.holder(0), None);
        writer.publish(number, &[]);
    }
    assert_eq!(writer.holder(0), Some(0));
    for reader in [0, 1] {
        for _ in 0..RING_SLOTS / 2 {
            assert_eq!(writer.holder(0), Some(reader));
            assert!(ends[reader].0.take(&mut []));
        }
    }
    assert_eq!(writer.holder(0), None);
    let over = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        (0..=RING_SLOTS).for_each(|_| writer.publish(0, &[]));
    }));
    assert!(over.is_err());
}

/// A ring has fewer bodies than slots: a long message waits for its own, however many short ones went before.
#[test]
fn short_messages_go_ahead_of_readers_and_long_ones_wait_for_a_body() {
    let shape = Shape {
        slots: 4 * RING_SLOTS,
        ..Shape::new(1, LINES)
    };
    let (mut writer, mut ends, _) = ring(shape, WaitConfig::PARK);
    let (reader, _) = &mut ends[0];
    let long = vec![9; writer.publish_bytes_max()];
    for number in 0..4 * RING_SLOTS as u32 {
        assert_eq!(writer.holder(RING_PAYLOAD_BYTES), None);
        let room = (number as usize) < RING_SLOTS;
        assert_eq!(writer.holder(RING_PAYLOAD_BYTES + 1).is_none(), room);
        let message: &[u8] = if number == 3 { &long } else { &[number as u8] };
        writer.publish(number, message);
    }
    assert_eq!(writer.holder(0), Some(0));
    let mut found = vec![0; long.len()];
    for number in 0..3 * RING_SLOTS as u32 {
        let len = reader.look().unwrap().len;
        assert!(reader.take(&mut found[..len]));
        match number {
            3 => assert_eq!(found, long),
            _ => assert_eq!(found[..len], [number as u8]),
        }
    }
    // All but a lap of bodies were given back, so the next message has a slot, and not yet a body.
    assert_eq!(
        (writer.holder(0), writer.holder(long.len())),
        (None, Some(0))
    );
    for _ in 0..RING_SLOTS / 2 {
        assert!(reader.take(&mut []));
    }
    assert_eq!(writer.holder(long.len()), None);
    writer.publish(1, &long);
    for _ in 0..RING_SLOTS / 2 {
        assert!(reader.take(&mut []));
    }
    assert!(reader.take(&mut found));
    assert_eq!(found, long);
}

/// A header has 24 bits of a message's number.
#[test]
fn numbers_of_messages_wrap_around() {
    for before in [0, 1 << 16, 1 << 24, 1 << 32].map(|wrap: u64| wrap.saturating_sub(40)) {
        let (mut writer, mut ends, _) = ring(Shape::new(2, LINES), WaitConfig::PARK);
        writer.begin_after(before);
        for (reader, _) in &mut ends {
            reader.begin_after(before);
        }
        for lap in 0..20 {
            for number in 0..RING_SLOTS as u32 {
                assert_eq!(writer.holder(0), None);
                writer.publish(number, &payload(lap * 16 + number));
            }
            assert_eq!(writer.holder(0), Some(0));
            for (reader, _) in &mut ends {
                for number in 0..RING_SLOTS as u32 {
                    let expected = payload(lap * 16 + number);
                    let found = reader.look().unwrap();
                    assert_eq!((found.len, found.tag), (expected.len(), number));
                    let mut bytes = vec![0; found.len];
                    assert!(reader.take(&mut bytes));
                    assert_eq!(bytes, expected);
                }
                assert_eq!(reader.look(), None);
            }
        }
    }
}

/// Another process may write any bytes. Lengths and numbers are then odd, but nothing is read that
/// was not published.
#[test]
fn nonsense_in_the_lines_stays_nonsense() {
    let shape = Shape::new(1, LINES);
    let memory = Segment::new(shape.bytes(), None).unwrap();
    let parts = parts(0, shape, &memory).unwrap();
    let mut writer = parts.writer(&[bell()], fence_kind());
    let mut reader = parts.reader(0, &bell(), fence_kind());
    let words: Arc<Segment> = memory.clone();
    let word = words.at::<crate::Words>(0, 2).unwrap();
    let mut rng = fastrand::Rng::with_seed(1);
    for _ in 0..1000 {
        word[0].set(8, rng.u64(..));
        if let Some(noticed) = reader.look() {
            assert!(noticed.len <= 65_535);
        }
    }
    // As if the next published message were there, with an odd length.
    word[0].set(8, 1 << 40 | 5 << 16 | 65_535);
    assert_eq!(
        reader.look(),
        Some(RingMessage {
            len: 65_535,
            tag: 5
        })
    );
    let longest = writer.publish_bytes_max();
    assert_eq!(longest, RING_PAYLOAD_BYTES + LINES * LINE_BYTES);
    let mut beyond = vec![0; longest + 1];
    let taken = std::panic::AssertUnwindSafe(|| reader.take(&mut beyond));
    assert!(std::panic::catch_unwind(taken).is_err());
    let mut all = vec![0; longest];
    assert!(reader.take(&mut all));
    // Overwritten between the look and the copy.
    word[1].set(0, 2 << 40 | 5 << 16 | 1);
    assert!(reader.look().is_some());
    word[1].set(0, 3 << 40);
    assert!(!reader.take(&mut [7]) && reader.look().is_none());
    // A reader that says that it has read what was never published frees no more than there is.
    parts.read[0].raise(u64::MAX);
    (0..100).for_each(|_| writer.publish(1, &[1]));
}
