//! The costs of messages between the PUs of this machine, and their source.

mod team;

pub(crate) use team::TeamCosts;

use std::fmt;
use std::path::{Path, PathBuf};

use corecast_machine::{self as machine, Discovery};
use corecast_model::{Machine, MachineFile, Matrix, deep, default_costs_for};
use corecast_wire::{LINE_BYTES, WaitCosts};
use serde::Serialize;

use crate::store::{Store, Stored};

/// The source of the costs that a team is planned with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CostSource {
    /// A machine file that the user gave.
    Given {
        /// The machine's name.
        machine: String,
    },
    /// Stored measurements of this machine.
    Measured {
        /// The file.
        path: PathBuf,
        /// The time of the measurement, if the file has it.
        when: Option<String>,
    },
    /// Costs from the literature by class of proximity, which are used where nothing better is known.
    BuiltIn {
        /// Why there is nothing better.
        why: String,
    },
}

impl fmt::Display for CostSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given { machine } => write!(f, "given, of machine {machine:?}"),
            Self::Measured { path, when } => {
                f.write_str("measured on this machine")?;
                if let Some(when) = when {
                    write!(f, " {when}")?;
                }
                write!(f, ", from {}", path.display())
            }
            Self::BuiltIn { why } => write!(
                f,
                "from the literature by class of proximity: trust the order of the plans, not the \
                 times ({why})"
            ),
        }
    }
}

/// This machine's costs with their source: stored ones, or else those of the literature.
///
/// Measurements of a process that could use the whole machine also serve one that a mask or a cpuset confines to a
/// part of it.
///
/// # Panics
///
/// If `here` has no hardware threads, which discovery never says.
pub fn here(store: &Store, here: &Discovery) -> (MachineFile, CostSource) {
    let found = |path, file: &MachineFile| {
        let when = file.measured().map(|measured| measured.when.clone());
        CostSource::Measured { path, when }
    };
    let why = match store.measured(&here.machine) {
        Stored::Found(path, file) => {
            let source = found(path, &file);
            return (file, source);
        }
        Stored::Absent => {
            let whole = whole_machine(here).map(|whole| store.measured(&whole));
            if let Some(Stored::Found(path, file)) = whole
                && let Some(part) = part_of(&file, &here.machine)
            {
                return (part, found(path, &file));
            }
            "this machine's costs have not been measured yet (see corecast probe)".to_owned()
        }
        Stored::Unusable(reason) => reason,
    };
    (built_in(&here.machine), CostSource::BuiltIn { why })
}

/// The whole machine, with the PUs that are withheld from this process; `None` if none are withheld.
pub(crate) fn whole_machine(here: &Discovery) -> Option<Machine> {
    if here.outside_mask.is_empty() && here.outside_cpuset.is_empty() {
        return None;
    }
    let options = machine::Options {
        scope: machine::Scope::Online,
        mask: None,
    };
    Some(machine::discover_at(Path::new("/"), &options).machine)
}

/// The costs of the threads of `machine` in `file`, and those of lone messages; `None` if a thread has no
/// costs.
fn part_of(file: &MachineFile, machine: &Machine) -> Option<MachineFile> {
    let threads: Vec<u32> = machine.pus.iter().map(|pu| pu.os_index).collect();
    let at: Option<Vec<usize>> = threads.iter().map(|&pu| file.position(pu)).collect();
    let at = at?;
    let costs = file.costs().subset(&at).ok()?;
    let part = MachineFile::new(machine.clone(), threads, costs).ok()?;
    let part = part.with_deep(file.deep().cloned()).ok()?;
    match file.messages() {
        Some(messages) => part.with_messages(messages.subset(&at)).ok(),
        None => Some(part),
    }
}

/// `machine` with the literature's costs.
///
/// # Panics
///
/// If `machine` has no hardware threads.
pub fn built_in(machine: &Machine) -> MachineFile {
    MachineFile::of_whole(machine.clone(), default_costs_for(machine))
        .expect("every thread has its costs")
}

/// The costs of waiting on the machine of `file`; `None` if they were not measured.
///
/// # Examples
///
/// ```
/// let machine = corecast::machine::discover().machine;
/// assert_eq!(corecast::costs::of_waits(&corecast::costs::built_in(&machine)), None);
/// ```
#[must_use]
pub fn of_waits(file: &MachineFile) -> Option<WaitCosts> {
    let of = |name: &str| Some(file.deep()?.quantity(name)?.figure.value);
    Some(WaitCosts {
        yield_ns: of(deep::YIELD)?,
        wake_ns: of(deep::WAKE)?,
        hardware_ns: hardware_delay(of),
    })
}

/// Hockney's n½: the length in bytes at which a message takes twice as long as one of a line, by the probe's messages that
/// come alone; `None` where these were not measured. By it a team chooses algorithms where none was raced or asked for, if each
/// of its ranks has a hardware thread.
///
/// # Examples
///
/// ```
/// let machine = corecast::machine::discover().machine;
/// assert_eq!(corecast::costs::half_bytes(&corecast::costs::built_in(&machine)), None);
/// ```
#[must_use]
pub fn half_bytes(file: &MachineFile) -> Option<usize> {
    half_bytes_with(file, 0.0)
}

/// The same where ranks share hardware threads: there every message also waits until its receiver has a turn, which the
/// probe measures as well (`sched_yield`).
///
/// # Examples
///
/// ```
/// let machine = corecast::machine::discover().machine;
/// assert_eq!(corecast::costs::shared_half_bytes(&corecast::costs::built_in(&machine)), None);
/// ```
#[must_use]
pub fn shared_half_bytes(file: &MachineFile) -> Option<usize> {
    half_bytes_with(file, of_waits(file)?.yield_ns)
}

/// n½ where each message takes so many nanoseconds longer.
fn half_bytes_with(file: &MachineFile, more_ns: f64) -> Option<usize> {
    let messages = file.messages()?;
    let all = |matrix: &Matrix| matrix.rows().flatten().sum::<f64>();
    let (one, long) = (all(&messages.one), all(&messages.long));
    let pairs = messages.one.rows().map(|row| row.len() - 1).sum::<usize>();
    let latency = one + more_ns * pairs as f64;
    let bytes = messages.long_bytes as f64 * latency / (long - one);
    // Where a long message takes no longer than a short one, nothing can be said.
    (bytes >= LINE_BYTES as f64).then_some(bytes.round() as usize)
}

/// The time by which a wait in the CPU is late: a write may come while it begins, and then it takes the shortest wait; or
/// later, and then it takes what it took longer than polling.
fn hardware_delay(of: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let longer = of(deep::HARDWARE_SEEN)? - of(deep::POLLED)?;
    // `wfe` keeps no deadline, so its shortest wait is not measured.
    let shortest = of(deep::SHORTEST_HARDWARE_WAIT).unwrap_or(0.0);
    Some(longer.max(shortest))
}
