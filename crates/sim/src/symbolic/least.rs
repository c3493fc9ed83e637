//! T_min: the critical path, in time (§2.4).
//!
//! Every act begins when the acts before it along E1 and E2 have ended. Acts of a crowd (E3) take their line one after
//! another, in the order in which their ranks arrive. That order is the best one, because the wait is for all of them.
//! With [`AdditionOverlap::Ignored`] that wait begins after the last arrival and *all* additions, as the paper's
//! critical path visits each of them.

use super::graph::FoundAt;
use super::price::Priced;
use super::rules::{AdditionOverlap, Crossings};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The cost, the start and the end of each act.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ActTimes {
    /// The cost of each act.
    pub cost: Vec<f64>,
    /// The start of each act: all that it waits for has happened.
    pub start: Vec<f64>,
    /// The end of each act.
    pub finish: Vec<f64>,
    /// The act before each act on the critical path to it.
    pub(super) cause: Vec<Option<usize>>,
    /// The order of each crowd, and where the path visits all of it, the member that came last.
    pub(super) order: Vec<(Vec<usize>, Option<usize>)>,
}

impl ActTimes {
    /// The order in which the members of each crowd take its line.
    pub fn orders(&self) -> impl Iterator<Item = &[usize]> {
        self.order.iter().map(|(order, _)| order.as_slice())
    }
}

/// The state of a crowd's line while its members take it.
#[derive(Clone, Debug, Default)]
struct CrowdQueue {
    order: Vec<usize>,
    /// When the line is free.
    free: f64,
    /// All costs of members so far.
    sum: f64,
    /// The latest arrival of a member, and that member.
    latest: f64,
    last: Option<usize>,
}

impl Priced<'_> {
    /// The times of all acts in the best case.
    pub(super) fn least(&self) -> ActTimes {
        let acts = &self.graph.acts;
        let (crowd_of, readers) = (self.graph.crowd_of(), self.graph.readers());
        let copiers = self.graph.copiers();
        let readers_of = |act: usize| {
            let sources = acts[act].after.iter();
            let readers = sources.map(|&of| readers[of].len()).max();
            readers.unwrap_or(copiers[act])
        };
        let mut next: Vec<Option<usize>> = vec![None; acts.len()];
        let mut missing: Vec<usize> = Vec::with_capacity(acts.len());
        for (index, act) in acts.iter().enumerate() {
            if let Some(before) = act.before {
                next[before] = Some(index);
            }
            missing.push(act.after.len() + usize::from(act.before.is_some()));
        }
        let mut queues: Vec<CrowdQueue> = self
            .graph
            .crowds
            .iter()
            .map(|_| CrowdQueue::default())
            .collect();
        let mut times = ActTimes {
            cost: vec![0.0; acts.len()],
            start: vec![0.0; acts.len()],
            finish: vec![0.0; acts.len()],
            cause: vec![None; acts.len()],
            order: Vec::new(),
        };
        // Acts that can begin, by time and then by number. Times are not negative, so their bits are in the same
        // order.
        let mut ready: BinaryHeap<Reverse<(u64, usize)>> = (0..acts.len())
            .filter(|&act| missing[act] == 0)
            .map(|act| Reverse((0, act)))
            .collect();
        while let Some(Reverse((_, act))) = ready.pop() {
            match crowd_of[act] {
                Some(crowd) => self.join(act, &mut queues[crowd], &mut times),
                None => {
                    self.arrive_and_wait(act, &crowd_of, &queues, &mut times);
                    times.cost[act] = match self.last_of_crowd(act, &crowd_of, &queues) {
                        Some(fetch) => fetch,
                        None => {
                            let cost = self.act(&acts[act], readers_of(act));
                            cost - self.fetched_early(&acts[act], acts[act].store, times.start[act])
                        }
                    };
                    times.finish[act] = times.start[act] + times.cost[act];
                }
            }
            for &then in readers[act].iter().chain(&next[act]) {
                if times.finish[act] > times.start[then] {
                    times.start[then] = times.finish[act];
                    times.cause[then] = Some(act);
                } else if times.cause[then].is_none() {
                    times.cause[then] = Some(act);
                }
                missing[then] -= 1;
                if missing[then] == 0 {
                    ready.push(Reverse((times.start[then].to_bits(), then)));
                }
            }
        }
        let visits_all = self.rules.overlap == AdditionOverlap::Ignored;
        times.order = queues
            .into_iter()
            .map(|queue| (queue.order, queue.last.filter(|_| visits_all)))
            .collect();
        times
    }

    /// Lets an addition take the line of its crowd from the member that added before.
    fn join(&self, index: usize, queue: &mut CrowdQueue, times: &mut ActTimes) {
        let act = &self.graph.acts[index];
        let come = times.start[index];
        let value = act.load.map_or(0.0, |touch| self.load(act, touch, 1, 1));
        let take = match (queue.order.last(), act.store) {
            (None, Some(touch)) => {
                let touch = self.as_first(index, touch);
                self.store(act, touch) - self.fetched_early(act, Some(touch), come)
            }
            (Some(&before), Some(touch)) => {
                let home = self.graph.lines[touch.line].home;
                match self.rules.crossings {
                    Crossings::EachAddition => {
                        self.taken_from(self.graph.acts[before].rank, act.rank, home)
                    }
                    // The wait adds the crossings, when all members are known.
                    Crossings::Fewest => self.placement.near(),
                }
            }
            (_, None) => 0.0,
        };
        times.cost[index] = value + take;
        times.finish[index] = come.max(queue.free) + value + take;
        if come < queue.free {
            times.cause[index] = queue.order.last().copied();
        }
        queue.free = times.finish[index];
        queue.sum += value + take;
        if queue.last.is_none() || come > queue.latest {
            (queue.latest, queue.last) = (come, Some(index));
        }
        queue.order.push(index);
    }

    /// The touch of the member that adds first. It finds the line where the first member of the record found it.
    fn as_first(&self, index: usize, touch: super::graph::Touch) -> super::graph::Touch {
        let crowd = self
            .graph
            .crowds
            .iter()
            .find(|crowd| crowd.contains(&index));
        let first = crowd.and_then(|crowd| self.graph.acts[crowd[0]].store);
        match first {
            // A line that the first member had in its own cache, another member finds with that one, as its own touch
            // says.
            Some(first) if first.found == FoundAt::Own || first.found == FoundAt::Again => touch,
            Some(first) => first,
            None => touch,
        }
    }

    /// Sets when a wait for a crowd can begin, where additions do not overlap with arrivals.
    fn arrive_and_wait(
        &self,
        act: usize,
        crowd_of: &[Option<usize>],
        queues: &[CrowdQueue],
        times: &mut ActTimes,
    ) {
        if self.rules.overlap == AdditionOverlap::Counted {
            return;
        }
        for &of in &self.graph.acts[act].after {
            let Some(queue) = crowd_of[of].map(|crowd| &queues[crowd]) else {
                continue;
            };
            let end = queue.latest + queue.sum;
            if end >= times.start[act] {
                times.start[act] = end;
                times.cause[act] = queue.order.last().copied();
            }
        }
    }

    /// The cost of a wait for a crowd, which fetches the line from the member that added last; `None` for other acts.
    fn last_of_crowd(
        &self,
        act: usize,
        crowd_of: &[Option<usize>],
        queues: &[CrowdQueue],
    ) -> Option<f64> {
        let index = act;
        let act = &self.graph.acts[index];
        let crowd = crowd_of[*act.after.last().filter(|_| self.waits(index))?]?;
        let (line, last) = (act.load?.line, *queues[crowd].order.last()?);
        let home = self.graph.lines[line].home;
        let adder = |member: usize| self.graph.acts[member].rank;
        match self.rules.crossings {
            Crossings::EachAddition => Some(self.taken_from(adder(last), act.rank, home)),
            Crossings::Fewest => {
                // Members add package by package, that of the waiting rank last: one crossing for each other package.
                let places = self.placement.places();
                let mut others: Vec<u32> = (queues[crowd].order.iter())
                    .map(|&member| places[adder(member)].package)
                    .filter(|&package| package != places[act.rank].package)
                    .collect();
                others.sort_unstable();
                others.dedup();
                let far = self.placement.costs().transfer[3] - self.placement.near();
                Some(self.placement.near() + far * others.len() as f64)
            }
        }
    }
}
