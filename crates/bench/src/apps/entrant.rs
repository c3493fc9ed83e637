//! An application as an entrant of a race: one operation is one solution.

use super::streamcluster::{self, Problem, SingleRank, Solution, Stream};
use super::{Lost, RankPosition, RankProgram};
use crate::engine::{Engine, Flaw, Ledger, Member, Role, verify_barrier};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

/// The task that all entrants of a race solve.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) problem: Problem,
    pub(super) stream: Stream,
    /// The solution that one rank alone finds.
    pub(super) expected: Solution,
}

impl Task {
    pub(super) fn new(problem: Problem) -> Result<Task, Lost> {
        let stream = Stream::random(&problem);
        let expected = streamcluster::solve(&problem, &stream, (0, 1), &mut SingleRank)?;
        Ok(Task {
            problem,
            stream,
            expected,
        })
    }
}

/// Solves a task over any provider.
pub(super) struct Solver<'t> {
    pub(super) task: &'t Task,
    /// Rank 0 stores here how many synchronisations a solution took.
    pub(super) synchronisations: &'t AtomicU64,
}

impl RankProgram for Solver<'_> {
    fn part<'a>(&'a self, place: RankPosition<'a>) -> Box<dyn Member + 'a> {
        Box::new(Solving {
            solver: self,
            place,
        })
    }
}

/// One rank of a [`Solver`].
struct Solving<'a> {
    solver: &'a Solver<'a>,
    place: RankPosition<'a>,
}

impl Solving<'_> {
    fn solve(&mut self) -> Result<Solution, Lost> {
        let (solver, task) = (self.solver, self.solver.task);
        let (rank, ranks) = (self.place.rank, self.place.ranks);
        let backend = self.place.backend.as_mut();
        let before = backend.synchronisations();
        let solution = streamcluster::solve(&task.problem, &task.stream, (rank, ranks), backend)?;
        if rank == 0 {
            let count = backend.synchronisations() - before;
            solver.synchronisations.store(count, Ordering::Relaxed);
        }
        Ok(solution)
    }
}

impl Member for Solving<'_> {
    fn run(&mut self, operations: u64) {
        for _ in 0..operations {
            let outcome = self.solve();
            if self.place.note(black_box(outcome)).is_none() {
                return;
            }
        }
    }

    fn turn(&mut self) {
        self.place.backend.turn();
    }

    fn verify(&mut self, rank: usize, ledger: &Ledger) -> Result<(), Flaw> {
        let mut lost = Ok(());
        let barrier = verify_barrier(rank, ledger, &mut |operations| {
            for _ in 0..operations {
                lost = lost.clone().and_then(|()| self.place.backend.barrier());
            }
        });
        let solved = lost.and_then(|()| self.solve());
        barrier?;
        match solved {
            Ok(solution) if solution == self.solver.task.expected => Ok(()),
            Ok(_) => Err(Flaw::WrongResult(
                "other centres than one rank finds".to_owned(),
            )),
            Err(lost) => Err(Flaw::WrongResult(lost.0)),
        }
    }
}

/// Rank 0 solves the task, the others have nothing to do.
pub(super) struct OneRank<'t> {
    pub(super) task: &'t Task,
    pub(super) ranks: usize,
}

impl Engine for OneRank<'_> {
    fn name(&self) -> &str {
        "one rank alone"
    }

    fn role(&self) -> Role {
        Role::Floor
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        Box::new(Single {
            task: self.task,
            idle: rank > 0,
        })
    }
}

struct Single<'t> {
    task: &'t Task,
    idle: bool,
}

impl Single<'_> {
    fn solve(&self) -> Result<Solution, Lost> {
        let task = self.task;
        streamcluster::solve(&task.problem, &task.stream, (0, 1), &mut SingleRank)
    }
}

impl Member for Single<'_> {
    fn run(&mut self, operations: u64) {
        for _ in 0..operations {
            if !self.idle {
                let _ = black_box(self.solve());
            }
        }
    }

    fn verify(&mut self, _rank: usize, _ledger: &Ledger) -> Result<(), Flaw> {
        match self.idle || self.solve().as_ref() == Ok(&self.task.expected) {
            true => Ok(()),
            false => Err(Flaw::WrongResult("other centres than before".to_owned())),
        }
    }
}
