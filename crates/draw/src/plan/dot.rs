//! The tree for Graphviz: `dot -Tsvg`.
//!
//! NUMA nodes are clusters, edges that leave one are red, the critical chain is bold. Two trees are
//! two sets of clusters in one graph.

use std::fmt::Write as _;

use corecast_plan::Operation;

use super::drawing::Drawing;
use super::view::View;
use crate::dot::quoted;

impl Drawing<'_> {
    /// A directed graph for Graphviz, with NUMA nodes as clusters. Arrows point where messages go.
    #[must_use]
    pub fn dot(&self) -> String {
        draw(self)
    }
}

fn draw(drawing: &Drawing<'_>) -> String {
    let mut out = String::from("digraph corecast {\n");
    let unit = drawing.costs.unit();
    let latency = drawing.time(drawing.timeline.latency);
    let title = quoted(&format!("{}, {latency} {unit}", drawing.title));
    let _ = writeln!(out, "  label={title};");
    out.push_str("  labelloc=t;\n  fontname=\"sans-serif\";\n");
    out.push_str("  node [shape=box, style=\"rounded,filled\", fillcolor=white, ");
    out.push_str("fontname=\"sans-serif\"];\n");
    out.push_str("  edge [color=\"#486581\", fontname=\"sans-serif\", fontsize=11];\n");
    for (k, view) in drawing.views.iter().enumerate() {
        // Names are global in a graph, so the second tree has another prefix.
        let prefix = ["r", "s"][k.min(1)];
        clusters(drawing, view, prefix, &mut out);
        edges(drawing, view, prefix, &mut out);
    }
    out.push_str("}\n");
    out
}

fn clusters(drawing: &Drawing<'_>, view: &View<'_>, prefix: &str, out: &mut String) {
    let unit = drawing.costs.unit();
    for (node, ranks) in drawing.nodes() {
        let name = match view.heading {
            Some(heading) => format!("{heading}: {}", drawing.box_title(node)),
            None => drawing.box_title(node),
        };
        let number = match prefix {
            "r" => node.to_string(),
            other => format!("{other}{node}"),
        };
        let _ = writeln!(out, "  subgraph cluster_numa_{number} {{");
        let _ = writeln!(out, "    label={};\n    style=filled;", quoted(&name));
        out.push_str("    color=\"#9fb3c8\";\n    fillcolor=\"#eef2f7\";\n");
        for rank in ranks {
            let at = drawing.time(view.avail[rank]);
            let label = quoted(&format!("{}\n{at} {unit}", drawing.label(rank)));
            let _ = writeln!(out, "    {prefix}{rank} [label={label}];");
        }
        out.push_str("  }\n");
    }
}

fn edges(drawing: &Drawing<'_>, view: &View<'_>, prefix: &str, out: &mut String) {
    for &parent in view.tree.order() {
        for &child in view.tree.children(parent) {
            let (from, to, both) = match view.direction {
                Operation::Broadcast => (parent, child, ""),
                Operation::Reduce => (child, parent, ""),
                Operation::Barrier => (parent, child, ", dir=both"),
            };
            let far = match drawing.costs.same_numa_node(from, to) {
                true => "",
                false => ", color=\"#ba2525\"",
            };
            let bold = if view.critical[child] {
                ", penwidth=3"
            } else {
                ""
            };
            let _ = writeln!(
                out,
                "  {prefix}{from} -> {prefix}{to} [label=\"{}\"{both}{far}{bold}];",
                view.place[child]
            );
        }
    }
}
