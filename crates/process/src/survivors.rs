//! [`Survivors`]: the ranks with which a team of processes goes on that has lost others.

use crate::address::Address;
use crate::assembly::{Assembly, Kept};
use crate::backoff::Backoff;
use crate::error::EnterError;
use crate::message::Hello;
use crate::process_group::ProcessGroup;
use crate::rendezvous::{Entered, enter};
use crate::succession::{Places, Refused, Round, Votes};
use corecast_collectives::Plans;
use corecast_team::{Ended, Options, Progress, Team};
use corecast_wire::sync::mutated;
use std::error::Error;
use std::os::fd::AsFd;
use std::time::Duration;

/// The ranks with which a team of processes goes on that has lost others. All processes that live have agreed on them.
#[derive(Debug)]
pub struct Survivors<'t> {
    team: &'t Team,
    kept: &'t Kept,
    round: Round,
    ranks: Vec<usize>,
    backoff: Backoff,
}

impl<'t> Survivors<'t> {
    /// Agrees with all other processes of `team` that live on who goes on, within `limit`: all ranks but those whose
    /// process has ended or has dropped the team, and those that their own process names as `leaving`. Each process calls
    /// this once, with the same `places`, after its members have left.
    ///
    /// # Errors
    ///
    /// [`EnterError`]. After [`EnterError::Undecided`] the call can be repeated.
    pub fn agree(
        team: &'t Team,
        leaving: &[usize],
        places: Places,
        limit: Duration,
    ) -> Result<Self, EnterError> {
        let kept: &Kept = team.kept().ok_or(EnterError::OneProcess)?;
        if places == Places::Refilled && kept.address.is_none() {
            return Err(EnterError::NoAddress);
        }
        if let Some(&rank) = kept.ranks.iter().find(|&&rank| team.is_joined(rank)) {
            return Err(EnterError::Joined { rank });
        }
        let ballots = &*kept.header;
        if kept.ranks.iter().all(|rank| leaving.contains(rank)) {
            if !mutated!(LeavesUntold) {
                kept.ranks.iter().for_each(|&rank| ballots.drop_rank(rank));
            }
            return Err(EnterError::AllLeave);
        }
        for &rank in &kept.ranks {
            // A rank that nobody joined has completed nothing.
            let completed = team.progress(rank).ended.unwrap_or_default().completed;
            ballots.set_completed(rank, completed);
        }
        let mut backoff = Backoff::new(limit);
        let arrive = || match Round::arrive(ballots, &kept.ranks, leaving, places) {
            Ok(round) => Ok(round),
            Err(Refused::Done) => Err(EnterError::Succeeded),
            Err(Refused::Excluded(rank)) => Err(EnterError::Excluded { rank }),
        };
        let mut round = arrive()?;
        loop {
            // A vote may be of a later round. If that has not begun, something else has written it, and the limit ends this.
            let rank = match round.votes(ballots) {
                Votes::Members(ranks) => {
                    return Ok(Self {
                        team,
                        kept,
                        round,
                        ranks,
                        backoff,
                    });
                }
                Votes::GivenUp => {
                    let next = arrive()?;
                    if next != round {
                        round = next;
                        continue;
                    }
                    kept.ranks[0]
                }
                Votes::Differs(rank) => return Err(EnterError::Differs { rank }),
                Votes::Missing(rank) => rank,
            };
            let undecided = |waited| EnterError::Undecided { rank, waited };
            backoff.rest().map_err(undecided)?;
        }
    }

    /// The ranks that go on, by their numbers in the team before, in increasing order.
    pub fn ranks(&self) -> &[usize] {
        &self.ranks
    }

    /// Number of ranks of the next team.
    pub fn size(&self) -> usize {
        match self.round.places {
            Places::Closed => self.ranks.len(),
            Places::Refilled => self.team.size(),
        }
    }

    /// How far each rank of the team before has come.
    pub fn progress(&self) -> Vec<Progress> {
        let of = |rank| {
            let progress = self.team.progress(rank);
            let of_other = || {
                let completed = self.kept.header.completed(rank)?;
                let failed = Vec::new();
                Some(Ended { completed, failed })
            };
            let ended = progress.ended.clone().or_else(of_other);
            Progress { ended, ..progress }
        };
        (0..self.team.size()).map(of).collect()
    }

    /// Becomes the next team, together with the other processes, and with those that take lost places where these are
    /// [refilled](Places::Refilled). In a team without the lost ranks the others keep their order, and move up. Returns
    /// `None` if one of the survivors has ended meanwhile: then all of them [agree](Self::agree) again.
    ///
    /// The first process makes the memory and calls `plans`, as in [`ProcessGroup::enter`].
    ///
    /// # Errors
    ///
    /// [`EnterError`]. All processes get one, and may agree again.
    pub fn enter<E>(
        self,
        plans: impl FnOnce() -> Result<Plans, E>,
        options: &Options,
    ) -> Result<Option<Team>, EnterError>
    where
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        let ballots = &*self.kept.header;
        self.try_enter(plans, options).or_else(|error| {
            let is_over = self.round.is_over(ballots, &self.ranks);
            let is_done = self.round.decide(ballots, false);
            // An end that all notice is no error of the one whom it has hit first.
            match is_over && !is_done {
                true => Ok(None),
                false => Err(error),
            }
        })
    }

    fn try_enter<E>(
        &self,
        plans: impl FnOnce() -> Result<Plans, E>,
        options: &Options,
    ) -> Result<Option<Team>, EnterError>
    where
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        let size = self.size();
        options.check(size)?;
        let new_rank = |rank: &usize| match self.round.places {
            Places::Closed => self.ranks.binary_search(rank).ok(),
            Places::Refilled => self.ranks.contains(rank).then_some(*rank),
        };
        let own: Vec<usize> = self.kept.ranks.iter().filter_map(new_rank).collect();
        let requests = own.iter().map(|&rank| Some(rank as u32)).collect();
        let hello = Hello::new(size as u32, requests);
        let address = self.address()?;
        let mut plans = Some(plans);
        let mut backoff = self.backoff.anew();
        let (entered, assembly) = loop {
            let make = |_: &Hello| {
                let plans = plans
                    .take()
                    .expect("memory that was made here is of this round");
                let plans = plans().map_err(|error| EnterError::Plans(error.into()))?;
                ProcessGroup::found_in_round(&plans, options, self.mark())
            };
            let mut entered = enter(&address, &hello, backoff.left(), make)?;
            let met = (self.kept.address.clone(), Some(self.mark()));
            match Assembly::attach(entered.fd.as_fd(), Some(size), &own, options, met) {
                Ok(assembly) => {
                    // If the server is gone, it gives this process's ranks to nobody else, and whether the team becomes
                    // complete is seen in its memory.
                    let _ = entered.confirm();
                    break (entered, assembly);
                }
                // Whoever answered is about to give up another round.
                Err(EnterError::OtherRound) => {
                    if self.round.is_over(&*self.kept.header, &self.ranks) {
                        return Ok(None);
                    }
                    self.rest(&mut backoff, 0)?;
                }
                Err(error) => return Err(error),
            }
        };
        self.complete(entered, assembly)
    }

    /// Waits until all have registered, or one of the survivors has ended.
    fn complete(&self, entered: Entered, assembly: Assembly) -> Result<Option<Team>, EnterError> {
        let mut backoff = self.backoff.anew();
        loop {
            let missing = assembly.missing();
            match self
                .round
                .look(&*self.kept.header, &self.ranks, || missing.is_none())
            {
                Some(true) => return assembly.team(entered.server).map(Some),
                Some(false) => return Ok(None),
                None => self.rest(&mut backoff, missing.unwrap_or(0))?,
            }
        }
    }

    /// Sleeps until the next look, unless the limit has passed while rank `rank` of the next team is missing.
    fn rest(&self, backoff: &mut Backoff, rank: usize) -> Result<(), EnterError> {
        let size = self.size();
        let missing = |waited| EnterError::Missing { rank, size, waited };
        backoff.rest().map_err(missing)
    }

    /// The mark of this round in the memory of the next team.
    fn mark(&self) -> u64 {
        self.kept.header.id().wrapping_add(self.round.number).max(1)
    }

    /// The address of the next team. One that others enter is that of the team before, which is free again.
    fn address(&self) -> Result<Address, EnterError> {
        match (self.round.places, &self.kept.address) {
            (Places::Refilled, Some(address)) => Ok(address.clone()),
            (Places::Refilled, None) => Err(EnterError::NoAddress),
            (Places::Closed, Some(Address::Path(path))) => {
                let mut next = path.clone().into_os_string();
                next.push(format!(".{}", self.round.number));
                Ok(Address::Path(next.into()))
            }
            (Places::Closed, _) => Ok(Address::Name(format!("corecast-next-{:016x}", self.mark()))),
        }
    }
}
