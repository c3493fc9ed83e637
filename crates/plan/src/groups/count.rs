//! The count of members that can be informed in a given time, from which the bound and a start come.
//!
//! Split the members into *parts*, and give everything a price within a part ("near") and one
//! between parts ("far"), each the least there is. An *island* is a maximal piece of a tree whose
//! members are in one part and joined by near service; it has at most m members, m being the
//! largest part. `H(t, k)` is the most members, the holder included, that one holder can inform
//! within time t when its island may grow by k more. It is the greatest of
//!
//! ```text
//! 1
//! H(t − s, k) + H(t − s − r, m − 1)                     a message far: a new island
//! H(t − s', a) + H(t − s' − r', k − 1 − a)              a message near: k is shared out
//! H(t − w, k − κ) + Q_a(t − w − f', κ) + x·H(t − w − f, m − 1)
//!                                                       a line for a ≥ 0 near and x ≥ 0 far ones
//! ```
//!
//! where w is the write for a + x readers, f' and f the near and far fetch among a + x, and
//! `Q_a(t, κ)` the most that a holders of one part inform when their islands share κ, themselves
//! counted. For any tree with groups and latency t, induction over its services shows that the
//! number of members is at most `H(t, m_root − 1)`: no service is cheaper than its price, an island
//! that starts across has at most m members, and what is left of an island is shared out by the
//! same rule.
//!
//! **Fan-in** is counted backwards in time, from when the root knows. Its messages are those of the
//! mirrored model. A line is taken member by member, the last to add first: taking it from a near
//! or far member costs `x'` or `x`, the first to add needs w. With `C(t, κ)` for what the member
//! that must have added t before the end, and those before it, bring in,
//!
//! ```text
//! C_near(t, κ) = max of  H(t − w, κ − 1)                            it is the first
//!                        H(t − x', a) + C_near(t − x', κ − 1 − a)   a near one was before it
//!                        H(t − x, a)  + C_far(t − x, κ − 1 − a)     a far one
//! C_far(t, κ)  = the same with H(·, m − 1), and κ for whoever was before it
//! H(t, k)      ≥ H(t − x', k − κ) + C_near(t − x', κ),  H(t − x, k − κ) + C_far(t − x, κ)
//! ```
//!
//! Times are whole multiples of a time step. All prices are rounded down, sums of them at least as far,
//! so rounding can only raise a count.

use std::ops::ControlFlow;

use corecast_model::{CostModel, Lines};

use crate::bound::measure::measure;
use crate::pace::Pace;

/// Steps that one count may take; 60 million are some 60 ms (AMD EPYC at 2.6 GHz, November 2026).
const WORK_MAX: usize = 60_000_000;
/// Most time steps that a latency is divided into.
const TIME_STEPS_MAX: usize = 4096;
/// With fewer time steps a count says nothing.
const TIME_STEPS_MIN: usize = 32;

/// The direction in which notifications flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// From the root.
    Out,
    /// To the root.
    In,
}

/// The least cost of one message.
#[derive(Clone, Copy, Debug)]
struct Message {
    /// The time for which the holder is blocked.
    held: f64,
    /// The time until the receiver has it.
    total: f64,
}

/// The least costs of lines within a part or between parts.
#[derive(Clone, Debug)]
struct SharedLineCosts {
    invalidate: f64,
    transfer: f64,
    /// Base and slope of each class of proximity that occurs.
    fetch: Vec<(f64, f64)>,
}

/// The prices of a partition.
#[derive(Clone, Debug)]
pub(super) struct Prices {
    /// The part of each member.
    pub(super) part: Vec<usize>,
    /// Members of each part.
    pub(super) size: Vec<usize>,
    near: Message,
    far: Message,
    lines: Option<(f64, SharedLineCosts, SharedLineCosts)>,
}

impl Prices {
    /// Computes the prices of a partition `part`. `costs` are mirrored for a fan-in.
    pub(super) fn new(
        costs: &CostModel,
        lines: Option<&Lines>,
        part: Vec<usize>,
        pace: &mut Pace<'_>,
    ) -> ControlFlow<(), Self> {
        let n = part.len();
        let mut size = vec![0; n];
        part.iter().for_each(|&p| size[p] += 1);
        let none = Message {
            held: f64::INFINITY,
            total: f64::INFINITY,
        };
        let mut message = [none; 2];
        let mut classes = [[false; 4]; 2];
        for i in 0..n {
            pace.spend(8 * n as u64)?;
            let (send, receive) = (costs.send_matrix().row(i), costs.receive_matrix().row(i));
            for j in (0..n).filter(|&j| j != i) {
                let far = usize::from(part[i] != part[j]);
                let m = &mut message[far];
                m.held = m.held.min(send[j]);
                m.total = m.total.min(send[j] + receive[j]);
                if let Some(lines) = lines {
                    classes[far][lines.proximity(i, j) as usize] = true;
                }
            }
        }
        let shared = |lines: &Lines, seen: [bool; 4]| {
            let c = lines.costs();
            let seen = || (0..4).filter(move |&class| seen[class]);
            let least = |list: &[f64; 4]| seen().map(|at| list[at]).fold(f64::INFINITY, f64::min);
            SharedLineCosts {
                invalidate: least(&c.invalidate),
                transfer: least(&c.transfer),
                fetch: seen().map(|at| (c.base[at], c.slope[at])).collect(),
            }
        };
        let lines = lines.map(|lines| {
            let [near, far] = classes.map(|seen| shared(lines, seen));
            (lines.costs().write, near, far)
        });
        let [near, far] = message;
        ControlFlow::Continue(Self {
            part,
            size,
            near,
            far,
            lines,
        })
    }

    /// Members of the largest part.
    pub(super) fn largest(&self) -> usize {
        self.size.iter().copied().max().unwrap_or(1)
    }
}

impl SharedLineCosts {
    fn fetch(&self, readers: usize) -> f64 {
        let each = self.fetch.iter().map(|(b, c)| b + c * readers as f64);
        each.fold(f64::INFINITY, f64::min)
    }
}

/// The next action of a holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HolderChoice {
    /// The holder informs nobody more in time.
    Stop,
    /// The holder sends a message to another part; it has `t_held` left then, the receiver `t_child`.
    Far { t_held: usize, t_child: usize },
    /// The holder sends a message within its part; the receiver's island may grow by `k_child`.
    Near {
        t_held: usize,
        t_child: usize,
        k_child: usize,
    },
    /// The holder writes a line for `near` and `far` readers; the near ones share `k_near`, themselves
    /// counted.
    Line {
        near: usize,
        far: usize,
        k_near: usize,
        t_held: usize,
        t_near: usize,
        t_far: usize,
    },
    /// The holder takes a line with `t_held` left, first from a near or far member. The near members of
    /// the line share `k_near`, themselves counted.
    Chain {
        far: bool,
        k_near: usize,
        t_held: usize,
    },
}

/// A member of a fan-in's line, in terms of the count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Adder {
    pub(super) far: bool,
    /// The most time that its sub-tree takes.
    pub(super) t: usize,
    /// The number by which its island may grow, if it is near.
    pub(super) k: usize,
}

/// The time of an addition for which no time is left.
pub(super) const OVER: usize = usize::MAX;

/// The tables of one count.
pub(super) struct Count {
    way: Flow,
    /// Counting stops at this many members.
    enough: u32,
    /// The most members of an island.
    m: usize,
    /// The most far members of a line.
    far_max: usize,
    time_step: f64,
    near: [usize; 2],
    far: [usize; 2],
    /// Fan-out: for each pair (near, far) of numbers of readers, the write, the near and the far fetch.
    serve: Vec<[usize; 3]>,
    /// Fan-in: the near transfer, the far transfer and the write.
    take: Option<[usize; 3]>,
    /// Steps of one time, about.
    per_time: usize,
    /// H, by time, then k.
    h: Vec<u32>,
    /// Q, by time, then a from 1, then κ from 0.
    q: Vec<u32>,
    /// C, by time, then κ: near, far, then near and far for at least two members.
    c: [Vec<u32>; 4],
}

impl Count {
    /// Prepares a count up to about `upper`, a latency that some tree has. `None` when the prices allow
    /// no count: something is free, or the tables would be too large.
    pub(super) fn new(prices: &Prices, way: Flow, upper: f64) -> Option<Self> {
        let (n, m) = (prices.part.len(), prices.largest());
        let far_max = n - 1;
        let lined = prices.lines.is_some() && n > 2;
        let per_time = match (lined, way) {
            (true, Flow::Out) => (m * m * m / 6 + 1) * (far_max + 1) + m * m * m,
            _ => 4 * m * m,
        };
        let time_steps = (WORK_MAX / per_time).min(TIME_STEPS_MAX);
        if upper <= 0.0 || time_steps < TIME_STEPS_MIN {
            return None;
        }
        let time_step = time_step(prices, upper, time_steps);
        let down = |cost: f64| rounded_down(cost, time_step);
        let pair = |m: Message| [down(m.held), down(m.total)];
        let mut serve = Vec::new();
        let mut take = None;
        if let (true, Some((write, near, far))) = (lined, &prices.lines) {
            match way {
                Flow::In => take = Some([down(near.transfer), down(far.transfer), down(*write)]),
                Flow::Out => serve = serve_prices(*write, near, far, m, far_max, down),
            }
        }
        let count = Self {
            way,
            enough: n as u32,
            m,
            far_max,
            time_step,
            near: pair(prices.near),
            far: pair(prices.far),
            serve,
            take,
            per_time,
            h: Vec::new(),
            q: Vec::new(),
            c: Default::default(),
        };
        count.takes_time().then_some(count)
    }

    /// Whether everything that informs a member takes time, as it must: the tables are filled by time.
    fn takes_time(&self) -> bool {
        let free = self.near[1] == 0
            || self.far[1] == 0
            || self
                .serve
                .iter()
                .any(|&[w, f_near, f_far]| w + f_near.min(f_far) == 0)
            || self.take.is_some_and(|[near, far, _]| near.min(far) == 0);
        !free
    }

    /// Returns the least time, in the model's unit, at which `H(t, first − 1)` reaches the whole team.
    /// It is at most `upper`, which must be the latency of some tree.
    pub(super) fn first_time(
        &mut self,
        first: usize,
        upper: f64,
        pace: &mut Pace<'_>,
    ) -> ControlFlow<(), f64> {
        let limit = (upper / self.time_step) as usize + 2;
        for t in 0..=limit {
            pace.spend(self.per_time as u64)?;
            self.fill(t);
            if self.h[t * self.m + first - 1] >= self.enough {
                return ControlFlow::Continue((t as f64 * self.time_step).min(upper));
            }
        }
        ControlFlow::Continue(upper)
    }

    /// Returns the last time in the tables.
    pub(super) fn last(&self) -> usize {
        self.h.len() / self.m - 1
    }

    fn fill(&mut self, t: usize) {
        let m = self.m;
        for k in 0..m {
            let (value, _) = self.best(t, k);
            self.h.push(value);
        }
        if !self.serve.is_empty() {
            for a in 1..m {
                for kappa in 0..m {
                    let value = self.share(t, a, kappa).map_or(0, |(_, value)| value);
                    self.q.push(value);
                }
            }
        }
        if let Some(take) = self.take {
            for kappa in 0..m {
                let [near, far, near_two, far_two] = self.chain(t, kappa, take);
                self.c[0].push(near);
                self.c[1].push(far);
                self.c[2].push(near_two);
                self.c[3].push(far_two);
            }
        }
    }

    #[inline]
    fn h(&self, t: usize, k: usize) -> u32 {
        self.h[t * self.m + k]
    }

    #[inline]
    fn q(&self, t: usize, a: usize, kappa: usize) -> u32 {
        if a == 0 {
            return 0;
        }
        self.q[(t * (self.m - 1) + a - 1) * self.m + kappa]
    }

    /// Returns the most that a holders of one part inform when they share κ, and by how much the island
    /// of the first of them may then grow; `None` when κ is too small for them.
    pub(super) fn share(&self, t: usize, a: usize, kappa: usize) -> Option<(usize, u32)> {
        if a == 0 || kappa < a {
            return None;
        }
        let own = |k: usize| {
            let others = match a {
                1 => 0,
                _ => self.q(t, a - 1, kappa - 1 - k),
            };
            (k, self.h(t, k) + others)
        };
        let most = if a == 1 {
            kappa - 1..=kappa - 1
        } else {
            0..=kappa - a
        };
        most.map(own)
            .reduce(|best, next| if next.1 > best.1 { next } else { best })
    }

    /// Returns `H(t, k)` and the action from which it comes.
    pub(super) fn best(&self, t: usize, k: usize) -> (u32, HolderChoice) {
        let mut best = (1, HolderChoice::Stop);
        let mut offer = |value: u32, choice: HolderChoice| {
            if value > best.0 {
                best = (value.min(self.enough), choice);
            }
        };
        let [held, total] = self.far;
        if t >= total {
            let child = self.h(t - total, self.m - 1);
            // A free action can be repeated without limit.
            let own = if held == 0 {
                self.enough
            } else {
                self.h(t - held, k)
            };
            offer(
                own + child,
                HolderChoice::Far {
                    t_held: t - held,
                    t_child: t - total,
                },
            );
        }
        let [held, total] = self.near;
        if t >= total {
            for k_child in 0..k {
                let value = self.h(t - held, k - 1 - k_child) + self.h(t - total, k_child);
                let (t_held, t_child) = (t - held, t - total);
                offer(
                    value,
                    HolderChoice::Near {
                        t_held,
                        t_child,
                        k_child,
                    },
                );
            }
        }
        self.lines_out(t, k, &mut offer);
        if let Some([near, far, _]) = self.take {
            self.lines_in(t, k, [near, far], &mut offer);
        }
        best
    }

    fn lines_out(&self, t: usize, k: usize, offer: &mut impl FnMut(u32, HolderChoice)) {
        if self.serve.is_empty() {
            return;
        }
        let after = |time: usize| t.checked_sub(time).unwrap_or(OVER);
        for near in 0..=k {
            for far in 2_usize.saturating_sub(near)..=self.far_max {
                let [write, fetch_near, fetch_far] = self.serve[near * (self.far_max + 1) + far];
                let Some(t_held) = t.checked_sub(write) else {
                    break;
                };
                let t_near = if near > 0 {
                    after(write + fetch_near)
                } else {
                    OVER
                };
                let t_far = if far > 0 {
                    after(write + fetch_far)
                } else {
                    OVER
                };
                match far {
                    _ if t_near != OVER || t_far != OVER => {}
                    0 => continue,
                    _ => break,
                }
                let islands = match t_far {
                    OVER => 0,
                    left => self.h(left, self.m - 1).saturating_mul(far as u32),
                };
                for k_near in near..=k {
                    let held = match write {
                        // The entry refers to itself: the action is free and can be repeated without
                        // limit.
                        0 if k_near == 0 => self.enough,
                        _ => self.h(t_held, k - k_near),
                    };
                    let inside = match t_near {
                        OVER => 0,
                        left => self.q(left, near, k_near),
                    };
                    let value = held.saturating_add(inside).saturating_add(islands);
                    offer(
                        value,
                        HolderChoice::Line {
                            near,
                            far,
                            k_near,
                            t_held,
                            t_near,
                            t_far,
                        },
                    );
                    if near == 0 || t_near == OVER {
                        break;
                    }
                }
                // More readers take longer, and cannot inform more than everybody.
                if islands >= self.enough {
                    break;
                }
            }
        }
    }

    fn lines_in(
        &self,
        t: usize,
        k: usize,
        taken: [usize; 2],
        offer: &mut impl FnMut(u32, HolderChoice),
    ) {
        for (far, time) in taken.into_iter().enumerate() {
            let Some(left) = t.checked_sub(time) else {
                continue;
            };
            for kappa in 0..=k {
                let chain = self.c[2 + far][left * self.m + kappa];
                if chain > 0 {
                    let choice = HolderChoice::Chain {
                        far: far == 1,
                        k_near: kappa,
                        t_held: left,
                    };
                    offer(self.h(left, k - kappa) + chain, choice);
                }
            }
        }
    }

    /// C for near and far, then both for at least two members; 0 where there is no time.
    fn chain(&self, t: usize, kappa: usize, take: [usize; 3]) -> [u32; 4] {
        debug_assert!(self.way == Flow::In);
        let value = |far, two| {
            self.link(t, far, kappa, two, take)
                .map_or(0, |(value, ..)| value)
        };
        [(false, false), (true, false), (false, true), (true, true)]
            .map(|(far, two)| value(far, two).min(self.enough))
    }

    /// The best that a member which must have added t before the end brings in, with those before
    /// it, of whom there must be some if `two`; what is left to itself, and whether the one before
    /// it is far and what its kind shares then.
    #[expect(
        clippy::type_complexity,
        reason = "one caller takes the value, the other the rest"
    )]
    fn link(
        &self,
        t: usize,
        far: bool,
        kappa: usize,
        two: bool,
        [x_near, x_far, write]: [usize; 3],
    ) -> Option<(u32, Adder, Option<(bool, usize)>)> {
        // The numbers by which its own island may grow, at the cost of κ if it is near.
        let shares = match (far, kappa) {
            (true, _) => self.m - 1..self.m,
            (false, 0) => return None,
            (false, _) => 0..kappa,
        };
        let mut best: Option<(u32, Adder, Option<(bool, usize)>)> = None;
        let mut offer = |value: u32, adder: Adder, before| {
            if best.is_none_or(|(most, ..)| value > most) {
                best = Some((value, adder, before));
            }
        };
        for k in shares {
            let rest = if far { kappa } else { kappa - 1 - k };
            for (time, before) in [(x_near, false), (x_far, true)] {
                let Some(left) = t.checked_sub(time) else {
                    continue;
                };
                let chain = self.c[usize::from(before)][left * self.m + rest];
                if chain > 0 {
                    let adder = Adder { far, t: left, k };
                    offer(self.h(left, k) + chain, adder, Some((before, rest)));
                }
            }
            if let (Some(left), false) = (t.checked_sub(write), two) {
                offer(self.h(left, k), Adder { far, t: left, k }, None);
            }
        }
        best
    }

    /// The members of a [`HolderChoice::Chain`], the last to add first.
    pub(super) fn adders(&self, far: bool, k_near: usize, t_held: usize) -> Vec<Adder> {
        let Some(take) = self.take else {
            return Vec::new();
        };
        let mut adders = Vec::new();
        let mut at = Some((far, k_near));
        let mut t = t_held;
        while let Some((far, kappa)) = at {
            let Some((_, adder, before)) = self.link(t, far, kappa, adders.is_empty(), take) else {
                break;
            };
            adders.push(adder);
            (t, at) = (adder.t, before);
        }
        adders
    }
}

/// For each pair (near, far) of readers the write and the fetches, in time steps; a fetch is what is
/// left of write and fetch together, so that only their sum is rounded.
fn serve_prices(
    write: f64,
    near: &SharedLineCosts,
    far: &SharedLineCosts,
    m: usize,
    far_max: usize,
    down: impl Fn(f64) -> usize,
) -> Vec<[usize; 3]> {
    let times = |count: usize, cost: f64| if count == 0 { 0.0 } else { count as f64 * cost };
    let mut all = Vec::with_capacity(m * (far_max + 1));
    for a in 0..m {
        for x in 0..=far_max {
            let write = write + times(a, near.invalidate) + times(x, far.invalidate);
            let written = down(write);
            let fetch = |shared: &SharedLineCosts| down(write + shared.fetch(a + x)) - written;
            all.push([written, fetch(near), fetch(far)]);
        }
    }
    all
}

/// The length of a time step: a common divisor of all prices where there is one that is long enough.
fn time_step(prices: &Prices, upper: f64, time_steps: usize) -> f64 {
    let mut costs = Vec::new();
    for m in [prices.near, prices.far] {
        costs.extend([m.held, m.total]);
    }
    if let Some((write, near, far)) = &prices.lines {
        costs.push(*write);
        for shared in [near, far] {
            costs.extend([shared.invalidate, shared.transfer]);
            shared.fetch.iter().for_each(|&(b, c)| costs.extend([b, c]));
        }
    }
    measure(&costs, upper / time_steps as f64, 1e-12)
}

/// As good as for ever: longer than all tables, and sums of some are still numbers.
const NEVER: usize = usize::MAX / 8;

/// The most time steps that are not longer than the cost.
fn rounded_down(cost: f64, time_step: f64) -> usize {
    // A hair more than the quotient, so that exact multiples are not lost to division.
    let near = (cost / time_step).round();
    let time_steps = if near * time_step <= cost * (1.0 + 1e-12) {
        near as usize
    } else {
        (cost / time_step).floor() as usize
    };
    time_steps.min(NEVER)
}
