//! The graph in the language of Graphviz.

use std::fmt::Write as _;

use corecast_sim::symbolic::Analysis;

use super::critical::{Critical, short};
use crate::dot::quoted;

/// The graph as DOT: a box for each rank, costs of T_min on the acts, the critical path in red. `title` says what it is the
/// graph of.
///
/// # Cost
///
/// Linear in the number of edges.
///
/// # Examples
///
/// ```
/// use corecast_draw::simulated::graph_dot;
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
/// let drawing = graph_dot(&Analysis::new(&graph, &placement, &CostRules::default()), "a flag");
/// assert!(drawing.contains("a0 -> a1 [color=red"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn graph_dot(analysis: &Analysis<'_>, title: &str) -> String {
    let (graph, critical) = (analysis.graph(), Critical::of(analysis));
    let mut out = String::new();
    let mut line = |text: std::fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let _ = out.write_fmt(text);
        out.push('\n');
    };
    line(format_args!("digraph acts {{"));
    line(format_args!(
        "  label={}; node [shape=circle, fontsize=10];",
        quoted(title)
    ));
    for rank in 0..graph.ranks() {
        line(format_args!("  subgraph cluster_{rank} {{"));
        line(format_args!(
            "    label=\"rank {rank}\"; style=filled; color=lightgrey;"
        ));
        for (index, act) in graph.acts().iter().enumerate() {
            if act.rank == rank {
                let cost = short(analysis.least().cost[index]);
                let label = quoted(&format!("{}\n{cost}", graph.label(index)));
                let emphasis = match critical.acts.contains(&index) {
                    true => ", color=red, style=dotted",
                    false => "",
                };
                line(format_args!("    a{index} [label={label}{emphasis}];"));
            }
        }
        line(format_args!("  }}"));
    }
    let style = |from: usize, to: usize, style: &str| match critical.has(from, to) {
        true => format!("[color=red, penwidth=2, {style}]"),
        false => format!("[{style}]"),
    };
    for (index, act) in graph.acts().iter().enumerate() {
        if let Some(before) = act.before {
            let style = style(before, index, "style=dotted");
            line(format_args!("  a{before} -> a{index} {style};"));
        }
        for &of in &act.after {
            let style = style(of, index, "style=solid");
            line(format_args!("  a{of} -> a{index} {style};"));
        }
    }
    for order in analysis.least().orders() {
        for pair in order.windows(2) {
            let style = style(pair[0], pair[1], "dir=none");
            line(format_args!("  a{} -> a{} {style};", pair[0], pair[1]));
        }
    }
    for &(wait, change) in graph.e4() {
        line(format_args!(
            "  a{wait} -> a{change} [style=dashed, color=grey, constraint=false];"
        ));
    }
    line(format_args!("}}"));
    out
}
