//! The members that are still free, and the room in each group that is promised to holders.

use corecast_model::CostModel;

use crate::bound::groups::RefinementChain;

/// The members and groups of the machine during a replay. A holder's room is promised: nobody else
/// takes it.
pub(super) struct ReplayPlaces<'a> {
    costs: &'a CostModel,
    chain: &'a RefinementChain,
    /// For each grouping and group the number of members that are neither taken nor promised.
    free: Vec<Vec<usize>>,
    /// The members that are not yet taken, by innermost group.
    idle: Vec<Vec<usize>>,
    /// A member of each innermost group, from which the groups around it follow.
    sample: Vec<usize>,
}

impl<'a> ReplayPlaces<'a> {
    pub(super) fn new(costs: &'a CostModel, chain: &'a RefinementChain) -> Self {
        let free = chain.group.iter().map(|group| {
            let mut size = vec![0; group.iter().max().map_or(0, |g| g + 1)];
            group.iter().for_each(|&g| size[g] += 1);
            size
        });
        let free: Vec<Vec<usize>> = free.collect();
        let mut idle = vec![Vec::new(); free[0].len()];
        for (v, &g) in chain.group[0].iter().enumerate() {
            idle[g].push(v);
        }
        let sample = idle.iter().map(|members| members[0]).collect();
        Self {
            costs,
            chain,
            free,
            idle,
            sample,
        }
    }

    /// Returns the number of groupings that separate the member from an innermost group.
    fn apart(&self, member: usize, home: usize) -> usize {
        let other = self.sample[home];
        let parted = |group: &&Vec<usize>| group[member] != group[other];
        self.chain.group.iter().filter(parted).count()
    }

    /// Returns the innermost groups at this distance from a member that have idle members.
    pub(super) fn homes(&self, member: usize, level: usize) -> Vec<usize> {
        let all = 0..self.idle.len();
        all.filter(|&g| !self.idle[g].is_empty() && self.apart(member, g) == level)
            .collect()
    }

    /// Returns the number of free members in the group of this grouping around an innermost group.
    pub(super) fn free(&self, home: usize, grouping: usize) -> usize {
        self.free[grouping][self.chain.group[grouping][self.sample[home]]]
    }

    pub(super) fn home(&self, member: usize) -> usize {
        self.chain.group[0][member]
    }

    /// Promises `count` members of the group around this member.
    pub(super) fn promise(&mut self, member: usize, grouping: usize, count: usize) {
        let group = self.chain.group[grouping][member];
        self.free[grouping][group] -= count;
    }

    /// Takes a promise back.
    pub(super) fn release(&mut self, member: usize, grouping: usize, count: usize) {
        let group = self.chain.group[grouping][member];
        self.free[grouping][group] += count;
    }

    /// Takes the idle member of a group that is cheapest to serve from `from`. The caller keeps the
    /// promises in order.
    pub(super) fn take(&mut self, from: usize, home: usize) -> Option<usize> {
        let cost = |&x: &usize| self.costs.send(from, x) + self.costs.receive(from, x);
        let idle = &self.idle[home];
        let best = (0..idle.len()).min_by(|&a, &b| {
            cost(&idle[a])
                .total_cmp(&cost(&idle[b]))
                .then(idle[a].cmp(&idle[b]))
        })?;
        Some(self.idle[home].swap_remove(best))
    }

    /// Takes the root.
    pub(super) fn take_root(&mut self, root: usize) {
        self.idle[self.chain.group[0][root]].retain(|&x| x != root);
    }

    /// Returns all members that are not taken, by rank.
    pub(super) fn left(self) -> Vec<usize> {
        let mut left: Vec<usize> = self.idle.into_iter().flatten().collect();
        left.sort_unstable();
        left
    }
}
