//! The replacement of a member that left.

use super::draft::{NONE, TreeDraft};

/// The number of successors that are tried, of those that look best.
const TRIALS: usize = 4;
/// The number of successors that are tried where the root has left, whose place matters most.
const TRIALS_ROOT: usize = 8;

/// A tree without the member that left.
pub(super) struct Vacancy {
    /// The parent of each member that is left; the children of the member that left have none.
    pub(super) parent: Vec<usize>,
    /// The parent of the member that left; `None` for the root.
    pub(super) place: Option<usize>,
    /// The children of the member that left.
    pub(super) children: Vec<usize>,
}

impl Vacancy {
    /// Estimates for each member how long its part would take in that place. Only the member itself
    /// and the children that it would have are looked at.
    pub(super) fn ratings(&self, draft: &mut TreeDraft) -> Vec<(f64, usize)> {
        let mut ratings = Vec::with_capacity(draft.len());
        for s in 0..draft.len() {
            // A member above the place cannot move below it.
            if self.place.is_none_or(|p| !draft.is_above(s, p)) {
                ratings.push((self.rating(draft, s), s));
            }
        }
        ratings
    }

    fn rating(&self, draft: &mut TreeDraft, s: usize) -> f64 {
        draft.walked += 1;
        let mut served = Vec::with_capacity(self.children.len());
        let old = if self.children.contains(&s) {
            draft.lists[s].as_slice()
        } else {
            &[]
        };
        for &c in self.children.iter().chain(old).filter(|&&c| c != s) {
            let (send, receive) = draft.pair(s, c);
            served.push((receive + draft.below(c), send));
        }
        served.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let (mut clock, mut last) = (0.0, 0.0_f64);
        for (tail, send) in served {
            clock += send;
            last = last.max(clock + tail);
        }
        self.place.map_or(last, |p| {
            let (send, receive) = draft.pair(p, s);
            last + send + receive
        })
    }

    /// Returns the members to try, by rating, ties by rank.
    pub(super) fn shortlist(mut ratings: Vec<(f64, usize)>, root: bool) -> Vec<usize> {
        let most = if root { TRIALS_ROOT } else { TRIALS };
        ratings.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        ratings.iter().take(most).map(|&(_, s)| s).collect()
    }

    /// Fills the place of a member other than the root in the best way of a few: its children find
    /// parents one by one, or another member takes its place.
    pub(super) fn fill(&self, draft: &mut TreeDraft) {
        let ratings = self.ratings(draft);
        let mut heads = self.children.clone();
        house_all(draft, &mut heads);
        let (mut least, mut best) = (draft.latency(), draft.parent.clone());
        if !self.children.is_empty() {
            for s in Self::shortlist(ratings, false) {
                self.succeed(draft, s);
                if draft.latency() < least {
                    least = draft.latency();
                    best.copy_from_slice(&draft.parent);
                }
            }
        }
        draft.restore(draft.root, &best);
    }

    /// Gives the place to s. The children of s, unless s was a child of the member that left, find
    /// parents one by one.
    pub(super) fn succeed(&self, draft: &mut TreeDraft, s: usize) {
        draft.restore(draft.root, &self.parent);
        let mut heads = Vec::new();
        if !self.children.contains(&s) {
            heads = draft.lists[s].clone();
            heads.iter().for_each(|&c| draft.detach(c));
            draft.detach(s);
        }
        match self.place {
            Some(p) => draft.attach(s, p),
            None => draft.root = s,
        }
        for &c in self.children.iter().filter(|&&c| c != s) {
            draft.attach(c, s);
        }
        house_all(draft, &mut heads);
    }
}

/// Finds a parent for each of these parts, the longest first.
pub(super) fn house_all(draft: &mut TreeDraft, heads: &mut [usize]) {
    heads.sort_unstable_by(|&a, &b| draft.below(b).total_cmp(&draft.below(a)).then(a.cmp(&b)));
    for &x in heads.iter() {
        house(draft, x);
    }
}

/// Puts a part where the whole is fastest.
pub(super) fn house(draft: &mut TreeDraft, x: usize) {
    draft.look();
    let home = draft.best_home(x, NONE, f64::INFINITY);
    let home = home.map_or(draft.root, |(home, _)| home);
    draft.attach(x, home);
}
