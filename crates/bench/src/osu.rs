//! Comparisons in the format of the OSU Micro-Benchmarks of Ohio State University.
//!
//! Each entrant has a block, so that scripts for those benchmarks read these results:
//!
//! ```text
//! # corecast best, threads, in place, pinned: allreduce of 2 ranks on PU 0,1
//! # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
//! 8                       0.31              0.30              0.32       41216
//! # Algorithm: messages from 8
//! ```
//!
//! A last comment says which algorithm ran from which size on, if the entrant knows.
//!
//! As in those benchmarks, a rank's latency is the mean of its own times in the call, and the
//! columns are the mean, least and most over the ranks; here each is a median of the rounds. They
//! are at most the latency that races compare, that of the slowest rank of each operation, and much
//! less where ranks leave an operation early.

use crate::comparison::Comparison;
use crate::table::places;
use corecast_model::Collective;
use std::fmt::Write;

/// Renders comparisons of one operation at several sizes, or of barriers.
///
/// An entrant whose ranks' times are not known has a comment in place of rows.
pub fn render(comparisons: &[&Comparison]) -> String {
    let Some(first) = comparisons.first() else {
        return String::new();
    };
    let operation = first
        .task
        .map_or(&*first.title, |task| task.operation.name());
    let sized = first
        .task
        .is_some_and(|task| task.operation != Collective::Barrier);
    let mut text = String::new();
    for (name, setting) in labels(comparisons) {
        let mut rows = String::new();
        let mut algorithms: Vec<(&str, usize)> = Vec::new();
        for comparison in comparisons {
            let mut entries = comparison.entries.iter();
            let entry = entries.find(|e| e.name == name && e.setting == setting);
            let Some((entry, times)) = entry.and_then(|e| Some((e, e.rank_summary()?))) else {
                continue;
            };
            if let (true, Some(task)) = (sized, comparison.task) {
                let _ = write!(rows, "{:<10} ", task.bytes);
            }
            if let Some(ran) = &entry.algorithm
                && algorithms.last().is_none_or(|(last, _)| last != ran)
            {
                algorithms.push((ran, comparison.task.map_or(0, |task| task.bytes)));
            }
            let [average, min, max] = [times.average, times.min, times.max].map(|ns| ns / 1000.0);
            let _ = writeln!(
                rows,
                "{average:>17.2} {min:>17.2} {max:>17.2} {:>11}",
                entry.operations
            );
        }
        let places = places(&first.placements, false);
        let ranks = first.ranks;
        let _ = writeln!(
            text,
            "# {name}, {setting}: {operation} of {ranks} ranks on {places}"
        );
        if rows.is_empty() {
            text.push_str("# what each rank saw is not known\n\n");
            continue;
        }
        let size = if sized { "# Size    " } else { "#" };
        let _ = writeln!(
            text,
            "{size} {:>width$} {:>17} {:>17} {:>11}",
            "Avg Latency(us)",
            "Min Latency(us)",
            "Max Latency(us)",
            "Iterations",
            width = if sized { 17 } else { 15 },
        );
        text.push_str(&rows);
        if !algorithms.is_empty() {
            let ran = |(name, from): &(&str, usize)| match sized {
                true => format!("{name} from {from}"),
                false => (*name).to_owned(),
            };
            let ran: Vec<String> = algorithms.iter().map(ran).collect();
            let _ = writeln!(text, "# Algorithm: {}", ran.join(", "));
        }
        text.push('\n');
    }
    text.pop();
    text
}

/// Name and setting of all entrants that were timed, in the order in which they first appear.
fn labels<'a>(comparisons: &[&'a Comparison]) -> Vec<(&'a str, &'a str)> {
    let mut labels = Vec::new();
    for entry in comparisons.iter().flat_map(|c| &c.entries) {
        let label = (entry.name.as_str(), entry.setting.as_str());
        if entry.summary().is_some() && !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::{Entry, made};
    use crate::engine::Role;
    use crate::sized::{RankTimes, Task};

    fn comparison(operation: Collective, bytes: usize, times: &[RankTimes]) -> Comparison {
        let entry = |name: &str, rank_times: &[RankTimes]| Entry {
            setting: "pinned".to_owned(),
            operations: 300,
            rank_times: rank_times.to_vec(),
            ..made::entry(name, Role::Peer, &[2500.0; 3])
        };
        Comparison {
            task: Some(Task {
                operation,
                ranks: 2,
                bytes,
            }),
            ..made::comparison(vec![entry("known", times), entry("silent", &[])])
        }
    }

    fn times(average: f64) -> RankTimes {
        RankTimes {
            average,
            min: average - 500.0,
            max: average + 500.0,
            start_spread: None,
        }
    }

    #[test]
    fn sizes_are_rows_and_rounds_give_medians() {
        let three = [times(1500.0), times(9000.0), times(2000.0)];
        let of = |bytes, times: &[RankTimes], algorithm: &str| {
            let mut made = comparison(Collective::Reduce, bytes, times);
            made.entries[0].algorithm = Some(algorithm.to_owned());
            made
        };
        let (short, long) = (of(8, &three, "messages"), of(4096, &three[..1], "ring"));
        let text = render(&[&short, &long]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "# known, pinned: reduce of 2 ranks on PU 0,1",
                "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations",
                "8                       2.00              1.50              2.50         300",
                "4096                    1.50              1.00              2.00         300",
                "# Algorithm: messages from 8, ring from 4096",
                "",
                "# silent, pinned: reduce of 2 ranks on PU 0,1",
                "# what each rank saw is not known",
            ]
        );
    }

    #[test]
    fn barriers_have_no_size() {
        let text = render(&[&comparison(Collective::Barrier, 0, &[times(1000.0)])]);
        assert!(text.contains("\n# Avg Latency(us)"), "{text}");
        assert!(
            text.contains("\n             1.00              0.50              1.50         300\n")
        );
        assert_eq!(render(&[]), "");
    }
}
