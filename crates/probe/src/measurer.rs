//! The interface between measuring pairs and processing the results.

use std::time::Duration;

use corecast_model::Pu;

use crate::{Estimate, ProbeError};

/// The measured costs of one ordered pair (i, j).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairCosts {
    /// The time for which i is blocked to send, per message of a batch.
    pub send: Estimate,
    /// The time for which j is blocked to receive what is queued already, per message of a batch.
    pub receive: Estimate,
    /// The time in which i sends one message and waits until it has left its write buffer.
    pub send_drained: Estimate,
    /// The time in which j receives one message that is queued already.
    pub receive_alone: Estimate,
    /// Half of a round trip that i starts.
    pub one_way: Estimate,
    /// The time of one message of a line after a pause, from a common start until j has it.
    pub one: Estimate,
    /// The time of one long message after a pause, from a common start until j has it.
    pub long: Estimate,
    /// The time of one message of a line each way from a common start, the later of the two.
    pub crossed: Estimate,
    /// The time in which j receives a long message that is queued already.
    pub taken: Estimate,
}

impl PairCosts {
    pub(crate) fn all(&self) -> [&Estimate; 9] {
        [
            &self.send,
            &self.receive,
            &self.send_drained,
            &self.receive_alone,
            &self.one_way,
            &self.one,
            &self.long,
            &self.crossed,
            &self.taken,
        ]
    }
}

/// A measurer of pairs: [`Hardware`](crate::Hardware), a simulator, or a fake in a test.
pub trait Measurer {
    /// Checks, before the first pair, whether these hardware threads can be measured at all.
    ///
    /// # Errors
    ///
    /// The error with which every later pair would fail.
    fn prepare(&mut self, pus: &[Pu]) -> Result<(), ProbeError> {
        let _ = pus;
        Ok(())
    }

    /// Measures one ordered pair, within about `limit`.
    ///
    /// # Errors
    ///
    /// Anything that makes the measurement impossible or meaningless; [`ProbeError::Interrupted`] ends it with the pairs
    /// before this one.
    fn measure(&mut self, from: &Pu, to: &Pu, limit: Duration) -> Result<PairCosts, ProbeError>;

    /// Returns notes for the user on the measurement, one sentence each.
    fn notes(&mut self) -> Vec<String> {
        Vec::new()
    }
}
