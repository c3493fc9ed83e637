//! The table of counts behind the bound and the constructor: `H(t, k)` of [`super`].

use std::ops::ControlFlow;

use crate::pace::Pace;

/// Levels of groups that a table can hold; fewer are padded with groups of one member.
pub(crate) const GROUPINGS: usize = 3;

/// Additions that take as long as one step of a watched phase: the compiler makes many at a time.
const ADDITIONS_PER_STEP: u64 = 8;
/// Steps of one choice that is looked at by itself.
const STEPS_PER_CHOICE: u64 = 4;

/// How many more members each of a holder's islands may take, innermost first.
pub(crate) type Room = [usize; GROUPINGS];

/// A price in time steps. `total` is send and receive together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeSteps {
    pub(crate) send: usize,
    pub(crate) total: usize,
}

impl TimeSteps {
    /// No message has this price.
    pub(crate) const NEVER: Self = Self {
        send: usize::MAX / 4,
        total: usize::MAX / 2,
    };
}

/// The input of a count: sizes of groups, prices, and where to stop.
#[derive(Clone, Debug)]
pub(crate) struct CountInput {
    /// Most members of a group of each grouping, innermost first; 1 where there is no such level.
    pub(crate) size: [usize; GROUPINGS],
    /// The price inside of each grouping's groups, and last that between the outermost ones.
    /// No send is free.
    pub(crate) price: [TimeSteps; GROUPINGS + 1],
    /// Counting stops at this many members.
    pub(crate) enough: i16,
    /// The room of the root's islands.
    pub(crate) first: Room,
}

/// `H(t, ·)` of one time, for no more room than can be used in it.
#[derive(Clone, Copy)]
struct CountRow {
    start: usize,
    dims: [usize; GROUPINGS],
}

/// The choice that gives a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CountStep {
    /// The grouping inside of which the message stays; [`GROUPINGS`] for one across.
    pub(crate) level: usize,
    /// The room that the holder is left with.
    pub(crate) holder: Room,
    /// The room that the child has.
    pub(crate) child: Room,
}

pub(crate) struct CountTable {
    frame: CountInput,
    /// `H(t, all room)`, for some more times than `rows` has.
    full: Vec<i16>,
    rows: Vec<CountRow>,
    cells: Vec<i16>,
    /// The least send of all levels, in time steps.
    least: usize,
    /// Additions made so far.
    work: u64,
}

impl CountTable {
    /// Counts until there are enough members, or until `work` additions are done or `limit` is
    /// reached. Returns the table and the least time that is not ruled out.
    pub(crate) fn until_enough(
        frame: CountInput,
        limit: usize,
        work: u64,
        pace: &mut Pace<'_>,
    ) -> ControlFlow<(), (Self, usize, bool)> {
        let least = frame.price.iter().map(|p| p.send).min().unwrap_or(1);
        assert!(least > 0, "a send takes at least one grain");
        let mut table = Self {
            frame,
            full: Vec::new(),
            rows: Vec::new(),
            cells: Vec::new(),
            least,
            work: 0,
        };
        for t in 0..limit {
            if table.work > work {
                return ControlFlow::Continue((table, t, false));
            }
            table.extend(pace)?;
            let enough = table.frame.enough;
            if table.full[t] >= enough && table.count(t, table.frame.first) >= enough {
                return ControlFlow::Continue((table, t, true));
            }
        }
        ControlFlow::Continue((table, limit, false))
    }

    /// Counts one more time step, unless a watcher ends the search; the table must not be used then.
    pub(crate) fn extend(&mut self, pace: &mut Pace<'_>) -> ControlFlow<()> {
        let t = self.full.len();
        // A row is needed in full only once something was sent at that time.
        if let Some(at) = t.checked_sub(self.least) {
            self.complete(at, pace)?;
        }
        let all = self.frame.size.map(|m| m - 1);
        let (count, choices) = self.counted(t, all);
        self.full.push(count);
        pace.spend(STEPS_PER_CHOICE * choices)
    }

    /// `H(t, k)`, for a time whose row need not be complete.
    fn count(&self, t: usize, room: Room) -> i16 {
        self.counted(t, room).0
    }

    /// `H(t, k)`, and the number of choices that it is the best of.
    fn counted(&self, t: usize, room: Room) -> (i16, u64) {
        let (mut best, mut choices) = (1, 0);
        self.each_choice(t, room, |_, count| {
            best = best.max(count);
            choices += 1;
        });
        (best.min(self.frame.enough), choices)
    }

    /// `H(t, k)` for a complete time.
    fn known(&self, t: usize, room: Room) -> i16 {
        let CountRow { start, dims } = self.rows[t];
        let at = |i: usize| room[i].min(dims[i] - 1);
        self.cells[start + (at(0) * dims[1] + at(1)) * dims[2] + at(2)]
    }

    /// `H(t, k)`.
    pub(crate) fn at(&self, t: usize, room: Room) -> i16 {
        if t < self.rows.len() {
            self.known(t, room)
        } else {
            self.count(t, room)
        }
    }

    /// The price of a level.
    pub(crate) fn price(&self, level: usize) -> TimeSteps {
        self.frame.price[level]
    }

    /// Every choice at a time with this room, with its count, innermost level first.
    pub(crate) fn each_choice(&self, t: usize, room: Room, mut take: impl FnMut(CountStep, i16)) {
        let all = self.frame.size.map(|m| m - 1);
        for (level, price) in self.frame.price.iter().enumerate() {
            if t < price.total {
                continue;
            }
            let (sent, arrived) = (t - price.send, t - price.total);
            if level == GROUPINGS {
                let step = CountStep {
                    level,
                    holder: room,
                    child: all,
                };
                take(step, self.known(sent, room) + self.full[arrived]);
                continue;
            }
            let (a, b) = (self.rows[sent].dims, self.rows[arrived].dims);
            let pairs = |i: usize| RoomShares::new(i >= level, room[i], a[i], b[i]);
            for (a0, b0) in pairs(0) {
                for (a1, b1) in pairs(1) {
                    for (a2, b2) in pairs(2) {
                        let step = CountStep {
                            level,
                            holder: [a0, a1, a2],
                            child: [b0, b1, b2],
                        };
                        take(
                            step,
                            self.known(sent, step.holder) + self.known(arrived, step.child),
                        );
                    }
                }
            }
        }
    }

    /// Row t, from earlier ones.
    fn complete(&mut self, t: usize, pace: &mut Pace<'_>) -> ControlFlow<()> {
        debug_assert_eq!(t, self.rows.len());
        let most = usize::try_from(self.full[t]).unwrap_or(1);
        let dims = self.frame.size.map(|m| m.min(most));
        let mut row = vec![1_i16; dims.iter().product()];
        let mut lines = row.chunks_exact_mut(dims[2]);
        let mut work = 0;
        for k0 in 0..dims[0] {
            for k1 in 0..dims[1] {
                if let Some(line) = lines.next() {
                    let additions = self.fill(t, k0, k1, line);
                    work += additions;
                    pace.spend(additions / ADDITIONS_PER_STEP + 4 * dims[2] as u64)?;
                }
            }
        }
        self.work += work;
        let start = self.cells.len();
        self.cells.extend_from_slice(&row);
        self.rows.push(CountRow { start, dims });
        ControlFlow::Continue(())
    }

    /// The counts for every outermost room; the additions it took.
    fn fill(&self, t: usize, k0: usize, k1: usize, line: &mut [i16]) -> u64 {
        let mut work = 0;
        for (level, price) in self.frame.price.iter().enumerate() {
            if t < price.total {
                continue;
            }
            let (sent, arrived) = (self.rows[t - price.send], t - price.total);
            if level == GROUPINGS {
                let here = self.line(sent, k0, k1);
                let there = self.full[arrived];
                // Rows are cut where more room is of no use; the running maximum goes on from there.
                for (count, &here) in line.iter_mut().zip(here) {
                    *count = (*count).max(here + there);
                }
                continue;
            }
            let arrived = self.rows[arrived];
            let (a, b) = (sent.dims, arrived.dims);
            let Some(rest) = line.get_mut(1..) else {
                continue;
            };
            for (a0, b0) in RoomShares::new(level == 0, k0, a[0], b[0]) {
                for (a1, b1) in RoomShares::new(level <= 1, k1, a[1], b[1]) {
                    let (a, b) = (self.line(sent, a0, a1), self.line(arrived, b0, b1));
                    work += best_sums(rest, a, b);
                }
            }
        }
        let mut most = 1;
        for count in line {
            most = most.max(*count).min(self.frame.enough);
            *count = most;
        }
        work
    }

    /// One line of a row; room beyond the row's is of no use and cut.
    fn line(&self, row: CountRow, k0: usize, k1: usize) -> &[i16] {
        let CountRow { start, dims } = row;
        let (k0, k1) = (k0.min(dims[0] - 1), k1.min(dims[1] - 1));
        &self.cells[start + (k0 * dims[1] + k1) * dims[2]..][..dims[2]]
    }
}

/// The ways to share room between a holder and a child; `a` and `b` say how much each can use.
struct RoomShares {
    next: usize,
    last: usize,
    /// The child's share is this minus the holder's.
    sum: usize,
}

impl RoomShares {
    fn new(shared: bool, room: usize, a: usize, b: usize) -> Self {
        if !shared {
            // The holder keeps its room, the child has a new island.
            let next = room.min(a - 1);
            let sum = next + b - 1;
            return Self {
                next,
                last: next,
                sum,
            };
        }
        let Some(sum) = room.checked_sub(1) else {
            return Self {
                next: 1,
                last: 0,
                sum: 0,
            };
        };
        // Counts grow with room, so leaving room unused that somebody can use gains nothing.
        let sum = sum.min(a + b - 2);
        Self {
            next: (sum + 1).saturating_sub(b),
            last: sum.min(a - 1),
            sum,
        }
    }
}

impl Iterator for RoomShares {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        let a = self.next;
        self.next += 1;
        (a <= self.last).then(|| (a, self.sum - a))
    }
}

/// `best[i + j] = max(best[i + j], a[i] + b[j])` where there is such an entry; the additions.
fn best_sums(best: &mut [i16], a: &[i16], b: &[i16]) -> u64 {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let mut fours = short.chunks_exact(4);
    let mut at = 0;
    let mut work = 0;
    for four in &mut fours {
        let Some(best) = best.get_mut(at..) else {
            return work;
        };
        four_sums(best, [four[0], four[1], four[2], four[3]], long);
        work += 4 * best.len().min(long.len()) as u64;
        at += 4;
    }
    for &x in fours.remainder() {
        let Some(best) = best.get_mut(at..) else {
            return work;
        };
        one_sum(best, x, long);
        work += best.len().min(long.len()) as u64;
        at += 1;
    }
    work
}

fn one_sum(best: &mut [i16], x: i16, long: &[i16]) {
    for (best, &y) in best.iter_mut().zip(long) {
        *best = (*best).max(x + y);
    }
}

/// Four shifted sums at a time: a quarter of the reads and writes of `best`.
fn four_sums(best: &mut [i16], x: [i16; 4], long: &[i16]) {
    let middle = long.len().min(best.len());
    if middle < 4 {
        for (shift, &x) in x.iter().enumerate() {
            if let Some(best) = best.get_mut(shift..) {
                one_sum(best, x, long);
            }
        }
        return;
    }
    for k in 0..3 {
        for shift in 0..=k {
            best[k] = best[k].max(x[shift] + long[k - shift]);
        }
    }
    let count = middle - 3;
    let (y0, y1) = (&long[3..][..count], &long[2..][..count]);
    let (y2, y3) = (&long[1..][..count], &long[..count]);
    for ((((best, y0), y1), y2), y3) in best[3..][..count]
        .iter_mut()
        .zip(y0)
        .zip(y1)
        .zip(y2)
        .zip(y3)
    {
        let left = (x[0] + y0).max(x[1] + y1);
        let right = (x[2] + y2).max(x[3] + y3);
        *best = (*best).max(left.max(right));
    }
    for k in middle..best.len().min(long.len() + 3) {
        for shift in (k + 1 - long.len()).min(4)..4 {
            best[k] = best[k].max(x[shift] + long[k - shift]);
        }
    }
}

#[cfg(test)]
mod tests;
