//! `corecast explain --op --size`: says which algorithm runs at one size, what decided that, and which others exist.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use comfy_table::Table;
use corecast::algorithms::{Chosen, TeamOutline};
use corecast::choose::Races;
use corecast::model::profile::{Mode, SizeRace, Start, TunedCandidate};
use corecast::rules::{self, AskedBy, CORECAST_ALGO, Fit, Rule, Rules};
use corecast::store::Store;
use corecast::{Algorithms, Builder, Planned};
use corecast_machine::CpuList;
use corecast_model::Collective;
use owo_colors::OwoColorize;
use serde::Serialize;

use super::args::ExplainArgs;
use crate::commands::tune;
use crate::models::Models;
use crate::options::Global;
use crate::sizes;
use crate::source::{self, Source};
use crate::{output, team};
use corecast_model::words::decimals;

/// Longest block (bytes) whose bounds are computed, since they take time by the square of the transfers.
const BOUNDED_BYTES_MAX: usize = 64 << 10;

/// The output of `--json`.
#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    machine: &'a str,
    threads: &'a [u32],
    pinned: bool,
    mode: Mode,
    synchronisation: Start,
    op: &'static str,
    bytes: usize,
    algorithm: &'static str,
    /// The range of lengths with the same request: above `above_bytes`, up to and including `up_to_bytes`.
    above_bytes: Option<usize>,
    up_to_bytes: Option<usize>,
    asked: Option<&'static str>,
    decided_by: AskedBy,
    reason: String,
    mended: Option<&'a str>,
    tuning: &'a str,
    /// The raced size that is nearest to this one.
    raced_bytes: Option<u64>,
    candidates: Vec<Candidate>,
    notes: Vec<String>,
}

/// One algorithm in [`Report`].
#[derive(Serialize)]
struct Candidate {
    algorithm: &'static str,
    runs: bool,
    built_in: bool,
    predicted_ns: Option<f64>,
    t_min_ns: Option<f64>,
    t_max_ns: Option<f64>,
    measured_ns: Option<f64>,
    interval_ns: Option<(f64, f64)>,
    samples: Option<u64>,
    dropped: Option<String>,
}

/// Runs the command.
pub(super) fn run(global: &Global, args: &ExplainArgs, size: &str) -> Result<ExitCode> {
    let environment = rules::environment()?;
    let source = &source::open(global.machine.as_deref())?;
    let Some(here) = &source.here else {
        bail!("explain --size is about teams of this machine: leave -i out");
    };
    let Some(op) = &args.op else {
        bail!("--size {size:?}: name an operation with --op, such as allreduce");
    };
    let operation = tune::chosen(op)?;
    let sizes = sizes::parse(size)?;
    let &[bytes] = &sizes[..] else {
        bail!("--size {size:?}: one size at a time");
    };
    let bytes = match operation {
        Collective::Barrier => 0,
        _ => bytes,
    };
    let planned = planned(args, source)?;
    let fit = Fit {
        threads: &planned.rank_pus,
        pinned: planned.pinned,
        mode: match args.processes {
            true => Mode::Processes,
            false => Mode::Threads,
        },
        start: args.sync.into(),
        similar: !planned.options.learn,
    };
    let races = Races::here(&Store::standard(), here);
    let rules = Rules::new(Algorithms::default(), environment)?;
    let rules = rules.with_tuning(&races, &fit, &rules::circumstances(here));
    let unasked = planned.options.algorithms.unasked();
    let rules = rules.with_half_bytes(unasked.half_bytes);
    let sharing = planned.options.sharing(planned.rank_pus.len());
    let setting = TeamOutline {
        slots: planned.options.slots_or_default(),
        sharing,
        processes: args.processes,
        ..TeamOutline::new(&planned.plans)
    };
    let name = operation.name();
    let rule = rules.at(name, bytes)?;
    let runs = setting.chooses(rules.algorithms(), name, bytes)?;
    let race = rule.tuned.and_then(|range| range.race_near(bytes as u64));
    let built_in = |bytes| setting.chooses(&unasked, name, bytes);
    let (above_bytes, up_to_bytes) = range(rules.algorithms(), name, bytes)?;
    let (models, note) = match Models::of_team(
        &source.file,
        source.costs,
        (&planned.rank_pus, fit.pinned, sharing > 1),
    ) {
        Ok(models) => (Some(models), None),
        Err(why) => (None, Some(format!("no predictions: {why}"))),
    };
    let usual = match race {
        Some(race) => built_in(usize::try_from(race.bytes)?)?.algorithm(),
        None => built_in(bytes)?.algorithm(),
    };
    let mut candidates = Vec::new();
    // Of the sizes of an algorithm those are told that were raced, and the one that runs.
    let base = Algorithms::names(name)?;
    let told = |algorithm: &&str| {
        let raced = race
            .and_then(|race| race.candidate(Some(algorithm)))
            .is_some();
        raced || base.contains(algorithm) || *algorithm == runs.algorithm()
    };
    for algorithm in Algorithms::sized_names(name)?.into_iter().filter(told) {
        let said = models.as_ref().and_then(|models| {
            let bounded = bytes <= BOUNDED_BYTES_MAX;
            models.of(operation, algorithm, &planned.plans, bytes, bounded)
        });
        let own = race.and_then(|race| race.candidate(Some(algorithm)));
        // Races record the built-in choice without a name.
        let record = own.or_else(|| race?.candidate(None).filter(|_| algorithm == usual));
        candidates.push(Candidate {
            algorithm,
            runs: algorithm == runs.algorithm(),
            built_in: algorithm == usual,
            predicted_ns: said
                .map(|said| said.simulated_ns)
                .or(record.and_then(|r| r.predicted_ns)),
            t_min_ns: said.and_then(|said| said.t_min_ns),
            t_max_ns: said.and_then(|said| said.t_max_ns),
            measured_ns: record.and_then(|record| record.measured_ns),
            interval_ns: record.and_then(|record| record.interval_ns),
            samples: record.map(|record| record.samples),
            dropped: record.and_then(|record| record.dropped.clone()),
        });
    }
    candidates.sort_by(|a, b| {
        let of = |c: &Candidate| (!c.runs, c.measured_ns.is_none());
        let time = |c: &Candidate| c.measured_ns.or(c.predicted_ns).unwrap_or(f64::MAX);
        of(a).cmp(&of(b)).then(time(a).total_cmp(&time(b)))
    });
    let report = Report {
        schema: 1,
        machine: &here.machine.name,
        threads: &planned.rank_pus,
        pinned: planned.pinned,
        mode: fit.mode,
        synchronisation: fit.start,
        op: name,
        bytes,
        algorithm: runs.algorithm(),
        above_bytes,
        up_to_bytes,
        asked: rule.algorithm,
        decided_by: match runs.as_asked || rule.algorithm.is_none() {
            true => rule.by,
            false => AskedBy::BuiltIn,
        },
        reason: reason(&rule, &runs, race),
        mended: rule.tuned.and_then(|range| range.mended.as_deref()),
        tuning: rules.source(),
        raced_bytes: race.map(|race| race.bytes),
        candidates,
        notes: [
            note,
            rules::rounds(&unasked, planned.rank_pus.len(), sharing),
        ]
        .into_iter()
        .flatten()
        .collect(),
    };
    match global.json {
        true => output::json(&report)?,
        false => output::print(&text(&report))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The team that a program on this machine would get with these arguments.
fn planned(args: &ExplainArgs, source: &Source) -> Result<Planned> {
    let mut builder = Builder::new();
    if let Some(ranks) = args.ranks {
        team::check_ranks("--ranks", ranks)?;
        builder = builder.threads(ranks);
    } else if args.team.threads.is_some() || args.team.subset.is_some() {
        let members = team::members(&args.team, &source.file)?;
        let list: Vec<String> = members.iter().map(u32::to_string).collect();
        builder = builder.cores(list.join(","));
    }
    if args.unpinned {
        builder = builder.pin(false);
    }
    builder.planned().context("team")
}

/// The ends of the range of lengths around `bytes` with the same request; `None` for an open end.
fn range(
    asked: &Algorithms,
    operation: &str,
    bytes: usize,
) -> Result<(Option<usize>, Option<usize>)> {
    let mut above = None;
    for (end, _) in asked.asked_ranges(operation)? {
        if bytes <= end {
            return Ok((above, Some(end).filter(|&end| end < usize::MAX)));
        }
        above = Some(end);
    }
    Ok((above, None))
}

/// A sentence that says why this algorithm runs.
fn reason(rule: &Rule<'_>, runs: &Chosen, race: Option<&SizeRace>) -> String {
    let who = match rule.by {
        AskedBy::Program => "the program asks for it",
        AskedBy::Environment => CORECAST_ALGO,
        AskedBy::Profile => "the tuning",
        AskedBy::BuiltIn => {
            return "nothing else is asked for: Corecast's choice at this length".to_owned();
        }
    };
    if let (Some(asked), false) = (rule.algorithm, runs.as_asked) {
        return format!(
            "{who} asks for {asked}, which this team cannot run: Corecast's choice instead"
        );
    }
    let tuned = match (rule.by, race) {
        (AskedBy::Profile, Some(race)) => race,
        (AskedBy::Profile, None) => return "it was tuned for this length".to_owned(),
        _ => return format!("{who} asks for it"),
    };
    raced(rule, tuned)
}

/// A sentence with the result of the chosen algorithm in its race.
fn raced(rule: &Rule<'_>, race: &SizeRace) -> String {
    let label = |one: &TunedCandidate| match &one.algorithm {
        Some(name) => name.clone(),
        None => "Corecast's choice".to_owned(),
    };
    let chosen = race.candidate(rule.algorithm);
    let times = |one: &TunedCandidate| {
        let measured = one.measured_ns?;
        let interval = one
            .interval_ns
            .map(|(low, high)| format!(" ({low:.0} to {high:.0})"));
        let predicted = one.predicted_ns.map(|ns| format!(", predicted {ns:.0} ns"));
        let (interval, predicted) = (interval.unwrap_or_default(), predicted.unwrap_or_default());
        Some(format!("a median of {measured:.0} ns{interval}{predicted}"))
    };
    let others = race
        .candidates
        .iter()
        .filter(|one| one.algorithm.as_deref() != rule.algorithm);
    let next = others
        .filter_map(|one| Some((one, one.measured_ns?)))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let next = next.map(|(one, ns)| format!("; the next was {} with {ns:.0} ns", label(one)));
    let bytes = match race.bytes {
        0 => String::new(),
        bytes => format!(" of {bytes} bytes"),
    };
    let name = match rule.algorithm {
        Some(_) => "it",
        None => "Corecast's choice",
    };
    let verb = match rule.tuned.is_some_and(|range| range.mended.is_some()) {
        true => "took part in",
        false => "won",
    };
    format!(
        "{name} {verb} the race{bytes} of {} candidates{}{}",
        race.candidates.len(),
        chosen
            .and_then(times)
            .map_or(String::new(), |times| format!(" with {times}")),
        next.unwrap_or_default()
    )
}

/// The explanation as text.
fn text(report: &Report<'_>) -> String {
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
