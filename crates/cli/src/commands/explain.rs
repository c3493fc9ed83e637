//! `corecast explain`: which plan would run, and why.
//!
//! A race recorded in the profile decides; where there is none, the model does.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::Args;
use corecast_model::ProfileEntry;
use corecast_plan::{Operation, RootChoice};
use owo_colors::OwoColorize;
use serde::Serialize;

use super::plan::table;
use crate::circumstances::Circumstances;
use crate::draw::grid::decimals;
use crate::draw::palette::Screen;
use crate::planning::{self, PlanReport, Team, Timed};
use crate::source::{CostBasis, Source};
use crate::store::{self, Stored};
use crate::team::{self, TeamArgs};
use crate::{Global, output, source};

/// Arguments of `corecast explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// broadcast, reduce or barrier [default: each]
    #[arg(long, value_name = "OPERATION")]
    op: Option<String>,

    /// Where the operation starts or ends: auto, or a rank
    #[arg(long, value_name = "RANK", default_value = "auto")]
    root: String,

    #[command(flatten)]
    team: TeamArgs,
}

/// How many plans are shown below the chosen one, unless all are asked for.
const RUNNERS_UP: usize = 4;

/// Runs the command.
pub(crate) fn run(global: &Global, args: &ExplainArgs) -> Result<ExitCode> {
    let operations = match &args.op {
        Some(name) => vec![name.parse()?],
        None => Operation::ALL.to_vec(),
    };
    let root = planning::root(&args.root)?;
    let source = source::open(global.machine.as_deref())?;
    let team = Team::new(&source, team::members(&args.team, &source.file)?)?;
    let races = Races::of(&source);
    let choices = operations
        .into_iter()
        .map(|op| Choice::make(&team, op, root, &races));
    let choices: Vec<Choice<'_>> = choices.collect::<Result<_>>()?;
    let circumstances = Circumstances::of(&source, &team.threads);
    if global.json {
        output::json(&Report {
            schema: 1,
            machine: &team.machine,
            threads: &team.threads,
            costs: source.costs,
            profile: races.where_from.clone(),
            operations: choices.iter().map(|c| c.report(&team)).collect(),
            assumptions: &source.file.machine().assumptions,
            notes: &source.notes,
            circumstances: &circumstances,
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let shown = if global.verbose > 0 {
        usize::MAX
    } else {
        RUNNERS_UP
    };
    output::print(&text(
        &source,
        &team,
        &races,
        &choices,
        &circumstances,
        shown,
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// The races recorded on this machine.
struct Races {
    profile: Option<corecast_model::Profile>,
    /// Where they come from, or why there are none.
    where_from: String,
}

impl Races {
    /// Those of this machine; machines from elsewhere have none.
    fn of(source: &Source) -> Races {
        let none = |why: String| Races {
            profile: None,
            where_from: why,
        };
        if source.here.is_none() {
            return none(
                "none: races are run on the machine itself, and this one is given".to_owned(),
            );
        }
        match store::profile(source.file.machine()) {
            Stored::Found(path, profile) => {
                let where_from = format!("{}, raced {}", path.display(), profile.created);
                Races {
                    profile: Some(profile),
                    where_from,
                }
            }
            Stored::Absent => none("none: nothing has been raced on this machine yet".to_owned()),
            Stored::Unusable(reason) => none(reason),
        }
    }
}

/// The decision about one operation.
struct Choice<'a> {
    operation: Operation,
    /// The chosen plan first, then the others by predicted latency.
    plans: Vec<Timed>,
    /// The race that decided, where one did.
    race: Option<&'a ProfileEntry>,
}

impl Choice<'_> {
    /// Plans all patterns and lets the race, or else the model, choose.
    fn make<'a>(
        team: &Team,
        operation: Operation,
        root: RootChoice,
        races: &'a Races,
    ) -> Result<Choice<'a>> {
        let mut plans = planning::search_all(team, operation, root)?;
        let entry = races
            .profile
            .as_ref()
            .and_then(|p| p.find(&operation.to_string(), &team.threads));
        let winner = entry.and_then(|e| {
            plans
                .iter()
                .position(|t| t.plan.pattern.to_string() == e.winner)
        });
        if let Some(at) = winner {
            plans[..=at].rotate_right(1);
        }
        if plans.is_empty() {
            return Err(anyhow!("no pattern can {operation}"));
        }
        Ok(Choice {
            operation,
            plans,
            race: winner.and(entry),
        })
    }

    /// Why the first plan was chosen, in a sentence.
    fn reason(&self, unit: &str) -> String {
        match self.race.and_then(ProfileEntry::winning) {
            Some(won) => format!(
                "it won the race of {} candidates on this machine with a median of {:.0} ns, predicted {:.0} ns",
                self.race.map_or(0, |e| e.candidates.len()),
                won.measured_ns,
                won.predicted_ns
            ),
            None if self.plans.len() > 1 => {
                let next = &self.plans[1].plan;
                let d = decimals(next.latency);
                if next.latency <= self.plans[0].plan.latency {
                    return format!(
                        "no pattern is predicted to be faster; {} is equal",
                        next.pattern
                    );
                }
                format!(
                    "the model predicts the least latency of {} patterns; the next is {} with {:.d$} {unit}",
                    self.plans.len(),
                    next.pattern,
                    next.latency
                )
            }
            None => "no other pattern can do it".to_owned(),
        }
    }

    fn report<'a>(&'a self, team: &'a Team) -> ChoiceReport<'a> {
        ChoiceReport {
            op: self.operation,
            chosen: PlanReport::of(team, &self.plans[0]),
            reason: self.reason(team.unit()),
            decided_by: if self.race.is_some() { "race" } else { "model" },
            runners_up: self.plans[1..]
                .iter()
                .map(|t| PlanReport::of(team, t))
                .collect(),
        }
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    machine: &'a str,
    threads: &'a [u32],
    costs: CostBasis,
    profile: String,
    operations: Vec<ChoiceReport<'a>>,
    assumptions: &'a [String],
    notes: &'a [String],
    circumstances: &'a Circumstances,
}

/// One operation in it.
#[derive(Serialize)]
struct ChoiceReport<'a> {
    op: Operation,
    chosen: PlanReport<'a>,
    reason: String,
    decided_by: &'static str,
    runners_up: Vec<PlanReport<'a>>,
}

/// The explanation for people.
fn text(
    source: &Source,
    team: &Team,
    races: &Races,
    choices: &[Choice<'_>],
    circumstances: &Circumstances,
    shown: usize,
) -> String {
    let screen = Screen::of_stdout();
    let mut out = String::new();
    for choice in choices {
        let plan = &choice.plans[0].plan;
        let d = decimals(plan.latency);
        let root = plan.tree().map_or(String::new(), |t| {
            format!(" from rank {} (PU {})", t.root(), team.threads[t.root()])
        });
        let title = format!(
            "{} of {} members on {}: {}{root}, predicted {:.d$} {}",
            choice.operation,
            team.threads.len(),
            team.machine,
            plan.pattern,
            plan.latency,
            team.unit()
        );
        let _ = writeln!(out, "{}", title.style(screen.bold()));
        let _ = writeln!(out, "why: {}", choice.reason(team.unit()));
        let end = choice.plans.len().min(shown.saturating_add(1));
        let _ = writeln!(out, "{}\n", table(team, &choice.plans[..end]));
    }
    let costs = match source.costs {
        CostBasis::Measured => "measured on this machine",
        CostBasis::Given => "given with the machine",
        CostBasis::Assumed => {
            "assumed, this machine was not measured: trust the order of the plans, not the times"
        }
    };
    let _ = writeln!(out, "costs: {costs}");
    let _ = writeln!(out, "races: {}", races.where_from);
    for sentence in circumstances.sentences() {
        let _ = writeln!(out, "{sentence}");
    }
    for assumption in &source.file.machine().assumptions {
        let _ = writeln!(out, "assumed: {assumption}");
    }
    for note in &source.notes {
        let _ = writeln!(out, "{}", format!("note: {note}").style(screen.dim()));
    }
    out
}
