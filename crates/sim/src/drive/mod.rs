//! Runs any collective of [`corecast_coll`] on one rank of any fabric, and knows what must come of it.
//!
//! A [`Call`] says what; a [`Job`] is the call with its plan, prepared once for all ranks: routes, rounds,
//! and the lines that groups share, with which the fabric is to be made.
//!
//! ```text
//! Call + Plans ──► Job ──► groups()                     lines for the fabric
//!                   ├────► run(fabric, combine)         on each rank
//!                   └────► twin()                       what that must have given
//! ```

mod call;
mod combine;
mod moving;
mod reducing;
mod twin;

pub use call::{Call, CallError, Collective};
pub use combine::Bytes;
pub use twin::Twin;

use corecast_coll::barrier::{self, LineSteps, Steps, Ways};
use corecast_coll::broadcast::AllLines;
use corecast_coll::groups::{GroupRoute, Groups};
use corecast_coll::{BarrierPlan, Combine, Plans, Route};
use corecast_plan::Rounds;
use corecast_plan::groups::Grouped;
use corecast_wire::{Fabric, queue};

/// A fabric that opens windows over plain buffers.
pub trait Open: Fabric {
    /// A window over `bytes`. `written` says that this rank has just written them, as a program does
    /// with what it gives: no other rank has a copy of their lines then.
    fn open<'w>(&mut self, bytes: &'w mut [u8], written: bool) -> Self::Window<'w>;
}

/// Bytes of the longest message of a team of threads, in whole elements of any kind.
pub const MESSAGE_BYTES: usize = queue::message_bytes_max(queue::DEFAULT_SLOTS) / 16 * 16;

/// One call, prepared for all ranks.
#[derive(Clone, Debug)]
pub struct Job {
    call: Call,
    n: usize,
    message_bytes: usize,
    broadcast: Vec<Route>,
    reduce: Vec<Route>,
    barrier: Vec<Gate>,
    fan_out: Vec<GroupRoute>,
    all_lines: Vec<AllLines>,
    near: Vec<u32>,
    groups: Groups,
}

/// One rank's part of a barrier.
#[derive(Clone, Debug)]
enum Gate {
    Tree(Route, Route),
    Rounds(Steps),
    Groups(Ways),
    Lines(LineSteps),
}

impl Job {
    /// Prepares `call` over `plans`. A barrier by an algorithm that is not that of its plan gets the
    /// default for its number of ranks, as in a team.
    ///
    /// # Errors
    ///
    /// An algorithm that cannot run on so many ranks, or a root that is none of them.
    ///
    /// # Cost
    ///
    /// Linear in the number of ranks; algorithms that share lines, in the number of their readers.
    pub fn new(call: &Call, plans: &Plans) -> Result<Self, CallError> {
        let n = plans.len();
        call.check(n)?;
        let mut groups = Groups::new(n);
        let mut job = Self {
            call: call.clone(),
            n,
            message_bytes: MESSAGE_BYTES,
            broadcast: Vec::new(),
            reduce: Vec::new(),
            barrier: Vec::new(),
            fan_out: Vec::new(),
            all_lines: Vec::new(),
            near: plans.packages().map_or_else(|| vec![0; n], <[u32]>::to_vec),
            groups: Groups::default(),
        };
        match (call.collective, call.algorithm.as_str()) {
            (Collective::Barrier, _) => job.barrier = gates(call, plans, &mut groups),
            (Collective::Broadcast, "line") => job.all_lines = AllLines::all(n, &mut groups),
            (Collective::Broadcast, "groups") => {
                let flat = || Grouped::flat(n, call.root);
                let plan = plans.broadcast_groups().cloned().unwrap_or_else(flat);
                if plan.root() != call.root {
                    return Err(CallError::GroupRoot {
                        plan: plan.root(),
                        asked: call.root,
                    });
                }
                job.fan_out = GroupRoute::fan_out(&plan, &mut groups);
            }
            // Routes know the way to every root, which takes memory: only those that are used.
            (collective, _) => {
                use Collective::{Allreduce, Broadcast, Reduce};
                if matches!(collective, Broadcast | Allreduce) {
                    job.broadcast = Route::all(plans.broadcast());
                }
                if matches!(collective, Reduce | Allreduce) {
                    job.reduce = Route::all(plans.reduce());
                }
            }
        }
        job.groups = groups;
        Ok(job)
    }

    /// The same on a fabric whose longest message has `bytes`.
    ///
    /// # Panics
    ///
    /// Below one byte.
    #[must_use]
    pub fn with_message_bytes(self, bytes: usize) -> Self {
        assert!(bytes > 0, "a message has at least one byte");
        Self {
            message_bytes: bytes,
            ..self
        }
    }

    /// What is called.
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.n
    }

    /// The lines that groups share, with which the fabric must have been made.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Does the call on the rank of `fabric`, combines with `combine`, and returns what this rank has then:
    /// nothing where the call gives it nothing.
    ///
    /// # Errors
    ///
    /// Those of the fabric.
    pub fn run<F: Open>(
        &self,
        fabric: &mut F,
        combine: &impl Combine,
    ) -> Result<Vec<u8>, F::Error> {
        assert_eq!(fabric.size(), self.n, "the job is for as many ranks");
        match self.call.collective {
            Collective::Barrier => {
                self.pass(fabric)?;
                Ok(Vec::new())
            }
            Collective::Broadcast => self.broadcast(fabric),
            Collective::Scatter => self.scatter(fabric),
            Collective::Gather => self.gather(fabric),
            Collective::Allgather => self.allgather(fabric),
            Collective::Alltoall => self.alltoall(fabric),
            Collective::Reduce => self.reduce(fabric, combine),
            Collective::Allreduce => self.allreduce(fabric, combine),
            Collective::ReduceScatter => self.reduce_scatter(fabric, combine),
            Collective::Scan => self.scan(fabric, combine),
        }
    }

    fn pass<F: Fabric>(&self, fabric: &mut F) -> Result<(), F::Error> {
        match &self.barrier[fabric.rank()] {
            Gate::Tree(fan_in, fan_out) => barrier::tree(fabric, fan_in, fan_out),
            Gate::Rounds(steps) => barrier::dissemination(fabric, steps),
            Gate::Groups(ways) => barrier::groups(fabric, ways),
            Gate::Lines(steps) => barrier::m_way(fabric, steps),
        }
    }
}

fn gates(call: &Call, plans: &Plans, groups: &mut Groups) -> Vec<Gate> {
    let n = plans.len();
    let rounds = |rounds: &Rounds| {
        let steps = (0..n).map(|rank| Gate::Rounds(Steps::of(rounds, rank)));
        steps.collect()
    };
    let mut over_lines = |rounds: &Rounds| -> Vec<Gate> {
        let steps = LineSteps::all(rounds, groups).into_iter();
        steps.map(Gate::Lines).collect()
    };
    let trees = |fan_in, fan_out| {
        let ways = Route::all(fan_in).into_iter().zip(Route::all(fan_out));
        ways.map(|(fan_in, fan_out)| Gate::Tree(fan_in, fan_out))
            .collect()
    };
    let packages = || plans.packages().map_or_else(|| vec![0; n], <[u32]>::to_vec);
    match (call.algorithm.as_str(), plans.barrier()) {
        ("tree", BarrierPlan::Trees { fan_in, fan_out }) => trees(fan_in, fan_out),
        ("tree", _) => trees(plans.reduce(), plans.broadcast()),
        ("dissemination", BarrierPlan::Rounds(plan)) => rounds(plan),
        ("dissemination", _) => rounds(&Rounds::dissemination(n, 2)),
        ("groups", plan) => {
            let flat = Grouped::flat(n, plans.broadcast().root());
            let (fan_in, fan_out) = match plan {
                BarrierPlan::Groups { fan_in, fan_out } => (fan_in, fan_out),
                _ => (&flat, &flat),
            };
            let ways = Ways::all(fan_in, fan_out, groups).into_iter();
            ways.map(Gate::Groups).collect()
        }
        ("m-way", BarrierPlan::Rounds(plan)) => over_lines(plan),
        ("multi-m", _) => over_lines(&barrier::multi_m_rounds(n)),
        ("pair-wise", _) => over_lines(&barrier::pair_wise_rounds(&packages())),
        ("package-roots", _) => over_lines(&barrier::package_root_rounds(&packages())),
        _ => over_lines(&Rounds::dissemination(n, barrier::best_m(n) + 1)),
    }
}

/// What rank `rank` brings: bytes that differ from rank to rank.
pub(crate) fn given(rank: usize, len: usize) -> Vec<u8> {
    (0..len)
        .map(|index| (index * 7 + rank * 31 + 1) as u8)
        .collect()
}
