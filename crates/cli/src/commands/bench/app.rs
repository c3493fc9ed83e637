//! `corecast bench --app`: races an application over Corecast's barrier, Corecast's collectives, and peers' barriers.

use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use corecast::{WaitConfig, WaitCosts};
use corecast_bench::apps::streamcluster::Problem;
use corecast_bench::apps::{Means, OverBarrier, Provider, Run, Teams};
use corecast_bench::cpu_placement::CpuPlacement;
use corecast_bench::{Role, Settings, peers};
use corecast_model::Collective;

use super::races::has_rounds;
use crate::options::Global;
use crate::{failure, output, progress};
use corecast_tune::contest::{Candidate, Contest};

/// Races the application.
pub(super) fn run(
    global: &Global,
    problem: Problem,
    settings: &Settings,
    contest: &Contest<'_>,
    waits: Option<WaitCosts>,
    placements: &[CpuPlacement],
) -> Result<ExitCode> {
    let providers = providers(contest, waits, &winner(contest)?, placements)?;
    let bar = progress::bar("racing");
    let run = Run::race(problem, placements, settings, providers, |step| {
        bar.race("streamcluster", 0.0, 1.0, step);
    })?;
    bar.finish();
    ensure!(
        has_rounds(&run.comparison),
        "interrupted before a round of the race was done"
    );
    let report = run.report();
    match global.json {
        true => output::json(&report)?,
        false => output::print(&report.render())?,
    }
    let failed = run.comparison.failed(Role::Corecast);
    Ok(failure::checked(failed == 0))
}

/// The contestants: Corecast over the winner's plans, once by its barrier and once by its collectives, with the
/// default waits of such a team, and also spinning, as peers do, where each rank has a hardware thread of its own;
/// then the barriers of peers, if they take part.
///
/// # Errors
///
/// A team cannot be made.
pub(super) fn providers(
    contest: &Contest<'_>,
    waits: Option<WaitCosts>,
    winner: &Candidate,
    placements: &[CpuPlacement],
) -> Result<Vec<Box<dyn Provider>>> {
    let (ranks, usable) = (placements.len(), contest.usable);
    let usual = match waits {
        Some(costs) => WaitConfig::of_costs(ranks, usable, costs),
        None => WaitConfig::for_team(ranks, usable),
    };
    let spins = (!contest.oversubscribed()).then_some(WaitConfig::SPIN);
    let mut providers: Vec<Box<dyn Provider>> = Vec::new();
    for wait_config in [Some(usual), spins].into_iter().flatten() {
        for means in [Means::Barrier, Means::Collectives] {
            let name = match means {
                Means::Barrier => format!("corecast {}", winner.pattern),
                Means::Collectives => "corecast collectives".to_owned(),
            };
            let team = Teams::new(name, means, &winner.plans, wait_config);
            providers.push(Box::new(team.context("team")?));
        }
    }
    if contest.peers.is_some() {
        let barriers = peers::application_barriers(placements).into_iter();
        providers.extend(barriers.map(|b| Box::new(OverBarrier::new(b)) as Box<dyn Provider>));
    }
    Ok(providers)
}

/// The plan whose barrier wins a short race on these placements, as it would be chosen for users.
///
/// # Errors
///
/// This process may not use the hardware threads, or a team cannot be made.
pub(super) fn winner(contest: &Contest<'_>) -> Result<Candidate> {
    let mut candidates = contest.candidates(Collective::Barrier)?;
    if candidates.len() == 1 {
        return Ok(candidates.remove(0));
    }
    let race = contest.race_alone(candidates, &Settings::quick())?;
    let first = race.ranking().first().map(|(c, _)| c.pattern.clone());
    let first = first.context("no barrier of Corecast passed its check")?;
    let mut candidates = race.candidates.into_iter();
    candidates
        .find(|c| c.pattern == first)
        .context("the winner is a candidate")
}
