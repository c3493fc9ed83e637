//! The operation over time: members are lanes, NUMA nodes boxes of lanes, time runs to the right.
//!
//! Blue is sending, orange receiving, the number in a bar the rank at the other end. A line through
//! the middle of a lane is waiting; dots follow when a member has nothing more to do: that is what
//! a better plan could use. Thin lines join the two ends of a message. The critical chain is dark.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::chain::{Moment, sent};
use super::{Drawing, xml};
use crate::cost::{Busy, BusyKind};

/// Pixels.
const MARGIN: f64 = 16.0;
const TOP: f64 = 92.0;
const PLOT: f64 = 1040.0;
const BOX_NAME: f64 = 18.0;
const GAP: f64 = 8.0;
/// Height of all lanes together that makes lanes lower, and the limits of a lane's height.
const LANES: f64 = 1536.0;
const LANE_MAX: f64 = 18.0;
const LANE_MIN: f64 = 4.0;
/// Lowest lane with words in it.
const READABLE: f64 = 11.0;

struct Layout {
    /// Upper edge of each rank's lane.
    y: Vec<f64>,
    lane: f64,
    /// NUMA node, upper edge and height of each box.
    boxes: Vec<(u32, f64, f64)>,
    left: f64,
    bottom: f64,
    /// Pixels per unit of time.
    scale: f64,
}

impl Layout {
    fn x(&self, time: f64) -> f64 {
        self.left + time * self.scale
    }

    fn middle(&self, rank: usize) -> f64 {
        self.y[rank] + self.lane / 2.0
    }
}

pub(super) fn draw(drawing: &Drawing<'_>) -> String {
    let layout = layout(drawing);
    let unit = drawing.costs.unit();
    let latency = drawing.timeline.latency;
    let title = format!("{}, {} {unit}", drawing.title, drawing.time(latency));
    let words = xml::width_of(&title, 14.0) + 2.0 * MARGIN;
    let width = (layout.left + PLOT + 2.0 * MARGIN).max(words);
    let mut out = xml::begin(width, layout.bottom + MARGIN, &title);
    style(&mut out);
    let _ = writeln!(
        out,
        "<text x=\"{MARGIN}\" y=\"22\" font-size=\"14\">{}</text>",
        xml::escaped(&title)
    );
    legend(&mut out);
    for &(node, y, height) in &layout.boxes {
        let _ = writeln!(
            out,
            "<rect class=\"box\" x=\"{MARGIN}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\" \
             rx=\"6\"/><text x=\"{:.1}\" y=\"{:.1}\" class=\"axis\">NUMA node {node}</text>",
            layout.left + PLOT,
            MARGIN + 8.0,
            y + 13.0,
        );
    }
    axis(drawing, &layout, &mut out);
    names(drawing, &layout, &mut out);
    let critical: HashSet<(usize, usize)> = drawing.chain.iter().map(|m| (m.rank, m.at)).collect();
    messages(drawing, &layout, &critical, &mut out);
    for (rank, busy) in drawing.timeline.busy.iter().enumerate() {
        lane(drawing, &layout, rank, busy, &critical, &mut out);
    }
    out.push_str("</svg>\n");
    out
}

fn style(out: &mut String) {
    out.push_str("<style>.box{fill:#f3f6fa;stroke:#9fb3c8}.grid{stroke:#d5dee8}");
    out.push_str(".send{fill:#a6cbea;stroke:#5b93c2}.receive{fill:#fad7a5;stroke:#d39a4a}");
    out.push_str(".send.critical{fill:#1d5c99;stroke:#0b2c4d}");
    out.push_str(".receive.critical{fill:#bf5b04;stroke:#5e2c00}");
    out.push_str(".send,.receive{stroke-width:.6}.waits{stroke:#7b8794}");
    out.push_str(".done{stroke:#9aa5b1;stroke-dasharray:1 5}");
    out.push_str(".message{stroke:#627d98;stroke-width:.7;opacity:.55}.far{stroke:#ba2525}");
    out.push_str(".message.critical{stroke-width:2;opacity:1}");
    out.push_str("text{fill:#102a43}.mid{text-anchor:middle}.end{text-anchor:end}");
    out.push_str(".axis{fill:#486581}.light{fill:#fff}</style>\n");
}

/// What the marks mean, in the second line.
fn legend(out: &mut String) {
    let mut x = MARGIN;
    let bar = |class: &str, x: f64| {
        format!("<rect class=\"{class}\" x=\"{x:.1}\" y=\"36\" width=\"24\" height=\"12\"/>")
    };
    let line = |class: &str, x: f64| format!("<path class=\"{class}\" d=\"M{x:.1} 42h24\"/>");
    for (mark, word) in [
        (bar("send", x), "sends to"),
        (bar("receive", x), "receives from"),
        (
            bar("send critical", x) + &bar("receive critical", x + 24.0),
            "on the critical chain",
        ),
        (line("waits", x), "waits"),
        (line("done", x), "has nothing more to do"),
        (line("message", x), "message"),
        (line("message far", x), "message between NUMA nodes"),
    ] {
        let wide = if word.starts_with("on") { 54.0 } else { 30.0 };
        let _ = writeln!(
            out,
            "<g transform=\"translate({:.1},0)\">{mark}<text x=\"{:.1}\" y=\"46\">{word}</text></g>",
            x - MARGIN,
            MARGIN + wide,
        );
        x += wide + xml::width_of(word, 11.0) + 14.0;
    }
}

fn layout(drawing: &Drawing<'_>) -> Layout {
    let n = drawing.costs.n();
    let lane = (LANES / n as f64).clamp(LANE_MIN, LANE_MAX);
    let longest = (0..n).map(|rank| xml::width_of(&drawing.label(rank), 11.0));
    let left = MARGIN + longest.fold(24.0, f64::max) + 20.0;
    let mut y = vec![0.0; n];
    let mut boxes = Vec::new();
    let mut bottom = TOP;
    for (node, ranks) in drawing.nodes() {
        let top = bottom;
        bottom += BOX_NAME;
        for &rank in &ranks {
            y[rank] = bottom;
            bottom += lane;
        }
        bottom += 4.0;
        boxes.push((node, top, bottom - top));
        bottom += GAP;
    }
    let latency = drawing.timeline.latency;
    let scale = if latency > 0.0 { PLOT / latency } else { 0.0 };
    Layout {
        y,
        lane,
        boxes,
        left,
        bottom: bottom - GAP,
        // Room for the frame after the last bar.
        scale: scale * (1.0 - 8.0 / PLOT),
    }
}

fn axis(drawing: &Drawing<'_>, layout: &Layout, out: &mut String) {
    let unit = drawing.costs.unit();
    for (k, (time, text)) in xml::ticks(0.0, drawing.timeline.latency, 10)
        .iter()
        .enumerate()
    {
        let x = layout.x(*time);
        let unit = if k == 0 {
            format!(" {unit}")
        } else {
            String::new()
        };
        let _ = writeln!(
            out,
            "<path class=\"grid\" d=\"M{x:.1} {:.1}V{:.1}\"/>\
             <text class=\"axis mid\" x=\"{x:.1}\" y=\"{:.1}\">{text}{unit}</text>",
            TOP - 6.0,
            layout.bottom,
            TOP - 12.0,
        );
    }
}

/// The ranks, as many as there is room for.
fn names(drawing: &Drawing<'_>, layout: &Layout, out: &mut String) {
    let every = (READABLE / layout.lane).ceil() as usize;
    for (_, ranks) in drawing.nodes() {
        for &rank in ranks.iter().step_by(every) {
            let _ = writeln!(
                out,
                "<text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                layout.left - 6.0,
                layout.middle(rank) + 4.0,
                xml::escaped(&drawing.label(rank)),
            );
        }
    }
}

/// Lines from where a message is sent to where it is received.
fn messages(
    drawing: &Drawing<'_>,
    layout: &Layout,
    critical: &HashSet<(usize, usize)>,
    out: &mut String,
) {
    let timeline = &drawing.timeline;
    for (rank, busy) in timeline.busy.iter().enumerate() {
        for (at, time) in busy.iter().enumerate() {
            if time.kind != BusyKind::Receive {
                continue;
            }
            let Some(Moment { rank: from, at: k }) = sent(timeline, rank, time.peer, time.start)
            else {
                continue;
            };
            let near = drawing.costs.same_numa_node(from, rank);
            let both = critical.contains(&(rank, at)) && critical.contains(&(from, k));
            let _ = writeln!(
                out,
                "<path class=\"message{}{}\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>",
                if near { "" } else { " far" },
                if both { " critical" } else { "" },
                layout.x(timeline.busy[from][k].end),
                layout.middle(from),
                layout.x(time.start),
                layout.middle(rank),
            );
        }
    }
}

/// What one member does from 0 to the latency.
fn lane(
    drawing: &Drawing<'_>,
    layout: &Layout,
    rank: usize,
    busy: &[Busy],
    critical: &HashSet<(usize, usize)>,
    out: &mut String,
) {
    let middle = layout.middle(rank);
    let mut line = |class: &str, from: f64, to: f64| {
        if to > from {
            let _ = writeln!(
                out,
                "<path class=\"{class}\" d=\"M{:.1} {middle:.1}H{:.1}\"/>",
                layout.x(from),
                layout.x(to)
            );
        }
    };
    let mut clock = 0.0;
    for time in busy {
        line("waits", clock, time.start);
        clock = time.end;
    }
    line("done", clock, drawing.timeline.latency);
    for (at, time) in busy.iter().enumerate() {
        bar(
            drawing,
            layout,
            rank,
            time,
            critical.contains(&(rank, at)),
            out,
        );
    }
}

/// One busy time.
fn bar(
    drawing: &Drawing<'_>,
    layout: &Layout,
    rank: usize,
    time: &Busy,
    critical: bool,
    out: &mut String,
) {
    let (class, words) = match time.kind {
        BusyKind::Send => ("send", "sends to"),
        BusyKind::Receive => ("receive", "receives from"),
    };
    let others = match time.kind {
        BusyKind::Send => drawing.group(rank, time.peer) - 1,
        BusyKind::Receive => 0,
    };
    let peers = match others {
        0 => drawing.label(time.peer),
        _ => format!("{} and {others} more", drawing.label(time.peer)),
    };
    let inset = (layout.lane * 0.14).min(2.5);
    let (x, width) = (layout.x(time.start), (time.end - time.start) * layout.scale);
    let _ = write!(
        out,
        "<g><title>{} {words} {}: {} to {} {}</title><rect class=\"{class}{}\" x=\"{x:.1}\" \
         y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
        xml::escaped(&drawing.label(rank)),
        xml::escaped(&peers),
        drawing.time(time.start),
        drawing.time(time.end),
        drawing.costs.unit(),
        if critical { " critical" } else { "" },
        layout.y[rank] + inset,
        width.max(0.4),
        layout.lane - 2.0 * inset,
    );
    let peer = time.peer.to_string();
    if layout.lane >= READABLE && width > xml::width_of(&peer, 9.0) + 2.0 {
        let _ = write!(
            out,
            "<text class=\"mid{}\" x=\"{:.1}\" y=\"{:.1}\" font-size=\"9\">{peer}</text>",
            if critical { " light" } else { "" },
            x + width / 2.0,
            layout.middle(rank) + 3.2,
        );
    }
    out.push_str("</g>\n");
}
