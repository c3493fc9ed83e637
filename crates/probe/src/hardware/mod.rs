//! The measurer of this machine: two pinned threads and their queues.
//!
//! ```text
//!  leader, on i                              follower, on j
//!  pins itself, makes its memory             pins itself, makes its memory
//!        ◄───────── pinned end ──────────────
//!  joins both into two queues
//!        ─────────── its ends ───────────────►
//!        ─────────── an order ───────────────►   one stage, some laps
//!  settle, clock, send 8, settle, clock
//!        ─────────── flag ───────────────────►   settle, clock, receive 8, settle, clock
//!        ◄────────── flag ────────────────────
//!        …                                       …
//!        ◄──────── a report ──────────────────   its samples, and whether it is still pinned
//! ```
//!
//! Orders and reports go over ordinary channels, the queues themselves carry timed messages alone.
//! **Invariant:** between two orders both threads know how many laps are left, so neither ever
//! waits for a flag that is not going to be raised, unless the other one has failed: then its end
//! of the flag says so.

mod common_start;
mod end;
mod pair;
mod pinned_end;
mod shots;
mod stopwatch;
mod threads;
mod turns;

pub(crate) use common_start::long_bytes;
pub(crate) use pinned_end::still_pinned;
pub(crate) use stopwatch::chain;
pub(crate) use threads::{Stop, joined};

use std::time::Duration;

use corecast_machine::{CpuList, PinState, pin_current, pin_state};
use corecast_model::{Machine, Pu};

use crate::{Config, Measurer, PairCosts, ProbeError};

/// Number of times that a pair is measured when a thread loses its pinning.
const ATTEMPTS: usize = 3;

/// A [`Measurer`] of this machine's hardware threads; see the crate for what it measures.
#[derive(Debug)]
pub struct Hardware {
    config: Config,
    several_nodes: bool,
    notes: Vec<String>,
}

impl Hardware {
    /// Makes a measurer with the queues, precision and limits of `config`.
    #[must_use]
    pub fn new(config: &Config, machine: &Machine) -> Self {
        Self {
            config: config.clone(),
            several_nodes: machine.numa_node_count() > 1,
            notes: Vec::new(),
        }
    }

    fn note(&mut self, sentence: String) {
        if !self.notes.contains(&sentence) {
            self.notes.push(sentence);
        }
    }
}

impl Measurer for Hardware {
    /// Pins a thread to each hardware thread in turn, so that a refusal shows before the first
    /// pair and not after a minute.
    fn prepare(&mut self, pus: &[Pu]) -> Result<(), ProbeError> {
        let unconfirmed = std::thread::scope(|scope| {
            let visit = || {
                let mut unconfirmed = Vec::new();
                for pu in pus {
                    let pinning = pin_current(pu.os_index)?;
                    if let PinState::Ignored { runs_on } = pin_state(pu.os_index) {
                        return Err(ProbeError::PinIgnored {
                            os_index: pu.os_index,
                            runs_on,
                        });
                    }
                    if !pinning.confirmed() {
                        unconfirmed.push(pu.os_index);
                    }
                }
                Ok(unconfirmed)
            };
            let visitor = std::thread::Builder::new()
                .spawn_scoped(scope, visit)
                .map_err(ProbeError::Spawn)?;
            joined(visitor)
        })?;
        if !unconfirmed.is_empty() {
            let pus: CpuList = unconfirmed.into_iter().collect();
            self.note(format!(
                "the system does not tell whether threads pinned to PU {pus} run there"
            ));
        }
        Ok(())
    }

    fn measure(&mut self, from: &Pu, to: &Pu, limit: Duration) -> Result<PairCosts, ProbeError> {
        for attempt in 1.. {
            match pair::measure(&self.config, from, to, limit) {
                Ok((costs, placements)) => {
                    if self.several_nodes {
                        placements.into_iter().for_each(|note| self.note(note));
                    }
                    return Ok(costs);
                }
                Err(ProbeError::PinLost { os_index, mask }) if attempt < ATTEMPTS => {
                    self.note(format!(
                        "a thread on PU {os_index} lost its pinning (mask {mask}); its pair was measured again"
                    ));
                }
                Err(error) => return Err(error),
            }
        }
        unreachable!("the last attempt returns")
    }

    fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }
}
