//! Predictions by the simulated machine.

use crate::modelled::{Modelled, RANKS_MAX};
use crate::predict::Predict;
use corecast_collectives::{Plans, entry};
use corecast_model::Collective;
use corecast_model::MachineFile;
use corecast_sim::drive::{Call, Job};
use corecast_sim::measured::MeasuredMachine;
use std::cell::RefCell;
use std::collections::HashMap;

/// A simulated machine whose messages take the measured times, with a core for each rank. It remembers what it has
/// simulated, as a simulation takes up to a tenth of a second.
#[derive(Debug)]
pub struct Simulated {
    machine: MeasuredMachine,
    ranks: usize,
    known: RefCell<Known>,
}

/// Times by plans, and by operation, algorithm and bytes. A team has few plans.
type Known = Vec<(Plans, HashMap<(Collective, String, usize), Option<f64>>)>;

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
        Ok(Self {
            machine,
            ranks,
            known: RefCell::default(),
        })
    }

    /// The time of blocks that are not long, which is simulated once.
    fn simulate(
        &self,
        operation: Collective,
        algorithm: &str,
        plans: &Plans,
        bytes: usize,
    ) -> Option<f64> {
        let mut known = self.known.borrow_mut();
        let at = known.iter().position(|(other, _)| other == plans);
        let at = at.unwrap_or_else(|| {
            known.push((plans.clone(), HashMap::new()));
            known.len() - 1
        });
        let key = (operation, algorithm.to_owned(), bytes);
        let simulated = || {
            let blocks = operation.blocks(self.ranks);
            let call = Call::new(operation, algorithm, 0, bytes * blocks).ok()?;
            let job = Job::new(&call, plans).ok()?;
            let cores: Vec<usize> = (0..self.ranks).collect();
            self.machine.latency(&cores, &job).ok()
        };
        *known[at].1.entry(key).or_insert_with(simulated)
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
        let at = |bytes| self.simulate(operation, algorithm, plans, bytes);
        if bytes <= LONG_BYTES {
            return at(bytes);
        }
        let (half, whole) = (at(LONG_BYTES / 2)?, at(LONG_BYTES)?);
        let per_byte = (whole - half).max(0.0) / (LONG_BYTES / 2) as f64;
        Some(whole + per_byte * (bytes - LONG_BYTES) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_model::{Matrix, Messages};
    use corecast_plan::patterns::sequential;

    #[test]
    fn what_was_simulated_is_known() {
        let all = |ns| Matrix::from_fn(2, |i, j| if i == j { 0.0 } else { ns });
        let messages = Messages {
            long_bytes: 4096,
            one: all(70.0),
            long: all(240.0),
            alone: all(24.0),
            taken: all(100.0),
            crossed: all(80.0),
            calls: [("broadcast".to_owned(), 10.0)].into(),
            combine: 60.0,
            copy: 50.0,
        };
        let file = corecast_model::synthetic("core:2").unwrap();
        let file = file.with_messages(messages).unwrap();
        let model = || Simulated::new(&file, &[0, 1]).unwrap();
        let plans = [0, 1].map(|root| Plans::of_tree(&sequential(2, root)));
        let of = |model: &Simulated, plans, bytes| {
            let time = model.predict(Collective::Broadcast, "messages", plans, bytes);
            time.expect("a prediction")
        };

        let remembers = model();
        let count = || -> usize { remembers.known.borrow().iter().map(|one| one.1.len()).sum() };
        for (bytes, simulated) in [(8, 1), (8, 1), (1 << 20, 3), (4 << 20, 3)] {
            let found = of(&remembers, &plans[0], bytes);
            assert_eq!(found, of(&model(), &plans[0], bytes), "{bytes}");
            assert_eq!(count(), simulated, "{bytes}");
        }
        // The other plan has another root, from which a call of rank 0 goes another way.
        let (one, other) = (8, of(&model(), &plans[1], 8));
        assert_eq!(of(&remembers, &plans[1], one), other);
        assert_eq!(count(), 4);
    }
}
