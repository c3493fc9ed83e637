//! A machine of which only pairwise costs are known: the costs of a message for its sender and its receiver.
//!
//! The costs say for how long a sender and a receiver are blocked. That is not what a message does to the
//! machine, so the simulated machine has what they leave out:
//!
//! - *The sender's line.* A slot that is written again is still in the receiver's cache. To take it back costs a way
//!   there and back, which a store buffer hides from a program that times `send`: on the Intel machines it is 8
//!   cycles where the way takes hundreds. It is not hidden from the next store: stores leave in order, one when the
//!   one before has reached its home.
//! - *The order of requests.* A core that answers others, or whose line is being taken, serves one at a time.
//!
//! A line goes from cache to cache in the time that its receiver was blocked for; the way is taken to be as long
//! in both directions, half of it each.

use super::links::Inner;
use super::parts::{CopyLookup, CorePlace, Home, Protocol, SimMachine, Spot};
use super::plain::plain;
use corecast_model::CostModel;

/// A machine in which lines take as long as `costs` says that receivers wait for them.
///
/// Core i is the i-th thread of the costs. Lines are at home with the core that reads them, where the fabric's wires
/// put them.
///
/// # Examples
///
/// ```
/// use corecast_sim::machine::pairs;
///
/// let file = corecast_model::builtin("sandybridge-2x8").unwrap();
/// let machine = pairs::machine("sandybridge-2x8", file.costs());
/// assert_eq!(machine.cores.len(), 32);
/// machine.check()?;
/// # Ok::<(), corecast_sim::machine::SimMachineError>(())
/// ```
pub fn machine(name: &str, costs: &CostModel) -> SimMachine {
    let n = costs.n();
    let mut machine = plain(
        name.to_owned(),
        Inner::Crossbar {
            stops: n as u32,
            latency: Vec::new(),
        },
    );
    machine.unit = costs.unit().to_string();
    machine.protocol = Protocol::Mesi;
    machine.finding = CopyLookup::Directory;
    for core in 0..n {
        let spot = Spot {
            package: 0,
            stop: core as u32,
        };
        machine.cores.push(CorePlace {
            spot,
            group: None,
            home: core as u32,
        });
        machine.homes.push(Home { spot, memory: 0 });
    }
    let pairs = || (0..n).flat_map(|i| (0..n).filter(move |&j| j != i).map(move |j| (i, j)));
    let line = |i: usize, j: usize| (costs.receive(i, j) + costs.receive(j, i)) / 2.0;
    let least = pairs()
        .map(|(i, j)| line(i, j))
        .fold(f64::INFINITY, f64::min);
    let least = if least.is_finite() { least } else { 0.0 };
    let parts = &mut machine.costs;
    // The parts that every transfer passes take a share of the shortest transfer.
    parts.l1 = least / 50.0;
    parts.l2 = least / 20.0;
    parts.store = least / 50.0;
    parts.atomic = least / 20.0;
    parts.snoop = least / 10.0;
    parts.invalidate = parts.snoop;
    parts.fill = 0.0;
    parts.home = 0.0;
    parts.shared = 0.0;
    parts.poll = 0.0;
    parts.call = 0.0;
    parts.copy_line = parts.l1;
    let longest = pairs().map(|(i, j)| line(i, j)).fold(0.0, f64::max);
    parts.memory = longest;
    parts.memory_service = longest / 10.0;
    let fixed = parts.l2 + parts.snoop;
    let latency = (0..n * n).map(|index| match (index / n, index % n) {
        (i, j) if i == j => 0.0,
        (i, j) => ((line(i, j) - fixed) / 2.0).max(0.0),
    });
    machine.inner = Inner::Crossbar {
        stops: n as u32,
        latency: latency.collect(),
    };
    machine
}
