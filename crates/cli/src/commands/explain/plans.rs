//! Explains which plan would run for each operation, and why.
//!
//! The decision is the library's own, [`compare`], so the plans shown are those that a team runs.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::Result;
use corecast::choose::{DecidedBy, Preferences, Races, choose, compare};
use corecast::store::Store;
use corecast_bench::Forecast;
use corecast_collectives::plans::goes_by_copy;
use corecast_plan::reroot::OtherRoot;
use corecast_plan::{Operation, RootChoice, Shape};
use owo_colors::OwoColorize;
use serde::Serialize;

use super::args::ExplainArgs;
use crate::options::Global;
use crate::planning::{self, PlanReport};
use crate::source::Source;
use crate::{output, source, team};
use corecast_doctor::Conditions;
use corecast_model::CostBasis;
use corecast_model::words::decimals;
use corecast_plan::Members;
use corecast_tune::contest::Timed;
use corecast_tune::forecast::Forecaster;

/// Bytes of data in the forecasts of broadcasts and reductions: a message of one line.
const BYTES: usize = 8;

/// How many plans are shown below the chosen one without `--verbose`.
const RUNNERS_UP: usize = 4;

/// Explains the plan of each operation.
pub(super) fn run(global: &Global, args: &ExplainArgs) -> Result<ExitCode> {
    let operations = match &args.op {
        Some(name) => vec![name.parse()?],
        None => Operation::ALL.to_vec(),
    };
    let root = planning::root(&args.root)?;
    let source = source::open(global.machine.as_deref())?;
    let team = Members::new(&source.file, team::members(&args.team, &source.file)?)?;
    let races = races(&source);
    // Costs of another machine forecast nothing for this one.
    let forecaster = match source.costs {
        CostBasis::Assumed => None,
        _ => Forecaster::new(&source.file, &team.threads)?,
    };
    let choices = operations
        .into_iter()
        .map(|op| Decision::make(&team, op, root, &races, forecaster.as_ref()));
    let choices: Vec<Decision> = choices.collect::<Result<_>>()?;
    let circumstances = Conditions::of(&source.file, source.here.as_ref(), &team.threads)?;
    if global.json {
        output::json(&Report {
            schema: 1,
            machine: &team.machine,
            threads: &team.threads,
            costs: source.costs,
            profile: races.source(),
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

/// The races recorded on this machine; machines from elsewhere have none.
fn races(source: &Source) -> Races {
    match &source.here {
        Some(here) => Races::here(&Store::standard(), here),
        None => Races::none("races are run on the machine itself, and this one is given"),
    }
}

/// The decision about one operation, as plans with their times.
struct Decision {
    operation: Operation,
    /// The chosen plan first, then the others by predicted latency.
    plans: Vec<Timed>,
    /// The forecast of each plan.
    forecasts: Vec<Option<Forecast>>,
    decided_by: DecidedBy,
    reason: String,
    other_root: Option<OtherRootReport>,
}

/// What a team that is asked for no root does where an operation has this one.
#[derive(Clone, Copy, Serialize)]
struct OtherRootReport {
    root: usize,
    tree_root: usize,
    rehung: f64,
    copied: f64,
    runs: Rerooting,
}

#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Rerooting {
    Rehung,
    Copied,
}

impl OtherRootReport {
    /// `None` for barriers, which have no root, and where the team's tree has this root.
    fn new(
        team: &Members,
        operation: Operation,
        root: RootChoice,
        races: &Races,
    ) -> Result<Option<Self>> {
        let RootChoice::Rank(root) = root else {
            return Ok(None);
        };
        let usual = Preferences::default();
        let choice = choose(&team.costs, &team.threads, operation, &usual, races)?;
        let tree = choice.chosen().tree().filter(|tree| tree.root() != root);
        let Some(tree) = tree.filter(|_| operation != Operation::Barrier) else {
            return Ok(None);
        };
        let other = OtherRoot::new(&team.costs, tree, operation, root);
        Ok(Some(Self {
            root,
            tree_root: tree.root(),
            rehung: other.rehung,
            copied: other.copied,
            runs: match goes_by_copy(team.threads.len(), || other) {
                true => Rerooting::Copied,
                false => Rerooting::Rehung,
            },
        }))
    }

    fn text(&self, operation: Operation, unit: &str) -> String {
        let Self {
            root, tree_root, ..
        } = self;
        let rehung = format!("over the tree re-hung at rank {root}");
        let copied = format!(
            "by a copy {} rank {tree_root}",
            match operation {
                Operation::Reduce => "from",
                _ => "to",
            }
        );
        let time = |time: f64| format!("{time:.d$} {unit}", d = decimals(time));
        let (rehung, copied) = ((rehung, self.rehung), (copied, self.copied));
        let (runs, other) = match self.runs {
            Rerooting::Rehung => (rehung, copied),
            Rerooting::Copied => (copied, rehung),
        };
        format!(
            "without --root: the tree has root {tree_root}, and a {operation} with root {root} goes {}, predicted {}; {} {}",
            runs.0,
            time(runs.1),
            other.0,
            time(other.1)
        )
    }
}

impl Decision {
    /// Decides which plan a team of these threads would run.
    fn make(
        team: &Members,
        operation: Operation,
        root: RootChoice,
        races: &Races,
        forecaster: Option<&Forecaster>,
    ) -> Result<Self> {
        let preferences = Preferences {
            root,
            ..Preferences::default()
        };
        let choice = compare(&team.costs, &team.threads, operation, &preferences, races)?;
        let plans = choice
            .candidates
            .iter()
            .map(|c| Timed::of_choice(team, &choice, c));
        let plans: Vec<Timed> = plans.collect::<Result<_, _>>()?;
        let forecast = |timed: &Timed| match forecaster {
            Some(forecaster) => forecaster.plan(&timed.plan, BYTES),
            None => Ok(None),
        };
        Ok(Self {
            operation,
            forecasts: plans.iter().map(forecast).collect::<Result<_, _>>()?,
            plans,
            decided_by: choice.decided_by,
            reason: choice.reason,
            other_root: OtherRootReport::new(team, operation, root, races)?,
        })
    }

    fn report<'a>(&'a self, team: &'a Members) -> ChoiceReport<'a> {
        ChoiceReport {
            op: self.operation,
            chosen: PlanReport::of(team, &self.plans[0]).with_forecast(self.forecasts[0]),
            reason: &self.reason,
            decided_by: self.decided_by,
            other_root: self.other_root,
            runners_up: self.plans[1..]
                .iter()
                .zip(&self.forecasts[1..])
                .map(|(timed, &forecast)| PlanReport::of(team, timed).with_forecast(forecast))
                .collect(),
        }
    }
}

/// The output of `--json`.
#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    machine: &'a str,
    threads: &'a [u32],
    costs: CostBasis,
    profile: &'a str,
    operations: Vec<ChoiceReport<'a>>,
    assumptions: &'a [String],
    notes: &'a [String],
    circumstances: &'a Conditions,
}

/// One operation in [`Report`].
#[derive(Serialize)]
struct ChoiceReport<'a> {
    op: Operation,
    chosen: PlanReport<'a>,
    reason: &'a str,
    decided_by: DecidedBy,
    /// With `--root`, and where the team's own tree has another root.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_root: Option<OtherRootReport>,
    runners_up: Vec<PlanReport<'a>>,
}

/// The explanation as text.
fn text(
    source: &Source,
    team: &Members,
    races: &Races,
    choices: &[Decision],
    circumstances: &Conditions,
    shown: usize,
) -> String {
    let screen = output::screen();
    let mut out = String::new();
    for choice in choices {
        let plan = &choice.plans[0].plan;
        let d = decimals(plan.latency);
        let root = match plan.shape {
            Shape::Rounds(_) => String::new(),
            _ => format!(" from rank {} (PU {})", plan.root, team.threads[plan.root]),
        };
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
        let _ = writeln!(out, "why: {}", choice.reason);
        if let Some(other) = choice.other_root {
            let _ = writeln!(out, "{}", other.text(choice.operation, team.unit()));
        }
        let end = choice.plans.len().min(shown.saturating_add(1));
        let _ = writeln!(
            out,
            "{}\n",
            planning::table(team, choice.plans[..end].iter(), &choice.forecasts[..end])
        );
    }
    let notes = source.notes.join("; ");
    let costs = match source.costs {
        CostBasis::Measured => notes.trim_start_matches("costs ").to_owned(),
        CostBasis::Given => "given with the machine".to_owned(),
        CostBasis::Assumed => {
            format!("assumed: trust the order of the plans, not the times; {notes}")
        }
    };
    let _ = writeln!(out, "costs: {costs}");
    let _ = writeln!(out, "races: {}", races.source());
    for sentence in circumstances.sentences() {
        let _ = writeln!(out, "{sentence}");
    }
    for assumption in &source.file.machine().assumptions {
        let _ = writeln!(out, "assumed: {assumption}");
    }
    out
}
