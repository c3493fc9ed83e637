//! Options of every command.

use clap::{ArgAction, Args, ValueEnum};
use corecast_model::profile::Start;

/// Where `--help` lists these options: after those of the command itself.
const HEADING: &str = "Options of every command";

/// Options of every command.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// JSON instead of text
    #[arg(long, global = true, help_heading = HEADING)]
    pub(crate) json: bool,

    /// Abbreviate nothing
    #[arg(short, long, global = true, action = ArgAction::Count, help_heading = HEADING)]
    pub(crate) verbose: u8,

    /// FILE, builtin:NAME or synthetic:SPEC such as "package:2 numa:1 core:10 pu:1" [default: this machine]
    #[arg(short = 'i', long, global = true, value_name = "MACHINE", help_heading = HEADING)]
    pub(crate) machine: Option<String>,
}

/// What `--sync` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sync {
    Strict,
    Loose,
}

impl From<Sync> for Start {
    fn from(sync: Sync) -> Self {
        match sync {
            Sync::Strict => Self::Together,
            Sync::Loose => Self::BackToBack,
        }
    }
}
