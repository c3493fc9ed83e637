//! Reasons for which a machine cannot be measured.

use std::io;

use corecast_machine::{CpuList, PinError};
use corecast_model::{CostError, MachineError};
use corecast_wire::SegmentError;

/// Why a machine could not be measured. Every message is one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// The list of hardware threads is empty.
    #[error("no PU to measure: name at least two")]
    Empty,
    /// There is a single hardware thread, and so no pair.
    #[error(
        "only PU {os_index} may be used: what a message costs between two PUs cannot be measured on one; \
         allow a second PU, or go on with the built-in costs by class of proximity"
    )]
    OnePu {
        /// Its operating-system number.
        os_index: u32,
    },
    /// A hardware thread is listed twice.
    #[error("PU {os_index} is listed twice: name each PU once")]
    Duplicate {
        /// Its operating-system number.
        os_index: u32,
    },
    /// The machine does not have the hardware thread, or this process may not use it.
    #[error(
        "PU {os_index} is not among those that can be used on {machine:?}: choose from {known}"
    )]
    Unknown {
        /// The number asked for.
        os_index: u32,
        /// The machine's name.
        machine: String,
        /// The numbers that can be used.
        known: CpuList,
    },
    /// The number of slots and the size of batches do not fit.
    #[error(
        "queues of {slots} slots cannot be measured in batches of {batch}: take a power of two of \
         slots that is a multiple of the batch, such as 64 and 8"
    )]
    Shape {
        /// Slots asked for.
        slots: usize,
        /// Batch asked for.
        batch: usize,
    },
    /// The numbers of samples are impossible.
    #[error("at least {min} and at most {max} samples were asked for: take 1 <= least <= most")]
    Samples {
        /// The least.
        min: usize,
        /// The most.
        max: usize,
    },
    /// The precision is impossible.
    #[error(
        "a precision of {found} cannot be reached: take a positive part of the median, such as 0.01"
    )]
    Precision {
        /// The value asked for.
        found: String,
    },
    /// The machine itself is not valid.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// A thread could not be pinned, so its numbers would belong to no PU.
    #[error("the pairs cannot be told apart: {0}")]
    Pin(#[from] PinError),
    /// The system accepts pinning without obeying it, as some sandboxes do.
    #[error(
        "the pairs cannot be told apart: a thread pinned to PU {os_index} runs on PU {runs_on}; \
         measure outside of this sandbox"
    )]
    PinIgnored {
        /// Where it should run.
        os_index: u32,
        /// The PU on which it runs.
        runs_on: u32,
    },
    /// Something took a thread's pinning away while it measured, several times in a row.
    #[error(
        "the thread on PU {os_index} lost its pinning while it measured (its mask became {mask}): \
         stop what changes affinities or cpusets, and measure again"
    )]
    PinLost {
        /// The PU to which it was pinned.
        os_index: u32,
        /// The thread's present mask.
        mask: CpuList,
    },
    /// There is no memory for a queue.
    #[error("no queue between PU {from} and PU {to}: {source}")]
    Memory {
        /// The sender.
        from: u32,
        /// The receiver.
        to: u32,
        /// The error of the system.
        source: SegmentError,
    },
    /// A measuring thread could not be started.
    #[error("cannot start a thread to measure with: {0}; raise the limit on threads or processes")]
    Spawn(#[source] io::Error),
    /// One of the two threads of a pair ended before the other one was done.
    #[error(
        "the measurement from PU {from} to PU {to} broke off: one of its two threads ended early"
    )]
    Broken {
        /// The sender.
        from: u32,
        /// The receiver.
        to: u32,
    },
    /// There is no memory for the lines to measure.
    #[error("no lines to measure: {source}")]
    Lines {
        /// The error of the system.
        source: SegmentError,
    },
    /// One of the threads of a measurement ended before the others were done.
    #[error("the measurement broke off: one of its threads ended early")]
    CrewBroken,
    /// This process was asked to end before a pair of each class was measured.
    #[error(
        "interrupted after {done} of {total} pairs: that is too few for the costs of all others"
    )]
    Interrupted {
        /// Ordered pairs that were measured.
        done: usize,
        /// Ordered pairs to measure.
        total: usize,
    },
    /// A measured value may not be a cost.
    #[error("the measured costs cannot be used: {0}")]
    Costs(#[from] CostError),
    /// A machine file refuses a result in depth.
    #[error(transparent)]
    File(#[from] corecast_model::FileError),
}

impl ProbeError {
    /// This process was asked to end amid one measurement.
    pub(crate) const INTERRUPTED: Self = Self::Interrupted { done: 0, total: 1 };

    /// Whether the error lies in the machine and not in the request. Then a caller can use the
    /// built-in costs instead.
    #[must_use]
    pub fn is_environment(&self) -> bool {
        matches!(
            self,
            Self::OnePu { .. }
                | Self::Pin(_)
                | Self::PinIgnored { .. }
                | Self::PinLost { .. }
                | Self::Memory { .. }
                | Self::Spawn(_)
                | Self::Broken { .. }
                | Self::Lines { .. }
                | Self::CrewBroken
        )
    }
}
