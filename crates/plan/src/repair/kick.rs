//! Kicks, for improvements that no short sequence of steps can make.
//!
//! A few members, most of them of the critical chain, and every other time the leaves that end late,
//! are cut loose with all that they serve, and each part is put where the whole is fastest; every
//! other time one of them is put anywhere before. A short [`improve`] follows (ruin and recreate:
//! Schrimpf et al., *Record breaking optimization results using the ruin and recreate principle*,
//! 2000). The next kick begins there unless it is much slower than the best (record-to-record
//! travel: Dueck, *New optimization heuristics*, 1993).
//!
//! Choices come from a generator with a fixed seed, so that the result is always the same.

use super::draft::TreeDraft;
use super::improve::improve;
use super::vacancy::house_all;
use crate::random::SplitMix64;

/// The improvement after a kick ends after this many steps without a record.
const PATIENCE: usize = 3;
/// Most members that a kick cuts loose, besides late leaves.
const LOOSE_MAX: usize = 7;
/// Leaves count as late in this last share of the latency.
const LATE_MAX: f64 = 0.12;
/// A tree after a kick is improved if it is at most this many times as slow as the best.
const HOPE: f64 = 1.15;
/// The next kick begins at a tree that is at most this many times as slow as the best. Of 0, 1 and 3
/// % this has the fewest sequences more than 4 % above a fresh search.
const ASTRAY_MAX: f64 = 1.03;
/// After this many kicks the next one begins at the best tree again.
const TOUR: usize = 8;
/// A parent is near if its message costs at most this many times the cheapest one.
const NEAR: f64 = 1.3;

/// A tree that can be restored.
#[derive(Clone)]
pub(super) struct Best {
    root: usize,
    parent: Vec<usize>,
    pub(super) latency: f64,
}

impl Best {
    pub(super) fn of(draft: &TreeDraft) -> Self {
        Self {
            root: draft.root,
            parent: draft.parent.clone(),
            latency: draft.latency(),
        }
    }

    fn take(&mut self, draft: &TreeDraft) {
        self.parent.copy_from_slice(&draft.parent);
        self.latency = draft.latency();
    }

    pub(super) fn restore(&self, draft: &mut TreeDraft) {
        draft.restore(self.root, &self.parent);
    }
}

/// A walk from tree to tree by kicks.
pub(super) struct Kicks {
    pub(super) best: Best,
    /// The tree at which the next kick begins.
    here: Best,
    count: usize,
    random: SplitMix64,
    chain: Vec<usize>,
}

impl Kicks {
    /// Starts a walk at a tree.
    pub(super) fn new(best: Best) -> Self {
        Self {
            here: best.clone(),
            best,
            count: 0,
            random: SplitMix64::new(0),
            chain: Vec::new(),
        }
    }

    /// Makes one kick with the improvement that follows, until `end` lists have been walked in all.
    /// Returns the latency of the tree that it led to.
    pub(super) fn kick(&mut self, draft: &mut TreeDraft, end: usize) -> f64 {
        self.ruin(draft);
        if draft.latency() < self.best.latency * HOPE {
            improve(draft, PATIENCE, end);
        }
        self.count += 1;
        let latency = draft.latency();
        if latency <= self.best.latency {
            self.best.take(draft);
            self.here.take(draft);
        } else if self.count.is_multiple_of(TOUR) {
            self.here.clone_from(&self.best);
            self.here.restore(draft);
        } else if latency <= self.best.latency * ASTRAY_MAX {
            self.here.take(draft);
        } else {
            self.here.restore(draft);
        }
        latency
    }

    /// Cuts some members loose, with all that they serve, and finds a parent for each part.
    fn ruin(&mut self, draft: &mut TreeDraft) {
        draft.critical(&mut self.chain);
        let (chain, random) = (&self.chain, &mut self.random);
        let mut loose = vec![chain[random.below(chain.len())]];
        let more = 2 + random.below((LOOSE_MAX - 2).min(draft.len() / 2));
        for _ in 0..more {
            let y = match random.below(2) {
                0 => chain[random.below(chain.len())],
                _ => random.below(draft.len()),
            };
            if y != draft.root && !loose.contains(&y) {
                loose.push(y);
            }
        }
        if random.below(2) == 0 {
            // Late leaves are cut loose as well: to end sooner, the broadcast must place them anew.
            let share = LATE_MAX * (1 + random.below(4)) as f64 / 4.0;
            let late = draft.latency() * (1.0 - share);
            draft.look();
            let late = |&y: &usize| draft.lists[y].is_empty() && draft.avail[y] > late;
            let others = (0..draft.len()).filter(late).filter(|y| !loose.contains(y));
            let others: Vec<usize> = others.collect();
            loose.extend(others);
        }
        let mut heads = loose.clone();
        for &y in &loose {
            for c in draft.lists[y].clone() {
                draft.detach(c);
                if !loose.contains(&c) {
                    heads.push(c);
                }
            }
        }
        for &y in &loose {
            draft.detach(y);
        }
        if random.below(2) == 0 {
            mislay(draft, loose[0], random);
            heads.swap_remove(0);
        }
        house_all(draft, &mut heads);
    }
}

/// Puts a part below any member, every other time below a near one: if every part went to its best
/// place, the same tree would come back too often.
fn mislay(draft: &mut TreeDraft, x: usize, random: &mut SplitMix64) {
    let price = |draft: &TreeDraft, q: usize| {
        let (send, receive) = draft.pair(q, x);
        send + receive
    };
    let limit = if random.below(2) == 0 {
        let all = (0..draft.len()).filter(|&q| q != x);
        NEAR * all.map(|q| price(draft, q)).fold(f64::INFINITY, f64::min)
    } else {
        f64::INFINITY
    };
    let may = |&q: &usize| price(draft, q) <= limit && draft.is_above(draft.root, q);
    let homes: Vec<usize> = (0..draft.len()).filter(may).collect();
    let home = match homes.len() {
        0 => draft.root,
        n => homes[random.below(n)],
    };
    draft.attach(x, home);
}
