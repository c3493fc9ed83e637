//! `corecast` without a command: measures this machine, plans, races the best plans for a barrier
//! against what people use today, and keeps what it found.

use std::fmt::Write;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use corecast_bench::{Comparison, Settings, table};
use corecast_model::profile::machine_key;
use corecast_model::{Machine, MachineFile, Profile, ProfileEntry, RacedCandidate};
use corecast_plan::{Operation, RootChoice};
use corecast_probe::{Basis, Config, Measurement, pairwise};
use owo_colors::OwoColorize;
use serde::Serialize;

use super::bench::{Race, candidates, race_barriers};
use crate::draw::boxes::nest;
use crate::draw::grid::decimals;
use crate::draw::palette::Screen;
use crate::draw::{heat_text, topo_text};
use crate::planning::{self, PlanReport, Team, Timed};
use crate::source::{self, CostBasis};
use crate::{Global, failure, limits, output, progress, store};

/// Time for the measurement: with the race the whole stays under a minute.
const PROBE_LIMIT: Duration = Duration::from_secs(30);

/// Runs the main job.
pub(crate) fn run(global: &Global) -> Result<ExitCode> {
    if let Some(machine) = &global.machine {
        bail!(
            "without a command corecast measures this machine: use topo, plan or explain for {machine:?}"
        );
    }
    let here = corecast_machine::discover();
    let machine = &here.machine;
    let mut notes = limits::sentences(&here);
    let (file, basis, measurement) = measure(machine, &mut notes)?;
    let team = Team::of_file(&file, file.threads().to_vec())?;
    let mut chosen = Vec::new();
    for operation in Operation::ALL {
        let mut plans = planning::search_all(&team, operation, RootChoice::Auto)?;
        plans.truncate(1);
        chosen.extend(plans);
    }
    let mut race = None;
    if team.threads.len() > 1 {
        let raced = candidates(&team, &[])?;
        race = Some(race_barriers(
            &team,
            raced,
            basis,
            &Settings::default(),
            false,
            true,
        )?);
    } else {
        notes.push("nothing was raced: a barrier needs two hardware threads".to_owned());
    }
    let mut profile = None;
    if let (Some(race), Some(measured)) = (&race, &measurement) {
        let (winner, entry) = barrier_entry(&team, race);
        if let Some(plan) = winner {
            chosen.retain(|t| t.plan.operation != Operation::Barrier);
            chosen.push(plan);
            let mut record = Profile::new(machine_key(machine), measured.when());
            record.record(entry);
            profile = Some(store::save_profile(machine, &record.to_json())?);
        }
    }
    let found = Found {
        machine,
        file: &file,
        basis,
        team: &team,
        chosen: &chosen,
        notes: &notes,
    };
    let comparison = race.as_ref().map(|r| &r.comparison);
    if global.json {
        output::json(&found.report(
            comparison,
            profile.as_ref().map(|p| p.display().to_string()),
        ))?;
    } else {
        output::print(&found.text(
            comparison,
            profile.as_ref().map(|p| p.display().to_string()),
        ))?;
    }
    let sound = race.as_ref().is_none_or(|r| r.wrong() == 0);
    Ok(if sound {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(failure::FAILED_CHECK)
    })
}

/// The machine with its own costs, or with the literature's and a note where it refuses.
fn measure(
    machine: &Machine,
    notes: &mut Vec<String>,
) -> Result<(MachineFile, CostBasis, Option<Measurement>)> {
    let mut config = Config::whole(machine);
    config.time_limit = PROBE_LIMIT;
    let bar = progress::bar("measuring");
    let measured = pairwise(&config, machine, |p| {
        bar.at(
            p.done as f64 / p.total.max(1) as f64,
            &format!("{} of {} pairs", p.done, p.total),
        );
    });
    bar.finish();
    match measured {
        Ok(measurement) => {
            let file = measurement
                .to_machine_file_on(Basis::OneWay)
                .context("this machine")?;
            let path = store::save_machine(machine, &file.to_json())?;
            notes.extend(measurement.notes.iter().cloned());
            notes.push(format!("costs saved in {}", path.display()));
            Ok((file, CostBasis::Measured, Some(measurement)))
        }
        Err(error) if error.is_environment() => {
            notes.push(format!(
                "costs by class of proximity from the literature are used: {error}"
            ));
            Ok((store::assumed(machine)?, CostBasis::Assumed, None))
        }
        Err(error) => Err(error.into()),
    }
}

/// The fastest plan of a race, and the race as the profile keeps it.
fn barrier_entry(team: &Team, race: &Race) -> (Option<Timed>, ProfileEntry) {
    let mut raced: Vec<(RacedCandidate, &Timed)> = Vec::new();
    for timed in &race.plans {
        let name = timed.plan.pattern.to_string();
        let entry = race
            .comparison
            .entries
            .iter()
            .find(|e| e.name == format!("corecast {name}"));
        let Some(summary) = entry.and_then(|e| e.summary()) else {
            continue;
        };
        let candidate = RacedCandidate {
            pattern: name,
            root: timed.plan.tree().map_or(0, |t| t.root()),
            children: timed.plan.tree().map(|t| t.child_lists().to_vec()),
            predicted_ns: timed.plan.latency,
            measured_ns: summary.median,
            interval_ns: (summary.interval.low, summary.interval.high),
        };
        raced.push((candidate, timed));
    }
    raced.sort_by(|a, b| a.0.measured_ns.total_cmp(&b.0.measured_ns));
    let winner = raced.first().map(|(_, t)| Timed {
        plan: t.plan.clone(),
        search_ms: t.search_ms,
    });
    let entry = ProfileEntry {
        operation: Operation::Barrier.to_string(),
        threads: team.threads.clone(),
        winner: raced
            .first()
            .map_or(String::new(), |(c, _)| c.pattern.clone()),
        candidates: raced.into_iter().map(|(c, _)| c).collect(),
    };
    (winner, entry)
}

/// Everything but the race.
struct Found<'a> {
    machine: &'a Machine,
    file: &'a MachineFile,
    basis: CostBasis,
    team: &'a Team,
    chosen: &'a [Timed],
    notes: &'a [String],
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    machine: &'a Machine,
    costs: CostBasis,
    unit: &'static str,
    threads: &'a [u32],
    send: Vec<&'a [f64]>,
    receive: Vec<&'a [f64]>,
    plans: Vec<PlanReport<'a>>,
    race: Option<corecast_bench::comparison::Report>,
    profile: Option<String>,
    notes: &'a [String],
}

impl Found<'_> {
    fn report(&self, race: Option<&Comparison>, profile: Option<String>) -> Report<'_> {
        let costs = self.file.costs();
        Report {
            schema: 1,
            machine: self.machine,
            costs: self.basis,
            unit: self.team.unit(),
            threads: self.file.threads(),
            send: costs.send_matrix().rows().collect(),
            receive: costs.receive_matrix().rows().collect(),
            plans: self
                .chosen
                .iter()
                .map(|t| PlanReport::of(self.team, t))
                .collect(),
            race: race.map(Comparison::report),
            profile,
            notes: self.notes,
        }
    }

    fn text(&self, race: Option<&Comparison>, profile: Option<String>) -> String {
        let screen = Screen::of_stdout();
        let mut out = topo_text::draw(&nest(self.machine, &Default::default()), true, screen);
        for (grid, hint) in source::grids(self.file, self.file.threads())
            .iter()
            .zip(["row sends to column", "column receives from row"])
        {
            let _ = write!(out, "\n{}", heat_text::draw(grid, hint, screen));
        }
        let _ = writeln!(out, "\n{}", "chosen plans".style(screen.bold()));
        for Timed { plan, .. } in self.chosen {
            let d = decimals(plan.latency);
            let root = plan.tree().map_or(String::new(), |t| {
                format!(" from PU {}", self.team.threads[t.root()])
            });
            let by = if race.is_some() && plan.operation == Operation::Barrier {
                "won the race"
            } else {
                "best by the model"
            };
            let (latency, gap, unit) = (plan.latency, 100.0 * plan.gap, self.team.unit());
            let _ = writeln!(
                out,
                "{:9} {}{root}, {by}, predicted {latency:.d$} {unit}, gap {gap:.1} %",
                plan.operation, plan.pattern
            );
        }
        if let Some(race) = race {
            let _ = write!(out, "\n{}", table::render(race));
        }
        out.push('\n');
        for note in self
            .machine
            .assumptions
            .iter()
            .map(|a| format!("assumed: {a}"))
            .chain(self.notes.iter().cloned())
        {
            let _ = writeln!(out, "{}", note.style(screen.dim()));
        }
        if let Some(path) = profile {
            let _ = writeln!(out, "profile saved in {path}");
        }
        out
    }
}
