//! Timelines: what each rank does and when.

mod perfetto;

use crate::{VirtualTime, units};

/// One operation of a rank in a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceSpan {
    /// The rank.
    pub rank: u32,
    /// The name of the operation.
    pub name: &'static str,
    /// The other rank, or the number of the shared line.
    pub with: u32,
    /// The start, in thousandths of the machine's unit.
    pub start: VirtualTime,
    /// The end, in the same unit.
    pub end: VirtualTime,
}

/// Operations in the order in which they ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    on: bool,
    unit: String,
    start: VirtualTime,
    spans: Vec<TraceSpan>,
}

impl Trace {
    pub(crate) fn new(on: bool, unit: &str) -> Self {
        Self {
            on,
            unit: unit.to_owned(),
            ..Self::default()
        }
    }

    pub(crate) fn note(
        &mut self,
        rank: u32,
        name: &'static str,
        with: u32,
        span: (VirtualTime, VirtualTime),
    ) {
        if self.on {
            let (start, end) = span;
            self.spans.push(TraceSpan {
                rank,
                name,
                with,
                start,
                end,
            });
        }
    }

    /// Removes all operations; the timeline begins at this time.
    pub(crate) fn restart(&mut self, at: VirtualTime) {
        self.start = at;
        self.spans.clear();
    }

    /// The time at which the timeline begins.
    pub(crate) fn start(&self) -> VirtualTime {
        self.start
    }

    /// All operations.
    pub fn spans(&self) -> &[TraceSpan] {
        &self.spans
    }

    /// The machine's unit.
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// A time of a span in the machine's unit, from the beginning of the trace.
    pub fn since_start(&self, time: VirtualTime) -> f64 {
        units(time.saturating_sub(self.start))
    }

    /// Pairs the k-th send from one rank to another with the k-th receive there, and notifications with waits
    /// likewise.
    pub fn pairs(&self) -> Vec<(TraceSpan, TraceSpan)> {
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
        let pair = |(span, name): (&TraceSpan, &str)| {
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
