//! `corecast serve --processes`: the process that starts the replicas, and a replica.

use std::process::Command;

use anyhow::{Context, Result};
use corecast_store::{ProcessServer, Replica};

/// Runs the replicas, each as this program again.
pub(crate) fn run(server: ProcessServer) -> Result<()> {
    let again = || {
        // Whatever has become of the file since: all replicas are of one version.
        let mut command = Command::new("/proc/self/exe");
        command.arg("serve-replica");
        command
    };
    server.run(again, |_, _| ())?;
    Ok(())
}

/// Runs one replica, for its parent. It calls `begin` first, with its number.
pub(crate) fn replica(begin: impl FnOnce(usize)) -> Result<()> {
    let replica = Replica::inherited()
        .context("serve-replica is started by `corecast serve --processes` alone")?;
    begin(replica.number());
    replica.run(|| ())?;
    Ok(())
}
