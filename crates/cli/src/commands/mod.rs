//! The commands, with one file or folder each.

pub(crate) mod all;
pub(crate) mod bench;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod graph;
pub(crate) mod install_docs;
pub(crate) mod plan;
pub(crate) mod probe;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod serve_processes;
pub(crate) mod sim;
pub(crate) mod topo;
pub(crate) mod tune;
