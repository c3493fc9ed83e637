//! The limit of work for a change, and what the work is spent on.
//!
//! ```text
//! improve ──► easy change? ── yes ──► few kicks ──────────────┐
//!                   │ no                                      ├──► tree
//!                   └──► construct, improve ──► more kicks ───┘
//! ```
//!
//! A team with one member more that is no slower than before, or with one less that is faster, is
//! about as near to the best as it was: that is an easy change. After any other change the tree may
//! fall behind unnoticed: as members leave, the best latency drops in steps of up to 5 %, at which
//! trees of another form win, and no short sequence of steps leads there. So there is then a second
//! start, the one that every search has. Kicks that find much get more time.
//!
//! All this moves many members, so its result only counts if it saves enough in all.

use super::draft::{NONE, TreeDraft};
use super::improve::improve;
use super::kick::{Best, Kicks};
use super::way::{Direction, LAID_OUT_MAX};
use crate::search::construct;

/// The limits of work, in lists walked, which take some 20 to 30 ns each in teams of up to 48
/// (two-core KVM guest, AMD EPYC at 2.6 GHz, November 2026).
struct Work {
    /// The first improvement ends after this many steps without a record.
    patience: usize,
    /// Work of the kicks after an easy change.
    easy: usize,
    /// Work of the kicks after any other change.
    usual: usize,
    /// Work of the kicks after one that found much.
    more: usize,
    /// Work after which there are no more kicks.
    most: usize,
}

/// The limits for messages from parent to child. On most machines a member sends to any other one in
/// about the same time, so that many trees are good. Without a second start one sequence of 1,400
/// ended 8 % above a fresh search, with it none above 4 %.
const OUTWARD: Work = Work {
    patience: 6,
    easy: 2_000,
    usual: 6_000,
    more: 8_000,
    most: 40_000,
};

/// The limits where messages go from child to parent. What a member fetches blocks it, on most
/// machines several times as long from far as from near: good trees are few and of many forms. With
/// 12,000 instead of 20,000 and with 3,000 after easy changes more sequences ended far above a fresh
/// search, one of them 19 %.
const INWARD: Work = Work {
    patience: 12,
    easy: 4_000,
    usual: 20_000,
    more: 20_000,
    most: 80_000,
};

/// The limits for more than [`LAID_OUT_MAX`] members: each list takes several times as long, and
/// there are more of them.
const LARGE: Work = Work {
    patience: 12,
    easy: 20_000,
    usual: 20_000,
    more: 20_000,
    most: 20_000,
};

/// Smaller teams get more work after easy changes, in proportion: it takes less time there, and a
/// member that joins a small team may call for another tree.
const EASY_MEMBERS: usize = 40;

/// Work of an improvement at most.
const IMPROVE_MAX: usize = 20_000;
/// The share of the latency that a kick or a second start must save to count as much, and that all
/// of them must save for their tree to be taken.
const GAIN_MIN: f64 = 0.005;

/// Makes the tree faster, with limited work; it never gets slower. `easy` is the latency up to which
/// the change counts as easy, if that is known.
pub(super) fn polish(draft: &mut TreeDraft, easy: Option<f64>) {
    let (begin, work) = (draft.walked, work(draft));
    improve(draft, work.patience, begin + IMPROVE_MAX);
    if draft.len() < 4 {
        return;
    }
    let calm = Best::of(draft);
    let mut best = calm.clone();
    let mut left = work.easy.max(work.easy * EASY_MEMBERS / draft.len());
    if easy.is_none_or(|easy| calm.latency > easy) {
        left = work.usual;
        start_afresh(draft, work.patience, &mut best);
    }
    let mut kicks = Kicks::new(best);
    let mut mark = kicks.best.latency;
    let mut end = (draft.walked + left).min(begin + work.most);
    while draft.walked < end {
        let latency = kicks.kick(draft, end);
        if latency < mark * (1.0 - GAIN_MIN) {
            mark = latency;
            end = (draft.walked + work.more).min(begin + work.most);
        }
    }
    let pays = kicks.best.latency < calm.latency * (1.0 - GAIN_MIN);
    let result = if pays { &kicks.best } else { &calm };
    result.restore(draft);
}

fn work(draft: &TreeDraft) -> &'static Work {
    match draft.way().direction() {
        _ if draft.len() > LAID_OUT_MAX => &LARGE,
        Direction::Outward => &OUTWARD,
        Direction::Inward | Direction::Both => &INWARD,
    }
}

/// Makes the improved tree of [`construct`] the best one, if it is clearly better. Large teams have
/// no second start.
fn start_afresh(draft: &mut TreeDraft, patience: usize, best: &mut Best) {
    if let Some(costs) = draft.way().model() {
        let tree = construct(&costs, Some(draft.root));
        let parents = (0..draft.len()).map(|v| tree.parent(v).unwrap_or(NONE));
        let parents: Vec<usize> = parents.collect();
        draft.restore(draft.root, &parents);
        improve(draft, patience, draft.walked + IMPROVE_MAX);
        if draft.latency() < best.latency * (1.0 - GAIN_MIN) {
            *best = Best::of(draft);
        }
        best.restore(draft);
    }
}
