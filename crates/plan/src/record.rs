//! The form in which a profile stores a plan.

use corecast_model::RacedCandidate;

use crate::plan::Shape;
use crate::tree::Tree;

/// Returns the record of a plan for a profile: its shape, its pattern, and its predicted and
/// measured latency.
#[must_use]
pub fn raced(
    pattern: &str,
    shape: &Shape,
    predicted_ns: f64,
    measured_ns: f64,
    interval_ns: (f64, f64),
) -> RacedCandidate {
    let lists = |tree: &Tree| tree.child_lists().to_vec();
    let (fan_in, fan_out) = match shape {
        Shape::Tree(tree) => (None, Some(tree)),
        Shape::Trees { fan_in, fan_out } => (Some(fan_in), Some(fan_out)),
        _ => (None, None),
    };
    RacedCandidate {
        pattern: pattern.to_owned(),
        root: fan_out.map_or(0, Tree::root),
        children: fan_out.map(lists),
        fan_in: fan_in.map(lists),
        predicted_ns,
        measured_ns,
        interval_ns,
    }
}
