//! The process that starts the replicas, and starts those again that end.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::time::{Duration, Instant};

use corecast_wire::ending;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process, pidfd_open, waitid,
};

use super::generation::Generation;
use super::handover::Handing;
use super::limits::REPLICAS_MAX;
use super::offers;
use crate::database;
use crate::durability::Directory;
use crate::server::{ServerOptions, listen_at};

/// How often it looks whether it was asked to end.
const TICK: Duration = Duration::from_millis(20);
/// A replica that ends before it has the state of another one is started again only after a pause that doubles up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// Replicas that do not end for so long when they are asked to are killed.
const ENDING_MAX: Duration = Duration::from_secs(3);
/// A replica that writes the log and was stopped for so long is ended, so that another one writes: its pace is that of all.
const STOPPED_MAX: Duration = Duration::from_millis(100);

/// A server whose replicas are processes that may be killed: what was answered is kept as long as one of them lives.
///
/// This process listens, and owns the memory by which the replicas agree; it holds no data and serves no client itself. A replica
/// that ends is started again, and goes on from the state of another one. If all of them end at once, they begin again with what is in the
/// folder; without one what they held is lost, and the server ends.
#[derive(Debug)]
pub struct ProcessServer {
    address: SocketAddr,
    listener: TcpListener,
    options: ServerOptions,
    hash_numbers: (u64, u64),
    directory: Option<Arc<Directory>>,
    generation: Generation,
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
    /// If the address cannot be listened on, the options are out of range, memory is short, another server has the folder, or what is in
    /// it cannot be read.
    pub fn bind(options: ServerOptions) -> io::Result<Self> {
        options.check()?;
        let replicas = options.replicas;
        if replicas > REPLICAS_MAX {
            let wrong =
                format!("{replicas} replicas: 1 to {REPLICAS_MAX} are possible as processes");
            return Err(io::Error::new(ErrorKind::InvalidInput, wrong));
        }
        let directory = options.dir.as_deref().map(Directory::open).transpose()?;
        let directory = directory.map(Arc::new);
        let listener = listen_at(SocketAddr::new(options.bind, options.port))?;
        Ok(Self {
            address: listener.local_addr()?,
            listener,
            options,
            hash_numbers: database::hash_numbers(),
            generation: Generation::begin(replicas, directory.as_ref())?,
            directory,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What reading the folder has shown that whoever runs the server should know.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.generation.notes
    }

    /// Runs the replicas until this process is asked to end ([`corecast_wire::ending`]). `command` is what a process is started
    /// with that is to call [`Replica::inherited`](super::Replica::inherited) and `run`; its standard input is set. It must be called
    /// by a thread that lives as long as the server: replicas end with it. `started` is told which process was started for which
    /// replica.
    ///
    /// # Errors
    ///
    /// If a process cannot be started, or all replicas have ended at once, and what they held is lost, or the folder cannot be read.
    pub fn run(
        mut self,
        command: impl Fn() -> Command,
        mut started: impl FnMut(usize, u32),
    ) -> io::Result<()> {
        let mut pause = FIRST_PAUSE;
        loop {
            let begun = Instant::now();
            let mut lives = Vec::new();
            let ended = self.run_generation(&mut lives, &command, &mut started);
            end(lives)?;
            let Some((member, status)) = ended? else {
                return self.generation.close();
            };
            if self.directory.is_none() {
                return Err(all_lost(member, status));
            }
            eprintln!(
                "corecast: no replica is left that has the data: the last one, replica {member}, has ended ({status}). All begin again with \
                 what is in the folder"
            );
            // What ends all of them may do so at once again.
            pause = match begun.elapsed() > LONGEST_PAUSE {
                true => FIRST_PAUSE,
                false => (pause * 2).min(LONGEST_PAUSE),
            };
            std::thread::sleep(pause);
            self.generation = Generation::begin(self.options.replicas, self.directory.as_ref())?;
            for note in &self.generation.notes {
                eprintln!("corecast: {note}");
            }
        }
    }

    /// Runs replicas until this process is asked to end, or none is left that has the data: then the last one that has ended.
    fn run_generation(
        &mut self,
        lives: &mut Vec<Life>,
        command: &impl Fn() -> Command,
        started: &mut impl FnMut(usize, u32),
    ) -> io::Result<Option<(usize, ExitStatus)>> {
        let mut pauses = vec![FIRST_PAUSE; self.options.replicas];
        let mut stopped = None;
        let first = self.generation.first.take();
        for member in 0..self.options.replicas {
            let life = self.start(member, command, first.as_ref())?;
            if let Life::Runs { child, .. } = &life {
                started(member, child.id());
            }
            lives.push(life);
        }
        drop(first);
        let group = &self.generation.group;
        while !ending::is_asked() {
            self.generation.appoint()?;
            wait(lives)?;
            for (member, life) in lives.iter_mut().enumerate() {
                match life {
                    Life::Runs { child, .. } => {
                        let Some(status) = child.try_wait()? else {
                            continue;
                        };
                        let was_whole = offers::is_whole(group, member)?;
                        group.ended(member);
                        if ending::is_asked() {
                            continue;
                        }
                        let pause = &mut pauses[member];
                        *pause = match was_whole {
                            true => FIRST_PAUSE,
                            false => (*pause * 2).min(LONGEST_PAUSE),
                        };
                        if !self.generation.is_whole()? {
                            return Ok(Some((member, status)));
                        }
                        let until = Instant::now() + *pause;
                        *life = Life::Pauses { until };
                    }
                    Life::Pauses { until } if *until <= Instant::now() => {
                        *life = self.start(member, command, None)?;
                        if let Life::Runs { child, .. } = life {
                            started(member, child.id());
                        }
                    }
                    Life::Pauses { .. } => {}
                }
            }
            self.end_stopped_writer(lives, &mut stopped)?;
        }
        Ok(None)
    }

    /// Ends the replica that writes the log if it was stopped, and another one has the data as well.
    fn end_stopped_writer(
        &self,
        lives: &mut [Life],
        since: &mut Option<(usize, Instant)>,
    ) -> io::Result<()> {
        let writer = self.generation.writer().filter(|it| *it < lives.len());
        let stopped = match writer.map(|it| (it, &mut lives[it])) {
            Some((member, Life::Runs { child, .. })) if is_stopped(child)? => Some((member, child)),
            _ => None,
        };
        let Some((member, child)) = stopped else {
            *since = None;
            return Ok(());
        };
        let now = Instant::now();
        let (of, begun) = *since.get_or_insert((member, now));
        if of != member {
            *since = None;
        } else if now - begun > STOPPED_MAX {
            let group = &self.generation.group;
            for other in (0..group.size()).filter(|it| *it != member) {
                if offers::is_whole(group, other)? && group.running(other).is_some() {
                    return child.kill();
                }
            }
        }
        Ok(())
    }

    /// Starts a process for a replica. What all begin with is given to the first one of each.
    fn start(
        &self,
        member: usize,
        command: impl Fn() -> Command,
        first: Option<&File>,
    ) -> io::Result<Life> {
        let (ours, theirs) = UnixDatagram::pair()?;
        let handing = Handing {
            member,
            hash_numbers: self.hash_numbers,
            options: &self.options,
        };
        let generation = &self.generation;
        generation.give(&ours, &handing, self.listener.as_fd(), first)?;
        let group = &generation.group;
        let start = group.starting(member).map_err(io::Error::other)?;
        if first.is_some() {
            offers::set_first(group, member, start)?;
        }
        let mut command = command();
        command.stdin(OwnedFd::from(theirs));
        let child = ending::not_outliving(&mut command, Signal::KILL).spawn();
        let child = child.inspect_err(|_| group.ended(member))?;
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
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Whether a process was stopped by a signal and not made to go on.
fn is_stopped(child: &Child) -> io::Result<bool> {
    let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(Pid::from_child(child)), options) {
        Ok(found) => Ok(found.is_some_and(|it| it.stopped())),
        // It has ended, and can stop no more.
        Err(Errno::CHILD) => Ok(false),
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
