//! Arguments of `corecast bench --app`.

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use corecast_bench::apps::streamcluster::Problem;

/// What `--app` takes, and what of.
#[derive(Debug, Args)]
#[command(next_help_heading = "Application")]
pub(super) struct AppArgs {
    /// Race an application instead of an operation: the same program over each barrier, time to solution
    #[arg(long, value_enum, conflicts_with_all = ["op", "size", "probe", "sync", "start", "cache", "osu"])]
    pub(super) app: Option<AppArg>,

    /// Points of the stream [default: 8192, with --quick 2048]
    #[arg(long, value_name = "N", requires = "app")]
    points: Option<usize>,

    /// Coordinates of each point [default: 32]
    #[arg(long, value_name = "N", requires = "app")]
    dim: Option<usize>,

    /// Most centres; at least half as many are looked for [default: 20]
    #[arg(long, value_name = "N", requires = "app")]
    centres: Option<usize>,

    /// Points that are looked at together: fewer of them, more barriers a second [default: 2048, with --quick 1024]
    #[arg(long, value_name = "N", requires = "app")]
    chunk: Option<usize>,
}

/// What `--app` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum AppArg {
    /// Online k-median clustering (Guha and others; PARSEC; Smelt §5.5)
    Streamcluster,
}

impl AppArgs {
    /// The problem that the arguments describe.
    ///
    /// # Errors
    ///
    /// The problem cannot be solved.
    pub(super) fn problem(&self, quick: bool) -> Result<Problem> {
        let usual = match quick {
            true => Problem {
                points: 2048,
                chunk: 1024,
                ..Problem::default()
            },
            false => Problem::default(),
        };
        let points = self.points.unwrap_or(usual.points);
        if let Some(chunk) = self.chunk.filter(|&chunk| chunk > points) {
            bail!("--chunk {chunk}: the stream has {points} points, choose from 1 to {points}");
        }
        let most = self.centres.unwrap_or(usual.centres_max);
        let problem = Problem {
            points,
            dimensions: self.dim.unwrap_or(usual.dimensions),
            centres_min: most.div_ceil(2),
            centres_max: most,
            chunk: self.chunk.unwrap_or(usual.chunk),
            seed: usual.seed,
        };
        problem.check().context("--app streamcluster")?;
        Ok(problem)
    }
}
