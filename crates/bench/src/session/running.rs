//! The processes of a session, from their launch to their end.

use super::answer::{self, RankAnswer, Trouble};
use super::error::SessionError;
use super::launch::{FOLDER, Launch};
use super::processes;
use crate::scratch::Scratch;
use corecast_wire::ending;
use rustix::process::Signal;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The processes of a session, which wait for orders. They end when it is dropped.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    ranks: Vec<RunningRank>,
    folder: Scratch,
    /// Whether all ranks wait for an order.
    sound: bool,
}

#[derive(Debug)]
struct RunningRank {
    stream: BufReader<UnixStream>,
    pid: i32,
}

/// Name of the file in the session's folder that gets the output of the processes.
const LOG: &str = "log";

/// How often a wait for an answer looks whether this process was asked to end.
const LOOK: Duration = Duration::from_millis(100);

/// Time that processes have to end on their own, and again after a signal.
const FAREWELL: Duration = Duration::from_secs(3);

/// Time after this process was asked to end until which it waits for the ends of sessions, of which a race has several.
const FAREWELL_ASKED: Duration = Duration::from_millis(400);

impl Running {
    /// Starts all ranks and waits until they have connected.
    pub(super) fn launch(launch: &Launch, limit: Duration) -> Result<Running, SessionError> {
        let failed = |source| SessionError::Launch {
            program: launch.program.display().to_string(),
            source,
        };
        let folder = Scratch::new("corecast-session-").map_err(failed)?;
        let listener = UnixListener::bind(folder.path().join("socket")).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let child = start(launch, folder.path()).map_err(failed)?;
        let mut running = Running {
            child,
            ranks: Vec::new(),
            folder,
            sound: false,
        };
        running.gather(&listener, launch.ranks, limit)?;
        Ok(running)
    }

    /// Accepts the connections of all ranks and puts them in order of rank.
    fn gather(
        &mut self,
        listener: &UnixListener,
        ranks: usize,
        limit: Duration,
    ) -> Result<(), SessionError> {
        let deadline = Instant::now() + limit;
        let mut come: Vec<Option<RunningRank>> = (0..ranks).map(|_| None).collect();
        while come.iter().any(Option::is_none) {
            match listener.accept() {
                Ok((stream, _)) => {
                    let (at, rank) = hello(stream, ranks, deadline).map_err(|e| self.lost(&e))?;
                    come[at] = Some(rank);
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    if let Ok(Some(status)) = self.child.try_wait() {
                        return Err(SessionError::Lost {
                            what: format!("ended with {status}"),
                            said: self.said(),
                        });
                    }
                    if ending::is_asked() {
                        return Err(SessionError::Interrupted);
                    }
                    if Instant::now() >= deadline {
                        return Err(SessionError::TimedOut(limit));
                    }
                    thread::sleep(Duration::from_millis(1));
                }
                Err(e) => return Err(self.lost(&e)),
            }
        }
        self.ranks = come.into_iter().flatten().collect();
        self.sound = true;
        Ok(())
    }

    pub(super) fn pids(&self) -> Vec<i32> {
        self.ranks.iter().map(|rank| rank.pid).collect()
    }

    /// Gives all ranks `order` and returns their answers.
    pub(super) fn obey(
        &mut self,
        order: &str,
        limit: Duration,
    ) -> Result<Vec<RankAnswer>, SessionError> {
        let deadline = Instant::now() + limit;
        self.sound = false;
        for at in 0..self.ranks.len() {
            let sent = self.ranks[at].stream.get_mut().write_all(order.as_bytes());
            sent.map_err(|e| self.lost(&e))?;
        }
        let mut answers = Vec::new();
        for at in 0..self.ranks.len() {
            let stream = &mut self.ranks[at].stream;
            let answer = begun(stream, deadline)
                .and_then(|()| patient(stream.get_ref(), deadline))
                .map_err(Trouble::Stream)
                .and_then(|()| answer::read(stream));
            if answer.is_err() && ending::is_asked() {
                return Err(SessionError::Interrupted);
            }
            answers.push(answer.map_err(|trouble| match trouble {
                Trouble::Said(error) => error,
                Trouble::Stream(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    SessionError::TimedOut(limit)
                }
                Trouble::Stream(e) => self.lost(&e),
            })?);
        }
        self.sound = true;
        Ok(answers)
    }

    fn lost(&self, error: &io::Error) -> SessionError {
        SessionError::Lost {
            what: format!("a rank was lost ({error})"),
            said: self.said(),
        }
    }

    /// The last line with text that the processes wrote.
    fn said(&self) -> String {
        let bytes = fs::read(self.folder.path().join(LOG)).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let tells = |line: &&str| line.chars().any(char::is_alphanumeric);
        let line = text.lines().rfind(tells).unwrap_or("no output");
        line.trim().chars().take(200).collect()
    }
}

impl Drop for Running {
    /// Lets the processes end on their own, so that they remove what they have in /dev/shm. Those
    /// that do not end are terminated by a signal, and those that ignore it are killed. If this process was asked to end, the
    /// signal comes at once, and nobody waits long for those that take their time to obey: they get another one when it ends.
    fn drop(&mut self) {
        let hurry = ending::since_asked().map(|since| FAREWELL_ASKED.saturating_sub(since));
        let starter = self.child.id() as i32;
        let mut pids = processes::descendants(starter);
        pids.extend(self.pids());
        self.ranks.clear();
        let last = hurry.unwrap_or(FAREWELL);
        if (hurry.is_none() && self.sound && self.ends_within(FAREWELL))
            || self.ends_on_signal(last)
        {
            pids.retain(|&pid| ours(pid, &self.folder));
        } else if hurry.is_some() {
            return;
        } else {
            // The starter is not reaped yet, so its number has not passed to another process.
            processes::kill(&[starter]);
        }
        processes::kill(&pids);
        let _ = self.child.wait();
    }
}

impl Running {
    fn ends_on_signal(&mut self, limit: Duration) -> bool {
        processes::terminate(self.child.id() as i32);
        self.ends_within(limit)
    }

    fn ends_within(&mut self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        loop {
            match self.child.try_wait() {
                Ok(Some(_)) => return true,
                Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(2)),
                Ok(None) | Err(_) => return false,
            }
        }
    }
}

/// Whether `pid` is still a process of the session, since the number may have passed to another
/// one. A rank has the folder among its arguments.
fn ours(pid: i32, folder: &Scratch) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let path = folder.path().as_os_str().as_encoded_bytes();
    line.split(|byte| *byte == 0).any(|word| word == path)
}

fn start(launch: &Launch, folder: &Path) -> io::Result<Child> {
    let log = File::create(folder.join(LOG))?;
    let mut command = Command::new(&launch.program);
    for key in &launch.environment_removed {
        command.env_remove(key);
    }
    for argument in &launch.arguments {
        match argument == FOLDER {
            true => command.arg(folder),
            false => command.arg(argument),
        };
    }
    // Open MPI's starters make and remove one folder of a user's, and fail where another does so meanwhile.
    command
        .env("TMPDIR", folder)
        .envs(launch.environment.iter().map(|(k, v)| (k, v)))
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .process_group(0);
    // A starter ends its ranks, and removes what they have in /dev/shm, before it obeys.
    ending::not_outliving(&mut command, Signal::TERM).spawn()
}

/// Lets reads of `stream` wait no longer than until `deadline`.
fn patient(stream: &UnixStream, deadline: Instant) -> io::Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))
}

/// Waits for the first byte of an answer: no longer than until `deadline`, or until this process is asked to end.
fn begun(stream: &mut BufReader<UnixStream>, deadline: Instant) -> io::Result<()> {
    while !ending::is_asked() {
        patient(stream.get_ref(), deadline.min(Instant::now() + LOOK))?;
        match stream.fill_buf() {
            Err(e) if e.kind() == io::ErrorKind::WouldBlock && Instant::now() < deadline => {}
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            other => return other.map(drop),
        }
    }
    Err(io::ErrorKind::WouldBlock.into())
}

/// Reads the first line of a rank, which tells its number and its process.
fn hello(stream: UnixStream, ranks: usize, deadline: Instant) -> io::Result<(usize, RunningRank)> {
    stream.set_nonblocking(false)?;
    patient(&stream, deadline)?;
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let odd = || io::Error::other(format!("said {line:?} instead of its rank among {ranks}"));
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<i32>().ok());
    let (rank, all, pid) = match (words.first(), number(1), number(2), number(3)) {
        (Some(&"rank"), Some(rank), Some(all), Some(pid)) => (rank, all, pid),
        _ => return Err(odd()),
    };
    let at = usize::try_from(rank).map_err(|_| odd())?;
    if at >= ranks || usize::try_from(all) != Ok(ranks) || pid <= 1 {
        return Err(odd());
    }
    Ok((at, RunningRank { stream, pid }))
}
