//! The repair of the trees of a team that has changed.

use corecast_model::CostModel;

use super::change::Change;
use super::draft::{NONE, TreeDraft};
use super::polish::polish;
use super::vacancy::{Vacancy, house};
use super::way::{Direction, ParentCosts};
use crate::cost;
use crate::operation::Operation;
use crate::tree::Tree;

/// The share by which a broadcast without the member must be faster to count as such, which is more
/// than rounding.
const FALL_MIN: f64 = 1e-4;
/// The share by which a reduction without the member must be faster to count as such. With 0.0001
/// seven sequences of 1,400 ended more than 5 % above a fresh search, with this two of 2,800.
const FALL_MIN_INWARD: f64 = 0.01;

/// Repairs the tree of a plan with a single one; `was` is its latency before the change.
pub(super) fn one_tree(
    costs: &CostModel,
    tree: &Tree,
    operation: Operation,
    change: Change,
    was: f64,
) -> Tree {
    // The latency of a barrier does not say what each direction took.
    let easy = match (operation, change) {
        (Operation::Barrier, _) => None,
        (Operation::Reduce, Change::Left(_)) => Some(was * (1.0 - FALL_MIN_INWARD)),
        (_, Change::Left(_)) => Some(was * (1.0 - FALL_MIN)),
        (_, Change::Joined(_)) => Some(was),
    };
    let repaired = |direction| {
        let mut drafts = [adapted(costs, direction, tree, change)];
        repair(&mut drafts, easy);
        let [(draft, _)] = drafts;
        Tree::by_construction(draft.root, draft.lists)
    };
    match operation {
        Operation::Broadcast => repaired(Direction::Outward),
        Operation::Reduce => repaired(Direction::Inward).reversed(),
        Operation::Barrier => {
            // Which direction decides differs from machine to machine, so all are tried.
            let [first, rest @ ..] =
                [Direction::Both, Direction::Outward, Direction::Inward].map(repaired);
            let latency = |tree: &Tree| cost::latency(costs, tree, Operation::Barrier);
            rest.into_iter().fold(first, |best, tree| {
                if latency(&tree) < latency(&best) {
                    tree
                } else {
                    best
                }
            })
        }
    }
}

/// Repairs a barrier's fan-in and fan-out, which keep one root.
pub(super) fn two_trees(
    costs: &CostModel,
    fan_in: &Tree,
    fan_out: &Tree,
    change: Change,
) -> (Tree, Tree) {
    let mut drafts = [
        adapted(costs, Direction::Inward, fan_in, change),
        adapted(costs, Direction::Outward, fan_out, change),
    ];
    repair(&mut drafts, None);
    let [fan_in, fan_out] = drafts.map(|(draft, _)| Tree::by_construction(draft.root, draft.lists));
    (fan_in.reversed(), fan_out)
}

/// What a tree lacks after a change.
enum Gap {
    /// The place of the member that left is empty.
    Vacancy(Vacancy),
    /// The newcomer has no place yet.
    Newcomer(usize),
}

/// Returns the tree with new ranks, and what it lacks.
fn adapted<'a>(
    costs: &'a CostModel,
    direction: Direction,
    tree: &Tree,
    change: Change,
) -> (TreeDraft<'a>, Gap) {
    let new = |rank: usize| change.new_rank(rank);
    let gone = match change {
        Change::Left(rank) => rank,
        Change::Joined(_) => NONE,
    };
    let mut parent = vec![NONE; costs.n()];
    for rank in (0..tree.len()).filter(|&rank| rank != gone) {
        if let Some(p) = tree.parent(rank).filter(|&p| p != gone) {
            parent[new(rank)] = new(p);
        }
    }
    // Where the root has left, any member stands for it until a successor is found.
    let root = if tree.root() == gone {
        0
    } else {
        new(tree.root())
    };
    let draft = TreeDraft::new(ParentCosts::new(costs, direction), root, &parent);
    let gap = match change {
        Change::Joined(rank) => Gap::Newcomer(rank),
        Change::Left(rank) => Gap::Vacancy(Vacancy {
            parent,
            place: tree.parent(rank).map(new),
            children: tree.children(rank).iter().map(|&c| new(c)).collect(),
        }),
    };
    (draft, gap)
}

/// Completes trees that share a root, and makes them fast; for `easy` see [`polish`].
fn repair(drafts: &mut [(TreeDraft, Gap)], easy: Option<f64>) {
    let rootless =
        |(_, gap): &(TreeDraft, Gap)| matches!(gap, Gap::Vacancy(v) if v.place.is_none());
    if drafts.iter().any(rootless) {
        succeed_root(drafts);
    } else {
        for (draft, gap) in drafts.iter_mut() {
            match gap {
                Gap::Newcomer(rank) => house(draft, *rank),
                Gap::Vacancy(vacancy) => vacancy.fill(draft),
            }
        }
    }
    for (draft, _) in drafts {
        polish(draft, easy);
    }
}

/// Chooses as root the member with which all trees together are fastest, among those that suit the
/// place best.
fn succeed_root(drafts: &mut [(TreeDraft, Gap)]) {
    let mut ratings: Vec<(f64, usize)> = Vec::new();
    for (draft, gap) in drafts.iter_mut() {
        let Gap::Vacancy(vacancy) = gap else { continue };
        let more = vacancy.ratings(draft);
        if ratings.is_empty() {
            ratings = more;
        } else {
            let sums = ratings.iter_mut().zip(more);
            sums.for_each(|(sum, (rating, _))| sum.0 += rating);
        }
    }
    let mut all = |s: usize| {
        let mut latency = 0.0;
        for (draft, gap) in drafts.iter_mut() {
            let Gap::Vacancy(vacancy) = gap else { continue };
            vacancy.succeed(draft, s);
            latency += draft.latency();
        }
        latency
    };
    let mut best = (f64::INFINITY, 0);
    for s in Vacancy::shortlist(ratings, true) {
        let latency = all(s);
        if latency < best.0 {
            best = (latency, s);
        }
    }
    all(best.1);
}
