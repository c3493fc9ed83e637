//! Tests that predictions match the figures of the papers, and tests of the symbolic model on their
//! machines.

mod agreement;
mod cla;
mod clusters;
mod defaults;
mod equations;
mod farm;
mod here;
mod papers;
mod queueing;
#[path = "../../../../tests/references.rs"]
mod references;
mod sandybridge;
mod smelt;
mod symbolic;
mod symbolic_choices;
mod tilepro64;
