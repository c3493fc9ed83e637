//! Plays a script: a clock that jumps from event to event.
//!
//! Two things happen: a sender finishes writing, and a receiver finishes taking. Writing blocks the
//! sender `send`; the message then lies ready. Taking starts when the message lies ready and its
//! receiver has come to that action, and blocks the receiver `receive`.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use corecast_model::CostModel;

use super::CheckError;
use super::ranks::Ranks;
use super::script::{Action, Script};

/// How a script went.
pub(super) struct Played {
    /// When each rank has ended its last action.
    pub(super) done: Vec<f64>,
    /// Of whom each rank has heard, itself included.
    pub(super) heard: Vec<Ranks>,
    /// The first rank that heard of somebody again, and of whom.
    pub(super) twice: Option<(usize, usize)>,
    /// Messages sent.
    pub(super) messages: usize,
}

enum What {
    Written { from: usize, to: usize, news: Ranks },
    Taken { to: usize, news: Ranks },
}

struct Event {
    at: f64,
    /// Counts events, so that those of one moment have an order.
    serial: u64,
    what: What,
}

struct Play<'a> {
    costs: &'a CostModel,
    script: Script,
    next: Vec<usize>,
    /// For whose message a rank waits, while none lies ready.
    waits: Vec<Option<usize>>,
    done: Vec<f64>,
    heard: Vec<Ranks>,
    twice: Option<(usize, usize)>,
    messages: usize,
    /// Messages that lie ready, by receiver and sender, oldest first.
    ready: Vec<BTreeMap<usize, VecDeque<Ranks>>>,
    events: BinaryHeap<Event>,
    serial: u64,
}

/// Plays the script from moment 0 until nothing happens any more.
///
/// # Errors
///
/// A member that waits for ever; a message that is left over.
pub(super) fn play(costs: &CostModel, script: Script) -> Result<Played, CheckError> {
    let n = costs.n();
    let mut play = Play {
        costs,
        script,
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
    /// A rank comes to its next action at this moment.
    fn act(&mut self, rank: usize, now: f64) {
        self.done[rank] = now;
        match self.script.actions[rank].get(self.next[rank]).copied() {
            None => {}
            Some(Action::Send(to)) => {
                let news = self.heard[rank].clone();
                let written = now + self.costs.send(rank, to);
                self.messages += 1;
                let from = rank;
                self.plan(written, What::Written { from, to, news });
            }
            Some(Action::Receive(from)) => {
                self.waits[rank] = Some(from);
                self.look(rank, now);
            }
        }
    }

    /// A rank that waits starts to take the oldest message of the other one, if one lies ready.
    fn look(&mut self, to: usize, now: f64) {
        let Some(from) = self.waits[to] else { return };
        let queue = self.ready[to].get_mut(&from);
        if let Some(news) = queue.and_then(VecDeque::pop_front) {
            self.waits[to] = None;
            let taken = now + self.costs.receive(from, to);
            self.plan(taken, What::Taken { to, news });
        }
    }

    fn happen(&mut self, Event { at, what, .. }: Event) {
        match what {
            What::Written { from, to, news } => {
                self.ready[to].entry(from).or_default().push_back(news);
                self.look(to, at);
                self.step(from, at);
            }
            What::Taken { to, news } => {
                if let Some(of) = self.heard[to].join(&news) {
                    self.twice.get_or_insert((to, of));
                }
                self.step(to, at);
            }
        }
    }

    fn step(&mut self, rank: usize, now: f64) {
        self.next[rank] += 1;
        self.act(rank, now);
    }

    fn plan(&mut self, at: f64, what: What) {
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

/// The heap gives its greatest element first: the earliest event, and of one moment the oldest.
impl Ord for Event {
    fn cmp(&self, other: &Self) -> Ordering {
        let later = other.at.total_cmp(&self.at);
        later.then(other.serial.cmp(&self.serial))
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
