//! Forks and joins by Corecast, and by hand over cache lines.

use super::{Forking, Pieces};
use crate::engine::{Engine, Member, Role};
use crate::floor::await_turn;
use corecast_collectives::Plans;
use corecast_model::Collective;
use corecast_team::{Failure, Options, TeamError};
use corecast_wire::{Line, WaitConfig};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// How a team forks and joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// A barrier before the work and one after it.
    Barriers,
    /// A broadcast before the work and a reduce after it: half as many messages.
    Trees,
}

/// A team of Corecast that forks and joins. It serves one race.
#[derive(Debug)]
pub struct Team {
    name: String,
    method: Method,
    team: corecast_team::Team,
    pieces: Pieces,
    /// The algorithms of its operations.
    algorithms: OnceLock<String>,
}

impl Team {
    /// Creates a team that runs `plans`, by built-in algorithms and waits, with its ranks on `usable` hardware threads.
    ///
    /// # Errors
    ///
    /// [`TeamError`] if the team cannot be made.
    pub fn new(
        name: impl Into<String>,
        method: Method,
        plans: &Plans,
        usable: usize,
    ) -> Result<Team, TeamError> {
        let options = Options {
            wait_config: Some(WaitConfig::for_team(plans.len(), usable)),
            ..Options::default()
        };
        Self::with_options(name, method, plans, &options)
    }

    /// Creates a team that runs `plans`, made with `options`.
    ///
    /// # Errors
    ///
    /// [`TeamError`] if the team cannot be made.
    pub fn with_options(
        name: impl Into<String>,
        method: Method,
        plans: &Plans,
        options: &Options,
    ) -> Result<Team, TeamError> {
        Ok(Team {
            name: name.into(),
            method,
            team: corecast_team::Team::with_options(plans.clone(), options)?,
            pieces: Pieces::new(plans.len()),
            algorithms: OnceLock::new(),
        })
    }
}

/// The algorithms that a member runs by this method.
fn algorithms(member: &corecast_team::Member, method: Method) -> String {
    let word = size_of::<u64>();
    let of = |collective| member.algorithm(collective, 0, word, word);
    match method {
        Method::Barriers => of(Collective::Barrier).to_owned(),
        Method::Trees => match (of(Collective::Broadcast), of(Collective::Reduce)) {
            (fork, join) if fork == join => fork.to_owned(),
            (fork, join) => format!("{fork}, {join}"),
        },
    }
}

impl Engine for Team {
    fn name(&self) -> &str {
        &self.name
    }

    fn setting(&self) -> String {
        match self.method {
            Method::Barriers => "two barriers".to_owned(),
            Method::Trees => "a broadcast and a reduce".to_owned(),
        }
    }

    fn role(&self) -> Role {
        Role::Corecast
    }

    fn ranks(&self) -> usize {
        self.team.size()
    }

    fn algorithm(&self) -> Option<String> {
        self.algorithms.get().cloned()
    }

    fn failure(&self) -> Option<String> {
        self.team.failure().map(|failure| failure.to_string())
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        let joined = self.team.join(rank);
        let mut member = joined.expect("a team serves one race");
        let (pieces, method) = (&self.pieces, self.method);
        self.algorithms.get_or_init(|| algorithms(&member, method));
        let mut fork = move || -> Result<(), Failure> {
            match method {
                Method::Barriers => {
                    member.barrier()?;
                    pieces.work(rank);
                    member.barrier()
                }
                Method::Trees => {
                    let mut word = [0_u64];
                    member.broadcast(0, &mut word)?;
                    pieces.work(rank);
                    member.reduce(0, &mut word, |a, b| a | b)
                }
            }
        };
        Box::new(Forking::new(rank, pieces, move |operations| {
            // The team keeps its failure, which the race reads through `Engine::failure`.
            let _ = (0..operations).try_for_each(|_| fork());
        }))
    }
}

/// A hand-written floor: a cache line from rank 0 to each other rank, and one back.
#[derive(Debug)]
pub struct Lines {
    oversubscribed: bool,
    pieces: Pieces,
    /// By rank, the number of the fork that it may start; `done` has the last one that it has done.
    go: Box<[Line<AtomicU64>]>,
    done: Box<[Line<AtomicU64>]>,
}

impl Lines {
    /// Creates lines for `ranks` ranks; `oversubscribed` if they share hardware threads.
    pub fn new(ranks: usize, oversubscribed: bool) -> Lines {
        let lines = || (0..ranks).map(|_| Line::default()).collect();
        Lines {
            oversubscribed,
            pieces: Pieces::new(ranks),
            go: lines(),
            done: lines(),
        }
    }

    #[inline(always)]
    fn wait(&self, line: &AtomicU64, number: u64) {
        await_turn(line, number, self.oversubscribed);
    }

    fn lead(&self, number: u64) {
        let (go, done) = (&self.go[1..], &self.done[1..]);
        go.iter()
            .for_each(|line| line.store(number, Ordering::Release));
        self.pieces.work(0);
        done.iter().for_each(|line| self.wait(line, number));
    }

    fn follow(&self, rank: usize, number: u64) {
        self.wait(&self.go[rank], number);
        self.pieces.work(rank);
        self.done[rank].store(number, Ordering::Release);
    }
}

impl Engine for Lines {
    fn name(&self) -> &str {
        "floor: a line each way"
    }

    fn role(&self) -> Role {
        Role::Floor
    }

    fn ranks(&self) -> usize {
        self.go.len()
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        let mut number = 0;
        Box::new(Forking::new(rank, &self.pieces, move |operations| {
            for _ in 0..operations {
                number += 1;
                match rank {
                    0 => self.lead(number),
                    _ => self.follow(rank, number),
                }
            }
        }))
    }
}
