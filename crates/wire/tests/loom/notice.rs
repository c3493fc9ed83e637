//! Lines that a group shares: notices, which one writes and several read, and tallies, to which
//! several add.

use super::{SLEEP, check};
use corecast_wire::mutant::Mutant;
use corecast_wire::notice::{self, NOTICE_PAYLOAD_BYTES, Reader, Writer};
use corecast_wire::{FenceKind, Governor, Line, LineRef, Parker, Policy, Segment, Tally};
use loom::cell::UnsafeCell;
use loom::thread;
use std::sync::Arc;

const KIND: FenceKind = FenceKind::Symmetric;

type Ends = (Writer, Governor, Vec<(Reader, Governor)>);

fn ends(readers: usize) -> Ends {
    let memory = Segment::new(notice::bytes(readers, 1), None).unwrap();
    let parts = notice::parts(1, (readers, 1), &memory).unwrap();
    let bell = || -> LineRef<Line<Parker>> { Segment::one(None).unwrap() };
    let bells: Vec<_> = (0..readers).map(|_| bell()).collect();
    let governor = |bell: &LineRef<_>| Governor::new(Policy::PARK, LineRef::clone(bell));
    let writer = governor(&bell());
    let ends = (0..readers)
        .map(|index| {
            (
                parts.reader(index, writer.parker(), KIND),
                governor(&bells[index]),
            )
        })
        .collect();
    (parts.writer(&bells, KIND), writer, ends)
}

/// Bytes of a post that has a line of body.
const LONG: usize = NOTICE_PAYLOAD_BYTES + 8;

/// A post whose payload is its tag, again and again: in its slot, and in the body.
fn post(writer: &mut Writer, value: u32) {
    writer.post(value, &[value as u8; LONG]);
}

fn take(reader: &mut Reader, expected: u32) {
    let mut payload = [0; LONG];
    assert_eq!(
        reader.look().map(|noticed| (noticed.tag, noticed.len)),
        Some((expected, LONG))
    );
    reader.take(&mut payload);
    assert_eq!(payload, [expected as u8; LONG]);
}

/// Polling ends, no parking: three posts through two slots, so that one is used again.
#[test]
fn notices_are_read_before_they_are_written_again() {
    let faults = [
        Mutant::PostRelaxed,
        Mutant::NoticeRelaxed,
        Mutant::RaiseRelaxed,
        Mutant::SeeRelaxed,
        Mutant::NoFlowControl,
    ];
    check("notice slots", None, &faults, || {
        let (mut writer, _, mut ends) = ends(1);
        let other = thread::spawn(move || {
            for value in 1..=3 {
                while writer.holder().is_some() {
                    thread::yield_now();
                }
                post(&mut writer, value);
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

/// Two readers, of whom the first reads at once: the slot is free when the second one has given it
/// back too.
#[test]
fn the_slowest_reader_frees_a_slot() {
    let faults = [Mutant::OneReaderFrees, Mutant::NoFlowControl];
    check("notice, two readers", None, &faults, || {
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
            while writer.holder().is_some() {
                thread::yield_now();
            }
            post(&mut writer, value);
            take(&mut ends[0].0, value);
        }
        drop(other.join().unwrap());
    });
}

/// Parking ends: every reader is woken, and nobody sleeps for ever.
#[test]
fn every_reader_wakes() {
    let faults = [&SLEEP[..], &[Mutant::OneReaderWakes]].concat();
    check("notice, two sleepers", Some(3), &faults, || {
        let (mut writer, _, ends) = ends(2);
        let readers: Vec<_> = ends
            .into_iter()
            .map(|(mut reader, governor)| {
                thread::spawn(move || {
                    governor.wait(notice::token(1), || reader.look());
                    take(&mut reader, 1);
                    reader
                })
            })
            .collect();
        post(&mut writer, 1);
        readers
            .into_iter()
            .for_each(|reader| drop(reader.join().unwrap()));
    });
}

/// A writer that sleeps for room is woken by the reader that holds the slot.
#[test]
fn a_writer_wakes_for_room() {
    check("notice, room", Some(4), &SLEEP, || {
        let (mut writer, governor, mut ends) = ends(1);
        let other = thread::spawn(move || {
            for value in 1..=3 {
                let room = notice::room_token(1);
                governor.wait(room, || writer.holder().is_none().then_some(()));
                post(&mut writer, value);
            }
            writer
        });
        let (reader, governor) = &mut ends[0];
        for value in 1..=3 {
            governor.wait(notice::token(1), || reader.look());
            take(reader, value);
        }
        drop(other.join().unwrap());
    });
}

/// Two add and one reads: it sees what both wrote before, and the last one wakes it.
#[test]
fn a_tally_publishes_what_all_did() {
    let faults = [&SLEEP[..], &[Mutant::CountRelaxed, Mutant::TotalRelaxed]].concat();
    check("tally", Some(3), &faults, || {
        let tally: LineRef<Tally> = Segment::one(None).unwrap();
        let bell: LineRef<Line<Parker>> = Segment::one(None).unwrap();
        let governor = Governor::new(Policy::PARK, bell.clone());
        let cells = Arc::new([UnsafeCell::new(0u64), UnsafeCell::new(0u64)]);
        let adders: Vec<_> = (0..2)
            .map(|index| {
                let (tally, bell, cells) = (tally.clone(), bell.clone(), cells.clone());
                thread::spawn(move || {
                    // SAFETY: loom checks that no access overlaps another: that is the test.
                    cells[index].with_mut(|cell| unsafe { *cell = 7 });
                    if tally.add(5) == 10 {
                        bell.wake_for(notice::token(1), KIND);
                    }
                })
            })
            .collect();
        governor.wait(notice::token(1), || (tally.sum() == 10).then_some(()));
        for cell in cells.iter() {
            // SAFETY: as above.
            assert_eq!(cell.with(|cell| unsafe { *cell }), 7);
        }
        adders.into_iter().for_each(|adder| adder.join().unwrap());
    });
}
