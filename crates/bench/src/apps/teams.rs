//! Corecast's teams as providers.

use super::table::TableRank;
use super::{Lost, Provider, SyncBackend, Table};
use crate::engine::Role;
use corecast_collectives::Plans;
use corecast_collectives::operator::{Min, Sum};
use corecast_team::{Failure, Member, Options, Team, TeamError};
use corecast_wire::WaitConfig;

/// How the ranks of a team synchronise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// By the barrier alone, with values in a table: as in a program whose barrier is replaced.
    Barrier,
    /// By `allreduce`, `broadcast` and `reduce`, without a table.
    Collectives,
}

/// A team of Corecast. It serves one race, since it is joined once.
#[derive(Debug)]
pub struct Teams {
    name: String,
    means: Means,
    team: Team,
    table: Table,
}

impl Teams {
    /// Creates a team that runs `plans`, made with `options`.
    ///
    /// # Errors
    ///
    /// [`TeamError`] if the team cannot be made.
    pub fn new(
        name: impl Into<String>,
        means: Means,
        plans: &Plans,
        options: &Options,
    ) -> Result<Teams, TeamError> {
        Ok(Teams {
            name: name.into(),
            means,
            team: Team::with_options(plans.clone(), options)?,
            table: Table::new(plans.len()),
        })
    }
}

impl Provider for Teams {
    fn name(&self) -> &str {
        &self.name
    }

    fn setting(&self) -> String {
        let means = match self.means {
            Means::Barrier => "barrier and table",
            Means::Collectives => "broadcast, reduce, allreduce",
        };
        format!("{means}, {}", waits(self.team.wait_config()))
    }

    fn role(&self) -> Role {
        Role::Corecast
    }

    fn ranks(&self) -> usize {
        self.team.size()
    }

    fn failure(&self) -> Option<String> {
        self.team.failure().map(|failure| failure.to_string())
    }

    fn backend<'a>(&'a self, rank: usize) -> Box<dyn SyncBackend + 'a> {
        let joined = self.team.join(rank);
        let mut member = joined.expect("a team serves one race");
        match self.means {
            Means::Collectives => Box::new(Collectives { member, count: 0 }),
            Means::Barrier => {
                // Called through a pointer, as the barriers of all other providers are.
                let pass: Box<dyn FnMut() -> Result<(), Lost>> =
                    Box::new(move || member.barrier().map_err(lost));
                Box::new(TableRank::new(&self.table, rank, pass))
            }
        }
    }
}

/// How ranks wait, in words.
fn waits(wait_config: WaitConfig) -> String {
    if wait_config == WaitConfig::SPIN {
        return "spins".to_owned();
    }
    let us = |ns: u32| f64::from(ns) / 1e3;
    let phases = [
        (wait_config.spin_ns, "spins"),
        (wait_config.hardware_ns, "waits in the CPU"),
        (wait_config.yield_ns, "yields"),
    ];
    let phases = phases.into_iter().filter(|phase| phase.0 > 0);
    let mut words: Vec<String> = phases
        .map(|(ns, word)| format!("{word} {} µs", us(ns)))
        .collect();
    words.push(
        if wait_config.park {
            "sleeps"
        } else {
            "and again"
        }
        .to_owned(),
    );
    words.join(", ")
}

fn lost(failure: Failure) -> Lost {
    Lost(failure.to_string())
}

/// A rank that synchronises by collectives.
struct Collectives {
    member: Member,
    count: u64,
}

impl Collectives {
    fn count(&mut self) -> &mut Member {
        self.count += 1;
        &mut self.member
    }
}

impl SyncBackend for Collectives {
    fn barrier(&mut self) -> Result<(), Lost> {
        self.count().barrier().map_err(lost)
    }

    fn sum(&mut self, data: &mut [i64]) -> Result<(), Lost> {
        self.count().allreduce(data, Sum).map_err(lost)
    }

    fn min(&mut self, value: i64) -> Result<i64, Lost> {
        let mut least = [value];
        self.count().allreduce(&mut least, Min).map_err(lost)?;
        Ok(least[0])
    }

    fn fork(&mut self) -> Result<(), Lost> {
        self.count().broadcast_value(0, 0_u64).map_err(lost)?;
        Ok(())
    }

    fn join(&mut self) -> Result<(), Lost> {
        self.join_sum(0)?;
        Ok(())
    }

    fn join_sum(&mut self, value: i64) -> Result<i64, Lost> {
        let mut total = [value];
        self.count().reduce(0, &mut total, Sum).map_err(lost)?;
        Ok(total[0])
    }

    fn synchronisations(&self) -> u64 {
        self.count
    }
}
