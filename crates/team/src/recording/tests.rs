//! Stamps are read as they were written, and calls are split as a plain reading of all times says.

use super::log::awaited;
use super::stamps::{Arrival, STAMPS};
use super::*;
use corecast_wire::{Segment, Words};
use std::ops::Range;

fn stamps(ranks: usize) -> Vec<ArrivalStamps> {
    let one = |_| {
        let segment = Segment::new(Segment::bytes_for::<Words>(STAMP_LINES), None).unwrap();
        ArrivalStamps::new(segment.lines(STAMP_LINES).unwrap())
    };
    (0..ranks).map(one).collect()
}

#[test]
fn stamps_are_read_as_they_were_written() {
    let last = u64::from(u32::MAX) + 5000;
    for first in [1, 1020, 4095 * 1024 - 3, u64::from(u32::MAX) - 7, last - 2] {
        let stamps = &stamps(1)[0];
        for seq in first..first + 2 * STAMPS as u64 {
            // From the counter's beginning over the end of the bits that are kept.
            let time = (seq - first) * 1_000_003 + (1 << 52) - 1_000_000;
            assert_eq!(stamps.read(seq, time), Arrival::NotYet, "{seq}");
            stamps.note(seq, time);
            for near in [time, time + 1, time - 1, time + (1 << 50), time - (1 << 50)] {
                assert_eq!(stamps.read(seq, near), Arrival::At(time), "{seq}");
            }
            let before = seq.checked_sub(STAMPS as u64).filter(|&seq| seq >= first);
            let before = before.map(|seq| stamps.read(seq, time));
            assert!(before.is_none_or(|read| read == Arrival::Overwritten));
        }
    }
}

/// What must have come before a call returns, said in another way than in the code: whose data are in the result.
#[test]
fn calls_depend_on_the_ranks_whose_data_they_return() {
    for size in 1..6 {
        for (root, rank) in (0..size).flat_map(|root| (0..size).map(move |rank| (root, rank))) {
            for kind in Collective::ALL {
                let others = |all: Range<usize>| {
                    let others = all.filter(|&other| other != rank);
                    others.collect::<Vec<_>>()
                };
                let expected = match kind.algorithms_of() {
                    Collective::Broadcast | Collective::Scatter => others(root..root + 1),
                    Collective::Reduce | Collective::Gather if rank == root => others(0..size),
                    Collective::Reduce | Collective::Gather => Vec::new(),
                    Collective::Scan => others(0..rank),
                    _ => others(0..size),
                };
                assert_eq!(others(awaited(kind, root, rank, size)), expected, "{kind}");
            }
        }
    }
}

/// A call of a random history: when each rank came and left.
struct Played {
    kind: Collective,
    root: usize,
    site: CallSite,
    came: Vec<u64>,
    left: Vec<u64>,
}

/// Operations in a row on `size` ranks, each of which comes some time after it has left the one before, and leaves some
/// time after the last one that it depends on.
fn history(size: usize, operations: usize, sites: &[CallSite]) -> Vec<Played> {
    let mut random = fastrand::Rng::with_seed(size as u64);
    let mut now = vec![1 << 40; size];
    let play = |_| {
        let kind = random.choice(Collective::ALL).unwrap();
        let (root, site) = (random.usize(..size), *random.choice(sites).unwrap());
        let came: Vec<u64> = now.iter().map(|now| now + random.u64(..1000)).collect();
        let left = |rank| {
            let others = awaited(kind, root, rank, size).map(|other| came[other]);
            others.fold(came[rank], u64::max) + random.u64(..100)
        };
        now = (0..size).map(left).collect();
        Played {
            kind,
            root,
            site,
            came,
            left: now.clone(),
        }
    };
    (0..operations).map(play).collect()
}

#[test]
fn calls_are_split_at_the_last_arrival_that_they_depend_on() {
    let sites = [
        CallSite::Source(Location::caller()),
        CallSite::Code(NonZeroUsize::MIN),
    ];
    for size in 1..5 {
        let history = history(size, 5 * STAMPS, &sites);
        let recording = Recording::new(stamps(size), &vec![true; size], ForkDetector::now());
        // One rank after the other lags behind, as far as a rank may.
        for (done, operation) in history.iter().enumerate() {
            let seq = done as u64 + 1;
            for rank in 0..size {
                recording.stamps[rank].note(seq, operation.came[rank]);
                let call = Call {
                    seq,
                    kind: operation.kind,
                    root: operation.root as u32,
                    site: operation.site,
                    came: operation.came[rank],
                };
                let log = recording.logs[rank].as_ref().unwrap();
                locked(log).add(call, operation.left[rank]);
            }
        }
        for (rank, log) in recording.logs() {
            let mut log = locked(log);
            let found = log.settle();
            assert_eq!(
                found.values().map(|sums| sums.calls).sum::<u64>(),
                5 * STAMPS as u64
            );
            for (&(site, kind), sums) in found {
                let mut expected = CallSums::default();
                let here = |played: &&Played| {
                    CallKind::Operation(played.kind) == kind && played.site == site
                };
                for played in history.iter().filter(here) {
                    let (came, left) = (played.came[rank], played.left[rank]);
                    let others = awaited(played.kind, played.root, rank, size);
                    let last = others.map(|other| played.came[other]).max();
                    let imbalance = last.unwrap_or(0).max(came) - came;
                    expected.calls += 1;
                    expected.imbalance += imbalance;
                    expected.mechanism += left - came - imbalance;
                    expected.longest = expected.longest.max(left - came);
                }
                assert_eq!(*sums, expected, "rank {rank} of {size}, {kind:?}");
            }
        }
    }
}

/// What is lost is said: a rank that is far ahead has overwritten the stamps that another one needs.
#[test]
fn calls_whose_stamps_are_gone_are_counted() {
    let site = Location::caller();
    let stamps = stamps(2);
    let recording = Recording::new(stamps.clone(), &[true, false], ForkDetector::now());
    let operations = 2 * STAMPS as u64;
    for seq in 1..=operations {
        stamps[1].note(seq, 1000 * seq);
    }
    let log = recording.logs[0].as_ref().unwrap();
    for seq in 1..=operations {
        let call = Call {
            seq,
            kind: Collective::Broadcast,
            root: 1,
            site: CallSite::Source(site),
            came: 1000 * seq - 10,
        };
        locked(log).add(call, 1000 * seq + 5);
    }
    let lost = STAMPS as u64;
    let expected = CallSums {
        calls: operations,
        unsplit: lost,
        imbalance: 10 * (operations - lost),
        mechanism: 5 * (operations - lost),
        unsplit_time: 15 * lost,
        longest: 15,
    };
    let mut log = locked(log);
    assert_eq!(log.settle().values().collect::<Vec<_>>(), [&expected]);
    assert_eq!(expected.time(), 15 * operations);
}

/// Whatever another process writes, the parts of a call are its time.
#[test]
fn parts_of_a_call_are_its_time_whatever_stamps_say() {
    let site = Location::caller();
    let segment = Segment::new(Segment::bytes_for::<Words>(STAMP_LINES), None).unwrap();
    let lines: corecast_wire::LineSlice<Words> = segment.lines(STAMP_LINES).unwrap();
    let others = ArrivalStamps::new(lines.clone());
    let recording = Recording::new(
        vec![stamps(1).remove(0), others],
        &[true, false],
        ForkDetector::now(),
    );
    let mut random = fastrand::Rng::with_seed(1);
    let log = recording.logs[0].as_ref().unwrap();
    let mut time = 0;
    for seq in 1..5000 {
        lines[random.usize(..STAMP_LINES)].set(random.usize(..16), random.u64(..));
        let came = random.u64(..1 << 50);
        let left = came + random.u64(..1 << 20);
        time += left - came;
        let call = Call {
            seq,
            kind: Collective::Barrier,
            root: 0,
            site: CallSite::Source(site),
            came,
        };
        locked(log).add(call, left);
    }
    let mut log = locked(log);
    assert_eq!(log.settle().values().map(CallSums::time).sum::<u64>(), time);
}

#[test]
fn ticks_are_told_in_nanoseconds() {
    assert_eq!(in_ns(3000, 2.5), 1200);
    let ticks = CallSums {
        calls: 1,
        unsplit: 2,
        imbalance: 30,
        mechanism: 40,
        unsplit_time: 50,
        longest: 60,
    };
    let ns = CallSums {
        imbalance: 15,
        mechanism: 20,
        unsplit_time: 25,
        longest: 30,
        ..ticks
    };
    assert_eq!(ticks.in_ns(2.0), ns);
}
