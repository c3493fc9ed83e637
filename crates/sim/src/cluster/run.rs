//! Runs a program on the ranks of a machine of several hosts.

use super::fabric::HostFabric;
use super::machine::ClusterMachine;
use super::world::{RankWait, World};
use crate::drive::Job;
use crate::engine::{ServerUse, SimError};
use crate::units;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use std::cell::RefCell;
use std::rc::Rc;

/// The options of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostsOptions {
    /// For how many bytes each byte of the program stands: data of megabytes on thousands of ranks then fit into memory.
    pub grain: usize,
    /// Bytes of a rank's stack. Pages that are not touched take no memory.
    pub stack_bytes: usize,
}

impl Default for HostsOptions {
    fn default() -> Self {
        Self {
            grain: 1,
            stack_bytes: 32 * 1024,
        }
    }
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct HostsOutcome<R> {
    /// What each rank returned.
    pub results: Vec<R>,
    /// The servers that have served at least one request.
    pub servers: Vec<ServerUse>,
    /// The time of the last event, in nanoseconds.
    pub end: f64,
}

/// Runs `body` once on each of `cores`, with rank r on `cores[r]`.
///
/// # Errors
///
/// [`SimError`]: a description that makes no sense, cores that the machine does not have, ranks that wait for ever.
///
/// # Cost
///
/// Some microseconds for each loan, and less for each message. A rank takes its stack, of which it touches a few KiB,
/// and what its program keeps.
pub fn run_hosts<R: 'static>(
    machine: &ClusterMachine,
    cores: &[usize],
    options: &HostsOptions,
    body: impl Fn(HostFabric<'_>) -> R + 'static,
) -> Result<HostsOutcome<R>, SimError> {
    machine.check()?;
    SimError::check_cores(cores, &machine.name, machine.len())?;
    assert!(options.grain > 0, "each byte stands for one at least");
    let world = Rc::new(RefCell::new(World::new(machine, cores)));
    let body = Rc::new(body);
    let roomy = if cores.len() <= 256 { 256 * 1024 } else { 0 };
    let stack_bytes = options.stack_bytes.max(roomy);
    let mut ranks = Vec::with_capacity(cores.len());
    for rank in 0..cores.len() {
        let stack = DefaultStack::new(stack_bytes).map_err(|error| SimError::Stacks {
            ranks: cores.len(),
            why: error.to_string(),
        })?;
        let (world_of, body, grain) = (world.clone(), body.clone(), options.grain);
        ranks.push(Coroutine::with_stack(stack, move |yielder, ()| {
            body(HostFabric::new(world_of, yielder, rank, grain))
        }));
        world.borrow_mut().push(0, rank);
    }
    let mut ended: Vec<Option<R>> = (0..cores.len()).map(|_| None).collect();
    loop {
        let next = world.borrow_mut().next();
        let Some(rank) = next else { break };
        if let CoroutineResult::Return(result) = ranks[rank].resume(()) {
            ended[rank] = Some(result);
            world.borrow_mut().waits[rank] = RankWait::Over;
        }
    }
    if ended.iter().any(Option::is_none) {
        return Err(stuck(&world.borrow()));
    }
    drop(ranks);
    let world = world.borrow();
    let span = world.now.max(1) as f64;
    let servers = world.servers().map(|(name, server)| ServerUse {
        name,
        served: server.served(),
        utilisation: server.busy() as f64 / span,
        wait_mean: units(server.waited()) / server.served() as f64,
    });
    Ok(HostsOutcome {
        results: ended.into_iter().flatten().collect(),
        servers: servers.collect(),
        end: units(world.now),
    })
}

fn stuck(world: &World) -> SimError {
    let waits = world.waits.iter().enumerate();
    let waits = waits.filter(|(_, wait)| **wait != RankWait::Over);
    let mut waits: Vec<String> = waits
        .map(|(rank, wait)| format!("rank {rank} for {wait:?}"))
        .collect();
    let more = waits.len().saturating_sub(8);
    waits.truncate(8);
    if more > 0 {
        waits.push(format!("and {more} more"));
    }
    SimError::Stuck {
        at: format!("{} ns", units(world.now)),
        waits: waits.join(", "),
    }
}

/// Runs the call of `job` with rank r on core `cores[r]` of `machine`, checks its results, and returns the time of each
/// rank from the common start to its end, in nanoseconds.
///
/// # Errors
///
/// Those of [`run_hosts`], and a job whose ranks share lines: no line is shared between hosts.
///
/// # Panics
///
/// If the results differ from those of a loop over all ranks, because then an algorithm is wrong.
pub fn predict_hosts(
    machine: &ClusterMachine,
    cores: &[usize],
    job: &Job,
) -> Result<HostsOutcome<f64>, SimError> {
    assert_eq!(job.ranks(), cores.len(), "a core for each rank");
    if job.shares_lines() {
        return Err(SimError::SharedLines {
            call: job.call().to_string(),
        });
    }
    let shared = Rc::new(job.clone());
    let of_ranks = shared.clone();
    let body = move |fabric: HostFabric<'_>| {
        let mut context = of_ranks.context(fabric);
        let combine = context.fabric.combine();
        let Ok(result) = of_ranks.run(&mut context, &combine);
        context.fabric.catch_up();
        (result, context.fabric.now())
    };
    let outcome = run_hosts(machine, cores, &HostsOptions::default(), body)?;
    let reference = shared.reference();
    let mut ends = Vec::with_capacity(cores.len());
    for (rank, (result, end)) in outcome.results.iter().enumerate() {
        let expected = reference.expected(rank);
        assert!(expected == &result[..], "rank {rank} of {}", job.call());
        ends.push(*end);
    }
    Ok(HostsOutcome {
        results: ends,
        servers: outcome.servers,
        end: outcome.end,
    })
}
