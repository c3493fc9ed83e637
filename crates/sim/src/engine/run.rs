//! Runs a program on some cores of a machine.

use super::cpu::Cpu;
use super::outcome::{RunOptions, RunOutcome, ServerUse, SimError};
use super::world::{CoreWait, SimEvent, World};
use crate::machine::SimMachine;
use crate::memory::{LineId, Memory};
use crate::trace::Trace;
use crate::{VirtualTime, units};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use std::cell::RefCell;
use std::rc::Rc;

/// Allocates lines and sets their states before the ranks start. None of it takes virtual time.
#[derive(Debug)]
pub struct Setup<'a> {
    memory: &'a mut Memory,
}

impl Setup<'_> {
    /// Allocates consecutive lines, at home with `core` unless the machine spreads lines.
    pub fn allocate(&mut self, core: usize, lines: usize) -> LineId {
        self.memory.allocate(core, lines)
    }

    /// The number of cores.
    pub fn cores(&self) -> usize {
        self.memory.machine.cores.len()
    }

    /// Gives `core` a copy of a line, as if it had read it.
    pub fn read(&mut self, core: usize, line: LineId) {
        self.memory.at_once(core, line, None);
    }

    /// Gives `core` a modified copy of a line, as if it had written it.
    pub fn write(&mut self, core: usize, line: LineId, word: u64) {
        self.memory.at_once(core, line, Some(word));
    }
}

/// Runs `body` once on each of `cores`, with rank r on `cores[r]`. `setup` runs before, and every rank gets its result.
///
/// # Errors
///
/// [`SimError`]: a description that makes no sense, cores that the machine does not have, ranks that wait for ever.
///
/// # Examples
///
/// ```
/// use corecast_sim::engine::{RunOptions, run};
/// use corecast_sim::machine::known;
///
/// // Two cores meet in one line.
/// let outcome = run(
///     &known::mesh(2, 1),
///     &[0, 1],
///     &RunOptions::default(),
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
    machine: &SimMachine,
    cores: &[usize],
    options: &RunOptions,
    setup: impl FnOnce(&mut Setup<'_>) -> S,
    body: impl Fn(&mut Cpu<'_>, &S) -> R + 'static,
) -> Result<RunOutcome<R>, SimError> {
    machine.check()?;
    SimError::check_cores(cores, &machine.name, machine.cores.len())?;
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
    let mut rank_of = vec![usize::MAX; machine.cores.len()];
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
        world.borrow_mut().push(0, SimEvent::Run(core as u32));
    }
    let mut ended: Vec<Option<(R, VirtualTime)>> = (0..cores.len()).map(|_| None).collect();
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
            world.borrow_mut().cores[core as usize].wait = CoreWait::Over;
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
    let (results, ends): (Vec<R>, Vec<VirtualTime>) = ended.into_iter().flatten().unzip();
    let part = |busy: VirtualTime| busy as f64 / span.max(1) as f64;
    let servers = world.memory.servers().map(|(name, server)| ServerUse {
        name,
        served: server.served(),
        utilisation: part(server.busy()),
        wait_mean: units(server.waited()) / server.served() as f64,
    });
    Ok(RunOutcome {
        ends: ends.into_iter().map(units).collect(),
        results,
        servers: servers.collect(),
        counts: world.memory.counts.clone(),
        span: units(span),
        trace: world.trace,
    })
}

fn stuck(world: &World, machine: &SimMachine, cores: &[usize]) -> SimError {
    let waits = cores.iter().enumerate().filter_map(|(rank, &core)| {
        let what = match world.cores[core].wait {
            CoreWait::Over => return None,
            CoreWait::Change(line) => format!("line {line} to change"),
            CoreWait::Signal(tag, last) if tag == last => format!("notification {tag}"),
            CoreWait::Signal(first, last) => format!("a notification from {first} to {last}"),
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
