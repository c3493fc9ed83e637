//! What each rank does when, on a simulated machine.

mod perfetto;

use crate::{Time, units};

/// One operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Who.
    pub rank: u32,
    /// What.
    pub name: &'static str,
    /// With which rank, or on which of its shared lines.
    pub with: u32,
    /// From when, in thousandths of the machine's unit.
    pub start: Time,
    /// Until when.
    pub end: Time,
}

/// Operations in the order in which they ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    on: bool,
    unit: String,
    start: Time,
    spans: Vec<Span>,
}

impl Trace {
    pub(crate) fn new(on: bool, unit: &str) -> Self {
        Self {
            on,
            unit: unit.to_owned(),
            ..Self::default()
        }
    }

    pub(crate) fn note(&mut self, rank: u32, name: &'static str, with: u32, span: (Time, Time)) {
        if self.on {
            let (start, end) = span;
            self.spans.push(Span {
                rank,
                name,
                with,
                start,
                end,
            });
        }
    }

    /// Forgets all, and begins anew.
    pub(crate) fn restart(&mut self, at: Time) {
        self.start = at;
        self.spans.clear();
    }

    /// When it began.
    pub(crate) fn start(&self) -> Time {
        self.start
    }

    /// All operations.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The machine's unit.
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// A time of a span in the machine's unit, from the beginning of the trace.
    pub fn since_start(&self, time: Time) -> f64 {
        units(time.saturating_sub(self.start))
    }

    /// Operations that a rank gives to another, each with the one that takes it: the k-th with the k-th.
    pub fn pairs(&self) -> Vec<(Span, Span)> {
        let gives = |name| match name {
            "send" => Some("receive"),
            "notify" => Some("wait"),
            _ => None,
        };
        let mut taken = vec![false; self.spans.len()];
        let given = self
            .spans
            .iter()
            .filter_map(|span| Some((span, gives(span.name)?)));
        let pair = |(span, name): (&Span, &str)| {
            let takes = |index: &usize| {
                let other = &self.spans[*index];
                let same = other.name == name && other.rank == span.with && other.with == span.rank;
                same && !taken[*index]
            };
            let index = (0..self.spans.len()).find(takes)?;
            taken[index] = true;
            Some((*span, self.spans[index]))
        };
        given.filter_map(pair).collect()
    }
}
