//! The checks, which make findings from facts.
//!
//! **Architecture Invariant:** a check does no I/O and reads no clock: its whole input is in [`Facts`], so
//! that each is tested with made-up facts.

mod kernel;
mod knowledge;
mod processors;
mod runtimes;

use crate::facts::Facts;
use crate::finding::Finding;

/// Runs all checks of the machine, and of the program if there is one, and returns the findings in the order in
/// which they are shown.
pub fn examine(facts: &Facts) -> Vec<Finding> {
    let mut findings = vec![
        processors::quota(facts),
        processors::cpuset(facts),
        processors::mask(facts),
        processors::siblings(facts),
        processors::governor(facts),
        processors::waiting(facts),
        processors::copies(facts),
        processors::steal(facts),
        processors::pinning(facts),
        kernel::shared_memory(facts),
        kernel::membarrier(facts),
        kernel::peer_memory(facts),
        kernel::deaths(facts),
        kernel::dev_shm(facts),
        knowledge::costs(facts),
        knowledge::profile(facts),
    ];
    if let Some(program) = &facts.program {
        findings.extend(runtimes::examine(facts, program));
    }
    findings
}
