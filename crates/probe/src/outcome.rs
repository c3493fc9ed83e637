//! Measured costs, or built-in ones with the reason why the machine was not measured.

use corecast_model::{Machine, MachineFile, default_costs_for};

use crate::{Config, Measurement, ProbeError, Progress, pairwise};

/// Costs to go on with, wherever they came from.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// This machine's own.
    Measured(Box<Measurement>),
    /// Another machine's, by class of proximity: see [`default_costs_for`].
    BuiltIn {
        /// Why this machine could not be measured, one sentence.
        why: String,
        /// The machine with these costs.
        file: Box<MachineFile>,
    },
}

/// Measures as [`pairwise`] does, and falls back on the built-in costs where the machine cannot be
/// measured: a single hardware thread, pinning refused or without effect, no memory, no threads.
///
/// # Errors
///
/// What is wrong with the request itself: hardware threads unknown or listed twice, numbers out of
/// range.
///
/// # Examples
///
/// ```
/// use corecast_probe::{Config, Outcome, measure_or_builtin};
///
/// let machine = corecast_machine::discover().machine;
/// let first = machine.pus[0].os_index;
/// match measure_or_builtin(&Config::new(vec![first]), &machine, |_| ())? {
///     Outcome::Measured(_) => unreachable!("one PU makes no pair"),
///     Outcome::BuiltIn { why, file } => {
///         assert!(why.contains("cannot be measured on one"));
///         assert_eq!(file.costs().n(), 1);
///     }
/// }
/// # Ok::<(), corecast_probe::ProbeError>(())
/// ```
pub fn measure_or_builtin(
    config: &Config,
    machine: &Machine,
    progress: impl FnMut(Progress),
) -> Result<Outcome, ProbeError> {
    match pairwise(config, machine, progress) {
        Ok(measurement) => Ok(Outcome::Measured(Box::new(measurement))),
        Err(error) if error.is_environment() => Ok(Outcome::BuiltIn {
            why: error.to_string(),
            file: Box::new(built_in(config, machine)),
        }),
        Err(error) => Err(error),
    }
}

/// The built-in costs of the hardware threads asked for, which were checked before.
fn built_in(config: &Config, machine: &Machine) -> MachineFile {
    let at = |os_index: &u32| {
        machine
            .pus
            .iter()
            .position(|pu| pu.os_index == *os_index)
            .expect("the list was checked")
    };
    let positions: Vec<usize> = config.pus.iter().map(at).collect();
    let costs = default_costs_for(machine)
        .subset(&positions)
        .expect("the list was checked");
    MachineFile::new(machine.clone(), config.pus.clone(), costs).expect("the list was checked")
}
