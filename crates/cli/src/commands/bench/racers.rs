//! Who races: Corecast's own teams, the floors and the peers.

use std::sync::Arc;

use corecast_bench::contestant::method;
use corecast_bench::cpu_placement::CpuPlacement;
use corecast_bench::forks::{self, Lines, Method};
use corecast_bench::peers::{self, Mpi};
use corecast_bench::sized::{Conditions, TEAMS_MAX, Task, Threads, Trial};
use corecast_bench::{
    Comparison, Contestant, Entrant, Exercise, Progress, Session, Settings, floor, race,
};
use corecast_model::Collective;
use corecast_tune::contest::{Contest, ContestError};

use super::own::{Own, OwnTeam};

type Result<T> = std::result::Result<T, ContestError>;

/// Those who race on given placements, for any operation.
pub(super) struct Racers<'a> {
    pub(super) contest: &'a Contest<'a>,
    pub(super) own: &'a Own,
    pub(super) placements: &'a [CpuPlacement],
    /// Corecast's own teams of processes.
    pub(super) processes: Vec<Arc<Session>>,
    /// Programs over MPI libraries.
    pub(super) mpi: Vec<Mpi>,
}

impl Racers<'_> {
    /// Races `task`. Also returns Corecast's own teams of threads, whose entries are the first ones.
    ///
    /// # Errors
    ///
    /// A team cannot be made.
    pub(super) fn race(
        &self,
        task: Task,
        conditions: Conditions,
        settings: &Settings,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(Comparison, Vec<OwnTeam>)> {
        let teams = self.own.racing(task.operation, task.bytes);
        let is_barrier = task.operation == Collective::Barrier;
        let mut entrants = Vec::new();
        for team in &teams {
            entrants.push(team.placed(match is_barrier {
                true => Entrant::threads(self.barrier(team)?),
                false => Entrant::threads(sized(team, task, conditions)?),
            }));
        }
        let processes = self.processes.iter();
        entrants.extend(processes.map(|session| Entrant::session(Arc::clone(session), task)));
        entrants.extend(self.floors(task, conditions));
        if let (true, Some(selection)) = (is_barrier, self.contest.peers) {
            entrants.extend(peers::barriers(self.placements, selection));
        }
        entrants.extend(self.mpi.iter().flat_map(|mpi| mpi.entrants(task)));
        let title = task.to_string();
        let mut comparison = race::run(&title, self.placements, settings, &entrants, progress)?;
        if is_barrier {
            let how = method(Collective::Barrier, self.contest.oversubscribed());
            comparison.notes.push(how.to_owned());
        } else {
            comparison.task = Some(task);
            comparison.conditions = Some(conditions);
            comparison.notes.push(conditions.method());
        }
        Ok((comparison, teams))
    }

    /// A team's barrier, back to back.
    fn barrier(&self, team: &OwnTeam) -> Result<Contestant> {
        let exercise = Exercise {
            name: team.name.clone(),
            collective: Collective::Barrier,
            root: Task::ROOT,
            bytes: 0,
            usable: self.contest.usable,
            predicted_ns: None,
        };
        let planned = &team.planned;
        Contestant::with_options(exercise, &planned.plans, &planned.options)
            .map_err(ContestError::Team)
    }

    fn floors(&self, task: Task, conditions: Conditions) -> Vec<Entrant<'static>> {
        match task.operation {
            Collective::Barrier if task.ranks == 2 && !self.contest.oversubscribed() => {
                floor::barrier_floors().into()
            }
            Collective::Barrier => Vec::new(),
            // They rely on a barrier after each operation: without one they would overwrite what others still read.
            _ if conditions.is_loose() => Vec::new(),
            _ => {
                let lines = floor::lines(task, conditions).into_iter();
                lines.chain(floor::copies(task, conditions)).collect()
            }
        }
    }

    /// Races forks and joins: two barriers of each team, a broadcast and a reduction of it, shared lines, and the peers.
    ///
    /// # Errors
    ///
    /// A team cannot be made.
    pub(super) fn fork_join(
        &self,
        settings: &Settings,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Comparison> {
        let placements = self.placements;
        let mut entrants: Vec<Entrant<'_>> = Vec::new();
        for method in [Method::Barriers, Method::Trees] {
            for team in &self.own.teams {
                let (name, planned) = (team.name.clone(), &team.planned);
                let made =
                    forks::Team::with_options(name, method, &planned.plans, &planned.options);
                let made = made.map_err(ContestError::Team)?;
                entrants.push(team.placed(Entrant::threads(made)));
            }
        }
        let shared = self.contest.oversubscribed();
        entrants.push(Entrant::threads(Lines::new(placements.len(), shared)));
        if let Some(selection) = self.contest.peers {
            entrants.extend(forks::peers(placements, selection));
        }
        let mut comparison = race::run("fork_join", placements, settings, &entrants, progress)?;
        let method = "from the fork until rank 0 knows that every rank has done its piece of work, one store; back to back";
        comparison.notes.push(method.to_owned());
        Ok(comparison)
    }
}

/// A team's operation at one size.
fn sized(team: &OwnTeam, task: Task, conditions: Conditions) -> Result<Trial<Threads>> {
    let (name, planned) = (team.name.clone(), &team.planned);
    let (plans, options) = (&planned.plans, &planned.options);
    let threads = Threads::with_options(name, task, plans, options, TEAMS_MAX);
    Ok(Trial::new(
        threads.map_err(ContestError::Team)?,
        task,
        conditions,
    ))
}
