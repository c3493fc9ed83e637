//! The process that starts the replicas, and starts those again that end.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::time::{Duration, Instant};

use corecast_agree::paxos::processes::ProcessGroup;
use corecast_wire::ending;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::handover::{self, Descriptors};
use super::limits::{REPLICAS_MAX, WINDOW};
use super::offers::{self, Offers};
use crate::database;
use crate::server::ServerOptions;

/// How often it looks whether it was asked to end.
const TICK: Duration = Duration::from_millis(20);
/// A replica that ends before it has the state of another one is started again only after a pause that doubles up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// Replicas that do not end for so long when they are asked to are killed.
const ENDING_MAX: Duration = Duration::from_secs(3);

/// A server whose replicas are processes that may be killed: what was answered is kept as long as one of them lives.
///
/// This process listens, and owns the memory by which the replicas agree; it holds no data and serves no client itself. A replica
/// that ends is started again, and goes on from the state of another one. If all of them end at once, what they held is lost, and the server
/// ends.
#[derive(Debug)]
pub struct ProcessServer {
    address: SocketAddr,
    listener: TcpListener,
    options: ServerOptions,
    hash_numbers: (u64, u64),
    group: ProcessGroup,
    memory: OwnedFd,
    /// The two ends of each bell: that of the replica, and that of those who ring it.
    bells: Vec<(UnixDatagram, UnixDatagram)>,
}

/// The process of a replica.
#[derive(Debug)]
enum Life {
    Runs { child: Child, watch: OwnedFd },
    Pauses { until: Instant },
}

impl ProcessServer {
    /// Listens where the options say. Clients can connect from now on, and are served once the server runs.
    ///
    /// # Errors
    ///
    /// If the address cannot be listened on, the options are out of range, or memory is short.
    pub fn bind(options: ServerOptions) -> io::Result<Self> {
        options.check()?;
        let replicas = options.replicas;
        if replicas > REPLICAS_MAX {
            let wrong =
                format!("{replicas} replicas: 1 to {REPLICAS_MAX} are possible as processes");
            return Err(io::Error::new(ErrorKind::InvalidInput, wrong));
        }
        if let Some(dir) = &options.dir {
            let wrong = format!(
                "{}: a folder is for replicas of one process, those that are processes keep what is written while one of them lives",
                dir.display()
            );
            return Err(io::Error::new(ErrorKind::InvalidInput, wrong));
        }
        let listener = mio::net::TcpListener::bind(SocketAddr::new(options.bind, options.port))?;
        let listener = TcpListener::from(OwnedFd::from(listener));
        let lines = Offers::lines(replicas);
        let made = ProcessGroup::create(replicas, WINDOW, lines).map_err(io::Error::other)?;
        let bells = (0..replicas).map(|_| {
            let (heard, rung) = UnixDatagram::pair()?;
            heard.set_nonblocking(true)?;
            rung.set_nonblocking(true)?;
            Ok((heard, rung))
        });
        let bells = bells.collect::<io::Result<Vec<_>>>()?;
        let rung = bells.iter().map(|(_, it)| it.try_clone());
        let rung = rung.collect::<io::Result<Vec<_>>>()?;
        let (group, memory) = made;
        Ok(Self {
            address: listener.local_addr()?,
            listener,
            options,
            hash_numbers: database::hash_numbers(),
            group: group.ringing(Arc::new(move |to: usize| drop(rung[to].send(&[1])))),
            memory,
            bells,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Runs the replicas until this process is asked to end ([`corecast_wire::ending`]). `command` is what a process is started
    /// with that is to call [`Replica::inherited`](super::Replica::inherited) and `run`; its standard input is set. It must be called
    /// by a thread that lives as long as the server: replicas end with it. `started` is told which process was started for which
    /// replica.
    ///
    /// # Errors
    ///
    /// If a process cannot be started, or all replicas have ended at once, and what they held is lost.
    pub fn run(
        self,
        command: impl Fn() -> Command,
        mut started: impl FnMut(usize, u32),
    ) -> io::Result<()> {
        let mut lives = Vec::new();
        let mut pauses = vec![FIRST_PAUSE; self.options.replicas];
        for member in 0..self.options.replicas {
            let life = self.start(member, &command, true)?;
            if let Life::Runs { child, .. } = &life {
                started(member, child.id());
            }
            lives.push(life);
        }
        while !ending::is_asked() {
            wait(&lives)?;
            for (member, life) in lives.iter_mut().enumerate() {
                match life {
                    Life::Runs { child, .. } => {
                        let Some(status) = child.try_wait()? else {
                            continue;
                        };
                        let was_whole = offers::is_whole(&self.group, member)?;
                        self.group.ended(member);
                        if ending::is_asked() {
                            continue;
                        }
                        let pause = &mut pauses[member];
                        *pause = match was_whole {
                            true => FIRST_PAUSE,
                            false => (*pause * 2).min(LONGEST_PAUSE),
                        };
                        if !offers::is_whole_anywhere(&self.group)? {
                            return Err(all_lost(member, status));
                        }
                        let until = Instant::now() + *pause;
                        *life = Life::Pauses { until };
                    }
                    Life::Pauses { until } if *until <= Instant::now() => {
                        *life = self.start(member, &command, false)?;
                        if let Life::Runs { child, .. } = life {
                            started(member, child.id());
                        }
                    }
                    Life::Pauses { .. } => {}
                }
            }
        }
        end(lives)
    }

    fn start(
        &self,
        member: usize,
        command: impl Fn() -> Command,
        is_first: bool,
    ) -> io::Result<Life> {
        let (ours, theirs) = UnixDatagram::pair()?;
        let bells = self.bells.iter().map(|(_, rung)| rung.as_fd());
        let descriptors = Descriptors {
            memory: self.memory.as_fd(),
            listener: self.listener.as_fd(),
            bell: self.bells[member].0.as_fd(),
            bells: bells.collect(),
        };
        handover::give(
            &ours,
            member,
            self.hash_numbers,
            &self.options,
            &descriptors,
        )?;
        let start = self.group.starting(member).map_err(io::Error::other)?;
        if is_first {
            offers::set_first(&self.group, member, start)?;
        }
        let mut command = command();
        command.stdin(OwnedFd::from(theirs));
        let child = ending::not_outliving(&mut command, Signal::KILL).spawn();
        let child = child.inspect_err(|_| self.group.ended(member))?;
        Ok(Life::Runs {
            watch: pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?,
            child,
        })
    }
}

/// Waits until a replica has ended, or a tick has passed.
fn wait(lives: &[Life]) -> io::Result<()> {
    let watched = lives.iter().filter_map(|life| match life {
        Life::Runs { watch, .. } => Some(PollFd::new(watch, PollFlags::IN)),
        Life::Pauses { .. } => None,
    });
    let mut watched: Vec<_> = watched.collect();
    let pauses = lives.iter().filter_map(|life| match life {
        Life::Pauses { until } => Some(until.saturating_duration_since(Instant::now())),
        Life::Runs { .. } => None,
    });
    let pause = pauses.min().map_or(TICK, |it| it.min(TICK));
    let pause = Timespec {
        tv_sec: 0,
        tv_nsec: i64::from(pause.subsec_nanos()),
    };
    match poll(&mut watched, Some(&pause)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Asks all replicas to end, and waits until they have.
fn end(lives: Vec<Life>) -> io::Result<()> {
    let children = lives.into_iter().filter_map(|life| match life {
        Life::Runs { child, .. } => Some(child),
        Life::Pauses { .. } => None,
    });
    let mut children: Vec<_> = children.collect();
    for child in &mut children {
        if child.try_wait()?.is_none() {
            let pid = Pid::from_child(child);
            kill_process(pid, Signal::TERM)?;
            // One that is stopped has to go on to end.
            kill_process(pid, Signal::CONT)?;
        }
    }
    let begun = Instant::now();
    for mut child in children {
        while child.try_wait()?.is_none() {
            if begun.elapsed() > ENDING_MAX {
                child.kill()?;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    Ok(())
}

fn all_lost(member: usize, status: ExitStatus) -> io::Error {
    io::Error::other(format!(
        "no replica is left that has the data: the last one, replica {member}, has ended ({status}). What it held is lost; start the server \
         again to begin with an empty store"
    ))
}
