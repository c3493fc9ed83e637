//! The sentences that say why a schedule was chosen.

use corecast_model::{ProfileEntry, Unit};

use super::candidate::Candidate;

/// Why the winner of a race runs.
pub(super) fn because_of(entry: &ProfileEntry) -> String {
    let Some(won) = entry.winning() else {
        return String::new();
    };
    let others = entry.candidates.iter().filter(|other| *other != won);
    let next = others.min_by(|a, b| a.measured_ns.total_cmp(&b.measured_ns));
    let (measured, predicted) = (won.measured_ns, won.predicted_ns);
    let times = format!("a median of {measured:.0} ns, predicted {predicted:.0} ns");
    match next {
        Some(next) => format!(
            "it won the race of {} on this machine with {times}; the next was {} with {:.0} ns",
            entry.candidates.len(),
            next.pattern,
            next.measured_ns
        ),
        None => format!("it was raced alone on this machine, with {times}"),
    }
}

/// Why the first of `candidates`, which are sorted by predicted latency, runs.
pub(super) fn because_of_the_model(candidates: &[Candidate], unit: Unit) -> String {
    let [best, next, ..] = candidates else {
        return "all patterns come to the same in a team so small".to_owned();
    };
    let equals = |other: &&Candidate| other.latency <= best.latency;
    let others = match candidates[1..].iter().filter(equals).count() {
        0 => {
            return format!(
                "the model predicts the least latency of {} schedules; the next is {} with {}",
                candidates.len(),
                next.pattern,
                latency(next.latency, unit)
            );
        }
        1 => next.pattern.to_string(),
        equal => format!("{} and {} more", next.pattern, equal - 1),
    };
    format!(
        "no schedule of {} is predicted to be faster; {others} equal it",
        candidates.len()
    )
}

/// A latency with its unit, as people write it.
pub(crate) fn latency(value: f64, unit: Unit) -> String {
    if value < 10.0 {
        format!("{value:.1} {unit}")
    } else {
        format!("{value:.0} {unit}")
    }
}
