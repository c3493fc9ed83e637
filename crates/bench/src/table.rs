//! The outcome of a race as text.

use crate::comparison::{Comparison, Entry, Forecast};
use crate::engine::Role;
use crate::sized::RankTimes;
use crate::stats::{Interval, Ratio, Summary};
use corecast_model::words::digits;
use std::fmt::Write;

/// How much a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The fastest setting of each entrant, and ratios without intervals.
    Best,
    /// Every entrant and interval.
    All,
}

/// Renders a comparison as a table: one line per entrant, fastest first, then
/// a line for each that was skipped or failed, then the notes.
///
/// Times are nanoseconds per operation: median and its 95 % interval. Ratios
/// are medians of the ratios of each round with their intervals. [`Extent::All`] adds the mean time
/// of the ranks, how far apart the ranks began, and outliers. Where entrants choose among algorithms, a column names the
/// one that ran.
pub fn render(comparison: &Comparison, extent: Extent) -> String {
    let mut timed: Vec<Timed<'_>> = comparison.entries.iter().filter_map(Timed::of).collect();
    timed.sort_by(|a, b| a.summary.median.total_cmp(&b.summary.median));
    let slower = match extent {
        Extent::Best => keep_fastest(&mut timed),
        Extent::All => 0,
    };
    let columns = columns(comparison, &timed, extent);
    let headings = columns.iter().map(|column| column.heading.to_owned());
    let row = |timed: &Timed<'_>| columns.iter().map(|column| (column.cell)(timed)).collect();
    let mut rows: Vec<Vec<String>> = vec![headings.collect()];
    rows.extend(timed.iter().map(row));

    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}: {} ranks on {}, {} interleaved rounds, ns per operation",
        comparison.title,
        comparison.ranks,
        places(&comparison.placements, comparison.oversubscribed),
        comparison.rounds
    );
    let words = columns.iter().filter(|column| column.is_words).count();
    align_text(&mut text, &rows, words);
    if slower > 0 {
        let settings = if slower == 1 { "setting" } else { "settings" };
        let _ = writeln!(text, "not shown: {slower} slower {settings} of these");
    }
    for entry in &comparison.entries {
        let Some(reason) = entry.status.reason() else {
            continue;
        };
        let word = entry.status.word().to_uppercase();
        let _ = match entry.setting.is_empty() {
            true => writeln!(text, "{word} {}: {reason}", entry.name),
            false => writeln!(text, "{word} {} ({}): {reason}", entry.name, entry.setting),
        };
    }
    for note in &comparison.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// An entry that was timed, and its times.
struct Timed<'a> {
    entry: &'a Entry,
    summary: Summary,
    ranks: Option<RankTimes>,
}

impl<'a> Timed<'a> {
    fn of(entry: &'a Entry) -> Option<Self> {
        Some(Self {
            entry,
            summary: entry.summary()?,
            ranks: entry.rank_summary(),
        })
    }
}

/// Keeps the first, and so fastest, setting of each entrant, and returns how many others there were, floors aside.
fn keep_fastest(timed: &mut Vec<Timed<'_>>) -> usize {
    let mut seen: Vec<&str> = Vec::new();
    let mut slower = 0;
    timed.retain(|Timed { entry, .. }| {
        let first = !seen.contains(&entry.name.as_str());
        seen.push(&entry.name);
        slower += usize::from(!first && entry.role != Role::Floor);
        first
    });
    slower
}

/// A column of a table.
struct Column<'a> {
    heading: &'static str,
    cell: Box<dyn Fn(&Timed<'_>) -> String + 'a>,
    /// Whether it is one of the last columns, which are aligned left.
    is_words: bool,
}

/// The columns of a table: those about which something is known of any entry, some of them in the longer table alone.
fn columns<'a>(comparison: &'a Comparison, timed: &[Timed<'_>], extent: Extent) -> Vec<Column<'a>> {
    let all = extent == Extent::All;
    let any = |has: fn(&Timed<'_>) -> bool| timed.iter().any(has);
    let mut columns = Vec::new();
    let mut add = |heading, cell: Box<dyn Fn(&Timed<'_>) -> String + 'a>| {
        columns.push(Column {
            heading,
            cell,
            is_words: matches!(heading, "algorithm" | "setting"),
        });
    };
    add("name", Box::new(|of| of.entry.name.clone()));
    add("median", Box::new(|of| digits(of.summary.median)));
    add(
        "95 % interval",
        Box::new(|of| range(of.summary.interval, digits)),
    );
    if all && any(|of| of.ranks.is_some()) {
        let mean = |of: &Timed<'_>| known(of.ranks.map(|times| times.average), digits);
        add("ranks' mean", Box::new(mean));
    }
    if all && any(|of| !of.entry.start_spreads().is_empty()) {
        let spread = |of: &Timed<'_>| known(of.ranks.and_then(|times| times.start_spread), digits);
        add("begin apart", Box::new(spread));
    }
    if all {
        let outliers =
            |of: &Timed<'_>| format!("{} of {}", of.summary.outliers, of.summary.samples);
        add("outliers", Box::new(outliers));
    }
    if any(|of| of.entry.predicted_ns.is_some()) {
        add(
            "predicted",
            Box::new(|of| known(of.entry.predicted_ns, digits)),
        );
    }
    if any(|of| of.entry.forecast.is_some()) {
        for (column, heading) in Forecast::COLUMNS.into_iter().enumerate() {
            let time =
                move |of: &Timed<'_>| known(Forecast::columns(of.entry.forecast)[column], digits);
            add(heading, Box::new(time));
        }
    }
    for (heading, role) in [("/ floor", Role::Floor), ("/ best peer", Role::Peer)] {
        if let Some(base) = comparison.fastest(role) {
            let ratio = move |of: &Timed<'_>| {
                known(comparison.ratio(of.entry, base), |ratio| match extent {
                    Extent::Best => digits(ratio.median),
                    Extent::All => with_interval(ratio),
                })
            };
            add(heading, Box::new(ratio));
        }
    }
    if any(|of| of.entry.algorithm.is_some()) {
        add(
            "algorithm",
            Box::new(|of| known(of.entry.algorithm.clone(), |name| name)),
        );
    }
    add("setting", Box::new(|of| of.entry.setting.clone()));
    columns
}

/// Where ranks ran, in words; `placements` as [`crate::cpu_placement::describe`] puts them.
pub(crate) fn places(placements: &str, shared: bool) -> String {
    let crowd = if shared { ", sharing PUs" } else { "" };
    match placements {
        "any" => format!("any PU{crowd}"),
        placements => format!("PU {placements}{crowd}"),
    }
}

/// The text of a cell, which is a dash if the value is not known.
pub(crate) fn known<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), text)
}

/// An interval as `low..high`.
pub(crate) fn range(interval: Interval, number: impl Fn(f64) -> String) -> String {
    format!("{}..{}", number(interval.low), number(interval.high))
}

/// A ratio with its interval in parentheses.
pub(crate) fn with_interval(ratio: Ratio) -> String {
    format!(
        "{} ({})",
        digits(ratio.median),
        range(ratio.interval, digits)
    )
}

/// Appends `rows` to `text` with padded columns: the first and the last are aligned left, the
/// others right.
pub(crate) fn align(text: &mut String, rows: &[Vec<String>]) {
    align_text(text, rows, 1);
}

/// Like [`align`], with the last `words` columns aligned left.
fn align_text(text: &mut String, rows: &[Vec<String>], words: usize) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|c| rows.iter().map(|row| row[c].chars().count()).max())
        .map(|width| width.unwrap_or(0))
        .collect();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let _ = match column {
                0 => write!(line, "{cell:<width$}"),
                _ if column + 1 == columns => write!(line, "  {cell}"),
                _ if column + words >= columns => write!(line, "  {cell:<width$}"),
                _ => write!(line, "  {cell:>width$}"),
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::{Status, made};

    fn entry(name: &str, role: Role, status: Status, ns: f64) -> Entry {
        Entry {
            setting: "as is".to_owned(),
            predicted_ns: (role == Role::Corecast).then_some(ns / 2.0),
            status,
            ..made::entry(name, role, &[ns; 8])
        }
    }

    #[test]
    fn what_models_say_stands_beside_what_was_measured() {
        let mut own = entry("own", Role::Corecast, Status::Timed, 150.0);
        own.predicted_ns = None;
        own.forecast = Some(Forecast {
            t_min_ns: Some(120.0),
            t_max_ns: None,
            simulated_ns: 140.0,
        });
        own.algorithm = Some("ring".to_owned());
        let peer = entry("peer", Role::Peer, Status::Timed, 300.0);
        let comparison = made::comparison(vec![own, peer]);
        let text = render(&comparison, Extent::Best);
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                "name  median  95 % interval  T_min  T_max  simulated  / best peer  algorithm  setting",
                "own      150       150..150    120      -        140         0.50  ring       as is",
                "peer     300       300..300      -      -          -         1.00  -          as is",
            ]
        );
        let report = serde_json::to_value(comparison.report()).unwrap();
        assert_eq!(report["entries"][0]["simulated_ns"], 140.0);
        assert_eq!(report["entries"][0]["algorithm"], "ring");
        assert!(report["entries"][1]["algorithm"].is_null());
        assert!(report["entries"][1].get("simulated_ns").is_none());
    }

    #[test]
    fn a_table_lists_winners_losers_and_the_absent() {
        let comparison = Comparison {
            notes: vec!["pinning refused".to_owned()],
            ..made::comparison(vec![
                entry("peer", Role::Peer, Status::Timed, 300.0),
                entry("peer", Role::Peer, Status::Timed, 900.0),
                entry("own", Role::Corecast, Status::Timed, 150.0),
                entry("floor", Role::Floor, Status::Timed, 100.0),
                entry(
                    "gone",
                    Role::Peer,
                    Status::Skipped("no compiler".into()),
                    1.0,
                ),
                entry("wrong", Role::Peer, Status::Failed("hung".into()), 1.0),
            ])
        };
        let text = render(&comparison, Extent::Best);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "barrier: 2 ranks on PU 0,1, 8 interleaved rounds, ns per operation",
                "name   median  95 % interval  predicted  / floor  / best peer  setting",
                "floor     100       100..100          -     1.00         0.33  as is",
                "own       150       150..150       75.0     1.50         0.50  as is",
                "peer      300       300..300          -     3.00         1.00  as is",
                "not shown: 1 slower setting of these",
                "SKIPPED gone (as is): no compiler",
                "FAILED wrong (as is): hung",
                "note: pinning refused",
            ]
        );
        let text = render(&comparison, Extent::All);
        assert!(text.contains("0.33 (0.33..0.33)"), "{text}");
        assert!(text.contains("9.00 (9.00..9.00)"), "{text}");
        assert!(text.contains("0 of 8"), "{text}");
        assert!(!text.contains("begin apart"), "{text}");
    }
}
