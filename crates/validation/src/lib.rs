//! Compares Corecast's predictions with published and measured results.
//!
//! Nothing in the workspace depends on this crate. Its program writes docs/validation.md, and its tests hold the
//! figures of the papers. It has what only these need: the tables of the papers, and programs that they measured.
//!
//! - [`agreement`] runs 1Paxos and a store on it by messages whose costs are known.
//! - [`sections`] has a file for each section of docs/validation.md.
//! - [`document`] puts the sections together.
//! - [`tables`] are the costs of lines that Ramos and Hoefler measured on two machines.
//! - [`published`] are the graphs of the algorithms that they write in their primitives.
//! - [`replay`](replay::replay) runs the graph of such an algorithm on a simulated machine.
//! - [`choose`] finds the parameters and trees that the symbolic model says are best, and writes docs/choices.md.
//! - [`clusters`] are the five clusters of Mallon and others, and the collectives that they compare.
//! - [`defaults`] holds what teams run where nothing was measured against the best algorithm, and writes docs/defaults.md.
//! - [`simulated_team`] is a team on a simulated machine, for this and the next one.
//! - [`after_tuning`] holds what the tuner chooses on the same machines against it.
//! - [`streams`] are the farm and the map with which Mencagli and others measured home-forwarding.
#![forbid(unsafe_code)]

pub mod after_tuning;
pub mod agreement;
pub mod choose;
pub mod clusters;
pub mod defaults;
pub mod document;
pub mod published;
pub mod replay;
pub mod sections;
pub mod simulated_team;
pub mod streams;
pub mod tables;
