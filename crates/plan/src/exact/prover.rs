//! The passes of a proof: limits that rise, until a tree is found or the bound meets one.

use std::ops::ControlFlow;

use super::level::{AlikeGroups, PartitionLevel};
use super::multipliers::{Ascent, Tables, Windows};
use super::proof::{Limits, MEMBERS_MAX, ProofWatch};
use super::refine::{Refinement, Stop};
use super::refinement_chain::RefinementChain;
use super::split::Split;
use super::ticks::Ticks;
use crate::tree::Tree;

/// The state of a proof.
pub(super) struct Prover<'a> {
    pub(super) ticks: &'a Ticks,
    /// The latency of the best tree so far, in ticks.
    pub(super) latency: i32,
    /// The number of ticks that no tree beats.
    pub(super) lower: i32,
    pub(super) tree: Option<Tree>,
    pub(super) limits: Limits,
    pub(super) spent: u64,
    /// The spent work at which the present pass ends.
    pub(super) quota: u64,
    /// Whether the watcher has ended the proof.
    pub(super) is_told: bool,
    pub(super) watch: ProofWatch<'a>,
}

/// The reason for which a pass ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PassEnd {
    /// All trees within the limit were searched.
    Complete,
    /// The pass needs more work than it was given, or more memory than there is.
    TooMuch,
}

/// The search for trees with one root, or with any root.
struct ProofCase {
    root: Option<usize>,
    /// The refinement chain, which the first pass makes.
    chain: Option<RefinementChain>,
    ascent: Ascent,
    /// The number of ticks that no tree of this case beats.
    lower: i32,
    /// The next limit, as a share of the way from the bound to the latency.
    share: f64,
    /// The work that the next pass may take.
    pass: u64,
}

/// A level may have this many times the pairs of the level before.
const GROWTH: f64 = 6.0;
/// A level may always have this many pairs.
const PAIRS_MIN: f64 = 500.0;
/// The limit of the first pass with multipliers, as a share of the way from the bound to the latency.
const SHARE: f64 = 0.25;
/// Limits that differ by less than this share of the latency take about as much work. A pass that
/// takes too much on so short a way gets more work instead of a lower limit.
const NEAR: f64 = 0.002;
/// Most work of a pass before there are multipliers. Small teams spend half of all work on it.
const QUICK_PASS: u64 = 1 << 18;
/// Most work of the first pass with multipliers.
const FIRST_PASS: u64 = 1 << 23;
/// Entries of lists of shares that take as long as a split.
const ENTRIES_PER_WORK: f64 = 8.0;
/// Work of the first pass for one of many roots.
const ROOT_PASS: u64 = 1 << 20;
/// Teams of up to this size are mostly proved sooner without multipliers.
const SMALL: usize = 16;
/// Largest team in which a pass with multipliers searches all roots together. In larger ones only the multipliers
/// take all roots together, before each root is searched by itself.
const JOINT_MAX: usize = 24;

impl Prover<'_> {
    /// Looks at all roots together first. Where that takes too much, it goes on root by root, always with the one
    /// whose bound is least: single roots have higher bounds.
    pub(super) fn run(&mut self, root: Option<usize>) {
        let first = (self.limits.work / 4).clamp(1, FIRST_PASS);
        let mut case = self.case(root, first);
        if self.ticks.n() > MEMBERS_MAX {
            self.multiplier(&mut case, i32::MAX);
            self.lower = self.lower.max(case.lower);
            return;
        }
        let quick = match self.ticks.n() {
            _ if self.limits.multipliers_first => 0,
            n if n > SMALL => QUICK_PASS.min(self.limits.work / 4),
            _ => self.limits.work / 2,
        };
        if quick > 0 {
            self.quota = self.spent.saturating_add(quick);
            let _ = self.pass(&mut case, self.latency - 1);
        }
        match root {
            Some(_) => self.pursue(&mut case, i32::MAX),
            None => {
                self.multiplier(&mut case, i32::MAX);
                self.quota = self.spent.saturating_add(first);
                let is_open = case.lower < self.latency && !self.is_over();
                if is_open && self.ticks.n() <= JOINT_MAX {
                    let _ = self.pass(&mut case, self.latency - 1);
                }
            }
        }
        self.lower = self.lower.max(case.lower);
        if root.is_none() {
            self.each_root();
        }
    }

    fn each_root(&mut self) {
        let roots = 0..self.ticks.n();
        let mut cases: Vec<ProofCase> = roots.map(|r| self.case(Some(r), ROOT_PASS)).collect();
        while self.lower < self.latency && !self.is_over() {
            cases.sort_by_key(|case| (case.lower, case.root));
            let next = cases.get(1).map_or(self.latency, |case| case.lower);
            // The goal is somewhat beyond the next root's bound, so that two roots do not alternate at each tick.
            let goal = next + (self.latency - next) / 4 + 1;
            self.pursue(&mut cases[0], goal);
            let gave_up = cases[0].lower < goal.min(self.latency);
            let least = cases.iter().map(|case| case.lower).min();
            self.lower = self.lower.max(least.unwrap_or(0));
            if gave_up {
                // A root whose pass needs too much memory can give up long before the work is used up. The bound of
                // all roots is its bound, and no other root can raise that.
                return;
            }
        }
    }

    fn case(&self, root: Option<usize>, pass: u64) -> ProofCase {
        ProofCase {
            root,
            chain: None,
            ascent: Ascent::new(self.ticks.n(), root),
            lower: self.lower,
            share: SHARE,
            pass,
        }
    }

    fn is_over(&self) -> bool {
        self.is_told || self.spent >= self.limits.work
    }

    /// Raises the bound of a case by multipliers, to `goal` if that is possible.
    fn multiplier(&mut self, case: &mut ProofCase, goal: i32) {
        self.quota = u64::MAX;
        let ticks = self.ticks;
        while case.lower < goal.min(self.latency) && !case.ascent.is_finished() && !self.is_over() {
            let ended = case
                .ascent
                .round(ticks, self.latency, &mut |work| self.tick(work));
            case.lower = case.lower.max(case.ascent.lower);
            if ended.is_break() {
                return;
            }
        }
    }

    /// Raises the bound of a case to the latency, or to `goal`, as far as the work allows.
    ///
    /// Multipliers come first, then passes, whose limits lie between bound and latency: high limits prove more, low
    /// ones take less work. A pass that takes too much is tried again with a limit a quarter as far from the bound,
    /// and when that is near, with more work.
    fn pursue(&mut self, case: &mut ProofCase, goal: i32) {
        self.multiplier(case, goal);
        while case.lower < goal.min(self.latency) && !self.is_over() {
            let near = NEAR * f64::from(self.latency);
            let way = f64::from(self.latency - 1 - case.lower);
            let reach = f64::max(way * case.share, near.min(way));
            self.quota = self.spent.saturating_add(case.pass);
            match self.pass(case, case.lower + reach as i32) {
                PassEnd::Complete => case.share = f64::min(1.0, case.share * 2.0),
                PassEnd::TooMuch if reach > near => case.share /= 4.0,
                PassEnd::TooMuch if case.pass > self.limits.work => return,
                PassEnd::TooMuch => (case.share, case.pass) = (SHARE, case.pass.saturating_mul(4)),
            }
        }
    }

    /// Searches all trees that take at most `limit`. Raises the bound as far as the search gets, and keeps better
    /// trees that it finds.
    fn pass(&mut self, case: &mut ProofCase, mut limit: i32) -> PassEnd {
        let root = case.root;
        let counted = self.ticks.n() - usize::from(root.is_some());
        case.chain
            .get_or_insert_with(|| RefinementChain::new(self.ticks, root));
        let Some(groups) = self.groups(case, 1) else {
            return PassEnd::TooMuch;
        };
        let ticks = self.ticks;
        let tables = Tables::new(ticks, &case.ascent, root, limit, &mut |work| {
            self.tick(work)
        });
        let ControlFlow::Continue(tables) = tables else {
            return PassEnd::TooMuch;
        };
        let mut level = PartitionLevel::bottom(groups, root, limit);
        let mut count = 1;
        loop {
            match level.best(root) {
                None => {
                    case.lower = case.lower.max(limit + 1);
                    return PassEnd::Complete;
                }
                Some(best) => case.lower = case.lower.max(best),
            }
            if case.lower >= self.latency {
                return PassEnd::Complete;
            }
            if count == counted {
                // This is unreachable in exact arithmetic, where the tree of single members equals the bound.
                return PassEnd::TooMuch;
            }
            let Some((next, groups)) = self.next(case, &level, count) else {
                return PassEnd::TooMuch;
            };
            count = next;
            let windows = tables.as_ref().map_or_else(Windows::open, |tables| {
                let each = groups.each.iter();
                tables.windows(each.map(|g| (g.members.as_slice(), g.cap)))
            });
            let mut refinement = Refinement::new(&level, groups, windows, self.limits.memory);
            if let Err(Stop) = refinement.times(&mut |work| self.tick(work)) {
                return PassEnd::TooMuch;
            }
            let Some(best) = refinement.best(root) else {
                case.lower = case.lower.max(limit + 1);
                return PassEnd::Complete;
            };
            case.lower = case.lower.max(best);
            if let Some(tree) = refinement.tree(root) {
                let latency = self.ticks.latency(&tree);
                if latency < self.latency {
                    self.latency = latency;
                    self.tree = Some(tree);
                }
            }
            limit = limit.min(self.latency - 1);
            if best > limit {
                case.lower = case.lower.max(limit + 1);
                return PassEnd::Complete;
            }
            match refinement.level(root, limit, &mut |work| self.tick(work)) {
                Ok(finer) => level = finer,
                Err(Stop) => return PassEnd::TooMuch,
            }
        }
    }

    fn groups(&self, case: &ProofCase, count: usize) -> Option<AlikeGroups> {
        let partition = case.chain.as_ref()?.partition(count);
        AlikeGroups::new(self.ticks, partition, case.root)
    }

    /// Returns the finest partition that does not have too many more pairs.
    fn next(
        &mut self,
        case: &ProofCase,
        level: &PartitionLevel,
        count: usize,
    ) -> Option<(usize, AlikeGroups)> {
        let counted = self.ticks.n() - usize::from(case.root.is_some());
        let allowed = (level.entries.len() as f64 * GROWTH).max(PAIRS_MIN);
        let mut next = (count + 1, self.groups(case, count + 1)?);
        while next.0 < counted {
            match self.groups(case, next.0 + 1) {
                Some(groups) if level.pairs(&groups) <= allowed => next = (next.0 + 1, groups),
                _ => break,
            }
        }
        let runs = level.groups.runs(&next.1).into_iter();
        let caps = runs.map(|(from, to)| next.1.each[from..to].iter().map(|g| g.cap));
        let (most, sum) = caps
            .map(Split::entries)
            .fold((0.0, 0.0), |(most, sum), n| (f64::max(most, n), sum + n));
        // Listing the sub-shares takes time and memory as well.
        let fits = most <= Split::ENTRIES_MAX && sum * 4.0 <= self.limits.memory as f64;
        let is_allowed = fits && self.tick((sum / ENTRIES_PER_WORK) as u64).is_continue();
        is_allowed.then_some(next)
    }

    fn tick(&mut self, work: u64) -> ControlFlow<()> {
        self.spent += work;
        let bound = f64::from(self.lower) * self.ticks.tick;
        self.is_told |= (self.watch)(bound, self.spent).is_break();
        if self.is_over() || self.spent >= self.quota {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}
