//! The tree as a picture: NUMA nodes are boxes side by side, time runs downwards.
//!
//! A member stands at the height of its `avail`, in the lane of its box that has been free for
//! longest. The number in the small disc on an edge, at the child's end, is its place in the
//! parent's list, one for a whole group. Edges that leave a NUMA node are red, those of the critical
//! chain thick. Two trees stand one above the other.

use std::fmt::Write as _;

use super::view::View;
use super::{Drawing, xml};
use crate::operation::Operation;

/// Pixels.
const RADIUS: f64 = 13.0;
const DISC: f64 = 7.0;
const LANE: f64 = 40.0;
const MARGIN: f64 = 16.0;
const TITLE: f64 = 56.0;
const HEADING: f64 = 26.0;
const BOX_NAME: f64 = 26.0;
const AXIS: f64 = 92.0;
/// Height of the time axis of one tree of few members, whatever the latency.
const HEIGHT: f64 = 640.0;
const HEIGHT_OF_TWO: f64 = 480.0;

/// What becomes of a tree.
struct Layout {
    /// Centre of each rank.
    at: Vec<(f64, f64)>,
    /// NUMA node, left edge and width of each box.
    boxes: Vec<(u32, f64, f64)>,
    width: f64,
    /// Where the axis begins, and its length.
    top: f64,
    length: f64,
}

pub(super) fn draw(drawing: &Drawing<'_>) -> String {
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
    let title = format!(
        "{}, {} {unit}",
        drawing.title,
        drawing.time(drawing.timeline.latency)
    );
    let widest = layouts.iter().map(|l| l.width).fold(0.0, f64::max);
    let legend = legend(drawing);
    let words = xml::width_of(&title, 14.0).max(xml::width_of(&legend, 11.0));
    let width = widest.max(words + 2.0 * MARGIN);
    let mut out = xml::begin(width, y, &title);
    style(&mut out);
    let _ = writeln!(
        out,
        "<text x=\"{MARGIN}\" y=\"22\" font-size=\"14\">{}</text>\
         <text x=\"{MARGIN}\" y=\"42\" class=\"axis\">{}</text>",
        xml::escaped(&title),
        xml::escaped(&legend)
    );
    for (view, layout) in drawing.views.iter().zip(&layouts) {
        panel(drawing, view, layout, &mut out);
    }
    out.push_str("</svg>\n");
    out
}

fn style(out: &mut String) {
    out.push_str("<style>.box{fill:#eef2f7;stroke:#9fb3c8}.edge{stroke:#486581;fill:none}");
    out.push_str(".far{stroke:#ba2525}.critical{stroke-width:3}");
    out.push_str(".grid{stroke:#d5dee8;fill:none}.member{fill:#fff;stroke:#243b53}");
    out.push_str(".late{stroke-width:3}.place{fill:#fff;stroke:#486581;stroke-width:.7}");
    out.push_str("text{fill:#102a43}.mid{text-anchor:middle}.axis{fill:#486581}");
    out.push_str(".end{text-anchor:end}</style>\n");
    for (id, colour) in [("tip", "#486581"), ("far-tip", "#ba2525")] {
        let _ = writeln!(
            out,
            "<defs><marker id=\"{id}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" \
             markerUnits=\"userSpaceOnUse\" markerWidth=\"8\" markerHeight=\"8\" \
             orient=\"auto-start-reverse\"><path d=\"M0 0 8 4 0 8z\" fill=\"{colour}\"/>\
             </marker></defs>"
        );
    }
}

/// What the marks mean.
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

/// One tree with its boxes and its axis.
fn panel(drawing: &Drawing<'_>, view: &View<'_>, layout: &Layout, out: &mut String) {
    let unit = drawing.costs.unit();
    let name = layout.top - RADIUS - BOX_NAME;
    let (first, last) = view.span();
    if let Some(heading) = view.heading {
        let _ = writeln!(
            out,
            "<text x=\"{MARGIN}\" y=\"{:.1}\" font-size=\"13\">{heading}</text>",
            name - 8.0
        );
    }
    for (node, left, width) in &layout.boxes {
        let _ = writeln!(
            out,
            "<rect class=\"box\" x=\"{left:.1}\" y=\"{name:.1}\" width=\"{width:.1}\" \
             height=\"{:.1}\" rx=\"8\"/><text class=\"mid\" x=\"{:.1}\" y=\"{:.1}\">\
             NUMA node {node}</text>",
            layout.length + BOX_NAME + 2.0 * RADIUS + MARGIN / 2.0,
            left + width / 2.0,
            name + 16.0,
        );
    }
    for (time, text) in xml::ticks(first, last, 6) {
        let y = layout.top + (time - first) / (last - first) * layout.length;
        let _ = writeln!(
            out,
            "<path class=\"grid\" d=\"M{AXIS:.1} {y:.1}H{:.1}\"/><text class=\"axis end\" \
             x=\"{:.1}\" y=\"{:.1}\">{text} {unit}</text>",
            layout.width - MARGIN,
            AXIS - 6.0,
            y + 4.0,
        );
    }
    edges(drawing, view, layout, out);
    for (rank, (x, y)) in layout.at.iter().enumerate() {
        let hint = format!(
            "{}: {} {unit}",
            drawing.label(rank),
            drawing.time(view.avail[rank])
        );
        let late = if view.critical[rank] { " late" } else { "" };
        let _ = writeln!(
            out,
            "<g><title>{}</title><circle class=\"member{late}\" cx=\"{x:.1}\" cy=\"{y:.1}\" \
             r=\"{RADIUS}\"/><text class=\"mid\" x=\"{x:.1}\" y=\"{:.1}\">{rank}</text></g>",
            xml::escaped(&hint),
            y + 4.0,
        );
    }
}

fn layout(drawing: &Drawing<'_>, view: &View<'_>, top: f64, length: f64) -> Layout {
    let (first, last) = view.span();
    let avail = &view.avail;
    let mut at = vec![(0.0, 0.0); view.tree.len()];
    let mut boxes = Vec::new();
    let mut left = AXIS;
    for (node, mut ranks) in drawing.nodes() {
        ranks.sort_by(|&a, &b| avail[a].total_cmp(&avail[b]));
        // The height at which each lane is free again. Some lanes are there from the start, so that
        // members do not stand on the edges of those above them.
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
        // Wide enough for its name.
        let width = (lanes.len() as f64 * LANE + 2.0 * MARGIN).max(96.0);
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

fn edges(drawing: &Drawing<'_>, view: &View<'_>, layout: &Layout, out: &mut String) {
    // The numbers stand above all lines.
    let mut numbers = String::new();
    for &parent in view.tree.order() {
        for &child in view.tree.children(parent) {
            let (from, to) = match view.direction {
                Operation::Reduce => (child, parent),
                Operation::Broadcast | Operation::Barrier => (parent, child),
            };
            let ((x0, y0), (x1, y1)) = (layout.at[from], layout.at[to]);
            // Cut both ends at the circles.
            let distance = (x1 - x0).hypot(y1 - y0).max(1.0);
            let (ux, uy) = ((x1 - x0) / distance, (y1 - y0) / distance);
            let near = drawing.costs.same_numa_node(from, to);
            let (far, tip) = if near {
                ("", "tip")
            } else {
                (" far", "far-tip")
            };
            let bold = if view.critical[child] {
                " critical"
            } else {
                ""
            };
            let start = match view.direction {
                Operation::Barrier => format!(" marker-start=\"url(#{tip})\""),
                Operation::Broadcast | Operation::Reduce => String::new(),
            };
            let _ = writeln!(
                out,
                "<path class=\"edge{far}{bold}\" d=\"M{:.1} {:.1}L{:.1} {:.1}\" \
                 marker-end=\"url(#{tip})\"{start}/>",
                x0 + ux * RADIUS,
                y0 + uy * RADIUS,
                x1 - ux * RADIUS,
                y1 - uy * RADIUS,
            );
            // At the child's end: each member is the child on one edge alone.
            let away = (RADIUS + 8.0 + DISC).min(distance / 2.0);
            let sign = if from == parent { -1.0 } else { 1.0 };
            let (x, y) = layout.at[child];
            let (x, y) = (x + sign * ux * away, y + sign * uy * away);
            let _ = writeln!(
                numbers,
                "<circle class=\"place{far}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{DISC}\"/>\
                 <text class=\"mid\" x=\"{x:.1}\" y=\"{:.1}\" font-size=\"9\">{}</text>",
                y + 3.2,
                view.place[child],
            );
        }
    }
    out.push_str(&numbers);
}
