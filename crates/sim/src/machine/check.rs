//! Checks whether the description of a machine makes sense.

use super::links::Inner;
use super::parts::{Home, Protocol, SimMachine};
use super::routes::{packages, route};

/// Why a description of a machine makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("machine {name:?}: {why}")]
pub struct SimMachineError {
    /// The name of the machine.
    pub name: String,
    /// What is wrong.
    pub why: String,
}

impl SimMachine {
    /// Checks that all parts exist that others name, and that costs are costs.
    ///
    /// # Errors
    ///
    /// What is wrong, with the machine's name.
    pub fn check(&self) -> Result<(), SimMachineError> {
        let fail = |why: String| {
            Err(SimMachineError {
                name: self.name.clone(),
                why,
            })
        };
        if self.cores.is_empty() || self.homes.is_empty() || self.memories.is_empty() {
            return fail("it needs a core, a home and a memory at least".into());
        }
        for (core, seat) in self.cores.iter().enumerate() {
            let group = seat.group.is_none_or(|g| (g as usize) < self.groups.len());
            if !group || seat.home as usize >= self.homes.len() {
                return fail(format!(
                    "core {core} has a group or a home that is not there"
                ));
            }
            if seat.group.is_some() == self.groups.is_empty() {
                return fail(format!("core {core}: either all cores have groups or none"));
            }
        }
        let memory = |home: &Home| (home.memory as usize) < self.memories.len();
        if !self.homes.iter().all(memory) {
            return fail("a home has a memory that is not there".into());
        }
        if self.protocol == Protocol::Home
            && (!self.groups.is_empty() || self.homes.len() != self.cores.len())
        {
            return fail(
                "under the protocol of homes each core is one, and none share caches".into(),
            );
        }
        let costs = &self.costs;
        let all = [
            costs.l1,
            costs.l2,
            costs.store,
            costs.atomic,
            costs.snoop,
            costs.invalidate,
            costs.fill,
            costs.shared,
            costs.home,
            costs.memory,
            costs.memory_service,
            costs.poll,
            costs.notify,
            costs.copy_line,
            costs.call,
        ];
        let cost = |cost: f64| (0.0..1e9).contains(&cost);
        if !all.into_iter().all(cost) || !(f64::MIN_POSITIVE..).contains(&costs.combine_bytes) {
            return fail("costs are at least 0 and below 1e9, bytes per unit above 0".into());
        }
        let sizes = &self.sizes;
        if sizes.l1 == 0 || sizes.l2 < sizes.l1 || sizes.misses == 0 {
            return fail("caches have a line at least, the second as many as the first".into());
        }
        if sizes.stores > 0 && !(1..=sizes.stores).contains(&sizes.draining) {
            return fail(
                "of the stores that wait, one at least and not more than all drain".into(),
            );
        }
        check_networks(self).or_else(fail)
    }
}

/// Checks that all parts of `machine` are at stops of its networks, and that links join its packages.
fn check_networks(machine: &SimMachine) -> Result<(), String> {
    let homes = machine.homes.iter().map(|home| home.spot);
    let cores = machine.cores.iter().map(|seat| seat.spot);
    let all = || {
        let rest = machine.groups.iter().chain(&machine.memories).copied();
        cores.clone().chain(homes.clone()).chain(rest)
    };
    if let Some(spot) = all().find(|spot| spot.stop >= machine.inner.stops()) {
        return Err(format!("there is no stop {} on its network", spot.stop));
    }
    let packages = packages(machine);
    if machine
        .links
        .iter()
        .any(|link| link.a.max(link.b) >= packages)
    {
        return Err("a link leads to a package that is not there".into());
    }
    if matches!(machine.inner, Inner::Bus(_)) && packages > 1 {
        return Err("a bus is for one package".into());
    }
    let lone = (0..packages).any(|package| route(machine, packages, 0, package).is_none());
    match (lone, &machine.inner) {
        (true, _) => Err("no links lead from package 0 to some other".into()),
        (_, Inner::Crossbar { stops, latency })
            if latency.len() != 1 && latency.len() != (stops * stops) as usize =>
        {
            Err("a crossbar needs one latency, or one for each pair of stops".into())
        }
        _ => Ok(()),
    }
}
