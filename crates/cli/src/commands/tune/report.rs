//! The result of a tuning, as text and as JSON.

use std::fmt::Write;

use anyhow::Result;
use corecast_model::Collective;
use corecast_team::KernelCopies;
use corecast_tune::candidates::name;
use corecast_tune::check::{Checked, Static, statics};
use corecast_tune::guidelines::Finding;
use corecast_tune::outcome::{Point, Raced, TeamRace, Tuned};
use corecast_tune::tuner::TuneRequest;
use owo_colors::OwoColorize;
use serde::Serialize;

use super::tuning::Tuning;
use crate::options::Global;
use crate::output;
use crate::source::Source;
use corecast_model::words::ranges;

#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    kind: &'static str,
    machine: &'a str,
    synchrony: &'static str,
    budget_s: f64,
    teams: Vec<Team<'a>>,
}

/// One tuned team, as `--json` has it.
#[derive(Serialize)]
pub(crate) struct Team<'a> {
    threads: &'a [u32],
    pinned: bool,
    mode: &'static str,
    /// Seconds that the races took; 0 where the team was only checked.
    took_s: f64,
    interrupted: bool,
    races: &'a [TeamRace],
    operations: &'a [Tuned],
    guidelines: &'a [Finding],
    #[serde(skip_serializing_if = "Option::is_none")]
    checked: Option<Check<'a>>,
    /// From how many bytes on the kernel copies between processes, 0 for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel_copies_from: Option<usize>,
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    saved: Option<&'a str>,
}

#[derive(Serialize)]
struct Check<'a> {
    slower: usize,
    by_size: &'a [Checked],
    best_static: Vec<Static>,
}

/// Shows the results of all teams.
pub(super) fn show(
    global: &Global,
    source: &Source,
    request: &TuneRequest,
    tunings: &[Tuning],
) -> Result<()> {
    if global.json {
        return output::json(&Report {
            schema: 1,
            kind: "tune",
            machine: &source.file.machine().name,
            synchrony: request.start.name(),
            budget_s: request.budget.as_secs_f64(),
            teams: tunings.iter().map(team).collect(),
        });
    }
    let texts: Vec<String> = tunings
        .iter()
        .map(|tuning| text(tuning, request, global.verbose > 0))
        .collect();
    output::print(&texts.join("\n"))
}

pub(super) fn team(tuning: &Tuning) -> Team<'_> {
    Team {
        threads: &tuning.planned.rank_pus,
        pinned: tuning.pinned,
        mode: tuning.mode.name(),
        took_s: tuning.took.unwrap_or_default().as_secs_f64(),
        interrupted: tuning.outcome.interrupted,
        races: &tuning.outcome.team,
        operations: &tuning.outcome.operations,
        guidelines: &tuning.outcome.findings,
        checked: tuning.checked.as_ref().map(|checked| Check {
            slower: checked.iter().filter(|one| one.is_slower()).count(),
            by_size: checked,
            best_static: statics(checked),
        }),
        kernel_copies_from: tuning.outcome.kernel_copies.map(KernelCopies::bytes),
        notes: &tuning.outcome.notes,
        saved: tuning.saved.as_deref(),
    }
}

/// One tuned team: a line for each operation.
pub(super) fn brief(tuning: &Tuning) -> String {
    let head = format!(
        "tuned for {} {}, {:.0} s",
        tuning.planned.rank_pus.len(),
        tuning.mode,
        tuning.took.unwrap_or_default().as_secs_f64()
    );
    let mut text = format!("{}\n", head.bold());
    let operations = tuning.outcome.operations.iter();
    for tuned in operations {
        let _ = writeln!(text, "{:14} {}", tuned.operation, ranges_of(tuned));
    }
    let _ = write!(text, "{}", path_of(tuning));
    if let Some(saved) = &tuning.saved {
        let _ = writeln!(text, "{}", saved.dimmed());
    }
    text
}

/// The line that says how long data go between processes; empty where that was not raced.
fn path_of(tuning: &Tuning) -> String {
    match tuning.outcome.kernel_copies {
        None => String::new(),
        Some(KernelCopies::Never) => "transfer path: bounce buffers at all sizes\n".to_owned(),
        Some(KernelCopies::From(bytes)) => {
            let from = size(bytes);
            format!("transfer path: bounce buffers, copies by the kernel from {from} on\n")
        }
    }
}

/// A size in the largest unit that divides it.
pub(super) fn size(bytes: usize) -> String {
    for (shift, unit) in [(20, "MiB"), (10, "KiB")] {
        if bytes >= 1 << shift && bytes.is_multiple_of(1 << shift) {
            return format!("{} {unit}", bytes >> shift);
        }
    }
    format!("{bytes} B")
}

fn text(tuning: &Tuning, request: &TuneRequest, verbose: bool) -> String {
    let outcome = &tuning.outcome;
    let mut text = String::new();
    let places = if tuning.pinned { "pinned" } else { "unpinned" };
    let _ = writeln!(
        text,
        "{}",
        format!(
            "{} ranks on PU {}, {places}, {}, {}: {}{}",
            tuning.planned.rank_pus.len(),
            ranges(tuning.planned.rank_pus.clone()),
            tuning.mode,
            request.start.name(),
            match tuning.took {
                Some(took) => format!("tuned in {:.1} s", took.as_secs_f64()),
                None => "as it is".to_owned(),
            },
            if outcome.interrupted {
                ", interrupted"
            } else {
                ""
            },
        )
        .bold()
    );
    for race in &outcome.team {
        let all = race.candidates.iter().map(|one| contender(one, true));
        let winner = &race.candidates[race.winner];
        let _ = writeln!(text, "{}: {}", race.what, winner.name.bold());
        let all: Vec<String> = all.collect();
        let _ = writeln!(text, "    {}: {}", race.subject, all.join(", "));
    }
    text += &path_of(tuning);
    for tuned in &outcome.operations {
        if tuned.operation != Collective::Barrier {
            operation(&mut text, tuned, verbose);
        }
    }
    for finding in &outcome.findings {
        let of = match finding.bytes {
            0 => String::new(),
            bytes => format!(" of {}", size(bytes)),
        };
        let _ = writeln!(
            text,
            "guideline: {}{of} took {:.0} ns, {} {:.0} ns; {}",
            finding.operation, finding.measured_ns, finding.bound, finding.bound_ns, finding.said
        );
    }
    if let Some(checked) = &tuning.checked {
        check(&mut text, checked);
    }
    for note in &outcome.notes {
        let _ = writeln!(text, "note: {note}");
    }
    if let Some(saved) = &tuning.saved {
        let _ = writeln!(text, "{saved}");
    }
    text
}

/// The algorithm of each range of lengths.
fn ranges_of(tuned: &Tuned) -> String {
    let range = |at: usize| {
        let range = &tuned.ranges[at];
        let algorithm = name(range.algorithm);
        match (range.up_to_bytes, at) {
            (None, 0) => format!("{algorithm} at all sizes"),
            (Some(most), _) => format!("{algorithm} up to {most} B"),
            (None, _) => format!("{algorithm} beyond"),
        }
    };
    let all: Vec<String> = (0..tuned.ranges.len()).map(range).collect();
    all.join(", ")
}

/// The ranges of an operation, and the races of those sizes at which the built-in choice lost, or of all if `verbose`.
fn operation(text: &mut String, tuned: &Tuned, verbose: bool) {
    let _ = writeln!(text, "{}: {}", tuned.operation, ranges_of(tuned).bold());
    for point in &tuned.points {
        // A check alone races nothing before.
        let unraced = point.candidates.is_empty();
        if unraced || (!verbose && point.algorithm().is_none()) {
            continue;
        }
        let _ = writeln!(
            text,
            "    {:>8}  {}{}",
            size(point.bytes),
            contenders(point),
            match &point.mended {
                Some(why) => format!(" ({why})"),
                None => String::new(),
            }
        );
    }
}

fn contenders(point: &Point) -> String {
    let order = |raced: &&Raced| raced.measured_ns.unwrap_or(f64::INFINITY);
    let mut all: Vec<&Raced> = point.candidates.iter().collect();
    all.sort_by(|a, b| order(a).total_cmp(&order(b)));
    let all: Vec<String> = all
        .into_iter()
        .map(|raced| contender(raced, false))
        .collect();
    all.join(", ")
}

fn contender(raced: &Raced, predicted: bool) -> String {
    let Some(ns) = raced.measured_ns else {
        let why = raced.left.as_deref().unwrap_or("not raced");
        return format!("{} {why}", raced.name);
    };
    let mut text = format!("{} {ns:.0} ns", raced.name);
    if let (true, Some(predicted)) = (predicted, raced.predicted_ns) {
        let _ = write!(text, " (predicted {predicted:.0})");
    }
    if let Some(ratio) = raced.ratio.filter(|ratio| (ratio - 1.0).abs() > 1e-9) {
        let _ = write!(text, " × {ratio:.2}");
    }
    text
}

fn check(text: &mut String, checked: &[Checked]) {
    let slower: Vec<&Checked> = checked.iter().filter(|one| one.is_slower()).collect();
    let faster = checked.iter().filter(|one| one.beats_built_in()).count();
    let _ = writeln!(
        text,
        "checked: of {} choices {} slower than another by more than 3 % beyond the interval, {faster} faster than the built-in one",
        checked.len(),
        match slower.len() {
            0 => "none is".to_owned(),
            1 => "one is".to_owned(),
            n => format!("{n} are"),
        }
    );
    let part = checked.iter().filter(|one| !one.whole).count();
    if part > 0 {
        let _ = writeln!(
            text,
            "    {part} of them had no time for all replicates: a larger --budget gives it"
        );
    }
    for one in slower {
        let Some(rival) = one.worst() else { continue };
        let _ = writeln!(
            text,
            "    {} of {}: {} takes {:.2} ({:.2}..{:.2}) times as long as {}",
            one.operation,
            size(one.bytes),
            one.tuned,
            rival.ratio,
            rival.interval.0,
            rival.interval.1,
            rival.name
        );
    }
    for best in statics(checked) {
        let faster: Vec<String> = best.faster_at().into_iter().map(size).collect();
        if !faster.is_empty() && best.operation != "barrier" {
            let _ = writeln!(
                text,
                "    {}: faster than {} at all sizes, the best single choice, at {}",
                best.operation,
                best.best,
                faster.join(", ")
            );
        }
    }
}
