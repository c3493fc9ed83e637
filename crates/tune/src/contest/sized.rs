//! Races of one operation at one size between Corecast, the floors and MPI.

use std::fs;
use std::sync::Arc;

use corecast_bench::contestant::PLANNED;
use corecast_bench::cpu_placement::CpuPlacement;
use corecast_bench::sized::{Conditions, Task, Threads, Trial};
use corecast_bench::{Comparison, Entrant, Progress, Settings, floor, race};
use corecast_model::Collective;

use super::error::ContestError;
use super::plans::{Candidate, Contest, Others};

type Result<T> = std::result::Result<T, ContestError>;

/// The most contestants that keep their data in this process: two floors, four or five plans, and
/// one peer at a time.
const HOLDERS: usize = 8;

/// Races `task` on `placements`, with MPI where peers take part, and with a team of processes.
///
/// # Errors
///
/// A pattern cannot do the operation, or a team cannot be made.
pub fn race(
    contest: &Contest<'_>,
    task: Task,
    placements: &[CpuPlacement],
    conditions: &Conditions,
    others: &Others,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(Comparison, Vec<Candidate>)> {
    let (mut entrants, candidates) = threads(contest, task, conditions)?;
    let processes = others.processes.iter();
    entrants.extend(processes.map(|session| Entrant::session(Arc::clone(session), task)));
    // The floors rely on a barrier after each operation: without one they would overwrite what others still read.
    if !conditions.is_loose() {
        entrants.extend(floor::lines(task, *conditions));
        entrants.extend(floor::copies(task, *conditions));
    }
    entrants.extend(others.mpi.iter().flat_map(|mpi| mpi.entrants(task)));
    let mut comparison = race::run(&task.to_string(), placements, settings, &entrants, progress)?;
    comparison.task = Some(task);
    comparison.conditions = Some(*conditions);
    comparison.notes.push(conditions.method());
    Ok((comparison, candidates))
}

/// Entrants of Corecast's team of threads, one for each plan that races.
fn threads(
    contest: &Contest<'_>,
    task: Task,
    conditions: &Conditions,
) -> Result<(Vec<Entrant<'static>>, Vec<Candidate>)> {
    let planned = PLANNED.contains(&task.operation);
    let mut entrants = Vec::new();
    let mut candidates = contest.candidates(if planned {
        task.operation
    } else {
        Collective::Broadcast
    })?;
    // An operation that is not planned runs over the same links whatever the trees.
    let count = if planned { candidates.len() } else { 1 };
    candidates.truncate(count);
    for candidate in &candidates {
        let name = candidate.entrant(planned);
        let trial = || {
            let (name, plans) = (name.clone(), &candidate.plans);
            let threads = Threads::new(name, task, plans, contest.usable);
            let threads = threads.map_err(ContestError::Team)?;
            let trial = Trial::new(threads, task, *conditions);
            Ok::<_, ContestError>(Entrant::threads(trial))
        };
        entrants.push(trial()?);
        if contest.also_free {
            entrants.push(trial()?.unpinned());
        }
    }
    Ok((entrants, candidates))
}

/// Refuses data that do not fit into memory.
///
/// # Errors
///
/// [`ContestError::TooLarge`] if the buffers of all contestants need more than nine tenths of the available memory.
pub fn check_memory(task: &Task) -> Result<()> {
    let need = task.footprint().saturating_mul(HOLDERS);
    let Some(there) = available_bytes() else {
        return Ok(());
    };
    if need > there / 10 * 9 {
        return Err(ContestError::TooLarge {
            task: *task,
            need_mib: need >> 20,
            there_mib: there >> 20,
        });
    }
    Ok(())
}

/// The available memory of this machine in bytes; `None` where the system does not say.
pub fn available_bytes() -> Option<usize> {
    available(&fs::read_to_string("/proc/meminfo").ok()?)
}

/// The available memory in bytes, from the text of `/proc/meminfo`.
fn available(meminfo: &str) -> Option<usize> {
    let mut lines = meminfo.lines();
    let line = lines.find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: usize = line.split_ascii_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_the_way_out() {
        let mut task = Task {
            operation: Collective::Alltoall,
            ranks: 2,
            bytes: 8,
        };
        check_memory(&task).unwrap();
        task.bytes = 1 << 50;
        let error = check_memory(&task).unwrap_err().to_string();
        assert!(error.contains("1125899906842624"), "{error}");
        assert!(error.contains("fewer --ranks"), "{error}");
        assert_eq!(available("A: 1 kB\nMemAvailable:  3 kB\n"), Some(3072));
        assert_eq!(available("nothing"), None);
    }
}
