//! Kicks, for the changes that no short row of steps can make.
//!
//! A few members, most of them of the critical chain, and every other time the leaves that end late,
//! are cut loose with all that they serve, and each part is put where the whole is fastest; every
//! other time one of them is put anywhere before. A short [`improve`] follows (ruin and recreate:
//! Schrimpf et al., *Record breaking optimization results using the ruin and recreate principle*,
//! 2000). The next kick begins there unless it is much slower than the best (record-to-record
//! travel: Dueck, *New optimization heuristics*, 1993).
//!
//! Choices come from a fixed seed, so that the result does not depend on chance.

use super::draft::TreeDraft;
use super::improve::improve;
use super::vacancy::house_all;
use crate::search::random::Random;

/// Steps without a record after which the improvement after a kick ends.
const PATIENCE: usize = 3;
/// Most members that a kick cuts loose, without late leaves.
const LOOSE_MAX: usize = 7;
/// How far before the end leaves count as late, as a share of the latency.
const LATE_MAX: f64 = 0.12;
/// How much slower than the best a tree may be after a kick to be worth improving.
const HOPE: f64 = 1.15;
/// How much slower than the best a tree may be for the next kick to begin there. Of 0, 1 and 3 % the
/// one with the fewest sequences more than 4 % above a fresh search.
const ASTRAY_MAX: f64 = 1.03;
/// Every so many kicks begin at the best again.
const TOUR: usize = 8;
/// How much dearer than the cheapest message one to a near parent may be.
const NEAR: f64 = 1.3;

/// A tree to come back to.
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

/// A walk from tree to tree.
pub(super) struct Kicks {
    pub(super) best: Best,
    /// Where the next kick begins.
    here: Best,
    count: usize,
    random: Random,
    chain: Vec<usize>,
}

impl Kicks {
    /// A walk that begins at the tree of the draft.
    pub(super) fn new(best: Best) -> Self {
        Self {
            here: best.clone(),
            best,
            count: 0,
            random: Random::new(0),
            chain: Vec::new(),
        }
    }

    /// One kick and what follows, until `end` lists have been walked in all; the latency of where
    /// it led.
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
            // Whoever ends late as well: a broadcast that is to end sooner must place them anew.
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

/// Puts a part below any member, every other time below one of those that are near: to put each
/// part at its best leads back to the same tree too often.
fn mislay(draft: &mut TreeDraft, x: usize, random: &mut Random) {
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
