//! What was tuned, in the profile of this machine.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use corecast::choose::Choice;
use corecast::store::{Store, Stored};
use corecast_model::profile::machine_key;
use corecast_model::{Machine, Profile, ProfileEntry, RacedCandidate};
use corecast_plan::{Shape, Tree};
use corecast_tune::outcome::{Raced, TeamRace};

use super::Tuning;

/// Adds `tuning` to what was known of this machine; says where, or why not.
pub(super) fn keep(tuning: &Tuning) -> Result<String> {
    let here = corecast_machine::discover();
    let machine = &here.machine;
    let store = Store::standard();
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let when = corecast_probe::iso_utc(since.map_or(0, |since| since.as_secs()));
    let mut profile = match store.profile(machine) {
        Stored::Found(_, profile) => profile,
        _ => Profile::new(machine_key(machine), when.clone()),
    };
    profile.created.clone_from(&when);
    for entry in plans(tuning) {
        profile.record(entry);
    }
    Ok(said(&store, machine, &profile))
}

fn said(store: &Store, machine: &Machine, profile: &Profile) -> String {
    match store.save_profile(machine, profile) {
        Ok(path) => format!("saved in {}", path.display()),
        Err(error) => {
            let sentence = format!("not saved: {error}");
            crate::failure::warn(&sentence);
            sentence
        }
    }
}

/// The races of plans.
fn plans(tuning: &Tuning) -> Vec<ProfileEntry> {
    let mut entries = Vec::new();
    for choice in &tuning.planned.choices {
        let operation = choice.operation.to_string();
        let of = |race: &&TeamRace| race.what.split(' ').next() == Some(&operation[..]);
        let Some(race) = tuning.outcome.team.iter().find(of) else {
            continue;
        };
        let mut candidates: Vec<RacedCandidate> = race
            .candidates
            .iter()
            .filter_map(|raced| candidate(choice, raced))
            .collect();
        candidates.sort_by(|a, b| a.measured_ns.total_cmp(&b.measured_ns));
        // Where an algorithm has won, the plan is that of whatever is not asked for.
        let won = &race.candidates[race.winner].name;
        let winner = candidates.iter().find(|c| c.pattern == *won);
        let Some(winner) = winner.or(candidates.first()) else {
            continue;
        };
        entries.push(ProfileEntry {
            operation,
            threads: tuning.planned.seats.clone(),
            winner: winner.pattern.clone(),
            candidates,
        });
    }
    entries
}

/// A plan that ran; `None` for algorithms, and for plans that did not work.
fn candidate(choice: &Choice, raced: &Raced) -> Option<RacedCandidate> {
    let mut all = choice.candidates.iter();
    let plan = all.find(|plan| plan.pattern.to_string() == raced.name)?;
    let lists = |tree: &Tree| tree.child_lists().to_vec();
    let (fan_in, fan_out) = match &plan.shape {
        Shape::Tree(tree) => (None, Some(tree)),
        Shape::Trees { fan_in, fan_out } => (Some(fan_in), Some(fan_out)),
        _ => (None, None),
    };
    Some(RacedCandidate {
        pattern: raced.name.clone(),
        root: fan_out.map_or(0, Tree::root),
        children: fan_out.map(lists),
        fan_in: fan_in.map(lists),
        predicted_ns: plan.latency,
        measured_ns: raced.measured_ns?,
        interval_ns: raced.interval_ns?,
    })
}
