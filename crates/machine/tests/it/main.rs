//! Discovery against fixture trees of machines one seldom sits at, and against this machine.

mod affinity;
mod cgroups;
mod fixture;
mod garbage;
mod memory;
mod processor;
mod this_machine;
mod topology;
