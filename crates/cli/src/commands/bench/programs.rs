//! Races of programs that synchronise: `--app` and `--overheads`.

use std::process::ExitCode;

use anyhow::{Result, bail};
use corecast_bench::{apps, overheads as bench_overheads};

use super::args::{BenchArgs, Pinning, limits};
use super::laid::laid;
use super::{app, overheads};
use crate::options::Global;
use crate::source;

/// Runs `corecast bench` with `--app` or `--overheads`.
///
/// # Errors
///
/// The team cannot be made, or a race fails.
pub(super) fn run(global: &Global, args: &BenchArgs) -> Result<ExitCode> {
    if let Some(machine) = &global.machine {
        bail!("bench measures this machine, not {machine:?}: leave -i out");
    }
    args.check()?;
    if args.pinning() == Some(Pinning::Both) {
        bail!(
            "--pinning both: --app and --overheads race on one placement at a time, pinned or unpinned"
        );
    }
    let source = source::open(None)?;
    let laid = laid(args, &source)?;
    let contest = laid.contest(args, source.costs)?;
    let placements = contest.placements()?;
    let limits = limits(args)?;
    match args.overheads {
        true => {
            let settings = limits.apply(bench_overheads::settings(args.quick));
            overheads::run(global, &settings, &contest, &laid.own, &placements)
        }
        false => {
            let problem = args.app.problem(args.quick)?;
            let settings = limits.apply(apps::settings(args.quick));
            app::run(global, problem, &settings, &contest, &laid.own, &placements)
        }
    }
}
