//! Cores in virtual time: each does one thing at a time, and messages take the time of both.

use corecast_model::CostModel;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Time in thousandths of the unit of the costs.
pub(super) type Time = u64;

/// A cost as a time.
pub(super) fn time(cost: f64) -> Time {
    (cost * 1000.0).round() as Time
}

/// What a core takes up next.
#[derive(Debug)]
pub(super) enum Work<M> {
    /// A message, and which core it is from.
    Message(usize, M),
    /// What it does from time to time. It comes before messages that wait.
    Tick,
}

/// Something of a core's that is due.
#[derive(Debug)]
struct Due<M> {
    at: Time,
    /// What was asked for first comes first.
    number: u64,
    core: usize,
    /// Work that arrives, or none: the core is free.
    work: Option<Work<M>>,
}

impl<M> PartialEq for Due<M> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<M> Eq for Due<M> {}

impl<M> PartialOrd for Due<M> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<M> Ord for Due<M> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

#[derive(Debug)]
struct Core<M> {
    is_busy: bool,
    waiting: VecDeque<Work<M>>,
}

/// All cores.
#[derive(Debug)]
pub(super) struct Cores<M> {
    costs: CostModel,
    /// What a message takes at its receiver beside the pairwise cost.
    handling: Time,
    cores: Vec<Core<M>>,
    due: BinaryHeap<Reverse<Due<M>>>,
    number: u64,
    /// The core that is at work, and the time there.
    me: usize,
    now: Time,
}

impl<M> Cores<M> {
    /// Idle cores with these costs.
    pub(super) fn new(costs: CostModel, handling: f64) -> Self {
        let core = || Core {
            is_busy: false,
            waiting: VecDeque::new(),
        };
        Self {
            cores: std::iter::repeat_with(core).take(costs.n()).collect(),
            costs,
            handling: time(handling),
            due: BinaryHeap::new(),
            number: 0,
            me: 0,
            now: 0,
        }
    }

    /// The time at the core that is at work.
    pub(super) fn now(&self) -> Time {
        self.now
    }

    /// The core that is at work sends a message.
    pub(super) fn send(&mut self, to: usize, message: M) {
        self.now += time(self.costs.send(self.me, to));
        self.add(self.now, to, Some(Work::Message(self.me, message)));
    }

    /// A core has something to do at a time.
    pub(super) fn tick_at(&mut self, at: Time, core: usize) {
        self.add(at, core, Some(Work::Tick));
    }

    fn add(&mut self, at: Time, core: usize, work: Option<Work<M>>) {
        self.number += 1;
        self.due.push(Reverse(Due {
            at,
            number: self.number,
            core,
            work,
        }));
    }

    /// The next work that a core begins before `end`: by then it has received the message, if it is one. What it sends until
    /// [`Cores::done`] takes its time.
    pub(super) fn next(&mut self, end: Time) -> Option<(usize, Work<M>)> {
        loop {
            if self.due.peek()?.0.at > end {
                return None;
            }
            let Reverse(Due { at, core, work, .. }) = self.due.pop()?;
            let place = &mut self.cores[core];
            match work {
                None => place.is_busy = false,
                Some(Work::Tick) => place.waiting.push_front(Work::Tick),
                Some(message) => place.waiting.push_back(message),
            }
            if place.is_busy {
                continue;
            }
            let Some(work) = place.waiting.pop_front() else {
                continue;
            };
            place.is_busy = true;
            (self.me, self.now) = (core, at);
            if let Work::Message(from, _) = work {
                self.now += time(self.costs.receive(from, core)) + self.handling;
            }
            return Some((core, work));
        }
    }

    /// The core that is at work has done it.
    pub(super) fn done(&mut self) {
        self.add(self.now, self.me, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_model::Unit;

    fn costs() -> CostModel {
        let row = |cost: f64| vec![vec![cost; 3]; 3];
        CostModel::new(Unit::Cycles, row(10.0), row(100.0), vec![0; 3]).unwrap()
    }

    /// Core 0 sends to 1, to 2 and to 1 again; each answers. By hand.
    #[test]
    fn messages_take_their_time_at_both_ends_and_wait_for_their_receiver() {
        let mut cores = Cores::new(costs(), 5.0);
        cores.tick_at(0, 0);
        let mut seen = Vec::new();
        while let Some((core, work)) = cores.next(time(1000.0)) {
            match work {
                Work::Tick => {
                    for to in [1, 2, 1] {
                        cores.send(to, ());
                    }
                }
                Work::Message(from, ()) => {
                    seen.push((core, from, cores.now() / 1000));
                    if core != 0 {
                        cores.send(0, ());
                    }
                }
            }
            cores.done();
        }
        let expected = [
            // Sent at 10 and 20.
            (1, 0, 115),
            (2, 0, 125),
            // The answer of 1 is there at 125, that of 2 at 135 and waits; the second of 1 waits until 125.
            (0, 1, 230),
            (1, 0, 230),
            (0, 2, 335),
            (0, 1, 440),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn nothing_begins_after_the_end() {
        let mut cores = Cores::<()>::new(costs(), 0.0);
        cores.tick_at(time(7.0), 2);
        assert!(cores.next(time(6.0)).is_none());
        assert!(matches!(cores.next(time(7.0)), Some((2, Work::Tick))));
    }
}
