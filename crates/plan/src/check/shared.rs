//! The state of a line that several members share, while a script is played.

use corecast_model::Lines;

use super::ranks::Ranks;
use super::script::SharedLine;

/// The state of one line.
pub(super) struct LineState {
    shared: SharedLine,
    /// The ranks that the writers so far have heard of; `None` before the first write.
    pub(super) news: Option<Ranks>,
    /// The members that wait to add, each with the time of its arrival.
    queue: Vec<(f64, usize)>,
    /// Whether a member is adding.
    adding: bool,
    /// The number of members that have added, and then the last of them.
    added: usize,
    last: usize,
}

impl LineState {
    pub(super) fn new(shared: &SharedLine) -> Self {
        Self {
            last: shared.parent,
            shared: shared.clone(),
            news: None,
            queue: Vec::new(),
            adding: false,
            added: 0,
        }
    }

    pub(super) fn parent(&self) -> usize {
        self.shared.parent
    }

    pub(super) fn members(&self) -> &[usize] {
        &self.shared.members
    }

    /// Returns how long the parent is blocked to write the line while all members poll it.
    pub(super) fn write(&self, lines: &Lines) -> f64 {
        lines.write(self.parent(), self.members())
    }

    /// Returns how long a member is blocked to fetch the line together with all others.
    pub(super) fn fetch(&self, lines: &Lines, rank: usize) -> f64 {
        lines.fetch(self.parent(), rank, self.members().len())
    }

    /// Returns how long the parent is blocked to fetch the line from the member that added last.
    pub(super) fn collect(&self, lines: &Lines) -> f64 {
        lines.transfer(self.parent(), self.last)
    }

    /// Puts a member that has arrived into the queue.
    pub(super) fn arrive(&mut self, rank: usize, now: f64) {
        self.queue.push((now, rank));
    }

    /// Starts the next addition unless one is going on. Returns its rank and how long it blocks:
    /// the first to arrive is next, and the lowest rank among those that arrived together.
    pub(super) fn begin(&mut self, lines: &Lines) -> Option<(usize, f64)> {
        if self.adding {
            return None;
        }
        let first = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        let &(_, rank) = self.queue.iter().min_by(|a, b| first(a, b))?;
        self.queue.retain(|&(_, other)| other != rank);
        self.adding = true;
        let blocked = match self.added {
            0 => lines.costs().write,
            _ => lines.transfer(self.parent(), self.last),
        };
        Some((rank, blocked))
    }

    /// Ends the addition of a member, which adds the ranks that it has heard of.
    pub(super) fn end(&mut self, rank: usize, heard: &Ranks) {
        (self.adding, self.last) = (false, rank);
        self.added += 1;
        match &mut self.news {
            Some(news) => _ = news.join(heard),
            empty => *empty = Some(heard.clone()),
        }
    }

    /// Whether all members have added.
    pub(super) fn is_full(&self) -> bool {
        self.added == self.members().len()
    }
}
