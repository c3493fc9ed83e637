//! Runs a program on some cores of a machine.

use super::{Cpu, Event, Wait, World};
use crate::machine::{Machine, MachineError};
use crate::memory::{Counts, LineId, Memory};
use crate::trace::Trace;
use crate::{Time, units};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use std::cell::RefCell;
use std::rc::Rc;

/// How to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Of what is left to chance.
    pub seed: u64,
    /// Each request that misses is late by up to so much, in units of the machine.
    pub jitter: f64,
    /// Whether to note what each rank does when.
    pub trace: bool,
    /// Whether the invariants of coherence are checked after each change.
    pub checking: bool,
    /// Units of time after which a run is given up.
    pub limit: f64,
    /// Bytes of a rank's stack. Teams of up to 256 get 256 KiB at least, so that a panic can say where it
    /// happened; pages that nobody touches take no memory.
    pub stack_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 0,
            jitter: 0.0,
            trace: false,
            checking: cfg!(debug_assertions),
            limit: 1e9,
            stack_bytes: 32 * 1024,
        }
    }
}

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// The machine is none.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// A core that the machine does not have, or has for two ranks.
    #[error("core {core} of {machine:?}: it has {cores} cores, and each serves one rank")]
    Core {
        /// What was asked for.
        core: usize,
        /// Of which machine.
        machine: String,
        /// How many there are.
        cores: usize,
    },
    /// All ranks wait, and nothing will happen any more.
    #[error("at {at} everybody waits, and nothing can happen any more: {waits}")]
    Stuck {
        /// When.
        at: String,
        /// Who waits for what.
        waits: String,
    },
    /// It takes too long.
    #[error(
        "not done at {at}: the run was limited to that, or a rank polls for something that never comes"
    )]
    Limit {
        /// When it was given up.
        at: String,
    },
    /// There was no memory for stacks.
    #[error("no memory for the stacks of {ranks} ranks: {why}")]
    Stacks {
        /// For how many.
        ranks: usize,
        /// What the kernel says.
        why: String,
    },
}

/// How much one server had to do.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerUse {
    /// Which one.
    pub name: String,
    /// Requests that it served.
    pub served: u64,
    /// Part of the time that it was busy, of the whole run.
    pub utilisation: f64,
    /// How long a request waited on average.
    pub wait_mean: f64,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Outcome<R> {
    /// What each rank returned.
    pub results: Vec<R>,
    /// When each rank ended, in units of the machine.
    pub ends: Vec<f64>,
    /// Transfers, invalidations and so on.
    pub counts: Counts,
    /// Servers that had something to do, by name.
    pub servers: Vec<ServerUse>,
    /// What each rank did when, if that was asked for.
    pub trace: Trace,
    /// Time that was counted in [`counts`](Self::counts) and [`servers`](Self::servers).
    pub span: f64,
}

impl<R> Outcome<R> {
    /// When the last rank ended.
    pub fn end(&self) -> f64 {
        self.ends.iter().copied().fold(0.0, f64::max)
    }
}

/// Lines and states before ranks start. Nothing here takes time.
#[derive(Debug)]
pub struct Setup<'a> {
    memory: &'a mut Memory,
}

impl Setup<'_> {
    /// Lines next to each other, at home with `core` unless the machine spreads lines.
    pub fn allocate(&mut self, core: usize, lines: usize) -> LineId {
        self.memory.allocate(core, lines)
    }

    /// How many cores there are.
    pub fn cores(&self) -> usize {
        self.memory.machine.cores.len()
    }

    /// Lets `core` read a line.
    pub fn read(&mut self, core: usize, line: LineId) {
        self.memory.at_once(core, line, None);
    }

    /// Lets `core` write a line.
    pub fn write(&mut self, core: usize, line: LineId, word: u64) {
        self.memory.at_once(core, line, Some(word));
    }
}

/// Runs `body` on `cores`, rank by rank, after `setup` has said what there is; its result is given to
/// every rank.
///
/// # Errors
///
/// A machine that is none, cores that it has not; ranks that wait for ever.
///
/// # Examples
///
/// ```
/// use corecast_sim::engine::{Options, run};
/// use corecast_sim::machine::known;
///
/// // Two cores meet in one line.
/// let outcome = run(
///     &known::mesh(2, 1),
///     &[0, 1],
///     &Options::default(),
///     |setup| setup.allocate(0, 1),
///     |cpu, &line| {
///         if cpu.rank() == 0 {
///             cpu.store(line, 7);
///         }
///         cpu.wait_until(line, |word| word == 7)
///     },
/// )?;
/// assert_eq!(outcome.results, [7, 7]);
/// assert!(outcome.end() > 0.0);
/// # Ok::<(), corecast_sim::engine::SimError>(())
/// ```
pub fn run<S: 'static, R: 'static>(
    machine: &Machine,
    cores: &[usize],
    options: &Options,
    setup: impl FnOnce(&mut Setup<'_>) -> S,
    body: impl Fn(&mut Cpu<'_>, &S) -> R + 'static,
) -> Result<Outcome<R>, SimError> {
    machine.check()?;
    let count = machine.cores.len();
    let mut seen = vec![false; count];
    for &core in cores {
        if core >= count || std::mem::replace(&mut seen[core], true) {
            return Err(SimError::Core {
                core,
                machine: machine.name.clone(),
                cores: count,
            });
        }
    }
    let mut memory = Memory::new(machine.clone());
    memory.checking = options.checking;
    let shared = Rc::new(setup(&mut Setup {
        memory: &mut memory,
    }));
    let trace = Trace::new(options.trace, &machine.unit);
    let world = World::new(memory, trace, options);
    let world = Rc::new(RefCell::new(world));
    let body = Rc::new(body);
    let roomy = if cores.len() <= 256 { 256 * 1024 } else { 0 };
    let stack_bytes = options.stack_bytes.max(roomy);
    let mut ranks = Vec::with_capacity(cores.len());
    let mut rank_of = vec![usize::MAX; count];
    for (rank, &core) in cores.iter().enumerate() {
        let stack = DefaultStack::new(stack_bytes).map_err(|error| SimError::Stacks {
            ranks: cores.len(),
            why: error.to_string(),
        })?;
        let (world_of, shared, body) = (world.clone(), shared.clone(), body.clone());
        ranks.push(Coroutine::with_stack(stack, move |yielder, ()| {
            let mut cpu = Cpu::new(world_of, yielder, core as u32, rank);
            let result = body(&mut cpu, &shared);
            cpu.fence();
            (result, cpu.time())
        }));
        rank_of[core] = rank;
        world.borrow_mut().push(0, Event::Run(core as u32));
    }
    let mut ended: Vec<Option<(R, Time)>> = (0..cores.len()).map(|_| None).collect();
    loop {
        let (next, now, limit) = {
            let mut world = world.borrow_mut();
            (world.next(), world.now, world.limit)
        };
        let Some(core) = next else { break };
        if now > limit {
            return Err(SimError::Limit {
                at: format!("{} {}", units(now), machine.unit),
            });
        }
        let rank = rank_of[core as usize];
        if let CoroutineResult::Return(result) = ranks[rank].resume(()) {
            ended[rank] = Some(result);
            world.borrow_mut().cores[core as usize].wait = Wait::Over;
        }
    }
    if ended.iter().any(Option::is_none) {
        return Err(stuck(&world.borrow(), machine, cores));
    }
    drop(ranks);
    let world = Rc::into_inner(world)
        .expect("ranks have ended")
        .into_inner();
    let span = world.now.saturating_sub(world.trace.start());
    let (results, ends): (Vec<R>, Vec<Time>) = ended.into_iter().flatten().unzip();
    let part = |busy: Time| busy as f64 / span.max(1) as f64;
    let servers = world.memory.servers().map(|(name, server)| ServerUse {
        name,
        served: server.served(),
        utilisation: part(server.busy()),
        wait_mean: units(server.waited()) / server.served() as f64,
    });
    Ok(Outcome {
        ends: ends.into_iter().map(units).collect(),
        results,
        servers: servers.collect(),
        counts: world.memory.counts.clone(),
        span: units(span),
        trace: world.trace,
    })
}

fn stuck(world: &World, machine: &Machine, cores: &[usize]) -> SimError {
    let waits = cores.iter().enumerate().filter_map(|(rank, &core)| {
        let what = match world.cores[core].wait {
            Wait::Over => return None,
            Wait::Change(line) => format!("line {line} to change"),
            Wait::Signal(tag, last) if tag == last => format!("notification {tag}"),
            Wait::Signal(first, last) => format!("a notification from {first} to {last}"),
            other => format!("{other:?}"),
        };
        Some(format!("rank {rank} for {what}"))
    });
    let mut waits: Vec<String> = waits.collect();
    let more = waits.len().saturating_sub(8);
    waits.truncate(8);
    if more > 0 {
        waits.push(format!("and {more} more"));
    }
    SimError::Stuck {
        at: format!("{} {}", units(world.now), machine.unit),
        waits: waits.join(", "),
    }
}
