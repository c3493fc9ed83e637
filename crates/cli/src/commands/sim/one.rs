//! Simulates one call, and shows its time, its bounds and its transfers.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;

use anyhow::{Context, Result};
use corecast_draw::simulated::trace_svg;
use corecast_draw::table;
use corecast_plan::Pattern;
use corecast_sim::engine::ServerUse;
use corecast_sim::fabric::{CallPrediction, CallSetting};
use corecast_sim::symbolic::Bounds;
use serde::Serialize;

use super::args::SimArgs;
use super::place::Place;
use crate::call_report::{self, CallReport};
use crate::options::Global;
use crate::output;
use crate::team;
use corecast_tune::forecast::job;

/// The output of `--json`.
#[derive(Debug, Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    call: CallReport<'a>,
    latency: f64,
    unit: &'a str,
    /// Bounds of the symbolic model, where there are any.
    t_min: Option<f64>,
    t_max: Option<f64>,
    /// Number of lines that were transferred to a core, by their source.
    transfers: BTreeMap<&'static str, u64>,
    invalidations: u64,
    write_backs: u64,
    /// Time at which each rank was done.
    ends: &'a [f64],
    servers: Vec<&'a ServerUse>,
    /// The command that repeats this simulation.
    replay: String,
}

/// Simulates one call and shows it.
pub(super) fn run(global: &Global, args: &SimArgs) -> Result<ExitCode> {
    let (collective, size) = args.request()?;
    output::check_standard_output(&[
        ("--timeline -", args.timeline.as_deref() == Some("-")),
        ("--svg -", args.svg.as_deref() == Some("-")),
        ("--json", global.json),
    ])?;
    let pattern = args.pattern.parse::<Pattern>()?;
    let place = Place::open(global.machine.as_deref(), args.threads.as_deref())?;
    if place.has_hosts() {
        args.check_hosts()?;
    }
    let root = team::rank_or_auto(&args.root, place.cores.len())?;
    let plans = place.plans(pattern, root)?;
    let job = job(collective, args.algorithm.as_deref(), &plans, root, size)?;
    let team = (&place.machine.name[..], &place.threads[..]);
    let setting = CallSetting {
        entry: place.entry(&job),
        ..args.setting()
    };
    let replay = replay(global, args);
    let again = || format!("again with: {replay}");
    let found = place.predict(&job, &setting).with_context(again)?;
    // The bounds do not hold with random delays.
    let bounds = match args.jitter + args.skew > 0.0 {
        true => None,
        false => place.bounds(&job)?,
    };
    let mut on_output = false;
    let on = format!("{} cores of {}", place.cores.len(), place.machine.name);
    let title = call_report::title(job.call(), size, pattern, &on);
    if let Some(path) = &args.timeline {
        output::save(path, &found.trace.perfetto())?;
        on_output |= path == "-";
    }
    if let Some(path) = &args.svg {
        let picture = match place.levels(&found) {
            Some(levels) => levels.svg(&title),
            None => trace_svg(&found.trace, &title),
        };
        output::save(path, &picture)?;
        on_output |= path == "-";
    }
    if on_output {
        return Ok(ExitCode::SUCCESS);
    }
    if global.json {
        output::json(&Report {
            call: CallReport::new(job.call(), size, pattern, team),
            latency: found.latency,
            unit: &place.machine.unit,
            t_min: bounds.map(|bounds| bounds.t_min),
            t_max: bounds.and_then(Bounds::finite_t_max),
            transfers: transfers(&found),
            invalidations: found.counts.invalidations,
            write_backs: found.counts.write_backs,
            ends: &found.ends,
            servers: servers(&found),
            replay,
        })?;
    } else {
        output::print(&text(&title, &place, &found, bounds, &replay))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn transfers(found: &CallPrediction) -> BTreeMap<&'static str, u64> {
    let mut all = BTreeMap::new();
    for ((source, _), count) in &found.counts.transfers {
        *all.entry(source.name()).or_default() += count;
    }
    all
}

/// The sixteen busiest servers of the simulated machine, the busiest first.
fn servers(found: &CallPrediction) -> Vec<&ServerUse> {
    let mut busiest: Vec<&ServerUse> = found.servers.iter().collect();
    busiest.sort_by(|a, b| b.utilisation.total_cmp(&a.utilisation));
    busiest.truncate(16);
    busiest
}

/// The command line that repeats this simulation.
fn replay(global: &Global, args: &SimArgs) -> String {
    let mut words = vec!["corecast sim".to_owned()];
    let mut add = |flag: &str, value: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,".contains(c);
        words.push(match value.chars().all(plain) {
            true => format!("{flag} {value}"),
            false => format!("{flag} '{value}'"),
        });
    };
    if let Some(machine) = &global.machine {
        add("--machine", machine);
    }
    add("--op", &args.op);
    add("--pattern", &args.pattern);
    if let Some(algorithm) = &args.algorithm {
        add("--algorithm", algorithm);
    }
    add("--root", &args.root);
    if let Some(threads) = &args.threads {
        add("--threads", threads);
    }
    add("--size", &args.size);
    add("--seed", &args.seed.to_string());
    add("--jitter", &args.jitter.to_string());
    add("--skew", &args.skew.to_string());
    add("--warm-up", &args.warm_up.to_string());
    words.join(" ")
}

/// What the signs of the levels mean.
const LEGEND: &str =
    "hosts from left to right, a sign for each part, up to the busiest of its row\n\n";

/// What a share above 100 % means.
const LATER: &str = "above 100 %: with what is written back after the last rank is done\n";

/// What passed each level of a machine of several hosts, and the busiest part there.
fn levels(found: &CallPrediction) -> String {
    let mut text = String::new();
    for (level, what, begin) in [
        (
            "between hosts",
            "messages and parts of loans by cards",
            "card",
        ),
        ("between NUMA nodes", "parts of loans by ports", "port"),
        ("inside of hosts", "parts of loans from memories", "memory"),
    ] {
        let own = found
            .servers
            .iter()
            .filter(|server| server.name.starts_with(begin) && !server.name.ends_with(", in"));
        let served: u64 = own.clone().map(|server| server.served).sum();
        let busiest = own.map(|server| server.utilisation).fold(0.0, f64::max);
        let _ = writeln!(
            text,
            "{level}: {served} {what}, the busiest {:.1} %",
            100.0 * busiest
        );
    }
    text
}

/// The result as text.
fn text(
    title: &str,
    place: &Place,
    found: &CallPrediction,
    bounds: Option<Bounds>,
    replay: &str,
) -> String {
    let unit = &place.machine.unit;
    let mut text = format!("{title}\n\nlatency {:.1} {unit}\n", found.latency);
    if let Some(bounds) = bounds {
        let t_min = bounds.t_min;
        let _ = match bounds.finite_t_max() {
            Some(t_max) => writeln!(
                text,
                "by the symbolic model {t_min:.1} to {t_max:.1} {unit}"
            ),
            None => writeln!(text, "by the symbolic model at least {t_min:.1} {unit}"),
        };
    }
    if let Some(drawn) = place.levels(found) {
        text.push_str(&levels(found));
        text.push('\n');
        text.push_str(&drawn.text(output::screen()));
        text.push_str(LEGEND);
    } else {
        let _ = writeln!(text, "invalidations {}", found.counts.invalidations);
    }
    for (name, count) in transfers(found) {
        let _ = writeln!(text, "transfers, {} {count}", name.replace('_', " "));
    }
    let mean = format!("mean wait, {unit}");
    let mut table = table(["server", "requests", "busy", &mean], 1..4);
    for server in servers(found).iter().take(8) {
        table.add_row([
            server.name.clone(),
            server.served.to_string(),
            format!("{:.1} %", 100.0 * server.utilisation),
            format!("{:.1}", server.wait_mean),
        ]);
    }
    let _ = write!(text, "\n{table}\n");
    if found.servers.iter().any(|server| server.utilisation > 1.0) {
        text.push_str(LATER);
    }
    let _ = write!(text, "\nagain with: {replay}\n");
    text
}
