//! A broadcast tree that is being changed: every list in its best order, every time exact.
//!
//! ```text
//!          v            lists[v] = [a, b, c], by falling tail
//!        ╱ │ ╲
//!       a  b  c         tail[c]  = receive(v, c) + below[c]
//!                       below[v] = max over k of send[a] + … + send[k] + tail[k]
//! ```
//!
//! Invariants, between any two calls:
//!
//! 1. `lists` and `parent` agree; members without a parent are the root and heads of detached parts;
//! 2. `send` and `receive` of a member are the costs of the message from its parent;
//! 3. lists are in falling order of `tail`, ties by rank: the best order for these edges, see
//!    [`crate::order`];
//! 4. `below` is exact, so `below[root]` is the latency of the root's part.
//!
//! `avail` has the times of the last [`TreeDraft::look`]. Members outside of the root's part have
//! infinite ones.

use super::way::ParentCosts;

/// The parent of a member that has none.
pub(super) const NONE: usize = usize::MAX;

/// The times of a member and of all below it. They lie side by side, because walks along lists need
/// most of them.
#[derive(Clone, Copy, Default)]
struct SubtreeTimes {
    /// The time for which the parent is blocked to send to this member.
    send: f64,
    /// The time for which this member is blocked to receive.
    receive: f64,
    /// The time from the end of the send until all below this member have the value.
    tail: f64,
    /// The time from when this member has the value until all below it have it.
    below: f64,
}

pub(super) struct TreeDraft<'a> {
    way: ParentCosts<'a>,
    pub(super) root: usize,
    pub(super) parent: Vec<usize>,
    pub(super) lists: Vec<Vec<usize>>,
    parts: Vec<SubtreeTimes>,
    pub(super) avail: Vec<f64>,
    /// Members with parents before children; scratch memory.
    order: Vec<usize>,
    /// The number of lists that were walked so far, which measures the work.
    pub(super) walked: usize,
}

impl<'a> TreeDraft<'a> {
    /// Makes the forest in which each member has the given parent.
    pub(super) fn new(way: ParentCosts<'a>, root: usize, parent: &[usize]) -> Self {
        let n = parent.len();
        let mut draft = Self {
            way,
            root,
            parent: vec![NONE; n],
            lists: vec![Vec::new(); n],
            parts: vec![SubtreeTimes::default(); n],
            avail: vec![f64::INFINITY; n],
            order: Vec::with_capacity(n),
            walked: 0,
        };
        draft.restore(root, parent);
        draft
    }

    /// Changes it into the forest in which each member has the given parent.
    pub(super) fn restore(&mut self, root: usize, parent: &[usize]) {
        self.root = root;
        self.lists.iter_mut().for_each(Vec::clear);
        self.order.clear();
        for (c, &p) in parent.iter().enumerate() {
            self.parent[c] = p;
            if p == NONE {
                self.order.push(c);
            } else {
                self.lists[p].push(c);
                self.price(c);
            }
        }
        let mut next = 0;
        while next < self.order.len() {
            self.order.extend_from_slice(&self.lists[self.order[next]]);
            next += 1;
        }
        for at in (0..self.order.len()).rev() {
            self.settle(self.order[at]);
        }
    }

    /// Returns the number of members.
    pub(super) fn len(&self) -> usize {
        self.parent.len()
    }

    /// Returns the latency of the root's part.
    pub(super) fn latency(&self) -> f64 {
        self.parts[self.root].below
    }

    pub(super) fn way(&self) -> &ParentCosts<'a> {
        &self.way
    }

    /// Returns the time from when x has the value until all below it have it.
    pub(super) fn below(&self, x: usize) -> f64 {
        self.parts[x].below
    }

    /// Returns what the message from parent v to child c costs v, and what it costs c.
    #[inline]
    pub(super) fn pair(&self, v: usize, c: usize) -> (f64, f64) {
        self.way.pair(v, c)
    }

    /// Looks up the costs of the message from the parent of c.
    #[inline]
    fn price(&mut self, c: usize) {
        let (send, receive) = self.pair(self.parent[c], c);
        self.parts[c].send = send;
        self.parts[c].receive = receive;
    }

    /// Puts the list of v into its best order and recomputes what is below v. Returns whether that
    /// changed.
    fn settle(&mut self, v: usize) -> bool {
        self.walked += 1;
        let (parts, list) = (&self.parts, &mut self.lists[v]);
        // The list is sorted by insertion: lists are short, and mostly in order already.
        for at in 1..list.len() {
            let c = list[at];
            let tail = parts[c].tail;
            let mut to = at;
            while to > 0 {
                let before = list[to - 1];
                if parts[before].tail > tail || (parts[before].tail == tail && before < c) {
                    break;
                }
                list[to] = before;
                to -= 1;
            }
            list[to] = c;
        }
        let (mut clock, mut last) = (0.0, 0.0_f64);
        for &c in list.iter() {
            clock += self.parts[c].send;
            last = last.max(clock + self.parts[c].tail);
        }
        let changed = self.parts[v].below != last;
        self.parts[v].below = last;
        self.parts[v].tail = self.parts[v].receive + last;
        changed
    }

    /// Settles v, its parent, and on towards the root while anything changes.
    fn settle_up(&mut self, v: usize) {
        self.settle(v);
        let mut at = self.parent[v];
        while at != NONE && self.settle(at) {
            at = self.parent[at];
        }
    }

    /// Cuts off the part with head x; a head is left as it is.
    pub(super) fn detach(&mut self, x: usize) {
        let p = std::mem::replace(&mut self.parent[x], NONE);
        if p != NONE {
            self.lists[p].retain(|&c| c != x);
            self.settle_up(p);
        }
    }

    /// Makes a head a child of p, which is in another part.
    pub(super) fn attach(&mut self, x: usize, p: usize) {
        self.parent[x] = p;
        self.price(x);
        self.lists[p].push(x);
        self.settle_up(x);
    }

    /// Lets two members, neither of them a head, change places: each gets the other's parent and
    /// children. A second call undoes the first.
    pub(super) fn exchange(&mut self, x: usize, y: usize) {
        let (x, y) = if self.parent[x] == y { (y, x) } else { (x, y) };
        let (above_x, above_y) = (self.parent[x], self.parent[y]);
        self.lists.swap(x, y);
        if above_x != above_y {
            swap_name(&mut self.lists[above_x], x, y);
            // When x was the parent of y, its list is now that of y.
            let at = if above_y == x { y } else { above_y };
            swap_name(&mut self.lists[at], y, x);
        }
        self.parent[x] = if above_y == x { y } else { above_y };
        self.parent[y] = above_x;
        for v in [x, y] {
            for at in 0..self.lists[v].len() {
                let c = self.lists[v][at];
                self.parent[c] = v;
                self.price(c);
                self.parts[c].tail = self.parts[c].receive + self.parts[c].below;
            }
            self.price(v);
        }
        self.settle_up(x);
        self.settle_up(y);
    }

    /// Lets two members, neither above the other, change parents; their children go with them. A
    /// second call undoes the first.
    pub(super) fn trade(&mut self, x: usize, y: usize) {
        let (p, q) = (self.parent[x], self.parent[y]);
        self.detach(x);
        self.detach(y);
        self.attach(x, q);
        self.attach(y, p);
    }

    /// Returns a time before which not all below x can be done if q serves it: as if q served x
    /// first.
    #[inline]
    pub(super) fn soonest(&self, q: usize, x: usize) -> f64 {
        let (send, receive) = self.pair(q, x);
        self.avail[q] + send + receive + self.parts[x].below
    }

    /// Returns about when the part of x's parent would be done with the part of y in place of that
    /// of x; infinite when that is certainly no sooner.
    #[inline]
    pub(super) fn with_part_of(&mut self, x: usize, y: usize) -> f64 {
        let (send, receive) = self.pair(self.parent[x], y);
        self.instead(x, send, receive + self.parts[y].below)
    }

    /// Returns about when the part of x's parent would be done if y stood in the place of x and
    /// served its children in their order; infinite when that is certainly no sooner.
    pub(super) fn with_name_of(&mut self, x: usize, y: usize) -> f64 {
        let p = self.parent[x];
        if p == y || self.parent[y] == x {
            // One of the two is the other's parent, where this estimate does not apply.
            return 0.0;
        }
        let (mut clock, mut last) = (0.0, 0.0_f64);
        for &c in &self.lists[x] {
            let (send, receive) = self.pair(y, c);
            clock += send;
            last = last.max(clock + receive + self.parts[c].below);
        }
        let (send, receive) = self.pair(p, y);
        self.instead(x, send, receive + last)
    }

    #[inline]
    fn instead(&mut self, x: usize, send: f64, tail: f64) -> f64 {
        if send >= self.parts[x].send && tail >= self.parts[x].tail {
            return f64::INFINITY;
        }
        let p = self.parent[x];
        self.avail[p] + self.below_with(p, x, send, tail)
    }

    /// Records when each member of the root's part has the value.
    pub(super) fn look(&mut self) {
        self.avail.fill(f64::INFINITY);
        self.avail[self.root] = 0.0;
        self.order.clear();
        self.order.push(self.root);
        let mut next = 0;
        while next < self.order.len() {
            let v = self.order[next];
            let mut clock = self.avail[v];
            for &c in &self.lists[v] {
                clock += self.parts[c].send;
                self.avail[c] = clock + self.parts[c].receive;
                self.order.push(c);
            }
            next += 1;
        }
    }

    /// Returns the parent other than `not` below which the detached part of x gives the least
    /// latency, with that latency; `None` when none is below `limit`.
    ///
    /// Where x's part does not decide the latency, many parents give the same one. Then that parent
    /// is taken whose own part is done first, ties by the lower rank. The times are those of the
    /// last [`TreeDraft::look`].
    pub(super) fn best_home(&mut self, x: usize, not: usize, limit: f64) -> Option<(usize, f64)> {
        let (mut best, mut least, mut least_done) = (None, limit, f64::NEG_INFINITY);
        self.glance();
        for q in 0..self.len() {
            let (send, receive) = self.pair(q, x);
            // A time before which x cannot be done below q: as if q served it first.
            let soonest = self.avail[q] + send + receive + self.parts[x].below;
            if q == not || soonest > least || (soonest == least && best.is_none()) {
                continue;
            }
            let (latency, below) = self.latency_with(q, send, receive + self.parts[x].below);
            let done = self.avail[q] + below;
            if latency < least || (latency == least && done < least_done) {
                (best, least, least_done) = (Some((q, latency)), latency, done);
            }
        }
        best
    }

    /// Counts the work of a look at all members. A look without result takes an eighth of a walk for
    /// each member, and two walks where the costs do not fit the near caches.
    pub(super) fn glance(&mut self) {
        self.walked += match self.len() {
            n @ ..=128 => n / 8,
            n => 2 * n,
        };
    }

    /// Returns the latency with one more child of q, and what is then below q.
    fn latency_with(&mut self, q: usize, send: f64, tail: f64) -> (f64, f64) {
        let below_q = self.below_with(q, NONE, send, tail);
        let (mut v, mut below) = (q, below_q);
        while below > self.parts[v].below {
            let p = self.parent[v];
            if p == NONE {
                return (below, below_q);
            }
            below = self.below_with(p, v, self.parts[v].send, self.parts[v].receive + below);
            v = p;
        }
        (self.latency(), below_q)
    }

    /// Returns what would be below v if its child `skip` had this send and tail, or, without such a
    /// child, if one with them came in addition.
    fn below_with(&mut self, v: usize, skip: usize, send: f64, tail: f64) -> f64 {
        self.walked += 1;
        let (mut clock, mut last) = (0.0, 0.0_f64);
        let mut open = true;
        for &c in &self.lists[v] {
            if c == skip {
                continue;
            }
            if open && tail > self.parts[c].tail {
                open = false;
                clock += send;
                last = last.max(clock + tail);
            }
            clock += self.parts[c].send;
            last = last.max(clock + self.parts[c].tail);
        }
        if open {
            last = last.max(clock + send + tail);
        }
        last
    }

    /// Lists the members that decide the latency: along the way to the member that finishes last,
    /// those on it and their elder siblings.
    pub(super) fn critical(&self, chain: &mut Vec<usize>) {
        chain.clear();
        let mut v = self.root;
        while !self.lists[v].is_empty() {
            let (mut clock, mut worst, mut at) = (0.0, f64::NEG_INFINITY, 0);
            for (k, &c) in self.lists[v].iter().enumerate() {
                clock += self.parts[c].send;
                if clock + self.parts[c].tail > worst {
                    worst = clock + self.parts[c].tail;
                    at = k;
                }
            }
            chain.extend_from_slice(&self.lists[v][..=at]);
            v = self.lists[v][at];
        }
    }

    /// Whether v is x or above it.
    #[inline]
    pub(super) fn is_above(&self, v: usize, x: usize) -> bool {
        let mut at = x;
        while at != NONE {
            if at == v {
                return true;
            }
            at = self.parent[at];
        }
        false
    }
}

fn swap_name(list: &mut [usize], old: usize, new: usize) {
    list.iter_mut()
        .filter(|c| **c == old)
        .for_each(|c| *c = new);
}
