//! The graph over time: a column for each rank, time runs downwards.

use corecast_sim::symbolic::{Analysis, Graph};
use svg::node::element::Line;
use svg::{Document, Node};

use super::critical::{Critical, short};
use crate::canvas::{self, line, rectangle, text, width_of};

/// Lengths in pixels.
const COLUMN: f64 = 166.0;
const MARGIN: f64 = 20.0;
const HEAD: f64 = 94.0;
const ACT: f64 = 26.0;
const WIDTH: f64 = 144.0;

/// What the picture says of its marks.
const LEGEND: [&str; 3] = [
    "downwards: by when an act ends in the best case; number: its cost in T_min",
    "red: critical path; dotted: a rank's order (E1); solid: data (E2)",
    "without an arrow: ranks on one line (E3); dashed: polls (E4)",
];

/// The graph as SVG: acts as boxes in a column for each rank, from the top in the order in which they
/// end in the best case, with the cost of T_min; the critical path in red. `title` says what it is the graph of.
///
/// # Cost
///
/// Linear in the number of edges.
///
/// # Examples
///
/// ```
/// use corecast_draw::simulated::graph_svg;
/// use corecast_model::Place;
/// use corecast_sim::symbolic::{Analysis, CostRules, Placement, record_lines};
/// use corecast_wire::cache_lines::{CacheLines, LineSet};
///
/// let mut lines = LineSet::new(2);
/// let flag = lines.flag("flag", 0, 1);
/// let graph = record_lines(&lines, |rank| match rank.rank() {
///     0 => Ok(rank.write(flag, 1)),
///     _ => rank.wait(flag, 1),
/// })?;
/// let machine = corecast_model::synthetic("core:2")?;
/// let places = machine.machine().pus.iter().map(Place::from).collect();
/// let placement = Placement::of_model(machine.costs(), places);
/// let drawing = graph_svg(&Analysis::new(&graph, &placement, &CostRules::default()), "a flag");
/// assert!(drawing.starts_with("<svg") && drawing.contains("write flag"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn graph_svg(analysis: &Analysis<'_>, title: &str) -> String {
    let (graph, critical) = (analysis.graph(), Critical::of(analysis));
    let rows = rows(analysis);
    let depth = rows.iter().copied().max().unwrap_or(0) + 1;
    let legend = LEGEND.map(|words| width_of(words, 9.5));
    let words = legend.into_iter().fold(width_of(title, 13.0), f64::max);
    let (width, height) = (
        2.0 * MARGIN + words.max(COLUMN * graph.ranks() as f64),
        HEAD + MARGIN + 2.0 * ACT * depth as f64,
    );
    let at = |act: usize| {
        let x = MARGIN + COLUMN * (graph.acts()[act].rank as f64 + 0.5);
        (x, HEAD + ACT + 2.0 * ACT * rows[act] as f64)
    };
    let mut picture = canvas::document(width, height, title)
        .set("font-size", 9.5)
        .add(canvas::arrowhead("to", "#444"))
        .add(text(title, MARGIN, 18.0).set("font-size", 13));
    for (line, words) in LEGEND.into_iter().enumerate() {
        picture.append(text(words, MARGIN, 33.0 + 12.0 * line as f64));
    }
    for rank in 0..graph.ranks() {
        let x = MARGIN + COLUMN * rank as f64 + (COLUMN - WIDTH) / 2.0 - 6.0;
        let (wide, high) = (WIDTH + 12.0, height - HEAD + 10.0 - MARGIN);
        picture.append(rectangle(x, HEAD - 10.0, wide, high).set("fill", "#eee"));
        picture.append(text(&format!("rank {rank}"), x + 4.0, HEAD - 14.0));
    }
    let edge = |from: usize, to: usize| -> Line {
        let (start, end) = between(at(from), at(to));
        let (colour, thick) = match critical.has(from, to) {
            true => ("red", 2.0),
            false => ("#444", 0.8),
        };
        line(start, end)
            .set("stroke", colour)
            .set("stroke-width", thick)
    };
    let arrow = |from, to| edge(from, to).set("marker-end", "url(#to)");
    for (index, act) in graph.acts().iter().enumerate() {
        if let Some(before) = act.before {
            picture.append(arrow(before, index).set("stroke-dasharray", "2 3"));
        }
        for &of in &act.after {
            picture.append(arrow(of, index));
        }
    }
    for order in analysis.least().orders() {
        for pair in order.windows(2) {
            picture.append(edge(pair[0], pair[1]));
        }
    }
    for &(wait, change) in graph.e4() {
        let faint = edge(wait, change).set("opacity", 0.5);
        picture.append(faint.set("stroke-dasharray", "6 4"));
    }
    boxes(&mut picture, graph, analysis, &critical, at);
    canvas::finish(&picture)
}

/// The ends of an edge, at the borders of the boxes.
fn between(from: (f64, f64), to: (f64, f64)) -> ((f64, f64), (f64, f64)) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let side = (WIDTH / 2.0 / dx.abs()).min(ACT / 2.0 / dy.abs());
    let part = if side.is_finite() { side.min(0.5) } else { 0.0 };
    let (x, y) = (part * dx, part * dy);
    ((from.0 + x, from.1 + y), (to.0 - x, to.1 - y))
}

fn boxes(
    picture: &mut Document,
    graph: &Graph,
    analysis: &Analysis<'_>,
    critical: &Critical,
    at: impl Fn(usize) -> (f64, f64),
) {
    for index in 0..graph.acts().len() {
        let (x, y) = at(index);
        let colour = match critical.acts.contains(&index) {
            true => "red",
            false => "#444",
        };
        let frame = rectangle(x - WIDTH / 2.0, y - ACT / 2.0, WIDTH, ACT).set("rx", 6);
        picture.append(frame.set("fill", "white").set("stroke", colour));
        let label = text(&graph.label(index), x, y - 2.0);
        picture.append(label.set("text-anchor", "middle"));
        let cost = text(&short(analysis.least().cost[index]), x, y + 9.0);
        picture.append(cost.set("text-anchor", "middle").set("fill", colour));
    }
}

/// The row of each act. Acts that end at the same time share one, unless one comes after the other.
fn rows(analysis: &Analysis<'_>) -> Vec<usize> {
    let (graph, times) = (analysis.graph(), analysis.least());
    let mut order: Vec<usize> = (0..graph.acts().len()).collect();
    order.sort_by(|&a, &b| times.finish[a].total_cmp(&times.finish[b]).then(a.cmp(&b)));
    let mut rows = vec![0; order.len()];
    let (mut row, mut last) = (0, 0.0);
    for (place, &act) in order.iter().enumerate() {
        let before = graph.acts()[act].before;
        let below = before.is_some_and(|before| rows[before] == row);
        if place > 0 && (times.finish[act] > last || below) {
            row += 1;
        }
        (rows[act], last) = (row, times.finish[act]);
    }
    rows
}
