//! The cost of calls without communication: each operation in a team of one rank, and how fast a core combines
//! and copies data in its caches.
//!
//! A model of messages does not cover the instructions around them. They are measured here, in the same way as
//! operations of several ranks ([`crate::sized`]): from buffers that change.

use crate::cpu_placement::{self, CpuPlacement};
use crate::race::{self, Entrant, RaceError, Settings};
use crate::sized::{ELEMENT_BYTES, Task, Threads, Trial};
use corecast_collectives::Plans;
use corecast_collectives::operator::{Operator, Sum};
use corecast_model::Collective;
use corecast_team::TeamError;
use corecast_wire::copy;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

/// Cost of calls on a core.
#[derive(Clone, Debug, PartialEq)]
pub struct Calls {
    /// Nanoseconds of an operation of one element in a team of one, by its name.
    pub ns: BTreeMap<String, f64>,
    /// Bytes of doubles added in a nanosecond.
    pub combine: f64,
    /// Bytes copied in a nanosecond.
    pub copy: f64,
}

/// Why calls could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum CallsError {
    /// The team of one rank could not be made.
    #[error("calls were not measured: {0}")]
    Team(#[from] TeamError),
    /// The race could not be run.
    #[error("calls were not measured: {0}")]
    Race(#[from] RaceError),
    /// The thread could not be started or pinned.
    #[error("calls were not measured: {0}")]
    CpuPlacement(String),
}

/// Bytes that are combined and copied at once: as many as a long message has.
const BYTES: usize = 4096;

/// Pieces of a sample. All `SAMPLES` together take about a millisecond.
const PIECES: u32 = 64;
const SAMPLES: usize = 101;

/// Measures calls of `operations` on each of `placements` and returns the means over the placements. `plans`
/// are of a team of one rank.
///
/// # Errors
///
/// [`CallsError`] if the team, the race or the thread fails.
///
/// # Panics
///
/// If the plans are of a larger team, or there is no placement.
///
/// # Cost
///
/// About a tenth of a second for each operation and placement, on one thread.
///
/// # Examples
///
/// ```
/// use corecast_model::Collective;
/// use corecast_bench::{calls, cpu_placement};
/// use corecast_collectives::Plans;
/// use corecast_plan::Pattern;
///
/// let one = corecast_model::synthetic("core:1")?;
/// let plans = Plans::of_pattern(one.costs(), Pattern::Binomial, Some(0))?;
/// let calls = calls::measure(&plans, &cpu_placement::free(1), &[Collective::Broadcast])?;
/// assert!(calls.ns["broadcast"] > 0.0 && calls.copy > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn measure(
    plans: &Plans,
    placements: &[CpuPlacement],
    operations: &[Collective],
) -> Result<Calls, CallsError> {
    assert!(!placements.is_empty(), "a placement at least");
    let settings = Settings {
        budget: Duration::from_millis(40),
        ..Settings::quick()
    };
    let part = 1.0 / placements.len() as f64;
    let mut all = Calls {
        ns: BTreeMap::new(),
        combine: 0.0,
        copy: 0.0,
    };
    for &placement in placements {
        for &operation in operations {
            let bytes = match operation {
                Collective::Barrier => 0,
                _ => ELEMENT_BYTES,
            };
            let task = Task {
                operation,
                ranks: 1,
                bytes,
            };
            let team = Threads::new("call", task, plans, 1)?;
            let entrants = [Entrant::threads(Trial::new(team, task, false))];
            let race = race::run("call", &[placement], &settings, &entrants, |_| {})?;
            let ns = race.entries[0].summary().map_or(0.0, |found| found.median);
            *all.ns.entry(operation.name().to_owned()).or_default() += ns * part;
        }
        let (combine, copy) = rates(placement)?;
        all.combine += combine * part;
        all.copy += copy * part;
    }
    Ok(all)
}

/// Bytes combined and bytes copied in a nanosecond on `placement`.
fn rates(placement: CpuPlacement) -> Result<(f64, f64), CallsError> {
    let work = move || {
        cpu_placement::take(placement)?;
        let mut into = vec![1.0; BYTES / ELEMENT_BYTES];
        let with = vec![1.0; BYTES / ELEMENT_BYTES];
        let combine = rate(|| Sum.combine(&mut into, black_box(&with)));
        let copy = rate(|| {
            copy::slice(
                bytemuck::cast_slice_mut(&mut into),
                bytemuck::cast_slice(black_box(&with)),
            )
        });
        black_box(&into);
        Ok((combine, copy))
    };
    let worker = thread::Builder::new().spawn(work);
    let worker = worker.map_err(|error| CallsError::CpuPlacement(error.to_string()))?;
    let found = worker
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    found.map_err(CallsError::CpuPlacement)
}

/// Bytes in a nanosecond, from the median of the samples.
fn rate(mut piece: impl FnMut()) -> f64 {
    let sample = |_| {
        let begin = Instant::now();
        (0..PIECES).for_each(|_| piece());
        begin.elapsed().as_nanos().max(1) as f64
    };
    let mut samples: Vec<f64> = (0..SAMPLES).map(sample).collect();
    samples.sort_by(f64::total_cmp);
    f64::from(PIECES) * BYTES as f64 / samples[SAMPLES / 2]
}
