//! A schedule of rounds as text.

use std::fmt::Write;

use corecast_plan::Rounds;

/// A line for each round in which all ranks notify by the same distances, else a line for each rank.
///
/// # Examples
///
/// ```
/// use corecast_plan::Rounds;
///
/// let text = corecast_draw::plan::rounds_text(&Rounds::dissemination(4, 2));
/// assert_eq!(text, "round 0: each rank r notifies r + 1 (mod 4)\nround 1: each rank r notifies r + 2 (mod 4)\n");
/// ```
#[must_use]
pub fn rounds_text(rounds: &Rounds) -> String {
    let n = rounds.len();
    let mut out = String::new();
    for k in 0..rounds.count() {
        let steps = rounds.targets(k, 0);
        let regular = (0..n).all(|rank| {
            let shifted = steps.iter().map(|step| (rank + step) % n);
            rounds.targets(k, rank).iter().copied().eq(shifted)
        });
        // Writing to a string cannot fail.
        if regular {
            let names: Vec<String> = steps.iter().map(|step| format!("r + {step}")).collect();
            let names = names.join(", ");
            let _ = writeln!(out, "round {k}: each rank r notifies {names} (mod {n})");
        } else {
            for rank in 0..n {
                let targets = rounds.targets(k, rank);
                let _ = writeln!(out, "round {k}: rank {rank} notifies {targets:?}");
            }
        }
    }
    out
}
