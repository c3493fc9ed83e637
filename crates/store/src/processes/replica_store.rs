//! The store as the event loop of a replica has it.
//!
//! A write is a command of the group: it is answered once this replica has delivered it, from its place in the order. A read is
//! answered from this replica once it is current, by the watermark of `corecast_agree::paxos::processes`. Both wait for the group
//! alone; what others submit is applied meanwhile.

use std::io;
use std::time::{Duration, Instant};

use corecast_agree::Dispatch;
use corecast_agree::paxos::processes::{Delivery, ProcessMember};
use corecast_wire::ending;
use mio::net::UnixDatagram;

use super::offers::Offers;
use crate::bytes::ByteReader;
use crate::keyspace::{Keyspace, Read, Response, Write};

/// A replica that does not answer for so long is not asked any more for a snapshot, but another one.
const ASKED_MAX: Duration = Duration::from_secs(2);

/// The store as the event loop of a replica has it.
#[derive(Debug)]
pub(crate) struct ReplicaStore {
    member: ProcessMember,
    keyspace: Keyspace,
    bell: UnixDatagram,
    offers: Offers,
    /// The write that is waited for, and what it is answered.
    awaited: Option<u64>,
    answer: Option<Response>,
    /// This replica lacks what the others have dropped, which is below this index.
    behind: Option<u64>,
    /// Whom it has asked for a snapshot, and when.
    asked: Option<(usize, Instant)>,
}

impl ReplicaStore {
    pub(super) fn new(member: ProcessMember, bell: UnixDatagram) -> io::Result<Self> {
        Ok(Self {
            offers: Offers::new(member.group(), member.me())?,
            member,
            keyspace: Keyspace::default(),
            bell,
            awaited: None,
            answer: None,
            behind: None,
            asked: None,
        })
    }

    /// Waits until this replica has all that the others have, so that it may serve. Returns whether it has: it may be asked to
    /// end before.
    pub(super) fn enter(&mut self) -> bool {
        let has_all = self.wait(|it| it.member.is_current());
        if has_all {
            self.offers.set_whole(self.member.group(), true);
        }
        has_all
    }

    /// What is readable when another replica wakes this one.
    pub(crate) fn bell(&mut self) -> &mut UnixDatagram {
        &mut self.bell
    }

    /// Takes what has come until the group is told to be asleep; returns how long it may be.
    pub(crate) fn sleeps(&mut self) -> Duration {
        loop {
            self.take();
            if let Some(pause) = self.member.sleeps() {
                if !self.offers.is_asked() {
                    return pause;
                }
                self.member.wakes();
            }
        }
    }

    /// An error if this replica cannot go on, as it lacks what no other one has.
    pub(crate) fn goes_on(&self) -> io::Result<()> {
        match self.is_lost() {
            true => Err(io::Error::other("this replica lacks what no other one has")),
            false => Ok(()),
        }
    }

    /// After a sleep.
    pub(crate) fn wakes(&mut self) {
        self.member.wakes();
        while self.bell.recv(&mut [0; 8]).is_ok() {}
    }

    /// The replicas that lead and accept, as far as this one knows.
    pub(crate) fn roles(&self) -> (usize, usize) {
        self.member.roles()
    }

    /// The number of this replica.
    pub(crate) fn number(&self) -> usize {
        self.member.me()
    }

    /// Whether this replica does what one has to do for all.
    pub(crate) fn leads(&self) -> bool {
        self.member.leads()
    }

    /// Reads, once this replica is current.
    pub(crate) fn read(&mut self, operation: Read<'_>) -> Response {
        match self.wait(|it| it.member.is_current()) {
            true => self.keyspace.read(operation),
            false => Response::TooLong,
        }
    }

    /// Writes, and answers once it is chosen. What became of a write is not known if the process is asked to end, or this
    /// replica has had to take a snapshot that has it.
    pub(crate) fn write(&mut self, operation: &Write) -> Response {
        let number = self.member.submit(&operation.encode());
        (self.awaited, self.answer) = (Some(number), None);
        let done = self.wait(|it| it.answer.is_some() || it.member.delivered() > number);
        self.awaited = None;
        let answer = self.answer.take().filter(|_| done);
        answer.unwrap_or(Response::TooLong)
    }

    /// Does what a member has to until something holds. Returns false if the process is asked to end before.
    fn wait(&mut self, holds: impl Fn(&Self) -> bool) -> bool {
        loop {
            self.take();
            if self.behind.is_none() && holds(self) {
                return true;
            }
            // A process that ends has its parent look for others.
            if ending::is_asked() || self.is_lost() {
                return false;
            }
            self.member.pause();
        }
    }

    /// Applies what has come, and does what others ask of this replica.
    pub(crate) fn take(&mut self) {
        if let Some(floor) = self.behind {
            self.member.receive();
            // Late messages may have told what it lacked: then no snapshot is newer.
            match self.member.next() >= floor {
                true => self.is_whole_again(),
                false => self.catch_up(),
            }
        }
        if self.behind.is_some() {
            return;
        }
        while let Some(delivery) = self.member.poll() {
            match delivery {
                Delivery::Command { own, command, .. } => {
                    let answer = self.keyspace.write(&Write::decode(&command));
                    if own.is_some() && own == self.awaited {
                        self.answer = Some(answer);
                    }
                }
                Delivery::Behind { floor } if floor <= self.member.next() => {}
                Delivery::Behind { floor } => {
                    self.behind = Some(floor);
                    self.offers.set_whole(self.member.group(), false);
                    return;
                }
            }
        }
        if self.offers.is_asked() {
            let snapshot = self.snapshot();
            self.offers.answer_all(self.member.group(), &snapshot);
        }
        self.offers.tidy(self.member.group());
    }

    /// The whole replica: the length of its databases, these, and where they stand in the log.
    fn snapshot(&self) -> Vec<u8> {
        const LENGTH: usize = size_of::<u64>();
        let mut bytes = self.keyspace.encode(vec![0; LENGTH]);
        let len = (bytes.len() - LENGTH) as u64;
        bytes[..LENGTH].copy_from_slice(&len.to_ne_bytes());
        bytes.extend(self.member.snapshot());
        bytes
    }

    /// Asks for a snapshot, and installs it when it is there.
    fn catch_up(&mut self) {
        let group = self.member.group();
        let Some((from, since)) = self.asked else {
            let asked = self.offers.ask(group, self.member.roles());
            self.asked = asked.map(|from| (from, Instant::now()));
            return;
        };
        let Some(answer) = self.offers.answer() else {
            if group.running(from).is_none() || since.elapsed() > ASKED_MAX {
                self.asked = None;
            }
            return;
        };
        self.asked = None;
        self.offers.finish();
        if answer.is_ok_and(|bytes| self.install(&bytes)) {
            self.is_whole_again();
        }
    }

    fn is_whole_again(&mut self) {
        (self.behind, self.asked) = (None, None);
        self.offers.finish();
        self.offers.set_whole(self.member.group(), true);
    }

    /// Goes on from the snapshot of another replica; returns whether it was whole, and newer than what this one has.
    fn install(&mut self, bytes: &[u8]) -> bool {
        let mut from = ByteReader(bytes);
        let Some(keyspace) = from.bytes().and_then(Keyspace::decode) else {
            return false;
        };
        let installed = self.member.install(from.0).is_some();
        if installed {
            self.keyspace = keyspace;
        }
        installed
    }

    /// Whether what this replica lacks is nowhere any more.
    fn is_lost(&self) -> bool {
        self.behind.is_some() && !self.offers.is_whole_elsewhere(self.member.group())
    }
}
