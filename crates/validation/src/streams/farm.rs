//! The farm: an emitter, workers that take tasks as they are free, a collector (§7.2, Fig. 14 and Table 6).
//!
//! ```text
//!                 ┌──► worker ──┐
//!   emitter ──────┼──► worker ──┼──────► collector
//!                 └──► worker ──┘
//! ```
//!
//! A task is a matrix that the emitter writes; its result is as long. Both interfaces of a worker are at home with
//! it, so with home-forwarding tasks are written into its cache and results are fetched from there.

use super::port::{Heap, Port, PortPlace, Ports};
use super::{END, StreamFlow, StreamMarks, StreamRuntime, WORDS, flow};
use corecast_sim::engine::{Cpu, Setup, SimError};
use corecast_sim::machine::SimMachine;
use std::cell::Cell;

/// A farm: the parameters of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Farm {
    /// How tasks are passed on: one of [`StreamRuntime::STREAMS`].
    pub runtime: StreamRuntime,
    /// Worker threads, beside emitter and collector.
    pub workers: usize,
    /// Lines of a task, and of its result.
    pub lines: usize,
    /// Time of the sequential program for a task, in units of the machine.
    pub grain: f64,
    /// Whether the collector reads the lines of results, or only receives them.
    pub reads: bool,
    /// Tasks before the measured ones. After the measured ones come as many as can be under way, so that workers stay
    /// busy.
    pub before: usize,
    /// Measured tasks.
    pub tasks: usize,
}

#[derive(Debug)]
struct FarmPorts {
    tasks: Vec<Port>,
    results: Vec<Port>,
    /// How many tasks the emitter has sent.
    sent: Cell<u64>,
}

const EMITTER: usize = 0;
const COLLECTOR: usize = 1;
const FIRST: usize = 2;

impl Farm {
    /// Runs the farm with a thread on each core from 0 on.
    ///
    /// # Errors
    ///
    /// Those of [`run`](corecast_sim::engine::run): a wrong description of a machine, or too few cores.
    ///
    /// # Panics
    ///
    /// Without workers, lines or tasks, or with [`StreamRuntime::Plain`], for which the paper has no farm.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_sim::machine::known;
    /// use corecast_validation::streams::{StreamRuntime, farm::Farm};
    ///
    /// let farm = |workers| Farm { runtime: StreamRuntime::Signals, workers, lines: 8, grain: 5000.0, reads: true, before: 8,
    ///     tasks: 40 };
    /// let (one, four) = (farm(1).run(&known::tilepro64())?, farm(4).run(&known::tilepro64())?);
    /// assert!(four.service < one.service / 3.0);
    /// // Nothing is read that another cache has invalidated: a task is forwarded, its result fetched.
    /// assert_eq!((four.invalidations, four.requests), (0.0, 16.0));
    /// # Ok::<(), corecast_sim::engine::SimError>(())
    /// ```
    pub fn run(&self, machine: &SimMachine) -> Result<StreamFlow, SimError> {
        let Self { runtime, .. } = *self;
        assert!(
            runtime != StreamRuntime::Plain,
            "a farm has another runtime"
        );
        assert!(self.workers > 0 && self.lines > 0 && self.tasks > 0);
        let mut machine = machine.clone();
        machine.hashed = runtime.spreads();
        machine.costs.copy_line = WORDS as f64;
        let costs = machine.costs.clone();
        let farm = self.clone();
        let setup = move |setup: &mut Setup<'_>| farm.lay_out(setup);
        let farm = self.clone();
        let body = move |cpu: &mut Cpu<'_>, ways: &FarmPorts| match cpu.rank() {
            EMITTER => {
                farm.emit(cpu, ways, costs.poll);
                None
            }
            COLLECTOR => Some(farm.collect(cpu, ways, costs.poll)),
            _ => {
                let own = farm.grain / farm.lines as f64 - costs.l2 - costs.store;
                farm.work(cpu, ways, own.max(0.0));
                None
            }
        };
        flow(&machine, FIRST + self.workers, setup, body)
    }

    fn all(&self) -> usize {
        self.before + self.tasks + 2 * (self.workers + 1)
    }

    fn lay_out(&self, setup: &mut Setup<'_>) -> FarmPorts {
        let queues = self.runtime == StreamRuntime::Queues;
        // One task is being written, and each worker has one in work and one waiting. Of a worker's results one is
        // being written, one passed on, one read.
        let tasks = queues.then(|| Heap::new(setup, 2 * self.workers + 2, self.lines));
        let mut port = |worker: usize, (ready, ack), tasks: Option<&Heap>| {
            let own = queues.then(|| Heap::new(setup, 4, self.lines));
            let place = PortPlace {
                home: FIRST + worker,
                ready,
                ack,
            };
            let heap = tasks.or(own.as_ref());
            Port::new(setup, self.runtime, place, self.lines, heap)
        };
        let count = self.workers as u32;
        // The tags of notifications to a worker are 0 and 1; those of all workers to one thread are consecutive.
        let results = |w: usize| (2 + count + w as u32, 1);
        FarmPorts {
            tasks: (0..self.workers)
                .map(|w| port(w, (0, 2 + w as u32), tasks.as_ref()))
                .collect(),
            results: (0..self.workers)
                .map(|w| port(w, results(w), None))
                .collect(),
            sent: Cell::new(0),
        }
    }

    fn emit(&self, cpu: &mut Cpu<'_>, ways: &FarmPorts, pause: f64) {
        for port in &ways.tasks {
            port.prime(cpu);
        }
        let mut workers = Ports::new(&ways.tasks, pause);
        for task in 0..self.all() as u64 {
            let worker = workers.await_room(cpu);
            let port = &ways.tasks[worker];
            let at = port.open(cpu);
            for line in 0..self.lines {
                cpu.compute((WORDS - 1) as f64);
                port.write(cpu, at.offset(line), task);
            }
            port.send(cpu, FIRST + worker, at);
            ways.sent.set(task + 1);
        }
        for (worker, port) in ways.tasks.iter().enumerate() {
            port.await_room(cpu);
            let at = port.open(cpu);
            port.write(cpu, at, END);
            port.send(cpu, FIRST + worker, at);
        }
    }

    fn work(&self, cpu: &mut Cpu<'_>, ways: &FarmPorts, grain_line: f64) {
        let worker = cpu.rank() - FIRST;
        let (tasks, results) = (&ways.tasks[worker], &ways.results[worker]);
        results.prime(cpu);
        loop {
            tasks.await_message(cpu);
            let task = tasks.accept(cpu);
            if cpu.load(task) == END {
                return tasks.release(cpu, EMITTER, task);
            }
            results.await_room(cpu);
            let result = results.open(cpu);
            for line in 0..self.lines {
                let word = cpu.load(task.offset(line));
                cpu.compute(grain_line);
                results.write(cpu, result.offset(line), 2 * word + 1);
            }
            tasks.release(cpu, EMITTER, task);
            results.send(cpu, COLLECTOR, result);
        }
    }

    fn collect(&self, cpu: &mut Cpu<'_>, ways: &FarmPorts, pause: f64) -> StreamFlow {
        let mut workers = Ports::new(&ways.results, pause);
        let (all, mut sum) = (self.all(), 0);
        let mut marks = StreamMarks::new(self.before, self.tasks);
        for task in 0..all {
            marks.pass(task, cpu, &ways.sent);
            let worker = workers.await_message(cpu);
            let port = &ways.results[worker];
            let at = port.accept(cpu);
            if self.reads {
                cpu.copy(at, self.lines);
            }
            sum += cpu.load(at);
            port.release(cpu, FIRST + worker, at);
        }
        let all = all as u64;
        assert_eq!(sum, all * all, "each task came back once");
        marks.flow()
    }
}
