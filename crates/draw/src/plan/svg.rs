//! The tree as a picture: NUMA nodes are boxes side by side, time runs downwards.
//!
//! A member is at the height of its `avail`, in the lane of its box that has been free for
//! longest. The number in the small disc on an edge, at the child's end, is the child's place in the
//! parent's list, one for a whole group. Edges that leave a NUMA node are red, those of the critical
//! chain thick. Two trees are drawn one above the other.

use corecast_plan::Operation;
use svg::node::element::{Circle, Group, Style};
use svg::{Document, Node};

use super::drawing::Drawing;
use super::view::View;
use crate::canvas::{self, rectangle, round, text, width_of, with_hint};
use crate::plot::ticks;

/// Lengths in pixels.
const RADIUS: f64 = 13.0;
const DISC: f64 = 7.0;
const LANE: f64 = 40.0;
const MARGIN: f64 = 16.0;
const TITLE: f64 = 56.0;
const HEADING: f64 = 26.0;
const BOX_NAME: f64 = 26.0;
const AXIS: f64 = 92.0;
/// Height of the time axis of one tree, and of each of two trees, whatever the latency.
const HEIGHT: f64 = 640.0;
const HEIGHT_OF_TWO: f64 = 480.0;

/// The places of a tree's marks in the picture.
struct Layout {
    /// Centre of each rank.
    at: Vec<(f64, f64)>,
    /// NUMA node, left edge and width of each box.
    boxes: Vec<(u32, f64, f64)>,
    width: f64,
    /// Upper end of the time axis, and its length.
    top: f64,
    length: f64,
}

/// The look of each class of marks.
const STYLE: &str = ".box{fill:#eef2f7;stroke:#9fb3c8}.edge{stroke:#486581;fill:none}\
    .far{stroke:#ba2525}.critical{stroke-width:3}\
    .grid{stroke:#d5dee8;fill:none}.member{fill:#fff;stroke:#243b53}\
    .late{stroke-width:3}.place{fill:#fff;stroke:#486581;stroke-width:.7}\
    text{fill:#102a43}.mid{text-anchor:middle}.axis{fill:#486581}\
    .end{text-anchor:end}";

impl Drawing<'_> {
    /// A picture of the tree in which NUMA nodes are boxes side by side and time runs downwards.
    #[must_use]
    pub fn svg(&self) -> String {
        draw(self)
    }
}

fn draw(drawing: &Drawing<'_>) -> String {
    let unit = drawing.costs.unit();
    let length = match drawing.views.len() {
        1 => HEIGHT,
        _ => HEIGHT_OF_TWO,
    };
    let mut y = TITLE;
    let mut layouts = Vec::new();
    for view in &drawing.views {
        if view.heading.is_some() {
            y += HEADING;
        }
        let top = y + BOX_NAME + RADIUS;
        layouts.push(layout(drawing, view, top, length));
        y = top + length + RADIUS + 2.0 * MARGIN;
    }
    let latency = drawing.time(drawing.timeline.latency);
    let title = format!("{}, {latency} {unit}", drawing.title);
    let widest = layouts.iter().map(|l| l.width).fold(0.0, f64::max);
    let legend = legend(drawing);
    let words = width_of(&title, 14.0).max(width_of(&legend, 11.0));
    let width = widest.max(words + 2.0 * MARGIN);
    let mut picture = canvas::document(width, y, &title)
        .add(Style::new(STYLE))
        .add(canvas::arrowhead("tip", "#486581"))
        .add(canvas::arrowhead("far-tip", "#ba2525"))
        .add(text(&title, MARGIN, 22.0).set("font-size", 14))
        .add(text(&legend, MARGIN, 42.0).set("class", "axis"));
    for (view, layout) in drawing.views.iter().zip(&layouts) {
        panel(drawing, view, layout, &mut picture);
    }
    canvas::finish(&picture)
}

/// The line that explains the marks.
fn legend(drawing: &Drawing<'_>) -> String {
    let order = match drawing.operation {
        Operation::Broadcast => "numbers: order of sends",
        Operation::Reduce => "numbers: order of receives",
        Operation::Barrier if drawing.views.len() > 1 => {
            "numbers: order of receives (fan-in) and of sends (fan-out)"
        }
        Operation::Barrier => {
            "from when the root has heard of all; numbers: order of sends, of receives reversed"
        }
    };
    let shared = drawing.views.iter().any(View::shares_lines);
    let groups = match shared {
        true => ", one number for all who share a line",
        false => "",
    };
    format!("{order}{groups}; red: between NUMA nodes; thick: critical chain")
}

/// Draws one tree with its boxes and its axis.
fn panel(drawing: &Drawing<'_>, view: &View<'_>, layout: &Layout, picture: &mut Document) {
    let unit = drawing.costs.unit();
    let name = layout.top - RADIUS - BOX_NAME;
    let (first, last) = view.span();
    if let Some(heading) = view.heading {
        picture.append(text(heading, MARGIN, name - 8.0).set("font-size", 13));
    }
    let height = layout.length + BOX_NAME + 2.0 * RADIUS + MARGIN / 2.0;
    for &(node, left, width) in &layout.boxes {
        let frame = rectangle(left, name, width, height).set("rx", 8);
        picture.append(frame.set("class", "box"));
        let title = text(&drawing.box_title(node), left + width / 2.0, name + 16.0);
        picture.append(title.set("class", "mid"));
    }
    for (time, label) in ticks(first, last, 6) {
        let y = layout.top + (time - first) / (last - first) * layout.length;
        let line = canvas::path((AXIS, y), (layout.width - MARGIN, y));
        picture.append(line.set("class", "grid"));
        let label = text(&format!("{label} {unit}"), AXIS - 6.0, y + 4.0);
        picture.append(label.set("class", "axis end"));
    }
    edges(drawing, view, layout, picture);
    for (rank, &(x, y)) in layout.at.iter().enumerate() {
        let at = drawing.time(view.avail[rank]);
        let hint = format!("{}: {at} {unit}", drawing.label(rank));
        let class = match view.critical[rank] {
            true => "member late",
            false => "member",
        };
        let member = with_hint(Group::new(), &hint)
            .add(circle(x, y, RADIUS).set("class", class))
            .add(text(&rank.to_string(), x, y + 4.0).set("class", "mid"));
        picture.append(member);
    }
}

fn circle(x: f64, y: f64, radius: f64) -> Circle {
    Circle::new()
        .set("cx", round(x))
        .set("cy", round(y))
        .set("r", radius)
}

fn layout(drawing: &Drawing<'_>, view: &View<'_>, top: f64, length: f64) -> Layout {
    let (first, last) = view.span();
    let avail = &view.avail;
    let mut at = vec![(0.0, 0.0); view.tree.len()];
    let mut boxes = Vec::new();
    let mut left = AXIS;
    for (node, mut ranks) in drawing.nodes() {
        ranks.sort_by(|&a, &b| avail[a].total_cmp(&avail[b]));
        // The height at which each lane is free again. There are several lanes from the start, so that
        // members are not drawn on the edges of those above them.
        let mut lanes = vec![0.0_f64; (ranks.len() as f64).sqrt().ceil() as usize];
        for &rank in &ranks {
            let y = top + (avail[rank] - first) / (last - first) * length;
            let longest_free = (0..lanes.len()).min_by(|&a, &b| lanes[a].total_cmp(&lanes[b]));
            let lane = longest_free
                .filter(|&lane| lanes[lane] <= y)
                .unwrap_or_else(|| {
                    lanes.push(0.0);
                    lanes.len() - 1
                });
            lanes[lane] = y + 2.2 * RADIUS;
            at[rank] = (left + MARGIN + (lane as f64 + 0.5) * LANE, y);
        }
        // A box is at least wide enough for its name.
        let name = width_of(&drawing.box_title(node), 11.0) + MARGIN;
        let width = (lanes.len() as f64 * LANE + 2.0 * MARGIN).max(name);
        boxes.push((node, left, width));
        left += width + MARGIN;
    }
    Layout {
        at,
        boxes,
        width: left,
        top,
        length,
    }
}

fn edges(drawing: &Drawing<'_>, view: &View<'_>, layout: &Layout, picture: &mut Document) {
    // The numbers are drawn last, above all lines.
    let mut numbers = Group::new();
    for &parent in view.tree.order() {
        for &child in view.tree.children(parent) {
            let (from, to) = match view.direction {
                Operation::Reduce => (child, parent),
                Operation::Broadcast | Operation::Barrier => (parent, child),
            };
            let ((x0, y0), (x1, y1)) = (layout.at[from], layout.at[to]);
            // Both ends of an edge are cut at the circles.
            let distance = (x1 - x0).hypot(y1 - y0).max(1.0);
            let (ux, uy) = ((x1 - x0) / distance, (y1 - y0) / distance);
            let (far, tip) = match drawing.costs.same_numa_node(from, to) {
                true => ("", "url(#tip)"),
                false => (" far", "url(#far-tip)"),
            };
            let bold = if view.critical[child] {
                " critical"
            } else {
                ""
            };
            let start = (x0 + ux * RADIUS, y0 + uy * RADIUS);
            let end = (x1 - ux * RADIUS, y1 - uy * RADIUS);
            let mut edge = canvas::path(start, end)
                .set("class", format!("edge{far}{bold}"))
                .set("marker-end", tip);
            if view.direction == Operation::Barrier {
                edge = edge.set("marker-start", tip);
            }
            picture.append(edge);
            // The number is at the child's end, since each member is the child on one edge only.
            let away = (RADIUS + 8.0 + DISC).min(distance / 2.0);
            let sign = if from == parent { -1.0 } else { 1.0 };
            let (x, y) = layout.at[child];
            let (x, y) = (x + sign * ux * away, y + sign * uy * away);
            numbers.append(circle(x, y, DISC).set("class", format!("place{far}")));
            let place = text(&view.place[child].to_string(), x, y + 3.2);
            numbers.append(place.set("class", "mid").set("font-size", 9));
        }
    }
    picture.append(numbers);
}
