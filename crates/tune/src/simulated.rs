//! Predictions by the simulated machine.

use crate::modelled::{Modelled, RANKS_MAX};
use crate::predict::Predict;
use corecast_collectives::{Plans, entry};
use corecast_model::Collective;
use corecast_model::MachineFile;
use corecast_sim::drive::{Call, Job};
use corecast_sim::measured::MeasuredMachine;

/// A simulated machine whose messages take the measured times, with a core for each rank.
#[derive(Debug)]
pub struct Simulated {
    machine: MeasuredMachine,
    ranks: usize,
}

/// Longest blocks in bytes that are simulated, as a simulation takes time for each line. Times of longer ones are
/// extrapolated from this length and half of it: such data are cut into pipeline segments of equal time.
const LONG_BYTES: usize = 128 << 10;

impl Simulated {
    /// A simulated machine for ranks on `threads`, each on its own.
    ///
    /// # Errors
    ///
    /// A message that says why these ranks cannot be simulated.
    ///
    /// # Cost
    ///
    /// Some milliseconds.
    pub fn new(file: &MachineFile, threads: &[u32]) -> Result<Self, String> {
        let ranks = threads.len();
        if !(2..=RANKS_MAX).contains(&ranks) {
            return Err(format!("{ranks} ranks are not simulated"));
        }
        let team = Modelled::new(file, threads)?.ok_or("a thread was not measured")?;
        let machine = team
            .measured
            .ok_or("no messages were measured on this machine: `corecast probe` measures them")?;
        Ok(Self { machine, ranks })
    }

    fn simulate(
        &self,
        operation: Collective,
        algorithm: &str,
        plans: &Plans,
        bytes: usize,
    ) -> Option<f64> {
        if bytes > LONG_BYTES {
            let at = |bytes| self.simulate(operation, algorithm, plans, bytes);
            let (half, whole) = (at(LONG_BYTES / 2)?, at(LONG_BYTES)?);
            let per_byte = (whole - half).max(0.0) / (LONG_BYTES / 2) as f64;
            return Some(whole + per_byte * (bytes - LONG_BYTES) as f64);
        }
        let blocks = operation.blocks(self.ranks);
        let call = Call::new(operation, algorithm, 0, bytes * blocks).ok()?;
        let job = Job::new(&call, plans).ok()?;
        let cores: Vec<usize> = (0..self.ranks).collect();
        self.machine.latency(&cores, &job).ok()
    }
}

/// The bytes of the segments that an algorithm is asked for with; 0 if it is asked for without.
fn segment(operation: Collective, algorithm: &str) -> usize {
    let known = entry(operation.algorithms_of(), algorithm);
    known
        .and_then(|known| known.size_of(algorithm))
        .unwrap_or(0)
}

impl Predict for Simulated {
    fn predict(
        &self,
        operation: Collective,
        algorithm: &str,
        plans: &Plans,
        bytes: usize,
    ) -> Option<f64> {
        let blocks = operation.blocks(self.ranks);
        let call = Call::new(operation, algorithm, 0, bytes * blocks).ok()?;
        // What is extrapolated must have been cut in both lengths.
        let cut = bytes <= LONG_BYTES || segment(operation, algorithm) <= LONG_BYTES / 4;
        if !call.is_as_on_hardware() || !cut {
            return None;
        }
        self.simulate(operation, algorithm, plans, bytes)
    }
}
