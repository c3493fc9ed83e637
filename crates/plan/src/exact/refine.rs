//! From one partition of the ladder to a finer one, looking only where a faster tree can be.

use std::ops::{ControlFlow, Range};

use super::level::{Groups, Level, Step};
use super::places::Places;
use super::split::Split;
use super::ticks::NEVER;

/// Asked now and then with the work done since; breaks to stop.
pub(super) type Tick<'a> = &'a mut dyn FnMut(u64) -> ControlFlow<()>;

/// A level was not finished: it would take more work or memory than is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop;

/// The finer partition while it is being solved.
pub(super) struct Refinement<'a> {
    coarse: &'a Level,
    pub(super) groups: Groups,
    splits: Vec<Split>,
    /// One for each pair of a fine state and a coarse holder, those with fewer members first.
    rows: Vec<Row>,
    /// From a fine state and a coarse holder to its first place in `finish`.
    places: Places,
    /// The least time of each fine holder of each row.
    finish: Vec<i32>,
    /// No concrete holder and members that it stands for need more than this.
    enough: Vec<i32>,
    work: u64,
    memory: usize,
    scratch: Scratch,
}

struct Row {
    state: u64,
    /// The coarse entry.
    entry: u32,
    /// First place in `finish`.
    place: u32,
}

#[derive(Default)]
struct Scratch {
    /// Numbers of the parts of a block, the child's own group left out.
    offsets: Vec<u64>,
    spare: Vec<u64>,
    /// The share of each coarse group in the fine state that is looked at.
    shares: Vec<u32>,
    best: Vec<i32>,
    enough: Vec<i32>,
}

impl<'a> Refinement<'a> {
    /// `memory` is the most bytes to take.
    pub(super) fn new(coarse: &'a Level, groups: Groups, memory: usize) -> Self {
        let span = groups.states() * coarse.groups.k() as u64;
        let expected = coarse.entries.len() as u64;
        let mut new = Self {
            splits: coarse.groups.splits(&groups),
            coarse,
            groups,
            rows: Vec::new(),
            places: Places::new(span, expected),
            finish: Vec::new(),
            enough: Vec::new(),
            work: 0,
            memory,
            scratch: Scratch::default(),
        };
        // Nobody left to inform takes no time.
        let widest = new.splits.iter().map(Split::parts).max().unwrap_or(1);
        new.finish = vec![0; widest];
        new.enough = vec![0; widest];
        for holder in 0..coarse.groups.k() {
            new.places.insert(new.key(0, holder), 0);
        }
        new
    }

    fn key(&self, state: u64, coarse_holder: usize) -> u64 {
        state * self.coarse.groups.k() as u64 + coarse_holder as u64
    }

    /// The least times of all fine states that can be part of a tree that is fast enough.
    ///
    /// A fine state takes no less than its coarse one, so a state without an entry there is left
    /// out here, and its ways to begin are tried in the order of what they take at least there,
    /// until none can be better than what was found.
    pub(super) fn times(&mut self, tick: Tick<'_>) -> Result<(), Stop> {
        for at in 0..self.coarse.entries.len() {
            let state = self.coarse.entries[at].state;
            let k = self.coarse.groups.k();
            let counts: Vec<u8> = (0..k).map(|g| self.coarse.groups.count(state, g)).collect();
            self.each_state(&counts, |this| this.time_of(at));
            if self.rows.len() * 48 + self.finish.len() * 4 > self.memory {
                return Err(Stop);
            }
            self.ask(tick)?;
        }
        Ok(())
    }

    /// The place of a fine pair in `finish` and `enough`, if it was found fast enough.
    fn place(&self, state: u64, holder: usize) -> Option<usize> {
        let within = |s: &Split| (s.first..s.first + s.parts()).contains(&holder);
        let group = self.splits.iter().position(within)?;
        let place = self.places.get(self.key(state, group))?;
        Some(place + holder - self.splits[group].first)
    }

    /// The least time of all starts, if any is fast enough.
    pub(super) fn best(&self, root: Option<usize>) -> Option<i32> {
        let starts = self.groups.starts(root).into_iter();
        let times =
            starts.filter_map(|(state, holder)| Some(self.finish[self.place(state, holder)?]));
        times.min().filter(|&t| t < NEVER)
    }

    /// The start for which the least time is enough whatever members are taken.
    pub(super) fn surest_start(&self, root: Option<usize>) -> Option<(u64, usize)> {
        let starts = self.groups.starts(root).into_iter();
        let sure = starts.filter_map(|start| {
            let place = self.place(start.0, start.1)?;
            (self.finish[place] < NEVER).then_some((self.enough[place], start))
        });
        let (time, start) = sure.min()?;
        (time < NEVER).then_some(start)
    }

    /// The way to begin that `enough` comes from: the child's group and its block.
    pub(super) fn surest_step(&mut self, state: u64, holder: usize) -> Option<(usize, u64)> {
        let place = self.place(state, holder)?;
        let at = self.rows.partition_point(|row| row.place as usize <= place);
        let entry = &self.coarse.entries[self.rows[at.checked_sub(1)?].entry as usize];
        let coarse_holder = entry.holder as usize;
        self.scratch.shares = self.splits.iter().map(|s| s.share(state)).collect();
        let k = self.groups.k();
        for step in self.coarse.steps(entry) {
            let child_group = step.child as usize;
            spread(&self.splits, &self.coarse.groups, &mut self.scratch, step);
            let split = &self.splits[child_group];
            let count = self.coarse.groups.count(step.block, child_group);
            for &share in split.subs(self.scratch.shares[child_group], count) {
                for part in split.present(share) {
                    let child = split.first + part;
                    let stride = self.groups.each[child].stride;
                    for &offset in &self.scratch.offsets {
                        let block = offset + u64::from(share) * split.base;
                        let (Some(arm), Some(rest)) = (
                            self.places.get(self.key(block - stride, child_group)),
                            self.places.get(self.key(state - block, coarse_holder)),
                        ) else {
                            continue;
                        };
                        let first = self.splits[coarse_holder].first;
                        let arm =
                            self.enough[arm + part] + self.groups.way_most[child * k + holder];
                        let rest = self.enough[rest + holder - first]
                            + self.groups.send_most[child * k + holder];
                        if arm.max(rest) <= self.enough[place] {
                            return Some((child, block));
                        }
                    }
                }
            }
        }
        None
    }

    /// The level with the budgets and the ways to begin of all fine states, from the starts
    /// downwards.
    pub(super) fn level(
        mut self,
        root: Option<usize>,
        limit: i32,
        tick: Tick<'_>,
    ) -> Result<Level, Stop> {
        let mut level = Level::new(self.groups.clone());
        let mut budget = vec![-1; self.finish.len()];
        for (state, holder) in self.groups.starts(root) {
            if let Some(place) = self.place(state, holder) {
                budget[place] = limit;
            }
        }
        for at in (0..self.rows.len()).rev() {
            self.hand_down(at, &mut budget, &mut level);
            if level.bytes() + self.rows.len() * 48 + self.finish.len() * 8 > self.memory {
                return Err(Stop);
            }
            self.ask(tick)?;
        }
        level.entries.reverse();
        Ok(level)
    }

    fn ask(&mut self, tick: Tick<'_>) -> Result<(), Stop> {
        if self.work < 1 << 16 {
            return Ok(());
        }
        match tick(std::mem::take(&mut self.work)) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Stop),
        }
    }

    /// Calls `f` for each fine state with these coarse counts, its shares in `scratch`.
    fn each_state(&mut self, counts: &[u8], mut f: impl FnMut(&mut Self)) {
        let mut places = vec![0_usize; counts.len()];
        let firsts = self.splits.iter().zip(counts);
        self.scratch.shares = firsts
            .map(|(split, &count)| split.of_sum(count)[0])
            .collect();
        loop {
            f(self);
            let mut group = 0;
            loop {
                if group == counts.len() {
                    return;
                }
                let list = self.splits[group].of_sum(counts[group]);
                places[group] += 1;
                if let Some(&share) = list.get(places[group]) {
                    self.scratch.shares[group] = share;
                    break;
                }
                places[group] = 0;
                self.scratch.shares[group] = list[0];
                group += 1;
            }
        }
    }

    fn time_of(&mut self, at: usize) {
        let entry = &self.coarse.entries[at];
        let (holder, budget) = (entry.holder as usize, entry.budget);
        let range = self.fine_holders(holder);
        let shares = self.splits.iter().zip(&self.scratch.shares);
        let state: u64 = shares.map(|(s, &share)| u64::from(share) * s.base).sum();
        // Those that the state wants informed do not hold it: no time is less than theirs.
        let digits = self.splits[holder].digits(self.scratch.shares[holder]);
        let mut best = std::mem::take(&mut self.scratch.best);
        best.clear();
        best.extend(range.clone().zip(digits).map(|(h, &digit)| {
            let outside = (digit as usize) < self.groups.each[h].members.len();
            if outside { budget + 1 } else { -1 }
        }));
        let mut enough = std::mem::take(&mut self.scratch.enough);
        enough.clear();
        enough.resize(best.len(), NEVER);
        let k = self.groups.k();
        let coarse_k = self.coarse.groups.k();
        for step in self.coarse.steps(entry) {
            let most = best.iter().copied().max().unwrap_or(-1);
            if step.least >= most {
                break;
            }
            let child_group = step.child as usize;
            let way = self.coarse.groups.way[child_group * coarse_k + holder];
            spread(&self.splits, &self.coarse.groups, &mut self.scratch, step);
            let split = &self.splits[child_group];
            let count = self.coarse.groups.count(step.block, child_group);
            for &share in split.subs(self.scratch.shares[child_group], count) {
                for part in split.present(share) {
                    let child = split.first + part;
                    let stride = self.groups.each[child].stride;
                    let ways = &self.groups.way[child * k..][range.clone()];
                    let sends = &self.groups.send[child * k..][range.clone()];
                    let ways_most = &self.groups.way_most[child * k..][range.clone()];
                    let sends_most = &self.groups.send_most[child * k..][range.clone()];
                    self.work += self.scratch.offsets.len() as u64;
                    for &offset in &self.scratch.offsets {
                        let block = offset + u64::from(share) * split.base;
                        let Some(place) = self.places.get(self.key(block - stride, child_group))
                        else {
                            continue;
                        };
                        let below = self.finish[place + part];
                        let below_enough = self.enough[place + part];
                        if below + way >= most {
                            continue;
                        }
                        let Some(place) = self.places.get(self.key(state - block, holder)) else {
                            continue;
                        };
                        let rests = &self.finish[place..];
                        for (((best, &rest), &way), &send) in
                            best.iter_mut().zip(rests).zip(ways).zip(sends)
                        {
                            *best = (*best).min((below + way).max(rest + send));
                        }
                        let rests = &self.enough[place..];
                        for (((enough, &rest), &way), &send) in
                            enough.iter_mut().zip(rests).zip(ways_most).zip(sends_most)
                        {
                            *enough = (*enough).min((below_enough + way).max(rest + send));
                        }
                    }
                }
            }
        }
        let found = best.iter().any(|time| (0..=budget).contains(time));
        if found {
            let place = self.finish.len() as u32;
            self.places.insert(self.key(state, holder), place);
            self.rows.push(Row {
                state,
                entry: at as u32,
                place,
            });
            let kept = best.iter().map(|time| {
                if (0..=budget).contains(time) {
                    *time
                } else {
                    NEVER
                }
            });
            self.finish.extend(kept);
            self.enough
                .extend(enough.iter().map(|&time| time.min(NEVER)));
        }
        self.scratch.best = best;
        self.scratch.enough = enough;
    }

    fn fine_holders(&self, coarse: usize) -> Range<usize> {
        let split = &self.splits[coarse];
        split.first..split.first + split.parts()
    }

    fn hand_down(&mut self, at: usize, budget: &mut [i32], level: &mut Level) {
        let Row {
            state,
            entry,
            place,
        } = self.rows[at];
        let entry = &self.coarse.entries[entry as usize];
        let holder = entry.holder as usize;
        let range = self.fine_holders(holder);
        let place = place as usize;
        let left: Vec<i32> = (place..place + range.len())
            .map(|p| {
                if self.finish[p] <= budget[p] {
                    budget[p].min(self.enough[p])
                } else {
                    -1
                }
            })
            .collect();
        let most = left.iter().copied().max().unwrap_or(-1);
        if most < 0 {
            return;
        }
        self.scratch.shares = self.splits.iter().map(|s| s.share(state)).collect();
        let mut found: Vec<Vec<Step>> = vec![Vec::new(); range.len()];
        let k = self.groups.k();
        for step in self.coarse.steps(entry) {
            if step.least > most {
                break;
            }
            let child_group = step.child as usize;
            spread(&self.splits, &self.coarse.groups, &mut self.scratch, step);
            let split = &self.splits[child_group];
            let count = self.coarse.groups.count(step.block, child_group);
            for &share in split.subs(self.scratch.shares[child_group], count) {
                for part in split.present(share) {
                    let child = split.first + part;
                    let stride = self.groups.each[child].stride;
                    self.work += self.scratch.offsets.len() as u64;
                    for &offset in &self.scratch.offsets {
                        let block = offset + u64::from(share) * split.base;
                        let Some(arm) = self.places.get(self.key(block - stride, child_group))
                        else {
                            continue;
                        };
                        let arm = arm + part;
                        let below = self.finish[arm];
                        if below > most {
                            continue;
                        }
                        let Some(rest) = self.places.get(self.key(state - block, holder)) else {
                            continue;
                        };
                        for (i, h) in range.clone().enumerate() {
                            let (send, way) = (
                                self.groups.send[child * k + h],
                                self.groups.way[child * k + h],
                            );
                            let rest = rest + i;
                            let least = (below + way).max(self.finish[rest] + send);
                            if least <= left[i] {
                                budget[arm] = budget[arm].max(left[i] - way);
                                budget[rest] = budget[rest].max(left[i] - send);
                                found[i].push(Step {
                                    block,
                                    least,
                                    child: child as u32,
                                });
                            }
                        }
                    }
                }
            }
        }
        for ((i, h), steps) in range.enumerate().zip(&mut found) {
            level.record(state, h, self.finish[place + i], left[i], steps);
        }
    }
}

/// Fills `offsets` with all fine blocks of a step, the child's own group left out.
fn spread(splits: &[Split], coarse: &Groups, scratch: &mut Scratch, step: &Step) {
    let Scratch {
        offsets,
        spare,
        shares,
        ..
    } = scratch;
    offsets.clear();
    offsets.push(0);
    for (group, split) in splits.iter().enumerate() {
        let count = coarse.count(step.block, group);
        if count == 0 || group == step.child as usize {
            continue;
        }
        spare.clear();
        for &share in split.subs(shares[group], count) {
            spare.extend(offsets.iter().map(|&o| o + u64::from(share) * split.base));
        }
        std::mem::swap(offsets, spare);
    }
}
