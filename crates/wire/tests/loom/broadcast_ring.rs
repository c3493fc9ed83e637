//! Lines that a group shares: broadcast rings, which one writes and several read, and arrival counters, to which
//! several add.

use super::{SLEEP, check};
use corecast_wire::broadcast_ring::{self, RING_PAYLOAD_BYTES, Reader, Writer};
use corecast_wire::mutant::Mutant;
use corecast_wire::{
    ArrivalCounter, FenceKind, Line, LineRef, Parker, Segment, WaitConfig, WaitStrategy,
};
use loom::cell::UnsafeCell;
use loom::thread;
use std::sync::Arc;

const KIND: FenceKind = FenceKind::Symmetric;

type Ends = (Writer, WaitStrategy, Vec<(Reader, WaitStrategy)>);

fn ends(readers: usize) -> Ends {
    ends_of(broadcast_ring::Shape::new(readers, 1))
}

fn ends_of(shape: broadcast_ring::Shape) -> Ends {
    let readers = shape.readers;
    let memory = Segment::new(shape.bytes(), None).unwrap();
    let parts = broadcast_ring::parts(1, shape, &memory).unwrap();
    let bell = || -> LineRef<Line<Parker>> { Segment::one(None).unwrap() };
    let bells: Vec<_> = (0..readers).map(|_| bell()).collect();
    let wait_strategy =
        |bell: &LineRef<_>| WaitStrategy::new(WaitConfig::PARK, LineRef::clone(bell));
    let writer = wait_strategy(&bell());
    let ends = (0..readers)
        .map(|index| {
            (
                parts.reader(index, writer.parker(), KIND),
                wait_strategy(&bells[index]),
            )
        })
        .collect();
    (parts.writer(&bells, KIND), writer, ends)
}

/// Bytes of a published message that has a line of body.
const LONG: usize = RING_PAYLOAD_BYTES + 8;

/// Publishes a message all of whose bytes are its tag, in its slot and in the body.
fn publish(writer: &mut Writer, value: u32) {
    writer.publish(value, &[value as u8; LONG]);
}

fn take(reader: &mut Reader, expected: u32) {
    let mut payload = [0; LONG];
    assert_eq!(
        reader.look().map(|noticed| (noticed.tag, noticed.len)),
        Some((expected, LONG))
    );
    assert!(reader.take(&mut payload));
    assert_eq!(payload, [expected as u8; LONG]);
}

/// Ends that poll and never park: three messages go through two slots, so that one slot is used twice.
#[test]
fn rings_are_read_before_they_are_written_again() {
    let faults = [
        Mutant::RingPublishRelaxed,
        Mutant::RingReadRelaxed,
        Mutant::RaiseRelaxed,
        Mutant::SeeRelaxed,
        Mutant::NoFlowControl,
    ];
    check("broadcast ring slots", None, &faults, || {
        let (mut writer, _, mut ends) = ends(1);
        let other = thread::spawn(move || {
            for value in 1..=3 {
                while writer.holder(LONG).is_some() {
                    thread::yield_now();
                }
                publish(&mut writer, value);
            }
            writer
        });
        for value in 1..=3 {
            while ends[0].0.look().is_none() {
                thread::yield_now();
            }
            take(&mut ends[0].0, value);
        }
        drop(other.join().unwrap());
    });
}

/// A ring of more slots than bodies: the third message has a slot of its own, and the body of the first.
#[test]
fn bodies_are_read_before_they_are_written_again() {
    let faults = [Mutant::NoBodyFlow, Mutant::RaiseRelaxed, Mutant::SeeRelaxed];
    check("broadcast ring bodies", None, &faults, || {
        let shape = broadcast_ring::Shape {
            slots: 4,
            ..broadcast_ring::Shape::new(1, 1)
        };
        let (mut writer, _, mut ends) = ends_of(shape);
        let other = thread::spawn(move || {
            publish(&mut writer, 1);
            writer.publish(2, &[2]);
            while writer.holder(LONG).is_some() {
                thread::yield_now();
            }
            publish(&mut writer, 3);
            writer
        });
        let reader = &mut ends[0].0;
        for value in 1..=3 {
            while reader.look().is_none() {
                thread::yield_now();
            }
            match value {
                2 => assert!(reader.take(&mut [0])),
                _ => take(reader, value),
            }
        }
        drop(other.join().unwrap());
    });
}

/// Two readers, of which the first reads at once. A slot is free when the second one has given it back too.
#[test]
fn the_slowest_reader_frees_a_slot() {
    let faults = [Mutant::OneReaderFrees, Mutant::NoFlowControl];
    check("broadcast ring, two readers", None, &faults, || {
        let (mut writer, _, mut ends) = ends(2);
        let (mut slow, _) = ends.pop().unwrap();
        let other = thread::spawn(move || {
            for value in 1..=3 {
                while slow.look().is_none() {
                    thread::yield_now();
                }
                take(&mut slow, value);
            }
            slow
        });
        for value in 1..=3 {
            while writer.holder(LONG).is_some() {
                thread::yield_now();
            }
            publish(&mut writer, value);
            take(&mut ends[0].0, value);
        }
        drop(other.join().unwrap());
    });
}

/// Ends that park: every reader is woken, and none sleeps for ever.
#[test]
fn every_reader_wakes() {
    let faults = [&SLEEP[..], &[Mutant::OneReaderWakes]].concat();
    check("broadcast ring, two sleepers", Some(3), &faults, || {
        let (mut writer, _, ends) = ends(2);
        let readers: Vec<_> = ends
            .into_iter()
            .map(|(mut reader, wait_strategy)| {
                thread::spawn(move || {
                    wait_strategy.wait(broadcast_ring::token(1), || reader.look());
                    take(&mut reader, 1);
                    reader
                })
            })
            .collect();
        publish(&mut writer, 1);
        readers
            .into_iter()
            .for_each(|reader| drop(reader.join().unwrap()));
    });
}

/// A writer that sleeps for room is woken by the reader that holds the slot.
#[test]
fn a_writer_wakes_for_room() {
    check("broadcast ring, room", Some(4), &SLEEP, || {
        let (mut writer, wait_strategy, mut ends) = ends(1);
        let other = thread::spawn(move || {
            for value in 1..=3 {
                let room = broadcast_ring::room_token(1);
                wait_strategy.wait(room, || writer.holder(LONG).is_none().then_some(()));
                publish(&mut writer, value);
            }
            writer
        });
        let (reader, wait_strategy) = &mut ends[0];
        for value in 1..=3 {
            wait_strategy.wait(broadcast_ring::token(1), || reader.look());
            take(reader, value);
        }
        drop(other.join().unwrap());
    });
}

/// Two threads add and one reads. The reader sees what both wrote before they added, and the last one to add
/// wakes it.
#[test]
fn a_counter_publishes_what_all_did() {
    let faults = [&SLEEP[..], &[Mutant::CountRelaxed, Mutant::TotalRelaxed]].concat();
    check("arrival counter", Some(3), &faults, || {
        let counter: LineRef<ArrivalCounter> = Segment::one(None).unwrap();
        let bell: LineRef<Line<Parker>> = Segment::one(None).unwrap();
        let wait_strategy = WaitStrategy::new(WaitConfig::PARK, bell.clone());
        let cells = Arc::new([UnsafeCell::new(0u64), UnsafeCell::new(0u64)]);
        let adders: Vec<_> = (0..2)
            .map(|index| {
                let (counter, bell, cells) = (counter.clone(), bell.clone(), cells.clone());
                thread::spawn(move || {
                    // SAFETY: loom checks that no access overlaps another: that is the test.
                    cells[index].with_mut(|cell| unsafe { *cell = 7 });
                    if counter.add(5) == 10 {
                        bell.wake_for(broadcast_ring::token(1), KIND);
                    }
                })
            })
            .collect();
        wait_strategy.wait(broadcast_ring::token(1), || {
            (counter.sum() == 10).then_some(())
        });
        for cell in cells.iter() {
            // SAFETY: as above.
            assert_eq!(cell.with(|cell| unsafe { *cell }), 7);
        }
        adders.into_iter().for_each(|adder| adder.join().unwrap());
    });
}
