//! `corecast plan --compare`: compares all patterns for one machine, or for every machine file of a folder.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use comfy_table::Table;
use corecast_plan::{Operation, Plan};
use owo_colors::OwoColorize;
use serde::Serialize;

use super::args::{PlanArgs, Request};
use super::one::notes;
use crate::options::Global;
use crate::planning::{self, Found, PlanReport};
use crate::source::Source;
use crate::{failure, output, source, team};
use corecast_draw::Screen;
use corecast_model::words::decimals;
use corecast_plan::Members;

/// Compares all patterns.
pub(super) fn run(global: &Global, args: &PlanArgs) -> Result<ExitCode> {
    let request = args.request()?;
    if args.svg.is_some() || args.dot.is_some() || args.timeline.is_some() {
        bail!(
            "--svg, --dot and --timeline draw one plan: name its pattern instead of comparing all"
        );
    }
    match folder(global.machine.as_deref()) {
        Some(folder) => many(global, args, &request, folder),
        None => one(global, args, &request),
    }
}

/// The folder that `-i` names, if it is one.
fn folder(machine: Option<&str>) -> Option<&Path> {
    machine.map(Path::new).filter(|path| path.is_dir())
}

/// A machine with the plans of all patterns, best first.
struct Compared {
    team: Members,
    plans: Vec<Found>,
}

impl Compared {
    fn of(source: &Source, args: &PlanArgs, request: &Request) -> Result<Compared> {
        let team = Members::new(&source.file, team::members(&args.team, &source.file)?)?;
        let plans = planning::compare(&team, request.operation, request.root, &request.limits)?;
        Ok(Compared { team, plans })
    }

    fn report(&self) -> Machine<'_> {
        Machine {
            machine: &self.team.machine,
            unit: self.team.unit(),
            threads: &self.team.threads,
            plans: self
                .plans
                .iter()
                .map(|found| PlanReport::of(&self.team, &found.timed).with_search(found))
                .collect(),
        }
    }
}

/// One machine in the output of `--json`.
#[derive(Serialize)]
struct Machine<'a> {
    machine: &'a str,
    unit: &'static str,
    threads: &'a [u32],
    /// Best first.
    plans: Vec<PlanReport<'a>>,
}

/// The output of `--json` for one machine.
#[derive(Serialize)]
struct Comparison<'a> {
    schema: u32,
    op: Operation,
    #[serde(flatten)]
    machine: Machine<'a>,
}

/// The output of `--json` for a folder.
#[derive(Serialize)]
struct Folder<'a> {
    schema: u32,
    op: Operation,
    /// The machines in order of their file names.
    machines: Vec<Machine<'a>>,
    skipped: &'a [Skipped],
}

/// A file that is no machine, or whose machine has no such team.
#[derive(Serialize)]
struct Skipped {
    file: String,
    reason: String,
}

fn one(global: &Global, args: &PlanArgs, request: &Request) -> Result<ExitCode> {
    let source = source::open(global.machine.as_deref())?;
    let compared = Compared::of(&source, args, request)?;
    if global.json {
        output::json(&Comparison {
            schema: 1,
            op: request.operation,
            machine: compared.report(),
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let screen = output::screen();
    let title = format!(
        "{} on {}, {} members, all patterns",
        request.operation,
        compared.team.machine,
        compared.team.threads.len()
    );
    let plans = compared.plans.iter().map(|f| &f.timed);
    let table = planning::table(&compared.team, plans, &[]);
    let mut text = format!("{}\n{table}\n", title.style(screen.bold()));
    let plans = compared.plans.iter().map(|found| &found.timed.plan);
    text.push_str(&planning::scopes(plans));
    notes(&mut text, &source, screen);
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn many(global: &Global, args: &PlanArgs, request: &Request, folder: &Path) -> Result<ExitCode> {
    let mut machines = Vec::new();
    let mut skipped = Vec::new();
    for path in json_files(folder)? {
        let file = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let compared = path
            .to_str()
            .context("its name is not text")
            .and_then(|path| source::open(Some(path)))
            .and_then(|source| Compared::of(&source, args, request));
        match compared {
            Ok(compared) => machines.push(compared),
            Err(error) => skipped.push(Skipped {
                file,
                reason: error.root_cause().to_string(),
            }),
        }
    }
    if machines.is_empty() {
        let what = match skipped.as_slice() {
            [] => "has no *.json file".to_owned(),
            some => format!("has no usable machine file; {}", listed(some)),
        };
        bail!("folder {:?} {what}", folder.display().to_string());
    }
    if !skipped.is_empty() {
        failure::warn(&format!("skipped {}", listed(&skipped)));
    }
    if global.json {
        output::json(&Folder {
            schema: 1,
            op: request.operation,
            machines: machines.iter().map(Compared::report).collect(),
            skipped: &skipped,
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    output::print(&text(request.operation, &machines, output::screen()))?;
    Ok(ExitCode::SUCCESS)
}

/// The names of files that are left out, with the reasons if there are at most three.
fn listed(skipped: &[Skipped]) -> String {
    const WITH_REASON: usize = 3;
    let one = |s: &Skipped| match skipped.len() {
        ..=WITH_REASON => format!("{:?} ({})", s.file, s.reason),
        _ => format!("{:?}", s.file),
    };
    skipped.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The files of a folder whose names end in `.json`, by name.
fn json_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let quoted = || format!("cannot read folder {:?}", folder.display().to_string());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(quoted)? {
        let path = entry.with_context(quoted)?.path();
        let json = path
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("json"));
        if json && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Tables with a row for each pattern and a column for each machine, as many columns as the screen has room for.
fn text(operation: Operation, machines: &[Compared], screen: Screen) -> String {
    let rows = by_pattern(machines);
    let title = format!(
        "{operation} on {} machines: latency and gap to the lower bound",
        machines.len()
    );
    let mut out = format!("{}\n", title.style(screen.bold()));
    let first = rows
        .iter()
        .map(|row| row.pattern.len())
        .max()
        .unwrap_or(0)
        .max(8)
        + 2;
    let widths: Vec<usize> = (0..machines.len())
        .map(|k| {
            let cells = rows.iter().map(|row| row.cells[k].chars().count());
            cells
                .chain(head(&machines[k]).lines().map(str::len))
                .max()
                .unwrap_or(0)
                + 2
        })
        .collect();
    let last = "to best".len() + 2;
    let mut from = 0;
    while from < machines.len() {
        let mut to = from + 1;
        let mut width = first + widths[from] + last;
        while to < machines.len() && width + widths[to] <= screen.columns {
            width += widths[to];
            to += 1;
        }
        let _ = writeln!(out, "{}", part(machines, &rows, from..to));
        from = to;
    }
    out.push_str(
        "to best: latency over the machine's best pattern, geometric mean of all machines\n\
         gap: to a bound of all trees with the plan's root, of best and optimal with --root auto of all trees, \
         of rounds of barriers of any shape\n",
    );
    out
}

/// The name of a machine's column.
fn head(compared: &Compared) -> String {
    let team = &compared.team;
    format!(
        "{}\n{} members, {}",
        team.machine,
        team.threads.len(),
        team.unit()
    )
}

/// The row of a pattern on all machines.
struct Row {
    pattern: String,
    cells: Vec<String>,
    /// Geometric mean of the latencies over the best of each machine.
    to_best: f64,
}

/// The rows of all patterns, the one with the best mean first.
fn by_pattern(machines: &[Compared]) -> Vec<Row> {
    let mut plans = BTreeMap::<String, Vec<Option<&Plan>>>::new();
    for (k, compared) in machines.iter().enumerate() {
        for found in &compared.plans {
            let plan = &found.timed.plan;
            let row = plans.entry(plan.pattern.to_string());
            row.or_insert_with(|| vec![None; machines.len()])[k] = Some(plan);
        }
    }
    let best: Vec<f64> = machines
        .iter()
        .map(|m| {
            m.plans
                .first()
                .map_or(0.0, |found| found.timed.plan.latency)
        })
        .collect();
    let mut rows: Vec<Row> = plans
        .into_iter()
        .map(|(pattern, plans)| {
            let ratios = plans.iter().zip(&best).filter_map(|(plan, &best)| {
                let latency = (*plan)?.latency;
                Some(if best > 0.0 {
                    (latency / best).ln()
                } else {
                    0.0
                })
            });
            let (sum, count) = ratios.fold((0.0, 0), |(sum, count), r| (sum + r, count + 1));
            Row {
                pattern,
                cells: plans.iter().map(|plan| cell(*plan)).collect(),
                to_best: (sum / f64::from(count.max(1))).exp(),
            }
        })
        .collect();
    rows.sort_by(|a, b| a.to_best.total_cmp(&b.to_best));
    rows
}

/// A table's cell with latency and gap, such as `1302.2   3.1 %`.
fn cell(plan: Option<&Plan>) -> String {
    let Some(plan) = plan else {
        return "-".to_owned();
    };
    let latency = format!("{:.*}", decimals(plan.latency), plan.latency);
    format!("{latency} {:>7}", planning::gap(plan))
}

/// The table of some of the machines.
fn part(machines: &[Compared], rows: &[Row], shown: std::ops::Range<usize>) -> Table {
    let heads = machines[shown.clone()].iter().map(head);
    let header = std::iter::once("pattern".to_owned()).chain(heads);
    let header = header.chain(["to best".to_owned()]);
    let mut table = corecast_draw::table(header, 1..shown.len() + 2);
    for row in rows {
        let cells = row.cells[shown.clone()].iter().cloned();
        table.add_row(
            std::iter::once(row.pattern.clone())
                .chain(cells)
                .chain([format!("{:.3}", row.to_best)]),
        );
    }
    table
}
