//! Options of every command.

use clap::{ArgAction, Args, ValueEnum};
use corecast_model::profile::Start;

/// Options of every command.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// JSON instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Abbreviate nothing
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,

    /// FILE, builtin:NAME or synthetic:SPEC such as "package:2 numa:1 core:10 pu:1" [default: this machine]
    #[arg(short = 'i', long, global = true, value_name = "MACHINE")]
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
