//! The measurement of a whole machine: check, schedule, measure, fill.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use corecast_model::{Machine, Pu};
use corecast_wire::ending;

use crate::estimate::{median, sorted};
use crate::fill::{self, MeasuredPairs};
use crate::{Config, Hardware, Measurement, Measurer, ProbeError, Schedule};

/// The progress of a measurement. The counts are of ordered pairs, and in a measurement in depth of
/// parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Pairs measured.
    pub done: usize,
    /// Pairs to measure.
    pub total: usize,
    /// Time since the first pair began.
    pub elapsed: Duration,
    /// Time that is left if the rest goes on like this; before the first pair, the time that may
    /// be taken at most.
    pub eta: Duration,
}

impl Progress {
    pub(crate) fn new(done: usize, total: usize, elapsed: Duration, pair_time: Duration) -> Self {
        let left = (total - done) as f64;
        let each = match done {
            0 => pair_time.as_secs_f64(),
            _ => elapsed.as_secs_f64() / done as f64,
        };
        Self {
            done,
            total,
            elapsed,
            eta: Duration::from_secs_f64(left * each),
        }
    }
}

/// Measures what a message costs between the hardware threads of `config`, which are part of
/// `machine`; see the crate for what is measured.
///
/// `progress` is called before the first pair and after each.
///
/// # Errors
///
/// [`ProbeError`]: hardware threads unknown, listed twice, or too few; pinning refused, without
/// effect, or lost again and again; memory or threads refused; this process was asked to end
/// ([`corecast_wire::ending`]) before a pair of each class was measured.
///
/// # Cost
///
/// A tenth of a second to a second for two threads; n(n-1) pairs within [`Config::time_limit`] as
/// far as at least 12 ms a pair allow, one pair after another. Two threads are busy meanwhile.
///
/// # Source
///
/// Smelt §3.2.
///
/// # Examples
///
/// ```no_run
/// use corecast_probe::{Basis, Config, pairwise};
///
/// let machine = corecast_machine::discover().machine;
/// let measurement = pairwise(&Config::whole(&machine), &machine, |p| {
///     eprintln!("{} of {} pairs, {:.0?} left", p.done, p.total, p.eta);
/// })?;
/// println!("one way from {} to {}: {:.0} ns",
///     measurement.threads[0], measurement.threads[1], measurement.one_way.ns.get(0, 1));
/// std::fs::write("machine.json", measurement.to_machine_file(Basis::Batch)?.to_json())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn pairwise(
    config: &Config,
    machine: &Machine,
    progress: impl FnMut(Progress),
) -> Result<Measurement, ProbeError> {
    pairwise_with(
        config,
        machine,
        &mut Hardware::new(config, machine),
        progress,
    )
}

/// Measures like [`pairwise`], with another measurer, which need not measure this machine.
///
/// # Errors
///
/// Those of [`pairwise`], and those of the measurer.
pub fn pairwise_with(
    config: &Config,
    machine: &Machine,
    measurer: &mut impl Measurer,
    progress: impl FnMut(Progress),
) -> Result<Measurement, ProbeError> {
    pairwise_until(config, machine, measurer, progress, ending::is_asked)
}

/// Measures until `stop` returns true, which is called before each pair. A measurer may end a pair by that as well.
fn pairwise_until(
    config: &Config,
    machine: &Machine,
    measurer: &mut impl Measurer,
    mut progress: impl FnMut(Progress),
    stop: impl Fn() -> bool,
) -> Result<Measurement, ProbeError> {
    let pus = config.checked(machine)?;
    let mut sampled = pus.len() > config.sample_above_threads;
    let mut schedule = if sampled {
        Schedule::by_class(machine, &pus, config.sample_pairs_per_class)
    } else {
        Schedule::all(pus.len())
    };
    measurer.prepare(&pus)?;
    let began_unix_seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let start = Instant::now();
    let measured = measure(
        config,
        &pus,
        &schedule,
        measurer,
        start,
        &mut progress,
        &stop,
    )?;
    let elapsed = start.elapsed();
    let n = pus.len();
    let mut notes = measurer.notes();
    let (done, total) = (measured.len(), schedule.pairs.len());
    if done < total {
        // Pairs that were not reached are filled in, as in a schedule that leaves them out.
        schedule = Schedule::by_class(machine, &pus, 1);
        if !fill::suffices(n, &schedule, &measured) {
            return Err(ProbeError::Interrupted { done, total });
        }
        sampled = true;
        notes.push(format!(
            "interrupted after {done} of {total} pairs: the others have the median of their class"
        ));
    }
    let costs = |quantity: fn(&crate::PairCosts) -> crate::Estimate| {
        fill::costs(n, &schedule, &measured, quantity)
    };
    let all = || measured.values().flat_map(crate::PairCosts::all);
    let samples: Vec<f64> = all().map(|e| e.samples as f64).collect();
    Ok(Measurement {
        machine: machine.clone(),
        threads: config.pus.clone(),
        send: costs(|c| c.send),
        receive: costs(|c| c.receive),
        send_drained: costs(|c| c.send_drained),
        receive_alone: costs(|c| c.receive_alone),
        one_way: costs(|c| c.one_way),
        one: costs(|c| c.one),
        long: costs(|c| c.long),
        crossed: costs(|c| c.crossed),
        taken: costs(|c| c.taken),
        long_bytes: crate::hardware::long_bytes(config.slots),
        sampled,
        measured_pairs: (0..n * n)
            .map(|at| measured.contains_key(&(at / n, at % n)))
            .collect(),
        samples: median(&sorted(&samples)).unwrap_or(0.0) as u64,
        discarded: all().map(|e| e.discarded).sum(),
        backend: config.backend,
        slots: config.slots,
        batch: config.batch,
        began_unix_seconds,
        elapsed,
        notes,
    })
}

fn measure(
    config: &Config,
    pus: &[Pu],
    schedule: &Schedule,
    measurer: &mut impl Measurer,
    start: Instant,
    progress: &mut impl FnMut(Progress),
    stop: &impl Fn() -> bool,
) -> Result<MeasuredPairs, ProbeError> {
    let total = schedule.pairs.len();
    let pair_time = config.pair_time(total);
    let mut measured = MeasuredPairs::with_capacity(total);
    progress(Progress::new(0, total, Duration::ZERO, pair_time));
    for (done, &(i, j)) in schedule.pairs.iter().enumerate() {
        if stop() {
            break;
        }
        let costs = match measurer.measure(&pus[i], &pus[j], pair_time) {
            Err(ProbeError::Interrupted { .. }) => break,
            costs => costs?,
        };
        measured.insert((i, j), costs);
        progress(Progress::new(done + 1, total, start.elapsed(), pair_time));
    }
    Ok(measured)
}

#[cfg(test)]
mod tests;
