//! Improvement with kicks, for the changes that no short row of steps can make.
//!
//! After a first [`improve`] a few members, most of them of the critical chain, and every other time
//! the leaves that end late, are cut loose with all that they serve, and each part is put where the
//! whole is fastest; a short `improve` follows, and the result stays if it is no slower (ruin and recreate: Schrimpf et al., *Record breaking
//! optimization results using the ruin and recreate principle*, 2000). That moves many members, so
//! it only counts if it saves enough in all.
//!
//! Work is counted in lists walked and choices come from a fixed seed, so that the result depends
//! on neither the clock nor chance.

use super::draft::Draft;
use super::improve::improve;
use super::vacancy::house_all;
use crate::search::random::Random;

/// Lists that may be walked for one tree in all, 15 to 35 ns each (two-core KVM guest, AMD EPYC at
/// 2.6 GHz, November 2026). With 8,000 and no kicks one insertion on 48 members and one sequence of 20 in 12
/// on 16 members ended more than 5 % above a fresh search, with kicks one sequence in 60.
const WORK: usize = 20_000;
/// Steps without a record after which the first improvement ends.
const PATIENCE: usize = 12;
/// The same after a kick.
const PATIENCE_KICKED: usize = 3;
/// Kicks without a record after which there are no more.
const KICKS_MAX: usize = 100;
/// Most members that a kick cuts loose.
const LOOSE_MAX: usize = 7;
/// How far before the end leaves count as late, as a share of the latency.
const LATE_MAX: f64 = 0.12;
/// How much slower than the record a tree may be after a kick to be worth improving.
const HOPE: f64 = 1.15;
/// What all kicks together must save, as a share of the latency: a plan that runs is not turned
/// over for less.
const GAIN_MIN: f64 = 0.005;

/// Makes the tree faster, with limited work; it never gets slower.
pub(super) fn polish(draft: &mut Draft) {
    let end = draft.walked + WORK;
    improve(draft, PATIENCE, end);
    if draft.len() < 4 {
        return;
    }
    let (root, calm, latency) = (draft.root, draft.parent.clone(), draft.latency());
    let (mut best, mut record) = (calm.clone(), latency);
    let mut random = Random::new(0);
    let mut chain = Vec::new();
    let mut since = 0;
    while draft.walked < end && since < KICKS_MAX {
        since += 1;
        draft.critical(&mut chain);
        kick(draft, &chain, &mut random);
        if draft.latency() < record * HOPE {
            improve(draft, PATIENCE_KICKED, end);
        }
        if draft.latency() < record {
            since = 0;
        }
        if draft.latency() <= record {
            record = draft.latency();
            best.copy_from_slice(&draft.parent);
        } else {
            draft.restore(root, &best);
        }
    }
    let pays = record < latency * (1.0 - GAIN_MIN);
    draft.restore(root, if pays { &best } else { &calm });
}

/// Cuts some members loose, with all that they serve, and finds a parent for each part.
fn kick(draft: &mut Draft, chain: &[usize], random: &mut Random) {
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
        // Whoever ends late as well: a broadcast that is to end sooner must place them all anew.
        let late = draft.latency() * (1.0 - LATE_MAX * (1 + random.below(4)) as f64 / 4.0);
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
    house_all(draft, &mut heads);
}
