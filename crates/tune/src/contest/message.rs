//! Races of a message between two ranks.

use corecast_bench::cpu_placement::CpuPlacement;
use corecast_bench::peers::Selection;
use corecast_bench::{Comparison, Progress, Settings, message, race};
use corecast_model::Machine;
use corecast_wire::ending;

use super::error::ContestError;
use crate::measure;

type Result<T> = std::result::Result<T, ContestError>;

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
