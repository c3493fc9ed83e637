//! A timeline that Perfetto and Chrome open: the trace event format.

use super::Trace;
use serde_json::{Value, json};

impl Trace {
    /// The timeline as JSON of trace events: a track for each rank, an arrow for each message. A cycle is
    /// shown as a nanosecond.
    ///
    /// # Source
    ///
    /// *Trace Event Format*, Google; complete events `X`, flows `s` and `f`, names `M`.
    pub fn perfetto(&self) -> String {
        // Times of the format are microseconds.
        let at = |time: u64| self.since_start(time) / 1000.0;
        let mut ranks: Vec<u32> = self.spans.iter().map(|span| span.rank).collect();
        ranks.sort_unstable();
        ranks.dedup();
        let name = |rank: u32| {
            let name = json!({ "name": format!("rank {rank}") });
            json!({ "ph": "M", "name": "thread_name", "pid": 0, "tid": rank, "args": name })
        };
        let mut events: Vec<Value> = ranks.into_iter().map(name).collect();
        events.extend(self.spans.iter().map(|span| {
            json!({
                "ph": "X", "name": span.name, "pid": 0, "tid": span.rank,
                "ts": at(span.start), "dur": at(span.end) - at(span.start),
                "args": { "with": span.with },
            })
        }));
        for (id, (from, to)) in self.pairs().into_iter().enumerate() {
            let flow = |ph, rank, time| {
                json!({
                    "ph": ph, "name": "message", "cat": "message", "id": id, "pid": 0, "tid": rank,
                    "ts": at(time), "bp": "e",
                })
            };
            events.push(flow("s", from.rank, from.start));
            events.push(flow("f", to.rank, to.end));
        }
        let unit = format!("{}, shown as ns", self.unit);
        let other = json!({ "unit": unit });
        json!({ "displayTimeUnit": "ns", "otherData": other, "traceEvents": events }).to_string()
    }
}
