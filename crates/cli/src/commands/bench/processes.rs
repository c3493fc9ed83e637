//! Corecast's team of processes as a contestant. Each rank is this command again, started by `corecast run`.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result};
use corecast_bench::cpu_placement::{self, CpuPlacement};
use corecast_bench::session::{FOLDER, Launch, Session};

use super::algorithms::Chooses;
use super::own::Own;
use crate::options::Global;

/// A session whose ranks are processes on `placements`, whose team chooses as told, and whose buffers lie in symmetric memory
/// if `symmetric`.
///
/// # Errors
///
/// The path of this command's own executable is unknown.
pub(super) fn session(
    own: &Own,
    chooses: Chooses,
    placements: &[CpuPlacement],
    symmetric: bool,
) -> Result<Session> {
    let memory = if symmetric { ", symmetric" } else { "" };
    let name = format!("{} processes{memory}", chooses.name());
    started(name, placements, own.environment(chooses), symmetric)
}

/// A session whose ranks are processes on `placements`, with these variables in their environment.
///
/// # Errors
///
/// The path of this command's own executable is unknown.
pub(crate) fn session_in(
    placements: &[CpuPlacement],
    environment: Vec<(String, String)>,
) -> Result<Session> {
    started(
        "corecast processes".to_owned(),
        placements,
        (environment, Vec::new()),
        false,
    )
}

fn started(
    name: String,
    placements: &[CpuPlacement],
    (environment, environment_removed): (Vec<(String, String)>, Vec<String>),
    symmetric: bool,
) -> Result<Session> {
    let program = std::env::current_exe().context("where this command lies")?;
    let places = cpu_placement::describe(placements);
    let cores: Vec<String> = placements.iter().map(ToString::to_string).collect();
    let cores = cores.join(",");
    let oversubscribed = cpu_placement::oversubscribed(placements);
    let mut arguments: Vec<OsString> = vec!["run".into(), "-n".into()];
    arguments.push(placements.len().to_string().into());
    if places != "any" && !oversubscribed {
        arguments.extend(["--cores".into(), cores.clone().into()]);
    }
    arguments.extend(["--".into(), program.clone().into(), "session-rank".into()]);
    arguments.push(FOLDER.into());
    if places != "any" {
        arguments.extend(["--cores".into(), cores.into()]);
    }
    if symmetric {
        arguments.push("--symmetric".into());
    }
    let setting = match &places[..] {
        "any" => "processes, unpinned".to_owned(),
        places => format!("processes, pinned to {places}"),
    };
    let launch = Launch {
        program,
        arguments,
        environment,
        environment_removed,
        ranks: placements.len(),
        oversubscribed,
    };
    Ok(Session::new(name, setting, launch).own())
}

#[derive(Debug, clap::Args)]
pub(crate) struct RankArgs {
    /// The folder with the session's socket
    folder: PathBuf,

    /// A PU for each rank, or none to leave it to the system
    #[arg(long, value_delimiter = ',')]
    cores: Vec<u32>,

    /// Buffers lie in symmetric memory
    #[arg(long)]
    symmetric: bool,
}

/// Runs one process of the session.
pub(crate) fn rank(_: &Global, args: &RankArgs) -> Result<std::process::ExitCode> {
    let team = corecast::Builder::new().pin(false).inherited()?;
    let team = team.context("session-rank is started by `corecast bench`")?;
    let rank = team.ranks()[0];
    if let Some(&pu) = args.cores.get(rank) {
        cpu_placement::take(CpuPlacement::Pu(pu)).map_err(anyhow::Error::msg)?;
    }
    let member = team.join(rank)?;
    corecast_bench::session::serve(&args.folder, member, args.symmetric)?;
    Ok(std::process::ExitCode::SUCCESS)
}
