//! Teams of several processes.

use super::Builder;
use super::draft::TeamDraft;
use crate::choose::Choice;
use crate::error::Error;
use crate::team::Team;
use corecast_process::ProcessGroup;
use corecast_process::{Address, EnterError, inherited};
use std::os::fd::OwnedFd;

impl TeamDraft {
    /// [`TeamDraft::finish`] over a team of processes.
    pub(super) fn finish_processes(self, team: corecast_team::Team, choices: Vec<Choice>) -> Team {
        let plans = ProcessGroup::plans(&team).expect("it is a team of processes");
        let plans = plans.clone();
        self.finish(team, choices, plans)
    }
}

impl Builder {
    /// Meets other processes at `address` and makes one team of `size` ranks with them. This process has one
    /// rank for each entry of `requested_ranks`, which is a particular rank or `None` for any. Returns when all
    /// ranks are there, at the latest after [`join_limit`](Self::join_limit).
    ///
    /// The process that comes first plans for all, as [`build`](Self::build) does; its slots, depth,
    /// back end, limits, determinism and algorithms hold for all, too. Rank r has the r-th PU of the whole team,
    /// whichever process brings it, so all processes should be allowed to use the same PUs.
    ///
    /// # Errors
    ///
    /// [`Error::Enter`]; [`Error::Size`] where the builder was asked for another number of ranks;
    /// and those of [`build`](Self::build), which for the plans come inside of [`Error::Enter`].
    ///
    /// # Cost
    ///
    /// The cost of [`build`](Self::build), but only the first process plans; then the call waits until all ranks
    /// are there.
    /// 256 KiB where there are two ranks or up to 16 that share cores.
    ///
    /// # Examples
    ///
    /// Here both ranks are in one process, which uses the same shared memory as several would:
    ///
    /// ```
    /// use corecast::process::Address;
    ///
    /// let address = Address::Name(format!("example-{}", std::process::id()));
    /// let team = corecast::Builder::new().enter(&address, 2, &[None, Some(1)])?;
    /// assert_eq!(team.ranks(), [0, 1]);
    /// let sums = team.run(|member| member.allreduce_value(member.rank() + 1, |a, b| a + b));
    /// assert_eq!(sums, [Ok(3), Ok(3)]);
    /// # Ok::<(), corecast::Error>(())
    /// ```
    pub fn enter(
        self,
        address: &Address,
        size: usize,
        requested_ranks: &[Option<usize>],
    ) -> Result<Team, Error> {
        let draft = self.draft(Some(size))?;
        let mut choices = Vec::new();
        let plans = || -> Result<_, Error> {
            let (chosen, plans) = draft.choose(None)?;
            choices = chosen;
            Ok(plans)
        };
        let options = &draft.options;
        let team = ProcessGroup::enter(address, size, requested_ranks, plans, options)?;
        Ok(draft.finish_processes(team, choices))
    }

    /// Joins the team for which a launcher started this process; `None` without a launcher. See
    /// [`found`](Self::found) for what a launcher does.
    ///
    /// # Errors
    ///
    /// The errors of [`enter`](Self::enter).
    ///
    /// # Examples
    ///
    /// A program that is a team of processes under a launcher, and of threads without one:
    ///
    /// ```
    /// use corecast::Builder;
    ///
    /// let team = match Builder::new().inherited()? {
    ///     Some(team) => team,
    ///     None => Builder::new().threads(2).build()?,
    /// };
    /// team.run(|member| member.barrier().unwrap());
    /// # Ok::<(), corecast::Error>(())
    /// ```
    pub fn inherited(self) -> Result<Option<Team>, Error> {
        let Some(place) = inherited().map_err(EnterError::from)? else {
            return Ok(None);
        };
        // Costs grow with the square of the ranks, so an impossible size is refused before they are made.
        place.check()?;
        let draft = self.draft(Some(place.size as usize))?;
        let team = ProcessGroup::inherited(&draft.options)?;
        Ok(team.map(|team| draft.finish_processes(team, Vec::new())))
    }

    /// For launchers: chooses the plans of a team of `size` ranks and makes its memory. Each process
    /// is started with the descriptor, and with three variables of its environment:
    /// [`TEAM_FD`](crate::process::TEAM_FD), the descriptor's number there,
    /// [`TEAM_RANK`](crate::process::TEAM_RANK) and [`TEAM_SIZE`](crate::process::TEAM_SIZE). It
    /// calls [`inherited`](Self::inherited).
    ///
    /// # Errors
    ///
    /// The errors of [`enter`](Self::enter).
    ///
    /// # Examples
    ///
    /// ```
    /// let memory = corecast::Builder::new().found(2)?;
    /// let memory = std::process::Stdio::from(memory); // number 0 in a process with this as its input
    /// # drop(memory);
    /// # Ok::<(), corecast::Error>(())
    /// ```
    pub fn found(self, size: usize) -> Result<OwnedFd, Error> {
        let draft = self.draft(Some(size))?;
        let (_, plans) = draft.choose(None)?;
        Ok(ProcessGroup::found(&plans, &draft.options)?)
    }
}
