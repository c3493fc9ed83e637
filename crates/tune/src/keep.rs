//! Stores the result of a tuning in the profile of this machine.

use std::path::PathBuf;

use corecast::choose::Choice;
use corecast::store::{Store, StoreError, Stored};
use corecast::{Planned, rules};
use corecast_model::profile::{
    Mode, SizeRace, TunedCandidate, TunedOperation, TunedRange, TunedWaits, Tuning, machine_key,
};
use corecast_model::{Profile, ProfileEntry, RacedCandidate};
use corecast_plan::record;

use crate::outcome::{Outcome, Point, Raced, Range, TeamRace, Tuned};

/// A team that was tuned.
#[derive(Clone, Copy, Debug)]
pub struct TunedTeam<'a> {
    /// Its threads, plans and options.
    pub planned: &'a Planned,
    /// Whether each rank stayed on its hardware thread.
    pub pinned: bool,
    /// Whether its ranks were threads or processes.
    pub mode: Mode,
    /// The result of the races.
    pub outcome: &'a Outcome,
}

/// Adds the result to the profile of this machine, and returns the path of the profile.
///
/// Earlier results for operations that were not tuned now stay in the profile.
///
/// # Errors
///
/// The profile cannot be written.
pub fn keep(tuned: &TunedTeam<'_>) -> Result<PathBuf, StoreError> {
    let here = corecast_machine::discover();
    let machine = &here.machine;
    let store = Store::standard();
    let when = corecast_probe::now_utc();
    let mut profile = match store.profile(machine) {
        Stored::Found(_, profile) => profile,
        _ => Profile::new(machine_key(machine), when.clone()),
    };
    profile.created.clone_from(&when);
    for entry in plans(tuned) {
        profile.record(entry);
    }
    let under = rules::circumstances(&here);
    let mut kept = Tuning {
        under,
        created: when,
        ..Tuning::new(
            tuned.planned.rank_pus.clone(),
            tuned.pinned,
            tuned.mode,
            tuned.outcome.start,
        )
    };
    // Earlier results for operations that were not tuned now stay, unless they are stale.
    let same = |old: &&Tuning| {
        (&old.threads, old.pinned, old.mode, old.synchronisation)
            == (&kept.threads, kept.pinned, kept.mode, kept.synchronisation)
    };
    if let Some(old) = profile.tunings.iter().find(same)
        && old.under.stale(&kept.under).is_none()
    {
        (kept.waits, kept.operations) = (old.waits, old.operations.clone());
        kept.kernel_copies_from = old.kernel_copies_from;
    }
    if tuned.outcome.team.iter().any(|race| race.what == "waits") {
        kept.waits = tuned.outcome.wait_config.map(|wait_config| TunedWaits {
            spin_ns: wait_config.spin_ns,
            hardware_ns: wait_config.hardware_ns,
            soon_ns: wait_config.soon_ns,
            yield_ns: wait_config.yield_ns,
            park: wait_config.park,
        });
    }
    if let Some(copies) = tuned.outcome.kernel_copies {
        kept.kernel_copies_from = Some(copies.bytes() as u64);
    }
    for operation in &tuned.outcome.operations {
        let operation = tuned_operation(operation);
        kept.operations
            .retain(|old| old.operation != operation.operation);
        kept.operations.push(operation);
    }
    profile.record_tuning(kept);
    store.save_profile(machine, &profile)
}

/// The profile's record of an operation: its ranges, each with its races.
fn tuned_operation(tuned: &Tuned) -> TunedOperation {
    let mut before = None;
    let range = |range: &Range| {
        let within = |point: &&Point| {
            let above = before.is_none_or(|before| point.bytes > before);
            above && range.up_to_bytes.is_none_or(|most| point.bytes <= most)
        };
        let points: Vec<&Point> = tuned.points.iter().filter(within).collect();
        before = range.up_to_bytes;
        let algorithm = range.algorithm.map(str::to_owned);
        TunedRange {
            mended: points.iter().find_map(|point| point.mended.clone()),
            races: points.into_iter().map(size_race).collect(),
            ..TunedRange::new(range.up_to_bytes.map(|most| most as u64), algorithm)
        }
    };
    TunedOperation {
        operation: tuned.operation.name().to_owned(),
        ranges: tuned.ranges.iter().map(range).collect(),
    }
}

fn size_race(point: &Point) -> SizeRace {
    let ran = point.candidates.iter().zip(&point.algorithms);
    let ran = ran.map(|(raced, algorithm)| TunedCandidate {
        predicted_ns: raced.predicted_ns,
        measured_ns: raced.measured_ns,
        interval_ns: raced.interval_ns,
        samples: raced.rounds as u64,
        dropped: raced.left.clone(),
        ..TunedCandidate::new(algorithm.map(str::to_owned))
    });
    let left_out = point.left_out.iter().map(|one| TunedCandidate {
        predicted_ns: one.predicted_ns,
        dropped: Some(format!("not raced: {}", one.why)),
        ..TunedCandidate::new(Some(one.algorithm.to_owned()))
    });
    SizeRace {
        bytes: point.bytes as u64,
        candidates: ran.chain(left_out).collect(),
    }
}

/// The profile's records of the races of plans.
fn plans(tuned: &TunedTeam<'_>) -> Vec<ProfileEntry> {
    let mut entries = Vec::new();
    for choice in &tuned.planned.choices {
        let operation = choice.operation.to_string();
        let of = |race: &&TeamRace| race.what.split(' ').next() == Some(&operation[..]);
        let Some(race) = tuned.outcome.team.iter().find(of) else {
            continue;
        };
        let mut candidates: Vec<RacedCandidate> = race
            .candidates
            .iter()
            .filter_map(|raced| candidate(choice, raced))
            .collect();
        candidates.sort_by(|a, b| a.measured_ns.total_cmp(&b.measured_ns));
        // Where an algorithm without a plan has won, the fastest plan stands for the operation.
        let won = &race.candidates[race.winner].name;
        let winner = candidates.iter().find(|c| c.pattern == *won);
        let Some(winner) = winner.or(candidates.first()) else {
            continue;
        };
        entries.push(ProfileEntry {
            operation,
            threads: tuned.planned.rank_pus.clone(),
            winner: winner.pattern.clone(),
            candidates,
        });
    }
    entries
}

/// The profile's record of a plan that raced; `None` for algorithms, and for plans that failed.
fn candidate(choice: &Choice, raced: &Raced) -> Option<RacedCandidate> {
    let mut all = choice.candidates.iter();
    let plan = all.find(|plan| plan.pattern.to_string() == raced.name)?;
    let (measured, interval) = (raced.measured_ns?, raced.interval_ns?);
    let (shape, predicted) = (&plan.shape, plan.latency);
    Some(record::raced(
        &raced.name,
        shape,
        predicted,
        measured,
        interval,
    ))
}
