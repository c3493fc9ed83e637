//! The store as the event loop of a replica has it.
//!
//! A write is a command of the group: it is answered once this replica has delivered it, from its place in the order. A read is
//! answered from this replica once it is current, by the watermark of `corecast_agree::paxos::processes`. Both wait for the group
//! alone; what others submit is applied meanwhile.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use corecast_agree::Dispatch;
use corecast_agree::paxos::processes::{Delivery, ProcessMember};
use corecast_wire::ending;
use mio::net::UnixDatagram;

use super::answers::Answers;
use super::asking::{Asking, Offered};
use super::offers::Offers;
use super::replica_log::ReplicaLog;
use crate::bytes::{ByteReader, ByteWriter};
use crate::durability::GroupLog;
use crate::keyspace::{Keyspace, Read, Response, Write};

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
    /// What others' last writes were answered.
    answers: Answers,
    /// Writes that the group was to agree on.
    agreements: u64,
    /// All before this index was applied.
    applied: u64,
    /// What this replica lacks of the state.
    lacks: Option<Lack>,
    /// How it comes by that.
    asking: Asking,
    /// Where what is written is kept in a folder.
    log: Option<ReplicaLog>,
}

/// What a replica lacks of the state.
#[derive(Clone, Copy, Debug)]
enum Lack {
    /// What the others have dropped, which is below this index.
    Below(u64),
    /// All: it was started again. Its member learns what comes meanwhile, and has it applied later.
    All,
}

impl ReplicaStore {
    /// The store of a replica that begins with `first`; of one that was started again without it.
    pub(super) fn new(
        member: ProcessMember,
        bell: UnixDatagram,
        first: Option<Keyspace>,
        log: Option<ReplicaLog>,
    ) -> io::Result<Self> {
        Ok(Self {
            offers: Offers::new(member.group(), member.me())?,
            member,
            lacks: first.is_none().then_some(Lack::All),
            keyspace: first.unwrap_or_default(),
            bell,
            awaited: None,
            answer: None,
            answers: Answers::default(),
            agreements: 0,
            applied: 0,
            asking: Asking::default(),
            log,
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
            let Some(pause) = self.member.sleeps() else {
                continue;
            };
            if self.log.as_ref().is_some_and(ReplicaLog::is_awaited) {
                self.member.wakes();
                return Duration::ZERO;
            }
            if !self.offers.is_asked() {
                return pause;
            }
            self.member.wakes();
        }
    }

    /// The log as all replicas see it, where there is one.
    pub(crate) fn group_log(&self) -> Option<Arc<GroupLog>> {
        self.log.as_ref().map(|it| Arc::clone(it.shared()))
    }

    /// How many entries of the order what was answered depends on, where they are written down.
    pub(crate) fn seen(&self) -> u64 {
        self.log.as_ref().map_or(0, |_| self.applied)
    }

    /// Notes how far the log is, before it is looked whose replies may go out.
    pub(crate) fn note_released(&mut self) {
        self.log.iter_mut().for_each(ReplicaLog::note);
    }

    /// Says whether replies wait for the log.
    pub(crate) fn set_waits(&mut self, waits: bool) {
        self.log.iter_mut().for_each(|it| it.set_waits(waits));
    }

    /// Has a snapshot written to the folder, and waits for it; returns whether it was.
    pub(crate) fn save(&mut self) -> bool {
        let Some(request) = self.group_log().map(|it| it.ask()) else {
            return false;
        };
        let is_saved = |it: &Self| it.log.as_ref().and_then(|it| it.is_saved(request));
        self.wait(|it| is_saved(it).is_some()) && is_saved(self) == Some(true)
    }

    /// Makes all durable that was applied, if this replica writes. To be called when nothing more is to come.
    pub(crate) fn close(&mut self) {
        self.log.iter_mut().for_each(ReplicaLog::close);
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

    /// How many writes the group was to agree on by this replica. Writes of a turn of its event loop are one.
    pub(crate) fn agreements(&self) -> u64 {
        self.agreements
    }

    /// The replica that writes the log, if one does.
    pub(crate) fn writer(&self) -> Option<usize> {
        self.log.as_ref()?.writer()
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

    /// Writes, and answers once it is chosen. What became of a write is not known if the process is asked to end.
    pub(crate) fn write(&mut self, operation: &Write) -> Response {
        self.agreements += 1;
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
            if self.lacks.is_none() && holds(self) {
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
        if let Some(lack) = self.lacks {
            self.member.receive();
            match lack {
                // Late messages may have told what it lacked: then no snapshot is newer.
                Lack::Below(floor) if self.member.next() >= floor => self.is_whole_again(),
                Lack::Below(_) | Lack::All => self.catch_up(),
            }
        }
        if self.lacks.is_some() {
            return;
        }
        while let Some(delivery) = self.member.poll() {
            match delivery {
                // The snapshot that this replica goes on from has it.
                Delivery::Command { index, .. } if index < self.applied => {}
                Delivery::Command {
                    index,
                    start,
                    number,
                    own,
                    command,
                } => {
                    let answer = self.apply(index, &command);
                    match own {
                        None => self.answers.note(start, number, answer),
                        Some(_) if own == self.awaited => self.answer = Some(answer),
                        Some(_) => {}
                    }
                }
                Delivery::Behind { floor } if floor <= self.member.next() => {}
                Delivery::Behind { floor } => {
                    self.lacks = Some(Lack::Below(floor));
                    self.offers.set_whole(self.member.group(), false);
                    return;
                }
            }
        }
        if let Some(log) = &mut self.log {
            log.advance(&self.keyspace);
        }
        if self.offers.is_asked() {
            let group = self.member.group();
            let runs = |start| (0..group.size()).any(|it| group.running(it) == Some(start));
            self.answers.keep(runs);
            let snapshot = self.snapshot();
            self.offers.answer_all(self.member.group(), &snapshot);
        }
        self.offers.tidy(self.member.group());
    }

    fn apply(&mut self, index: u64, command: &[u8]) -> Response {
        let mut write = Write::decode(command);
        if self.log.is_some() {
            write.tell_removed();
        }
        let answer = self.keyspace.write(&write);
        self.applied = index + 1;
        if let Some(log) = &mut self.log {
            log.applied(index, &write);
        }
        answer
    }

    /// The whole replica: the length of its databases, these, what was applied, what of it is not in the log, what others' last writes
    /// were answered, and where it stands in the order.
    fn snapshot(&self) -> Vec<u8> {
        const LENGTH: usize = size_of::<u64>();
        let mut bytes = self.keyspace.encode(vec![0; LENGTH]);
        let len = (bytes.len() - LENGTH) as u64;
        bytes[..LENGTH].copy_from_slice(&len.to_ne_bytes());
        let mut to = ByteWriter(bytes);
        to.word(self.applied);
        let tail = self.log.as_ref().map(ReplicaLog::encode);
        to.bytes(&tail.unwrap_or_default());
        self.answers.encode(&mut to);
        to.0.extend(self.member.snapshot());
        to.0
    }

    /// Asks for a snapshot, and installs it when it is there.
    fn catch_up(&mut self) {
        if self.asking.is_reading() {
            let read = self.asking.read();
            if !self.asking.is_reading() {
                self.take_offered(read);
            }
            return;
        }
        let group = self.member.group();
        let Some(from) = self.asking.asked() else {
            let asked = self.offers.ask(group, self.member.roles());
            return self.asking.asks(asked, Instant::now());
        };
        let Some(file) = self.offers.answer() else {
            let runs = group.running(from).is_some();
            return self.asking.gives_up(runs, Instant::now());
        };
        let read = file.and_then(|it| self.asking.reads(it));
        if !self.asking.is_reading() {
            self.take_offered(read.ok().flatten());
        }
    }

    /// Goes on from what was read of another replica, or asks again.
    fn take_offered(&mut self, offered: Option<Offered>) {
        self.asking.asks(None, Instant::now());
        self.offers.finish();
        if offered.is_some_and(|it| self.install(it)) {
            self.is_whole_again();
        }
    }

    fn is_whole_again(&mut self) {
        (self.lacks, self.asking) = (None, Asking::default());
        self.offers.finish();
        self.offers.set_whole(self.member.group(), true);
    }

    /// Goes on from the snapshot of another replica; returns whether it was newer than what this one has.
    fn install(&mut self, offered: Offered) -> bool {
        let next = ByteReader(&offered.member).word();
        let is_known = next.is_some_and(|it| it <= self.member.next());
        let installed = match self.lacks {
            // What its member has learned begins with the first entry, so what the snapshot lacks follows.
            Some(Lack::All) if is_known => true,
            _ => self.member.install(&offered.member).is_some(),
        };
        if installed {
            (self.keyspace, self.applied) = (offered.keyspace, offered.applied);
            self.answers = offered.answers;
            // Own writes that it has are not applied any more.
            let own = |number| self.answers.take(self.member.start(), number);
            if let Some(answer) = self.awaited.and_then(own) {
                self.answer = Some(answer);
            }
            self.log.iter_mut().for_each(|it| it.decode(&offered.tail));
        }
        installed
    }

    /// Whether what this replica lacks is nowhere any more.
    fn is_lost(&self) -> bool {
        self.lacks.is_some() && !self.offers.is_whole_elsewhere(self.member.group())
    }
}
