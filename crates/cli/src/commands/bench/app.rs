//! `corecast bench --app`: races an application over Corecast's barrier, Corecast's collectives, and peers' barriers.

use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use corecast::WaitConfig;
use corecast_bench::apps::streamcluster::Problem;
use corecast_bench::apps::{Means, OverBarrier, Provider, Run, Teams};
use corecast_bench::cpu_placement::CpuPlacement;
use corecast_bench::{Role, Settings, peers};
use corecast_team::Options;

use super::own::Own;
use super::races::has_rounds;
use crate::options::Global;
use crate::{failure, output, progress};
use corecast_tune::contest::Contest;

/// Races the application.
pub(super) fn run(
    global: &Global,
    problem: Problem,
    settings: &Settings,
    contest: &Contest<'_>,
    own: &Own,
    placements: &[CpuPlacement],
) -> Result<ExitCode> {
    let providers = providers(contest, own, placements)?;
    let bar = progress::bar("racing");
    let mut run = Run::race(problem, placements, settings, providers, |step| {
        bar.race("streamcluster", 0.0, 1.0, step);
    })?;
    bar.finish();
    run.comparison.notes.extend(own.notes(false));
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

/// The contestants: Corecast's own teams, once by their barrier and once by their collectives, with their own waits, and
/// also spinning, as peers do, where each rank has a hardware thread of its own; then the barriers of peers, if they take
/// part.
///
/// # Errors
///
/// A team cannot be made.
pub(super) fn providers(
    contest: &Contest<'_>,
    own: &Own,
    placements: &[CpuPlacement],
) -> Result<Vec<Box<dyn Provider>>> {
    let mut providers: Vec<Box<dyn Provider>> = Vec::new();
    for team in &own.teams {
        let usual = &team.planned.options;
        let spins = Options {
            wait_config: Some(WaitConfig::SPIN),
            ..usual.clone()
        };
        let differ = !contest.oversubscribed() && usual.wait_config != spins.wait_config;
        for options in [Some(usual), differ.then_some(&spins)]
            .into_iter()
            .flatten()
        {
            for means in [Means::Barrier, Means::Collectives] {
                let name = match means {
                    Means::Barrier => team.name.clone(),
                    Means::Collectives => format!("{} collectives", team.name),
                };
                let team = Teams::new(name, means, &team.planned.plans, options);
                providers.push(Box::new(team.context("team")?));
            }
        }
    }
    if contest.peers.is_some() {
        let barriers = peers::application_barriers(placements).into_iter();
        providers.extend(barriers.map(|b| Box::new(OverBarrier::new(b)) as Box<dyn Provider>));
    }
    Ok(providers)
}
