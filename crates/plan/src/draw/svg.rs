//! The tree as a picture: NUMA nodes are boxes side by side, time runs downwards.
//!
//! A member stands at the height of its `avail`, in the lane of its box that has been free for
//! longest. Edges that leave a NUMA node are red.

use std::fmt::Write as _;

use super::Drawing;
use crate::operation::Operation;

/// Pixels.
const RADIUS: f64 = 13.0;
const LANE: f64 = 36.0;
const MARGIN: f64 = 16.0;
const TOP: f64 = 64.0;
const AXIS: f64 = 104.0;
/// Height of the time axis, whatever the latency.
const HEIGHT: f64 = 640.0;

struct Layout {
    /// Centre of each rank.
    at: Vec<(f64, f64)>,
    /// NUMA node, left edge and width of each box.
    boxes: Vec<(u32, f64, f64)>,
    width: f64,
}

pub(super) fn draw(drawing: &Drawing<'_>) -> String {
    let layout = layout(drawing);
    let height = TOP + HEIGHT + 3.0 * MARGIN;
    let unit = drawing.costs.unit();
    let latency = drawing.timeline.latency;
    let mut out = String::new();
    let w = &mut out;
    let _ = writeln!(
        w,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" font-family=\"sans-serif\" font-size=\"11\" \
         role=\"img\">",
        width = layout.width,
    );
    let title = escaped(&format!(
        "{}, {} {unit}",
        drawing.title,
        drawing.time(latency)
    ));
    let _ = writeln!(w, "<title>{title}</title>");
    w.push_str("<style>.box{fill:#eef2f7;stroke:#9fb3c8}.edge{stroke:#486581;fill:none}");
    w.push_str(".far{stroke:#ba2525}.member{fill:#fff;stroke:#243b53}");
    w.push_str("text{fill:#102a43;text-anchor:middle}.axis{text-anchor:end}</style>\n");
    w.push_str("<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" ");
    w.push_str("markerWidth=\"7\" markerHeight=\"7\" orient=\"auto-start-reverse\">");
    w.push_str("<path d=\"M0 0 8 4 0 8z\" fill=\"#486581\"/></marker></defs>\n");
    let _ = writeln!(
        w,
        "<text x=\"{:.1}\" y=\"20\" font-size=\"14\">{title}</text>",
        layout.width / 2.0
    );

    for (node, left, width) in &layout.boxes {
        let _ = writeln!(
            w,
            "<rect class=\"box\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{width:.1}\" \
             height=\"{:.1}\" rx=\"8\"/><text x=\"{:.1}\" y=\"{:.1}\">NUMA node {node}</text>",
            TOP - 2.0 * MARGIN,
            HEIGHT + 4.5 * MARGIN,
            left + width / 2.0,
            TOP - MARGIN,
        );
    }
    for tick in 0..=4 {
        let share = f64::from(tick) / 4.0;
        let _ = writeln!(
            w,
            "<text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\">{} {unit}</text>",
            AXIS - 6.0,
            TOP + MARGIN + share * HEIGHT + 4.0,
            drawing.time(share * latency),
        );
    }
    edges(drawing, &layout, w);
    for (rank, (x, y)) in layout.at.iter().enumerate() {
        let hint = format!(
            "{}: {} {unit}",
            drawing.label(rank),
            drawing.time(drawing.timeline.avail[rank])
        );
        let _ = writeln!(
            w,
            "<g><title>{}</title><circle class=\"member\" cx=\"{x:.1}\" cy=\"{y:.1}\" \
             r=\"{RADIUS}\"/><text x=\"{x:.1}\" y=\"{:.1}\">{rank}</text></g>",
            escaped(&hint),
            y + 4.0,
        );
    }
    out.push_str("</svg>\n");
    out
}

fn layout(drawing: &Drawing<'_>) -> Layout {
    let latency = drawing.timeline.latency.max(f64::MIN_POSITIVE);
    let avail = &drawing.timeline.avail;
    let mut at = vec![(0.0, 0.0); drawing.tree.len()];
    let mut boxes = Vec::new();
    let mut left = AXIS;
    for (node, mut ranks) in drawing.nodes() {
        ranks.sort_by(|&a, &b| avail[a].total_cmp(&avail[b]));
        // The height at which each lane is free again. Some lanes are there from the start, so that
        // members do not stand on the edges of those above them.
        let mut lanes = vec![0.0_f64; (ranks.len() as f64).sqrt().ceil() as usize];
        for &rank in &ranks {
            let y = TOP + MARGIN + avail[rank] / latency * HEIGHT;
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
    }
}

fn edges(drawing: &Drawing<'_>, layout: &Layout, out: &mut String) {
    for &parent in drawing.tree.order() {
        for (k, &child) in drawing.tree.children(parent).iter().enumerate() {
            let (from, to) = match drawing.operation {
                Operation::Reduce => (child, parent),
                Operation::Broadcast | Operation::Barrier => (parent, child),
            };
            let ((x0, y0), (x1, y1)) = (layout.at[from], layout.at[to]);
            // Cut both ends at the circles.
            let length = (x1 - x0).hypot(y1 - y0).max(1.0);
            let (dx, dy) = ((x1 - x0) / length * RADIUS, (y1 - y0) / length * RADIUS);
            let far = if drawing.costs.same_numa_node(from, to) {
                ""
            } else {
                " far"
            };
            let start = match drawing.operation {
                Operation::Barrier => " marker-start=\"url(#tip)\"",
                _ => "",
            };
            let _ = writeln!(
                out,
                "<path class=\"edge{far}\" d=\"M{:.1} {:.1}L{:.1} {:.1}\" \
                 marker-end=\"url(#tip)\"{start}/>",
                x0 + dx,
                y0 + dy,
                x1 - dx,
                y1 - dy,
            );
            // Nearer to the child, where edges of one parent are apart.
            let share = if from == parent { 0.62 } else { 0.38 };
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"9\">{}</text>",
                x0 + (x1 - x0) * share + 5.0,
                y0 + (y1 - y0) * share - 3.0,
                k + 1,
            );
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
