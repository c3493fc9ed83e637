//! A process's part of a team while it assembles: it claims its ranks, waits for all others, and watches them.

use crate::address::Address;
use crate::backoff::Backoff;
use crate::error::EnterError;
use crate::peer_monitor::{Keeping, Peer, Watch, born, keep_mark, watch_peer};
use crate::process_stat::Namespaces;
use crate::rendezvous_server::RendezvousServer;
use crate::segment_header::{Facts, Owner, SegmentHeader};
use crate::transfer_path::{Word, map_heaps, try_all};
use corecast_collectives::Plans;
use corecast_team::team_memory::TeamMemory;
use corecast_team::{KernelCopies, Options, OwnPart, SharedRegions, SymmetricHeap, Team};
use corecast_wire::fork::{ForkDetector, forked_since};
use corecast_wire::sync::{mutated, process_id};
use corecast_wire::{Segment, WaitConfig, shared_fence_kind};
use std::sync::Arc;
use std::time::Duration;

/// What a process keeps with its team.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) header: Arc<SegmentHeader>,
    pub(crate) plans: Plans,
    /// Where the team met; `None` if its memory was inherited.
    pub(crate) address: Option<Address>,
    /// The ranks of this process.
    pub(crate) ranks: Vec<usize>,
    fork_detector: ForkDetector,
    _word: Word,
    _keeping: Option<Keeping>,
    _watches: Vec<Watch>,
    _server: Option<RendezvousServer>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        // A forked child's copy is none of the team.
        if !forked_since(&self.fork_detector) && !mutated!(LeavesUntold) {
            self.ranks
                .iter()
                .for_each(|&rank| self.header.drop_rank(rank));
        }
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
pub(crate) struct Assembly {
    header: Arc<SegmentHeader>,
    plans: Plans,
    address: Option<Address>,
    team_memory: Arc<TeamMemory>,
    wait_config: WaitConfig,
    ranks: Vec<usize>,
    limit: Duration,
    kernel_copies: Option<KernelCopies>,
    heap: Option<Arc<SymmetricHeap>>,
    regions: Option<Arc<SharedRegions>>,
    word: Word,
    /// What tells the other processes when this one ends.
    keeping: Option<Keeping>,
}

impl Assembly {
    pub(crate) fn attach(
        fd: std::os::fd::BorrowedFd<'_>,
        size: Option<usize>,
        ranks: &[usize],
        options: &Options,
        (address, round): (Option<Address>, Option<u64>),
    ) -> Result<Self, EnterError> {
        let segment = Segment::attach_with_spare(fd)?;
        let ours = shared_fence_kind();
        let (header, plans, options, fence) = SegmentHeader::read(&segment, size, options, ours)?;
        // Before anything is written there that others would wait for.
        if round.is_some_and(|round| !header.is_of_round(round)) {
            return Err(EnterError::OtherRound);
        }
        options.check(plans.len())?;
        if let Some(&rank) = ranks.iter().find(|&&rank| rank >= plans.len()) {
            let size = plans.len();
            return Err(EnterError::Outside { rank, size });
        }
        let wait_config = options.wait_config(plans.len());
        let from = SegmentHeader::bytes(&plans, &options.algorithms);
        let mut ranks = ranks.to_vec();
        ranks.sort_unstable();
        let memory = (Arc::clone(&segment), from, header.sharing());
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
            let heap = options.heap.as_ref().map(|heap| heap.name());
            header.register(rank, Facts { owner, node, heap });
        }
        claims.stand();
        Ok(Self {
            header: Arc::new(header),
            plans,
            address,
            team_memory,
            wait_config,
            ranks,
            limit: options.join_limit,
            kernel_copies: options.kernel_copies,
            heap: options.heap,
            regions: options.regions,
            word,
            keeping,
        })
    }

    /// A rank that no process has registered for; `None` once all are there.
    pub(crate) fn missing(&self) -> Option<usize> {
        (0..self.header.size()).find(|&rank| self.header.owner(rank).is_none())
    }

    /// Waits until all ranks have joined, and watches the other processes from then on.
    pub(crate) fn complete(self, server: Option<RendezvousServer>) -> Result<Team, EnterError> {
        let mut backoff = Backoff::new(self.limit);
        while let Some(rank) = self.missing() {
            let size = self.header.size();
            let missing = |waited| EnterError::Missing { rank, size, waited };
            backoff.rest().map_err(missing)?;
        }
        self.team(server)
    }

    /// The team, all of whose ranks have joined. This process watches the others from now on.
    pub(crate) fn team(self, server: Option<RendezvousServer>) -> Result<Team, EnterError> {
        let size = self.team_memory.size();
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
            let header = Arc::clone(&self.header);
            let on_end = move || {
                state.lost(&ranks, own);
                if !mutated!(GoneUnnoted) {
                    ranks.iter().for_each(|&rank| header.drop_rank(rank));
                }
            };
            watches.push(watch_peer(peer, on_end)?);
        }
        if let Some(nodes) = self.header.nodes() {
            self.team_memory.set_nodes(nodes.into());
        }
        let heaps = map_heaps(&self.header, &self.ranks);
        self.team_memory.set_heaps(self.heap, heaps);
        if let Some(regions) = self.regions {
            self.team_memory.set_regions(regions);
        }
        // By what the team's creator found: this process may be bound to a CPU of its own.
        let shared = self.header.sharing() > 1;
        let without_turns = self.ranks.iter().copied();
        let without_turns = without_turns.map(|rank| self.team_memory.loan_without_turns(rank));
        let turns = without_turns.min().filter(|_| shared);
        let (processes, paths) = try_all(&self.header, &self.ranks, self.kernel_copies, turns);
        self.team_memory.set_processes(processes, paths.lends_from);
        let own = OwnPart {
            ranks: self.ranks.clone(),
            paths,
            kept: Box::new(Kept {
                header: self.header,
                plans: self.plans,
                address: self.address,
                ranks: self.ranks,
                fork_detector: ForkDetector::now(),
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
