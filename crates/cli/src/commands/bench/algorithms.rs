//! The values of `corecast bench --algorithms`.

use clap::ValueEnum;

/// How the teams that race choose their plans, waits and algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum AlgorithmsArg {
    /// What a program gets that makes such a team here: by CORECAST_ALGO, else the profile, else Corecast's choice
    Users,
    /// Corecast's own choices, without the profile and CORECAST_ALGO
    BuiltIn,
    /// What was tuned and raced here, without CORECAST_ALGO
    Tuned,
    /// built-in and tuned side by side, and all other algorithms that the team can run
    All,
}

/// How one team chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chooses {
    /// As in a program.
    AsUsers,
    /// Without profile and environment.
    BuiltIn,
    /// By the profile alone.
    Tuned,
}

impl AlgorithmsArg {
    /// The name on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Users => "users",
            Self::BuiltIn => "built-in",
            Self::Tuned => "tuned",
            Self::All => "all",
        }
    }

    /// The teams that race.
    pub(super) fn teams(self) -> &'static [Chooses] {
        match self {
            Self::Users => &[Chooses::AsUsers],
            Self::BuiltIn => &[Chooses::BuiltIn],
            Self::Tuned => &[Chooses::Tuned],
            Self::All => &[Chooses::BuiltIn, Chooses::Tuned],
        }
    }
}

impl Chooses {
    /// The beginning of the name of such teams in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::AsUsers => "corecast",
            Self::BuiltIn => "corecast built-in",
            Self::Tuned => "corecast tuned",
        }
    }
}
