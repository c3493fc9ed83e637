//! Pictures of a graph with its critical path: DOT for tools, SVG for people.
//!
//! E1 is dotted, E2 solid, E3 without arrows, E4 dashed; acts and edges of the critical path are red, as in
//! the paper's figures.

mod dot;
mod svg;

pub use dot::dot;
pub use svg::svg;

use super::analysis::Analysis;
use std::collections::HashSet;

/// What both drawings emphasise.
struct Critical {
    acts: HashSet<usize>,
    edges: HashSet<(usize, usize)>,
}

impl Critical {
    fn of(analysis: &Analysis<'_>) -> Self {
        let path = analysis.critical();
        Self {
            edges: path.windows(2).map(|pair| (pair[0], pair[1])).collect(),
            acts: path.into_iter().collect(),
        }
    }

    fn has(&self, from: usize, to: usize) -> bool {
        self.edges.contains(&(from, to))
    }
}

/// A number without digits that say nothing.
fn short(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}
