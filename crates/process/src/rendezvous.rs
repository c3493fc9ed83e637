//! The rendezvous: how the processes of a team meet at an address.
//!
//! ```text
//! connect ── a server answers ──► welcome: ranks and memory ──► confirm
//!    │                     └────► refused: an error in words
//!    ├─ no server at the address ──► be the rendezvous server: make the memory, answer the others
//!    └─ server gone meanwhile, or not ready yet ──► again, until the limit
//! ```
//!
//! A rendezvous server that dies before it has answered leaves a closed socket, also if it has forked: the next process
//! to come takes over, with new memory.

use crate::address::Address;
use crate::message::{Answer, BYTES_MAX, Hello, RANKS_MAX, VERSION};
use crate::rendezvous_server::{Ranks, RendezvousServer};
use crate::segment_header::SIZE_MAX;
use corecast_wire::fork::LocalFd;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, recvmsg, send};
use std::collections::BTreeSet;
use std::error::Error;
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// Why a process could not enter a team.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RendezvousError {
    /// The rendezvous server runs another version of Corecast.
    #[error(
        "the team at {address} speaks protocol {theirs}, this process {ours}: run the same version of Corecast in all processes"
    )]
    OtherVersion {
        /// The address of the team.
        address: Address,
        /// Protocol version of this process.
        ours: u32,
        /// Protocol version of the rendezvous server.
        theirs: u32,
    },
    /// The rendezvous server makes a team of another size.
    #[error(
        "the team at {address} has {theirs} ranks, this process wants one of {ours}: give all processes the same size, or another address"
    )]
    OtherSize {
        /// The address of the team.
        address: Address,
        /// Number of ranks that this process expects.
        ours: u32,
        /// Number of ranks of the rendezvous server's team.
        theirs: u32,
    },
    /// Another process has a rank that this one requests.
    #[error(
        "rank {rank} of the team at {address} is process {by}'s, process {pid} wants it too: ask for another one, or for any"
    )]
    RankTaken {
        /// The address of the team.
        address: Address,
        /// The rank.
        rank: u32,
        /// Number of the process that has it.
        by: u32,
        /// Number of this process.
        pid: u32,
    },
    /// Fewer ranks are free than this process brings.
    #[error(
        "process {pid} brings {wanted} ranks to the team at {address}, {left} of its {size} are free"
    )]
    Full {
        /// The address of the team.
        address: Address,
        /// Number of this process.
        pid: u32,
        /// Number of ranks that this process brings.
        wanted: u32,
        /// Number of ranks that are free.
        left: u32,
        /// Number of ranks of the team.
        size: u32,
    },
    /// The rendezvous server runs as another user.
    #[error(
        "the team at {address} belongs to user {theirs}, this process to user {ours}: run all processes as one user"
    )]
    OtherUser {
        /// The address of the team.
        address: Address,
        /// User of this process.
        ours: u32,
        /// User of the rendezvous server.
        theirs: u32,
    },
    /// The ranks that this process brings are no valid request.
    #[error("cannot bring ranks {ranks:?} to a team of {size}: {why}")]
    Unusable {
        /// The requested ranks; `None` stands for any.
        ranks: Vec<Option<u32>>,
        /// Number of ranks of the team.
        size: u32,
        /// What is wrong with the request.
        why: &'static str,
    },
    /// Another program answers at the address.
    #[error("what answers at {address} is no team: {why}; choose another address")]
    Stranger {
        /// The address of the team.
        address: Address,
        /// How it differs from a team.
        why: &'static str,
    },
    /// No server answered within the limit, although one holds the address.
    #[error(
        "the team at {address} did not answer process {pid} within {limit:?}: look for a stopped process there, or choose another address"
    )]
    Silent {
        /// The address of the team.
        address: Address,
        /// Number of this process.
        pid: u32,
        /// How long this process waited.
        limit: Duration,
    },
    /// The rendezvous server ended before this process confirmed its ranks.
    #[error("the rendezvous server of the team at {address} is gone: enter again")]
    ServerGone {
        /// The address of the team.
        address: Address,
    },
    /// The address cannot be used.
    #[error(
        "cannot meet at {address}: {source}; a name has 1 to 80 bytes, a path up to 107, in a folder that this user may write to, with nothing else in its place"
    )]
    Address {
        /// The address of the team.
        address: Address,
        /// The kernel's answer.
        source: std::io::Error,
    },
    /// The memory of the team could not be made.
    #[error("cannot make the memory of the team at {address}: {source}")]
    Memory {
        /// The address of the team.
        address: Address,
        /// Why the memory could not be made.
        source: Box<dyn Error + Send + Sync>,
    },
}

/// A process that has found its team.
#[derive(Debug)]
pub struct Entered {
    /// The team's memory.
    pub fd: OwnedFd,
    /// The ranks of this process, in the order of its requests.
    pub ranks: Vec<u32>,
    /// The rendezvous server, which answers the others; `None` unless this process came first.
    pub server: Option<RendezvousServer>,
    address: Address,
    link: Option<LocalFd>,
    #[cfg(corecast_simulated)]
    places: Option<crate::simulated_rendezvous::Places>,
}

impl Entered {
    /// Tells the rendezvous server that this process has mapped the memory and keeps its ranks. Until then other
    /// processes get its ranks if it ends, or if this value is dropped.
    ///
    /// # Errors
    ///
    /// [`RendezvousError::ServerGone`].
    pub fn confirm(&mut self) -> Result<(), RendezvousError> {
        #[cfg(corecast_simulated)]
        if let Some(places) = self.places.take() {
            places.confirm();
        }
        if let Some(link) = self.link.take() {
            send(&link, b"here", SendFlags::NOSIGNAL).map_err(|_| RendezvousError::ServerGone {
                address: self.address.clone(),
            })?;
        }
        Ok(())
    }
}

/// Meets the other processes of a team at `address`, within `limit`. The first process makes the memory with
/// `make`, the others get its descriptor.
///
/// # Errors
///
/// [`RendezvousError`].
///
/// # Cost
///
/// The first process keeps a thread and some descriptors until all have come or its
/// [`RendezvousServer`] is dropped; the others keep one descriptor until they confirm.
///
/// # Examples
///
/// ```
/// use corecast_process::{Address, Hello, enter};
/// use corecast_wire::Segment;
/// use std::time::Duration;
///
/// let address = Address::Name(format!("example-{}", std::process::id()));
/// let make = |_: &Hello| Segment::shared(4096).map(|(_, fd)| fd);
/// let limit = Duration::from_secs(5);
/// let first = enter(&address, &Hello::new(2, vec![Some(1)]), limit, make)?;
/// let mut second = enter(&address, &Hello::new(2, vec![None]), limit, make)?;
/// second.confirm()?;
/// assert_eq!((first.ranks, second.ranks), (vec![1], vec![0]));
/// # Ok::<(), corecast_process::RendezvousError>(())
/// ```
pub fn enter<E>(
    address: &Address,
    hello: &Hello,
    limit: Duration,
    make: impl FnOnce(&Hello) -> Result<OwnedFd, E>,
) -> Result<Entered, RendezvousError>
where
    E: Into<Box<dyn Error + Send + Sync>>,
{
    check(hello)?;
    #[cfg(corecast_simulated)]
    if corecast_wire::simulated::scheduler().is_some() {
        return enter_simulated(address, hello, limit, make);
    }
    let begin = Instant::now();
    let unusable = |source: Errno| RendezvousError::Address {
        address: address.clone(),
        source: source.into(),
    };
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(link) = address.connect().map_err(unusable)? {
            if let Some(entered) = ask(address, hello, link, begin, limit)? {
                return Ok(entered);
            }
        } else if let Some(listener) = address.listen().map_err(unusable)? {
            let failed = |source| RendezvousError::Memory {
                address: address.clone(),
                source,
            };
            let fd = make(hello).map_err(|error| failed(error.into()))?;
            let copy = fd.try_clone().map_err(|error| failed(error.into()))?;
            let mut all = Ranks::new(hello.size);
            let ranks = all.take(hello).expect("the requests were checked");
            all.confirm(&ranks);
            let server = RendezvousServer::start(listener, copy, all);
            let server = server.map_err(|error| failed(error.into()))?;
            return Ok(Entered {
                fd,
                ranks,
                server: Some(server),
                address: address.clone(),
                link: None,
                #[cfg(corecast_simulated)]
                places: None,
            });
        }
        if begin.elapsed() >= limit {
            return Err(silent(address, hello, limit));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// [`enter`] in a simulation.
#[cfg(corecast_simulated)]
fn enter_simulated<E>(
    address: &Address,
    hello: &Hello,
    limit: Duration,
    make: impl FnOnce(&Hello) -> Result<OwnedFd, E>,
) -> Result<Entered, RendezvousError>
where
    E: Into<Box<dyn Error + Send + Sync>>,
{
    use crate::simulated_rendezvous::{self, Failed};
    match simulated_rendezvous::enter(address.to_string(), hello, limit, make) {
        Ok(found) => Ok(Entered {
            fd: found.memory,
            ranks: found.ranks,
            server: found.server.map(RendezvousServer::simulated),
            address: address.clone(),
            link: None,
            places: found.places,
        }),
        Err(Failed::Refused(answer)) => Err(refusal(answer, address.clone(), hello)),
        Err(Failed::Silent) => Err(silent(address, hello, limit)),
        Err(Failed::Memory(source)) => Err(RendezvousError::Memory {
            address: address.clone(),
            source,
        }),
    }
}

fn silent(address: &Address, hello: &Hello, limit: Duration) -> RendezvousError {
    RendezvousError::Silent {
        address: address.clone(),
        pid: hello.pid,
        limit,
    }
}

fn check(hello: &Hello) -> Result<(), RendezvousError> {
    let mut wished: Vec<u32> = hello.ranks.iter().flatten().copied().collect();
    wished.sort_unstable();
    let why = if hello.ranks.is_empty() {
        "a process brings at least one"
    } else if hello.ranks.len() > RANKS_MAX {
        "a process brings 4096 at most"
    } else if hello.size as usize > SIZE_MAX {
        "a team of processes has 1048576 at most"
    } else if hello.ranks.len() > hello.size as usize {
        "there are more than the team has"
    } else if wished.last().is_some_and(|&rank| rank >= hello.size) {
        "ranks count from 0 to the size less one"
    } else if wished.windows(2).any(|pair| pair[0] == pair[1]) {
        "one of them is named twice"
    } else {
        return Ok(());
    };
    Err(RendezvousError::Unusable {
        ranks: hello.ranks.clone(),
        size: hello.size,
        why,
    })
}

/// Asks a rendezvous server for ranks; `None` if the server ends before it answers.
fn ask(
    address: &Address,
    hello: &Hello,
    link: LocalFd,
    begin: Instant,
    limit: Duration,
) -> Result<Option<Entered>, RendezvousError> {
    let to = || address.clone();
    let ours = rustix::process::geteuid().as_raw();
    let theirs = link.peer_user().unwrap_or(u32::MAX);
    if theirs != ours {
        let address = to();
        return Err(RendezvousError::OtherUser {
            address,
            ours,
            theirs,
        });
    }
    if send(&link, &hello.encode(), SendFlags::NOSIGNAL).is_err() {
        return Ok(None);
    }
    let mut message = vec![0; BYTES_MAX];
    let (len, fd) = loop {
        let left = limit.saturating_sub(begin.elapsed());
        let wait = Timespec {
            tv_sec: left.as_secs().min(1 << 30) as i64,
            tv_nsec: left.subsec_nanos().into(),
        };
        let mut fds = [PollFd::from_borrowed_fd(link.as_fd(), PollFlags::IN)];
        if poll(&mut fds, Some(&wait)) == Ok(0) {
            return Err(silent(address, hello, limit));
        }
        match listen(&link, &mut message) {
            Ok((0, _)) => return Ok(None),
            Ok(heard) => break heard,
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => return Ok(None),
        }
    };
    let address = to();
    let stranger = |address, why| RendezvousError::Stranger { address, why };
    Err(match (Answer::decode(&message[..len]), fd) {
        (Some(Answer::Welcome { ranks }), Some(fd)) => {
            let agrees = |(requested, &rank): (&Option<u32>, &u32)| {
                rank < hello.size && requested.is_none_or(|requested| requested == rank)
            };
            let agrees = hello.ranks.iter().zip(&ranks).all(agrees);
            let distinct: BTreeSet<u32> = ranks.iter().copied().collect();
            if [ranks.len(), distinct.len()] == [hello.ranks.len(); 2] && agrees {
                return Ok(Some(Entered {
                    fd,
                    ranks,
                    server: None,
                    address,
                    link: Some(link),
                    #[cfg(corecast_simulated)]
                    places: None,
                }));
            }
            stranger(address, "it gives ranks that were not wished for")
        }
        (Some(answer), _) => refusal(answer, address, hello),
        (None, _) => stranger(address, "its answer makes no sense"),
    })
}

/// The error of a process that got this answer to its request, and no memory.
fn refusal(answer: Answer, address: Address, hello: &Hello) -> RendezvousError {
    let (pid, size) = (hello.pid, hello.size);
    let stranger = |address, why| RendezvousError::Stranger { address, why };
    match answer {
        Answer::Welcome { .. } => stranger(address, "it gives no memory"),
        Answer::OtherVersion { theirs } => RendezvousError::OtherVersion {
            address,
            ours: VERSION,
            theirs,
        },
        Answer::OtherSize { theirs } => RendezvousError::OtherSize {
            address,
            ours: size,
            theirs,
        },
        Answer::RankTaken { rank, by } => RendezvousError::RankTaken {
            address,
            rank,
            by,
            pid,
        },
        Answer::Full { wanted, left } => RendezvousError::Full {
            address,
            pid,
            wanted,
            left,
            size,
        },
        Answer::OtherUser { theirs, ours } => RendezvousError::OtherUser {
            address,
            ours,
            theirs,
        },
        Answer::Malformed => stranger(address, "it does not understand this process"),
    }
}

/// Receives one message; returns its length in bytes, and the descriptor that came with it.
fn listen(link: &LocalFd, message: &mut [u8]) -> rustix::io::Result<(usize, Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let heard = recvmsg(link, &mut [IoSliceMut::new(message)], &mut control, flags)?;
    let fd = control.drain().find_map(|extra| match extra {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    Ok((heard.bytes, fd))
}
