//! The seam between what is measured and what is done with it.

use std::time::Duration;

use corecast_model::Pu;

use crate::{Estimate, ProbeError};

/// What was measured for one ordered pair (i, j).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairCosts {
    /// i is blocked to send, per message of a batch.
    pub send: Estimate,
    /// j is blocked to receive what is queued already, per message of a batch.
    pub receive: Estimate,
    /// i sends one message and waits until it has left its write buffer.
    pub send_drained: Estimate,
    /// j receives one message that is queued already.
    pub receive_alone: Estimate,
    /// Half of a round trip that i starts.
    pub one_way: Estimate,
    /// One message after a pause, from a common start until j has it.
    pub one: Estimate,
    /// The same of a long message.
    pub long: Estimate,
    /// The same of one message each way: the later of the two.
    pub crossed: Estimate,
    /// j receives a long message that is queued already.
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

/// Measures pairs: [`Hardware`](crate::Hardware), a simulator, or a fake in a test.
pub trait Measurer {
    /// Finds out, before the first pair, whether these hardware threads can be measured at all.
    ///
    /// # Errors
    ///
    /// What every later pair would fail with.
    fn prepare(&mut self, pus: &[Pu]) -> Result<(), ProbeError> {
        let _ = pus;
        Ok(())
    }

    /// Measures one ordered pair, within about `limit`.
    ///
    /// # Errors
    ///
    /// Whatever makes the measurement impossible or meaningless.
    fn measure(&mut self, from: &Pu, to: &Pu, limit: Duration) -> Result<PairCosts, ProbeError>;

    /// What people should know about the measurement, one sentence each.
    fn notes(&mut self) -> Vec<String> {
        Vec::new()
    }
}
