//! `corecast explain --op --size`: says which algorithm runs at one size, what decided that, and which others exist.

mod candidates;
mod reason;
mod report;
mod text;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use corecast::algorithms::TeamOutline;
use corecast::choose::Races;
use corecast::model::profile::Mode;
use corecast::rules::{self, AskedBy, Fit, Rules};
use corecast::store::Store;
use corecast::{Algorithms, Builder, Planned};

use super::args::ExplainArgs;
use crate::commands::tune;
use crate::models::Models;
use crate::options::Global;
use crate::sizes;
use crate::source::{self, Source};
use crate::{output, team};
use candidates::candidates;
use reason::reason;
use report::Report;

/// Longest block (bytes) whose bounds are computed, since they take time by the square of the transfers.
const BOUNDED_BYTES_MAX: usize = 64 << 10;

/// Runs the command.
pub(super) fn run(global: &Global, args: &ExplainArgs, op: &str, size: &str) -> Result<ExitCode> {
    let environment = rules::environment()?;
    let source = &source::open(global.machine.as_deref())?;
    let Some(here) = &source.here else {
        bail!("explain --size is about teams of this machine: leave -i out");
    };
    let operation = tune::chosen(op)?;
    let bytes = sizes::block(size, operation)?;
    let name = operation.name();
    let planned = planned(args, source)?;
    let ranks = planned.rank_pus.len();
    let sharing = planned.options.sharing(ranks);
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

    let unasked = planned.options.algorithms.unasked();
    let races = Races::here(&Store::standard(), here);
    let rules = Rules::new(Algorithms::default(), environment)?
        .with_tuning(&races, &fit, &rules::circumstances(here))
        .with_half_bytes(unasked.half_bytes);
    let team = TeamOutline {
        slots: planned.options.slots_or_default(),
        sharing,
        processes: args.processes,
        ..TeamOutline::new(&planned.plans)
    };
    let rule = rules.at(name, bytes)?;
    let runs = team.chooses(rules.algorithms(), name, bytes)?;
    let race = rule.tuned.and_then(|range| range.race_near(bytes as u64));
    let raced_bytes = race.map_or(Ok(bytes), |race| usize::try_from(race.bytes))?;
    let built_in = team.chooses(&unasked, name, raced_bytes)?.algorithm();
    let (above_bytes, up_to_bytes) = range(rules.algorithms(), name, bytes)?;

    let (models, no_models) = match Models::of_team(
        &source.file,
        source.costs,
        (&planned.rank_pus, fit.pinned, sharing > 1),
    ) {
        Ok(models) => (Some(models), None),
        Err(why) => (None, Some(format!("no predictions: {why}"))),
    };
    let bounded = bytes <= BOUNDED_BYTES_MAX;
    let candidates = candidates(name, (runs.algorithm(), built_in), race, |algorithm| {
        let models = models.as_ref()?;
        models.of(operation, algorithm, &planned.plans, bytes, bounded)
    })?;

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
        notes: [no_models, rules::rounds(&unasked, ranks, sharing)]
            .into_iter()
            .flatten()
            .collect(),
    };
    match global.json {
        true => output::json(&report)?,
        false => output::print(&text::text(&report))?,
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
