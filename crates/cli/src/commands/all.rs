//! `corecast` without a command: measures this machine, plans, races the best plans of each
//! operation, barriers also against peers, tunes all other operations, and saves costs and winners.

use std::fmt::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use corecast::choose::{Preferences, Races, choose_all};
use corecast::store::{Store, Stored};
use corecast_bench::contestant::PLANNED;
use corecast_bench::peers::Selection;
use corecast_bench::{Progress, Settings, comparison, table};
use corecast_model::Collective;
use corecast_model::profile::machine_key;
use corecast_model::{Machine, MachineFile, Profile, ProfileEntry, RacedCandidate};
use corecast_plan::plan::room;
use corecast_plan::{Operation, Plan, Scope, Shape};
use corecast_probe::{Basis, Config, Measurement, pairwise};
use owo_colors::OwoColorize;
use serde::Serialize;

use super::bench::extent;
use super::tune::{self, BriefTunings, TunedTeam};
use crate::options::Global;
use crate::planning::PlanReport;
use crate::source::Source;
use crate::{failure, interrupt, output, progress};
use corecast_doctor::limits;
use corecast_draw::machine;
use corecast_draw::machine::nest;
use corecast_draw::matrix::{self, Grid};
use corecast_model::CostBasis;
use corecast_model::words::decimals;
use corecast_plan::Members;
use corecast_plan::record::raced;
use corecast_tune::contest::{Contest, NO_PEERS, Race, Timed, planned};
use corecast_tune::measure;

/// Time for everything but what comes before and after the measurements.
const LIMIT: Duration = Duration::from_secs(55);

/// Time for the tuning with `--quick`, and at least.
const TUNE_QUICK: Duration = Duration::from_secs(5);

/// Time for the measurement: together with the races the command stays under a minute.
const PROBE_LIMIT: Duration = Duration::from_secs(25);

/// Time for the measurement with `--quick`.
const PROBE_LIMIT_QUICK: Duration = Duration::from_secs(5);

/// The settings of the race of each operation, whose time begins once its entrants are checked. Most entrants of a
/// barrier are peers, which are launched each round.
fn settings(quick: bool, collective: Collective) -> Settings {
    let normal = Settings {
        rounds_min: 60,
        precision: 0.01,
        budget: match collective {
            Collective::Barrier => Duration::from_secs(8),
            _ => Duration::from_secs(3),
        },
        ..Settings::default()
    };
    if quick { Settings::quick() } else { normal }
}

/// Runs the main job.
pub(crate) fn run(global: &Global, quick: bool) -> Result<ExitCode> {
    if let Some(machine) = &global.machine {
        bail!(
            "without a command corecast measures this machine: use topo, plan or explain for {machine:?}"
        );
    }
    let begin = Instant::now();
    let here = corecast_machine::discover();
    let machine = &here.machine;
    let mut notes = limits::sentences(&here);
    let (file, basis, measurement) = measure(machine, quick, &mut notes)?;
    let source = Source {
        file: file.clone(),
        costs: basis,
        here: None,
        notes: Vec::new(),
    };
    let team = Members::new(&file, file.threads().to_vec())?;
    let mut chosen = by_model(&team)?;
    let mut races = Vec::new();
    if interrupt::happened() {
        notes.push("interrupted: nothing was raced".to_owned());
    } else if team.threads.len() > 1 {
        races = race(&team, basis, quick, &mut chosen)?;
        notes.push(format!("broadcast, reduce, allreduce: {NO_PEERS}"));
        if basis == CostBasis::Measured {
            notes.extend(moved(&predicted_and_measured(&races)));
        }
    } else {
        notes.push(format!(
            "nothing was raced: PU {} is alone, and a team needs two hardware threads (corecast bench --ranks 2 lets two ranks share it)",
            team.threads[0]
        ));
    }
    if interrupt::happened() {
        notes.push("profile not saved: interrupted".to_owned());
    } else if let (false, Some(measured)) = (races.is_empty(), &measurement) {
        let profile = profile(machine, measured.when(), &team, &races);
        let saved = Store::standard().save_profile(machine, &profile);
        notes.push(output::kept("profile ", saved));
    }
    let mut tunings = None;
    if !races.is_empty() && !interrupt::happened() {
        let time = match quick {
            true => TUNE_QUICK,
            false => LIMIT.saturating_sub(begin.elapsed()).max(TUNE_QUICK),
        };
        let found = tune::brief(&source, time)?;
        notes.extend(found.notes.iter().cloned());
        tunings = Some(found);
    }
    let found = Found {
        tunings: tunings.as_ref(),
        machine,
        file: &file,
        basis,
        team: &team,
        chosen: &chosen,
        races: &races,
        notes: &notes,
    };
    if global.json {
        output::json(&found.report())?;
    } else {
        output::print(&found.text(extent(global)))?;
    }
    Ok(failure::checked(races.iter().all(|race| race.wrong() == 0)))
}

/// The plans that a team would run without any race.
fn by_model(team: &Members) -> Result<Vec<Timed>> {
    let races = Races::none("they are yet to be run");
    let choices = choose_all(&team.costs, &team.threads, &Preferences::default(), &races)?;
    let plans = choices
        .iter()
        .map(|choice| Timed::of_choice(team, choice, choice.chosen()));
    Ok(plans.collect::<Result<_, _>>()?)
}

/// The machine with measured costs, or with the literature's costs and a note where it cannot be measured.
fn measure(
    machine: &Machine,
    quick: bool,
    notes: &mut Vec<String>,
) -> Result<(MachineFile, CostBasis, Option<Measurement>)> {
    let mut config = Config::whole(machine);
    config.time_limit = PROBE_LIMIT;
    if quick {
        config.time_limit = PROBE_LIMIT_QUICK;
        config.precision = Settings::quick().precision;
    }
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
            let file =
                measure::with_calls(&measurement, Basis::OneWay, &Collective::WITH_ALGORITHMS)?;
            notes.extend(measurement.notes.iter().cloned());
            if interrupt::happened() {
                notes.push("costs not saved: interrupted".to_owned());
                return Ok((file, CostBasis::Measured, Some(measurement)));
            }
            let store = Store::standard();
            let file = measure::with_waits(file, Some(&store))?;
            let saved = store.save_machine(&file);
            notes.push(output::kept("costs ", saved));
            Ok((file, CostBasis::Measured, Some(measurement)))
        }
        Err(error) if error.is_environment() || interrupt::happened() => {
            notes.push(format!(
                "costs by class of proximity from the literature are used: {error}"
            ));
            Ok((corecast::costs::built_in(machine), CostBasis::Assumed, None))
        }
        Err(error) => Err(error.into()),
    }
}

/// Races each operation, and replaces the plans in `chosen`, which the model chose, by the winners.
fn race(team: &Members, basis: CostBasis, quick: bool, chosen: &mut [Timed]) -> Result<Vec<Race>> {
    let mut contest = Contest::new(team, basis);
    contest.peers = Some(match quick {
        true => Selection::Threads,
        false => Selection::Likely,
    });
    let bar = progress::bar("racing");
    bar.say("barrier: preparing peers");
    let budget = |collective: &Collective| settings(quick, *collective).budget.as_secs_f64();
    let total: f64 = PLANNED.iter().map(budget).sum();
    let mut before = 0.0;
    let mut races: Vec<Race> = Vec::new();
    for collective in PLANNED {
        if interrupt::happened() {
            break;
        }
        let settings = settings(quick, collective);
        let own = budget(&collective);
        let mut step = |step: Progress<'_>| {
            bar.race(collective, before / total, own / total, step);
        };
        let race = match planned(collective) {
            Some(operation) => {
                let race = contest.race(collective, &settings, &mut step)?;
                let fastest = race.ranking().first().and_then(|(c, _)| c.timed.as_ref());
                if let Some(winner) = fastest
                    && let Some(plan) = chosen.iter_mut().find(|t| t.plan.operation == operation)
                {
                    *plan = Timed {
                        plan: winner.plan.clone(),
                        search_ms: winner.search_ms,
                    };
                }
                race
            }
            // An allreduce runs over the plans that have won, as in the team that users get.
            None => {
                let plan = |operation| -> Option<&Plan> {
                    let mut plans = chosen.iter().map(|t| &t.plan);
                    plans.find(|plan| plan.operation == operation)
                };
                let (Some(fan_in), Some(fan_out)) =
                    (plan(Operation::Reduce), plan(Operation::Broadcast))
                else {
                    continue;
                };
                let only = vec![contest.allreduce(fan_in, fan_out)?];
                contest.race_among(collective, only, &settings, &mut step)?
            }
        };
        if race.comparison.rounds > 0 || !interrupt::happened() {
            races.push(race);
        }
        before += own;
        // Only barriers have peers, which one note says instead of one in each table.
        contest.peers = None;
    }
    bar.finish();
    Ok(races)
}

/// What the model predicts of the fastest plan of each race of messages that go one way, and what was measured, in nanoseconds. Barriers
/// and allreductions of two ranks are exchanges of a line, which cost less than messages.
fn predicted_and_measured(races: &[Race]) -> Vec<(f64, f64)> {
    let goes_one_way =
        |race: &&Race| matches!(race.collective, Collective::Broadcast | Collective::Reduce);
    let fastest = |race: &Race| {
        let (_, entry) = race.ranking().into_iter().next()?;
        Some((entry.predicted_ns?, entry.summary()?.median))
    };
    races
        .iter()
        .filter(goes_one_way)
        .filter_map(fastest)
        .collect()
}

/// From how many times the prediction on, or by which part, costs are not those of the race. The model is seldom off by 2.
const MOVED: f64 = 2.5;

/// A note if these races say that the threads came nearer to each other since the costs were measured, or went apart.
fn moved(predicted_and_measured: &[(f64, f64)]) -> Option<String> {
    let ratios = predicted_and_measured.iter().map(|(p, m)| m / p);
    let least = ratios.clone().reduce(f64::min)?;
    let greatest = ratios.reduce(f64::max)?;
    let way = match (least, greatest) {
        (_, greatest) if greatest <= 1.0 / MOVED => "nearer to each other",
        (least, _) if least >= MOVED => "farther from each other",
        _ => return None,
    };
    Some(format!(
        "broadcasts and reductions took {least:.2} to {greatest:.2} of the predicted times: the threads are {way} than when the costs were measured, as where a hypervisor moves them; corecast probe measures again"
    ))
}

/// The profile of this machine with these races added; races of other teams stay in it.
fn profile(machine: &Machine, when: String, team: &Members, races: &[Race]) -> Profile {
    let mut profile = match Store::standard().profile(machine) {
        Stored::Found(_, profile) => profile,
        _ => Profile::new(machine_key(machine), when.clone()),
    };
    profile.created = when;
    for race in races {
        let Some(operation) = planned(race.collective) else {
            continue;
        };
        let ranking = race.ranking().into_iter();
        let candidates: Vec<RacedCandidate> = ranking
            .filter_map(|(candidate, entry)| {
                let (plan, summary) = (&candidate.timed.as_ref()?.plan, entry.summary()?);
                let interval = (summary.interval.low, summary.interval.high);
                Some(raced(
                    &candidate.pattern,
                    &plan.shape,
                    plan.latency,
                    summary.median,
                    interval,
                ))
            })
            .collect();
        if let Some(winner) = candidates.first() {
            profile.record(ProfileEntry {
                operation: operation.to_string(),
                threads: team.threads.clone(),
                winner: winner.pattern.clone(),
                candidates,
            });
        }
    }
    profile
}

/// Everything that is printed.
struct Found<'a> {
    machine: &'a Machine,
    file: &'a MachineFile,
    basis: CostBasis,
    team: &'a Members,
    chosen: &'a [Timed],
    races: &'a [Race],
    tunings: Option<&'a BriefTunings>,
    notes: &'a [String],
}

/// The output of `--json`.
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
    races: Vec<RaceReport>,
    /// The teams that were tuned, as in `corecast tune --json`.
    tunings: Vec<TunedTeam<'a>>,
    notes: &'a [String],
}

/// One race in [`Report`].
#[derive(Serialize)]
struct RaceReport {
    operation: String,
    #[serde(flatten)]
    comparison: comparison::Report,
}

impl Found<'_> {
    fn report(&self) -> Report<'_> {
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
            races: self
                .races
                .iter()
                .map(|race| RaceReport {
                    operation: race.collective.to_string(),
                    comparison: race.comparison.report(),
                })
                .collect(),
            tunings: self.tunings.map_or_else(Vec::new, BriefTunings::report),
            notes: self.notes,
        }
    }

    fn text(&self, extent: table::Extent) -> String {
        let screen = output::screen();
        let mut out = machine::text(&nest(self.machine, &Default::default()), true, screen);
        let grids = Grid::of_costs(self.file, self.file.threads());
        let pairs = self.team.threads.len() > 1;
        for (grid, hint) in grids
            .iter()
            .zip(["row sends to column", "column receives from row"])
            .filter(|_| pairs)
        {
            let _ = write!(out, "\n{}", matrix::text(grid, hint, screen));
        }
        for race in self.races {
            let text = table::render(&race.comparison, extent);
            let (title, rest) = text.split_once('\n').unwrap_or((&text, ""));
            let _ = write!(out, "\n{}\n{rest}", title.style(screen.bold()));
        }
        if self.team.threads.len() > 1 {
            let _ = writeln!(out, "\n{}", "chosen plans".style(screen.bold()));
            for timed in self.chosen {
                let _ = writeln!(out, "{}", self.choice(&timed.plan));
            }
        }
        if let Some(tunings) = self.tunings {
            let _ = write!(out, "\n{}", tunings.text());
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
        out
    }

    /// One line on a chosen plan.
    fn choice(&self, plan: &Plan) -> String {
        let root = match plan.shape {
            Shape::Rounds(_) => String::new(),
            _ => format!(" with root PU {}", self.team.threads[plan.root]),
        };
        let d = decimals(plan.latency);
        let (latency, unit) = (plan.latency, self.team.unit());
        // The bound holds for these alone. The line has named the root, as a PU.
        let space = Scope {
            root: None,
            ..plan.scope
        };
        let others = match plan.scope.root {
            Some(_) => format!("{space} from this root"),
            None => space.to_string(),
        };
        let best = room(plan.gap, &others);
        let model = match self.basis {
            CostBasis::Measured => format!("predicted {latency:.d$} {unit}, "),
            // Times from costs of another machine are not shown.
            CostBasis::Given | CostBasis::Assumed => String::new(),
        };
        let races = self.races.iter();
        let race = races
            .filter(|race| planned(race.collective) == Some(plan.operation))
            .map(Race::ranking)
            .find(|ranking| !ranking.is_empty());
        let by = match race.as_deref() {
            None => "best by the model".to_owned(),
            Some([_]) => "the only shape for this team".to_owned(),
            Some([_, second, ..]) => format!("won the race before {}", second.0.pattern),
            Some([]) => String::new(),
        };
        format!(
            "{:9} {}{root}: {by}, {model}{best}",
            plan.operation, plan.pattern
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_have_moved_if_all_races_say_so() {
        let nearer = moved(&[(212.0, 62.5), (196.0, 59.4)]).unwrap();
        assert!(
            nearer.starts_with(
                "broadcasts and reductions took 0.29 to 0.30 of the predicted times: the threads are nearer"
            ),
            "{nearer}"
        );
        let farther = moved(&[(53.5, 184.0), (59.7, 203.0)]).unwrap();
        assert!(
            farther.contains("3.40 to 3.44") && farther.contains("farther"),
            "{farther}"
        );
        for same in [
            &[][..],
            &[(100.0, 35.0), (100.0, 90.0)],
            &[(100.0, 260.0), (100.0, 30.0)],
        ] {
            assert_eq!(moved(same), None);
        }
    }
}
