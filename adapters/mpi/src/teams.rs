//! Layer 4: teams of processes, which communicators of the same members share.
//!
//! To make a team, or to choose one of those that are kept, the members of a communicator have to agree; they do it by
//! three gathers of the library's on that very communicator, in the same call of all of them. Members on several hosts make a
//! team on each of these, and a communicator of their own for messages between them.
//!
//! **Who may share a team.** Two communicators of the same processes in the same order are told apart by MPI, and not by
//! a team. Where one thread of each process calls at a time, that does no harm: the calls on both come in the same order
//! on all members, because a program in which they do not may wait for ever under any library (MPI 4.1, §6.14, example
//! 6.28). Where several threads may call, a team belongs to one communicator at a time.

use crate::between;
use crate::card::{self, Card, Process};
use crate::costs::Costs;
use crate::heap;
use crate::process::progress;
use crate::race::Races;
use crate::ranks::Ranks;
use crate::regions;
use bytemuck::{Pod, Zeroable};
use corecast::process::{Address, EnterError, RendezvousError};
use corecast::{Builder, Error, Member, Team};
use corecast_cluster::{ClusterMember, ClusterOptions, Hosts, PipelineSegments};
use corecast_network::{Handle, Library, MpiFabric};
use corecast_wire::exclusive::Exclusive;
use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Teams that a process keeps. Each takes some hundred kilobytes a rank.
const TEAMS_MAX: usize = 64;

/// How long members that have agreed wait for each other. They come within milliseconds, unless one cannot, or is stopped. So the
/// first time is short: afterwards all hear whether one has failed, or they try again.
const JOIN_LIMITS: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(60)];

/// Descriptors that a process needs to make a team, beside one for each rank.
const DESCRIPTORS: usize = 16;

/// What a rank proposes: no team of those that it keeps, or none at all, since there are too many or it has too few descriptors.
const NEW: u64 = 0;
const REFUSED: u64 = u64::MAX;
const UNABLE: u64 = u64::MAX - 1;

/// What has become of a rank that was to join a team. The greatest of all ranks' counts.
const JOINED: u8 = 0;
const WAITED: u8 = 1;
const FAILED: u8 = 2;

/// What a rank proposes: a team, and what messages between hosts cost.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Proposal {
    team: u64,
    costs: Costs,
}

/// What one rank needs of its team.
pub(crate) struct Membership {
    pub(crate) ranks: Ranks,
    pub(crate) races: Races,
    /// Calls of the team's so far; the number wraps around.
    calls: u32,
}

/// Calls for one in which the library makes progress: it takes as long as some of them.
const CALLS_PER_PROGRESS: u32 = 1024;

impl Membership {
    /// A call of the team's has ended. Now and then it has the library make progress: a rank that calls one short collective after the other
    /// never waits for long, and others may wait for its part of a message.
    #[inline]
    pub(crate) fn ended_call(&mut self) {
        self.calls = self.calls.wrapping_add(1);
        if self.calls.is_multiple_of(CALLS_PER_PROGRESS) {
            progress();
        }
    }
}

/// A team of the members of one or several communicators.
pub(crate) struct Shared {
    /// What all members call it.
    id: u64,
    /// Its members, in the order of ranks.
    members: Vec<Process>,
    pub(crate) membership: Exclusive<Membership>,
    /// It outlives the member; `None` for a rank that is alone on its host.
    team: Option<Team>,
    /// Between hosts, if there are several. It outlives the fabric.
    network: Option<Private>,
}

/// A communicator that no program knows of, for messages between hosts.
struct Private {
    library: &'static Library,
    comm: Handle,
    hosts: usize,
    /// Leaders of each host.
    lanes: usize,
    options: ClusterOptions,
    /// What messages between them cost.
    costs: Costs,
}

impl Drop for Private {
    fn drop(&mut self) {
        if self.library.is_running() {
            // SAFETY: a communicator that nobody uses any more. Libraries free one without a message, so the members need not
            // do it at the same time.
            unsafe { (self.library.functions().comm_free)(&mut self.comm) };
        }
    }
}

// SAFETY: `membership` is used by one thread at a time: MPI lets no two threads call collectives on one communicator at the same
// time, and a team is shared by communicators only where the program has no two threads that call.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// One line about the plans that run.
    pub(crate) fn line(&self) -> String {
        let between = self.network.as_ref().map_or(String::new(), |network| {
            let (hosts, trees) = (network.hosts, between::name(network.options.pattern));
            let segments = match network.options.segments {
                None => "segments by the model",
                Some(PipelineSegments::Whole) => "no segments",
                Some(_) => "segments as asked for or built in",
            };
            let costs = network.costs.line();
            let leaders = match network.lanes {
                1 => String::new(),
                lanes => format!(" of {lanes} leaders each"),
            };
            format!("{hosts} hosts{leaders}, {trees} trees between them, {segments}, {costs}; on this one ")
        });
        let here = match self.team.as_ref().map(Team::explain) {
            None => "one rank".to_owned(),
            Some(explanation) if explanation.operations.is_empty() => {
                "plans of the first process that came".to_owned()
            }
            Some(explanation) => explanation.line(),
        };
        between + &here
    }
}

/// Why the members of a communicator have no team.
#[derive(Clone, Debug)]
pub(crate) enum Refusal {
    /// Some of them do not take part, or by another version of this library.
    Apart,
    /// There are too many teams.
    Full,
    /// This process could not map the memory.
    Failed(String),
    /// Another one could not, and says why.
    OtherFailed,
    /// They have waited for each other in vain.
    Waited(String),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Apart => f.write_str("not all of its processes take part, by the same version"),
            Self::Full => write!(
                f,
                "there are {TEAMS_MAX} teams already: free communicators that are used no more"
            ),
            Self::Failed(why) => write!(f, "its processes could not map one memory: {why}"),
            Self::OtherFailed => f.write_str(
                "its processes could not map one memory: another one has failed, and says why",
            ),
            Self::Waited(why) => write!(f, "its processes have not met: {why}"),
        }
    }
}

static KEPT: Mutex<Vec<Arc<Shared>>> = Mutex::new(Vec::new());
static NEXT: AtomicU64 = AtomicU64::new(1);

fn kept() -> MutexGuard<'static, Vec<Arc<Shared>>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes no further communicator share a team that has failed. Those that have it hear of the failure in their next call.
#[cold]
pub(crate) fn forget(failed: &Shared) {
    kept().retain(|shared| shared.id != failed.id);
}

/// Leaves all teams.
pub(crate) fn leave_all() {
    let all = std::mem::take(&mut *kept());
    drop(all);
}

/// The team of a communicator's members. All of them call it.
pub(crate) fn agree(
    library: &'static Library,
    comm: Handle,
    rank: usize,
    size: usize,
) -> Result<Arc<Shared>, Refusal> {
    // Relaxed: a number that differs from all others.
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    let own = Card::of_this_process(true, library.is_multithreaded(), next);
    let mut cards = vec![own; size];
    gather(library, comm, &own, &mut cards)?;
    // Everybody compares with the first, and so all find the same.
    if !cards.iter().all(|card| card.takes_part_with(&cards[0])) {
        return Err(Refusal::Apart);
    }
    let members: Vec<Process> = cards.iter().map(Card::process).collect();
    let multithreaded = cards.iter().any(Card::is_multithreaded);
    // The proposal is kept alive from now on, so nobody else takes it.
    let (mut proposal, found) = propose(&members, multithreaded);
    let (hosts, between) = (hosts(&cards), cards[0].between());
    let count = hosts.len();
    let can_open = match (proposal, hosts.ranks(hosts.host_of(rank)).len()) {
        (NEW, here @ 2..) => can_open(here + DESCRIPTORS),
        _ => Ok(()),
    };
    if can_open.is_err() {
        proposal = UNABLE;
    }
    // The first one says it for all, and no other one reads files.
    let costs = match rank == 0 && count > 1 {
        true => Costs::here(),
        false => Costs::ASSUMED,
    };
    let own = Proposal {
        team: proposal,
        costs,
    };
    let mut proposals = vec![own; size];
    gather(library, comm, &own, &mut proposals)?;
    let costs = proposals[0].costs;
    let mut teams = proposals.iter().map(|other| other.team);
    if teams.clone().any(|team| team == REFUSED) {
        return Err(Refusal::Full);
    }
    can_open.map_err(|error| Refusal::Failed(error.to_string()))?;
    if teams.clone().any(|team| team == UNABLE) {
        return Err(Refusal::OtherFailed);
    }
    if let (Some(found), true) = (found, teams.all(|team| team == proposal)) {
        return Ok(found);
    }
    let network = match count {
        1 => Ok(None),
        _ => private(library, comm, rank).map(|comm| {
            Some(Private {
                library,
                comm,
                hosts: count,
                lanes: hosts.lanes(),
                options: between.options(count, costs.known()),
                costs,
            })
        }),
    };
    let team = make_together((library, comm, size), |attempt| match &network {
        Ok(_) => make(&cards, &hosts, rank, attempt),
        Err(refusal) => Err(refusal.clone()),
    })?;
    let network = network?;
    let (team, member) = team.unzip();
    let ranks = match (&network, member) {
        (None, member) => Ranks::Host(member.expect("a host of several ranks has a team")),
        (Some(network), member) => {
            // SAFETY: `Shared` keeps the communicator for as long as the fabric, of which each rank makes one; and its calls are
            // those of collectives, which one thread makes at a time.
            let fabric =
                unsafe { MpiFabric::new(library, network.comm, hosts.host_of(rank), count) };
            Ranks::Hosts(ClusterMember::new(
                Arc::new(hosts),
                rank,
                member,
                fabric,
                &network.options,
            ))
        }
    };
    let shared = Arc::new(Shared {
        id: number(&cards[0]),
        members,
        membership: Exclusive::new(Membership {
            ranks,
            races: Races::new(rank == 0),
            calls: 0,
        }),
        team,
        network,
    });
    kept().push(Arc::clone(&shared));
    Ok(shared)
}

/// Who is on which host.
fn hosts(cards: &[Card]) -> Hosts {
    let keys: Vec<_> = cards
        .iter()
        .enumerate()
        .map(|(rank, card)| card.host(rank))
        .collect();
    let near: Vec<Option<u32>> = cards.iter().map(Card::near_card).collect();
    Hosts::new(&keys, &near)
}

/// A communicator of the same members, without the program's attributes.
fn private(library: &Library, comm: Handle, rank: usize) -> Result<Handle, Refusal> {
    let mut made: Handle = 0;
    // SAFETY: a place for a handle. All members call it.
    let code = unsafe { (library.functions().comm_split)(comm, 0, rank as i32, &mut made) };
    match code {
        0 => Ok(library.handle(made)),
        code => Err(Refusal::Failed(format!(
            "MPI_Comm_split has failed with {code}"
        ))),
    }
}

/// Gives every member's value to all members.
pub(crate) fn gather<T: bytemuck::Pod>(
    library: &Library,
    comm: Handle,
    own: &T,
    all: &mut [T],
) -> Result<(), Refusal> {
    let (send, recv) = (
        bytemuck::bytes_of(own),
        bytemuck::cast_slice_mut::<T, u8>(all),
    );
    let (bytes, byte) = (send.len() as i32, library.byte());
    // SAFETY: as many bytes as are said, for each member. All members call it.
    let ended = unsafe {
        (library.functions().allgather_bytes)(
            send.as_ptr().cast(),
            bytes,
            byte,
            recv.as_mut_ptr().cast(),
            bytes,
            byte,
            comm,
        )
    };
    match ended {
        0 => Ok(()),
        code => Err(Refusal::Failed(format!(
            "MPI_Allgather has failed with {code}"
        ))),
    }
}

/// The oldest team of these members that is kept and free, and its number.
fn propose(members: &[Process], multithreaded: bool) -> (u64, Option<Arc<Shared>>) {
    let mut kept = kept();
    // One reference is that of the list.
    let is_free = |shared: &Arc<Shared>| !multithreaded || Arc::strong_count(shared) == 1;
    let fits = |shared: &&Arc<Shared>| shared.members == members && is_free(shared);
    if let Some(found) = kept.iter().find(fits) {
        return (found.id, Some(Arc::clone(found)));
    }
    if kept.len() >= TEAMS_MAX {
        // Whoever forgets a team does not propose it again, and no other member can insist on it.
        match kept
            .iter()
            .position(|shared| Arc::strong_count(shared) == 1)
        {
            Some(at) => drop(kept.remove(at)),
            None => return (REFUSED, None),
        }
    }
    (NEW, None)
}

/// A number of the team that the group makes whose first card this is.
fn number(first: &Card) -> u64 {
    let [process, _, next] = first.team();
    // Process numbers have 22 bits at most.
    (process << 40) | (next & ((1 << 40) - 1))
}

/// Whether this process may open so many descriptors. If it fails amid a team that is made, the others wait for it.
fn can_open(descriptors: usize) -> std::io::Result<()> {
    let first = File::open("/")?;
    let others: Result<Vec<File>, _> = (1..descriptors).map(|_| first.try_clone()).collect();
    others.map(drop)
}

/// Has all members call `make`, which is told the number of the attempt, until it succeeds for all of them or fails for one.
fn make_together<T>(
    (library, comm, size): (&Library, Handle, usize),
    make: impl Fn(usize) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    for attempt in 0..JOIN_LIMITS.len() {
        let made = make(attempt);
        let own = match &made {
            Ok(_) => JOINED,
            Err(Refusal::Waited(_)) => WAITED,
            Err(_) => FAILED,
        };
        let mut all = vec![own; size];
        gather(library, comm, &own, &mut all)?;
        if let Some(ended) = after_attempt(made, &all, attempt + 1 == JOIN_LIMITS.len()) {
            return ended;
        }
    }
    Err(Refusal::OtherFailed)
}

/// What an attempt has come to, by what has become of all ranks; `None` if they try again.
fn after_attempt<T>(
    made: Result<T, Refusal>,
    all: &[u8],
    is_last: bool,
) -> Option<Result<T, Refusal>> {
    let worst = all.iter().copied().max().unwrap_or(JOINED);
    match (made, worst) {
        (made, JOINED) => Some(made),
        (Err(Refusal::Waited(_)) | Ok(_), FAILED) => Some(Err(Refusal::OtherFailed)),
        (failed, FAILED) => Some(failed),
        (_, _) if !is_last => None,
        (Ok(_), _) => Some(Err(Refusal::Waited("others have waited".to_owned()))),
        (waited, _) => Some(waited),
    }
}

/// Meets the other members of this rank's host in a new team; `None` for a rank that is alone there.
fn make(
    cards: &[Card],
    hosts: &Hosts,
    rank: usize,
    attempt: usize,
) -> Result<Option<(Team, Member)>, Refusal> {
    let here = hosts.ranks(hosts.host_of(rank));
    if here.len() == 1 {
        return Ok(None);
    }
    let cards: Vec<Card> = here.iter().map(|&rank| cards[rank]).collect();
    let [process, started, next] = cards[0].team();
    // Nobody meets one there who is late in an earlier attempt.
    let address = Address::Name(format!("mpi-{process}-{started:x}-{next:x}-{attempt}"));
    let place = hosts.place_of(rank);
    let mut builder = Builder::new()
        .bound_to(card::pus(&cards))
        .meanwhile(progress)
        .join_limit(JOIN_LIMITS[attempt])
        // The program has none of its buffers there.
        .symmetric(0)
        .regions(regions::of_team(cards.iter().map(Card::process).collect()));
    if hosts.len() > 1 {
        // Its operations are parts of calls.
        builder = builder.record(false);
    }
    if let Some(heap) = heap::heap() {
        builder = builder.heap(Arc::clone(heap));
    }
    let entered = builder.enter(&address, cards.len(), &[Some(place)]);
    let team = entered.map_err(|error| refusal(&error))?;
    let member = team.join(place);
    let member = member.map_err(|error| Refusal::Failed(error.to_string()))?;
    Ok(Some((team, member)))
}

/// Why a team was not made: for a reason of this process's own, or since others have not come.
fn refusal(error: &Error) -> Refusal {
    match error {
        Error::Enter(
            EnterError::Missing { .. }
            | EnterError::Rendezvous(
                RendezvousError::Silent { .. } | RendezvousError::ServerGone { .. },
            ),
        ) => Refusal::Waited(error.to_string()),
        _ => Refusal::Failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_try_again_unless_one_of_them_has_failed() {
        let ended = |made: Result<(), Refusal>, all: &[u8], is_last| {
            let ended = after_attempt(made, all, is_last);
            ended.map(|ended| ended.map_err(|refusal| refusal.to_string()))
        };
        let waited = || Err(Refusal::Waited("no rank 2".to_owned()));
        let failed = || Err(Refusal::Failed("no memory".to_owned()));
        let [other, own, late] = [
            Refusal::OtherFailed,
            Refusal::Failed("no memory".to_owned()),
            Refusal::Waited("no rank 2".to_owned()),
        ]
        .map(|refusal| Some(Err(refusal.to_string())));
        assert_eq!(ended(Ok(()), &[JOINED, JOINED], false), Some(Ok(())));
        assert_eq!(ended(Ok(()), &[JOINED, WAITED], false), None);
        assert_eq!(ended(waited(), &[JOINED, WAITED], false), None);
        assert_eq!(ended(waited(), &[JOINED, WAITED], true), late);
        assert!(matches!(
            ended(Ok(()), &[JOINED, WAITED], true),
            Some(Err(_))
        ));
        for is_last in [false, true] {
            let all = [JOINED, WAITED, FAILED];
            assert_eq!(ended(Ok(()), &all, is_last), other);
            assert_eq!(ended(waited(), &all, is_last), other);
            assert_eq!(ended(failed(), &all, is_last), own);
        }
    }

    #[test]
    fn a_process_that_waits_in_vain_has_not_failed_itself() {
        let address = Address::Name(format!("mpi-waits-{}", std::process::id()));
        let builder = || Builder::new().join_limit(Duration::from_millis(1));
        let missing = builder().enter(&address, 2, &[Some(0)]).unwrap_err();
        assert!(matches!(refusal(&missing), Refusal::Waited(_)), "{missing}");
        let outside = builder().enter(&address, 2, &[Some(2)]).unwrap_err();
        assert!(matches!(refusal(&outside), Refusal::Failed(_)), "{outside}");
    }
}
