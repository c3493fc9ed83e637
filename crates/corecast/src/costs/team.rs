//! The costs of messages between the ranks of a team, several of which may share a PU.

use std::collections::HashMap;

use corecast_machine::Discovery;
use corecast_model::{CostModel, MachineFile, Unit};
use corecast_plan::{Operation, Scope, Space, bound};
use corecast_wire::WaitCosts;

use super::{CostSource, built_in, half_bytes, of_waits, shared_half_bytes};
use crate::choose::Candidate;
use crate::error::Error;
use crate::store::Store;

/// The costs of a team.
#[derive(Debug)]
pub(crate) struct TeamCosts {
    model: CostModel,
    /// Costs of waiting on this machine, where they were measured.
    pub(crate) waits: Option<WaitCosts>,
    /// [`half_bytes`] of the machine, or [`shared_half_bytes`] where the ranks share hardware threads.
    pub(crate) half_bytes: Option<usize>,
    /// Costs of messages towards the root, where they differ from those of the other direction.
    fan_in: Option<CostModel>,
    pub(crate) source: CostSource,
    /// What had to be assumed, one sentence each.
    pub(crate) assumptions: Vec<String>,
}

impl TeamCosts {
    /// The costs of ranks on `rank_pus`: from `given`, else from `store`, else from the literature.
    pub(crate) fn find(
        given: Option<&MachineFile>,
        store: &Store,
        here: &Discovery,
        rank_pus: &[u32],
    ) -> Result<Self, Error> {
        let half_bytes = match rank_pus.len() > here.unthrottled_parallelism() {
            true => shared_half_bytes,
            false => half_bytes,
        };
        if let Some(file) = given {
            return Ok(Self {
                half_bytes: half_bytes(file),
                ..Self::given(file, rank_pus)?
            });
        }
        let (mut file, mut source) = super::here(store, here);
        let (waits, half_bytes) = (of_waits(&file), half_bytes(&file));
        let missing = rank_pus.iter().find(|&&pu| file.position(pu).is_none());
        if let Some(pu) = missing {
            let why = format!("the measured costs leave out PU {pu}");
            (file, source) = (built_in(&here.machine), CostSource::BuiltIn { why });
        }
        let costs = Self::by_number(&file, rank_pus, source)?;
        Ok(Self {
            waits,
            half_bytes,
            ..costs
        })
    }

    /// The costs of messages towards the root, and from it.
    pub(crate) fn both_ways(&self) -> (&CostModel, &CostModel) {
        (self.fan_in.as_ref().unwrap_or(&self.model), &self.model)
    }

    /// The share of a schedule's latency, from 0 to 1, that a better one could save at most, and which these are: for
    /// a tree those of messages with the same root, for rounds any barrier of messages. Schedules that share lines
    /// are none of them, since none is chosen. `None` where it is unknown.
    ///
    /// # Cost
    ///
    /// The cost of [`bound::lower_bound`].
    pub(crate) fn gap(&self, chosen: &Candidate, operation: Operation) -> Option<(f64, Scope)> {
        let Some(fan_in) = &self.fan_in else {
            let model = self.model.without_lines();
            let plan = chosen.plan(&model, operation).ok()?;
            return Some((plan.gap, plan.scope));
        };
        if !chosen.has_root() {
            return None;
        }
        let root = Some(chosen.root);
        let inward = || bound::lower_bound(fan_in, Operation::Reduce, root);
        let outward = || bound::lower_bound(&self.model, Operation::Broadcast, root);
        let least = match operation {
            Operation::Broadcast => outward(),
            Operation::Reduce => inward(),
            Operation::Barrier => inward() + outward(),
        };
        let latency = chosen.latency;
        let gap = if latency > least {
            1.0 - least / latency
        } else {
            0.0
        };
        let space = Space::Trees;
        Some((gap, Scope { space, root }))
    }

    /// The unit of the costs.
    pub(crate) fn unit(&self) -> Unit {
        self.model.unit()
    }

    /// Costs by PU where each rank has its own PU and the file knows all of them, else by rank.
    fn given(file: &MachineFile, rank_pus: &[u32]) -> Result<Self, Error> {
        let source = CostSource::Given {
            machine: file.machine().name.clone(),
        };
        let missing = rank_pus.iter().find(|&&pu| file.position(pu).is_none());
        let by_rank = rank_pus.len() <= file.threads().len();
        match missing {
            None if ranks_per_pu(rank_pus) < 2 || !by_rank => {
                Self::by_number(file, rank_pus, source)
            }
            _ if by_rank => {
                let ranks: Vec<usize> = (0..rank_pus.len()).collect();
                let sentence = format!(
                    "the team runs elsewhere than on {:?}: rank r has the costs of its r-th thread",
                    file.machine().name
                );
                Ok(Self {
                    model: file.costs().subset(&ranks)?,
                    waits: None,
                    half_bytes: None,
                    fan_in: None,
                    source,
                    assumptions: vec![sentence],
                })
            }
            Some(&pu) => Err(Error::NoCosts {
                machine: file.machine().name.clone(),
                known: file.threads().len(),
                ranks: rank_pus.len(),
                pu,
            }),
            None => Self::by_number(file, rank_pus, source),
        }
    }

    /// Costs by the numbers of the PUs, all of which have costs; several ranks may share one.
    fn by_number(file: &MachineFile, rank_pus: &[u32], source: CostSource) -> Result<Self, Error> {
        let costs = file.costs();
        let at: Vec<usize> = rank_pus
            .iter()
            .filter_map(|&pu| file.position(pu))
            .collect();
        let shared = ranks_per_pu(rank_pus);
        if shared < 2 {
            return Ok(Self {
                model: costs.subset(&at)?,
                waits: None,
                half_bytes: None,
                fan_in: None,
                source,
                assumptions: Vec::new(),
            });
        }
        let turn = shared as f64 * turn(file);
        // A message within a PU finds its line in the cache.
        let apart = |i: usize, j: usize, cost: f64| if at[i] == at[j] { 0.0 } else { cost };
        let model = |to_send: f64, to_receive: f64| {
            CostModel::from_fn(
                costs.unit(),
                at.iter().map(|&position| costs.numa(position)).collect(),
                |i, j| apart(i, j, costs.send(at[i], at[j])) + to_send,
                |i, j| apart(i, j, costs.receive(at[i], at[j])) + to_receive,
            )
        };
        let sentence = format!(
            "{shared} ranks share a PU: each hop of a message waits until the next rank has its \
             turn, {turn:.0} {}",
            costs.unit()
        );
        Ok(Self {
            model: model(0.0, turn)?,
            waits: None,
            half_bytes: None,
            fan_in: Some(model(turn, 0.0)?),
            source,
            assumptions: vec![sentence],
        })
    }
}

/// The extra cost of a hop for each rank that shares a PU, as its receiver waits for a turn on the PU, in the unit of the file's
/// costs: what the probe measured, else [`TURN_NS`].
///
/// The receivers of one sender wait for their turns concurrently, and so do the senders to one receiver.
/// So the model adds a turn at the child's end of an edge, which receives in a broadcast and sends
/// in a reduction.
fn turn(file: &MachineFile) -> f64 {
    match file.costs().unit() {
        Unit::Nanoseconds => of_waits(file).map_or(TURN_NS, |waits| waits.yield_ns),
        Unit::Cycles => TURN_CYCLES,
    }
}

/// A turn where it was not measured. Barriers of 4 and 8 ranks over eleven patterns took 0.4 to 0.45 µs for each level and
/// each rank on a PU (2-core KVM guest, Xeon at 2.5 GHz, November 2026).
const TURN_NS: f64 = 420.0;

/// [`TURN_NS`] in cycles at 2.5 GHz.
const TURN_CYCLES: f64 = 1_050.0;

/// The most ranks that share a PU.
fn ranks_per_pu(rank_pus: &[u32]) -> usize {
    let mut ranks: HashMap<u32, usize> = HashMap::new();
    for &pu in rank_pus {
        *ranks.entry(pu).or_default() += 1;
    }
    ranks.into_values().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_number(file: &MachineFile, rank_pus: &[u32]) -> TeamCosts {
        let machine = String::new();
        TeamCosts::by_number(file, rank_pus, CostSource::Given { machine }).unwrap()
    }

    #[test]
    fn sharing_pus_costs_a_turn_at_the_child() {
        let file = corecast_model::synthetic("core:2").unwrap();
        let costs = by_number(&file, &[0, 1, 0]);
        let (fan_in, fan_out) = costs.both_ways();
        let turn = fan_out.receive(0, 2);
        assert!(turn >= 2.0 * TURN_NS && fan_out.send(0, 2) == 0.0);
        assert_eq!(fan_out.receive(0, 1), file.costs().receive(0, 1) + turn);
        assert_eq!(fan_in.send(0, 1), file.costs().send(0, 1) + turn);
        assert_eq!(fan_in.receive(0, 1), file.costs().receive(0, 1));
        assert_eq!(costs.assumptions.len(), 1);
        assert!(by_number(&file, &[1, 0]).assumptions.is_empty());
    }

    #[test]
    fn given_costs_are_by_pu_or_else_by_rank() {
        let big = corecast_model::synthetic("package:2 core:4").unwrap();
        let by_pu = TeamCosts::given(&big, &[4, 0]).unwrap();
        assert_eq!(by_pu.model.send(0, 1), big.costs().send(4, 0));
        assert!(by_pu.assumptions.is_empty());
        // Eight ranks on two PUs are planned as on the machine that was given.
        let by_rank = TeamCosts::given(&big, &[0, 1, 0, 1, 0, 1, 0, 1]).unwrap();
        assert_eq!(&by_rank.model, big.costs());
        assert!(by_rank.assumptions[0].contains("r-th thread"));
        let small = corecast_model::synthetic("core:2").unwrap();
        let error = TeamCosts::given(&small, &[0, 1, 2])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("none for PU 2") && error.contains("team of 3"),
            "{error}"
        );
        assert_eq!(
            TeamCosts::given(&small, &[0, 1, 0])
                .unwrap()
                .assumptions
                .len(),
            1
        );
    }
}
