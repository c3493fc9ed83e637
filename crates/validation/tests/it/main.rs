//! The figures of the papers, and what holds of the symbolic model on their machines.

mod cla;
mod equations;
mod farm;
mod here;
mod queueing;
mod sandybridge;
mod smelt;
mod symbolic;
mod symbolic_choices;
mod tilepro64;
