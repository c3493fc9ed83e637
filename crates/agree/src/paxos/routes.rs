//! The trees over which what an acceptor has accepted reaches all members.
//!
//! ```text
//! acceptor ──┬──► a ──┬──► b       each member passes it on to its children in the tree of that acceptor
//!            │        └──► c
//!            └──► d                e, which was not heard of lately, is left out, and those below it have other parents
//! ```
//!
//! A packet names the acceptor and who is left out. So all members pass it on along one tree, whatever each of them knows of the
//! configuration and of who is silent, and it ends at the leaves.
//!
//! **Agreement does not rest on trees.** To the protocol each copy is a message from the acceptor that comes now, later, again or
//! never. When a member ends before it has passed something on, it never comes to those below: they ask others for it, as for
//! all that is lost, until the acceptor has noticed the silence.

use std::fmt;
use std::sync::Arc;

/// The children of each member, for an acceptor and the members that are left out, a bit each.
type Trees = dyn Fn(usize, u64) -> Vec<Vec<usize>> + Send + Sync;

/// As many trees are kept; while members come and go packets of several are under way.
const RECENT_MAX: usize = 8;

/// Who passes on to whom what an acceptor has accepted.
///
/// Trees are planned elsewhere and given here: `corecast_plan::consensus` has one for each acceptor, and repairs it when members
/// are left out.
///
/// # Examples
///
/// A chain in the order of the members, from the acceptor on:
///
/// ```
/// use corecast_agree::paxos::Routes;
///
/// let chain = Routes::new(4, |acceptor, absent| {
///     let order = (0..4).map(|step| (acceptor + step) % 4);
///     let order: Vec<usize> = order.filter(|member| absent >> member & 1 == 0).collect();
///     let mut children = vec![Vec::new(); 4];
///     order.windows(2).for_each(|pair| children[pair[0]].push(pair[1]));
///     children
/// });
/// # drop(chain);
/// ```
///
/// Planned trees, which are repaired when members are left out. Member 0 leads at first and 1 accepts, so members are numbered in that
/// order, the others after them: here the threads that the model would have lead and accept are 0 and 1.
///
/// ```
/// use corecast::plan::{Pattern, consensus::AcceptorTrees};
/// use corecast_agree::paxos::{GroupMember, Options, Routes};
/// use corecast_wire::WaitConfig;
///
/// let machine = corecast::model::builtin("magnycours-4x12").expect("it is built in");
/// let threads = vec![0, 12, 24, 36];
/// let roles = AcceptorTrees::new(&machine.costs().subset(&threads)?, Pattern::Smelt)?.roles(|_| 0.0);
/// let mut order = vec![threads[roles.leader], threads[roles.acceptor]];
/// order.extend(threads.iter().filter(|it| !order.contains(it)).copied().collect::<Vec<_>>());
///
/// let trees = AcceptorTrees::new(&machine.costs().subset(&order)?, Pattern::Smelt)?;
/// let routes = Routes::new(4, move |acceptor, absent| trees.children(acceptor, absent));
/// let mut members = GroupMember::<u64>::group(4, Options::default(), WaitConfig::BALANCED)?;
/// for member in &mut members {
///     member.set_routes(routes.clone());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Routes {
    size: usize,
    trees: Arc<Trees>,
    /// Acceptor, who is left out, and the children of the member that asks.
    recent: Vec<(usize, u64, Vec<usize>)>,
}

impl Routes {
    /// The routes of a group of `size` members. `trees` is asked for the tree of an acceptor without the members that a word has a
    /// bit for, and returns the children of each member in the order in which they are served. It must return the same at all members.
    /// It is asked when members come, go or take over, and may take a millisecond.
    pub fn new(
        size: usize,
        trees: impl Fn(usize, u64) -> Vec<Vec<usize>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            size,
            trees: Arc::new(trees),
            recent: Vec::new(),
        }
    }

    /// The children of `me`: none in a tree without it.
    ///
    /// # Panics
    ///
    /// What was given is no tree over the members that are not left out.
    pub(super) fn children(&mut self, me: usize, root: usize, absent: u64) -> &[usize] {
        let is_in = |member: usize| member < self.size && absent >> member & 1 == 0;
        if !is_in(root) || !is_in(me) {
            return &[];
        }
        let known = self.recent.iter();
        let known = known
            .clone()
            .position(|(of, without, _)| (*of, *without) == (root, absent));
        let place = known.unwrap_or_else(|| {
            let mut tree = (self.trees)(root, absent);
            check(&tree, self.size, root, absent);
            if self.recent.len() == RECENT_MAX {
                self.recent.remove(0);
            }
            self.recent.push((root, absent, tree.swap_remove(me)));
            self.recent.len() - 1
        });
        &self.recent[place].2
    }
}

impl fmt::Debug for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Routes")
            .field("size", &self.size)
            .field("recent", &self.recent)
            .finish_non_exhaustive()
    }
}

fn check(tree: &[Vec<usize>], size: usize, root: usize, absent: u64) {
    assert!(
        tree.len() == size,
        "children of {} members, the group has {size}",
        tree.len()
    );
    let (mut reached, mut next) = (1_u64 << root, vec![root]);
    while let Some(parent) = next.pop() {
        for &child in &tree[parent] {
            assert!(
                child < size && absent >> child & 1 == 0 && reached >> child & 1 == 0,
                "member {child}, child of {parent} in the tree of {root} without {absent:#b}: \
                 it is left out, outside, or there twice"
            );
            reached |= 1 << child;
            next.push(child);
        }
    }
    let expected = !absent & u64::MAX >> (64 - size);
    assert!(
        reached == expected,
        "the tree of {root} without {absent:#b} reaches {reached:#b} of {expected:#b}"
    );
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A binary tree over the members that are there, in the order of their numbers from the root on.
    pub(in crate::paxos) fn binary(size: usize) -> Routes {
        Routes::new(size, move |root, absent| {
            let members = (0..size).map(|step| (root + step) % size);
            let members: Vec<usize> = members.filter(|it| absent >> it & 1 == 0).collect();
            let mut children = vec![Vec::new(); size];
            for (place, member) in members.iter().enumerate().skip(1) {
                children[members[(place - 1) / 2]].push(*member);
            }
            children
        })
    }

    #[test]
    fn every_member_is_reached_once_whoever_is_absent() {
        for size in 1..=6 {
            for (root, absent) in
                (0..size).flat_map(|root| (0..1_u64 << size).map(move |it| (root, it)))
            {
                let mut routes: Vec<Routes> = vec![binary(size); size];
                let (mut reached, mut next) = (vec![root], vec![root]);
                while let Some(me) = next.pop() {
                    let children = routes[me].children(me, root, absent);
                    reached.extend(children);
                    next.extend(children);
                }
                reached.sort_unstable();
                let there: Vec<usize> = (0..size).filter(|it| absent >> it & 1 == 0).collect();
                if there.contains(&root) {
                    assert_eq!(reached, there);
                } else {
                    assert_eq!(reached, [root]);
                }
            }
        }
    }

    #[test]
    fn trees_are_planned_once_while_little_changes() {
        let (asked, count) = std::sync::mpsc::channel();
        let mut routes = Routes::new(2, {
            let asked = std::sync::Mutex::new(asked);
            move |_, _| {
                asked.lock().unwrap().send(()).unwrap();
                vec![vec![1], vec![]]
            }
        });
        for _ in 0..3 {
            assert_eq!(routes.children(0, 0, 0), [1]);
        }
        assert_eq!(routes.children(0, 7, 0), [0; 0]);
        assert_eq!(count.try_iter().count(), 1);
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        let trees: [(&str, Vec<Vec<usize>>); 4] = [
            ("there twice", vec![vec![1, 2], vec![2], vec![]]),
            ("there twice", vec![vec![1], vec![0], vec![]]),
            ("reaches 0b11 of 0b111", vec![vec![1], vec![], vec![]]),
            ("children of 1 members", vec![vec![]]),
        ];
        for (expected, tree) in trees {
            let mut routes = Routes::new(3, move |_, _| tree.clone());
            let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
                routes.children(0, 0, 0).len()
            }));
            let words = *refused.unwrap_err().downcast::<String>().unwrap();
            assert!(words.contains(expected), "{words}");
        }
    }
}
