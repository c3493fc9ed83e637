//! Teams of several processes: each of them brings some ranks, and together they are one team.

use crate::address::Address;
use crate::error::EnterError;
use crate::inherited::inherited;
use crate::message::Hello;
use crate::peer_monitor::{Keeping, Peer, Watch, born, keep_mark, watch_peer};
use crate::process_stat::Namespaces;
use crate::rendezvous::enter;
use crate::rendezvous_server::RendezvousServer;
use crate::segment_header::{Facts, Owner, SegmentHeader};
use crate::transfer_path::{Word, try_all};
use corecast_collectives::Plans;
use corecast_team::team_memory::{TeamMemory, shared_bytes};
use corecast_team::{Options, OwnPart, Team};
use corecast_wire::sync::{Instant, process_id, sleep};
use corecast_wire::{Segment, WaitConfig, shared_fence_kind};
use std::error::Error;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

/// The resources that live as long as a process's part of a team.
#[derive(Debug)]
struct Kept {
    _word: Word,
    _keeping: Option<Keeping>,
    _watches: Vec<Watch>,
    _server: Option<RendezvousServer>,
}

/// Makes teams of several processes, each of which brings some ranks.
#[derive(Debug)]
pub enum ProcessGroup {}

/// First pause between two looks for ranks that have not joined; each further pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_micros(100);
/// Longest pause between two such looks.
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

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
        let assembly = Assembly::attach(entered.fd.as_fd(), Some(size), &ranks, options)?;
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
        options.check(plans.len())?;
        let oversubscribed = options.is_oversubscribed(plans.len());
        let bytes = SegmentHeader::bytes(plans, &options.algorithms).saturating_add(shared_bytes(
            plans,
            options,
            oversubscribed,
        )?);
        let (segment, fd) = Segment::shared(bytes)?;
        SegmentHeader::write(&segment, plans, options, shared_fence_kind())?;
        Ok(fd)
    }

    /// Joins the team whose memory `fd` is, as `ranks`. Returns when all ranks have joined, at the latest after the
    /// team's join limit.
    ///
    /// # Errors
    ///
    /// [`EnterError`].
    pub fn attach(fd: impl AsFd, ranks: &[usize], options: &Options) -> Result<Team, EnterError> {
        Assembly::attach(fd.as_fd(), None, ranks, options)?.complete(None)
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
        let assembly = Assembly::attach(place.fd.as_fd(), Some(size), &[rank], options)?;
        assembly.complete(None).map(Some)
    }
}

/// Ranks that this process has claimed. Until it registers for them, dropping this lets others claim them.
struct Claims<'a> {
    header: &'a SegmentHeader,
    ranks: &'a [usize],
}

impl<'a> Claims<'a> {
    /// Claims all of these ranks or none.
    fn of(header: &'a SegmentHeader, ranks: &'a [usize], pid: u32) -> Result<Self, EnterError> {
        let mut claims = Self { header, ranks: &[] };
        for (index, &rank) in ranks.iter().enumerate() {
            if !header.claim(rank, pid) {
                let pid = header.claimed_by(rank);
                return Err(EnterError::Taken { rank, pid });
            }
            claims.ranks = &ranks[..=index];
        }
        Ok(claims)
    }

    /// Notes that this process has registered for the ranks.
    fn stand(mut self) {
        self.ranks = &[];
    }
}

impl Drop for Claims<'_> {
    fn drop(&mut self) {
        for &rank in self.ranks {
            self.header.give_up(rank);
        }
    }
}

/// A process's part of a team that is not complete yet.
struct Assembly {
    header: SegmentHeader,
    team_memory: Arc<TeamMemory>,
    wait_config: WaitConfig,
    ranks: Vec<usize>,
    limit: Duration,
    word: Word,
    /// What tells the other processes when this one ends.
    keeping: Option<Keeping>,
}

impl Assembly {
    fn attach(
        fd: std::os::fd::BorrowedFd<'_>,
        size: Option<usize>,
        ranks: &[usize],
        options: &Options,
    ) -> Result<Self, EnterError> {
        let segment = Segment::attach(fd)?;
        let ours = shared_fence_kind();
        let (header, plans, options, fence) = SegmentHeader::read(&segment, size, options, ours)?;
        options.check(plans.len())?;
        if let Some(&rank) = ranks.iter().find(|&&rank| rank >= plans.len()) {
            let size = plans.len();
            return Err(EnterError::Outside { rank, size });
        }
        let wait_config = options.wait_config(plans.len());
        let from = SegmentHeader::bytes(&plans, &options.algorithms);
        let mut ranks = ranks.to_vec();
        ranks.sort_unstable();
        let memory = (Arc::clone(&segment), from, header.oversubscribed());
        let team_memory = TeamMemory::shared(&plans, wait_config, &options, &ranks, memory, fence)?;
        let (pid, word) = (process_id(), Word::new());
        let claims = Claims::of(&header, &ranks, pid)?;
        // Before others read of this process, so that they find the mark kept, or never.
        let others = ranks.len() < header.size();
        let first = ranks.first().filter(|_| others);
        let keeping = first.map(|&rank| keep_mark(header.end_mark(rank)));
        let keeping = keeping.transpose()?;
        let owner = Owner {
            pid,
            born: born(pid),
            namespaces: Namespaces::own(),
            word: word.place(),
        };
        for &rank in &ranks {
            let nodes = options.numa_nodes.as_ref();
            let node = nodes.map(|nodes| nodes[rank]);
            header.register(rank, Facts { owner, node });
        }
        claims.stand();
        Ok(Self {
            header,
            team_memory,
            wait_config,
            ranks,
            limit: options.join_limit,
            word,
            keeping,
        })
    }

    /// Waits until all ranks have joined, and watches the other processes from then on.
    fn complete(self, server: Option<RendezvousServer>) -> Result<Team, EnterError> {
        let size = self.team_memory.size();
        let (begin, mut pause) = (Instant::now(), FIRST_PAUSE);
        while let Some(rank) = (0..size).find(|&rank| self.header.owner(rank).is_none()) {
            let waited = begin.elapsed();
            if waited >= self.limit {
                return Err(EnterError::Missing { rank, size, waited });
            }
            sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        let mut others: Vec<(Owner, Vec<usize>)> = Vec::new();
        for rank in (0..size).filter(|rank| !self.team_memory.is_owned(*rank)) {
            let Some(owner) = self.header.owner(rank) else {
                continue;
            };
            match others.iter_mut().find(|(other, _)| *other == owner) {
                Some((_, ranks)) => ranks.push(rank),
                None => others.push((owner, vec![rank])),
            }
        }
        let mut watches = Vec::with_capacity(others.len());
        let here = Namespaces::own();
        for (owner, ranks) in others {
            let state = Arc::clone(self.team_memory.state());
            let own = self.ranks.first().copied().unwrap_or(0);
            let peer = Peer {
                pid: owner.pid,
                is_near: owner.namespaces.share_numbers(here),
                // Clocks of other time namespaces show other start times.
                born: owner.born.filter(|_| owner.namespaces == here),
                mark: self.header.end_mark(ranks[0]),
            };
            watches.push(watch_peer(peer, move || state.lost(&ranks, own))?);
        }
        if let Some(nodes) = self.header.nodes() {
            self.team_memory.set_nodes(nodes.into());
        }
        let usable = std::thread::available_parallelism().map_or(1, usize::from);
        let (processes, paths) = try_all(&self.header, &self.ranks, size > usable);
        self.team_memory.set_processes(processes, paths.lends_from);
        let own = OwnPart {
            ranks: self.ranks,
            paths,
            kept: Box::new(Kept {
                _word: self.word,
                _keeping: self.keeping,
                _watches: watches,
                _server: server,
            }),
        };
        Ok(Team::of_memory(
            self.team_memory,
            self.wait_config,
            Some(own),
        ))
    }
}
