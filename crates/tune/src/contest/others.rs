//! Races of what is no collective: fork and join, and a message between two ranks.

use corecast_bench::cpu_placement::CpuPlacement;
use corecast_bench::forks::{self, Lines, Method, Team};
use corecast_bench::peers::Selection;
use corecast_bench::{Comparison, Entrant, Progress, Settings, message, race};
use corecast_model::Collective;
use corecast_model::Machine;
use corecast_wire::ending;

use super::error::ContestError;
use super::plans::Contest;
use crate::measure;

type Result<T> = std::result::Result<T, ContestError>;

/// Races forks and joins: two barriers over each plan, a broadcast and a reduction over each tree, shared lines, and
/// the peers.
///
/// # Errors
///
/// A pattern cannot do a barrier, or a team cannot be made.
pub fn fork_join(
    contest: &Contest<'_>,
    placements: &[CpuPlacement],
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Comparison> {
    let oversubscribed = contest.oversubscribed();
    let mut entrants: Vec<Entrant<'_>> = Vec::new();
    let mut add = |collective, method| -> Result<()> {
        for candidate in contest.candidates(collective)? {
            let name = candidate.entrant(true);
            let team = || Team::new(name.clone(), method, &candidate.plans, contest.usable);
            entrants.push(Entrant::threads(team().map_err(ContestError::Team)?));
            if contest.also_free {
                entrants.push(Entrant::threads(team().map_err(ContestError::Team)?).unpinned());
            }
        }
        Ok(())
    };
    add(Collective::Barrier, Method::Barriers)?;
    // Rounds of notifications carry no data.
    let trees = add(Collective::Broadcast, Method::Trees);
    if contest.named.is_empty() {
        trees?;
    }
    entrants.push(Entrant::threads(Lines::new(
        placements.len(),
        oversubscribed,
    )));
    if let Some(selection) = contest.peers {
        entrants.extend(forks::peers(placements, selection));
    }
    let mut comparison = race::run("fork_join", placements, settings, &entrants, progress)?;
    let method = "from the fork until rank 0 knows that every rank has done its piece of work, one store; back to back";
    comparison.notes.push(method.to_owned());
    Ok(comparison)
}

/// Races a message between the first two ranks; the probe measures it before and after the race.
///
/// # Errors
///
/// The ranks are not pinned to two hardware threads, memory for queues cannot be allocated, or the probe fails.
pub fn message(
    machine: Option<&Machine>,
    placements: &[CpuPlacement],
    peers: Option<Selection>,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Comparison> {
    let Some(&[CpuPlacement::Pu(a), CpuPlacement::Pu(b)]) = placements.get(..2) else {
        return Err(ContestError::MessageUnpinned);
    };
    if a == b {
        return Err(ContestError::MessageOnOne(a));
    }
    let probed = || -> Result<Option<f64>> {
        let measured = machine.map(|machine| measure::now(machine, &[a, b], &[]));
        Ok(measured.transpose()?.map(|file| measure::message_ns(&file)))
    };
    let before = probed()?;
    let pair = &placements[..2];
    let entrants = message::entrants(pair, peers.is_some())?;
    let mut comparison = race::run("message", pair, settings, &entrants, progress)?;
    comparison
        .notes
        .push("one way: half of a round trip".to_owned());
    if !ending::is_asked()
        && let (Some(before), Some(after)) = (before, probed()?)
    {
        comparison.notes.push(format!(
            "the probe, of one message at a time: {before:.0} ns before this race, {after:.0} ns after it"
        ));
    }
    Ok(comparison)
}
