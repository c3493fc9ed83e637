//! The rendezvous server, with which the first process of a team hands the memory to the others.
//!
//! A thread answers every process that connects, until every rank is confirmed or the rendezvous server is dropped.
//! A process has a rank for as long as its connection lasts: if it ends before it confirms, the rank is given to another
//! one. That one finds it claimed in the segment header if the first one was killed after it had claimed it there; a
//! process that goes on after an error gives its claims up.
//! Nothing on the socket makes the thread wait: it reads what is there, and closes a connection that sends no
//! request for two seconds.

use crate::address::Listener;
use crate::message::{Answer, BYTES_MAX, Hello};
use corecast_wire::fork::{ForkDetector, LocalFd, forked_since};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags};
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time after which a connection that has not sent its request is closed.
const SILENCE_MAX: Duration = Duration::from_secs(2);

/// Largest number of connections that have not sent their request yet; a further one replaces the oldest.
const STRANGERS_MAX: usize = 64;

/// Gives the other processes of a team their ranks and the memory. Dropping it closes the socket and ends its
/// thread.
#[derive(Debug)]
pub struct RendezvousServer {
    bell: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
    fork_detector: ForkDetector,
    #[cfg(corecast_simulated)]
    _simulated: Option<Box<dyn std::any::Any + Send + Sync>>,
}

impl RendezvousServer {
    pub(crate) fn start(
        listener: Listener,
        memory: OwnedFd,
        ranks: Ranks,
    ) -> std::io::Result<Self> {
        let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let own = Arc::clone(&bell);
        let door = Server {
            listener,
            memory,
            ranks,
            clients: Vec::new(),
        };
        let thread = std::thread::Builder::new()
            .name("corecast-host".into())
            .spawn(move || door.keep(&own))?;
        Ok(Self {
            bell,
            thread: Some(thread),
            fork_detector: ForkDetector::now(),
            #[cfg(corecast_simulated)]
            _simulated: None,
        })
    }

    /// A server of a simulation, which has no thread and goes with `server`.
    #[cfg(corecast_simulated)]
    pub(crate) fn simulated(server: impl std::any::Any + Send + Sync) -> Self {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        Self {
            bell: Arc::new(bell.expect("a descriptor is free")),
            thread: None,
            fork_detector: ForkDetector::now(),
            _simulated: Some(Box::new(server)),
        }
    }

    /// Whether all ranks are confirmed, so that the thread has ended.
    pub fn is_complete(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for RendezvousServer {
    fn drop(&mut self) {
        // A forked child shares the bell with its parent, and does not have the thread.
        if !forked_since(&self.fork_detector) {
            let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
            if let Some(thread) = self.thread.take() {
                let _ = thread.join();
            }
        }
    }
}

/// The process that has each rank.
#[derive(Debug)]
pub(crate) struct Ranks {
    /// For each rank the process that has it, and whether that process has confirmed it.
    taken: Vec<Option<(u32, bool)>>,
}

impl Ranks {
    pub(crate) fn new(size: u32) -> Self {
        Self {
            taken: vec![None; size as usize],
        }
    }

    /// Takes the ranks that `hello` requests, all of them or none.
    pub(crate) fn take(&mut self, hello: &Hello) -> Result<Vec<u32>, Answer> {
        let size = self.taken.len() as u32;
        if hello.size != size {
            return Err(Answer::OtherSize { theirs: size });
        }
        let mut wished: Vec<u32> = hello.ranks.iter().flatten().copied().collect();
        for &rank in &wished {
            match self.taken.get(rank as usize) {
                None => return Err(Answer::Malformed),
                Some(Some((by, _))) => return Err(Answer::RankTaken { rank, by: *by }),
                Some(None) => {}
            }
        }
        wished.sort_unstable();
        if wished.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Answer::Malformed);
        }
        let free = |rank: &u32| self.taken[*rank as usize].is_none();
        let others: Vec<u32> = (0..size).filter(free).collect();
        let mut others = others.into_iter();
        let left = others.len() as u32;
        let mut any = others
            .by_ref()
            .filter(|rank| wished.binary_search(rank).is_err());
        let given: Option<Vec<u32>> = hello
            .ranks
            .iter()
            .map(|requested| requested.or_else(|| any.next()))
            .collect();
        let wanted = hello.ranks.len() as u32;
        let given = given.ok_or(Answer::Full { wanted, left })?;
        for &rank in &given {
            self.taken[rank as usize] = Some((hello.pid, false));
        }
        Ok(given)
    }

    pub(crate) fn confirm(&mut self, ranks: &[u32]) {
        for &rank in ranks {
            if let Some((_, confirmed)) = &mut self.taken[rank as usize] {
                *confirmed = true;
            }
        }
    }

    pub(crate) fn give_back(&mut self, ranks: &[u32]) {
        for &rank in ranks {
            self.taken[rank as usize] = None;
        }
    }

    /// Gives back the ranks that were not confirmed by processes that are not there any more.
    #[cfg(corecast_simulated)]
    pub(crate) fn give_back_unless(&mut self, is_there: impl Fn(u32) -> bool) {
        for taken in &mut self.taken {
            *taken = taken.filter(|&(by, confirmed)| confirmed || is_there(by));
        }
    }

    pub(crate) fn complete(&self) -> bool {
        self.taken
            .iter()
            .all(|taken| matches!(taken, Some((_, true))))
    }
}

/// A connected process. Its ranks are empty until it has sent its request.
struct Client {
    socket: LocalFd,
    since: Instant,
    ranks: Vec<u32>,
}

struct Server {
    listener: Listener,
    memory: OwnedFd,
    ranks: Ranks,
    clients: Vec<Client>,
}

impl Server {
    fn keep(mut self, bell: &OwnedFd) {
        while !self.ranks.complete() {
            let fixed = [bell.as_fd(), self.listener.socket.as_fd()];
            let sockets = self.clients.iter().map(|client| client.socket.as_fd());
            let mut fds: Vec<PollFd<'_>> = fixed
                .into_iter()
                .chain(sockets)
                .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
                .collect();
            // Only connections without ranks can be silent for too long.
            let strangers = self.clients.iter().any(|client| client.ranks.is_empty());
            let limit = strangers.then_some(Timespec {
                tv_sec: 1,
                tv_nsec: 0,
            });
            if poll(&mut fds, limit.as_ref()).is_err() {
                std::thread::sleep(Duration::from_millis(20));
                continue;
            }
            let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
            drop(fds);
            if ready[0] {
                return;
            }
            let mut ready_clients = ready[2..].iter();
            for mut client in std::mem::take(&mut self.clients) {
                let ready = *ready_clients.next().expect("one entry each");
                let late = client.ranks.is_empty() && client.since.elapsed() > SILENCE_MAX;
                let stays = if ready { self.hear(&mut client) } else { !late };
                if stays {
                    self.clients.push(client);
                }
            }
            if ready[1] {
                self.accept();
            }
        }
    }

    fn accept(&mut self) {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        // A forked child must not keep it: whoever has connected waits for an answer or the end of this process.
        match LocalFd::open(|| rustix::net::accept_with(&self.listener.socket, flags)) {
            Ok(socket) => {
                let ours = rustix::process::geteuid().as_raw();
                let theirs = socket.peer_user().unwrap_or(u32::MAX);
                if theirs != ours {
                    // The answer is in the client's view, in which `ours` is the client's user.
                    let (theirs, ours) = (ours, theirs);
                    self.say(&socket, &Answer::OtherUser { theirs, ours });
                    return;
                }
                let is_stranger = |client: &Client| client.ranks.is_empty();
                let strangers = self.clients.iter().filter(|client| is_stranger(client));
                if strangers.count() >= STRANGERS_MAX
                    && let Some(oldest) = self.clients.iter().position(is_stranger)
                {
                    self.clients.remove(oldest);
                }
                self.clients.push(Client {
                    socket,
                    since: Instant::now(),
                    ranks: Vec::new(),
                });
            }
            // The client has gone again, or no descriptor is left: try again later.
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }

    /// Reads a message of a client; returns whether the connection stays open.
    fn hear(&mut self, client: &mut Client) -> bool {
        let mut message = vec![0; BYTES_MAX];
        let len = match rustix::net::recv(&client.socket, &mut message[..], RecvFlags::DONTWAIT) {
            Ok((len, _)) => len,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return true,
            Err(_) => 0,
        };
        if !client.ranks.is_empty() {
            match len {
                0 => self.ranks.give_back(&client.ranks),
                _ => self.ranks.confirm(&client.ranks),
            }
            return false;
        }
        if len == 0 {
            return false;
        }
        let taken = Hello::decode(&message[..len]).and_then(|hello| self.ranks.take(&hello));
        match taken {
            Ok(ranks) => {
                let answer = Answer::Welcome {
                    ranks: ranks.clone(),
                };
                client.ranks = ranks;
                let said = self.say(&client.socket, &answer);
                if !said {
                    self.ranks.give_back(&client.ranks);
                }
                said
            }
            Err(refusal) => {
                self.say(&client.socket, &refusal);
                false
            }
        }
    }

    /// Sends an answer, a welcome with the memory's descriptor. Returns whether it was sent.
    fn say(&self, socket: &LocalFd, answer: &Answer) -> bool {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let memory = [self.memory.as_fd()];
        if matches!(answer, Answer::Welcome { .. }) {
            control.push(SendAncillaryMessage::ScmRights(&memory));
        }
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        let message = answer.encode();
        rustix::net::sendmsg(socket, &[IoSlice::new(&message)], &mut control, flags).is_ok()
    }
}
