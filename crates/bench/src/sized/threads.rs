//! Corecast's team of threads.

use super::library::{Library, Player};
use super::operation::{Operation, Task};
use crate::engine::Role;
use corecast_coll::{Failure, Member, Options, Plans, Team, TeamError};
use corecast_wire::Policy;
use std::hint::black_box;

/// Most teams of one contestant: each batch takes the next one, so that no plan wins or loses by
/// where its lines happened to lie.
const TEAMS_MAX: usize = 8;

/// Ranks in all teams together, unless a single team has more.
const RANKS_TOGETHER: usize = 256;

/// A team of threads over given plans. Serves one race: its ranks are joined once.
#[derive(Debug)]
pub struct Threads {
    name: String,
    task: Task,
    teams: Vec<Team>,
}

impl Threads {
    /// Teams that run `plans`, their ranks on `usable` hardware threads.
    ///
    /// # Errors
    ///
    /// [`TeamError`].
    ///
    /// # Panics
    ///
    /// If a team cannot do the operation (see [`does`](Self::does)), or the plans are for another
    /// number of ranks.
    pub fn new(
        name: impl Into<String>,
        task: Task,
        plans: &Plans,
        usable: usize,
    ) -> Result<Threads, TeamError> {
        assert!(Self::does(task.operation), "{} by threads", task.operation);
        assert_eq!(plans.len(), task.ranks, "plans for another team");
        let options = Options {
            policy: Some(Policy::for_team(task.ranks, usable)),
            ..Options::default()
        };
        let teams = (RANKS_TOGETHER / task.ranks).clamp(1, TEAMS_MAX);
        let teams = (0..teams).map(|_| Team::with_options(plans.clone(), &options));
        Ok(Threads {
            name: name.into(),
            task,
            teams: teams.collect::<Result<_, _>>()?,
        })
    }

    /// Whether a team of threads has `operation`.
    pub fn does(operation: Operation) -> bool {
        matches!(
            operation,
            Operation::Barrier | Operation::Broadcast | Operation::Reduce | Operation::Allreduce
        )
    }
}

impl Library for Threads {
    fn name(&self) -> &str {
        &self.name
    }

    fn setting(&self) -> String {
        "threads, in place".to_owned()
    }

    fn role(&self) -> Role {
        Role::Corecast
    }

    fn player<'a>(&'a self, rank: usize) -> Box<dyn Player + 'a> {
        let joined = self.teams.iter().map(|team| team.join(rank));
        Box::new(Seated {
            operation: self.task.operation,
            members: joined
                .collect::<Result<_, _>>()
                .expect("a contestant serves one race"),
            team: 0,
            data: vec![vec![0.0; self.task.count()]; self.task.places()],
        })
    }
}

/// One rank in all teams.
struct Seated {
    operation: Operation,
    members: Vec<Member>,
    /// The team that plays now.
    team: usize,
    data: Vec<Vec<f64>>,
}

fn told(outcome: Result<(), Failure>) -> Result<(), String> {
    outcome.map_err(|failure| failure.to_string())
}

impl Player for Seated {
    fn barrier(&mut self) -> Result<(), String> {
        told(self.members[self.team].barrier())
    }

    fn prepare(&mut self, place: usize, write: &mut dyn FnMut(&mut [f64])) {
        write(&mut self.data[place]);
    }

    fn perform(&mut self, place: usize) -> Result<(), String> {
        let (member, data) = (&mut self.members[self.team], &mut self.data[place][..]);
        let sum = |a: f64, b: f64| a + b;
        told(match self.operation {
            Operation::Broadcast => member.broadcast(Task::ROOT, data),
            Operation::Reduce => member.reduce(Task::ROOT, data, sum),
            Operation::Allreduce => member.allreduce(data, sum),
            _ => member.barrier(),
        })?;
        black_box(data);
        Ok(())
    }

    fn result(&mut self, place: usize, read: &mut dyn FnMut(&[f64])) {
        read(&self.data[place]);
    }

    fn turn(&mut self) {
        self.team = (self.team + 1) % self.members.len();
    }
}
