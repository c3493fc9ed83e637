//! Exact search: a lower bound that rises until a tree meets it.
//!
//! **The recursion.** Let `f(v, S)` be the least time in which v, free to send, can have all of S
//! informed. Whom v sends to first, and what that child takes over, splits the rest in two:
//!
//! ```text
//! f(v, S) = min over c ∈ S, A ⊆ S∖c of  send(v, c) + max( receive(v, c) + f(c, A),  f(v, S∖c∖A) )
//! ```
//!
//! There are n·2ⁿ pairs (v, S). What makes the recursion usable is a *refinement chain* of partitions, from
//! one group of all members to groups of one. On each step members of a group are taken for alike,
//! so that S is a vector of counts, and every message takes the least send and receive found
//! between the two groups: `f` is a lower bound there. Only what the coarser step leaves open is
//! looked at on the finer one:
//!
//! 1. *Limit.* Trees of at most a given latency are looked for. The start has all of it as its
//!    budget; a child has its parent's budget less send and receive, what remains for the parent
//!    the budget less send. The greatest budget over all open splits is handed down; a pair whose
//!    `f` exceeds its budget is out.
//! 2. *Enough.* The same recursion with the greatest costs between groups says how long *any*
//!    concrete holder and members that a pair stands for need at most. An optimal tree can be built
//!    of optimal parts, so no part needs a larger budget than that.
//! 3. *Order.* A finer pair tries its splits in the order of what they take on the coarser step and
//!    stops when none can be better than what was found.
//! 4. *Multipliers* (`exact/multipliers.rs`) give a bound of their own, and say of each state how long its holder
//!    needs at least, and how long it can have at most. Small teams are done before they pay.
//!
//! No tree within the limit exists when no start is left: then the limit is a certified bound. In a
//! partition into single members the bound is exact, and the tree is read off. Where the greatest
//! costs give a tree below the limit, it is read off earlier.
//!
//! The recursion and the use of classes with least costs are folklore for small broadcast problems;
//! refinement chain, budgets, enough and multipliers for trees are Corecast's. The costs are counted in whole ticks
//! ([`Proof`]).

mod extract;
mod level;
mod multipliers;
mod places;
mod refine;
mod refinement_chain;
mod split;
mod ticks;

use std::ops::ControlFlow;

use corecast_model::CostModel;

use crate::cost;
use crate::operation::Operation;
use crate::tree::Tree;
use level::{AlikeGroups, PartitionLevel};
use multipliers::{Ascent, Tables, Windows};
use refine::{Refinement, Stop};
use refinement_chain::RefinementChain;
use split::Split;
use ticks::Ticks;

/// Largest team whose trees are all searched; larger teams only get the bound by multipliers.
pub const MEMBERS_MAX: usize = 64;

/// Limits on the resources of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Splits to look at. A million take 20 to 100 ms (AMD EPYC at 2.6 GHz, November 2026).
    pub work: u64,
    /// Whether multipliers come first. Otherwise a short pass without them comes before, which is enough for most
    /// teams of up to 16.
    pub multipliers_first: bool,
    /// Bytes that the tables of the proof may take.
    pub memory: usize,
}

impl Default for Limits {
    /// The default limits allow some ten seconds and 2 GiB.
    fn default() -> Self {
        Self {
            work: 400_000_000,
            multipliers_first: false,
            memory: 2 << 30,
        }
    }
}

/// The result of a proof, whether it finished or not.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// A latency that no broadcast tree beats, in the model's unit. Costs are counted in ticks: exactly where all
    /// are whole multiples of a decimal fraction of the unit, otherwise rounded down by less than one part in 10⁸
    /// of the latency.
    pub lower_bound: f64,
    /// A tree that is faster than the given one, if the proof found one.
    pub tree: Option<Tree>,
    /// Whether the bound equals the latency of the better of the two trees.
    pub optimal: bool,
    /// The number of splits that were looked at.
    pub work: u64,
}

/// A function that is called with the bound so far and the number of splits, and may end the proof.
pub type ProofWatch<'a> = &'a mut dyn FnMut(f64, u64) -> ControlFlow<()>;

/// Proves that no broadcast tree is faster than `upper`, or finds a faster one.
///
/// Without `root`, trees with any root are searched. `lower_bound` is a bound that is known already. Where limits
/// or the watcher end the proof, the result has the bound reached so far. Teams of more than [`MEMBERS_MAX`]
/// members only get the bound by multipliers, where the work is enough for it.
///
/// # Panics
///
/// When tree and model have different numbers of members, or the root is not the tree's.
///
/// # Cost
///
/// Up to the limits. Finished on real machines with 16 members in milliseconds, with 20 to 32 in
/// about a second; with 48 a gap of 1 to 2 % is left. See docs/planner.md.
///
/// # Examples
///
/// ```
/// use std::ops::ControlFlow;
/// use corecast_plan::exact::{Limits, prove};
/// use corecast_plan::{Operation, cost, smelt};
///
/// let machine = corecast_model::builtin("sandybridge-2x8").unwrap();
/// let costs = machine.costs().subset(&[0, 1, 2, 8, 9, 10, 16, 24]).unwrap();
/// let smelt = smelt::tree(&costs, 0);
/// let unwatched = &mut |_, _| ControlFlow::Continue(());
/// let proof = prove(&costs, Some(0), &smelt, 0.0, Limits::default(), unwatched);
/// assert!(proof.optimal);
/// let best = proof.tree.as_ref().unwrap_or(&smelt);
/// assert_eq!(cost::latency(&costs, best, Operation::Broadcast), proof.lower_bound);
/// ```
#[must_use]
pub fn prove(
    costs: &CostModel,
    root: Option<usize>,
    upper: &Tree,
    lower_bound: f64,
    limits: Limits,
    watch: ProofWatch<'_>,
) -> Proof {
    assert_eq!(
        costs.n(),
        upper.len(),
        "the tree and the cost model are of different teams"
    );
    assert!(
        root.is_none_or(|root| root == upper.root()),
        "the tree has another root"
    );
    let latency = cost::latency(costs, upper, Operation::Broadcast);
    let mut proof = Proof {
        lower_bound: lower_bound.min(latency),
        tree: None,
        optimal: latency <= lower_bound,
        work: 0,
    };
    if latency <= 0.0 {
        proof.optimal = true;
    }
    let too_large = costs.n() > MEMBERS_MAX && limits.work < multipliers::work(costs.n()).0;
    if proof.optimal || too_large {
        return proof;
    }
    let mut best = (latency, upper.clone());
    loop {
        let ticks = Ticks::new(costs, best.0);
        let (before, known) = (best.0, proof.lower_bound);
        let mut prover = Prover {
            latency: ticks.latency(&best.1),
            lower: ticks.at_least(proof.lower_bound),
            ticks: &ticks,
            tree: None,
            limits,
            spent: proof.work,
            quota: 0,
            is_told: false,
            watch: &mut |bound, work| watch(known.max(bound), work),
        };
        prover.run(root);
        proof.optimal = prover.lower >= prover.latency;
        proof.work = prover.spent;
        let bound = f64::from(prover.lower) * ticks.tick;
        proof.lower_bound = proof.lower_bound.max(bound);
        if let Some(tree) = prover.tree {
            let latency = cost::latency(costs, &tree, Operation::Broadcast);
            if latency < best.0 {
                best = (latency, tree);
            }
        }
        proof.lower_bound = proof.lower_bound.min(best.0);
        // Ticks that were small for a bad tree may be long for a good one.
        if ticks.are_exact || best.0 > 0.5 * before || best.0 <= 0.0 || !proof.optimal {
            break;
        }
    }
    if best.0 < latency {
        proof.tree = Some(best.1);
    }
    proof
}

/// Returns the work that multipliers for one root take in a team of n: for a fair bound, and for the best one.
pub(crate) fn pricing(n: usize) -> (u64, u64) {
    multipliers::work(n)
}

/// The state of a proof.
struct Prover<'a> {
    ticks: &'a Ticks,
    /// The latency of the best tree so far, in ticks.
    latency: i32,
    /// The number of ticks that no tree beats.
    lower: i32,
    tree: Option<Tree>,
    limits: Limits,
    spent: u64,
    /// The spent work at which the present pass ends.
    quota: u64,
    /// Whether the watcher has ended the proof.
    is_told: bool,
    watch: ProofWatch<'a>,
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
    fn run(&mut self, root: Option<usize>) {
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
