//! Barriers: nobody leaves before everybody has come.

mod dissemination;
mod tree;

pub use dissemination::{Steps, dissemination};
pub use tree::tree;

use crate::failure::Failure;
use crate::lane::{Barrier, Lane};

#[inline(always)]
pub(crate) fn run(lane: &mut Lane) -> Result<(), Failure> {
    match &lane.tables.barrier {
        Barrier::Tree { fan_in, fan_out } => tree(&mut lane.fabric, fan_in, fan_out),
        Barrier::Rounds(steps) => dissemination(&mut lane.fabric, steps),
    }
}
