//! The provider for engines that have a barrier and nothing else.

use super::table::TableRank;
use super::{Provider, SyncBackend, Table};
use crate::engine::{Engine, Role};

/// Any engine whose operation is a barrier, with a table for the values that ranks combine.
pub struct OverBarrier<'e> {
    engine: Box<dyn Engine + 'e>,
    table: Table,
}

impl<'e> OverBarrier<'e> {
    /// Creates a provider whose ranks synchronise by the barrier of `engine`.
    pub fn new(engine: Box<dyn Engine + 'e>) -> Self {
        let table = Table::new(engine.ranks());
        Self { engine, table }
    }
}

impl Provider for OverBarrier<'_> {
    fn name(&self) -> &str {
        self.engine.name()
    }

    fn setting(&self) -> String {
        self.engine.setting()
    }

    fn role(&self) -> Role {
        self.engine.role()
    }

    fn ranks(&self) -> usize {
        self.engine.ranks()
    }

    fn failure(&self) -> Option<String> {
        self.engine.failure()
    }

    fn backend<'a>(&'a self, rank: usize) -> Box<dyn SyncBackend + 'a> {
        let mut member = self.engine.member(rank);
        Box::new(TableRank::new(&self.table, rank, move || {
            member.run(1);
            Ok(())
        }))
    }
}
