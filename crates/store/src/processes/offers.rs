//! Snapshots from replica to replica, and which replicas have the state.
//!
//! A replica that needs a snapshot writes in its line whom it asks, and the number of its request. The other one writes the whole store
//! to a file in memory without a name, and in the line where it is: the process and the number of its descriptor. The first opens it
//! there, through `/proc`.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;

use corecast_agree::paxos::processes::ProcessGroup;
use corecast_wire::{LineSlice, Words};
use rustix::fs::{MemfdFlags, memfd_create};

/// Words of the line of a replica: what it asks for, and whom.
const REQUEST: usize = 0;
const ASKED: usize = 1;
/// The request that was answered, and where the answer is.
const ANSWERED: usize = 2;
const PROCESS: usize = 3;
const DESCRIPTOR: usize = 4;
/// The start of the replica that has the whole state, but for what comes in the log; or that it lacks a part.
const WHOLE: usize = 5;
const LACKS: u64 = u64::MAX;

/// The lines of all replicas, in memory that they share.
#[derive(Debug)]
pub(super) struct Offers {
    lines: LineSlice<Words>,
    me: usize,
    /// The files that others read, each with the request that it answers.
    files: Vec<Option<(u64, File)>>,
    requests: u64,
}

impl Offers {
    /// Lines of the user's that a group needs.
    pub(super) const fn lines(replicas: usize) -> usize {
        replicas
    }

    pub(super) fn new(group: &ProcessGroup, me: usize) -> io::Result<Self> {
        let lines = group.user_lines().map_err(io::Error::other)?;
        let files = (0..group.size()).map(|_| None).collect();
        Ok(Self {
            requests: lines[me].get(REQUEST),
            lines,
            me,
            files,
        })
    }

    /// Says whether this replica has the whole state, but for what comes in the log.
    pub(super) fn set_whole(&self, group: &ProcessGroup, is_whole: bool) {
        let start = group.running(self.me).filter(|_| is_whole);
        self.lines[self.me].set(WHOLE, start.unwrap_or(LACKS));
    }

    /// Whether another replica has the whole state.
    pub(super) fn is_whole_elsewhere(&self, group: &ProcessGroup) -> bool {
        let mut others = (0..group.size()).filter(|it| *it != self.me);
        others.any(|it| is_whole_in(&self.lines, group, it))
    }

    /// Asks another replica that has the whole state, one of `last` only if there is no other. Returns whom; `None` if there
    /// is none at present.
    pub(super) fn ask(&mut self, group: &ProcessGroup, last: (usize, usize)) -> Option<usize> {
        let others = (0..group.size()).filter(|it| *it != self.me);
        let whole = others.filter(|it| is_whole_in(&self.lines, group, *it));
        // Each time another one.
        let turn = |it: usize| (it + self.requests as usize) % group.size();
        let asked = whole.min_by_key(|it| ([last.0, last.1].contains(it), turn(*it)))?;
        self.requests += 1;
        let line = &self.lines[self.me];
        line.set(ASKED, asked as u64);
        line.set(REQUEST, self.requests);
        group.wake(asked);
        Some(asked)
    }

    /// The snapshot that was asked for, once it is there.
    pub(super) fn answer(&self) -> Option<io::Result<File>> {
        let line = &self.lines[self.me];
        if line.get(ANSWERED) != self.requests {
            return None;
        }
        let path = format!("/proc/{}/fd/{}", line.get(PROCESS), line.get(DESCRIPTOR));
        Some(File::open(path))
    }

    /// Says that nothing more is asked for, so that the file goes.
    pub(super) fn finish(&self) {
        self.lines[self.me].set(ASKED, u64::MAX);
    }

    /// Whether a replica asks this one.
    pub(super) fn is_asked(&self) -> bool {
        (0..self.files.len()).any(|by| self.asks(by).is_some())
    }

    /// The request of a replica that asks this one and was not answered.
    fn asks(&self, by: usize) -> Option<u64> {
        let line = &self.lines[by];
        let request = line.get(REQUEST);
        let is_asked = by != self.me && line.get(ASKED) == self.me as u64;
        (is_asked && line.get(ANSWERED) != request).then_some(request)
    }

    /// Answers all that ask. Whoever cannot be answered asks another one.
    pub(super) fn answer_all(&mut self, group: &ProcessGroup, snapshot: &[u8]) {
        for by in 0..self.files.len() {
            let Some(request) = self.asks(by) else {
                continue;
            };
            let Ok(file) = written(snapshot) else {
                continue;
            };
            let line = &self.lines[by];
            line.set(PROCESS, std::process::id().into());
            line.set(DESCRIPTOR, file.as_raw_fd() as u64);
            line.set(ANSWERED, request);
            self.files[by] = Some((request, file));
            group.wake(by);
        }
    }

    /// Drops files that nobody reads any more.
    pub(super) fn tidy(&mut self, group: &ProcessGroup) {
        for (by, file) in self.files.iter_mut().enumerate() {
            let line = &self.lines[by];
            let reads = line.get(ASKED) == self.me as u64 && group.running(by).is_some();
            if file
                .as_ref()
                .is_some_and(|(request, _)| !reads || line.get(REQUEST) != *request)
            {
                *file = None;
            }
        }
    }
}

/// Says that the first process of a replica has the whole state: the log begins with it, and nothing is dropped that it has not
/// learned.
pub(super) fn set_first(group: &ProcessGroup, replica: usize, start: u64) -> io::Result<()> {
    let lines = group.user_lines().map_err(io::Error::other)?;
    lines[replica].set(WHOLE, start);
    Ok(())
}

/// Whether the process of a replica has the whole state.
pub(super) fn is_whole(group: &ProcessGroup, replica: usize) -> io::Result<bool> {
    let lines = group.user_lines().map_err(io::Error::other)?;
    Ok(is_whole_in(&lines, group, replica))
}

fn is_whole_in(lines: &LineSlice<Words>, group: &ProcessGroup, replica: usize) -> bool {
    group.running(replica) == Some(lines[replica].get(WHOLE))
}

/// Whether any replica has the whole state.
pub(super) fn is_whole_anywhere(group: &ProcessGroup) -> io::Result<bool> {
    let lines = group.user_lines().map_err(io::Error::other)?;
    Ok((0..group.size()).any(|it| is_whole_in(&lines, group, it)))
}

/// A file in memory with these bytes.
pub(super) fn written(bytes: &[u8]) -> io::Result<File> {
    let mut file = File::from(memfd_create("corecast-snapshot", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    Ok(file)
}
