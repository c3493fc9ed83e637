//! Models of replicated structures, checked in every interleaving that the memory model allows within some preemptions.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test --profile models -p corecast-agree --test loom`. Each model also has seeded
//! faults that it must catch: a model that cannot fail proves nothing. Lock and log have models of their own in `corecast-wire`.
#![cfg(loom)]

#[path = "../../wire/tests/loom/check.rs"]
mod check;
#[path = "loom/processes.rs"]
mod processes;

use check::check;
use corecast_agree::{Dispatch, Footprint, Options, Reads, Replicated};
use corecast_wire::WaitConfig;
use corecast_wire::mutant::Mutant;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use std::ops::ControlFlow;
use std::sync::Arc;

/// All values that were written, in their order. A write answers what came before it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct List(Vec<u64>);

impl Dispatch for List {
    type Read<'a> = ();
    type Write = u64;
    type Response = Vec<u64>;
    type Snapshot = Vec<u64>;

    fn read(&self, (): ()) -> Vec<u64> {
        self.0.clone()
    }

    fn write(&mut self, value: &u64) -> Vec<u64> {
        let before = self.0.clone();
        self.0.push(*value);
        before
    }

    // A list is one key, so that stable reads look at what is noted of it.
    fn read_footprint((): &()) -> Footprint {
        Footprint::Key(0)
    }

    fn write_footprint(_: &u64) -> Footprint {
        Footprint::Key(0)
    }

    fn snapshot(&self) -> Vec<u64> {
        self.0.clone()
    }

    fn install(snapshot: Vec<u64>) -> Self {
        Self(snapshot)
    }
}

fn list(replicas: usize, log_len: u64) -> Replicated<List> {
    list_read_by(Reads::Watermark, replicas, log_len)
}

fn list_read_by(reads: Reads, replicas: usize, log_len: u64) -> Replicated<List> {
    let options = Options {
        reads,
        replicas,
        handles: 2,
        log_len,
        wait_config: Some(WaitConfig::PARK),
    };
    Replicated::new(options, List(Vec::new()))
}

/// What all replicas hold in the end.
fn ends(list: &Replicated<List>) -> Vec<u64> {
    let mut ends = list.replicas().into_iter().map(|replica| {
        let mut handle = list.handle(replica).unwrap();
        handle.read(())
    });
    let first = ends.next().unwrap();
    assert!(ends.all(|end| end == first));
    first
}

/// A thread writes at one replica and says so; another one, that hears of it, reads at its own.
fn told(reads: Reads) {
    let list = list_read_by(reads, 2, 1 << 16);
    let [mut here, mut there] = [0, 1].map(|replica| list.handle(replica).unwrap());
    let told = Arc::new(AtomicU64::new(0));
    let other = {
        let told = Arc::clone(&told);
        thread::spawn(move || {
            assert!(there.write(7).is_empty());
            told.store(1, Ordering::Release);
        })
    };
    let is_told = told.load(Ordering::Acquire) == 1;
    let first = here.read(());
    assert!(first == [7] || !is_told);
    let second = here.read(());
    assert!(second.len() >= first.len());
    other.join().unwrap();
    assert_eq!(here.read(()), [7]);
}

#[test]
fn a_read_finds_what_was_answered_elsewhere() {
    let mutants = [Mutant::ReadsAtOnce];
    check("replicated, read", None, &mutants, || {
        told(Reads::Watermark)
    });
}

#[test]
fn a_stable_read_finds_what_was_answered_elsewhere() {
    let mutants = [Mutant::ReadsAtOnce];
    check("replicated, stable read", None, &mutants, || {
        told(Reads::Stable)
    });
}

/// A thread writes at one replica while another one reads at two others: what it finds at one it finds at the next.
#[test]
fn a_stable_read_finds_what_was_read_elsewhere() {
    let mutants = [Mutant::NotedWhenWritten];
    check("replicated, two stable reads", Some(3), &mutants, || {
        let list = list_read_by(Reads::Stable, 3, 1 << 16);
        let [mut writer, mut one, mut two] = [0, 1, 2].map(|replica| list.handle(replica).unwrap());
        let other = thread::spawn(move || drop(writer.write(7)));
        let first = one.read(());
        assert!(two.read(()).len() >= first.len());
        other.join().unwrap();
    });
}

/// A replica comes, as a copy of one, while a thread writes at another one.
#[test]
fn stable_reads_of_a_replica_that_comes() {
    let mutants = [Mutant::JoinerUnknown, Mutant::JoinerUnfenced];
    check("replicated, stable, joining", Some(2), &mutants, || {
        let list = list_read_by(Reads::Stable, 2, 1 << 16);
        let mut there = list.handle(1).unwrap();
        let told = Arc::new(AtomicU64::new(0));
        let other = {
            let told = Arc::clone(&told);
            thread::spawn(move || {
                there.write(7);
                told.store(1, Ordering::Release);
            })
        };
        let number = list.add_replica();
        let mut here = list.handle(number).unwrap();
        let is_told = told.load(Ordering::Acquire) == 1;
        assert!(here.read(()) == [7] || !is_told);
        other.join().unwrap();
        assert_eq!(here.read(()), [7]);
    });
}

/// Two threads write once each, at replicas of their own or at one. Each write is answered by what came before it.
fn two_writers(replicas: usize) {
    let list = list(replicas, 1 << 16);
    let [mut here, mut there] = [0, replicas - 1].map(|replica| list.handle(replica).unwrap());
    let other = thread::spawn(move || there.write(2));
    let own = here.write(1);
    let other = other.join().unwrap();
    match ends(&list)[..] {
        [1, 2] => assert_eq!((&own[..], &other[..]), (&[][..], &[1][..])),
        [2, 1] => assert_eq!((&own[..], &other[..]), (&[2][..], &[][..])),
        ref end => panic!("{end:?}"),
    }
}

#[test]
fn two_replicas_write() {
    let mutants = [Mutant::AppliedBeforeAppended, Mutant::LogUnrung];
    check("replicated, two writers", None, &mutants, || two_writers(2));
}

#[test]
fn two_threads_of_a_replica_write() {
    let mutants = [Mutant::ReplicaUnrung];
    check("replicated, one replica", Some(4), &mutants, || {
        two_writers(1)
    });
}

/// A thread reads while another one of the same replica writes.
#[test]
fn two_threads_of_a_replica_read_and_write() {
    let mutants = [Mutant::ReplicaUnrung, Mutant::ReadersUnawaited];
    check("replicated, reader and writer", Some(4), &mutants, || {
        let list = list(1, 1 << 16);
        let [mut here, mut there] = [0, 0].map(|replica| list.handle(replica).unwrap());
        let other = thread::spawn(move || there.write(2));
        let found = here.read(());
        assert!(found.is_empty() || found == [2]);
        assert!(other.join().unwrap().is_empty());
        assert_eq!(here.read(()), [2]);
    });
}

/// One thread writes several blocks while another one writes once, at a replica that may be left behind. The write is
/// answered from its place in the order, and both replicas have all writes in the end.
fn blocks_and_one(log_len: u64) {
    let list = list(2, log_len);
    let [mut here, mut there] = [0, 1].map(|replica| list.handle(replica).unwrap());
    let other = thread::spawn(move || there.write(9));
    let mut answered = Vec::new();
    for value in [1, 3, 5, 7] {
        for before in here.write_all(vec![value, value + 1]) {
            assert!(before.starts_with(&answered) && before.len() <= answered.len() + 1);
            let value = value + u64::from(answered.last() == Some(&value));
            answered = before;
            answered.push(value);
        }
    }
    let before = other.join().unwrap();
    let end = ends(&list);
    let place = end.iter().position(|&value| value == 9).unwrap();
    assert_eq!(before, end[..place]);
    let mut sorted = end;
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(1..=9));
}

/// The replica is left behind as soon as it lags at all when a block begins.
#[test]
fn a_replica_is_left_behind_and_comes_back() {
    let mutants = [Mutant::LeftBehindAppends];
    check("replicated, left behind", Some(2), &mutants, || {
        blocks_and_one(0)
    });
}

/// The log keeps what the replica lacks.
#[test]
fn a_replica_that_lags_finds_what_it_lacks() {
    let mutants = [Mutant::TrimmedEarly];
    check("replicated, lagging", Some(2), &mutants, || {
        blocks_and_one(1 << 16)
    });
}

/// A follower takes all writes in their order while the log is trimmed, and at least those that a handle has seen.
#[test]
fn a_follower_takes_all_writes() {
    let mutants = [Mutant::TrimmedEarly];
    check("replicated, follower", Some(2), &mutants, || {
        let list = list(1, 1 << 16);
        let mut follower = list.follow();
        let mut here = list.handle(0).unwrap();
        let other = thread::spawn(move || {
            for value in [0, 2, 4] {
                here.write_all(vec![value, value + 1]);
            }
            here.seen()
        });
        let mut taken = Vec::new();
        let mut take = || {
            follower.take(|index, value| {
                assert_eq!(index, taken.len() as u64);
                taken.push(*value);
                ControlFlow::Continue(())
            })
        };
        take();
        let seen = other.join().unwrap();
        assert_eq!((take(), seen), (6, 6));
        assert!(taken.into_iter().eq(0..6));
    });
}

/// What a handle was answered depends on nothing that comes after what it says it has seen.
#[test]
fn a_handle_knows_what_it_has_seen() {
    check("replicated, seen", Some(3), &[], || {
        let list = list(1, 1 << 16);
        let [mut here, mut there] = [0, 0].map(|replica| list.handle(replica).unwrap());
        let other = thread::spawn(move || (there.write(2).len() as u64, there.seen()));
        let before = here.write(1).len() as u64;
        assert!(here.seen() > before);
        let (before, seen) = other.join().unwrap();
        assert!(seen > before);
        assert_eq!((here.read(()).len(), here.seen()), (2, 2));
    });
}
