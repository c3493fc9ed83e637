//! `corecast plan`: a tree or rounds for an operation, with cost, lower bound and gap.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use corecast_plan::{Drawing, Operation, RootChoice, Rounds};
use owo_colors::OwoColorize;
use serde::Serialize;

use crate::draw::grid::decimals;
use crate::draw::palette::Screen;
use crate::draw::{heat_text, plan_text};
use crate::planning::{self, PlanReport, Team, Timed};
use crate::source::{CostBasis, Source};
use crate::team::{self, TeamArgs};
use crate::{Global, output, source};

/// Arguments of `corecast plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// broadcast, reduce or barrier
    #[arg(long, value_name = "OPERATION", default_value = "broadcast")]
    op: String,

    /// smelt, binary, fibonacci, sequential, mst, cluster, bad, knomial:K, chain, binomial and others, or all to compare
    #[arg(long, value_name = "PATTERN", default_value = "smelt")]
    pattern: String,

    /// Where the operation starts or ends: auto, or a rank
    #[arg(long, value_name = "RANK", default_value = "auto")]
    root: String,

    /// A table of all patterns, as with --pattern all
    #[arg(long)]
    compare: bool,

    #[command(flatten)]
    team: TeamArgs,

    /// Save a picture of the tree over time; - for standard output
    #[arg(long, value_name = "FILE")]
    svg: Option<String>,

    /// Save the tree in Graphviz's language; - for standard output
    #[arg(long, value_name = "FILE")]
    dot: Option<String>,
}

/// Runs the command.
pub(crate) fn run(global: &Global, args: &PlanArgs) -> Result<ExitCode> {
    // Names are checked first: they are cheaper to get right than a machine is to read.
    let operation: Operation = args.op.parse()?;
    let root = planning::root(&args.root)?;
    let all = args.compare || args.pattern == "all";
    let pattern = if all {
        None
    } else {
        Some(planning::pattern(&args.pattern)?)
    };
    let source = source::open(global.machine.as_deref())?;
    let team = Team::new(&source, team::members(&args.team, &source.file)?)?;
    match pattern {
        Some(pattern) => {
            let timed = planning::search(&team, pattern, operation, root)?;
            one(global, args, &source, &team, &timed)
        }
        None if args.svg.is_some() || args.dot.is_some() => {
            bail!("--svg and --dot draw one plan: name its pattern instead of comparing all")
        }
        None => compare(global, &source, &team, operation, root),
    }
}

/// Shows one plan.
fn one(
    global: &Global,
    args: &PlanArgs,
    source: &Source,
    team: &Team,
    timed: &Timed,
) -> Result<ExitCode> {
    let saved = save_pictures(args, team, timed)?;
    if global.json && saved != Saved::OnStandardOutput {
        output::json(&PlanReport::of(team, timed))?;
    } else if saved == Saved::Nothing {
        output::print(&text(global, source, team, timed))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One plan for people: its tree or rounds, its cost, what to know about the costs.
fn text(global: &Global, source: &Source, team: &Team, timed: &Timed) -> String {
    let screen = Screen::of_stdout();
    let mut text = String::new();
    let plan = &timed.plan;
    let d = decimals(plan.latency);
    let title = format!(
        "{} on {}, {} members, pattern {}",
        plan.operation,
        team.machine,
        team.threads.len(),
        plan.pattern
    );
    let _ = writeln!(text, "{}", title.style(screen.bold()));
    let avail = planning::avail(team, plan);
    if let Some(tree) = plan.tree() {
        let members = plan_text::Members {
            threads: &team.threads,
            numa: &team.numa,
            avail: &avail,
            decimals: d,
        };
        text.push_str(&plan_text::draw(
            tree,
            &members,
            global.verbose == 0,
            screen,
        ));
    }
    if let Some(rounds) = plan.rounds() {
        text.push_str(&describe(rounds));
    }
    let verdict = if plan.proved_optimal {
        "proved optimal".to_owned()
    } else {
        format!(
            "gap {:.1} %: no plan can save more than that",
            100.0 * plan.gap
        )
    };
    let (latency, bound, unit) = (plan.latency, plan.lower_bound, team.unit());
    let cost = format!("latency {latency:.d$} {unit}, lower bound {bound:.d$} {unit}, {verdict}");
    let _ = writeln!(text, "{}", cost.style(screen.bold()));
    let _ = writeln!(text, "planned in {:.3} ms", timed.search_ms);
    notes(&mut text, source, screen);
    if global.verbose > 0 && source.costs != CostBasis::Assumed && team.threads.len() > 1 {
        let [send, receive] = source.grids(&team.threads);
        let _ = write!(
            text,
            "\n{}",
            heat_text::draw(&send, "row sends to column", screen)
        );
        let _ = write!(
            text,
            "\n{}",
            heat_text::draw(&receive, "column receives from row", screen)
        );
    }
    text
}

/// What became of `--svg` and `--dot`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Saved {
    /// Neither was given.
    Nothing,
    /// Files alone were written.
    InFiles,
    /// Standard output is taken by a picture.
    OnStandardOutput,
}

/// Saves what `--svg` and `--dot` ask for.
fn save_pictures(args: &PlanArgs, team: &Team, timed: &Timed) -> Result<Saved> {
    let paths: Vec<&str> = [&args.svg, &args.dot]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    if paths.is_empty() {
        return Ok(Saved::Nothing);
    }
    let plan = &timed.plan;
    let Some(tree) = plan.tree() else {
        bail!(
            "pattern \"{}\" is no tree: there is nothing for --svg or --dot to draw",
            plan.pattern
        );
    };
    let title = format!(
        "{} of {} members on {}, {}",
        plan.operation,
        team.threads.len(),
        team.machine,
        plan.pattern
    );
    let drawing = Drawing::new(&team.costs, tree, plan.operation)
        .with_threads(&team.threads)
        .with_title(title);
    if let Some(path) = &args.svg {
        output::save(path, &drawing.svg())?;
    }
    if let Some(path) = &args.dot {
        output::save(path, &drawing.dot())?;
    }
    Ok(if paths.contains(&"-") {
        Saved::OnStandardOutput
    } else {
        Saved::InFiles
    })
}

/// A schedule of rounds in words.
fn describe(rounds: &Rounds) -> String {
    let n = rounds.len();
    let mut out = String::new();
    for k in 0..rounds.count() {
        let steps: Vec<usize> = rounds.targets(k, 0).to_vec();
        let regular = (0..n).all(|r| {
            rounds.targets(k, r).iter().eq(steps
                .iter()
                .map(|s| (r + s) % n)
                .collect::<Vec<_>>()
                .iter())
        });
        if regular {
            let names: Vec<String> = steps.iter().map(|s| format!("r + {s}")).collect();
            let _ = writeln!(
                out,
                "round {k}: each rank r notifies {} (mod {n})",
                names.join(", ")
            );
        } else {
            for r in 0..n {
                let _ = writeln!(
                    out,
                    "round {k}: rank {r} notifies {:?}",
                    rounds.targets(k, r)
                );
            }
        }
    }
    out
}

/// What `--json` prints when all patterns are compared.
#[derive(Serialize)]
struct Comparison<'a> {
    schema: u32,
    op: Operation,
    machine: &'a str,
    unit: &'static str,
    threads: &'a [u32],
    /// Best first.
    plans: Vec<PlanReport<'a>>,
}

/// Shows all patterns, best first.
fn compare(
    global: &Global,
    source: &Source,
    team: &Team,
    operation: Operation,
    root: RootChoice,
) -> Result<ExitCode> {
    let found = planning::search_all(team, operation, root)?;
    if global.json {
        output::json(&Comparison {
            schema: 1,
            op: operation,
            machine: &team.machine,
            unit: team.unit(),
            threads: &team.threads,
            plans: found
                .iter()
                .map(|timed| PlanReport::of(team, timed))
                .collect(),
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let screen = Screen::of_stdout();
    let title = format!(
        "{operation} on {}, {} members, all patterns",
        team.machine,
        team.threads.len()
    );
    let mut text = format!("{}\n{}\n", title.style(screen.bold()), table(team, &found));
    notes(&mut text, source, screen);
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// One line per plan.
pub(crate) fn table(team: &Team, plans: &[Timed]) -> Table {
    let unit = team.unit();
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "pattern",
        "root",
        &format!("latency {unit}"),
        "to best",
        &format!("bound {unit}"),
        "gap",
        "search ms",
    ]);
    let best = plans.first().map_or(0.0, |t| t.plan.latency);
    let d = decimals(plans.iter().map(|t| t.plan.latency).fold(0.0, f64::max));
    for Timed { plan, search_ms } in plans {
        let ratio = if best > 0.0 { plan.latency / best } else { 1.0 };
        let gap = if plan.proved_optimal {
            "optimal".to_owned()
        } else {
            format!("{:.1} %", 100.0 * plan.gap)
        };
        table.add_row([
            plan.pattern.to_string(),
            plan.tree()
                .map_or("-".to_owned(), |_| plan.root.to_string()),
            format!("{:.d$}", plan.latency),
            format!("{ratio:.2}"),
            format!("{:.d$}", plan.lower_bound),
            gap,
            format!("{search_ms:.3}"),
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Adds what a reader should know about the costs.
fn notes(text: &mut String, source: &Source, screen: Screen) {
    for note in &source.notes {
        let _ = writeln!(text, "{}", format!("note: {note}").style(screen.dim()));
    }
}
