//! One operation as a picture: a lane for each rank, a box for each thing that it does, arrows for messages.

use super::Trace;
use crate::units;
use corecast_plan::draw::escaped;
use std::fmt::Write;

const LANE: f64 = 22.0;
const BOX: f64 = 14.0;
const LEFT: f64 = 70.0;
const WIDTH: f64 = 900.0;
const TOP: f64 = 40.0;

/// The colour of an operation: giving, taking, and anything else.
fn colour(name: &str) -> &'static str {
    match name {
        "send" | "notify" | "post" | "add" | "lend" => "#2b6cb0",
        "receive" | "wait" | "read" | "collect" | "meet" | "borrow" | "fetch" => "#a0aec0",
        _ => "#dd6b20",
    }
}

impl Trace {
    /// The timeline as SVG. Blue is giving, grey is waiting and taking; hovering says what, with whom and
    /// when.
    pub fn svg(&self, title: &str) -> String {
        let at = |time: u64| units(time.saturating_sub(self.start));
        let end = self
            .spans
            .iter()
            .map(|span| at(span.end))
            .fold(1e-9, f64::max);
        let ranks = self
            .spans
            .iter()
            .map(|span| span.rank + 1)
            .max()
            .unwrap_or(1);
        let x = |time: u64| LEFT + at(time) / end * WIDTH;
        let y = |rank: u32| TOP + f64::from(rank) * LANE;
        let (width, height) = (LEFT + WIDTH + 20.0, y(ranks) + 40.0);
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"sans-serif\" font-size=\"11\">\n\
             <defs><marker id=\"tip\" viewBox=\"0 0 6 6\" refX=\"6\" refY=\"3\" markerWidth=\"5\" \
             markerHeight=\"5\" orient=\"auto\"><path d=\"M0 0L6 3L0 6z\"/></marker></defs>\n\
             <text x=\"{LEFT}\" y=\"20\" font-size=\"13\">{}</text>\n",
            escaped(title)
        );
        for rank in 0..ranks {
            let (y, end) = (y(rank), LEFT + WIDTH);
            let (label, line) = (y + BOX - 3.0, y + BOX / 2.0);
            let _ = writeln!(text, "<text x=\"5\" y=\"{label}\">rank {rank}</text>");
            let _ = writeln!(
                text,
                "<line x1=\"{LEFT}\" x2=\"{end}\" y1=\"{line}\" y2=\"{line}\" stroke=\"#e2e8f0\"/>"
            );
        }
        for span in &self.spans {
            let wide = (x(span.end) - x(span.start)).max(0.5);
            let _ = writeln!(
                text,
                "<rect x=\"{:.2}\" y=\"{}\" width=\"{wide:.2}\" height=\"{BOX}\" fill=\"{}\">\
                 <title>{} {}, {} to {} {}</title></rect>",
                x(span.start),
                y(span.rank),
                colour(span.name),
                span.name,
                span.with,
                at(span.start),
                at(span.end),
                self.unit
            );
        }
        for (from, to) in self.pairs() {
            let _ = writeln!(
                text,
                "<line x1=\"{:.2}\" y1=\"{}\" x2=\"{:.2}\" y2=\"{}\" stroke=\"#1a202c\" \
                 stroke-width=\"0.7\" marker-end=\"url(#tip)\"/>",
                x(from.end),
                y(from.rank) + BOX / 2.0,
                x(to.end),
                y(to.rank) + BOX / 2.0
            );
        }
        let scale = y(ranks) + 16.0;
        let _ = writeln!(text, "<text x=\"{LEFT}\" y=\"{scale}\">0</text>");
        let _ = writeln!(
            text,
            "<text x=\"{}\" y=\"{scale}\" text-anchor=\"end\">{end} {}</text>\n</svg>",
            LEFT + WIDTH,
            self.unit
        );
        text
    }
}
