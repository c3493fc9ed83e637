//! Hand-written collectives of any size: flags, and a copy loop over the bytes that must move.
//!
//! | operation | what each rank does once the others' flags say that their inputs are there |
//! | --- | --- |
//! | broadcast, scatter | others copy from the root's input, all at once |
//! | reduce, whole | the root adds the others' inputs into its own |
//! | reduce, by parts | each adds up its part of all inputs, in the root's input |
//! | allreduce, whole | each adds up all inputs |
//! | allreduce, by parts | each adds up its part of all inputs, then copies the others' sums |
//! | gather | each copies its input to the root's result; uneven blocks too |
//! | allgather, alltoall | the receivers copy, all at once; uneven blocks too |
//! | reduce_scatter, scan, exscan | each adds up the inputs that it needs |
//!
//! Readers read where the owner has written, and writers write where the owner reads: nothing is sent. Short data are fastest in words of 8
//! bytes. Long data lie in plain memory, for the C library's copy loop; each piece is under a lock
//! that is not contended while time is taken.

use super::await_number::await_turn;
use crate::engine::Role;
use crate::page_elements::PageElements;
use crate::race::Entrant;
use crate::sized::{Conditions, Library, Player, Task, Trial};
use corecast_model::Collective;
use corecast_wire::{Line, copy};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Longest blocks, in bytes, that race in words.
const WORDS_MAX: usize = 16 << 10;

/// Shortest blocks, in bytes, that race in plain memory.
const MEMORY_MIN: usize = 512;

/// The floors of `task`; none for a barrier.
pub fn copies<'a>(task: Task, conditions: impl Into<Conditions>) -> Vec<Entrant<'a>> {
    let conditions = conditions.into();
    let oversubscribed = conditions.oversubscribed;
    let mut floors = Vec::new();
    if task.operation == Collective::Barrier {
        return floors;
    }
    let trial = |parts| {
        Trial::new(
            CopyFloor::<WordCopy>::new(task, oversubscribed, parts),
            task,
            conditions,
        )
    };
    if task.bytes <= WORDS_MAX {
        floors.push(Entrant::threads(trial(false)));
    }
    let trial = |parts| {
        Trial::new(
            CopyFloor::<PlainMemory>::new(task, oversubscribed, parts),
            task,
            conditions,
        )
    };
    if task.bytes >= MEMORY_MIN {
        floors.push(Entrant::threads(trial(false)));
        if parts_differ(task.operation) {
            floors.push(Entrant::threads(trial(true)));
        }
    }
    floors
}

/// Whether an operation by parts is another one than the whole.
fn parts_differ(operation: Collective) -> bool {
    matches!(operation, Collective::Allreduce | Collective::Reduce)
}

/// A piece of data that its owner writes and others read.
trait CopiedPiece: Send + Sync + 'static {
    const SETTING: &'static str;
    fn new(count: usize) -> Self;
    fn fill(&self, write: &mut dyn FnMut(&mut [f64]));
    fn read(&self, into: &mut Vec<f64>);
    fn copy(&self, from: &Self);
    /// Stores the sum of `a` and `b` here.
    fn sum(&self, a: &Self, b: &Self);
    fn add(&self, from: &Self);
}

/// A piece that is copied in words of eight bytes.
struct WordCopy(Box<[AtomicU64]>);

impl WordCopy {
    // Relaxed everywhere: the flags order what is written and read.
    fn get(&self, at: usize) -> f64 {
        f64::from_bits(self.0[at].load(Ordering::Relaxed))
    }

    fn set(&self, at: usize, value: f64) {
        self.0[at].store(value.to_bits(), Ordering::Relaxed);
    }

    fn each(&self, value: impl Fn(usize) -> f64) {
        for at in 0..self.0.len() {
            self.set(at, value(at));
        }
    }
}

impl CopiedPiece for WordCopy {
    const SETTING: &'static str = "words";

    fn new(count: usize) -> WordCopy {
        WordCopy((0..count).map(|_| AtomicU64::new(0)).collect())
    }

    fn fill(&self, write: &mut dyn FnMut(&mut [f64])) {
        let mut data: Vec<f64> = (0..self.0.len()).map(|at| self.get(at)).collect();
        write(&mut data);
        self.each(|at| data[at]);
    }

    fn read(&self, into: &mut Vec<f64>) {
        into.extend((0..self.0.len()).map(|at| self.get(at)));
    }

    fn copy(&self, from: &WordCopy) {
        self.each(|at| from.get(at));
    }

    fn sum(&self, a: &WordCopy, b: &WordCopy) {
        self.each(|at| a.get(at) + b.get(at));
    }

    fn add(&self, from: &WordCopy) {
        self.each(|at| self.get(at) + from.get(at));
    }
}

/// A piece in plain memory, under a lock.
struct PlainMemory(RwLock<PageElements>);

impl PlainMemory {
    // Data are whole even after a panic under the lock.
    fn owned(&self) -> RwLockWriteGuard<'_, PageElements> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn seen(&self) -> RwLockReadGuard<'_, PageElements> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CopiedPiece for PlainMemory {
    const SETTING: &'static str = "memory";

    fn new(count: usize) -> PlainMemory {
        PlainMemory(RwLock::new(PageElements::new(count)))
    }

    fn fill(&self, write: &mut dyn FnMut(&mut [f64])) {
        write(&mut self.owned());
    }

    fn read(&self, into: &mut Vec<f64>) {
        into.extend_from_slice(&self.seen());
    }

    fn copy(&self, from: &PlainMemory) {
        copy::slice(
            bytemuck::cast_slice_mut(&mut self.owned()),
            bytemuck::cast_slice(&from.seen()),
        );
    }

    fn sum(&self, a: &PlainMemory, b: &PlainMemory) {
        let (a, b, mut into) = (a.seen(), b.seen(), self.owned());
        for ((into, a), b) in into.iter_mut().zip(&a[..]).zip(&b[..]) {
            *into = a + b;
        }
    }

    fn add(&self, from: &PlainMemory) {
        let (from, mut into) = (from.seen(), self.owned());
        for (into, from) in into.iter_mut().zip(&from[..]) {
            *into += from;
        }
    }
}

/// The input and the result of one rank at one place.
struct RankBuffers<P> {
    input: Vec<P>,
    result: Vec<P>,
}

/// The flags of a rank: numbers that only grow, each on cache lines of its own.
#[derive(Default)]
struct Flags {
    come: Line<AtomicU64>,
    given: Line<AtomicU64>,
    done: Line<AtomicU64>,
}

struct CopyFloor<P> {
    task: Task,
    oversubscribed: bool,
    by_parts: bool,
    /// The data, by rank, then by place.
    buffers: Vec<Vec<RankBuffers<P>>>,
    flags: Vec<Flags>,
}

impl<P: CopiedPiece> CopyFloor<P> {
    fn new(task: Task, oversubscribed: bool, by_parts: bool) -> CopyFloor<P> {
        let (count, ranks) = (task.count(), task.ranks);
        let parts = || (0..ranks).map(|k| count * (k + 1) / ranks - count * k / ranks);
        let pieces = |blocks: Vec<usize>| -> Vec<P> {
            match by_parts {
                true => parts().map(P::new).collect(),
                false => blocks.into_iter().map(P::new).collect(),
            }
        };
        let place = |rank| RankBuffers {
            input: pieces(task.input(rank)),
            // The root of a reduction adds into its input.
            result: match task.operation {
                Collective::Reduce => Vec::new(),
                _ => pieces(task.output(rank)),
            },
        };
        let rank = |rank| (0..task.places()).map(|_| place(rank)).collect();
        CopyFloor {
            task,
            oversubscribed,
            by_parts,
            buffers: (0..task.ranks).map(rank).collect(),
            flags: (0..task.ranks).map(|_| Flags::default()).collect(),
        }
    }

    /// Waits for `number` or more.
    #[inline(always)]
    fn wait(&self, line: &AtomicU64, number: u64) {
        await_turn(line, number, self.oversubscribed);
    }
}

impl<P: CopiedPiece> Library for CopyFloor<P> {
    fn name(&self) -> &str {
        "floor: copy loop"
    }

    fn setting(&self) -> String {
        let whole = match (parts_differ(self.task.operation), self.by_parts) {
            (true, true) => ", by parts",
            (true, false) => ", whole",
            (false, _) => "",
        };
        format!("{}{whole}", P::SETTING)
    }

    fn role(&self) -> Role {
        Role::Floor
    }

    fn player<'a>(&'a self, rank: usize) -> Box<dyn Player + 'a> {
        Box::new(Copier {
            copies: self,
            rank,
            come: 0,
            number: 0,
        })
    }
}

struct Copier<'a, P> {
    copies: &'a CopyFloor<P>,
    rank: usize,
    /// Number of barriers so far; `number` counts the operations.
    come: u64,
    number: u64,
}

impl<'a, P: CopiedPiece> Copier<'a, P> {
    /// Waits for the input of rank `of` at `place`, and returns it.
    #[inline(always)]
    fn input(&self, of: usize, place: usize) -> &'a [P] {
        if of != self.rank {
            let given = &self.copies.flags[of].given;
            self.copies.wait(given, self.number);
        }
        &self.copies.buffers[of][place].input
    }

    /// Stores in `into` the sum of piece `piece` of all ranks before `end`.
    fn sum(&self, into: &P, piece: usize, end: usize, place: usize) {
        if end == 1 {
            return into.copy(&self.input(0, place)[piece]);
        }
        let (first, second) = (self.input(0, place), self.input(1, place));
        into.sum(&first[piece], &second[piece]);
        for of in 2..end {
            into.add(&self.input(of, place)[piece]);
        }
    }

    fn allreduce_by_parts(&self, place: usize) {
        let (copies, rank) = (self.copies, self.rank);
        let mine = &copies.buffers[rank][place].result;
        self.sum(&mine[rank], rank, copies.task.ranks, place);
        self.is_done();
        for of in (0..copies.task.ranks).filter(|&of| of != rank) {
            self.await_done(of);
            mine[of].copy(&copies.buffers[of][place].result[of]);
        }
    }

    /// Says that this rank has done its part of the work.
    fn is_done(&self) {
        // Release pairs with the Acquire in `wait`.
        let done = &self.copies.flags[self.rank].done.0;
        done.store(self.number, Ordering::Release);
    }

    fn await_done(&self, of: usize) {
        self.copies.wait(&self.copies.flags[of].done, self.number);
    }

    /// Does this rank's part of the work in the root's buffers, and returns when all have done theirs if it is the root.
    fn at_root(&self, place: usize, work: impl FnOnce(&RankBuffers<P>)) {
        let _ = self.input(Task::ROOT, place);
        work(&self.copies.buffers[Task::ROOT][place]);
        if self.rank != Task::ROOT {
            return self.is_done();
        }
        (0..self.copies.task.ranks)
            .filter(|&of| of != Task::ROOT)
            .for_each(|of| self.await_done(of));
    }
}

impl<P: CopiedPiece> Player for Copier<'_, P> {
    fn barrier(&mut self) -> Result<(), String> {
        self.come += 1;
        let flags = &self.copies.flags;
        // Release pairs with the Acquire in `wait`.
        flags[self.rank].come.store(self.come, Ordering::Release);
        for other in flags {
            self.copies.wait(&other.come, self.come);
        }
        Ok(())
    }

    fn prepare(&mut self, place: usize, write: &mut dyn FnMut(&mut [f64])) {
        let input = &self.copies.buffers[self.rank][place].input;
        if let [whole] = &input[..] {
            return whole.fill(write);
        }
        // `write` fills all pieces as one slice.
        let mut data = Vec::new();
        for piece in input {
            piece.read(&mut data);
        }
        write(&mut data);
        let mut from = 0;
        for piece in input {
            piece.fill(&mut |part| {
                part.copy_from_slice(&data[from..from + part.len()]);
                from += part.len();
            });
        }
    }

    fn perform(&mut self, place: usize) -> Result<(), String> {
        self.number += 1;
        let (task, rank) = (self.copies.task, self.rank);
        // Release pairs with the Acquire in `wait`: the input was written before.
        let given = &self.copies.flags[rank].given.0;
        given.store(self.number, Ordering::Release);
        let mine = &self.copies.buffers[rank][place];
        let (input, result) = (&mine.input, &mine.result);
        let all = 0..task.ranks;
        let root = Task::ROOT;
        match task.operation {
            Collective::Barrier => {}
            Collective::Broadcast if rank == root => {}
            Collective::Broadcast => result[0].copy(&self.input(root, place)[0]),
            Collective::Scatter | Collective::Scatterv => {
                result[0].copy(&self.input(root, place)[rank]);
            }
            Collective::Reduce if self.copies.by_parts => self.at_root(place, |root| {
                for of in all.filter(|&of| of != Task::ROOT) {
                    root.input[rank].add(&self.input(of, place)[rank]);
                }
            }),
            Collective::Reduce if rank == root => {
                for of in all.filter(|&of| of != root) {
                    input[0].add(&self.input(of, place)[0]);
                }
            }
            Collective::Reduce => {}
            Collective::Gather | Collective::Gatherv => {
                self.at_root(place, |root| root.result[rank].copy(&input[0]));
            }
            Collective::Allgather | Collective::Allgatherv => {
                all.for_each(|of| result[of].copy(&self.input(of, place)[0]));
            }
            Collective::Alltoall | Collective::Alltoallv => {
                all.for_each(|of| result[of].copy(&self.input(of, place)[rank]));
            }
            Collective::Allreduce if self.copies.by_parts => self.allreduce_by_parts(place),
            Collective::Allreduce => self.sum(&result[0], 0, task.ranks, place),
            Collective::ReduceScatter | Collective::ReduceScatterv => {
                self.sum(&result[0], rank, task.ranks, place)
            }
            Collective::Scan => self.sum(&result[0], 0, rank + 1, place),
            Collective::Exscan if rank == 0 => {}
            Collective::Exscan => self.sum(&result[0], 0, rank, place),
        }
        Ok(())
    }

    fn result(&mut self, place: usize, read: &mut dyn FnMut(&[f64])) {
        let mine = &self.copies.buffers[self.rank][place];
        let pieces = match self.copies.task.operation {
            Collective::Reduce => &mine.input,
            _ => &mine.result,
        };
        let mut data = Vec::new();
        for piece in pieces {
            piece.read(&mut data);
        }
        read(&data);
    }
}
