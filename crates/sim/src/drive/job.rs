//! A call that is ready to run: schedules for all ranks, and the lines that they share.

use super::call::{Call, CallError};
use super::data::{given, parts};
use super::team::outline;
use corecast_collectives::registry::{Need, Request, TeamTraits};
use corecast_collectives::scan::Upto;
use corecast_collectives::{
    Algorithms, BarrierPlan, Collective, Combine, Groups, Layout, OpContext, Plans, RankSchedule,
    allgather, allreduce, alltoall, barrier, broadcast, entry, gather, pipeline, reduce,
    reduce_scatter, scan, scatter,
};
use corecast_plan::groups::Grouped;
use corecast_wire::Fabric;
use std::fmt::Debug;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

/// One call, prepared for all ranks.
#[derive(Clone, Debug)]
pub struct Job {
    call: Call,
    schedules: Vec<Arc<RankSchedule>>,
    groups: Groups,
}

impl Job {
    /// Prepares `call` over `plans`, as a team does whose caller requests its algorithm. Where the plan's barrier is
    /// not for the algorithm of `call`, the algorithm runs over its own default; a broadcast over groups that the
    /// plan does not have gets one group of all ranks.
    ///
    /// Two things differ from a team. All pairs of ranks have links, whatever their number. One or two ranks share no
    /// lines, so a call of an algorithm that needs such lines becomes the one that a team runs instead;
    /// [`call`](Self::call) returns it.
    ///
    /// # Errors
    ///
    /// If the algorithm cannot run on this number of ranks, the root is not one of them, or the plan has groups for
    /// another root.
    ///
    /// # Cost
    ///
    /// Time and memory in the square of the number of ranks, see [`RankSchedule::all`].
    pub fn new(call: &Call, plans: &Plans) -> Result<Self, CallError> {
        let (mut call, plans) = (call.clone(), Self::plans(call, plans)?);
        let n = plans.len();
        let mut asked = Algorithms::default();
        let wish = [(usize::MAX, Some(&call.algorithm[..]))];
        let name = call.collective.name();
        asked.ask(name, &wish).expect("calls are checked");
        let traits = TeamTraits {
            mesh: true,
            ..outline(&plans).traits(&asked)
        };
        let request = Request {
            root: call.root,
            ..Request::of_bytes(call.bytes / call.collective.blocks(n).max(1))
        };
        let known = entry(call.collective, &call.algorithm).expect("calls are checked");
        let mut needs = known.needs.iter();
        match needs.find(|need| !need.is_met(&request, &traits)) {
            None => {}
            Some(Need::LineOfEach | Need::Groups) if n <= 2 => {
                let instead = outline(&plans).chooses_for(&asked, name, &request);
                call.algorithm = instead.expect("it has algorithms").algorithm().to_owned();
            }
            Some(need) => {
                return Err(CallError::Ranks {
                    call: call.to_string(),
                    n,
                    needs: in_words(*need),
                });
            }
        }
        let layout = Layout::new(&plans, &asked, (None, 1));
        let (schedules, groups) = RankSchedule::all(&plans, layout, asked, false, plans.packages());
        Ok(Self {
            call,
            schedules: schedules.into_iter().map(Arc::new).collect(),
            groups,
        })
    }

    /// The plans of the team that runs `call`.
    fn plans(call: &Call, plans: &Plans) -> Result<Plans, CallError> {
        let (root, n) = (call.root, plans.len());
        if root >= n {
            return Err(CallError::Root { root, n });
        }
        let mut plans = plans.clone();
        if call.collective != Collective::Barrier {
            // This barrier is not run; a counter barrier needs no routes.
            let unused = plans.with_barrier(BarrierPlan::Counter(n));
            plans = unused.expect("as many ranks");
        }
        let groups = broadcast::Algorithm::Groups.name();
        if call.collective == Collective::Broadcast && call.algorithm == groups {
            match plans.broadcast_groups().map(Grouped::root) {
                None => {
                    let flat = plans.with_broadcast_groups(Grouped::flat(n, root));
                    plans = flat.expect("as many ranks");
                }
                Some(plan) if plan != root => {
                    return Err(CallError::GroupRoot { plan, asked: root });
                }
                Some(_) => {}
            }
        }
        Ok(plans)
    }

    /// The call that runs; its algorithm can differ from the one requested, see [`new`](Self::new).
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.schedules.len()
    }

    /// The lines that groups of ranks share; the fabric must be made with them.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Whether the call uses lines that groups of ranks share.
    pub fn shares_lines(&self) -> bool {
        let known = entry(self.call.collective, &self.call.algorithm).expect("calls are checked");
        let shared =
            |need: &Need| matches!(need, Need::LineOfEach | Need::Groups | Need::GroupsOrOne);
        match self.call.collective {
            Collective::Barrier => {
                let groups = &self.groups;
                let rings = groups.rings().len() + groups.counters().len();
                rings + groups.counter_barriers().len() > 0
            }
            _ => known.needs.iter().any(shared),
        }
    }

    /// The context in which the rank of `fabric` runs calls. Its scratch memory grows where a call needs more.
    ///
    /// # Panics
    ///
    /// If the fabric is for another number of ranks.
    pub fn context<F: Fabric>(&self, fabric: F) -> OpContext<F> {
        assert_eq!(fabric.size(), self.ranks(), "the job is for as many ranks");
        let schedule = self.schedules[fabric.rank()].clone();
        OpContext::with_scratch_bytes(fabric, schedule, 0)
    }

    /// Runs the call on the rank of `context`, which [`context`](Self::context) has made, combines with `combine`,
    /// and returns the result of this rank. It is empty where the call gives this rank nothing.
    ///
    /// # Errors
    ///
    /// Those of the fabric.
    pub fn run<F: Fabric>(
        &self,
        context: &mut OpContext<F>,
        combine: &impl Combine,
    ) -> Result<Vec<u8>, F::Error> {
        let Call {
            collective,
            root,
            bytes,
            ..
        } = self.call;
        let (rank, n, element) = (context.fabric.rank(), self.ranks(), 1);
        let is_root = rank == root;
        match collective {
            Collective::Barrier => {
                barrier::start(context)?;
                Ok(Vec::new())
            }
            Collective::Broadcast => {
                let mut data = match is_root {
                    true => given(root, bytes),
                    false => vec![0; bytes],
                };
                broadcast::run(self.algorithm(), context, root, &mut data, element)?;
                Ok(data)
            }
            Collective::Reduce => {
                let mut data = given(rank, bytes);
                reduce::run(self.algorithm(), context, root, &mut data, combine)?;
                Ok(if is_root { data } else { Vec::new() })
            }
            Collective::Allreduce => {
                let mut data = given(rank, bytes);
                allreduce::run(self.algorithm(), context, &mut data, combine)?;
                Ok(data)
            }
            Collective::Scatter => {
                let (send, part) = match is_root {
                    true => (given(root, bytes), bytes / n),
                    false => (Vec::new(), bytes / n),
                };
                let (mut recv, algorithm) = (vec![0; part], self.algorithm());
                let part = parts(part);
                scatter::run(algorithm, context, root, &send, part, &mut recv, element)?;
                Ok(recv)
            }
            Collective::Gather => {
                let send = given(rank, bytes);
                let mut recv = vec![0; if is_root { n * bytes } else { 0 }];
                let (algorithm, part) = (self.algorithm(), parts(bytes));
                gather::run(algorithm, context, root, &send, &mut recv, part, element)?;
                Ok(recv)
            }
            Collective::Allgather => {
                let (send, mut recv) = (given(rank, bytes), vec![0; n * bytes]);
                let (algorithm, part) = (self.algorithm(), parts(bytes));
                allgather::run(algorithm, context, &send, &mut recv, part, element)?;
                Ok(recv)
            }
            Collective::Alltoall => {
                let part = bytes / n;
                let (send, mut recv) = (given(rank, n * part), vec![0; n * part]);
                alltoall::run(self.algorithm(), context, &send, &mut recv, part, element)?;
                Ok(recv)
            }
            Collective::ReduceScatter => {
                let send = given(rank, bytes);
                let mut recv = vec![0; self.block()(rank).len()];
                let (algorithm, block) = (self.algorithm(), self.block());
                reduce_scatter::run(algorithm, context, &send, block, &mut recv, combine)?;
                Ok(recv)
            }
            Collective::Scan => {
                let mut data = given(rank, bytes);
                scan::run(self.algorithm(), context, &mut data, Upto::Own, combine)?;
                Ok(data)
            }
            other => unreachable!("{other} has no algorithms of its own: calls are checked"),
        }
    }

    /// The algorithm of the call, in the type of its collective.
    fn algorithm<A: FromStr<Err: Debug>>(&self) -> A {
        self.call.algorithm.parse().expect("calls are checked")
    }

    /// The byte range of each rank's block, where the bytes of the call are cut into one block for each rank.
    pub(super) fn block(&self) -> impl Fn(usize) -> Range<usize> + Copy + use<> {
        let (len, n) = (self.call.bytes, self.ranks());
        move |rank| pipeline::block(len, 1, n, rank)
    }
}

/// A need in the words that follow "it needs".
fn in_words(need: Need) -> &'static str {
    match need {
        Need::PowerOfTwo => "a power of two",
        Need::LineOfEach => "at most 16",
        other => other.text(),
    }
}
