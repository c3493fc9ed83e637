//! Single messages on a simulated machine, as a probe measures them on hardware.

use super::{SimFabric, SimTeam};
use crate::engine::{Cpu, RunOptions, SimError, run};
use crate::machine::SimMachine;
use corecast_collectives::Groups;
use corecast_wire::Fabric;
use std::convert::Infallible;

/// Times of a few small programs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shots {
    /// A message of one line to a rank that waits for it.
    pub(crate) one: f64,
    /// A long message to a rank that waits for it.
    pub(crate) long: f64,
    /// The receipt of a message of one line that has arrived already.
    pub(crate) alone: f64,
    /// The receipt of a long message that has arrived already.
    pub(crate) taken: f64,
    /// One message of a line each way at the same time.
    pub(crate) crossed: f64,
}

/// Runs the small programs on two cores.
///
/// # Errors
///
/// Those of [`run`].
pub(crate) fn shots(
    machine: &SimMachine,
    pair: [usize; 2],
    long_bytes: usize,
) -> Result<Shots, SimError> {
    let after = |bytes: usize, crossed: bool, late: bool| -> Result<f64, SimError> {
        let team = SimTeam::new(&pair, &Groups::new(2));
        let body = move |cpu: &mut Cpu<'_>, (): &()| {
            let mut fabric = SimFabric::new(cpu, &team, 1.0);
            let (rank, peer) = (fabric.rank(), 1 - fabric.rank());
            let mut data = vec![0; bytes];
            let mut took = 0.0;
            // The first pass allocates the lines; the second one is timed.
            for _ in 0..2 {
                fabric.cpu().arrive_and_wait(2);
                let mut start = fabric.cpu().now();
                let sends = rank == 0 || crossed;
                if sends {
                    let Ok(()) = fabric.send(peer, &data);
                }
                if late {
                    fabric.cpu().arrive_and_wait(2);
                    start = fabric.cpu().now();
                }
                if !sends || crossed {
                    let Ok(()): Result<(), Infallible> = fabric.receive(peer, &mut data);
                }
                took = fabric.cpu().now() - start;
            }
            took
        };
        let ends = run(machine, &pair, &RunOptions::default(), |_| (), body)?.results;
        Ok(ends.into_iter().fold(0.0, f64::max))
    };
    Ok(Shots {
        one: after(8, false, false)?,
        long: after(long_bytes, false, false)?,
        alone: after(8, false, true)?,
        taken: after(long_bytes, false, true)?,
        crossed: after(8, true, false)?,
    })
}
