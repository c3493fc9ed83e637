//! `corecast sim --compare`: shows which tree is fastest on which machine, as in Smelt's Figures 8 to 10.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use corecast_draw::table;
use corecast_model::builtin_names;
use corecast_plan::Pattern;
use corecast_sim::drive::Collective;
use serde::Serialize;

use super::args::SimArgs;
use super::place::Place;

use crate::options::Global;
use crate::output;
use crate::team;
use corecast_tune::forecast::job;

#[derive(Debug, Serialize)]
struct Report {
    schema: u32,
    op: &'static str,
    size: usize,
    machines: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    machine: String,
    unit: String,
    ranks: usize,
    latency: BTreeMap<String, f64>,
    winner: String,
}

/// Runs the comparison.
pub(super) fn run(global: &Global, args: &SimArgs) -> Result<ExitCode> {
    let (collective, size) = args.request()?;
    if args.timeline.is_some() || args.svg.is_some() {
        bail!("--compare: --timeline and --svg show one call, leave one of them out");
    }
    let patterns = args.patterns.iter().map(|name| name.parse::<Pattern>());
    let patterns: Vec<Pattern> = patterns.collect::<Result<_, _>>()?;
    let machines: Vec<String> = match (&args.machines[..], &global.machine) {
        ([], Some(one)) => vec![one.clone()],
        ([], None) => builtin_names()
            .iter()
            .map(|name| format!("builtin:{name}"))
            .collect(),
        (list, None) => list.to_vec(),
        (_, Some(_)) => bail!("--machine and --machines: give one of them"),
    };
    let rows = machines.iter().map(|machine| {
        row(args, machine, &patterns, collective, size).with_context(|| format!("{machine:?}"))
    });
    let rows: Vec<Row> = rows.collect::<Result<_>>()?;
    match global.json {
        true => output::json(&Report {
            schema: 1,
            op: collective.name(),
            size,
            machines: rows,
        })?,
        false => output::print(&text(&patterns, &rows))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The row of one machine: the latency of each pattern.
fn row(
    args: &SimArgs,
    machine: &str,
    patterns: &[Pattern],
    collective: Collective,
    size: usize,
) -> Result<Row> {
    let place = Place::open(Some(machine), args.threads.as_deref())?;
    if place.has_hosts() {
        args.check_hosts()?;
    }
    let root = team::rank_or_auto(&args.root, place.cores.len())?;
    let mut latency = BTreeMap::new();
    for &pattern in patterns {
        let plans = place.plans(pattern, root)?;
        let job = job(collective, args.algorithm.as_deref(), &plans, root, size)?;
        let found = place.predict(&job, &args.setting())?;
        latency.insert(pattern.to_string(), found.latency);
    }
    let least = latency.iter().min_by(|a, b| a.1.total_cmp(b.1));
    Ok(Row {
        machine: place.machine.name.clone(),
        unit: place.machine.unit.clone(),
        ranks: place.cores.len(),
        winner: least.map_or_else(String::new, |(name, _)| name.clone()),
        latency,
    })
}

/// A table with latencies as multiples of the fastest one.
fn text(patterns: &[Pattern], rows: &[Row]) -> String {
    let names = patterns.iter().map(Pattern::to_string);
    let head = ["machine", "ranks", "winner", "latency", ""].map(str::to_owned);
    let numbers = (3..5 + patterns.len()).chain([1]);
    let mut table = table(head.into_iter().chain(names), numbers);
    for row in rows {
        let least = row.latency[&row.winner];
        let first = [
            row.machine.clone(),
            row.ranks.to_string(),
            row.winner.clone(),
            format!("{least:.0}"),
            row.unit.clone(),
        ];
        let times = patterns.iter().map(|pattern| {
            let found = row.latency[&pattern.to_string()];
            format!("{:.2}", found / least.max(f64::MIN_POSITIVE))
        });
        table.add_row(first.into_iter().chain(times));
    }
    format!("{table}\n\ntimes as multiples of the winner's\n")
}
