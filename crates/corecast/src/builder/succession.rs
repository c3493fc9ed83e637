//! The team that goes on after another one has lost ranks, over repaired plans.

use super::AskedThreads;
#[cfg(doc)]
use super::Builder;
use super::draft::TeamDraft;
use crate::choose::{Before, Choice};
use crate::error::Error;
use crate::team::Team;
use corecast_collectives::Plans;
use corecast_plan::RootChoice;
use corecast_process::{EnterError, Places, ProcessGroup, Survivors};
use corecast_team::{Loss, Progress};

/// A team that follows one that has lost ranks.
#[derive(Debug)]
#[non_exhaustive]
pub struct Successor {
    /// The team.
    pub team: Team,
    /// The ranks that have gone on, by their numbers in the team before, in increasing order. In a team
    /// [`without`](Team::without) the others, the n-th of them is rank n; in one that is [refilled](Team::refilled) each has
    /// kept its number.
    pub ranks: Vec<usize>,
    /// How far each rank of the team before has come: the operation that it began last and its call site, how many have
    /// completed, and which have failed.
    pub progress: Vec<Progress>,
}

impl Successor {
    /// The number of operations, from the first one on, that have completed on all ranks that have gone on. Any later one
    /// may have failed on some of them.
    ///
    /// # Examples
    ///
    /// ```
    /// let team = corecast::team(2)?;
    /// team.run(|member| (0..3).for_each(|_| member.barrier().unwrap()));
    /// let next = team.without(&[1])?;
    /// assert_eq!((next.ranks.as_slice(), next.completed()), (&[0][..], 3));
    /// # Ok::<(), corecast::Error>(())
    /// ```
    pub fn completed(&self) -> u64 {
        let ended = self.ranks.iter().map(|&rank| {
            let ended = self.progress[rank].ended.as_ref();
            ended.map_or(0, |ended| ended.completed)
        });
        ended.min().unwrap_or(0)
    }
}

impl Team {
    /// Goes on without some ranks: those in `leaving`, those whose thread panicked, and in a team of processes those whose
    /// process has ended or has dropped its team. The others keep their order and their PUs, and move up. Plans are
    /// repaired rather than made anew, so most lines stay where they are; see [`repair`](crate::plan::repair).
    ///
    /// The team need not have failed: a rank may leave because it is no longer needed. All members must have left before,
    /// in all processes. In a team of processes each process that lives calls this, at about the same time, with the ranks
    /// of its own that leave; they agree on who goes on, also if some of them end meanwhile.
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] where nobody is left, [`EnterError::AllLeave`] where nobody is of this process; [`Error::Enter`] with [`EnterError::Joined`] for a member that has not left,
    /// and with [`EnterError::Undecided`] where a process does not come within [`join_limit`](Builder::join_limit); the
    /// errors of [`Builder::build`] and [`Builder::enter`].
    ///
    /// # Panics
    ///
    /// If a rank in `leaving` is none of this process.
    ///
    /// # Cost
    ///
    /// That of [`Builder::build`], but some milliseconds at most for plans; between processes the time until all have
    /// called it, and have noticed who is lost: a tenth of a second at most.
    ///
    /// # Examples
    ///
    /// ```
    /// let team = corecast::team(4)?;
    /// team.run(|member| member.barrier().unwrap());
    /// let next = team.without(&[1])?;
    /// assert_eq!(next.ranks, [0, 2, 3]);
    /// let sums = next.team.run(|member| member.allreduce_value(1, |a, b| a + b));
    /// assert_eq!(sums, [Ok(3), Ok(3), Ok(3)]);
    /// # Ok::<(), corecast::Error>(())
    /// ```
    #[track_caller]
    pub fn without(&self, leaving: &[usize]) -> Result<Successor, Error> {
        let own = self.ranks();
        if let Some(rank) = leaving.iter().find(|rank| !own.contains(rank)) {
            panic!("rank {rank} is not of this process, whose ranks are {own:?}");
        }
        self.succeed(leaving, Places::Closed)
    }

    /// Goes on with as many ranks: others take the places of those that were lost, and the plans stay as they are. In a team
    /// of threads these are new threads. In a team of processes each process that lives calls this, and other processes
    /// [`enter`](Builder::enter) a team at the same address, of the same size, and ask for the ranks that were lost. (One that
    /// takes any rank may come first, and take a survivor's.)
    ///
    /// # Errors
    ///
    /// As of [`without`](Self::without), and [`EnterError::NoAddress`] for a team that a launcher has made.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::panic::{AssertUnwindSafe, catch_unwind};
    ///
    /// let team = corecast::team(2)?;
    /// let lost = catch_unwind(AssertUnwindSafe(|| {
    ///     team.run(|member| match member.rank() {
    ///         0 => drop(member.barrier()),
    ///         _ => std::panic::resume_unwind(Box::new("lost")),
    ///     })
    /// }));
    /// assert!(lost.is_err() && team.failure().is_some());
    /// let next = team.refilled()?;
    /// assert_eq!(next.ranks, [0]);
    /// assert!(next.progress[0].ended.as_ref().is_some_and(|ended| ended.completed == 0));
    /// next.team.run(|member| member.barrier().unwrap());
    /// # Ok::<(), corecast::Error>(())
    /// ```
    pub fn refilled(&self) -> Result<Successor, Error> {
        self.succeed(&[], Places::Refilled)
    }

    fn succeed(&self, leaving: &[usize], places: Places) -> Result<Successor, Error> {
        match ProcessGroup::plans(&self.team) {
            Some(_) => self.succeed_with_processes(leaving, places),
            None => self.succeed_with_threads(leaving, places),
        }
    }

    fn succeed_with_threads(&self, leaving: &[usize], places: Places) -> Result<Successor, Error> {
        let all = 0..self.size();
        if let Some(rank) = all.clone().find(|&rank| self.team.is_joined(rank)) {
            return Err(EnterError::Joined { rank }.into());
        }
        let progress: Vec<Progress> = all.map(|rank| self.team.progress(rank)).collect();
        let stays = |progress: &&Progress| {
            progress.lost != Some(Loss::Panicked) && !leaving.contains(&progress.rank)
        };
        let staying = progress.iter().filter(stays);
        let ranks: Vec<usize> = staying.map(|progress| progress.rank).collect();
        let next = self.next(&ranks, places, None)?;
        let (choices, plans) = next.plans(self)?;
        let team = corecast_team::Team::with_options(plans.clone(), &next.draft.options)?;
        Ok(Successor {
            team: next.draft.finish(team, choices, plans),
            ranks,
            progress,
        })
    }

    fn succeed_with_processes(
        &self,
        leaving: &[usize],
        places: Places,
    ) -> Result<Successor, Error> {
        let limit = self.builder.options.join_limit;
        loop {
            let survivors = Survivors::agree(&self.team, leaving, places, limit)?;
            let (ranks, progress) = (survivors.ranks().to_vec(), survivors.progress());
            let next = self.next(&ranks, places, Some(survivors.size()))?;
            let mut choices = Vec::new();
            let plans = || -> Result<_, Error> {
                let (chosen, plans) = next.plans(self)?;
                choices = chosen;
                Ok(plans)
            };
            if let Some(team) = survivors.enter(plans, &next.draft.options)? {
                let team = next.draft.finish_processes(team, choices);
                return Ok(Successor {
                    team,
                    ranks,
                    progress,
                });
            }
        }
    }

    /// The next team before its plans are made. `size` is the number of its ranks if it is one of processes.
    fn next(&self, ranks: &[usize], places: Places, size: Option<usize>) -> Result<Next, Error> {
        let pus = self.pus();
        let (staying, rank_pus) = match places {
            Places::Closed => (
                ranks.to_vec(),
                ranks.iter().map(|&rank| pus[rank]).collect(),
            ),
            Places::Refilled => ((0..pus.len()).collect(), pus),
        };
        let mut builder = self.builder.clone();
        builder.ranks = Some(AskedThreads::Exactly(rank_pus));
        if let RootChoice::Rank(root) = builder.preferences.root {
            // A root that was asked for and is lost leaves the choice to the plans.
            let root = staying.binary_search(&root);
            builder.preferences.root = root.map_or(RootChoice::Auto, RootChoice::Rank);
        }
        Ok(Next {
            draft: builder.draft(size)?,
            staying,
        })
    }
}

/// A team that follows another, before its plans are made.
struct Next {
    draft: TeamDraft,
    /// The ranks of the team before whose places are its own.
    staying: Vec<usize>,
}

impl Next {
    /// The plans of `team` for those that stay.
    fn plans(&self, team: &Team) -> Result<(Vec<Choice>, Plans), Error> {
        let pattern_of = |choice: &Choice| (choice.operation, choice.chosen().pattern);
        let patterns: Vec<_> = team.choices.iter().map(pattern_of).collect();
        self.draft.choose(Some(&Before {
            plans: &team.plans,
            patterns: &patterns,
            costs: team.costs.both_ways(),
            staying: &self.staying,
        }))
    }
}
