//! Message costs of a simulated machine for planners, measured as a probe measures hardware.

use super::{SimFabric, SimTeam};
use crate::engine::{Cpu, RunOptions, SimError, run};
use crate::machine::SimMachine;
use corecast_collectives::Groups;
use corecast_model::{CostModel, Unit};
use corecast_wire::Fabric;

/// Pairwise costs between `cores`: for how long a sender is blocked by a message of one line, and how much
/// later its receiver has it.
///
/// # Errors
///
/// Those of [`run`].
///
/// # Cost
///
/// A run of two ranks for each ordered pair.
///
/// # Examples
///
/// ```
/// use corecast_sim::fabric::costs;
/// use corecast_sim::machine::known;
///
/// let costs = costs(&known::mesh(4, 1), &[0, 1, 3])?;
/// assert!(costs.receive(0, 2) > costs.receive(0, 1), "it is farther");
/// # Ok::<(), corecast_sim::engine::SimError>(())
/// ```
pub fn costs(machine: &SimMachine, cores: &[usize]) -> Result<CostModel, SimError> {
    let n = cores.len();
    let combine = machine.costs.combine_bytes;
    let mut send = vec![0.0; n * n];
    let mut receive = vec![0.0; n * n];
    for i in 0..n {
        for j in (0..n).filter(|&j| j != i) {
            let pair = [cores[i], cores[j]];
            let team = SimTeam::new(&pair, &Groups::new(2));
            let body = move |cpu: &mut Cpu<'_>, (): &()| {
                let mut fabric = SimFabric::new(cpu, &team, combine);
                let mut ends = 0.0;
                for _ in 0..2 {
                    fabric.cpu().arrive_and_wait(2);
                    let start = fabric.cpu().now();
                    let Ok(()) = match fabric.rank() {
                        0 => fabric.send(1, &[0; 8]),
                        _ => fabric.receive(0, &mut [0; 8]),
                    };
                    ends = fabric.cpu().now() - start;
                }
                ends
            };
            let outcome = run(machine, &pair, &RunOptions::default(), |_| (), body)?;
            send[i * n + j] = outcome.results[0];
            receive[i * n + j] = (outcome.results[1] - outcome.results[0]).max(0.0);
        }
    }
    let unit = match machine.unit.as_str() {
        "ns" => Unit::Nanoseconds,
        _ => Unit::Cycles,
    };
    let rows = |values: &[f64]| values.chunks(n).map(<[f64]>::to_vec).collect();
    let numa = cores.iter().map(|&core| machine.package(core)).collect();
    let costs = CostModel::new(unit, rows(&send), rows(&receive), numa);
    Ok(costs.expect("costs are numbers"))
}
