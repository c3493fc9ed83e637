//! Measures the costs of messages, calls and waits on this machine.

use corecast::store::{Store, Stored};
use corecast_bench::calls::{self, CallsError};
use corecast_bench::cpu_placement::CpuPlacement;
use corecast_collectives::Plans;
use corecast_model::Collective;
use corecast_model::{FileError, Machine, MachineFile};
use corecast_plan::patterns;
use corecast_probe::deep::{DeepConfig, Scope, deep};
use corecast_probe::{Basis, Config, Measurement, ProbeError, pairwise};
use corecast_wire::ending;
use thiserror::Error;

/// Why a machine could not be measured.
#[derive(Debug, Error)]
pub enum MeasureError {
    /// The machine has changed since it was discovered.
    #[error("this machine")]
    Machine(#[source] FileError),
    /// The measured values make no valid machine file.
    #[error(transparent)]
    File(#[from] FileError),
    /// Calls could not be timed.
    #[error(transparent)]
    Calls(#[from] CallsError),
    /// Messages could not be timed.
    #[error(transparent)]
    Probe(#[from] ProbeError),
}

/// Number of hardware threads on which calls are measured: all are alike, but the host may be busy on one of them.
const CALLERS: usize = 2;

/// The machine file of a measurement, with the times of `operations` in a team of one rank; without these once this
/// process was asked to end.
///
/// # Errors
///
/// The machine has changed since, or a thread cannot be pinned.
pub fn with_calls(
    measurement: &Measurement,
    basis: Basis,
    operations: &[Collective],
) -> Result<MachineFile, MeasureError> {
    let file = measurement.to_machine_file(basis);
    let file = file.map_err(MeasureError::Machine)?;
    if ending::is_asked() {
        return Ok(file);
    }
    let mut messages = measurement.messages();
    let callers = file.threads().iter().take(CALLERS);
    let placements: Vec<CpuPlacement> = callers.map(|&pu| CpuPlacement::Pu(pu)).collect();
    let alone = Plans::of_tree(&patterns::sequential(1, 0));
    let calls = calls::measure(&alone, &placements, operations)?;
    (messages.calls, messages.combine, messages.copy) = (calls.ns, calls.combine, calls.copy);
    Ok(file.with_messages(messages)?)
}

/// Adds to `file` the costs of waiting, from which teams decide how to wait. If `store` has an earlier measurement
/// in depth of these threads, the rest of it is kept.
///
/// # Errors
///
/// A thread cannot be pinned.
pub fn with_waits(file: MachineFile, store: Option<&Store>) -> Result<MachineFile, MeasureError> {
    if file.threads().len() < 2 {
        return Ok(file);
    }
    let before = match store.map(|store| store.measured(file.machine())) {
        Some(Stored::Found(_, before)) if before.threads() == file.threads() => {
            before.deep().cloned()
        }
        _ => None,
    };
    let mut config = DeepConfig::new(file.threads().to_vec());
    config.scope = Scope::Waits;
    let found = deep(&config, file.machine(), before, |_, _| ())?;
    Ok(file.with_deep(found)?)
}

/// Measures the messages between `threads` of this machine, and the calls of `operations`.
///
/// # Errors
///
/// A thread cannot be pinned, or the probe fails otherwise.
pub fn now(
    machine: &Machine,
    threads: &[u32],
    operations: &[Collective],
) -> Result<MachineFile, MeasureError> {
    let measurement = pairwise(&Config::new(threads.to_vec()), machine, |_| ())?;
    with_calls(&measurement, Basis::OneWay, operations)
}

/// The mean time of a message of one line after a pause, in nanoseconds.
pub fn message_ns(file: &MachineFile) -> f64 {
    let Some(messages) = file.messages() else {
        return 0.0;
    };
    let n = messages.one.n();
    let sum: f64 = messages.one.rows().flatten().sum();
    sum / (n * (n - 1)).max(1) as f64
}
