//! `corecast plan`: a tree or rounds for an operation, with cost, lower bound and gap.

mod budget;
mod compare;
mod pictures;

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use comfy_table::{Cell, CellAlignment, Table, presets};
use corecast_bench::Forecast;
use corecast_plan::groups::{self, Grouped};
use corecast_plan::{Operation, Plan, RootChoice, Rounds, Tree, cost};
use owo_colors::OwoColorize;

use self::pictures::Saved;
use crate::draw::grid::decimals;
use crate::draw::palette::Screen;
use crate::draw::{heat_text, plan_text, timeline_text};
use crate::planning::{self, Found, Limits, PlanReport, Team, Timed};
use crate::source::{CostBasis, Source};
use crate::team::{self, TeamArgs};
use crate::{Global, output, source};

/// Arguments of `corecast plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// broadcast, reduce or barrier
    #[arg(long, value_name = "OPERATION", default_value = "broadcast")]
    op: String,

    /// best, optimal, smelt, binary, fibonacci, sequential, mst, cluster, bad, knomial:K, chain, binomial and others, or all to compare
    #[arg(long, value_name = "PATTERN", default_value = "best")]
    pattern: String,

    /// Where the operation starts or ends: a rank, smelt for Smelt's choice, or auto: best and optimal choose freely, the others as Smelt does
    #[arg(long, value_name = "RANK", default_value = "auto")]
    root: String,

    /// Time for best and optimal, such as 5ms, 1s or 10min [default: 1s for best, 60s for optimal, none with --moves]
    #[arg(long, value_name = "TIME")]
    budget: Option<String>,

    /// Moves for best and optimal: the same moves and seed give the same plan, however slow the machine
    #[arg(long, value_name = "N")]
    moves: Option<u64>,

    /// Decides what best and optimal leave to chance [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// A table of all patterns, as with --pattern all; -i may then be a folder of machine files
    #[arg(long)]
    compare: bool,

    #[command(flatten)]
    team: TeamArgs,

    /// Save a picture of the tree, NUMA nodes as boxes; - for standard output
    #[arg(long, value_name = "FILE")]
    svg: Option<String>,

    /// Save the tree in Graphviz's language; - for standard output
    #[arg(long, value_name = "FILE")]
    dot: Option<String>,

    /// Show who sends, receives and waits when; with a FILE save it as a picture, - for standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "")]
    timeline: Option<String>,
}

/// What is to be planned, and how long that may take.
struct Wish {
    operation: Operation,
    root: RootChoice,
    limits: Limits,
}

/// Runs the command.
pub(crate) fn run(global: &Global, args: &PlanArgs) -> Result<ExitCode> {
    // Names are checked first: they are cheaper to get right than a machine is to read.
    let wish = Wish {
        operation: args.op.parse()?,
        root: planning::root(&args.root)?,
        limits: limits(args)?,
    };
    if args.compare || args.pattern == "all" {
        return compare::run(global, args, &wish);
    }
    let pattern = planning::pattern(&args.pattern)?;
    if let Some(flag) = search_flag(args)
        && !pattern.is_searched()
    {
        bail!("{flag}: pattern \"{pattern}\" is built without a search, use best or optimal");
    }
    let source = source::open(global.machine.as_deref())?;
    let team = Team::new(&source, team::members(&args.team, &source.file)?)?;
    let found = planning::find(&team, pattern, wish.operation, wish.root, &wish.limits)?;
    one(global, args, &source, &team, &found)
}

/// How long a search may go on.
fn limits(args: &PlanArgs) -> Result<Limits> {
    Ok(Limits {
        seed: args.seed.unwrap_or(0),
        moves: args.moves,
        budget: args.budget.as_deref().map(budget::parse).transpose()?,
    })
}

/// One of the flags that only searches have, as it was given.
fn search_flag(args: &PlanArgs) -> Option<String> {
    let budget = args
        .budget
        .as_ref()
        .map(|time| format!("--budget {time:?}"));
    let moves = args.moves.map(|n| format!("--moves {n}"));
    let seed = args.seed.map(|n| format!("--seed {n}"));
    budget.or(moves).or(seed)
}

/// Shows one plan.
fn one(
    global: &Global,
    args: &PlanArgs,
    source: &Source,
    team: &Team,
    found: &Found,
) -> Result<ExitCode> {
    let saved = pictures::save(args, team, &found.timed.plan)?;
    let terminal = pictures::timeline_in_terminal(args);
    if global.json && saved != Saved::OnStandardOutput {
        let mut report = PlanReport::of(team, &found.timed).with_search(found);
        if terminal {
            report = report.with_timeline(team, &found.timed.plan);
        }
        output::json(&report)?;
    } else if saved == Saved::Nothing || (terminal && saved == Saved::InFiles) {
        output::print(&text(global, source, team, found, terminal))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One plan for people: its tree or rounds, its cost, what to know about the costs.
fn text(global: &Global, source: &Source, team: &Team, found: &Found, timeline: bool) -> String {
    let screen = Screen::of_stdout();
    let abbreviate = global.verbose == 0;
    let mut text = String::new();
    let plan = &found.timed.plan;
    let title = format!(
        "{} on {}, {} members, pattern {}",
        plan.operation,
        team.machine,
        team.threads.len(),
        plan.pattern
    );
    let _ = writeln!(text, "{}", title.style(screen.bold()));
    text.push_str(&schedule(team, plan, abbreviate, screen));
    if timeline && let Some(timeline) = plan.timeline(&team.costs) {
        let lanes = timeline_text::Lanes {
            timeline: &timeline,
            threads: &team.threads,
            numa: &team.numa,
            unit: team.unit(),
        };
        let _ = writeln!(
            text,
            "\n{}",
            timeline_text::draw(&lanes, abbreviate, screen)
        );
    }
    let _ = writeln!(text, "{}", verdict(team, plan).style(screen.bold()));
    let _ = writeln!(text, "{}", found.sentence());
    notes(&mut text, source, screen);
    if global.verbose > 0 && source.costs != CostBasis::Assumed && team.threads.len() > 1 {
        let [send, receive] = source.grids(&team.threads);
        for (grid, title) in [
            (&send, "row sends to column"),
            (&receive, "column receives from row"),
        ] {
            let _ = write!(text, "\n{}", heat_text::draw(grid, title, screen));
        }
    }
    text
}

/// The tree, the two trees or the rounds.
fn schedule(team: &Team, plan: &Plan, abbreviate: bool, screen: Screen) -> String {
    let draw_all = |tree: &Tree, groups: Option<&Grouped>, avail: &[f64]| {
        let members = plan_text::Members {
            threads: &team.threads,
            numa: &team.numa,
            avail,
            decimals: decimals(plan.latency),
            groups,
        };
        plan_text::draw(tree, &members, abbreviate, screen)
    };
    let draw = |tree: &Tree, avail: &[f64]| draw_all(tree, None, avail);
    let draw_groups = |g: &Grouped, avail: &[f64]| draw_all(g.tree(), Some(g), avail);
    let avail = planning::avail(team, plan);
    if let Some(grouped) = plan.groups() {
        let drawn = draw_groups(grouped, &avail);
        return format!("members with one number share a line\n{drawn}");
    }
    if let Some((fan_in, fan_out)) = plan.two_grouped() {
        let inward = groups::fan_in_avail(&team.costs, fan_in, false);
        return format!(
            "fan-in: numbers are the order of receives, members with one number share a line\n{}\
             fan-out: numbers are the order of sends, members with one number share a line\n{}",
            draw_groups(fan_in, &inward),
            draw_groups(fan_out, &avail)
        );
    }
    if let Some((fan_in, fan_out)) = plan.two_trees() {
        let inward = cost::reduce_avail(&team.costs, fan_in, false);
        return format!(
            "fan-in: numbers are the order of receives\n{}\
             fan-out: numbers are the order of sends\n{}",
            draw(fan_in, &inward),
            draw(fan_out, &avail)
        );
    }
    match (plan.tree(), plan.rounds()) {
        (Some(tree), _) => draw(tree, &avail),
        (None, Some(rounds)) => describe(rounds),
        (None, None) => String::new(),
    }
}

/// What the plan costs, and how good that is.
fn verdict(team: &Team, plan: &Plan) -> String {
    let verdict = if plan.proved_optimal {
        "proved optimal".to_owned()
    } else {
        format!("gap {}: no plan can save more than that", gap(plan))
    };
    let (latency, bound, unit) = (plan.latency, plan.lower_bound, team.unit());
    let d = decimals(plan.latency);
    format!("latency {latency:.d$} {unit}, lower bound {bound:.d$} {unit}, {verdict}")
}

/// `8.3 %`, or that there is none.
fn gap(plan: &Plan) -> String {
    match 100.0 * plan.gap {
        _ if plan.proved_optimal => "optimal".to_owned(),
        small if small < 0.095 => format!("{small:.2} %"),
        gap => format!("{gap:.1} %"),
    }
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

/// One line per plan.
pub(crate) fn table(team: &Team, plans: &[Timed], forecasts: &[Option<Forecast>]) -> Table {
    let mut table = table_of(team, plans.iter());
    if forecasts.iter().all(Option::is_none) {
        return table;
    }
    let d = decimals(plans.iter().map(|t| t.plan.latency).fold(0.0, f64::max));
    let time = |time: Option<f64>| time.map_or("-".to_owned(), |time| format!("{time:.d$}"));
    let header = table.header().cloned().unwrap_or_default();
    let cells = header.cell_iter().cloned();
    let names = Forecast::COLUMNS.map(Cell::from);
    table.set_header(cells.chain(names).collect::<Vec<Cell>>());
    for (row, &forecast) in table.row_iter_mut().zip(forecasts) {
        for found in Forecast::columns(forecast) {
            row.add_cell(Cell::from(time(found)));
        }
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// One line per plan.
fn table_of<'a>(team: &Team, plans: impl Iterator<Item = &'a Timed>) -> Table {
    let plans: Vec<&Timed> = plans.collect();
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
        table.add_row([
            plan.pattern.to_string(),
            match plan.rounds() {
                Some(_) => "-".to_owned(),
                None => plan.root.to_string(),
            },
            format!("{:.d$}", plan.latency),
            format!("{ratio:.2}"),
            format!("{:.d$}", plan.lower_bound),
            gap(plan),
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
