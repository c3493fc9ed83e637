//! What each rank does when.

use crate::Time;

/// One operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Who.
    pub rank: u32,
    /// What.
    pub name: &'static str,
    /// With whom, or on which line.
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
}
