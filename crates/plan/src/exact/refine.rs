//! The step from one partition of the refinement chain to a finer one, which only looks where a faster
//! tree can be.

use std::ops::{ControlFlow, Range};

use super::level::{AlikeGroups, FirstChild, PartitionLevel};
use super::multipliers::Windows;
use super::places::TimePlaces;
use super::split::Split;
use super::ticks::{NEVER, Tick};

/// A level was not finished: it would take more work or memory than is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop;

/// Splits that take as long as one more fine state.
const WORK_PER_STATE: u64 = 2;

/// The finer partition while it is being solved.
pub(super) struct Refinement<'a> {
    coarse: &'a PartitionLevel,
    pub(super) groups: AlikeGroups,
    splits: Vec<Split>,
    /// The limits that the members' multipliers set to the parts of trees within the limit.
    windows: Windows,
    /// The multipliers of each share of each split, the least and the most.
    share_multipliers: Vec<Vec<(f32, f32)>>,
    /// One for each pair of a fine state and a coarse holder, those with fewer members first.
    rows: Vec<RefinedRow>,
    /// From a fine state and a coarse holder to its first place in the three below.
    places: TimePlaces,
    /// The least time of each fine holder of each row.
    finish: Vec<i32>,
    /// For each fine holder a time that is enough for any concrete holder and members that it stands
    /// for.
    enough: Vec<i32>,
    /// For each fine holder the most time that a tree within the limit leaves.
    caps: Vec<i32>,
    work: u64,
    memory: usize,
    scratch: Scratch,
}

struct RefinedRow {
    state: u64,
    /// The coarse entry.
    entry: u32,
    /// First place in `finish`.
    place: u32,
}

/// The fine state that is being looked at.
#[derive(Default)]
struct Scratch {
    state: u64,
    /// The state's share of each coarse group.
    shares: Vec<u32>,
    /// The least and the most that the state's members can have as multipliers.
    multipliers: (f32, f32),
    /// Numbers of the parts of a block, the child's own group left out.
    offsets: Vec<u64>,
    spare: Vec<u64>,
    best: Vec<i32>,
    enough: Vec<i32>,
    /// The least and the most time of each fine holder by the multipliers.
    spans: Vec<(i32, i32)>,
}

/// The fine blocks of a step for one fine child: `share` plus each of the offsets.
struct Fan {
    /// The child's group, and which part of its coarse group that is.
    child: usize,
    part: usize,
    /// The part of the block that lies in the child's coarse group.
    share: u64,
    /// The weight of the child alone.
    stride: u64,
}

impl<'a> Refinement<'a> {
    /// Prepares the refinement; `memory` is the most bytes that it may take.
    pub(super) fn new(
        coarse: &'a PartitionLevel,
        groups: AlikeGroups,
        windows: Windows,
        memory: usize,
    ) -> Self {
        let splits = coarse.groups.splits(&groups);
        // A holder with nobody left to inform takes no time.
        let widest = splits.iter().map(Split::parts).max().unwrap_or(1);
        let k = coarse.groups.k();
        let mut places = TimePlaces::new(groups.states(), k, coarse.entries.len());
        for holder in 0..k {
            places.insert(0, holder, 0);
        }
        Self {
            share_multipliers: splits
                .iter()
                .map(|s| share_multipliers(s, &windows))
                .collect(),
            coarse,
            groups,
            splits,
            windows,
            rows: Vec::new(),
            places,
            finish: vec![0; widest],
            enough: vec![0; widest],
            caps: vec![i32::MAX; widest],
            work: 0,
            memory,
            scratch: Scratch::default(),
        }
    }

    /// Computes the least times of all fine states that can be part of a fast enough tree. A fine state
    /// takes no less time than its coarse one, so a state without a coarse entry is left out. Ways to
    /// begin are tried in the order of the time that they take at least on the coarse level, until none
    /// can be better than the best found.
    pub(super) fn times(&mut self, tick: Tick<'_>) -> Result<(), Stop> {
        for at in 0..self.coarse.entries.len() {
            let state = self.coarse.entries[at].state;
            let k = self.coarse.groups.k();
            let counts: Vec<u8> = (0..k).map(|g| self.coarse.groups.count(state, g)).collect();
            self.each_state(&counts, |this| {
                this.time_of(at);
                this.ask(tick)
            })?;
            if self.rows.len() * 48 + self.finish.len() * 12 > self.memory {
                return Err(Stop);
            }
            self.ask(tick)?;
        }
        Ok(())
    }

    /// Returns the place of a fine pair, if it was found fast enough.
    fn place(&self, state: u64, holder: usize) -> Option<usize> {
        let within = |s: &Split| (s.first..s.first + s.parts()).contains(&holder);
        let group = self.splits.iter().position(within)?;
        let place = self.places.get(state, group)?;
        Some(place + holder - self.splits[group].first)
    }

    /// The least time of all starts, if any is fast enough.
    pub(super) fn best(&self, root: Option<usize>) -> Option<i32> {
        let starts = self.groups.starts(root).into_iter();
        let times =
            starts.filter_map(|(state, holder)| Some(self.finish[self.place(state, holder)?]));
        times.min().filter(|&t| t < NEVER)
    }

    /// Returns the start with the least time that is enough for any choice of members.
    pub(super) fn surest_start(&self, root: Option<usize>) -> Option<(u64, usize)> {
        let starts = self.groups.starts(root).into_iter();
        let sure = starts.filter_map(|start| {
            let place = self.place(start.0, start.1)?;
            (self.finish[place] < NEVER).then_some((self.enough[place], start))
        });
        let (time, start) = sure.min()?;
        (time < NEVER).then_some(start)
    }

    /// Returns the way to begin from which `enough` comes: the child's group and its block.
    pub(super) fn surest_step(&mut self, state: u64, holder: usize) -> Option<(usize, u64)> {
        let place = self.place(state, holder)?;
        let at = self.rows.partition_point(|row| row.place as usize <= place);
        let entry = &self.coarse.entries[self.rows[at.checked_sub(1)?].entry as usize];
        let coarse_holder = entry.holder as usize;
        let first = self.splits[coarse_holder].first;
        self.look_at(state);
        let k = self.groups.k();
        let mut found = None;
        for step in self.coarse.steps(entry) {
            let child_group = step.child as usize;
            self.spread(step);
            self.each_fan(step, |this, fan| {
                let way = this.groups.way_most[fan.child * k + holder];
                let send = this.groups.send_most[fan.child * k + holder];
                let is_it = |&block: &u64| {
                    let arm = this.places.get(block - fan.stride, child_group);
                    let rest = this.places.get(state - block, coarse_holder);
                    arm.zip(rest).is_some_and(|(arm, rest)| {
                        let arm = this.enough[arm + fan.part] + way;
                        let rest = this.enough[rest + holder - first] + send;
                        arm.max(rest) <= this.enough[place]
                    })
                };
                let mut blocks = this.scratch.offsets.iter().map(|o| o + fan.share);
                found = found.or_else(|| Some((fan.child, blocks.find(is_it)?)));
            });
            if found.is_some() {
                break;
            }
        }
        found
    }

    /// Makes the level with the budgets and ways to begin of all fine states, from the starts
    /// downwards.
    pub(super) fn level(
        mut self,
        root: Option<usize>,
        limit: i32,
        tick: Tick<'_>,
    ) -> Result<PartitionLevel, Stop> {
        let mut level = PartitionLevel::new(self.groups.clone());
        let mut budget = vec![-1; self.finish.len()];
        for (state, holder) in self.groups.starts(root) {
            if let Some(place) = self.place(state, holder) {
                budget[place] = limit;
            }
        }
        for at in (0..self.rows.len()).rev() {
            self.hand_down(at, &mut budget, &mut level);
            if level.bytes() + self.rows.len() * 48 + self.finish.len() * 16 > self.memory {
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

    /// Calls `f` for each fine state with these coarse counts; `scratch` then holds the state.
    fn each_state(
        &mut self,
        counts: &[u8],
        mut f: impl FnMut(&mut Self) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut places = vec![0_usize; counts.len()];
        let scratch = &mut self.scratch;
        scratch.shares.clear();
        (scratch.state, scratch.multipliers) = (0, (0.0, 0.0));
        for (group, (split, &count)) in self.splits.iter().zip(counts).enumerate() {
            let share = split.of_sum(count)[0];
            scratch.shares.push(share);
            scratch.state += u64::from(share) * split.base;
            let (least, most) = self.share_multipliers[group][share as usize];
            scratch.multipliers.0 += least;
            scratch.multipliers.1 += most;
        }
        loop {
            f(self)?;
            let mut group = 0;
            loop {
                if group == counts.len() {
                    return Ok(());
                }
                let list = self.splits[group].of_sum(counts[group]);
                places[group] += 1;
                let next = list.get(places[group]).copied();
                self.change_share(group, next.unwrap_or(list[0]));
                if next.is_some() {
                    break;
                }
                places[group] = 0;
                group += 1;
            }
        }
    }

    /// Gives the state in `scratch` another share of a coarse group. Multipliers are whole numbers, so
    /// that sums do not drift.
    fn change_share(&mut self, group: usize, share: u32) {
        let scratch = &mut self.scratch;
        let old = std::mem::replace(&mut scratch.shares[group], share);
        let base = self.splits[group].base;
        scratch.state = scratch.state + u64::from(share) * base - u64::from(old) * base;
        let multipliers = &self.share_multipliers[group];
        let (before, after) = (multipliers[old as usize], multipliers[share as usize]);
        scratch.multipliers.0 += after.0 - before.0;
        scratch.multipliers.1 += after.1 - before.1;
    }

    /// Puts this state into `scratch`, without its multipliers.
    fn look_at(&mut self, state: u64) {
        self.scratch.state = state;
        self.scratch.shares.clear();
        let shares = self.splits.iter().map(|s| s.share(state));
        self.scratch.shares.extend(shares);
    }

    /// Computes the times of the state in `scratch`, for the holders of a coarse entry.
    fn time_of(&mut self, at: usize) {
        self.work += WORK_PER_STATE;
        if !self.find_spans(at) {
            return;
        }
        let entry = &self.coarse.entries[at];
        let holder = entry.holder as usize;
        let range = self.fine_holders(holder);
        let state = self.scratch.state;
        let mut best = std::mem::take(&mut self.scratch.best);
        best.clear();
        best.extend(self.scratch.spans.iter().map(|span| span.1.max(-2) + 1));
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
            self.spread(step);
            self.work += self.each_fan(step, |this, fan| {
                let ways = &this.groups.way[fan.child * k..][range.clone()];
                let sends = &this.groups.send[fan.child * k..][range.clone()];
                let ways_most = &this.groups.way_most[fan.child * k..][range.clone()];
                let sends_most = &this.groups.send_most[fan.child * k..][range.clone()];
                for &offset in &this.scratch.offsets {
                    let block = offset + fan.share;
                    let Some(place) = this.places.get(block - fan.stride, child_group) else {
                        continue;
                    };
                    let below = this.finish[place + fan.part];
                    let below_enough = this.enough[place + fan.part];
                    if below + way >= most {
                        continue;
                    }
                    let Some(place) = this.places.get(state - block, holder) else {
                        continue;
                    };
                    let rests = &this.finish[place..];
                    for (((best, &rest), &way), &send) in
                        best.iter_mut().zip(rests).zip(ways).zip(sends)
                    {
                        *best = (*best).min((below + way).max(rest + send));
                    }
                    let rests = &this.enough[place..];
                    for (((enough, &rest), &way), &send) in
                        enough.iter_mut().zip(rests).zip(ways_most).zip(sends_most)
                    {
                        *enough = (*enough).min((below_enough + way).max(rest + send));
                    }
                }
            });
        }
        for (best, &(least, most)) in best.iter_mut().zip(&self.scratch.spans) {
            let fits = (0..=most).contains(best);
            *best = if fits { least.max(*best) } else { NEVER };
        }
        if best.iter().any(|&time| time < NEVER) {
            let place = self.finish.len() as u32;
            self.places.insert(state, holder, place);
            self.rows.push(RefinedRow {
                state,
                entry: at as u32,
                place,
            });
            self.finish.extend(&best);
            self.enough
                .extend(enough.iter().map(|&time| time.min(NEVER)));
            self.caps.extend(self.scratch.spans.iter().map(|s| s.1));
        }
        self.scratch.best = best;
        self.scratch.enough = enough;
    }

    /// Finds the least and the most time that the state in `scratch` can take with each of an entry's
    /// holders; the most is negative where it is impossible. Returns whether any is possible.
    fn find_spans(&mut self, at: usize) -> bool {
        let entry = &self.coarse.entries[at];
        let holder = entry.holder as usize;
        let split = &self.splits[holder];
        let scratch = &mut self.scratch;
        // A member that the state wants informed is not its holder.
        let digits = split.digits(scratch.shares[holder]);
        let (windows, groups, multipliers) =
            (&self.windows, &self.groups.each, scratch.multipliers);
        scratch.spans.clear();
        scratch
            .spans
            .extend(digits.iter().enumerate().map(|(part, &digit)| {
                let h = split.first + part;
                let is_outside = (digit as usize) < groups[h].members.len();
                let span = is_outside.then(|| windows.span(h, multipliers, entry.budget));
                span.flatten().unwrap_or((0, -2))
            }));
        scratch.spans.iter().any(|span| span.1 >= 0)
    }

    fn fine_holders(&self, coarse: usize) -> Range<usize> {
        let split = &self.splits[coarse];
        split.first..split.first + split.parts()
    }

    fn hand_down(&mut self, at: usize, budget: &mut [i32], level: &mut PartitionLevel) {
        let RefinedRow {
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
                    budget[p].min(self.enough[p]).min(self.caps[p])
                } else {
                    -1
                }
            })
            .collect();
        let most = left.iter().copied().max().unwrap_or(-1);
        if most < 0 {
            return;
        }
        self.look_at(state);
        let mut found: Vec<Vec<FirstChild>> = vec![Vec::new(); range.len()];
        let k = self.groups.k();
        for step in self.coarse.steps(entry) {
            if step.least > most {
                break;
            }
            let child_group = step.child as usize;
            self.spread(step);
            self.work += self.each_fan(step, |this, fan| {
                for &offset in &this.scratch.offsets {
                    let block = offset + fan.share;
                    let Some(arm) = this.places.get(block - fan.stride, child_group) else {
                        continue;
                    };
                    let arm = arm + fan.part;
                    let below = this.finish[arm];
                    if below > most {
                        continue;
                    }
                    let Some(rest) = this.places.get(state - block, holder) else {
                        continue;
                    };
                    for (i, h) in range.clone().enumerate() {
                        let send = this.groups.send[fan.child * k + h];
                        let way = this.groups.way[fan.child * k + h];
                        let rest = rest + i;
                        let least = (below + way).max(this.finish[rest] + send);
                        if least <= left[i] {
                            budget[arm] = budget[arm].max(left[i] - way);
                            budget[rest] = budget[rest].max(left[i] - send);
                            found[i].push(FirstChild {
                                block,
                                least,
                                child: fan.child as u32,
                            });
                        }
                    }
                }
            });
        }
        for ((i, h), steps) in range.enumerate().zip(&mut found) {
            level.record(state, h, self.finish[place + i], left[i], steps);
        }
    }

    /// Fills `offsets` with all fine blocks of a step in the state that is looked at, the child's
    /// own group left out.
    fn spread(&mut self, step: &FirstChild) {
        let Scratch {
            offsets,
            spare,
            shares,
            ..
        } = &mut self.scratch;
        offsets.clear();
        offsets.push(0);
        for (group, split) in self.splits.iter().enumerate() {
            let count = self.coarse.groups.count(step.block, group);
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

    /// Calls `f` for each fine child of a step that was spread; returns the number of blocks.
    fn each_fan(&self, step: &FirstChild, mut f: impl FnMut(&Self, Fan)) -> u64 {
        let group = step.child as usize;
        let split = &self.splits[group];
        let count = self.coarse.groups.count(step.block, group);
        let mut fans = 0;
        for &share in split.subs(self.scratch.shares[group], count) {
            for part in split.present(share) {
                let child = split.first + part;
                fans += 1;
                let fan = Fan {
                    child,
                    part,
                    share: u64::from(share) * split.base,
                    stride: self.groups.each[child].stride,
                };
                f(self, fan);
            }
        }
        fans * self.scratch.offsets.len() as u64
    }
}

/// The least and the most that the members of each share have as multipliers.
fn share_multipliers(split: &Split, windows: &Windows) -> Vec<(f32, f32)> {
    let of = |share: u32| {
        let digits = split.digits(share).iter().enumerate();
        digits.fold((0.0, 0.0), |sum, (part, &digit)| {
            let (least, most) = windows.multipliers(split.first + part, digit);
            (sum.0 + least, sum.1 + most)
        })
    };
    (0..split.shares()).map(of).collect()
}
