//! Finds one plan, saves it as pictures, and prints it.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use corecast_draw::plan::{Drawing, rounds_text};
use corecast_draw::{Screen, matrix};
use corecast_model::words::decimals;
use corecast_plan::{Pattern, Plan};
use owo_colors::OwoColorize;

use super::args::PlanArgs;
use super::hosts;
use super::pictures;
use crate::options::Global;
use crate::planning::{self, Found, PlanReport};
use crate::source::Source;
use crate::{output, source, team};
use corecast_model::CostBasis;
use corecast_plan::Members;

/// Finds the plan of one pattern and shows it.
pub(super) fn run(global: &Global, args: &PlanArgs) -> Result<ExitCode> {
    // Names are checked first, since that is faster than reading a machine.
    let dash = |path: Option<&str>| path == Some("-");
    let timeline = args.timeline_in_terminal();
    output::check_standard_output(&[
        ("--svg -", dash(args.svg.as_deref())),
        ("--dot -", dash(args.dot.as_deref())),
        ("--timeline -", dash(args.timeline_file())),
        // JSON has the timeline in it.
        ("--timeline", timeline && !global.json),
        ("--json", global.json),
    ])?;
    let request = args.request()?;
    let pattern: Pattern = args.pattern.parse()?;
    if let Some(flag) = args.search_flag()
        && !pattern.is_searched()
    {
        bail!("{flag}: pattern \"{pattern}\" is built without a search, use best or optimal");
    }
    let source = source::open(global.machine.as_deref())?;
    let team = Members::new(&source.file, team::members(&args.team, &source.file)?)?;
    let found = planning::find(
        &team,
        pattern,
        request.operation,
        request.root,
        &request.limits,
    )?;

    let hosts = hosts::names(&source.file, &team);
    let drawing = pictures::drawing(&team, &found.timed.plan, hosts.as_deref());
    let saved = pictures::save(args, drawing.as_ref(), pattern)?;
    if global.json {
        let mut report = PlanReport::of(&team, &found.timed)
            .with_search(&found)
            .with_hosts(hosts.clone());
        if timeline {
            report = report.with_timeline(&team, &found.timed.plan);
        }
        output::json(&report)?;
    } else if timeline || !saved {
        let drawing = drawing.as_ref();
        output::print(&text(global, &source, &team, &found, drawing, timeline))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The plan as text: its tree or rounds, its cost, and notes on the costs.
fn text(
    global: &Global,
    source: &Source,
    team: &Members,
    found: &Found,
    drawing: Option<&Drawing<'_>>,
    timeline: bool,
) -> String {
    let screen = output::screen();
    let abbreviate = global.verbose == 0;
    let plan = &found.timed.plan;
    let title = format!(
        "{} on {}, {} members, pattern {}",
        plan.operation,
        team.machine,
        team.threads.len(),
        plan.pattern
    );
    let mut text = format!("{}\n", title.style(screen.bold()));
    if let Some(drawing) = drawing {
        text.push_str(&drawing.outline(abbreviate, screen));
        if timeline {
            let _ = writeln!(text, "\n{}", drawing.timeline_text(abbreviate, screen));
        }
    } else if let Some(rounds) = plan.rounds() {
        text.push_str(&rounds_text(rounds));
    }
    let _ = writeln!(text, "{}", verdict(team, plan).style(screen.bold()));
    let _ = writeln!(text, "{}", found.sentence());
    text.push_str(&hosts::explain(&source.file, team, plan));
    notes(&mut text, source, screen);
    if global.verbose > 0 && source.costs != CostBasis::Assumed && team.threads.len() > 1 {
        let [send, receive] = matrix::Grid::of_costs(&source.file, &team.threads);
        let _ = write!(
            text,
            "\n{}",
            matrix::text(&send, "row sends to column", screen)
        );
        let receive = matrix::text(&receive, "column receives from row", screen);
        let _ = write!(text, "\n{receive}");
    }
    text
}

/// A sentence with the plan's latency, its lower bound, the gap, and what these hold for.
fn verdict(team: &Members, plan: &Plan) -> String {
    let verdict = match plan.proved_optimal {
        true => format!("proved optimal among {}", plan.scope.all()),
        false => format!(
            "gap {}: no {} can save more than that",
            planning::gap(plan),
            plan.scope
        ),
    };
    let (latency, bound, unit) = (plan.latency, plan.lower_bound, team.unit());
    let d = decimals(plan.latency);
    format!("latency {latency:.d$} {unit}, lower bound {bound:.d$} {unit}, {verdict}")
}

/// Adds the notes on machine and costs.
pub(super) fn notes(text: &mut String, source: &Source, screen: Screen) {
    for note in &source.notes {
        let _ = writeln!(text, "{}", format!("note: {note}").style(screen.dim()));
    }
}
