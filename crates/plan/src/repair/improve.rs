//! Bounded local improvement: a tabu search along the critical chain.
//!
//! Only a change of the chain of messages that ends last can make a broadcast faster: each step
//! takes one member x of it, or an elder sibling that holds it up, and
//!
//! - **moves** the part of x below another parent, or, where no move pays,
//! - **trades** it for the part of some y, or **exchanges** x and y alone;
//!
//! the best of all these is done. Where nothing pays, the move that costs least is done anyway and
//! who moved stays for a few steps (Glover, *Tabu search*, 1989): two chains of nearly the same
//! length cannot both be shortened by one step. The best tree on the way is the result.
//!
//! Work is counted in lists walked, so that the result does not depend on the clock.

use super::draft::{NONE, TreeDraft};

/// The share of the latency that a step must save to count, which is more than rounding.
const GAIN_MIN: f64 = 1e-6;
/// Steps for which a changed member stays, unless its change gives a new record. Of 3, 4, 6 and 10
/// this has the least worst case over 150 random sequences on three machines of the public
/// database.
const TENURE: usize = 6;
#[derive(Clone, Copy)]
enum ImproveSteps {
    Move { x: usize, to: usize },
    Trade { x: usize, y: usize },
    Exchange { x: usize, y: usize },
}

/// Makes the tree faster until `patience` steps in a row were no record or `end` lists have been
/// walked in all; it never gets slower.
pub(super) fn improve(draft: &mut TreeDraft, patience: usize, end: usize) {
    let mut search = ImproveSearch {
        record: draft.latency(),
        step: 0,
        free_at: vec![0; draft.len()],
        chain: Vec::new(),
        end,
    };
    let mut best = draft.parent.clone();
    let mut stalled = 0;
    while draft.walked < end && stalled < patience {
        search.step += 1;
        stalled += 1;
        draft.critical(&mut search.chain);
        if let Some(step) = search.best_step(draft) {
            search.take(draft, step);
        }
        if draft.latency() < search.record * (1.0 - GAIN_MIN) {
            search.record = draft.latency();
            best.copy_from_slice(&draft.parent);
            stalled = 0;
        }
    }
    if draft.parent != best {
        draft.restore(draft.root, &best);
    }
}

struct ImproveSearch {
    /// The least latency so far.
    record: f64,
    step: usize,
    /// For each member the step from which on it may change again.
    free_at: Vec<usize>,
    /// The members to change, see [`TreeDraft::critical`].
    chain: Vec<usize>,
    /// The number of walked lists at which to stop.
    end: usize,
}

impl ImproveSearch {
    /// Returns the latency that a step with x must stay below.
    fn limit(&self, x: usize, limit: f64) -> f64 {
        if self.step < self.free_at[x] {
            limit.min(self.record * (1.0 - GAIN_MIN))
        } else {
            limit
        }
    }

    fn take(&mut self, draft: &mut TreeDraft, step: ImproveSteps) {
        let (x, y) = match step {
            ImproveSteps::Move { x, to } => {
                draft.detach(x);
                draft.attach(x, to);
                (x, x)
            }
            ImproveSteps::Trade { x, y } => {
                draft.trade(x, y);
                (x, y)
            }
            ImproveSteps::Exchange { x, y } => {
                draft.exchange(x, y);
                (x, y)
            }
        };
        self.free_at[x] = self.step + TENURE;
        self.free_at[y] = self.step + TENURE;
    }

    /// Returns the best move if it pays, else the best trade or exchange that pays, else the best
    /// move.
    fn best_step(&self, draft: &mut TreeDraft) -> Option<ImproveSteps> {
        let now = draft.latency() * (1.0 - GAIN_MIN);
        let (mut best, mut least) = (None, f64::INFINITY);
        for &x in &self.chain {
            if let Some((to, latency)) = moved(draft, x, self.limit(x, least)) {
                (best, least) = (Some(ImproveSteps::Move { x, to }), latency);
            }
            if draft.walked >= self.end {
                return best;
            }
        }
        if least < now {
            return best;
        }
        least = now;
        draft.look();
        for &x in &self.chain {
            draft.glance();
            for y in 0..draft.len() {
                let limit = self.limit(x, self.limit(y, least));
                if draft.parent[y] == NONE || draft.parent[x] == draft.parent[y] {
                    continue;
                }
                if let Some(latency) = traded(draft, x, y, limit) {
                    (best, least) = (Some(ImproveSteps::Trade { x, y }), latency);
                }
                if let Some(latency) = exchanged(draft, x, y, limit.min(least)) {
                    (best, least) = (Some(ImproveSteps::Exchange { x, y }), latency);
                }
            }
            if draft.walked >= self.end {
                return best;
            }
        }
        best
    }
}

/// Returns the best other parent for x and the latency with it, if that is below the limit.
fn moved(draft: &mut TreeDraft, x: usize, limit: f64) -> Option<(usize, f64)> {
    let old = draft.parent[x];
    draft.detach(x);
    let home = if draft.latency() < limit {
        draft.look();
        draft.best_home(x, old, limit)
    } else {
        None
    };
    draft.attach(x, old);
    home
}

/// Returns the latency when the parts of x and y change places, if it is below the limit.
fn traded(draft: &mut TreeDraft, x: usize, y: usize, limit: f64) -> Option<f64> {
    let (p, q) = (draft.parent[x], draft.parent[y]);
    if draft.soonest(p, y) >= limit
        || draft.soonest(q, x) >= limit
        || draft.with_part_of(x, y) >= limit
        || draft.with_part_of(y, x) >= limit
        || draft.is_above(x, y)
        || draft.is_above(y, x)
    {
        return None;
    }
    draft.trade(x, y);
    let latency = draft.latency();
    draft.trade(x, y);
    (latency < limit).then_some(latency)
}

/// Returns the latency when x and y alone change places, if it is below the limit.
fn exchanged(draft: &mut TreeDraft, x: usize, y: usize, limit: f64) -> Option<f64> {
    if draft.with_name_of(x, y) >= limit || draft.with_name_of(y, x) >= limit {
        return None;
    }
    draft.exchange(x, y);
    let latency = draft.latency();
    draft.exchange(x, y);
    (latency < limit).then_some(latency)
}
