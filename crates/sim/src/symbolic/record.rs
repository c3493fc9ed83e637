//! Runs a collective on the recording fabric, and returns its graph.

use super::fabric::{Shared, Symbolic};
use super::graph::Graph;
use super::recorder::{Recorder, Stuck};
use super::traffic::Traffic;
use crate::drive::Job;
use corecast_collectives::groups::Groups;
use std::cell::RefCell;

/// Runs an algorithm over [`Fabric`](corecast_wire::Fabric) once on each of `n` ranks, which share the lines of
/// `groups`, and returns its graph.
///
/// # Errors
///
/// [`Stuck`] where ranks wait for a change that no rank makes, or receive another length than was sent.
///
/// # Panics
///
/// If the algorithm panics, with its panic.
///
/// # Cost
///
/// A stack of 128 KiB for each rank, of which pages are used as needed; linear in the number of acts
/// and of bytes.
///
/// # Examples
///
/// ```
/// use corecast_collectives::{Groups, Route, barrier};
/// use corecast_plan::Tree;
/// use corecast_sim::symbolic::{Analysis, AccessCosts, ManyLines, CostRules, Placement, record};
///
/// let routes = Route::all(&Tree::from_children(0, vec![vec![1], vec![]])?);
/// let graph = record(2, &Groups::new(2), |fabric, rank| {
///     barrier::tree(fabric, &routes[rank], &routes[rank])
/// })?;
/// // R_L = 2.3, R_R = 35, R_I = 70 ns.
/// let many = ManyLines { base: 63.4, per_line: 11.1, per_line_and_thread: 0.0, saved: 0.0 };
/// let costs = AccessCosts {
///     memory: 70.0,
///     own: 2.3,
///     transfer: [2.3, 35.0, 35.0, 94.0],
///     contention: None,
///     lines: [many; 4],
/// };
/// let placement = Placement::of_packages(costs, &[0, 0]);
/// let bounds = Analysis::new(&graph, &placement, &CostRules::default()).bounds();
/// // Two messages, one after the other: R_I + R_R each, with stealing R_I + 2·R_R.
/// assert_eq!((bounds.t_min, bounds.t_max), (210.0, 280.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn record(
    n: usize,
    groups: &Groups,
    body: impl Fn(&mut Symbolic<'_>, usize) -> Result<(), Stuck>,
) -> Result<Graph, Stuck> {
    record_owned(n, groups, |mut fabric, rank| {
        // The traffic keeps the failure, which is returned instead of the errors of ranks that wait for this one.
        let _ = body(&mut fabric, rank);
        fabric
    })
}

/// Records as [`record`] does, with a `body` that owns the fabric and returns it.
fn record_owned(
    n: usize,
    groups: &Groups,
    body: impl for<'w> Fn(Symbolic<'w>, usize) -> Symbolic<'w>,
) -> Result<Graph, Stuck> {
    let recorder = Recorder::new(n);
    let traffic = RefCell::new(Traffic::default());
    let shared = Shared::of_all(n, groups);
    let shared = RefCell::new(shared);
    let ended = recorder.run(|rank| {
        let shared = std::mem::take(&mut shared.borrow_mut()[rank]);
        let fabric = Symbolic::new((rank, n), &recorder, &traffic, groups, shared);
        body(fabric, rank).catch_up();
    });
    let Traffic { failure, steps, .. } = traffic.into_inner();
    match failure {
        Some(failure) => Err(failure),
        None => ended.map(|()| Graph {
            steps: steps.list,
            ..recorder.into_graph()
        }),
    }
}

/// Runs a call of any collective, and returns its graph.
///
/// # Errors
///
/// See [`record`].
///
/// # Cost
///
/// See [`record`].
///
/// # Examples
///
/// ```
/// use corecast_collectives::Plans;
/// use corecast_plan::Tree;
/// use corecast_sim::drive::{Call, Collective, Job};
/// use corecast_sim::symbolic::{Analysis, AccessCosts, CostRules, Placement, record_job};
///
/// let plans = Plans::of_tree(&Tree::from_children(0, vec![vec![1], vec![]])?);
/// let call = Call::new(Collective::Broadcast, "messages", 0, 56)?;
/// let graph = record_job(&Job::new(&call, &plans)?)?;
/// let file = corecast_model::builtin("sandybridge-2x8").expect("a machine");
/// let costs = AccessCosts::of_lines(file.costs().lines().expect("costs of lines").costs());
/// let placement = Placement::of_packages(costs, &[0, 0]);
/// let bounds = Analysis::new(&graph, &placement, &CostRules::default()).bounds();
/// // R_L + R_I to copy into the flag's line, R_R for it, R_L to copy out of it.
/// assert!((bounds.t_min - (2.3 + 70.0 + 35.0 + 2.3)).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn record_job(job: &Job) -> Result<Graph, Stuck> {
    record_results(job, |_, _| ())
}

/// Runs a call as [`record_job`] does, and calls `results` with each rank and its result.
///
/// # Errors
///
/// Those of [`record`]; `results` is not called for a rank that ends with an error.
pub fn record_results(job: &Job, results: impl Fn(usize, &[u8])) -> Result<Graph, Stuck> {
    record_owned(job.ranks(), job.groups(), |fabric, rank| {
        let mut context = job.context(fabric);
        let combine = context.fabric.combine();
        // The traffic keeps the failure of a rank.
        if let Ok(given) = job.run(&mut context, &combine) {
            results(rank, &given);
        }
        context.fabric
    })
}
