//! The map: one matrix after the other, its rows spread over all workers by a tree (§7.2, Fig. 16 and Table 7).
//!
//! ```text
//!              ┌──► worker ──► two more …
//!   scatter ───┤        each: its rows times x  ──────► gather
//!              └──► worker ──► two more …
//! ```
//!
//! The gathering thread takes the entries of one worker after the other. [`Rows`] says how rows come to their
//! workers.

use super::port::{Heap, Port, PortPlace};
use super::{END, StreamFlow, StreamMarks, StreamRuntime, WORDS, flow};
use corecast_sim::engine::{Cpu, Setup, SimError};
use corecast_sim::machine::SimMachine;
use corecast_sim::memory::LineId;
use std::cell::Cell;
use std::ops::Range;

/// How rows come to their workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rows {
    /// The program of §7.2. Over the rdy-ack interface each worker gets the rows of all below it, at home with it, and
    /// copies what is theirs into their interfaces. In the generic runtime pointers go down the tree, and each worker
    /// reads its own rows where the scatter thread has written them.
    Copied,
    /// With all runtimes a reference of one line goes down the tree. Matrices come from a network, so each is new and
    /// in memory only, and its lines have any homes; each worker reads its own rows.
    Referred,
}

/// A map: the parameters of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// How rows are passed on: one of [`StreamRuntime::STREAMS`].
    pub runtime: StreamRuntime,
    /// How rows come to their workers.
    pub rows: Rows,
    /// Worker threads, beside those that scatter and gather.
    pub workers: usize,
    /// Rows of a matrix, and words of a row.
    pub side: usize,
    /// Time of the sequential program for a matrix, in units of the machine.
    pub grain: f64,
    /// Measured matrices; [`AROUND`] more come before and after them.
    pub tasks: usize,
}

/// Matrices before and after the measured ones: as many as a tree of 56 workers has under way.
pub const AROUND: usize = 16;

const SCATTER: usize = 0;
const GATHER: usize = 1;
const FIRST: usize = 2;

/// The two subtrees below a thread that has the workers of `below`. The first worker of a subtree is its root.
fn halves(below: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let middle = below.start + below.len().div_ceil(2);
    let both = [below.start..middle, middle..below.end];
    both.into_iter().filter(|half| !half.is_empty())
}

/// The location of whole matrices.
#[derive(Debug)]
enum Matrices {
    /// There are only parts of matrices, in the ports.
    Nowhere,
    /// In buffers that are reused.
    Heap(Heap),
    /// One after another from this line on.
    New(LineId),
}

#[derive(Debug)]
struct MapPorts {
    /// The port to each worker from its parent.
    rows: Vec<Port>,
    entries: Vec<Port>,
    /// The workers of each subtree, by its first worker.
    below: Vec<Range<usize>>,
    /// The core of each worker's parent.
    above: Vec<usize>,
    matrices: Matrices,
    sent: Cell<u64>,
}

impl Map {
    /// Runs the map with a thread on each core from 0 on.
    ///
    /// # Errors
    ///
    /// Those of [`run`](corecast_sim::engine::run): a wrong description of a machine, or too few cores.
    ///
    /// # Panics
    ///
    /// Without workers, with more of them than rows, without tasks, or with [`StreamRuntime::Plain`].
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_sim::machine::known;
    /// use corecast_validation::streams::{StreamRuntime, map::{Map, Rows}};
    ///
    /// let map = |workers| Map {
    ///     runtime: StreamRuntime::Signals, rows: Rows::Referred, workers, side: 32, grain: 50_000.0, tasks: 10,
    /// };
    /// let (one, eight) = (map(1).run(&known::tilepro64())?, map(8).run(&known::tilepro64())?);
    /// assert!(eight.service < one.service / 5.0);
    /// # Ok::<(), corecast_sim::engine::SimError>(())
    /// ```
    pub fn run(&self, machine: &SimMachine) -> Result<StreamFlow, SimError> {
        let Self { runtime, .. } = *self;
        assert!(runtime != StreamRuntime::Plain, "a map has another runtime");
        assert!((1..=self.side).contains(&self.workers) && self.tasks > 0);
        let mut machine = machine.clone();
        machine.hashed = runtime.spreads();
        let hit = machine.costs.l2;
        let map = self.clone();
        let setup = move |setup: &mut Setup<'_>| map.lay_out(setup);
        let map = self.clone();
        let body = move |cpu: &mut Cpu<'_>, ways: &MapPorts| match cpu.rank() {
            SCATTER => {
                map.scatter(cpu, ways);
                None
            }
            GATHER => Some(map.gather(cpu, ways)),
            _ => {
                map.work(cpu, ways, hit);
                None
            }
        };
        flow(&machine, FIRST + self.workers, setup, body)
    }

    fn all(&self) -> usize {
        self.tasks + 2 * AROUND
    }

    /// The first row of a worker.
    fn row(&self, worker: usize) -> usize {
        worker * (self.side / self.workers) + worker.min(self.side % self.workers)
    }

    /// The number of lines of the rows of `workers`, in a message that begins with them.
    fn lines(&self, workers: &Range<usize>) -> usize {
        let rows = self.row(workers.end) - self.row(workers.start);
        (rows * self.side).div_ceil(WORDS)
    }

    /// The number of lines that a message with the rows of `workers` has before those of `part`.
    fn before(&self, workers: &Range<usize>, part: &Range<usize>) -> usize {
        (self.row(part.start) - self.row(workers.start)) * self.side / WORDS
    }

    fn lay_out(&self, setup: &mut Setup<'_>) -> MapPorts {
        let queues = self.runtime == StreamRuntime::Queues;
        let matrix = self.lines(&(0..self.workers));
        let matrices = match (self.rows, queues) {
            (Rows::Referred, _) => Matrices::New(new_matrices(setup, self.all(), matrix)),
            (Rows::Copied, true) => Matrices::Heap(Heap::new(setup, self.all() + 1, matrix)),
            (Rows::Copied, false) => Matrices::Nowhere,
        };
        let none = || 0..0;
        let (mut below, mut above) = (vec![none(); self.workers], vec![SCATTER; self.workers]);
        let pointers = queues.then(|| Heap::new(setup, 0, 1));
        let mut rows: Vec<Option<Port>> = vec![None; self.workers];
        let mut open = vec![(SCATTER, 0..self.workers)];
        while let Some((parent, range)) = open.pop() {
            for (child, half) in halves(range).enumerate() {
                let worker = half.start;
                let place = PortPlace {
                    home: FIRST + worker,
                    ready: 0,
                    ack: 2 + child as u32,
                };
                let lines = match self.rows {
                    Rows::Copied => self.lines(&half),
                    Rows::Referred => 1,
                };
                let port = Port::new(setup, self.runtime, place, lines, pointers.as_ref());
                rows[worker] = Some(port);
                above[worker] = parent;
                open.push((FIRST + worker, worker + 1..half.end));
                below[worker] = half;
            }
        }
        let mut entries = |worker: usize| {
            let place = PortPlace {
                home: FIRST + worker,
                ready: worker as u32,
                ack: 1,
            };
            // One entry is being written, one passed on, one gathered.
            let words = queues.then(|| Heap::new(setup, 4, 1));
            Port::new(setup, self.runtime, place, 1, words.as_ref())
        };
        MapPorts {
            entries: (0..self.workers).map(&mut entries).collect(),
            rows: rows.into_iter().flatten().collect(),
            below,
            above,
            matrices,
            sent: Cell::new(0),
        }
    }

    /// The subtrees that get rows from the thread that has the rows of `below`.
    fn children(&self, below: Range<usize>, ways: &MapPorts) -> Vec<Range<usize>> {
        let heads = halves(below).map(|half| half.start);
        heads.map(|head| ways.below[head].clone()).collect()
    }

    fn scatter(&self, cpu: &mut Cpu<'_>, ways: &MapPorts) {
        let children = self.children(0..self.workers, ways);
        for child in &children {
            ways.rows[child.start].prime(cpu);
        }
        let all = 0..self.workers;
        for task in 0..=self.all() {
            let word = if task == self.all() { END } else { task as u64 };
            let matrix = match &ways.matrices {
                Matrices::Nowhere => None,
                Matrices::New(first) => Some(first.offset(task * self.lines(&all))),
                Matrices::Heap(heap) => Some(heap.take(cpu)),
            };
            if let (Some(matrix), Rows::Copied) = (matrix, self.rows) {
                for line in 0..self.lines(&all) {
                    cpu.compute((WORDS - 1) as f64);
                    cpu.store(matrix.offset(line), word);
                }
            }
            for child in &children {
                let port = &ways.rows[child.start];
                port.await_room(cpu);
                match (matrix, self.runtime, self.rows) {
                    (Some(matrix), StreamRuntime::Queues, _) => port.pass(cpu, matrix),
                    (_, _, Rows::Referred) => refer(cpu, port, child, word),
                    _ => {
                        let at = port.open(cpu);
                        for line in 0..self.lines(child) {
                            cpu.compute((WORDS - 1) as f64);
                            port.write(cpu, at.offset(line), word);
                        }
                        port.send(cpu, FIRST + child.start, at);
                    }
                }
            }
            ways.sent.set(task as u64 + 1);
        }
    }

    fn work(&self, cpu: &mut Cpu<'_>, ways: &MapPorts, hit: f64) {
        let worker = cpu.rank() - FIRST;
        let below = ways.below[worker].clone();
        let children = self.children(worker + 1..below.end, ways);
        let (rows, entries) = (&ways.rows[worker], &ways.entries[worker]);
        for child in &children {
            ways.rows[child.start].prime(cpu);
        }
        entries.prime(cpu);
        let (me, all) = (worker..worker + 1, 0..self.workers);
        // This worker's lines of a message, which begins with them, or of a whole matrix.
        let own = match ways.matrices {
            Matrices::Nowhere => 0..self.lines(&me),
            _ => {
                let end = (self.row(me.end) * self.side).div_ceil(WORDS);
                self.before(&all, &me)..end
            }
        };
        let rows_own = (self.row(me.end) - self.row(me.start)) as f64;
        let grain = self.grain * rows_own / self.side as f64 / own.len() as f64;
        loop {
            rows.await_message(cpu);
            let message = rows.accept(cpu);
            let (at, word) = match (&ways.matrices, self.runtime) {
                (Matrices::New(first), StreamRuntime::Queues) => {
                    let task = (message.number() - first.number()) as usize / self.lines(&all);
                    let last = task == self.all();
                    (message, if last { END } else { task as u64 })
                }
                (Matrices::New(first), _) => {
                    let word = cpu.load(message);
                    let task = word.min(self.all() as u64) as usize;
                    (first.offset(task * self.lines(&all)), word)
                }
                _ => (message, cpu.load(message.offset(own.start))),
            };
            for child in &children {
                let port = &ways.rows[child.start];
                port.await_room(cpu);
                match (self.runtime, self.rows) {
                    (StreamRuntime::Queues, _) => port.pass(cpu, message),
                    (_, Rows::Referred) => refer(cpu, port, child, word),
                    _ => self.pass_on(cpu, port, message.offset(self.before(&below, child)), child),
                }
            }
            if word == END {
                return self.let_go(cpu, ways, worker, message);
            }
            for line in own.clone() {
                cpu.load(at.offset(line));
                cpu.compute((grain - hit).max(0.0));
            }
            entries.await_room(cpu);
            let entry = entries.open(cpu);
            entries.write(cpu, entry, word);
            self.let_go(cpu, ways, worker, message);
            entries.send(cpu, GATHER, entry);
        }
    }

    /// Copies the rows of `child` into its port.
    fn pass_on(&self, cpu: &mut Cpu<'_>, port: &Port, from: LineId, child: &Range<usize>) {
        let to = port.open(cpu);
        for line in 0..self.lines(child) {
            let word = cpu.load(from.offset(line));
            cpu.compute((2 * WORDS - 1) as f64);
            port.write(cpu, to.offset(line), word);
        }
        port.send(cpu, FIRST + child.start, to);
    }

    /// Lets the parent send the next rows. The matrix of a pointer is freed where results are gathered.
    fn let_go(&self, cpu: &mut Cpu<'_>, ways: &MapPorts, worker: usize, at: LineId) {
        if self.runtime != StreamRuntime::Queues {
            ways.rows[worker].release(cpu, ways.above[worker], at);
        }
    }

    fn gather(&self, cpu: &mut Cpu<'_>, ways: &MapPorts) -> StreamFlow {
        let mut marks = StreamMarks::new(AROUND, self.tasks);
        for task in 0..self.all() {
            marks.pass(task, cpu, &ways.sent);
            for (worker, port) in ways.entries.iter().enumerate() {
                port.await_message(cpu);
                let at = port.accept(cpu);
                assert_eq!(cpu.load(at), task as u64, "of worker {worker}");
                port.release(cpu, FIRST + worker, at);
            }
            if let Matrices::Heap(heap) = &ways.matrices {
                heap.free_oldest(cpu);
            }
        }
        marks.flow()
    }
}

/// Sends a reference of one word, which arrives before its notification.
fn refer(cpu: &mut Cpu<'_>, port: &Port, child: &Range<usize>, word: u64) {
    let at = port.open(cpu);
    port.write(cpu, at, word);
    cpu.fence();
    port.send(cpu, FIRST + child.start, at);
}

/// Makes matrices in memory with spread homes; the last one marks the end.
fn new_matrices(setup: &mut Setup<'_>, count: usize, lines: usize) -> LineId {
    let homes = setup.cores();
    let mut draw = fastrand::Rng::with_seed(0);
    let mut line = || setup.allocate(draw.usize(0..homes), 1);
    let first = line();
    for _ in 1..(count + 1) * lines {
        line();
    }
    first
}
