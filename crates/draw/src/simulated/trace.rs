//! A run on the simulated machine over time, with a lane for each rank, a block for each of its calls, and
//! arrows for messages.

use corecast_sim::trace::{Trace, TraceSpan};
use svg::Node;
use svg::node::element::Group;

use crate::canvas::{self, line, rectangle, text, width_of, with_hint};
use crate::plot::ticks;

/// Lengths in pixels.
const LANE: f64 = 22.0;
const BLOCK: f64 = 14.0;
const LEFT: f64 = 70.0;
const WIDTH: f64 = 900.0;
const TOP: f64 = 58.0;

/// What the picture says of its marks.
const LEGEND: &str = "blue: sends; grey: receives or waits; orange: waits until others have read what it lends; \
    arrow: a message";

/// The colour of a block, as [`LEGEND`] says.
fn colour(name: &str) -> &'static str {
    match name {
        "send" | "notify" | "post" | "add" | "lend" => "#2b6cb0",
        "receive" | "wait" | "read" | "collect" | "meet" | "borrow" | "fetch" => "#a0aec0",
        _ => "#dd6b20",
    }
}

/// The timeline of `trace` as SVG; a hint on each block names the call, the peer and the times.
#[must_use]
pub fn trace_svg(trace: &Trace, title: &str) -> String {
    let spans = trace.spans();
    let start = |span: &TraceSpan| trace.since_start(span.start);
    let end = |span: &TraceSpan| trace.since_start(span.end);
    let latest = spans.iter().map(end).fold(1e-9, f64::max);
    let ranks = spans.iter().map(|span| span.rank + 1).max().unwrap_or(1);
    let x = |time: f64| LEFT + time / latest * WIDTH;
    let y = |rank: u32| TOP + f64::from(rank) * LANE;
    let width = (LEFT + WIDTH + 20.0).max(LEFT + width_of(title, 13.0));
    let height = y(ranks) + 26.0;
    let mut picture = canvas::document(width, height, title)
        .add(canvas::arrowhead("tip", "#1a202c"))
        .add(text(title, LEFT, 20.0).set("font-size", 13))
        .add(text(LEGEND, LEFT, 38.0));
    for (tick, (time, label)) in ticks(0.0, latest, 8).into_iter().enumerate() {
        let label = match tick {
            0 => format!("{label} {}", trace.unit()),
            _ => label,
        };
        let mark = line((x(time), TOP - 8.0), (x(time), y(ranks)));
        picture.append(mark.set("class", "tick").set("stroke", "#e2e8f0"));
        picture.append(text(&label, x(time), y(ranks) + 12.0).set("text-anchor", "middle"));
    }
    for rank in 0..ranks {
        let middle = y(rank) + BLOCK / 2.0;
        picture.append(text(&format!("rank {rank}"), 5.0, y(rank) + BLOCK - 3.0));
        let lane = line((LEFT, middle), (LEFT + WIDTH, middle));
        picture.append(lane.set("stroke", "#e2e8f0"));
    }
    for span in spans {
        let wide = (x(end(span)) - x(start(span))).max(0.5);
        let block = rectangle(x(start(span)), y(span.rank), wide, BLOCK);
        let hint = format!(
            "{} {}, {} to {} {}",
            span.name,
            span.with,
            start(span),
            end(span),
            trace.unit()
        );
        picture.append(with_hint(block.set("fill", colour(span.name)), &hint));
    }
    let mut arrows = Group::new()
        .set("stroke", "#1a202c")
        .set("stroke-width", 0.7);
    for (from, to) in trace.pairs() {
        let tail = (x(end(&from)), y(from.rank) + BLOCK / 2.0);
        let head = (x(end(&to)), y(to.rank) + BLOCK / 2.0);
        arrows.append(line(tail, head).set("marker-end", "url(#tip)"));
    }
    picture.append(arrows);
    canvas::finish(&picture)
}
