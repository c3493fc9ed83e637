//! Plays a script: a clock that jumps from event to event.
//!
//! Two things happen: a sender finishes writing, and a receiver finishes taking. Writing blocks the
//! sender `send`; the message then lies ready. Taking starts when the message lies ready and its
//! receiver has come to that action, and blocks the receiver `receive`.
//!
//! Lines that a group shares go the same way: the parent writes once and all members fetch, or the
//! members add one after another and the parent fetches. Ties are broken after all events of one
//! instant, because several members may reach a line in the same one.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use corecast_model::{CostModel, Lines};

use super::error::CheckError;
use super::ranks::Ranks;
use super::script::{Action, Script};
use super::shared::LineState;

/// The result of a script that was played.
pub(super) struct Played {
    /// When each rank has ended its last action.
    pub(super) done: Vec<f64>,
    /// The ranks that each rank has heard of, itself included.
    pub(super) heard: Vec<Ranks>,
    /// The first rank that took a contribution twice, and the rank that it came from.
    pub(super) twice: Option<(usize, usize)>,
    /// The number of messages sent.
    pub(super) messages: usize,
}

enum EventKind {
    Written {
        from: usize,
        to: usize,
        news: Ranks,
    },
    Taken {
        to: usize,
        news: Ranks,
    },
    LineWritten {
        line: usize,
        news: Ranks,
    },
    /// The next member starts to add to a free line. The event comes after all others of the same
    /// time, because several members may arrive at once.
    Settle {
        line: usize,
    },
    Added {
        line: usize,
        by: usize,
    },
}

struct Event {
    at: f64,
    /// The number of the event, which orders events of the same time.
    serial: u64,
    what: EventKind,
}

struct Play<'a> {
    costs: &'a CostModel,
    script: Script,
    next: Vec<usize>,
    /// For each rank the sender that it waits for, while no message is ready.
    waits: Vec<Option<usize>>,
    done: Vec<f64>,
    heard: Vec<Ranks>,
    twice: Option<(usize, usize)>,
    messages: usize,
    lines: Vec<LineState>,
    line_costs: Option<&'a Lines>,
    /// For each rank the line that it polls, while the line is not written or not full.
    polls: Vec<Option<usize>>,
    /// Messages that are ready, by receiver and sender, oldest first.
    ready: Vec<BTreeMap<usize, VecDeque<Ranks>>>,
    events: BinaryHeap<Event>,
    serial: u64,
}

/// Plays the script from time 0 until no event is left.
///
/// # Errors
///
/// A member that waits for ever, or a message that is never taken.
pub(super) fn play(costs: &CostModel, script: Script) -> Result<Played, CheckError> {
    let n = costs.n();
    let lines: Vec<LineState> = script.lines.iter().map(LineState::new).collect();
    if !lines.is_empty() && costs.lines().is_none() {
        return Err(CheckError::NoLines);
    }
    let mut play = Play {
        costs,
        script,
        lines,
        line_costs: costs.lines(),
        polls: vec![None; n],
        next: vec![0; n],
        waits: vec![None; n],
        done: vec![0.0; n],
        heard: (0..n).map(|rank| Ranks::only(n, rank)).collect(),
        twice: None,
        messages: 0,
        ready: vec![BTreeMap::new(); n],
        events: BinaryHeap::new(),
        serial: 0,
    };
    (0..n).for_each(|rank| play.act(rank, 0.0));
    while let Some(event) = play.events.pop() {
        play.happen(event);
    }
    play.end()
}

impl Play<'_> {
    /// Starts the next action of a rank at time `now`.
    fn act(&mut self, rank: usize, now: f64) {
        self.done[rank] = now;
        match self.script.actions[rank].get(self.next[rank]).copied() {
            None => {}
            Some(Action::Send(to)) => {
                let news = self.heard[rank].clone();
                let written = now + self.costs.send(rank, to);
                self.messages += 1;
                let from = rank;
                self.plan(written, EventKind::Written { from, to, news });
            }
            Some(Action::Receive(from)) => {
                self.waits[rank] = Some(from);
                self.look(rank, now);
            }
            Some(Action::Write(line)) => {
                let news = self.heard[rank].clone();
                let written = now + self.blocked(|lines, costs| lines[line].write(costs));
                self.messages += 1;
                self.plan(written, EventKind::LineWritten { line, news });
            }
            Some(Action::Fetch(line) | Action::Collect(line)) => {
                self.polls[rank] = Some(line);
                self.poll(rank, now);
            }
            Some(Action::Add(line)) => {
                self.lines[line].arrive(rank, now);
                self.messages += 1;
                self.plan(now, EventKind::Settle { line });
            }
        }
    }

    /// Returns the time for which an action on a line blocks. Scripts with lines are only played
    /// when the model has the costs.
    fn blocked(&mut self, what: impl FnOnce(&mut [LineState], &Lines) -> f64) -> f64 {
        self.line_costs
            .map_or(0.0, |costs| what(&mut self.lines, costs))
    }

    /// Lets a rank start to fetch the line that it polls, if the line is ready: when the parent has
    /// written it, or, for the parent itself, when all members have added.
    fn poll(&mut self, rank: usize, now: f64) {
        let Some(line) = self.polls[rank] else { return };
        let own = self.lines[line].parent() == rank;
        if own && !self.lines[line].is_full() {
            return;
        }
        let Some(news) = self.lines[line].news.clone() else {
            return;
        };
        self.polls[rank] = None;
        let taken = now
            + self.blocked(|lines, costs| match own {
                true => lines[line].collect(costs),
                false => lines[line].fetch(costs, rank),
            });
        self.plan(taken, EventKind::Taken { to: rank, news });
    }

    /// Lets a waiting rank start to take the oldest message of its sender, if one is ready.
    fn look(&mut self, to: usize, now: f64) {
        let Some(from) = self.waits[to] else { return };
        let queue = self.ready[to].get_mut(&from);
        if let Some(news) = queue.and_then(VecDeque::pop_front) {
            self.waits[to] = None;
            let taken = now + self.costs.receive(from, to);
            self.plan(taken, EventKind::Taken { to, news });
        }
    }

    fn happen(&mut self, Event { at, what, .. }: Event) {
        match what {
            EventKind::Written { from, to, news } => {
                self.ready[to].entry(from).or_default().push_back(news);
                self.look(to, at);
                self.step(from, at);
            }
            EventKind::Taken { to, news } => {
                if let Some(of) = self.heard[to].join(&news) {
                    self.twice.get_or_insert((to, of));
                }
                self.step(to, at);
            }
            EventKind::LineWritten { line, news } => {
                self.lines[line].news = Some(news);
                for rank in self.lines[line].members().to_vec() {
                    self.poll(rank, at);
                }
                self.step(self.lines[line].parent(), at);
            }
            EventKind::Settle { line } => self.settle(line, at),
            EventKind::Added { line, by } => {
                self.lines[line].end(by, &self.heard[by]);
                self.plan(at, EventKind::Settle { line });
                self.poll(self.lines[line].parent(), at);
                self.step(by, at);
            }
        }
    }

    fn settle(&mut self, line: usize, now: f64) {
        let next = self
            .line_costs
            .and_then(|costs| self.lines[line].begin(costs));
        if let Some((by, blocked)) = next {
            self.plan(now + blocked, EventKind::Added { line, by });
        }
    }

    fn step(&mut self, rank: usize, now: f64) {
        self.next[rank] += 1;
        self.act(rank, now);
    }

    fn plan(&mut self, at: f64, what: EventKind) {
        let serial = self.serial;
        self.serial += 1;
        self.events.push(Event { at, serial, what });
    }

    fn end(self) -> Result<Played, CheckError> {
        for (rank, waits) in self.waits.iter().enumerate() {
            if let &Some(source_rank) = waits {
                return Err(CheckError::Stuck { rank, source_rank });
            }
        }
        for (rank, polls) in self.polls.iter().enumerate() {
            if let &Some(line) = polls {
                let source_rank = self.lines[line].parent();
                return Err(CheckError::Stuck { rank, source_rank });
            }
        }
        for (rank, queues) in self.ready.iter().enumerate() {
            let left = queues.iter().find(|(_, queue)| !queue.is_empty());
            if let Some((&source_rank, _)) = left {
                return Err(CheckError::Untaken { rank, source_rank });
            }
        }
        Ok(Played {
            done: self.done,
            heard: self.heard,
            twice: self.twice,
            messages: self.messages,
        })
    }
}

impl Event {
    /// Returns 1 for events that come after all others of the same time.
    fn class(&self) -> u8 {
        u8::from(matches!(self.what, EventKind::Settle { .. }))
    }
}

/// Reverses the order, because the heap gives its greatest element first: the earliest event is the
/// greatest, and of events at the same time the oldest.
impl Ord for Event {
    fn cmp(&self, other: &Self) -> Ordering {
        let later = other.at.total_cmp(&self.at);
        let class = other.class().cmp(&self.class());
        later.then(class).then(other.serial.cmp(&self.serial))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Event {}
