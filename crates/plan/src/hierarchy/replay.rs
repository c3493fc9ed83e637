//! The replay of a count, which makes a tree: the choices behind the count are made again in the order
//! of time, and each abstract member becomes a concrete one.
//!
//! A holder is given a number of members to inform (`want`) and room for them. The count's recursion
//! says which first messages allow that many. Among these, the one is taken whose child finds most of
//! its room in the machine as it is by then; this can be less than all, because the count knows how
//! large groups are, not how many there are. Members for whom no place is found are served last, each by
//! the member that can serve it first.

use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use corecast_model::CostModel;

use super::places::ReplayPlaces;
use crate::bound::groups::RefinementChain;
use crate::bound::levels::table::{CountStep, CountTable, GROUPINGS, Room};
use crate::pace::{FAR, Pace};
use crate::tree::Tree;

/// Steps of one service, besides those of its choices.
const STEPS_PER_SERVICE: u64 = 512;
/// Steps to find a place for the child of one choice.
const STEPS_PER_PLACE: u64 = 256;

/// How a replay decides between choices that the count holds for equal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taste {
    /// The room that a holder gives up first when it does not need all.
    pub(super) thrift: Thrift,
    /// Whether, of children that use a group equally well, those with more members below them are
    /// preferred.
    pub(super) large_child: bool,
}

/// The groups whose room is saved first: the large ones or the small ones.
#[derive(Clone, Copy, Debug)]
pub(super) enum Thrift {
    Outer,
    Inner,
}

impl Taste {
    /// All four ways to decide; none is the best on every machine.
    pub(super) const ALL: [Self; 4] = [
        Self {
            thrift: Thrift::Outer,
            large_child: false,
        },
        Self {
            thrift: Thrift::Inner,
            large_child: false,
        },
        Self {
            thrift: Thrift::Outer,
            large_child: true,
        },
        Self {
            thrift: Thrift::Inner,
            large_child: true,
        },
    ];
}

/// A member that has the value.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Holder {
    /// The time that is left when it can send next; the holder with most is served first.
    time: usize,
    want: i16,
    member: usize,
    room: Room,
}

/// A choice of the count with the group that it would use in the machine.
struct ReplayMove {
    step: CountStep,
    home: usize,
    room: Room,
    holder: i16,
    child: i16,
}

pub(super) struct Replay<'a> {
    costs: &'a CostModel,
    table: &'a CountTable,
    taste: Taste,
    places: ReplayPlaces<'a>,
    /// The number of groupings that the table has and the refinement chain lacks; they come first.
    pad: usize,
    children: Vec<Vec<usize>>,
    queue: BinaryHeap<Holder>,
    /// The number of members that no holder is to inform so far.
    unplanned: i16,
    /// Steps since the last look.
    steps: u64,
}

/// Returns a tree that informs all within `time` time steps, and the number of members that found no
/// place in time; these are served late.
pub(super) fn tree(
    costs: &CostModel,
    chain: &RefinementChain,
    table: &CountTable,
    time: usize,
    root: usize,
    taste: Taste,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), (Tree, usize)> {
    let mut replay = Replay {
        costs,
        table,
        taste,
        places: ReplayPlaces::new(costs, chain),
        pad: GROUPINGS - chain.group.len(),
        children: vec![Vec::new(); costs.n()],
        queue: BinaryHeap::new(),
        unplanned: 0,
        steps: 0,
    };
    replay.start(time, root);
    while let Some(holder) = replay.queue.pop() {
        replay.serve(holder);
        pace.spend(std::mem::take(&mut replay.steps))?;
    }
    let left = replay.places.left();
    let mut children = replay.children;
    attach(costs, root, &mut children, &left, pace)?;
    ControlFlow::Continue((Tree::by_construction(root, children), left.len()))
}

impl Replay<'_> {
    fn start(&mut self, time: usize, root: usize) {
        let mut room = [0; GROUPINGS];
        for grouping in 0..GROUPINGS - self.pad {
            self.places.promise(root, grouping, 1);
            room[self.pad + grouping] = self.places.free(self.places.home(root), grouping);
        }
        self.places.take_root(root);
        let want = self.costs.n() as i16;
        self.push(Holder {
            time,
            want,
            member: root,
            room,
        });
    }

    /// Queues a holder, to which no more room is promised than it needs.
    fn push(&mut self, mut holder: Holder) {
        holder.room = self.needed(holder.time, holder.room, holder.want);
        for grouping in 0..GROUPINGS - self.pad {
            let count = holder.room[self.pad + grouping];
            self.places.promise(holder.member, grouping, count);
        }
        self.queue.push(holder);
    }

    /// Returns the least room, outermost first, that is enough for as many as wanted.
    fn needed(&self, time: usize, mut room: Room, want: i16) -> Room {
        for at in 0..GROUPINGS {
            let at = match self.taste.thrift {
                Thrift::Outer => GROUPINGS - 1 - at,
                Thrift::Inner => at,
            };
            let (mut low, mut high) = (0, room[at]);
            while low < high {
                let middle = (low + high) / 2;
                room[at] = middle;
                if self.table.at(time, room) >= want {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            room[at] = high;
        }
        room
    }

    fn serve(&mut self, mut holder: Holder) {
        self.steps += STEPS_PER_SERVICE + 2 * self.costs.n() as u64;
        for grouping in 0..GROUPINGS - self.pad {
            let count = holder.room[self.pad + grouping];
            self.places.release(holder.member, grouping, count);
        }
        self.want_more(&mut holder);
        if holder.want <= 1 {
            return;
        }
        let Some(next) = self.best_move(&holder) else {
            self.unplanned += holder.want - 1;
            return;
        };
        let Some(child) = self.places.take(holder.member, next.home) else {
            self.unplanned += holder.want - 1;
            return;
        };
        self.unplanned += holder.want - next.holder - next.child;
        self.children[holder.member].push(child);
        for grouping in 0..GROUPINGS - self.pad {
            self.places.promise(child, grouping, 1);
        }
        let price = self.table.price(next.step.level);
        self.push(Holder {
            time: holder.time - price.send,
            want: next.holder,
            member: holder.member,
            room: next.step.holder,
        });
        self.push(Holder {
            time: holder.time - price.total,
            want: next.child,
            member: child,
            room: next.room,
        });
    }

    /// Adds unplanned members to those that a holder is to inform, as far as its time and the free
    /// members around it allow.
    fn want_more(&mut self, holder: &mut Holder) {
        if self.unplanned == 0 {
            return;
        }
        let mut room = holder.room;
        for grouping in 0..GROUPINGS - self.pad {
            let home = self.places.home(holder.member);
            room[self.pad + grouping] = self.places.free(home, grouping);
        }
        let able = self.table.at(holder.time, room);
        let more = self.unplanned.min(able - holder.want).max(0);
        if more > 0 {
            self.unplanned -= more;
            holder.want += more;
            holder.room = room;
        }
    }

    fn best_move(&mut self, holder: &Holder) -> Option<ReplayMove> {
        let mut choices: Vec<(CountStep, i16)> = Vec::new();
        self.table
            .each_choice(holder.time, holder.room, |step, count| {
                choices.push((step, count))
            });
        self.steps += 4 * choices.len() as u64;
        let most = choices.iter().map(|c| c.1).max()?.min(holder.want);
        choices.retain(|c| c.1 >= most);
        let levels = 0..=GROUPINGS - self.pad;
        let homes: Vec<Vec<usize>> = levels
            .map(|level| self.places.homes(holder.member, level))
            .collect();
        let mut best: Option<(ReplayMove, [i64; 3])> = None;
        self.steps += STEPS_PER_PLACE * choices.len() as u64;
        for (step, _) in choices {
            let Some((found, rank)) = self.placed(holder, step, &homes[step.level - self.pad])
            else {
                continue;
            };
            if best.as_ref().is_none_or(|b| rank > b.1) {
                best = Some((found, rank));
            }
        }
        best.map(|b| b.0)
    }

    /// Returns the best innermost group for the child of this choice, and how good it is: first by the
    /// members informed, then by how little room is left over in its group.
    fn placed(
        &self,
        holder: &Holder,
        step: CountStep,
        homes: &[usize],
    ) -> Option<(ReplayMove, [i64; 3])> {
        let price = self.table.price(step.level);
        let (sent, arrived) = (holder.time - price.send, holder.time - price.total);
        let left = self.table.at(sent, step.holder).min(holder.want - 1);
        let right = self.table.at(arrived, step.child).min(holder.want - 1);
        let spare = (left + right - holder.want).max(0);
        let wanted = (right - spare).max(1);
        let need = self.needed(arrived, step.child, wanted);
        let mut best: Option<(ReplayMove, [i64; 3])> = None;
        for &home in homes {
            let (room, waste) = self.fit(home, step.level, need);
            let Some(room) = room else { continue };
            let child = if room == need {
                wanted
            } else {
                self.table.at(arrived, room).min(wanted)
            };
            let stay = left.min(holder.want - child);
            let size = if self.taste.large_child {
                child
            } else {
                -child
            };
            let rank = [i64::from(stay + child), -(waste as i64), i64::from(size)];
            if best.as_ref().is_none_or(|b| rank > b.1) {
                let found = ReplayMove {
                    step,
                    home,
                    room,
                    holder: stay,
                    child,
                };
                best = Some((found, rank));
            }
        }
        best
    }

    /// Returns the room that a child gets in a group, and how much of the group would be left over. Room
    /// inside of the level's group is taken from the holder's own.
    fn fit(&self, home: usize, level: usize, need: Room) -> (Option<Room>, usize) {
        let mut room = need;
        let mut waste = 0;
        for at in self.pad..level {
            let Some(free) = self.places.free(home, at - self.pad).checked_sub(1) else {
                return (None, 0);
            };
            room[at] = need[at].min(free);
            waste = waste * 64 + (free - room[at]);
        }
        (Some(room), waste)
    }
}

/// Adds the members that are left, each below the member that can serve it first.
fn attach(
    costs: &CostModel,
    root: usize,
    children: &mut [Vec<usize>],
    left: &[usize],
    pace: &mut Pace<'_>,
) -> ControlFlow<()> {
    let n = costs.n();
    let mut idle = vec![f64::INFINITY; n];
    let mut open = vec![(root, 0.0)];
    while let Some((v, time)) = open.pop() {
        let mut clock = time;
        for &c in &children[v] {
            clock += costs.send(v, c);
            open.push((c, clock + costs.receive(v, c)));
        }
        idle[v] = clock;
    }
    for &x in left {
        pace.spend(FAR * n as u64)?;
        let done = |p: usize| idle[p] + costs.send(p, x) + costs.receive(p, x);
        let server = (0..n)
            .filter(|&p| idle[p].is_finite())
            .min_by(|&a, &b| done(a).total_cmp(&done(b)))
            .unwrap_or(root);
        idle[x] = done(server);
        idle[server] += costs.send(server, x);
        children[server].push(x);
    }
    ControlFlow::Continue(())
}
