//! The values of `corecast bench --op`.

use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use corecast_model::Collective;

/// The operations or programs that race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpArg {
    One(Collective),
    All,
    ForkJoin,
    Message,
}

impl OpArg {
    /// The name on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::One(operation) => operation.name(),
            Self::All => "all",
            Self::ForkJoin => "fork_join",
            Self::Message => "message",
        }
    }

    /// The collective operations that it stands for.
    pub(super) fn operations(self) -> Vec<Collective> {
        match self {
            Self::One(operation) => vec![operation],
            Self::All => Collective::ALL.into(),
            Self::ForkJoin | Self::Message => Vec::new(),
        }
    }
}

impl ValueEnum for OpArg {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<OpArg>> = LazyLock::new(|| {
            let each = Collective::ALL.map(OpArg::One);
            let more = [OpArg::All, OpArg::ForkJoin, OpArg::Message];
            [&each[..], &more].concat()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let value = PossibleValue::new(self.name());
        Some(match self {
            Self::One(_) => value,
            Self::All => value.help("All of the above, one table for each and for each size"),
            Self::ForkJoin => value.help(
                "One rank has all of them work and waits for them: parallel loops, without the work",
            ),
            Self::Message => value.help(
                "A message between the first two ranks, beside the probe and core-to-core-latency",
            ),
        })
    }
}
