//! Trees with groups to start a search from.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use corecast_model::CostModel;

use super::Grouped;
use super::bound::{away, partitions, some_latency};
use super::count::{Count, Flow, HolderChoice, OVER, Prices};
use crate::pace::Pace;

/// Sizes of the groups into which members of a part are cut.
const CHUNKS: [usize; 6] = [2, 3, 4, 6, 8, 12];
/// Most roots that are tried when the root is free.
const ROOTS_MAX: usize = 64;

/// Calls `take` for the starts of one root that need no count, in an order that does not depend on
/// costs.
pub(super) fn quick_starts(
    costs: &CostModel,
    root: usize,
    take: &mut dyn FnMut(Grouped, &mut Pace<'_>) -> ControlFlow<()>,
    pace: &mut Pace<'_>,
) -> ControlFlow<()> {
    let parts = partitions(costs, pace)?;
    shapes(&parts, root, take, pace)
}

/// Calls `take` for all starts of one root, in an order that does not depend on costs.
pub(super) fn starts(
    costs: &CostModel,
    way: Flow,
    root: usize,
    take: &mut dyn FnMut(Grouped, &mut Pace<'_>) -> ControlFlow<()>,
    pace: &mut Pace<'_>,
) -> ControlFlow<()> {
    quick_starts(costs, root, take, pace)?;
    let away = away(costs, way, pace)?;
    for part in partitions(costs, pace)? {
        if let Some(grouped) = counted(costs, &away, way, &part, root, pace)? {
            take(grouped, pace)?;
        }
    }
    ControlFlow::Continue(())
}

/// Calls `take` for the quick starts of other roots, which are evenly chosen where there are many.
pub(super) fn other_roots(
    costs: &CostModel,
    root: usize,
    take: &mut dyn FnMut(Grouped, &mut Pace<'_>) -> ControlFlow<()>,
    pace: &mut Pace<'_>,
) -> ControlFlow<()> {
    let n = costs.n();
    let parts = partitions(costs, pace)?;
    for other in (0..n).step_by(n.div_ceil(ROOTS_MAX)).filter(|&r| r != root) {
        shapes(&parts, other, take, pace)?;
    }
    ControlFlow::Continue(())
}

fn shapes(
    parts: &[Vec<usize>],
    root: usize,
    take: &mut dyn FnMut(Grouped, &mut Pace<'_>) -> ControlFlow<()>,
    pace: &mut Pace<'_>,
) -> ControlFlow<()> {
    let n = parts[0].len();
    let sizes = || CHUNKS.into_iter().filter(|&size| size + 1 < n);
    take(Grouped::flat(n, root), pace)?;
    for part in parts {
        take(by_part(part, root), pace)?;
        take(leaders(part, root, n), pace)?;
        for size in sizes() {
            take(leaders(part, root, size), pace)?;
        }
    }
    // The chunks of the whole team are tried whatever its parts are.
    let one = vec![0; n];
    for size in sizes() {
        take(leaders(&one, root, size), pace)?;
    }
    ControlFlow::Continue(())
}

/// The root serves each part with a line of its own, far ones before its own.
fn by_part(part: &[usize], root: usize) -> Grouped {
    let mut groups = vec![Vec::new(); part.len()];
    let (own, others): (Vec<_>, Vec<_>) = members_of(part, root)
        .into_iter()
        .partition(|group| group.first().is_some_and(|&c| part[c] == part[root]));
    groups[root] = others.into_iter().chain(own).collect();
    Grouped::by_construction(root, groups)
}

/// Returns the parts without the root; parts that are then empty are left out.
fn members_of(part: &[usize], root: usize) -> Vec<Vec<usize>> {
    let mut members = vec![Vec::new(); part.len()];
    for (rank, &p) in part.iter().enumerate() {
        if rank != root {
            members[p].push(rank);
        }
    }
    members.retain(|group| !group.is_empty());
    members
}

/// The first of each part and the root are leaders; the others of their parts are cut into chunks,
/// whose first members serve the rest in one line. Leaders share a line of the root's, and so do
/// the firsts of the chunks of a part.
fn leaders(part: &[usize], root: usize, size: usize) -> Grouped {
    let mut groups = vec![Vec::new(); part.len()];
    let mut far = Vec::new();
    for mut members in members_of(part, root) {
        let leader = if part[members[0]] == part[root] {
            root
        } else {
            far.push(members[0]);
            members.remove(0)
        };
        let mut firsts = Vec::new();
        for chunk in members.chunks(size) {
            let (&first, rest) = chunk.split_first().expect("chunks are not empty");
            // The last chunks of a part that is cut at all have somebody to hand on to.
            if members.len() <= size {
                firsts.extend_from_slice(chunk);
                continue;
            }
            firsts.push(first);
            if !rest.is_empty() {
                groups[first].push(rest.to_vec());
            }
        }
        if !firsts.is_empty() {
            groups[leader].push(firsts);
        }
    }
    if !far.is_empty() {
        groups[root].insert(0, far);
    }
    Grouped::by_construction(root, groups)
}

/// Returns the tree of the count that first reaches the whole team. Members of the parts take the
/// places of the count's, those with most time left first.
fn counted(
    costs: &CostModel,
    away: &CostModel,
    way: Flow,
    part: &[usize],
    root: usize,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), Option<Grouped>> {
    let n = part.len();
    let prices = Prices::new(away, costs.lines(), part.to_vec(), pace)?;
    let upper = some_latency(costs, away, way, root, pace)?;
    let Some(mut count) = Count::new(&prices, way, upper) else {
        return ControlFlow::Continue(None);
    };
    let first = prices.size[part[root]];
    count.first_time(first, upper, pace)?;

    let mut free = UnsentMembers::new(part, root);
    let mut groups: Vec<Vec<Vec<usize>>> = vec![Vec::new(); n];
    let mut open = BinaryHeap::from([(count.last(), Reverse(root), first - 1)]);
    while let Some((t, Reverse(v), k)) = open.pop() {
        let (_, choice) = count.best(t, k);
        let mut group = Vec::new();
        let (t_left, k_left) = match choice {
            HolderChoice::Stop => continue,
            HolderChoice::Far { t_held, t_child } => {
                group.extend(free.far(part[v]).map(|c| (c, t_child, free.island(c))));
                (t_held, k)
            }
            HolderChoice::Near {
                t_held,
                t_child,
                k_child,
            } => {
                group.extend(free.near(part[v]).map(|c| (c, t_child, k_child)));
                (t_held, k - 1 - k_child)
            }
            HolderChoice::Line {
                near,
                far,
                mut k_near,
                t_held,
                t_near,
                t_far,
            } => {
                let k_left = k - k_near;
                // A member that would be late waits for another service.
                let near = if t_near == OVER { 0 } else { near };
                let far = if t_far == OVER { 0 } else { far };
                for a in (1..=near).rev() {
                    let Some((own, _)) = count.share(t_near, a, k_near) else {
                        break;
                    };
                    group.extend(free.near(part[v]).map(|c| (c, t_near, own)));
                    k_near -= own + 1;
                }
                for _ in 0..far {
                    let Some(c) = free.far(part[v]) else { break };
                    group.push((c, t_far, free.island(c)));
                }
                (t_held, k_left)
            }
            HolderChoice::Chain {
                far,
                k_near,
                t_held,
            } => {
                for adder in count.adders(far, k_near, t_held) {
                    group.extend(match adder.far {
                        true => free.far(part[v]).map(|c| (c, adder.t, free.island(c))),
                        false => free.near(part[v]).map(|c| (c, adder.t, adder.k)),
                    });
                }
                (t_held, k - k_near)
            }
        };
        // The holder stops when no member is left, or when it found none and its action takes no
        // time.
        if group.is_empty() && (free.is_empty() || t_left == t) {
            continue;
        }
        if !group.is_empty() {
            groups[v].push(group.iter().map(|&(c, _, _)| c).collect());
            open.extend(group.into_iter().map(|(c, t, k)| (t, Reverse(c), k)));
        }
        open.push((t_left, Reverse(v), k_left));
    }
    // The count may send to members where none are left; those that wait elsewhere come last.
    let rest = free.rest();
    if !rest.is_empty() {
        groups[root].push(rest);
    }
    ControlFlow::Continue(Some(Grouped::by_construction(root, groups)))
}

/// The members that no message was sent to yet.
struct UnsentMembers {
    size: Vec<usize>,
    parts: Vec<Vec<usize>>,
    part: Vec<usize>,
}

impl UnsentMembers {
    fn new(part: &[usize], root: usize) -> Self {
        let mut parts = vec![Vec::new(); part.len()];
        let mut size = vec![0; part.len()];
        for (rank, &p) in part.iter().enumerate().rev() {
            size[p] += 1;
            if rank != root {
                parts[p].push(rank);
            }
        }
        Self {
            size,
            parts,
            part: part.to_vec(),
        }
    }

    /// Returns by how many the island of a member may grow.
    fn island(&self, member: usize) -> usize {
        self.size[self.part[member]] - 1
    }

    fn near(&mut self, part: usize) -> Option<usize> {
        self.parts[part].pop()
    }

    /// Takes a member of the part that has most left.
    fn far(&mut self, part: usize) -> Option<usize> {
        let others = (0..self.parts.len()).filter(|&p| p != part);
        let most = others.max_by_key(|&p| (self.parts[p].len(), Reverse(p)))?;
        self.parts[most].pop()
    }

    fn is_empty(&self) -> bool {
        self.parts.iter().all(Vec::is_empty)
    }

    fn rest(self) -> Vec<usize> {
        self.parts.concat()
    }
}
