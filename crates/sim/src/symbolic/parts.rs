//! Bounds on a machine of parts: the steps of a graph with the costs of single messages, loans and flags, which are
//! measured on that machine while nothing else goes on there.
//!
//! **At least.** Other work on the machine can only delay a step. So each step takes its least time alone, over all
//! moments at which a receiver can arrive and all places where the line can lie, and a rank's stores set out one
//! behind the other. What overlaps in a run overlaps in the measurement too: stores in a buffer, several reads under
//! way, transfers in both directions.
//!
//! **At most.** Each step takes its greatest time alone, and a rank's stores are done one after another. The longest
//! path can also wait for others: at the busiest server of each kind, for all that it does in the call. Where lines
//! may be evicted from caches there is no bound, because a single message does not show what a line takes then.

use super::analysis::Bounds;
use super::graph::Graph;
use super::steps::{FabricStep, StepKind};
use crate::engine::SimError;
use crate::fabric::{Exchange, LoneTimes, ServerWork, lone, publish};
use crate::machine::SimMachine;
use corecast_wire::queue::body_lines_for;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Measured times, by the ranks between which they were measured.
type MeasuredTimes<K> = HashMap<K, Rc<LoneTimes>>;

/// A machine of parts, and the ranks of a team on it, with the times measured so far.
#[derive(Debug)]
pub struct OnParts {
    machine: SimMachine,
    cores: Vec<usize>,
    shots: MeasuredTimes<(usize, usize, Exchange)>,
    publishes: MeasuredTimes<(Vec<usize>, usize)>,
}

impl OnParts {
    /// A team on `machine`, with rank r on core `cores[r]`.
    pub fn new(machine: &SimMachine, cores: &[usize]) -> Self {
        Self {
            machine: machine.clone(),
            cores: cores.to_vec(),
            shots: HashMap::new(),
            publishes: HashMap::new(),
        }
    }

    /// T_min and T_max of a collective that was [recorded](super::record_job), in the machine's unit: of a call that
    /// is repeated, of ranks that begin at the same time. T_max is infinite where lines may be evicted from caches.
    ///
    /// # Errors
    ///
    /// Those of [`run`](crate::engine::run).
    ///
    /// # Panics
    ///
    /// If the graph has more ranks than there are cores.
    ///
    /// # Cost
    ///
    /// Some runs of two or three ranks for each pair that exchanges something, and for each size of that; then linear
    /// in the number of steps. The measured times are kept for the next graph.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_collectives::Plans;
    /// use corecast_plan::Tree;
    /// use corecast_sim::drive::{Call, Collective, Job};
    /// use corecast_sim::fabric::{CallSetting, predict};
    /// use corecast_sim::machine::known;
    /// use corecast_sim::symbolic::{OnParts, record_job};
    ///
    /// let plans = Plans::of_tree(&Tree::from_children(0, vec![vec![1, 2], vec![], vec![]])?);
    /// let job = Job::new(&Call::new(Collective::Broadcast, "messages", 0, 4096)?, &plans)?;
    /// let (machine, cores) = (known::mesh(4, 2), [0, 3, 5]);
    /// let bounds = OnParts::new(&machine, &cores).bounds(&record_job(&job)?)?;
    /// let simulated = predict(&machine, &cores, &job, &CallSetting::default())?.latency;
    /// assert!(bounds.t_min <= simulated && simulated <= bounds.t_max);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bounds(&mut self, graph: &Graph) -> Result<Bounds, SimError> {
        let (ranks, cores) = (graph.ranks(), self.cores.len());
        assert!(ranks <= cores, "{ranks} ranks on {cores} cores");
        let steps = graph.steps();
        Ok(Bounds {
            t_min: self.least(steps)?,
            t_max: self.greatest(steps)?,
        })
    }

    /// The times of an operation from one rank to another, which is measured once.
    fn alone(&mut self, from: usize, to: usize, shot: Exchange) -> Result<Rc<LoneTimes>, SimError> {
        let key = (from, to, shot);
        if let Some(found) = self.shots.get(&key) {
            return Ok(found.clone());
        }
        let machine = &self.machine;
        let pair = [self.cores[from], self.cores[to]];
        // A third core that may have taken the data before, in the group of the taker if possible.
        let group = machine.cores[pair[1]].group;
        let others = self.cores.iter().filter(|core| !pair.contains(core));
        let near = |core: &&usize| group.is_some() && machine.cores[**core].group == group;
        let third = others.max_by_key(near);
        let cores: Vec<usize> = pair.into_iter().chain(third.copied()).collect();
        let found = Rc::new(lone(machine, &cores, shot)?);
        self.shots.insert(key, found.clone());
        Ok(found)
    }

    /// The times of a published line from the first of `ranks` to all others, which is measured once.
    fn publish(&mut self, ranks: Vec<usize>, bytes: usize) -> Result<Rc<LoneTimes>, SimError> {
        let key = (ranks, bytes);
        if let Some(found) = self.publishes.get(&key) {
            return Ok(found.clone());
        }
        let machine = &self.machine;
        let ranks = &key.0;
        let cores: Vec<usize> = ranks.iter().map(|&rank| self.cores[rank]).collect();
        let found = Rc::new(publish(machine, &cores, bytes)?);
        self.publishes.insert(key, found.clone());
        Ok(found)
    }

    /// Computes T_min.
    fn least(&mut self, steps: &[FabricStep]) -> Result<f64, SimError> {
        let costs = self.machine.costs.clone();
        let (hit, lone_lines) = (costs.l1.min(costs.l2), self.machine.sizes.lone);
        let readers = readers(steps);
        let mut ends = vec![0.0_f64; steps.len()];
        // When each step's store sets out, and when the next one of a rank can.
        let mut sets_out = vec![0.0_f64; steps.len()];
        let mut free = vec![0.0_f64; self.cores.len()];
        for (index, step) in steps.iter().enumerate() {
            let rank = step.rank;
            let start = step.before.map_or(0.0, |before| ends[before]);
            let mut shot = |from, to, shot| self.alone(from, to, shot);
            let mut give = |alone: &LoneTimes, call: f64| {
                sets_out[index] = start.max(free[rank]) - call;
                free[rank] = sets_out[index] + alone.behind;
                start + alone.given.least - call
            };
            ends[index] = match step.what {
                StepKind::Notify { to } => give(&*shot(rank, to, Exchange::Flag)?, 0.0),
                StepKind::Send { to, bytes } => {
                    give(&*shot(rank, to, Exchange::Message(bytes))?, 0.0)
                }
                StepKind::Publish { bytes } => {
                    let to = readers[index].first().copied().unwrap_or(rank);
                    give(&*shot(rank, to, Exchange::Publish(bytes))?, 0.0)
                }
                StepKind::Add { to } => give(&*shot(rank, to, Exchange::Addition)?, 0.0),
                // The line of the counter barrier may be in this rank's own cache.
                StepKind::BarrierEnd { .. } => {
                    sets_out[index] = start.max(free[rank]);
                    start + costs.call + hit
                }
                StepKind::Lend { to, again } => {
                    let call = if again { costs.call } else { 0.0 };
                    give(&*shot(rank, to, Exchange::Loan(1))?, call)
                }
                StepKind::Wait { from, again } => {
                    let alone = shot(from, rank, Exchange::Flag)?;
                    // Two flags may have come at once.
                    let taken = match again {
                        true => costs.call + hit,
                        false => alone.taken.least,
                    };
                    let came = step.after.iter().map(|&of| sets_out[of] + alone.came.least);
                    came.fold(start + taken, f64::max)
                }
                StepKind::Receive { from, bytes } => soonest(
                    step,
                    start,
                    &sets_out,
                    &*shot(from, rank, Exchange::Message(bytes))?,
                ),
                StepKind::Read { from, bytes } => soonest(
                    step,
                    start,
                    &sets_out,
                    &*shot(from, rank, Exchange::Publish(bytes))?,
                ),
                StepKind::Borrow {
                    from,
                    fetched,
                    known,
                } => {
                    let end = soonest(
                        step,
                        start,
                        &sets_out,
                        &*shot(from, rank, Exchange::Loan(fetched))?,
                    );
                    // The first lines, which come one after another until a prefetcher helps, may be lines that the
                    // rank has already.
                    let alone = known.min(fetched).min(lone_lines);
                    let spared = match alone {
                        0 => 0.0,
                        _ => {
                            let one = shot(from, rank, Exchange::Loan(1))?.taken.least;
                            let none = shot(from, rank, Exchange::Loan(0))?.taken.least;
                            alone as f64 * (one - none).max(0.0)
                        }
                    };
                    end - spared + known as f64 * hit.max(costs.copy_line)
                }
                // The rank may have looked while it waited for something else.
                StepKind::Look { .. } => start,
                StepKind::Return => start,
                StepKind::Regain => {
                    let (mut all, mut last) = (start, start);
                    for &of in &step.after {
                        let alone = shot(rank, steps[of].rank, Exchange::Loan(1))?;
                        all += alone.regained.least - costs.call;
                        last = last.max(ends[of] + alone.back.least);
                    }
                    all.max(last)
                }
                StepKind::Collect => {
                    let mut end = start + costs.call + hit;
                    // A rank that adds, too, may look for the first time after the last addition. No copy is taken
                    // from it then, unlike in the measured addition.
                    let barrier_ends = step.after.iter().any(|&of| steps[of].rank == rank);
                    for &of in &step.after {
                        let came = match barrier_ends {
                            true => 0.0,
                            false => shot(steps[of].rank, rank, Exchange::Addition)?.came.least,
                        };
                        end = end.max(sets_out[of] + came);
                    }
                    end
                }
                StepKind::Call => start + costs.call,
                StepKind::Combine { bytes } => start + bytes as f64 / costs.combine_bytes,
                StepKind::Fill { lines } => start + lines as f64 * costs.store,
            };
        }
        Ok(ends.into_iter().fold(0.0, f64::max))
    }

    /// Computes T_max.
    fn greatest(&mut self, steps: &[FabricStep]) -> Result<f64, SimError> {
        let mut worst = Worst::new(self, steps);
        if worst.oversubscribed {
            return Ok(f64::INFINITY);
        }
        for (index, step) in steps.iter().enumerate() {
            worst.ends[index] = worst.step(index, step)?;
        }
        let path = worst.ends.iter().copied().fold(0.0, f64::max);
        Ok(path + worst.waits())
    }
}

/// The earliest time at which a rank has taken what the steps before give, or what has arrived already.
fn soonest(step: &FabricStep, start: f64, sets_out: &[f64], alone: &LoneTimes) -> f64 {
    let came = step.after.iter();
    let came = came.map(|&of| sets_out[of] + alone.came.least);
    came.fold(start + alone.taken.least, f64::max)
}

/// The ranks that read what each step publishes.
fn readers(steps: &[FabricStep]) -> Vec<Vec<usize>> {
    let mut readers = vec![Vec::new(); steps.len()];
    for step in steps {
        if let StepKind::Read { .. } = step.what {
            step.after
                .iter()
                .for_each(|&of| readers[of].push(step.rank));
        }
    }
    readers
}

/// The longest path through the steps.
struct Worst<'a> {
    on: &'a mut OnParts,
    steps: &'a [FabricStep],
    readers: Vec<Vec<usize>>,
    /// Whether the stores of each rank may exceed its store buffer.
    full: Vec<bool>,
    /// Whether lines may be evicted from caches.
    oversubscribed: bool,
    ends: Vec<f64>,
    sets_out: Vec<f64>,
    /// When all stores of each rank are done.
    done: Vec<f64>,
    /// The total work of each server.
    work: ServerWork,
}

impl<'a> Worst<'a> {
    fn new(on: &'a mut OnParts, steps: &'a [FabricStep]) -> Self {
        let n = on.cores.len();
        let (mut stores, mut touched) = (vec![0; n], vec![0; n]);
        let mut lent = HashMap::new();
        for step in steps {
            let (stored, read) = match step.what {
                StepKind::Send { bytes, .. } => (1 + body_lines_for(bytes) as usize, 0),
                StepKind::Receive { bytes, .. } => (1, 1 + body_lines_for(bytes) as usize),
                StepKind::Borrow {
                    from,
                    fetched,
                    known,
                } => {
                    *lent.entry((from, step.rank)).or_insert(0) += fetched + known;
                    (2, fetched + known)
                }
                StepKind::Look { .. } => (2, 0),
                StepKind::Fill { lines } => (lines, 0),
                _ => (1, 0),
            };
            stores[step.rank] += stored;
            touched[step.rank] += stored + read;
        }
        for (rank, touched) in touched.iter_mut().enumerate() {
            let lent = lent.iter().filter(|((from, _), _)| *from == rank);
            *touched += lent.map(|(_, lines)| *lines).max().unwrap_or(0);
        }
        let sizes = &on.machine.sizes;
        Self {
            readers: readers(steps),
            full: stores.iter().map(|&stores| stores > sizes.stores).collect(),
            // The lines of the call before are in the caches, too.
            oversubscribed: touched.iter().any(|&lines| 2 * lines > sizes.l2),
            ends: vec![0.0; steps.len()],
            sets_out: vec![0.0; steps.len()],
            done: vec![0.0; n],
            work: ServerWork::new(),
            on,
            steps,
        }
    }

    fn alone(&mut self, from: usize, to: usize, shot: Exchange) -> Result<Rc<LoneTimes>, SimError> {
        self.on.alone(from, to, shot)
    }

    fn published(&mut self, publish: usize, bytes: usize) -> Result<Rc<LoneTimes>, SimError> {
        let mut ranks = vec![self.steps[publish].rank];
        ranks.extend(&self.readers[publish]);
        self.on.publish(ranks, bytes)
    }

    fn works(&mut self, alone: &LoneTimes) {
        for (name, busy) in &alone.work {
            *self.work.entry(name.clone()).or_default() += busy;
        }
    }

    /// Lets the store of a step set out when all earlier ones of its rank are done, and returns when the rank goes
    /// on.
    fn give(&mut self, index: usize, start: f64, alone: &LoneTimes) -> f64 {
        let rank = self.steps[index].rank;
        self.sets_out[index] = start.max(self.done[rank]);
        self.done[rank] = self.sets_out[index] + alone.drained;
        let begins = match self.full[rank] {
            true => self.sets_out[index],
            false => start,
        };
        begins + alone.given.most
    }

    /// The latest time at which a rank has taken what the steps before give, or what has arrived already.
    fn take(&self, step: &FabricStep, start: f64, alone: &LoneTimes) -> f64 {
        let came = step
            .after
            .iter()
            .map(|&of| self.sets_out[of] + alone.came.most);
        came.fold(start + alone.taken.most, f64::max)
    }

    /// Returns when a rank has read a loan of so many lines of rank `from`.
    fn borrow(
        &mut self,
        step: &FabricStep,
        start: f64,
        (from, lines): (usize, usize),
    ) -> Result<f64, SimError> {
        let rank = step.rank;
        let alone = self.alone(from, rank, Exchange::Loan(lines))?;
        self.works(&alone);
        self.done[rank] = self.done[rank].max(start) + alone.drained;
        Ok(self.take(step, start, &alone))
    }

    /// Returns when a step ends.
    fn step(&mut self, index: usize, step: &FabricStep) -> Result<f64, SimError> {
        let rank = step.rank;
        let start = step.before.map_or(0.0, |before| self.ends[before]);
        Ok(match step.what {
            StepKind::Notify { to } => {
                let alone = self.alone(rank, to, Exchange::Flag)?;
                self.works(&alone);
                self.give(index, start, &alone)
            }
            StepKind::Send { to, bytes } => {
                let alone = self.alone(rank, to, Exchange::Message(bytes))?;
                self.works(&alone);
                let mut start = start;
                for &of in &step.after {
                    let room = self.alone(to, rank, Exchange::Flag)?;
                    start = start.max(self.ends[of] + room.came.most);
                }
                self.give(index, start, &alone)
            }
            StepKind::Publish { bytes } => {
                let alone = self.published(index, bytes)?;
                self.works(&alone);
                self.give(index, start, &alone)
            }
            StepKind::Lend { to, .. } => {
                let alone = self.alone(rank, to, Exchange::Loan(1))?;
                self.give(index, start, &alone)
            }
            StepKind::Add { to } | StepKind::BarrierEnd { other: to } => {
                let alone = self.alone(rank, to, Exchange::Addition)?;
                self.works(&alone);
                let start = start.max(self.done[rank]);
                let steps = self.steps;
                let collects = |step: &&FabricStep| {
                    matches!(step.what, StepKind::Collect) && step.after.contains(&index)
                };
                let crowd = match steps[index..].iter().find(collects) {
                    Some(collect) => self.crowd(collect)?,
                    None => 0.0,
                };
                self.give(index, start, &alone).max(start + crowd)
            }
            StepKind::Wait { from, .. } => {
                let alone = self.alone(from, rank, Exchange::Flag)?;
                self.take(step, start, &alone)
            }
            StepKind::Receive { from, bytes } => {
                let alone = self.alone(from, rank, Exchange::Message(bytes))?;
                self.take(step, start, &alone)
            }
            StepKind::Read { from, bytes } => {
                let one = self.alone(from, rank, Exchange::Publish(bytes))?;
                let mut all = one;
                for &of in &step.after {
                    let published = self.published(of, bytes)?;
                    all = Rc::new(LoneTimes::clone(&all).either(&published));
                }
                self.take(step, start, &all)
            }
            StepKind::Borrow {
                from,
                fetched,
                known,
            } => self.borrow(step, start, (from, fetched + known))?,
            StepKind::Look { from } => self.borrow(step, start, (from, 0))?,
            StepKind::Return => start.max(self.done[rank]),
            StepKind::Regain => {
                // Loans return in any order: the rank may look for all others after the last one has come.
                let (mut all, mut least, mut last) = (0.0, f64::INFINITY, start);
                for &of in &step.after {
                    let alone = self.alone(rank, self.steps[of].rank, Exchange::Loan(1))?;
                    all += alone.regained.most;
                    least = alone.regained.most.min(least);
                    last = last.max(self.ends[of] + alone.back.most);
                }
                last.max(start + least) + all - least
            }
            StepKind::Collect => {
                let come = step.after.iter().map(|&of| self.sets_out[of]);
                come.fold(start, f64::max) + self.crowd(step)?
            }
            StepKind::Call => start + self.on.machine.costs.call,
            StepKind::Combine { bytes } => {
                start + bytes as f64 / self.on.machine.costs.combine_bytes
            }
            StepKind::Fill { lines } => {
                let other = (rank + 1) % self.done.len();
                let alone = self.alone(rank, other, Exchange::Fill(lines))?;
                self.works(&alone);
                self.give(index, start, &alone)
            }
        })
    }

    /// The greatest time of an addition that takes the line from one of `others`, until that rank sees it.
    fn added(&mut self, adder: usize, others: &[usize]) -> Result<f64, SimError> {
        let mut most = 0.0_f64;
        for &other in others.iter().filter(|&&other| other != adder) {
            most = most.max(self.alone(adder, other, Exchange::Addition)?.came.most);
        }
        Ok(most)
    }

    /// The time of all additions to a line until its collector, or every rank that watches it, has it.
    fn crowd(&mut self, collect: &FabricStep) -> Result<f64, SimError> {
        let watches = |step: &&FabricStep| {
            matches!(step.what, StepKind::Collect) && step.after == collect.after
        };
        // At a counter barrier every rank but the adder takes the line from it.
        let watchers = match self.steps.iter().filter(watches).count() {
            1 => 1.0,
            all => (all - 1) as f64,
        };
        let adders = collect.after.iter().map(|&of| self.steps[of].rank);
        let all: Vec<usize> = adders.chain([collect.rank]).collect();
        let adders = &all[..all.len() - 1];
        let sum: f64 = (adders.iter())
            .map(|&adder| self.added(adder, &all))
            .sum::<Result<f64, SimError>>()?;
        Ok(watchers * sum)
    }

    /// How long a path can wait for others: at the busiest server of each kind, for all its work.
    fn waits(&self) -> f64 {
        let mut kinds = BTreeMap::new();
        for (name, &busy) in &self.work {
            let kind = name.split(|c: char| c.is_ascii_digit()).next();
            let most = kinds.entry(kind).or_insert(0.0_f64);
            *most = most.max(busy);
        }
        kinds.into_values().sum()
    }
}
