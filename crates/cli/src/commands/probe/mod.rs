//! `corecast probe`: measures the costs of messages between this machine's hardware threads, or under `mpirun` those of
//! the network between its hosts, and saves them for the other commands.

mod args;
mod depth;
mod network;
mod pairs;

use std::process::ExitCode;

use anyhow::Result;
use corecast_network::Launched;

pub(crate) use args::ProbeArgs;

use crate::options::Global;

/// Runs the command.
pub(crate) fn run(global: &Global, args: &ProbeArgs) -> Result<ExitCode> {
    if let Some(launched) = Launched::find().filter(|launched| launched.size > 1) {
        return network::run(global, args, launched);
    }
    match args.deep || args.coherence {
        true => depth::run(global, args),
        false => pairs::run(global, args),
    }
}
