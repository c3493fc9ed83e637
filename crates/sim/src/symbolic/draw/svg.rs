//! The graph over time: a column for each rank, time runs downwards.

use super::super::analysis::Analysis;
use super::super::graph::Graph;
use super::{Critical, short};
use corecast_plan::draw::escaped;
use std::fmt::Write as _;

/// Pixels.
const COLUMN: f64 = 166.0;
const MARGIN: f64 = 20.0;
const HEAD: f64 = 60.0;
const ACT: f64 = 26.0;
const WIDTH: f64 = 144.0;

/// The graph as SVG: acts as boxes in a column for each rank, from the top in the order in which they
/// end in the best case, with the cost of T_min; the critical path in red.
///
/// # Cost
///
/// Linear in the number of edges.
///
/// # Examples
///
/// ```
/// use corecast_model::Place;
/// use corecast_sim::symbolic::{Analysis, LineKind, CostRules, Recorder, Placement, svg};
///
/// let recorder = Recorder::new(2);
/// let flag = recorder.line("flag", LineKind::Flag, 1);
/// recorder.run(|rank| match rank {
///     0 => recorder.write(0, flag),
///     _ => recorder.wait(1, flag, 1),
/// })?;
/// let graph = recorder.into_graph();
/// let machine = corecast_model::synthetic("core:2")?;
/// let places = machine.machine().pus.iter().map(Place::from).collect();
/// let placement = Placement::of_model(machine.costs(), places);
/// let drawing = svg(&Analysis::new(&graph, &placement, &CostRules::default()));
/// assert!(drawing.starts_with("<svg") && drawing.contains("write flag"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn svg(analysis: &Analysis<'_>) -> String {
    let (graph, critical) = (analysis.graph(), Critical::of(analysis));
    let rows = rows(analysis);
    let depth = rows.iter().copied().max().unwrap_or(0) + 1;
    let (width, height) = (
        2.0 * MARGIN + COLUMN * graph.ranks() as f64,
        HEAD + MARGIN + 2.0 * ACT * depth as f64,
    );
    let at = |act: usize| {
        let x = MARGIN + COLUMN * (graph.acts()[act].rank as f64 + 0.5);
        (x, HEAD + ACT + 2.0 * ACT * rows[act] as f64)
    };
    let bounds = analysis.bounds();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"9.5\">\n<defs><marker id=\"to\" viewBox=\"0 0 8 8\" \
         refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\" \
         markerUnits=\"userSpaceOnUse\"><path d=\"M0 0L8 4L0 8z\" fill=\"#444\"/></marker></defs>\n"
    );
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "<text x=\"{MARGIN}\" y=\"20\" font-size=\"13\">T_min {}, T_max {}</text>",
        short(bounds.t_min),
        short(bounds.t_max)
    );
    for rank in 0..graph.ranks() {
        let x = MARGIN + COLUMN * rank as f64 + (COLUMN - WIDTH) / 2.0 - 6.0;
        let (wide, high) = (WIDTH + 12.0, height - HEAD + 10.0 - MARGIN);
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{}\" width=\"{wide}\" height=\"{high}\" fill=\"#eee\"/>\
             <text x=\"{}\" y=\"{}\">rank {rank}</text>",
            HEAD - 10.0,
            x + 4.0,
            HEAD - 14.0
        );
    }
    let mut edge = |from: usize, to: usize, style: &str| {
        let ((x1, y1), (x2, y2)) = between(at(from), at(to));
        let (colour, thick) = match critical.has(from, to) {
            true => ("red", 2.0),
            false => ("#444", 0.8),
        };
        let _ = writeln!(
            out,
            "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"{colour}\" \
             stroke-width=\"{thick}\"{style}/>"
        );
    };
    for (index, act) in graph.acts().iter().enumerate() {
        if let Some(before) = act.before {
            edge(
                before,
                index,
                " stroke-dasharray=\"2 3\" marker-end=\"url(#to)\"",
            );
        }
        let arrow = " marker-end=\"url(#to)\"";
        act.after.iter().for_each(|&of| edge(of, index, arrow));
    }
    for (order, _) in &analysis.least().order {
        for pair in order.windows(2) {
            edge(pair[0], pair[1], "");
        }
    }
    for &(wait, change) in graph.e4() {
        edge(wait, change, " stroke-dasharray=\"6 4\" opacity=\"0.5\"");
    }
    boxes(&mut out, graph, analysis, &critical, at);
    out.push_str("</svg>\n");
    out
}

/// The ends of an edge: where it meets the boxes, not their centres.
fn between(from: (f64, f64), to: (f64, f64)) -> ((f64, f64), (f64, f64)) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let side = (WIDTH / 2.0 / dx.abs()).min(ACT / 2.0 / dy.abs());
    let part = if side.is_finite() { side.min(0.5) } else { 0.0 };
    let (x, y) = (part * dx, part * dy);
    ((from.0 + x, from.1 + y), (to.0 - x, to.1 - y))
}

fn boxes(
    out: &mut String,
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
        let label = escaped(&graph.label(index));
        let cost = short(analysis.least().cost[index]);
        let (left, top) = (x - WIDTH / 2.0, y - ACT / 2.0);
        let _ = writeln!(
            out,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{WIDTH}\" height=\"{ACT}\" rx=\"6\" \
             fill=\"white\" stroke=\"{colour}\"/><text x=\"{x}\" y=\"{}\" \
             text-anchor=\"middle\">{label}</text><text x=\"{x}\" y=\"{}\" \
             text-anchor=\"middle\" fill=\"{colour}\">{cost}</text>",
            y - 2.0,
            y + 9.0
        );
    }
}

/// The row of each act: acts that end at the same time share one, unless one comes after the other.
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
