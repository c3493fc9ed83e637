//! What becomes of a line that several members share, while a script is played.

use corecast_model::Lines;

use super::ranks::Ranks;
use super::script::SharedLine;

/// The state of one line.
pub(super) struct LineState {
    shared: SharedLine,
    /// Of whom those heard who have written so far.
    pub(super) news: Option<Ranks>,
    /// Who has come to add and could not yet: when, and who.
    queue: Vec<(f64, usize)>,
    /// Who is adding.
    adding: bool,
    /// How many have added, and who was the last.
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

    /// How long its parent is blocked to write it while all members poll it.
    pub(super) fn write(&self, lines: &Lines) -> f64 {
        lines.write(self.parent(), self.members())
    }

    /// How long a member is blocked to fetch it together with all others.
    pub(super) fn fetch(&self, lines: &Lines, rank: usize) -> f64 {
        lines.fetch(self.parent(), rank, self.members().len())
    }

    /// How long the parent is blocked to fetch it from whoever added last.
    pub(super) fn collect(&self, lines: &Lines) -> f64 {
        lines.transfer(self.parent(), self.last)
    }

    /// A member has come to add.
    pub(super) fn arrive(&mut self, rank: usize, now: f64) {
        self.queue.push((now, rank));
    }

    /// Whoever is next to add and for how long, if nobody does: the first to come, and of those who
    /// came together the least rank.
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

    /// The member has added what it has heard of.
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
