//! Reads a tree off the pairs that were solved.

use super::refine::Refinement;
use crate::tree::Tree;

impl Refinement<'_> {
    /// Returns a tree that takes no more time than the greatest costs between groups allow, where
    /// they give a bound. Members of a group are used in their order.
    pub(super) fn tree(&mut self, root: Option<usize>) -> Option<Tree> {
        let (state, holder) = self.surest_start(root)?;
        let mut pools: Vec<Vec<usize>> =
            self.groups.each.iter().map(|g| g.members.clone()).collect();
        pools.iter_mut().for_each(|pool| pool.reverse());
        let members = pools.iter().map(Vec::len).sum();
        let root = pools[holder].pop()?;
        let mut children = vec![Vec::new(); members];
        let mut open = vec![(root, state, holder)];
        while let Some((v, mut state, holder)) = open.pop() {
            while state != 0 {
                let (child, block) = self.surest_step(state, holder)?;
                let c = pools[child].pop()?;
                children[v].push(c);
                open.push((c, block - self.groups.each[child].stride, child));
                state -= block;
            }
        }
        Tree::from_children(root, children).ok()
    }
}
