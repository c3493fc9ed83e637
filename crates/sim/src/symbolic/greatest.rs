//! T_max: the longest path when every rank that polls a line takes it away from the rank that writes it (§2.3, §2.4).
//!
//! The cost of a line is that of its first use and of the transfers by which its pollers steal it. Its writer pays
//! this cost. A rank that waits for the line pays it too on a path along its own acts (E1); a path over the edge from
//! the write to the wait (E2) has paid already, and the wait costs nothing there.
//!
//! | line | stolen | source |
//! | --- | --- | --- |
//! | flag | two transfers | Equations 12, 13, 23 to 25 |
//! | broadcast ring | by [`Stealing`] | Equations 17 to 19, 26, 28, 30, 31, 33 |
//! | arrival counter | two transfers for each addition, all between packages if one is | Equations 8 and 9 |
//! | counter barrier | for each addition one transfer, and one for each rank that watches | Equations 8 and 9 |
//! | data | nothing; ranks copy one after another | §4.2 |
//!
//! Ranks that poll a line in another stage (edges E4) steal it, too.

use super::graph::{Act, FoundAt, Graph, Op};
use super::least::ActTimes;
use super::price::Priced;
use super::rules::{Polls, Stealing};
use super::together::Together;
use corecast_wire::cache_lines::LineKind;

/// Facts of all acts that do not depend on paths.
struct ActFacts<'a> {
    readers: Vec<Vec<usize>>,
    crowd_of: Vec<Option<usize>>,
    /// The cost of each crowd's line.
    crowds: Vec<f64>,
    /// The cost of the transfers by which pollers steal the line that each act writes.
    stolen: Vec<f64>,
    /// The cost of the first use of that line, with the copy into it.
    first: Vec<f64>,
    /// How many ranks copy the data that each act copies.
    copiers: Vec<usize>,
    together: &'a Together,
}

impl Priced<'_> {
    /// The times of all acts in the worst case, where transfers happen `together`.
    pub(super) fn greatest(&self, together: &Together) -> ActTimes {
        let facts = self.facts(together);
        let acts = &self.graph.acts;
        let mut times = ActTimes {
            cost: vec![0.0; acts.len()],
            start: vec![0.0; acts.len()],
            finish: vec![0.0; acts.len()],
            cause: vec![None; acts.len()],
            order: (self.graph.crowds.iter())
                .map(|crowd| (crowd.clone(), None))
                .collect(),
        };
        for (index, act) in acts.iter().enumerate() {
            let begin = act.before.map_or(0.0, |before| times.finish[before]);
            let mut best = (begin, self.by_itself(index, act, &facts), act.before);
            for &of in &act.after {
                let (start, cost, cause) = match facts.crowd_of[of] {
                    Some(crowd) => {
                        // After the last arrival come all additions of the crowd.
                        let come = times.start[of];
                        (come, facts.crowds[crowd] + self.rest(act), Some(of))
                    }
                    None if self.waits(index) => (times.finish[of], self.rest(act), Some(of)),
                    None => (times.finish[of], best.1, Some(of)),
                };
                if start + cost > best.0 + best.1 {
                    best = (start, cost, cause);
                }
            }
            if let Some(crowd) = facts.crowd_of[index] {
                let last = &mut times.order[crowd].1;
                if last.is_none_or(|last| begin > times.start[last]) {
                    *last = Some(index);
                }
            }
            (times.start[index], times.cost[index], times.cause[index]) = best;
            times.finish[index] = best.0 + best.1;
        }
        times
    }

    fn facts<'a>(&self, together: &'a Together) -> ActFacts<'a> {
        let acts = &self.graph.acts;
        let readers = self.graph.readers();
        let mut pollers: Vec<Vec<usize>> = (readers.iter())
            .map(|waits| waits.iter().map(|&wait| acts[wait].rank).collect())
            .collect();
        for &(wait, change) in &self.graph.e4 {
            pollers[change].push(acts[wait].rank);
        }
        for ranks in &mut pollers {
            ranks.sort_unstable();
            ranks.dedup();
        }
        let mut facts = ActFacts {
            readers,
            crowd_of: self.graph.crowd_of(),
            crowds: Vec::new(),
            stolen: vec![0.0; acts.len()],
            first: vec![0.0; acts.len()],
            copiers: self.graph.copiers(),
            together,
        };
        for (index, act) in acts.iter().enumerate() {
            let Some(store) = act.store else { continue };
            facts.first[index] = match (store.found, act.before) {
                (FoundAt::Again, Some(before)) => self.first_use(&acts[before], store.line),
                _ => self.store(act, store),
            };
            if matches!(act.op, Op::Write | Op::Add) {
                facts.stolen[index] = self.stolen(index, act, &pollers[index], together);
            }
        }
        facts.crowds = (self.graph.crowds.iter())
            .map(|crowd| self.crowd(crowd, &facts))
            .collect();
        facts
    }

    /// The cost of `act`, the one before, if it has written to the same line.
    fn first_use(&self, act: &Act, line: usize) -> f64 {
        let store = act.store.filter(|store| store.line == line);
        store.map_or(0.0, |store| self.store(act, store))
    }

    /// The cost of an act on a path along the acts of its rank (E1).
    fn by_itself(&self, index: usize, act: &Act, facts: &ActFacts<'_>) -> f64 {
        let rest = self.rest(act);
        if let Some(crowd) = facts.crowd_of[index] {
            return facts.crowds[crowd] + rest;
        }
        match act.op {
            Op::Wait => match act.after.as_slice() {
                [] => self.act(act, 1),
                sources => {
                    let line = |&of: &usize| match facts.crowd_of[of] {
                        Some(crowd) => facts.crowds[crowd],
                        None => facts.first[of] + facts.stolen[of],
                    };
                    rest + sources.iter().map(line).fold(0.0, f64::max)
                }
            },
            Op::Write | Op::Add => {
                let found = act.store.map(|store| store.found);
                let polled = self.rules.polls == Polls::Overlapped
                    && act.before.is_some_and(|before| {
                        self.graph.acts[before].op == Op::Write && !facts.readers[before].is_empty()
                    });
                let first = match found {
                    Some(FoundAt::Untouched) if polled => 0.0,
                    Some(FoundAt::Again) => 0.0,
                    _ => facts.first[index],
                };
                first + facts.stolen[index] + rest
            }
            Op::Copy => {
                let load = act.load.map_or(0.0, |touch| match touch.found {
                    FoundAt::With(other) => {
                        let line = &self.graph.lines[touch.line];
                        let copies = facts.copiers[index];
                        let together = facts.together.of(index);
                        match line.kind {
                            LineKind::Data => {
                                let one = match act.lines {
                                    1 => self.placement.transfer(line.kind, other, act.rank),
                                    _ => self.load(act, touch, 1, together),
                                };
                                let all = one * copies as f64;
                                all.max(self.load(act, touch, copies, together))
                            }
                            _ => self.load(act, touch, 1, together),
                        }
                    }
                    _ => self.load(act, touch, 1, 1),
                });
                load + self.store_after_load(act)
            }
        }
    }

    /// The cost of an act besides polling and changing a line: reading a value to add.
    fn rest(&self, act: &Act) -> f64 {
        match (act.op, act.load) {
            (Op::Add, Some(touch)) => self.load(act, touch, 1, 1),
            _ => 0.0,
        }
    }

    /// The cost of the transfers by which `pollers` steal the line that an act writes.
    fn stolen(&self, index: usize, act: &Act, pollers: &[usize], together: &Together) -> f64 {
        let Some(store) = act.store.filter(|_| !pollers.is_empty()) else {
            return 0.0;
        };
        let kind = self.graph.lines[store.line].kind;
        let crosses = |&rank: &usize| self.placement.crosses(act.rank, rank);
        let mut transfers: Vec<f64> = (pollers.iter())
            .map(|&rank| self.placement.transfer(kind, act.rank, rank))
            .collect();
        let any_crosses = pollers.iter().any(crosses);
        let congested = together.transfer(index).filter(|_| any_crosses);
        if let Some(congested) = congested {
            let last = pollers.iter().position(crosses).unwrap_or(0);
            transfers[last] = transfers[last].max(congested);
        }
        let last = transfers.iter().copied().fold(0.0, f64::max);
        let sum: f64 = transfers.iter().sum();
        match kind {
            LineKind::Data => 0.0,
            // One writer and one poller: *n-writers* with n = 1.
            LineKind::Flag | LineKind::ArrivalCounter if pollers.len() == 1 => 2.0 * last,
            LineKind::Flag | LineKind::BroadcastRing | LineKind::ArrivalCounter => {
                match [self.rules.inside, self.rules.across][usize::from(any_crosses)] {
                    Stealing::EachReader => sum,
                    Stealing::EachReaderAndFetch => sum + last,
                    Stealing::EachReaderNearAndFetch => {
                        self.placement.near() * pollers.len() as f64 + last
                    }
                    Stealing::TwicePerReader => 2.0 * sum,
                    Stealing::OnePerOperation => 2.0 * last,
                }
            }
        }
    }

    /// The cost of a crowd's line: its first use, and for each addition a transfer to the adder and one to each rank
    /// that watches.
    fn crowd(&self, crowd: &[usize], facts: &ActFacts<'_>) -> f64 {
        let graph: &Graph = self.graph;
        let acts = crowd.iter().map(|&index| &graph.acts[index]);
        let home = graph.acts[crowd[0]]
            .store
            .map_or(0, |store| graph.lines[store.line].home);
        let taken = |act: &Act| {
            self.placement
                .transfer(LineKind::ArrivalCounter, act.rank, home)
        };
        let any_crosses = acts
            .clone()
            .any(|act| self.placement.crosses(act.rank, home));
        let each: f64 = match any_crosses {
            true => self.placement.costs().transfer[3] * crowd.len() as f64,
            false => acts.map(taken).sum(),
        };
        let adder = graph.acts[crowd[0]].rank;
        let waits = facts.readers[crowd[0]].iter();
        let watchers = waits
            .filter(|&&wait| graph.acts[wait].rank != adder)
            .count();
        facts.first[crowd[0]] + (1 + watchers.max(1)) as f64 * each
    }
}
