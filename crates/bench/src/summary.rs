//! Races of one operation at several sizes, side by side.

use crate::comparison::{Comparison, Entry};
use crate::engine::Role;
use crate::sized::Task;
use crate::table::{align, known, places, with_interval};
use corecast_model::words::digits;
use std::fmt::Write;

/// Renders `comparisons` of one operation as a table with a line for each size. A line has the
/// median of the fastest setting of each entrant, in nanoseconds per operation, and the ratios of
/// Corecast's fastest to the fastest floor and to the fastest peer, with their 95 % intervals, and the algorithm that
/// Corecast's fastest ran.
/// Comparisons without a task are left out.
pub fn render(comparisons: &[&Comparison]) -> String {
    let sized = comparisons.iter();
    let sized: Vec<(&Comparison, Task)> = sized.filter_map(|c| Some((*c, c.task?))).collect();
    let Some((first, task)) = sized.first() else {
        return String::new();
    };
    let names = names(&sized);
    let mut header: Vec<String> = ["bytes", "corecast", "floor"].map(str::to_owned).into();
    header.extend(names.iter().cloned());
    header.extend([
        "/ floor".to_owned(),
        "/ best peer".to_owned(),
        "algorithm".to_owned(),
    ]);
    let mut rows = vec![header];
    for (comparison, task) in &sized {
        let own = comparison.fastest(Role::Corecast);
        let median = |entry: Option<&Entry>| {
            let summary = entry.and_then(Entry::summary);
            known(summary, |summary| digits(summary.median))
        };
        let mut row = vec![size(task.bytes), median(own)];
        row.push(median(comparison.fastest(Role::Floor)));
        row.extend(names.iter().map(|name| median(named(comparison, name))));
        for role in [Role::Floor, Role::Peer] {
            let ratio = own
                .zip(comparison.fastest(role))
                .and_then(|(own, base)| comparison.ratio(own, base));
            row.push(known(ratio, with_interval));
        }
        row.push(known(own.and_then(|own| own.algorithm.clone()), |name| {
            name
        }));
        rows.push(row);
    }
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{} by size: {} ranks on {}, the fastest setting of each, median ns per operation",
        task.operation,
        first.ranks,
        places(&first.placements, first.oversubscribed),
    );
    align(&mut text, &rows);
    text
}

/// Names of the peers, in the order in which they first appear.
fn names(sized: &[(&Comparison, Task)]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let entries = sized.iter().flat_map(|(comparison, _)| &comparison.entries);
    for entry in entries.filter(|entry| entry.role == Role::Peer) {
        if !names.contains(&entry.name) {
            names.push(entry.name.clone());
        }
    }
    names
}

/// The entry with the lowest median among the settings of `name`.
fn named<'a>(comparison: &'a Comparison, name: &str) -> Option<&'a Entry> {
    let settings = comparison.entries.iter().filter(|e| e.name == name);
    let medians = settings.filter_map(|e| Some((e.summary()?.median, e)));
    medians
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, entry)| entry)
}

/// Bytes as text, with the suffix K or M where that is exact.
fn size(bytes: usize) -> String {
    match bytes {
        0 => "0".to_owned(),
        _ if bytes.is_multiple_of(1 << 20) => format!("{}M", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{}K", bytes >> 10),
        _ => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::{Status, made};
    use corecast_model::Collective;

    fn comparison(bytes: usize, own: Status) -> Comparison {
        let mpi = |setting: &str, ns| Entry {
            setting: setting.to_owned(),
            ..made::entry("MPI", Role::Peer, &[ns; 8])
        };
        Comparison {
            task: Some(Task {
                operation: Collective::Reduce,
                ranks: 2,
                bytes,
            }),
            ..made::comparison(vec![
                Entry {
                    status: own,
                    algorithm: Some("line".to_owned()),
                    ..made::entry("corecast best", Role::Corecast, &[150.0; 8])
                },
                made::entry("floor", Role::Floor, &[100.0; 8]),
                mpi("slow", 900.0),
                mpi("fast", 300.0),
            ])
        }
    }

    #[test]
    fn each_size_has_a_line_with_the_best_of_each() {
        let skipped = Status::Skipped("not yet".to_owned());
        let (short, long) = (comparison(8, Status::Timed), comparison(4096, skipped));
        let text = render(&[&short, &long]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "reduce by size: 2 ranks on PU 0,1, the fastest setting of each, median ns per operation",
                "bytes  corecast  floor  MPI            / floor        / best peer  algorithm",
                "8           150    100  300  1.50 (1.50..1.50)  0.50 (0.50..0.50)  line",
                "4K            -    100  300                  -                  -  -",
            ]
        );
        assert_eq!(size(3 << 20), "3M");
        assert_eq!(render(&[]), "");
    }
}
