//! Whose costs a machine has.

use serde::{Deserialize, Serialize};

/// How far the costs can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CostBasis {
    /// Measured here.
    Measured,
    /// Given with the machine by file, literature or made-up machine.
    Given,
    /// Another machine's, for want of better.
    Assumed,
}
