//! Tries whether threads can be pinned.

use corecast_machine::pin_current;
use serde::Serialize;

/// The outcome of a trial.
#[derive(Clone, Debug, Serialize)]
pub struct Pinning {
    /// Hardware threads to which a thread could be pinned.
    pub possible: Vec<u32>,
    /// Hardware threads to which no thread could be pinned.
    pub refused: Vec<u32>,
    /// The system's message for the first of `refused`.
    pub reason: Option<String>,
}

/// Starts a thread, and tries to pin it to each of `threads` in turn.
#[must_use]
pub fn try_pinning(threads: &[u32]) -> Pinning {
    let threads = threads.to_vec();
    let trial = std::thread::spawn(move || {
        let mut outcome = Pinning {
            possible: Vec::new(),
            refused: Vec::new(),
            reason: None,
        };
        for pu in threads {
            match pin_current(pu) {
                Ok(pinning) if pinning.confirmed() => outcome.possible.push(pu),
                Ok(_) => {
                    outcome.refused.push(pu);
                    outcome.reason.get_or_insert_with(|| {
                        "the system accepted the pinning without obeying it".to_owned()
                    });
                }
                Err(error) => {
                    outcome.refused.push(pu);
                    outcome.reason.get_or_insert_with(|| error.to_string());
                }
            }
        }
        outcome
    });
    trial.join().unwrap_or(Pinning {
        possible: Vec::new(),
        refused: Vec::new(),
        reason: Some("the trial did not finish".to_owned()),
    })
}
