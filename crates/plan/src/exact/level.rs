//! A solved partition of the refinement chain: the time in which a holder can inform so many of each group.

use super::split::Split;
use super::ticks::{NEVER, Ticks};

/// Members that are treated as equal: any message between two groups costs the least send and the least
/// receive found between them.
#[derive(Clone)]
pub(super) struct AlikeGroup {
    pub(super) members: Vec<usize>,
    /// Most members that others can inform: none for a fixed root.
    pub(super) cap: u8,
    /// Weight of one member in the number of a state.
    pub(super) stride: u64,
}

/// The groups of a partition and the costs of messages between them.
#[derive(Clone)]
pub(super) struct AlikeGroups {
    pub(super) each: Vec<AlikeGroup>,
    /// `[child * k + holder]`
    pub(super) send: Vec<i32>,
    /// Send and receive, `[child * k + holder]`.
    pub(super) way: Vec<i32>,
    /// The greatest sends between groups, in the order of `send`, and the greatest ways, in that of `way`.
    pub(super) send_most: Vec<i32>,
    pub(super) way_most: Vec<i32>,
}

/// A way to begin: the first child of a holder, with all that is below the child.
#[derive(Clone, Copy)]
pub(super) struct FirstChild {
    /// The child and its sub-tree, by counts.
    pub(super) block: u64,
    /// A time before which this way is not done.
    pub(super) least: i32,
    /// The child's group.
    pub(super) child: u32,
}

/// A holder and the members that it has to inform. The members are a vector of counts, written as one
/// mixed-radix number, the *state*. Only entries that can be part of a fast enough tree are kept.
pub(super) struct HolderEntry {
    pub(super) state: u64,
    pub(super) holder: u32,
    /// The least time in which the holder can have all of them informed.
    pub(super) finish: i32,
    /// The most time that any fast enough tree leaves for it.
    pub(super) budget: i32,
    /// Its ways to begin in such trees as a range of `steps`, the most promising first.
    steps: (u32, u32),
}

/// A partition with all its entries, those with fewer members first.
pub(super) struct PartitionLevel {
    pub(super) groups: AlikeGroups,
    pub(super) entries: Vec<HolderEntry>,
    steps: Vec<FirstChild>,
}

impl AlikeGroups {
    /// `None` when states do not fit into 64 bits.
    pub(super) fn new(ticks: &Ticks, parts: Vec<Vec<usize>>, root: Option<usize>) -> Option<Self> {
        let mut stride = 1_u64;
        let mut each = Vec::with_capacity(parts.len());
        let k = parts.len() as u64;
        for members in parts {
            let fixed = root.is_some_and(|root| members == [root]);
            let cap = if fixed { 0 } else { members.len() as u8 };
            each.push(AlikeGroup {
                members,
                cap,
                stride,
            });
            stride = stride.checked_mul(u64::from(cap) + 1)?;
        }
        stride.checked_mul(k)?;
        let (send, way) = multipliers(
            &each,
            |i, j| (ticks.send(i, j), ticks.receive(i, j)),
            i32::min,
        );
        let (send_most, way_most) = multipliers(
            &each,
            |i, j| (ticks.send(i, j), ticks.receive(i, j)),
            i32::max,
        );
        Some(Self {
            each,
            send,
            way,
            send_most,
            way_most,
        })
    }

    pub(super) fn k(&self) -> usize {
        self.each.len()
    }

    /// The states to begin with: everybody but the holder is to be informed.
    pub(super) fn starts(&self, root: Option<usize>) -> Vec<(u64, usize)> {
        let all = self
            .each
            .iter()
            .map(|g| u64::from(g.cap) * g.stride)
            .sum::<u64>();
        let groups = self.each.iter().enumerate();
        match root {
            Some(root) => {
                let mut holders = groups.filter(|(_, g)| g.members == [root]);
                holders.next().map(|(h, _)| (all, h)).into_iter().collect()
            }
            None => groups.map(|(h, g)| (all - g.stride, h)).collect(),
        }
    }

    /// One more than the largest state.
    pub(super) fn states(&self) -> u64 {
        self.each.iter().map(|g| u64::from(g.cap) + 1).product()
    }

    /// How many of `group` a state has.
    pub(super) fn count(&self, state: u64, group: usize) -> u8 {
        let AlikeGroup { cap, stride, .. } = self.each[group];
        (state / stride % (u64::from(cap) + 1)) as u8
    }

    /// How each group falls apart on the `finer` partition.
    pub(super) fn splits(&self, finer: &Self) -> Vec<Split> {
        self.runs(finer)
            .into_iter()
            .map(|(from, to)| {
                let parts = &finer.each[from..to];
                let caps = parts.iter().map(|g| g.cap).collect();
                Split::new(from, parts[0].stride, caps)
            })
            .collect()
    }

    /// The groups of the `finer` partition that each group falls into.
    pub(super) fn runs(&self, finer: &Self) -> Vec<(usize, usize)> {
        let mut next = 0;
        self.each
            .iter()
            .map(|group| {
                let from = next;
                let mut covered = 0;
                while covered < group.members.len() {
                    covered += finer.each[next].members.len();
                    next += 1;
                }
                (from, next)
            })
            .collect()
    }
}

impl PartitionLevel {
    pub(super) fn new(groups: AlikeGroups) -> Self {
        Self {
            groups,
            entries: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// The bottom of the refinement chain: one group, and perhaps a fixed root. Everything is looked at, for
    /// trees that take at most `limit`.
    pub(super) fn bottom(groups: AlikeGroups, root: Option<usize>, limit: i32) -> Self {
        let k = groups.k();
        // The group that is counted is the last one; its stride is 1, so that states are counts.
        let child = k - 1;
        let n = groups.each[child].cap as usize;
        let mut finish = vec![vec![NEVER; k]; n + 1];
        finish[0].fill(0);
        let taking = |finish: &[Vec<i32>], state: usize, holder: usize, block: usize| {
            let arm = groups.way[child * k + holder] + finish[block - 1][child];
            arm.max(groups.send[child * k + holder] + finish[state - block][holder])
        };
        for state in 1..=n {
            for holder in 0..k {
                let each = (1..=state).map(|block| taking(&finish, state, holder, block));
                finish[state][holder] = each.min().filter(|&t| t <= limit).unwrap_or(NEVER);
            }
        }
        let mut budget = vec![vec![-1; k]; n + 1];
        for (state, holder) in groups.starts(root) {
            budget[state as usize][holder] = limit;
        }
        let mut level = Self::new(groups.clone());
        for state in (1..=n).rev() {
            for holder in 0..k {
                let left = budget[state][holder];
                let mut found = Vec::new();
                for block in 1..=state {
                    let least = taking(&finish, state, holder, block);
                    if least > left {
                        continue;
                    }
                    let arm = &mut budget[block - 1][child];
                    *arm = (*arm).max(left - groups.way[child * k + holder]);
                    let rest = &mut budget[state - block][holder];
                    *rest = (*rest).max(left - groups.send[child * k + holder]);
                    found.push(FirstChild {
                        block: block as u64,
                        least,
                        child: child as u32,
                    });
                }
                level.record(
                    state as u64,
                    holder,
                    finish[state][holder],
                    left,
                    &mut found,
                );
            }
        }
        level.entries.reverse();
        level
    }

    /// Adds an entry with its ways to begin, if it has any.
    pub(super) fn record(
        &mut self,
        state: u64,
        holder: usize,
        finish: i32,
        budget: i32,
        found: &mut Vec<FirstChild>,
    ) {
        if found.is_empty() {
            return;
        }
        found.sort_unstable_by_key(|step| (step.least, step.block, step.child));
        let from = self.steps.len() as u32;
        self.steps.append(found);
        self.entries.push(HolderEntry {
            state,
            holder: holder as u32,
            finish,
            budget,
            steps: (from, self.steps.len() as u32),
        });
    }

    /// The least time of all starts, if any is fast enough.
    pub(super) fn best(&self, root: Option<usize>) -> Option<i32> {
        let starts = self.groups.starts(root);
        let is_start = |e: &&HolderEntry| starts.contains(&(e.state, e.holder as usize));
        // Starts are the largest entries, at the end.
        self.entries
            .iter()
            .rev()
            .take(2 * starts.len())
            .filter(is_start)
            .map(|e| e.finish)
            .min()
    }

    pub(super) fn steps(&self, entry: &HolderEntry) -> &[FirstChild] {
        &self.steps[entry.steps.0 as usize..entry.steps.1 as usize]
    }

    /// How many pairs of a finer partition the entries stand for, about.
    pub(super) fn pairs(&self, finer: &AlikeGroups) -> f64 {
        /// Entries that are counted; the others are taken to be like them.
        const SAMPLE: usize = 4096;
        let ways: Vec<Vec<f64>> = self
            .groups
            .runs(finer)
            .into_iter()
            .map(|(from, to)| ways(&finer.each[from..to]))
            .collect();
        let stride = self.entries.len().div_ceil(SAMPLE).max(1);
        let pairs = |e: &HolderEntry| -> f64 {
            let counts = (0..ways.len()).map(|g| self.groups.count(e.state, g) as usize);
            ways.iter()
                .zip(counts)
                .map(|(ways, count)| ways[count])
                .product()
        };
        self.entries.iter().step_by(stride).map(pairs).sum::<f64>() * stride as f64
    }

    /// Bytes that the level takes.
    pub(super) fn bytes(&self) -> usize {
        self.steps.len() * size_of::<FirstChild>() + self.entries.len() * size_of::<HolderEntry>()
    }
}

/// For each sum the number of vectors of counts below the groups' caps that have it.
fn ways(parts: &[AlikeGroup]) -> Vec<f64> {
    parts.iter().fold(vec![1.0], |ways, part| {
        let cap = part.cap as usize;
        let mut next = vec![0.0; ways.len() + cap];
        for (sum, way) in ways.iter().enumerate() {
            next[sum..=sum + cap].iter_mut().for_each(|n| *n += way);
        }
        next
    })
}

/// The least, or the most, send and send plus receive between groups.
fn multipliers(
    groups: &[AlikeGroup],
    cost: impl Fn(usize, usize) -> (i32, i32),
    choose: fn(i32, i32) -> i32,
) -> (Vec<i32>, Vec<i32>) {
    let k = groups.len();
    let mut send = vec![NEVER; k * k];
    let mut way = vec![NEVER; k * k];
    for (child, to) in groups.iter().enumerate() {
        for (holder, from) in groups.iter().enumerate() {
            let pairs = from
                .members
                .iter()
                .flat_map(|&i| to.members.iter().map(move |&j| (i, j)));
            let chosen = pairs
                .filter(|(i, j)| i != j)
                .map(|(i, j)| cost(i, j))
                .reduce(|a, b| (choose(a.0, b.0), choose(a.1, b.1)));
            let (s, r) = chosen.unwrap_or((NEVER, NEVER));
            send[child * k + holder] = s;
            way[child * k + holder] = (s + r).min(NEVER);
        }
    }
    (send, way)
}
