//! The tree for Graphviz.

use std::fmt::Write as _;

use super::Drawing;
use crate::operation::Operation;

pub(super) fn draw(drawing: &Drawing<'_>) -> String {
    let mut out = String::from("digraph corecast {\n");
    let unit = drawing.costs.unit();
    let latency = drawing.time(drawing.timeline.latency);
    let title = quoted(&format!("{}, {latency} {unit}", drawing.title));
    let _ = writeln!(out, "  label={title};");
    out.push_str("  labelloc=t;\n  node [shape=box, style=\"rounded,filled\", fillcolor=white];\n");
    for (node, ranks) in drawing.nodes() {
        let _ = writeln!(out, "  subgraph cluster_numa_{node} {{");
        let _ = writeln!(out, "    label=\"NUMA node {node}\";\n    style=filled;");
        out.push_str("    fillcolor=\"#eef2f7\";\n");
        for rank in ranks {
            let at = drawing.time(drawing.timeline.avail[rank]);
            let label = quoted(&format!("{}\n{at} {unit}", drawing.label(rank)));
            let _ = writeln!(out, "    r{rank} [label={label}];");
        }
        out.push_str("  }\n");
    }
    for &parent in drawing.tree.order() {
        for (k, &child) in drawing.tree.children(parent).iter().enumerate() {
            let (from, to, both) = match drawing.operation {
                Operation::Broadcast => (parent, child, ""),
                Operation::Reduce => (child, parent, ""),
                Operation::Barrier => (parent, child, ", dir=both"),
            };
            let _ = writeln!(out, "  r{from} -> r{to} [label=\"{}\"{both}];", k + 1);
        }
    }
    out.push_str("}\n");
    out
}

fn quoted(text: &str) -> String {
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("\"{escaped}\"")
}
