//! Teams of several processes: each of them brings some ranks, and together they are one team.

use crate::address::Address;
use crate::assembly::{Assembly, Kept};
use crate::error::EnterError;
use crate::inherited::inherited;
use crate::message::Hello;
use crate::rendezvous::enter;
use crate::segment_header::SegmentHeader;
use corecast_collectives::Plans;
use corecast_team::team_memory::{shared_bytes, spare_bytes};
use corecast_team::{Options, Team};
use corecast_wire::{Segment, shared_fence_kind};
use std::error::Error;
use std::os::fd::{AsFd, OwnedFd};

/// Makes teams of several processes, each of which brings some ranks.
#[derive(Debug)]
pub enum ProcessGroup {}

impl ProcessGroup {
    /// Meets other processes at `address` and becomes one team of `size` ranks with them. This process brings one
    /// rank for each of `requests`: a particular one, or any if it is `None`. Returns when all ranks have joined,
    /// at the latest after `options.join_limit`.
    ///
    /// The first process makes the memory and calls `plans` for all. Its slots, depth, back end, limits, order of
    /// reduction and algorithms apply to the whole team.
    ///
    /// # Errors
    ///
    /// [`EnterError`].
    ///
    /// # Cost
    ///
    /// That of a team of threads. Each rank has 256 KiB of bounce buffer in each operation context, reserved at
    /// once.
    ///
    /// # Examples
    ///
    /// Both ranks are in one process in this example, but the team is one of processes nevertheless:
    ///
    /// ```
    /// use corecast_process::{Address, ProcessGroup};
    /// use corecast_team::{Options, Plans};
    ///
    /// let address = Address::Name(format!("example-enter-{}", std::process::id()));
    /// let machine = corecast_model::synthetic("core:2").unwrap();
    /// let plans = || Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None);
    /// let team = ProcessGroup::enter(&address, 2, &[None, None], plans, &Options::default())?;
    /// let sums = team.run(|member| member.allreduce_value(member.rank() + 1, |a, b| a + b));
    /// assert_eq!(sums, [Ok(3), Ok(3)]);
    /// # Ok::<(), corecast_process::EnterError>(())
    /// ```
    pub fn enter<E>(
        address: &Address,
        size: usize,
        requests: &[Option<usize>],
        plans: impl FnOnce() -> Result<Plans, E>,
        options: &Options,
    ) -> Result<Team, EnterError>
    where
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        options.check(size)?;
        // A number that has no room in a message would become another one.
        let number = |rank: usize| {
            let number = u32::try_from(rank).ok().filter(|_| rank < size);
            number.ok_or(EnterError::Outside { rank, size })
        };
        let requests = requests
            .iter()
            .map(|requested| requested.map(number).transpose())
            .collect::<Result<_, _>>()?;
        let hello = Hello::new(size as u32, requests);
        let make = |_: &Hello| -> Result<OwnedFd, EnterError> {
            let plans = plans().map_err(|error| EnterError::Plans(error.into()))?;
            Self::found(&plans, options)
        };
        let limit = options.join_limit;
        let mut entered = enter(address, &hello, limit, make)?;
        let ranks: Vec<usize> = entered.ranks.iter().map(|&rank| rank as usize).collect();
        let (fd, met) = (entered.fd.as_fd(), (Some(address.clone()), None));
        let assembly = Assembly::attach(fd, Some(size), &ranks, options, met)?;
        entered.confirm()?;
        assembly.complete(entered.server.take())
    }

    /// Makes the memory of a team of processes. Returns its descriptor, which the creator hands to them for
    /// [`attach`](Self::attach).
    ///
    /// # Errors
    ///
    /// [`EnterError::Team`], [`EnterError::Segment`].
    pub fn found(plans: &Plans, options: &Options) -> Result<OwnedFd, EnterError> {
        Self::found_in_round(plans, options, 0)
    }

    /// [`found`](Self::found) of a team that is made in this round of a succession; 0 for one that follows no other.
    pub(crate) fn found_in_round(
        plans: &Plans,
        options: &Options,
        round: u64,
    ) -> Result<OwnedFd, EnterError> {
        options.check(plans.len())?;
        let sharing = options.sharing(plans.len());
        let bytes = SegmentHeader::bytes(plans, &options.algorithms)
            .saturating_add(shared_bytes(plans, options, sharing)?);
        let (segment, fd) = Segment::shared_with_spare(bytes, spare_bytes(plans.len(), options))?;
        SegmentHeader::write(&segment, plans, options, (shared_fence_kind(), round))?;
        Ok(fd)
    }

    /// Joins the team whose memory `fd` is, as `ranks`. Returns when all ranks have joined, at the latest after the
    /// team's join limit.
    ///
    /// # Errors
    ///
    /// [`EnterError`].
    pub fn attach(fd: impl AsFd, ranks: &[usize], options: &Options) -> Result<Team, EnterError> {
        Assembly::attach(fd.as_fd(), None, ranks, options, (None, None))?.complete(None)
    }

    /// Joins the team that the environment names, as `corecast run` sets it; `None` if the environment names none.
    ///
    /// # Errors
    ///
    /// [`EnterError`].
    pub fn inherited(options: &Options) -> Result<Option<Team>, EnterError> {
        let Some(place) = inherited()? else {
            return Ok(None);
        };
        let (rank, size) = (place.rank as usize, place.size as usize);
        let assembly =
            Assembly::attach(place.fd.as_fd(), Some(size), &[rank], options, (None, None))?;
        assembly.complete(None).map(Some)
    }

    /// The plans of a team of processes; `None` for a team that was made otherwise.
    pub fn plans(team: &Team) -> Option<&Plans> {
        Some(&team.kept::<Kept>()?.plans)
    }
}
