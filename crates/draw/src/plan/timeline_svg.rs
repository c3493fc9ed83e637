//! The operation over time: members are lanes, NUMA nodes boxes of lanes, time runs to the right.
//!
//! Blue bars are sends, orange ones receives, and the number in a bar is the rank at the other end. A line
//! through the middle of a lane is waiting; dots mean that a member has nothing more to do, which is time that
//! a better plan could use. Thin lines join the two ends of a message. The critical chain is dark.

use std::collections::HashSet;

use corecast_plan::chain::{Moment, sent};
use corecast_plan::{Busy, BusyKind};
use svg::node::element::{Group, Path, Style};
use svg::{Document, Node};

use super::drawing::Drawing;
use crate::canvas::{self, path, rectangle, text, width_of, with_hint};
use crate::plot::ticks;

/// Lengths in pixels.
const MARGIN: f64 = 16.0;
const TOP: f64 = 92.0;
const PLOT: f64 = 1040.0;
const BOX_NAME: f64 = 18.0;
const GAP: f64 = 8.0;
/// Largest height of all lanes together, above which lanes become lower, and the limits of a lane's height.
const LANES: f64 = 1536.0;
const LANE_MAX: f64 = 18.0;
const LANE_MIN: f64 = 4.0;
/// Least height of a lane with text in it.
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

/// The look of each class of marks.
const STYLE: &str = ".box{fill:#f3f6fa;stroke:#9fb3c8}.grid{stroke:#d5dee8}\
    .send{fill:#a6cbea;stroke:#5b93c2}.receive{fill:#fad7a5;stroke:#d39a4a}\
    .send.critical{fill:#1d5c99;stroke:#0b2c4d}\
    .receive.critical{fill:#bf5b04;stroke:#5e2c00}\
    .send,.receive{stroke-width:.6}.waits{stroke:#7b8794}\
    .done{stroke:#9aa5b1;stroke-dasharray:1 5}\
    .message{stroke:#627d98;stroke-width:.7;opacity:.55}.far{stroke:#ba2525}\
    .message.critical{stroke-width:2;opacity:1}\
    text{fill:#102a43}.mid{text-anchor:middle}.end{text-anchor:end}\
    .axis{fill:#486581}.light{fill:#fff}";

impl Drawing<'_> {
    /// A picture in which members are lanes, NUMA nodes boxes of lanes, and time runs to the right.
    #[must_use]
    pub fn timeline_svg(&self) -> String {
        draw(self)
    }
}

fn draw(drawing: &Drawing<'_>) -> String {
    let layout = layout(drawing);
    let unit = drawing.costs.unit();
    let latency = drawing.time(drawing.timeline.latency);
    let title = format!("{}, {latency} {unit}", drawing.title);
    let words = width_of(&title, 14.0) + 2.0 * MARGIN;
    let width = (layout.left + PLOT + 2.0 * MARGIN).max(words);
    let mut picture = canvas::document(width, layout.bottom + MARGIN, &title)
        .add(Style::new(STYLE))
        .add(text(&title, MARGIN, 22.0).set("font-size", 14));
    legend(&mut picture);
    for &(node, y, height) in &layout.boxes {
        let frame = rectangle(MARGIN, y, layout.left + PLOT, height).set("rx", 6);
        picture.append(frame.set("class", "box"));
        let name = text(&drawing.box_title(node), MARGIN + 8.0, y + 13.0);
        picture.append(name.set("class", "axis"));
    }
    axis(drawing, &layout, &mut picture);
    names(drawing, &layout, &mut picture);
    let critical: HashSet<(usize, usize)> = drawing.chain.iter().map(|m| (m.rank, m.at)).collect();
    messages(drawing, &layout, &critical, &mut picture);
    for rank in 0..drawing.timeline.busy.len() {
        lane(drawing, &layout, rank, &critical, &mut picture);
    }
    canvas::finish(&picture)
}

/// Draws the legend in the second line.
fn legend(picture: &mut Document) {
    let mut x = MARGIN;
    let bar = |class: &str, x: f64| rectangle(x, 36.0, 24.0, 12.0).set("class", class);
    let line = |class: &str| {
        let mark = path((MARGIN, 42.0), (MARGIN + 24.0, 42.0)).set("class", class);
        Group::new().add(mark)
    };
    for (mark, word) in [
        (Group::new().add(bar("send", MARGIN)), "sends to"),
        (Group::new().add(bar("receive", MARGIN)), "receives from"),
        (
            Group::new()
                .add(bar("send critical", MARGIN))
                .add(bar("receive critical", MARGIN + 24.0)),
            "on the critical chain",
        ),
        (line("waits"), "waits"),
        (line("done"), "has nothing more to do"),
        (line("message"), "message"),
        (line("message far"), "message between NUMA nodes"),
    ] {
        let wide = if word.starts_with("on") { 54.0 } else { 30.0 };
        let place = format!("translate({:.1},0)", x - MARGIN);
        picture.append(
            mark.set("transform", place)
                .add(text(word, MARGIN + wide, 46.0)),
        );
        x += wide + width_of(word, 11.0) + 14.0;
    }
}

fn layout(drawing: &Drawing<'_>) -> Layout {
    let n = drawing.costs.n();
    let lane = (LANES / n as f64).clamp(LANE_MIN, LANE_MAX);
    let longest = (0..n).map(|rank| width_of(&drawing.label(rank), 11.0));
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
        // Leaves room for the frame after the last bar.
        scale: scale * (1.0 - 8.0 / PLOT),
    }
}

fn axis(drawing: &Drawing<'_>, layout: &Layout, picture: &mut Document) {
    let unit = drawing.costs.unit();
    let ticks = ticks(0.0, drawing.timeline.latency, 10);
    for (k, (time, label)) in ticks.into_iter().enumerate() {
        let x = layout.x(time);
        let line = path((x, TOP - 6.0), (x, layout.bottom));
        picture.append(line.set("class", "grid"));
        let label = match k {
            0 => format!("{label} {unit}"),
            _ => label,
        };
        picture.append(text(&label, x, TOP - 12.0).set("class", "axis mid"));
    }
}

/// Draws the names of the ranks, only every k-th where there is no room for all.
fn names(drawing: &Drawing<'_>, layout: &Layout, picture: &mut Document) {
    let every = (READABLE / layout.lane).ceil() as usize;
    for (_, ranks) in drawing.nodes() {
        for &rank in ranks.iter().step_by(every) {
            let y = layout.middle(rank) + 4.0;
            let name = text(&drawing.label(rank), layout.left - 6.0, y);
            picture.append(name.set("class", "end"));
        }
    }
}

/// Draws a line for each message from its send to its receive.
fn messages(
    drawing: &Drawing<'_>,
    layout: &Layout,
    critical: &HashSet<(usize, usize)>,
    picture: &mut Document,
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
            let far = match drawing.costs.same_numa_node(from, rank) {
                true => "",
                false => " far",
            };
            let both = critical.contains(&(rank, at)) && critical.contains(&(from, k));
            let bold = if both { " critical" } else { "" };
            let start = (layout.x(timeline.busy[from][k].end), layout.middle(from));
            let end = (layout.x(time.start), layout.middle(rank));
            picture.append(path(start, end).set("class", format!("message{far}{bold}")));
        }
    }
}

/// Draws the lane of one member from time 0 to the latency.
fn lane(
    drawing: &Drawing<'_>,
    layout: &Layout,
    rank: usize,
    critical: &HashSet<(usize, usize)>,
    picture: &mut Document,
) {
    let middle = layout.middle(rank);
    let line = |class: &str, from: f64, to: f64| -> Option<Path> {
        let way = path((layout.x(from), middle), (layout.x(to), middle));
        (to > from).then(|| way.set("class", class))
    };
    let busy = &drawing.timeline.busy[rank];
    let mut clock = 0.0;
    let mut add = |path: Option<Path>| path.into_iter().for_each(|path| picture.append(path));
    for time in busy {
        add(line("waits", clock, time.start));
        clock = time.end;
    }
    add(line("done", clock, drawing.timeline.latency));
    for (at, time) in busy.iter().enumerate() {
        let critical = critical.contains(&(rank, at));
        picture.append(bar(drawing, layout, rank, time, critical));
    }
}

/// The bar of one send or receive.
fn bar(drawing: &Drawing<'_>, layout: &Layout, rank: usize, time: &Busy, critical: bool) -> Group {
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
    let hint = format!(
        "{} {words} {peers}: {} to {} {}",
        drawing.label(rank),
        drawing.time(time.start),
        drawing.time(time.end),
        drawing.costs.unit()
    );
    let inset = (layout.lane * 0.14).min(2.5);
    let (x, width) = (layout.x(time.start), (time.end - time.start) * layout.scale);
    let (y, height) = (layout.y[rank] + inset, layout.lane - 2.0 * inset);
    let class = match critical {
        true => format!("{class} critical"),
        false => class.to_owned(),
    };
    let block = rectangle(x, y, width.max(0.4), height).set("class", class);
    let mut bar = with_hint(Group::new(), &hint).add(block);
    let peer = time.peer.to_string();
    if layout.lane >= READABLE && width > width_of(&peer, 9.0) + 2.0 {
        let name = text(&peer, x + width / 2.0, layout.middle(rank) + 3.2);
        let class = if critical { "mid light" } else { "mid" };
        bar.append(name.set("class", class).set("font-size", 9));
    }
    bar
}
