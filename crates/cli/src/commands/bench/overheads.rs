//! `corecast bench --overheads`: races constructs of parallel programs by their time beyond the work in them.

use std::process::ExitCode;

use anyhow::{Result, ensure};
use corecast_bench::cpu_placement::{self, CpuPlacement};
use corecast_bench::overheads::{self, Construct, Delay, Report};
use corecast_bench::peers::NativeConstructs;
use corecast_bench::{Progress, Role, Settings};

use super::app::providers;
use super::own::Own;
use super::races::has_rounds;
use crate::options::Global;
use crate::{failure, interrupt, output, progress};
use corecast_tune::contest::Contest;

/// Races all constructs.
pub(super) fn run(
    global: &Global,
    settings: &Settings,
    contest: &Contest<'_>,
    own: &Own,
    placements: &[CpuPlacement],
) -> Result<ExitCode> {
    let native = contest.peers.map(|_| NativeConstructs::build(placements));
    let delay = Delay::calibrate();
    let bar = progress::bar("racing");
    let of = Construct::ALL.len() as f64;
    let mut races = Vec::new();
    for (number, construct) in Construct::ALL.into_iter().enumerate() {
        if construct == Construct::Critical && native.is_none() {
            continue;
        }
        if interrupt::happened() {
            break;
        }
        let (providers, native) = (providers(contest, own, placements)?, native.as_ref());
        let step = |step: Progress<'_>| bar.race(construct, number as f64 / of, 1.0 / of, step);
        let race = overheads::race(
            construct, delay, placements, settings, providers, native, step,
        )?;
        if has_rounds(&race) {
            races.push((construct, race));
        }
    }
    bar.finish();
    ensure!(
        !races.is_empty(),
        "interrupted before a round of a race was done"
    );
    let mut report = Report::of(&races);
    if cpu_placement::oversubscribed(placements) {
        report.say("ranks share PUs: delays of several ranks run one after the other and count as overhead");
    }
    own.notes(false).iter().for_each(|note| report.say(note));
    match global.json {
        true => output::json(&report)?,
        false => output::print(&report.render(global.verbose > 0))?,
    }
    let mut failed = races.iter().map(|(_, race)| race.failed(Role::Corecast));
    Ok(failure::checked(failed.all(|count| count == 0)))
}
