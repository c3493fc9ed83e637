//! When an event loop may write to the log itself.

use std::sync::Arc;

use super::*;
use crate::durability::disk::Disk;
use crate::durability::entry::Entry;
use crate::durability::fault::{self, Fault};
use crate::durability::simulated::SimulatedDisk;
use crate::durability::tail::Tail;

const SEGMENT_BYTES: u64 = 4096;
const AT_ONCE_BYTES_MAX: usize = 512;

/// A journal on a new disk, and what is applied.
fn begin(policy: AppendFsync) -> (SimulatedDisk, Arc<Tail>, Journal) {
    let simulated = SimulatedDisk::new(3);
    let disk: Arc<dyn Disk> = Arc::new(simulated.clone());
    let log = Log::begin(disk, 0, &[], 0, SEGMENT_BYTES).unwrap();
    let tail = Arc::<Tail>::default();
    let source = Box::new(Arc::clone(&tail).follow(0));
    (simulated, tail, Journal::new(log, source, 0, policy))
}

fn segments(disk: &SimulatedDisk) -> usize {
    let files = disk.contents();
    files.keys().filter(|it| it.starts_with("log-")).count()
}

/// Whether the event loop writes nothing while a sync runs, and goes on behind it.
fn waits_for_syncs() -> bool {
    let (_, tail, journal) = begin(AppendFsync::EverySecond);
    tail.push(0, Entry::Bytes(b"first"));
    assert!(journal.commit_at_once(AT_ONCE_BYTES_MAX));
    assert_eq!((journal.released(), journal.written()), (1, 1));
    let (file, end) = lock(&journal.committer).log.unsynced().unwrap();
    tail.push(1, Entry::Bytes(b"second"));
    if journal.commit_at_once(AT_ONCE_BYTES_MAX) {
        return false;
    }
    assert_eq!(journal.released(), 1);
    // The thread may.
    journal.commit(0);
    assert_eq!(journal.released(), 2);
    let synced = file.sync_all();
    lock(&journal.committer).log.synced(end, synced).unwrap();
    tail.push(2, Entry::Bytes(b"third"));
    assert!(journal.commit_at_once(AT_ONCE_BYTES_MAX));
    journal.released() == 3
}

#[test]
fn nothing_is_written_at_once_amid_a_sync() {
    assert!(waits_for_syncs());
    let found = fault::with(Some(Fault::WroteAmidSync), waits_for_syncs);
    assert!(!found, "nobody noticed");
}

/// A new segment is synced, so the thread begins it, in time.
#[test]
fn no_segment_is_begun_at_once() {
    let (disk, tail, journal) = begin(AppendFsync::No);
    let mut left = 0;
    for index in 0..200 {
        tail.push(index, Entry::Bytes(&[7; 100]));
        let before = segments(&disk);
        if journal.commit_at_once(AT_ONCE_BYTES_MAX) {
            assert_eq!(segments(&disk), before);
        } else {
            left += 1;
            journal.commit(0);
        }
        assert_eq!(journal.released(), index + 1);
        assert_eq!(journal.bytes(), lock(&journal.committer).log.bytes());
    }
    assert!(segments(&disk) > 3 && (1..100).contains(&left), "{left}");
}

/// Where replies wait for a sync, or somebody is at it, the thread writes; after a failure nobody does.
#[test]
fn what_may_not_be_written_at_once_is_left() {
    let (_, tail, journal) = begin(AppendFsync::Always);
    tail.push(0, Entry::Bytes(b"first"));
    assert!(!journal.commit_at_once(AT_ONCE_BYTES_MAX));
    let (disk, tail, journal) = begin(AppendFsync::No);
    tail.push(0, Entry::Bytes(b"first"));
    let at_it = lock(&journal.committer);
    assert!(!journal.commit_at_once(AT_ONCE_BYTES_MAX));
    drop(at_it);
    disk.fail_in(0);
    assert!(!journal.commit_at_once(AT_ONCE_BYTES_MAX));
    assert!(journal.failed().is_some());
    assert_eq!(journal.released(), 0);
}
