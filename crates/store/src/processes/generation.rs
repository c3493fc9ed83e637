//! What replicas that are there at a time share: the memory by which they agree, their bells, and what they begin with.
//!
//! If all replicas that have the data end at once, the next generation begins with what is in the folder.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::sync::Arc;

use corecast_agree::paxos::processes::ProcessGroup;

use super::handover::{self, Descriptors, Handing};
use super::limits::WINDOW;
use super::offers::{self, Offers};
use crate::durability::{Directory, Disk, GroupLog, Persistence, SEGMENT_BYTES, reopen};

/// What replicas that are there at a time share.
#[derive(Debug)]
pub(super) struct Generation {
    pub(super) group: ProcessGroup,
    memory: OwnedFd,
    /// The two ends of each bell: that of the replica, and that of those who ring it.
    bells: Vec<(UnixDatagram, UnixDatagram)>,
    /// All databases as they are in the beginning, until the first processes have them.
    pub(super) first: Option<File>,
    /// Where there is a folder.
    folder: Option<Folder>,
    /// What reading the folder has shown.
    pub(super) notes: Vec<String>,
}

/// The folder that one of the replicas writes to.
#[derive(Debug)]
struct Folder {
    directory: Arc<Directory>,
    /// The index in the log of the order's first entry.
    base: u64,
    log: GroupLog,
}

impl Generation {
    /// Begins with what is in the folder, if there is one.
    pub(super) fn begin(replicas: usize, directory: Option<&Arc<Directory>>) -> io::Result<Self> {
        let opened = directory.map(|it| {
            let disk = Arc::clone(it) as Arc<dyn Disk>;
            Persistence::open(disk, SEGMENT_BYTES)
        });
        let (keyspace, opened) = opened.transpose()?.unzip();
        let first = keyspace.unwrap_or_default().encode(Vec::new());
        let own_lines = Offers::lines(replicas) + GroupLog::lines(replicas);
        let made = ProcessGroup::create(replicas, WINDOW, own_lines).map_err(io::Error::other)?;
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
        let notes = opened.as_ref().map_or(Vec::new(), |it| it.notes().to_vec());
        let folder = directory.zip(opened).map(|(directory, opened)| {
            let lines = group.user_lines().map_err(io::Error::other)?;
            let log = GroupLog::new(lines, Offers::lines(replicas));
            log.set_saves(&opened.saves());
            log.set_mark(opened.mark());
            Ok::<_, io::Error>(Folder {
                directory: Arc::clone(directory),
                base: opened.end(),
                log,
            })
        });
        Ok(Self {
            group: group.ringing(Arc::new(move |to: usize| drop(rung[to].send(&[1])))),
            memory,
            bells,
            first: Some(offers::written(&first)?),
            folder: folder.transpose()?,
            notes,
        })
    }

    /// Hands all over that a replica needs. Only its first process is given what is there in the beginning.
    pub(super) fn give(
        &self,
        to: &UnixDatagram,
        handing: &Handing<'_>,
        listener: BorrowedFd<'_>,
        first: Option<&File>,
    ) -> io::Result<()> {
        let bells = self.bells.iter().map(|(_, rung)| rung.as_fd());
        let folder = self.folder.as_ref();
        let descriptors = Descriptors {
            memory: self.memory.as_fd(),
            listener,
            bell: self.bells[handing.member].0.as_fd(),
            lock: folder.map(|it| it.directory.lock()),
            first: first.map(File::as_fd),
            bells: bells.collect(),
        };
        let base = folder.map_or(0, |it| it.base);
        handover::give(to, handing, base, &descriptors)
    }

    /// Whether any replica has the whole state.
    pub(super) fn is_whole(&self) -> io::Result<bool> {
        offers::is_whole_anywhere(&self.group)
    }

    /// The replica that writes the log, if one does.
    pub(super) fn writer(&self) -> Option<usize> {
        let start = self.folder.as_ref()?.log.writer();
        (0..self.group.size()).find(|it| self.group.running(*it) == Some(start))
    }

    /// Has a replica write the log, if none does. The former writer has ended: the group knows it no more.
    pub(super) fn appoint(&self) -> io::Result<()> {
        let Some(Folder { log, .. }) = &self.folder else {
            return Ok(());
        };
        // A log that has failed is closed for good.
        if self.writer().is_some() || log.failed().is_some() {
            return Ok(());
        }
        for replica in 0..self.group.size() {
            if let Some(start) = self.group.running(replica)
                && offers::is_whole(&self.group, replica)?
            {
                log.set_writer(start);
                self.group.wake(replica);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Makes all durable that is in the log, unless the writer has done so. All replicas have ended.
    pub(super) fn close(&self) -> io::Result<()> {
        match &self.folder {
            Some(Folder { log, directory, .. }) if !log.is_closed() && log.failed().is_none() => {
                let disk = Arc::clone(directory) as Arc<dyn Disk>;
                reopen(&disk, SEGMENT_BYTES, 0, log.mark()).map(drop)
            }
            _ => Ok(()),
        }
    }
}
