//! Programs over any provider, as engines of a race.

use super::{Lost, Provider, SyncBackend};
use crate::engine::{Engine, Member, Role};
use std::sync::OnceLock;

/// A program whose ranks synchronise through a provider.
pub(crate) trait RankProgram: Sync {
    /// The part of the rank at `place`. Called once per rank, on the thread that will run it.
    fn part<'a>(&'a self, place: RankPosition<'a>) -> Box<dyn Member + 'a>;
}

/// A rank of a program, with its backend.
pub(crate) struct RankPosition<'a> {
    pub(crate) rank: usize,
    pub(crate) ranks: usize,
    /// The barriers and reductions of this rank.
    pub(crate) backend: Box<dyn SyncBackend + 'a>,
    lost: &'a OnceLock<String>,
}

impl RankPosition<'_> {
    /// Keeps the reason if ranks cannot synchronise any more. The other ranks get it from their own
    /// backends.
    pub(crate) fn note<T>(&self, outcome: Result<T, Lost>) -> Option<T> {
        outcome
            .map_err(|lost| self.lost.get_or_init(|| lost.0).len())
            .ok()
    }
}

/// A program over a provider. It serves as many races as the provider does.
pub(crate) struct Over<'p, P> {
    program: P,
    provider: Box<dyn Provider + 'p>,
    lost: OnceLock<String>,
}

impl<'p, P: RankProgram> Over<'p, P> {
    /// Creates an engine whose ranks run `program` and synchronise through `provider`.
    pub(crate) fn new(program: P, provider: Box<dyn Provider + 'p>) -> Self {
        Self {
            program,
            provider,
            lost: OnceLock::new(),
        }
    }
}

impl<P: RankProgram> Engine for Over<'_, P> {
    fn name(&self) -> &str {
        self.provider.name()
    }

    fn setting(&self) -> String {
        self.provider.setting()
    }

    fn role(&self) -> Role {
        self.provider.role()
    }

    fn ranks(&self) -> usize {
        self.provider.ranks()
    }

    fn failure(&self) -> Option<String> {
        let lost = self.lost.get().cloned();
        lost.or_else(|| self.provider.failure())
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        self.program.part(RankPosition {
            rank,
            ranks: self.provider.ranks(),
            backend: self.provider.backend(rank),
            lost: &self.lost,
        })
    }
}
