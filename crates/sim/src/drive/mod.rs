//! Runs any collective of [`corecast_collectives`] on one rank of any fabric, and knows what must come of it.
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

pub use call::{Call, CallError, algorithms, collective, usual_algorithm};
pub use combine::Bytes;
pub use corecast_collectives::Collective;
pub use twin::Twin;

use corecast_collectives::barrier::BarrierSchedule;
use corecast_collectives::broadcast::AllLines;
use corecast_collectives::groups::{GroupRoute, Groups};
use corecast_collectives::{Combine, Plans, Route};
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
    barrier: Vec<BarrierSchedule>,
    fan_out: Vec<GroupRoute>,
    all_lines: Vec<AllLines>,
    near: Vec<u32>,
    groups: Groups,
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
            (Collective::Barrier, algorithm) => {
                let unknown = |_| CallError::Algorithm {
                    collective: Collective::Barrier,
                    name: algorithm.to_owned(),
                };
                let algorithm = algorithm.parse().map_err(unknown)?;
                let packages = plans.packages();
                job.barrier = BarrierSchedule::all(plans, algorithm, packages, &mut groups);
            }
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
                self.barrier[fabric.rank()].run(fabric)?;
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
            other => unreachable!("{other} has no algorithms of its own: calls are checked"),
        }
    }
}

/// What rank `rank` brings: bytes that differ from rank to rank.
pub(crate) fn given(rank: usize, len: usize) -> Vec<u8> {
    (0..len)
        .map(|index| (index * 7 + rank * 31 + 1) as u8)
        .collect()
}
