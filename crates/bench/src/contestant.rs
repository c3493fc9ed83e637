//! Corecast's own operations as engines: the calls that users make, over a plan under test.
//!
//! | operation | what is timed | how consecutive operations are separated |
//! | --- | --- | --- |
//! | barrier, allreduce | operations back to back | none ends before all ranks have entered it |
//! | broadcast | root: broadcast, until the last rank has answered | the root starts the next when it has the answer |
//! | reduce | root: signal to all, until it has the result | the others start at the root's signal |
//!
//! A loop of bare broadcasts would time a pipeline: the root may be many operations ahead of the
//! leaves. So the rank that is last to receive answers on a cache line of its own, as in Smelt
//! §5.1; trials before the race find this rank. The answer's way (or the signal's) does not belong
//! to the operation: where every rank has its own PU, half of a round trip over the same two lines,
//! timed in the same batch, is subtracted. Where ranks share PUs the way depends on the scheduler,
//! and nothing is subtracted.
//!
//! Each contestant has several teams, and takes the next one each batch, so that no plan wins or
//! loses by where its cache lines happened to lie: see [`crate::floor::PLACES`].

mod check;
mod collective;
mod lines;
mod member;
mod teams;

pub use collective::{ELEMENT_BYTES, PLANNED, method};
pub use teams::{Contestant, Exercise};

use crate::engine::{Engine, Flaw, Ledger, Member, Role};
use corecast_team::Team;
use member::ContestantRank;
use std::time::Duration;

impl Engine for Contestant {
    fn name(&self) -> &str {
        &self.exercise.name
    }

    fn setting(&self) -> String {
        self.setting.clone()
    }

    fn role(&self) -> Role {
        Role::Corecast
    }

    fn ranks(&self) -> usize {
        self.teams[0].size()
    }

    fn predicted_ns(&self) -> Option<f64> {
        self.exercise.predicted_ns
    }

    fn algorithm(&self) -> Option<String> {
        self.ran.get().map(ToString::to_string)
    }

    fn teams(&self) -> usize {
        self.teams.len()
    }

    fn failure(&self) -> Option<String> {
        let failure = self.teams.iter().find_map(Team::failure);
        failure.map(|failure| failure.to_string())
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        Box::new(ContestantRank::join(self, rank))
    }
}

impl Member for ContestantRank<'_> {
    fn run(&mut self, operations: u64) {
        self.measure(operations);
    }

    fn measure(&mut self, operations: u64) -> Option<Duration> {
        // The team keeps its failure, which the race reads through `Engine::failure`.
        self.repeat(operations).unwrap_or_else(|_| {
            self.give_up();
            None
        })
    }

    fn turn(&mut self) {
        self.place = (self.place + 1) % self.members.len();
    }

    fn verify(&mut self, rank: usize, ledger: &Ledger) -> Result<(), Flaw> {
        let checked = check::verify(self, rank, ledger);
        if checked.is_err() {
            self.give_up();
        }
        checked
    }
}
