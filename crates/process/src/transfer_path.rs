//! The transfer path of long data from other processes: two copies through their bounce buffers, or one copy that the
//! kernel makes out of their memory.
//!
//! The kernel looks every page up and copies more slowly than a program does, while the two copies by way of a
//! bounce buffer run at the same time on the cores of both ranks. Where each rank has a core, one copy wins
//! nothing. Where ranks share cores, the saved copy leaves time to other ranks, and what counts most: of a loan that is longer
//! than what can be on its way, eight chunks of the bounce buffer, lender and borrower copy in turn, and each turn waits until
//! the other has a core. So where nobody has measured it, the kernel copies from that length on where ranks share cores, and not
//! at all elsewhere. The length follows from the number of links: 256 KiB for up to four, 128 KiB for up to eight, and so on.
//!
//! **Measured** on two cores of an AMD EPYC (Zen 5), 2026-11, `examples/settings OPERATION RANKS processes
//! CORECAST_CMA 0,1`: time with `process_vm_readv` divided by the time without, by the bytes of a loan:
//!
//! | ranks, operation | 32 KiB | 64 KiB | 128 KiB | 256 KiB | 512 KiB | 1 MiB | 4 MiB | 16 MiB |
//! | --- | --- | --- | --- | --- | --- | --- | --- | --- |
//! | 8, allgather | 2.7 | 0.8 | 0.17 | 0.11 | | 0.09 | 0.4 | |
//! | 8, allreduce | 1.6 | 0.3 | 0.16 | | | 0.2 | 0.3 | |
//! | 8, gather | 1.6 | | 2.1 | 1.3 | 0.9 | 0.6 | 0.7 | |
//! | 2, allgather | | | | 1.8 | | 2.0 | | 1.1 |
//! | 2, allreduce | | | 2.9 | | 2.3 | | | 3.3 (8 MiB) |
//! | 3, allgather | 1.5 | 1.3 | 1.2 | 0.8 | 0.7 | 0.7 | | |
//! | 3, allreduce | 1.8 | 1.8 | 1.5 | 1.4 | 0.95 | 0.7 | | |
//! | 4, allgather | 1.8 | 1.5 | 0.9 | 0.55 | 0.4 | 0.3 | | |
//! | 4, gather | 1.4 | 1.2 | 1.1 | 0.9 | 0.9 | 0.8 | | |
//! | 6, gather | 1.7 | 1.7 | 1.7 | 1.4 | 0.7 | 0.9 | | |
//! | 6, alltoall (of all ranks) | 1.7 | 1.4 | 1.2 | 1.0 | 0.7 | 0.6 | | |
//!
//! What a rank with a core of its own combines with its data it takes from the bounce buffer in any case, unless `CORECAST_CMA` says
//! otherwise: there it combines what lies in the buffer while the lender copies what follows, and the kernel's copy would come before
//! that. Two processes on an AMD EPYC (Zen 4), 1 December 2026, the kernel's copies in times of bounce buffers (same example):
//!
//! | operation | 64 KiB | 256 KiB | 1 MiB | 4 MiB |
//! | --- | --- | --- | --- | --- |
//! | reduce | 1.06 | 1.33 | 1.55 | 1.40 |
//! | scan | 1.31 | 1.61 | 1.63 | 1.84 |
//! | gather | 1.04 | 2.06 | 0.87 | 0.94 |
//! | scatter | 0.91 | 0.97 | 0.62 | 0.78 |
//! | alltoall | 0.83 | 1.00 | 0.62 | 0.75 |
//!
//! A tuning races both paths on its machine ([`kernel_copies`](corecast_team::Options::kernel_copies)), and
//! `CORECAST_CMA=BYTES` comes before both, `copied:BYTES` as a tuning. Buffers in huge pages are cheaper for the kernel: a hand-written loop then
//! takes 0.6 times as long from 512 KiB on, also with a core for each of two ranks that exchange.

use crate::process_stat::Namespaces;
use crate::segment_header::{Owner, SegmentHeader};
use corecast_team::{Heaps, KernelCopies, LendsFrom, Processes, TransferPath, TransferPaths};
use corecast_transfer::{MappedHeap, Process};
use std::sync::Arc;

/// The environment variable with the least number of bytes that are read from another process's memory; 0 means
/// never.
pub const CMA: &str = "CORECAST_CMA";

/// Before the number of bytes in [`CMA`]: it holds as if a tuning had found it, for data that are combined only where ranks share
/// cores.
pub const COPIED: &str = "copied:";

/// A random word whose address [`SegmentHeader::register`] publishes, so that other processes can test whether they can read this
/// process's memory.
#[derive(Debug)]
pub(crate) struct Word(Box<u64>);

impl Word {
    pub(crate) fn new() -> Self {
        use std::hash::{BuildHasher, RandomState};
        // A random value, so that no other process has it by chance.
        Self(Box::new(RandomState::new().hash_one(std::process::id())))
    }

    /// The address of the word, and its value.
    pub(crate) fn place(&self) -> (u64, u64) {
        (core::ptr::from_ref(&*self.0).addr() as u64, *self.0)
    }
}

/// The word of a process (address and value), the process if it can be read, and the transfer path from it.
type Tried = ((u64, u64), Option<Arc<Process>>, TransferPath);

/// Tries to read the memory of the processes of all ranks but `ours`, and returns the transfer path from each of
/// them. `raced` is from which length on the kernel should copy; where nothing was raced, `turns` is that from which on lender and
/// borrower would copy in turn; it is there if ranks share cores.
pub(crate) fn try_all(
    header: &SegmentHeader,
    ours: &[usize],
    raced: Option<KernelCopies>,
    turns: Option<usize>,
) -> (Processes, TransferPaths) {
    let requested = std::env::var(CMA).ok();
    let own = Namespaces::own();
    let lends_from = thresholds(requested.as_deref(), raced, turns);
    let mut found: Vec<Tried> = Vec::new();
    let (mut processes, mut from) = (Vec::new(), Vec::new());
    for rank in 0..header.size() {
        let owner = header.owner(rank).filter(|_| !ours.contains(&rank));
        let Some(Owner {
            pid,
            namespaces,
            word,
            ..
        }) = owner
        else {
            processes.push(None);
            from.push(None);
            continue;
        };
        if requested.as_deref() == Some("0") {
            processes.push(None);
            from.push(Some(TransferPath::BounceBuffer(format!("{CMA} is 0"))));
            continue;
        }
        if namespaces.share_numbers(own) == Some(false) {
            let why = format!("process {pid} has its number in another PID namespace");
            processes.push(None);
            from.push(Some(TransferPath::BounceBuffer(why)));
            continue;
        }
        let known = found.iter().position(|(known, ..)| *known == word);
        let place = known.unwrap_or_else(|| {
            let (process, reach) = match Process::open(pid, word) {
                Ok(process) => (Some(Arc::new(process)), TransferPath::Direct),
                Err(why) => {
                    let why = format!("the memory of process {pid} cannot be read: {why}");
                    (None, TransferPath::BounceBuffer(why))
                }
            };
            found.push((word, process, reach));
            found.len() - 1
        });
        let (_, process, reach) = &found[place];
        processes.push(process.clone());
        from.push(Some(reach.clone()));
    }
    (processes, TransferPaths { from, lends_from })
}

/// Maps the heaps of the processes of all ranks but `ours`. What lies in one that cannot be mapped comes as any other data.
pub(crate) fn map_heaps(header: &SegmentHeader, ours: &[usize]) -> Heaps {
    let own = Namespaces::own();
    let mut found: Vec<((u64, u64), Option<MappedHeap>)> = Vec::new();
    let map = |rank| {
        let owner = header.owner(rank).filter(|_| !ours.contains(&rank))?;
        let name = header.heap(rank)?;
        if owner.namespaces.share_numbers(own) == Some(false) {
            return None;
        }
        if let Some((_, heap)) = found.iter().find(|(word, _)| *word == owner.word) {
            return heap.clone();
        }
        let heap = MappedHeap::open(owner.pid, name).ok();
        found.push((owner.word, heap.clone()));
        heap
    };
    (0..header.size()).map(map).collect()
}

/// Least numbers of bytes to lend without a copy. `requested` is the value of [`CMA`].
fn thresholds(
    requested: Option<&str>,
    raced: Option<KernelCopies>,
    turns: Option<usize>,
) -> LendsFrom {
    // What a tuning would have found, or for all data. A value that is no number is ignored.
    let tuned = requested.and_then(|text| text.strip_prefix(COPIED));
    let requested = tuned.or(requested).and_then(|text| text.parse().ok());
    let copied = match requested.map(KernelCopies::of_bytes).or(raced) {
        Some(copies) => copies.least(),
        None => turns,
    };
    // Only where ranks share cores.
    let combines = (requested.is_some() && tuned.is_none()) || turns.is_some();
    LendsFrom {
        copied,
        combined: copied.filter(|_| combines),
    }
}

#[cfg(test)]
mod tests;
