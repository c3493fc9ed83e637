//! What messages and calls cost on this machine, now.

use anyhow::{Context, Result};
use corecast::store::{Store, Stored};
use corecast_bench::calls;
use corecast_bench::cpu_placement::CpuPlacement;
use corecast_bench::sized::Operation;
use corecast_collectives::Plans;
use corecast_model::{Machine, MachineFile};
use corecast_plan::patterns;
use corecast_probe::deep::{DeepConfig, Scope, deep};
use corecast_probe::{Basis, Config, Measurement, pairwise};

/// Hardware threads on which calls are measured: all are alike, but the host may be busy on one of them.
const CALLERS: usize = 2;

/// The machine file of a measurement, with what `operations` take where nobody else takes part.
///
/// # Errors
///
/// A machine that was changed since; threads that cannot be had.
pub(crate) fn with_calls(
    measurement: &Measurement,
    basis: Basis,
    operations: &[Operation],
) -> Result<MachineFile> {
    let file = measurement.to_machine_file_on(basis);
    let file = file.context("this machine")?;
    let mut messages = measurement.messages();
    let callers = file.threads().iter().take(CALLERS);
    let placements: Vec<CpuPlacement> = callers.map(|&pu| CpuPlacement::Pu(pu)).collect();
    let alone = Plans::of_tree(&patterns::sequential(1, 0));
    let calls = calls::measure(&alone, &placements, operations)?;
    (messages.calls, messages.combine, messages.copy) = (calls.ns, calls.combine, calls.copy);
    Ok(file.with_messages(messages)?)
}

/// The same file with what waiting costs, which governs how teams wait. The rest of what an earlier
/// measurement in depth of these threads found, and `store` has, is kept.
///
/// # Errors
///
/// Threads that cannot be had.
pub(crate) fn with_waits(file: MachineFile, store: Option<&Store>) -> Result<MachineFile> {
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

/// Measures `threads` of this machine.
///
/// # Errors
///
/// Threads that cannot be pinned, and whatever else the probe says.
pub(crate) fn now(
    machine: &Machine,
    threads: &[u32],
    operations: &[Operation],
) -> Result<MachineFile> {
    let measurement = pairwise(&Config::new(threads.to_vec()), machine, |_| ())?;
    with_calls(&measurement, Basis::OneWay, operations)
}

/// The mean time of a message of one line after a pause, in nanoseconds.
pub(crate) fn message_ns(file: &MachineFile) -> f64 {
    let Some(messages) = file.messages() else {
        return 0.0;
    };
    let n = messages.one.n();
    let sum: f64 = messages.one.rows().flatten().sum();
    sum / (n * (n - 1)).max(1) as f64
}
