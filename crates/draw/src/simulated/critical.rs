//! The critical path that both pictures of a graph emphasise, and the format of their numbers.

use std::collections::HashSet;

use corecast_sim::symbolic::Analysis;

/// Acts and edges of the critical path.
pub(super) struct Critical {
    pub(super) acts: HashSet<usize>,
    edges: HashSet<(usize, usize)>,
}

impl Critical {
    pub(super) fn of(analysis: &Analysis<'_>) -> Self {
        let path = analysis.critical();
        Self {
            edges: path.windows(2).map(|pair| (pair[0], pair[1])).collect(),
            acts: path.into_iter().collect(),
        }
    }

    pub(super) fn has(&self, from: usize, to: usize) -> bool {
        self.edges.contains(&(from, to))
    }
}

/// A number with one digit after the point, or none if that is 0.
pub(super) fn short(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}
