//! The explanation of an algorithm as text.

use std::fmt::Write;

use comfy_table::Table;
use corecast_machine::CpuList;
use corecast_model::words::decimals;
use owo_colors::OwoColorize;

use super::report::Report;
use crate::output;

/// The explanation as text.
pub(super) fn text(report: &Report<'_>) -> String {
    let screen = output::screen();
    let mut out = String::new();
    let pus: CpuList = report.threads.iter().copied().collect();
    let size = match report.bytes {
        0 => String::new(),
        bytes => format!(" of {bytes} bytes"),
    };
    let pinned = if report.pinned {
        "pinned"
    } else {
        "not pinned"
    };
    let title = format!(
        "{}{size} between {} {} on PU {pus}, {pinned}: {}",
        report.op,
        report.threads.len(),
        report.mode,
        report.algorithm
    );
    let _ = writeln!(out, "{}", title.style(screen.bold()));
    let _ = writeln!(out, "why: {}", report.reason);
    if let Some(mended) = report.mended {
        let _ = writeln!(out, "mended: {mended}");
    }
    let range = match (report.above_bytes, report.up_to_bytes) {
        (None, None) => None,
        (Some(above), None) => Some(format!("above {above} bytes")),
        (None, Some(end)) => Some(format!("up to {end} bytes")),
        (Some(above), Some(end)) => Some(format!("above {above} and up to {end} bytes")),
    };
    if let Some(range) = range {
        let _ = writeln!(out, "the same holds {range}");
    }
    let _ = writeln!(out, "{}", table(report));
    if let Some(bytes) = report
        .raced_bytes
        .filter(|&raced| raced != report.bytes as u64)
    {
        let _ = writeln!(
            out,
            "measured: at {bytes} bytes, the nearest size that was raced"
        );
    }
    let _ = writeln!(out, "tuning: {}", report.tuning);
    for note in &report.notes {
        let _ = writeln!(out, "{note}");
    }
    out
}

fn table(report: &Report<'_>) -> Table {
    let columns = [
        "algorithm",
        "T_min",
        "T_max",
        "predicted ns",
        "measured ns",
        "interval",
        "",
    ];
    let mut table = corecast_draw::table(columns, 1..columns.len() - 1);
    let time = |time: Option<f64>| match time {
        Some(ns) => format!("{ns:.d$}", d = decimals(ns)),
        None => "–".to_owned(),
    };
    for one in &report.candidates {
        let interval = one.interval_ns.map(|(low, high)| {
            let d = decimals(low);
            format!("{low:.d$} to {high:.d$}")
        });
        let mut words = Vec::new();
        if one.runs {
            words.push("runs".to_owned());
        }
        if one.built_in {
            words.push("built in".to_owned());
        }
        words.extend(one.dropped.clone());
        table.add_row([
            one.algorithm.to_owned(),
            time(one.t_min_ns),
            time(one.t_max_ns),
            time(one.predicted_ns),
            time(one.measured_ns),
            interval.unwrap_or_else(|| "–".to_owned()),
            words.join("; "),
        ]);
    }
    table
}
