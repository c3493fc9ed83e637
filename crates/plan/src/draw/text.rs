//! The tree as lines of text.

use std::fmt::Write as _;

use super::view::View;
use super::{Drawing, ordinal};

/// Levels that are indented; deeper ones start over at the left with their depth in front, so that
/// a chain of a thousand members is a thousand short lines.
const LEVELS_MAX: usize = 24;

pub(super) fn draw(drawing: &Drawing<'_>) -> String {
    let one = |view: &View<'_>| {
        let heading = view.heading.map(|heading| format!("{heading}\n"));
        heading.unwrap_or_default() + &lines(drawing, view)
    };
    drawing.views.iter().map(one).collect()
}

/// One line for each member of a tree.
fn lines(drawing: &Drawing<'_>, view: &View<'_>) -> String {
    let tree = view.tree;
    let depths = tree.depths();
    let mut lines = Vec::with_capacity(tree.len());
    // Rank, its ordinal among its siblings, and the prefix of the lines below it.
    let mut stack = vec![(tree.root(), None::<usize>, String::new(), true)];
    while let Some((rank, place, prefix, last)) = stack.pop() {
        let mut line = prefix.clone();
        let mut below = prefix;
        if let Some(place) = place {
            line.push_str(if last { "└─ " } else { "├─ " });
            let _ = write!(line, "{}: ", ordinal(place));
            below.push_str(if last { "   " } else { "│  " });
        }
        line.push_str(&drawing.label(rank));
        lines.push((rank, line));

        let children = tree.children(rank);
        if depths[rank] > 0 && depths[rank].is_multiple_of(LEVELS_MAX) {
            below = format!("[below {rank}] ");
        }
        for (k, &c) in children.iter().enumerate().rev() {
            stack.push((
                c,
                Some(view.place[c]),
                below.clone(),
                k + 1 == children.len(),
            ));
        }
    }

    let width = lines
        .iter()
        .map(|(_, line)| line.chars().count())
        .max()
        .unwrap_or(0);
    let node = |rank| drawing.numa(rank).to_string();
    let at = |rank: usize| drawing.time(view.avail[rank]);
    let node_width = (0..tree.len()).map(|r| node(r).len()).max().unwrap_or(0);
    let at_width = (0..tree.len()).map(|r| at(r).len()).max().unwrap_or(0);
    let unit = drawing.costs.unit();
    let mut out = String::new();
    for (rank, line) in lines {
        let pad = width - line.chars().count();
        let _ = writeln!(
            out,
            "{line}{:pad$} NUMA node {:<node_width$}    at {:>at_width$} {unit}",
            "",
            node(rank),
            at(rank),
        );
    }
    out
}
