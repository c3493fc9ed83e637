//! A member of a group that is a process.

use corecast_wire::sync::Instant;
use corecast_wire::{LineRef, SegmentError, WaitConfig, WaitStrategy, Words};
use std::collections::VecDeque;
use std::time::Duration;

use super::Piece;
use super::group::{FENCE, ProcessGroup, WAKE};
use super::packet_ring::RingReceiver;
use super::unfinished::{Unfinished, pieces};
use super::wires::ProcessWires;
use crate::paxos::due::Due;
use crate::paxos::group::wires::{decode, word};
use crate::paxos::{Driver, Event, Full, Options, Snapshot};

/// What a member delivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The next command of the total order.
    Command {
        /// Its index in the log, where there are also entries that are no commands, and parts of commands.
        index: u64,
        /// The start that submitted it.
        start: u64,
        /// Its number, as [`submit`](ProcessMember::submit) has returned it there.
        number: u64,
        /// The number that [`submit`](ProcessMember::submit) has returned for it; none for one of another start.
        own: Option<u64>,
        /// The command.
        command: Vec<u8>,
    },
    /// This member is to install the state of another one that has delivered all below `floor`.
    Behind {
        /// The first entry that the others have kept.
        floor: u64,
    },
}

/// A member of a group of processes that agree on one order of commands of any length.
///
/// It belongs to the thread that makes it, of the process that was started for it, which must call [`poll`](Self::poll) again and
/// again: the others ask the kernel about that thread when they hear nothing of the member.
///
/// # Examples
///
/// One process that is all of its group:
///
/// ```
/// use corecast_agree::paxos::Options;
/// use corecast_agree::paxos::processes::{Delivery, ProcessGroup, ProcessMember};
/// use corecast_wire::WaitConfig;
///
/// let options = Options { lag_max: 64, ..Options::default() };
/// let (group, _descriptor) = ProcessGroup::create(1, 128, 0)?;
/// let start = group.starting(0)?;
/// let mut member = ProcessMember::new(0, group, options, WaitConfig::BALANCED)?;
/// let own = Some(member.submit(&[7; 5000]));
/// let Delivery::Command { own: told, command, .. } = member.wait() else { panic!("nobody lags") };
/// assert_eq!((told, command), (own, vec![7; 5000]));
/// # Ok::<(), corecast_wire::SegmentError>(())
/// ```
#[derive(Debug)]
pub struct ProcessMember {
    me: usize,
    start: u64,
    group: ProcessGroup,
    driver: Driver<Piece>,
    wires: ProcessWires,
    receivers: Vec<(usize, RingReceiver)>,
    wait_strategy: WaitStrategy,
    watermark: LineRef<Words>,
    /// What the watermark is known to be.
    raised: u64,
    unfinished: Unfinished,
    /// Pieces of own commands that have no room yet.
    unsent: VecDeque<Piece>,
    /// Pieces of own commands so far, and how many of them were delivered.
    submitted: u64,
    delivered: u64,
    began: Instant,
    tick_ns: u64,
    every_ns: u64,
    packet: Vec<u8>,
}

/// Times begin here, so that what is long ago is not before the beginning.
const BEGINNING_NS: u64 = 1 << 40;

impl ProcessMember {
    /// Member `me`, for the process that was started for it.
    ///
    /// # Errors
    ///
    /// [`SegmentError`] if the memory is not that of the group.
    ///
    /// # Panics
    ///
    /// If the member was not [started](ProcessGroup::starting), or may lag by more than half of what acceptors keep.
    pub fn new(
        me: usize,
        group: ProcessGroup,
        options: Options,
        wait_config: WaitConfig,
    ) -> Result<Self, SegmentError> {
        let size = group.size();
        assert!(
            2 * options.lag_max <= group.layout().window() as u64,
            "members may lag by {} entries: acceptors keep {}, which has to be twice as many",
            options.lag_max,
            group.layout().window()
        );
        let start = group.running(me).expect("the member was started");
        let layout = group.layout();
        let receivers = (0..size).filter(|from| *from != me).map(|from| {
            let receiver = RingReceiver::new(layout.ring(from, me)?);
            Ok((from, receiver))
        });
        let parker = group.wakers().parker(me);
        Ok(Self {
            me,
            start,
            driver: Driver::new(me, size, start << 8 | me as u64, options, BEGINNING_NS),
            wires: ProcessWires::new(me, &group)?,
            receivers: receivers.collect::<Result<_, SegmentError>>()?,
            wait_strategy: WaitStrategy::with_fence(wait_config, parker, FENCE),
            watermark: layout.watermark()?,
            raised: 0,
            unfinished: Unfinished::default(),
            unsent: VecDeque::new(),
            submitted: 0,
            delivered: 0,
            began: Instant::now(),
            tick_ns: 0,
            every_ns: options.heartbeat_ns / 2,
            packet: Vec::new(),
            group,
        })
    }

    /// This member's number.
    pub fn me(&self) -> usize {
        self.me
    }

    /// The number of this start.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The group.
    pub fn group(&self) -> &ProcessGroup {
        &self.group
    }

    /// Whether this member leads.
    pub fn leads(&self) -> bool {
        self.driver.leads()
    }

    /// The leader and the acceptor, as far as this member knows.
    pub fn roles(&self) -> (usize, usize) {
        self.driver.roles()
    }

    /// Submits a command, and returns its number, which is greater than those before. It is chosen when it is delivered. What
    /// has no room is kept here until it has.
    pub fn submit(&mut self, command: &[u8]) -> u64 {
        let before = self.unsent.len();
        self.unsent.extend(pieces(command));
        self.submitted += (self.unsent.len() - before) as u64;
        self.send();
        self.submitted - 1
    }

    /// Own commands with lower numbers were delivered, or are in a snapshot that was installed.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    fn send(&mut self) {
        let now_ns = self.now_ns();
        while let Some(piece) = self.unsent.pop_front() {
            if let Err(Full(piece)) = self.driver.submit(piece, now_ns, &mut self.wires) {
                self.unsent.push_front(piece);
                return;
            }
        }
    }

    fn now_ns(&self) -> u64 {
        BEGINNING_NS + self.began.elapsed().as_nanos() as u64
    }

    /// Takes what has come, and returns what is delivered next, if anything is. Once it is returned, every member that
    /// reads waits until it has delivered as much ([`is_current`](Self::is_current)).
    pub fn poll(&mut self) -> Option<Delivery> {
        loop {
            while let Some(event) = self.driver.event() {
                if let Some(delivery) = self.deliver(event) {
                    return Some(delivery);
                }
            }
            let came = self.receive();
            if !self.driver.has_event() && !came {
                return None;
            }
        }
    }

    /// Takes packets and does what is due, but delivers nothing, for a member that waits for a snapshot. Returns whether a packet
    /// came.
    pub fn receive(&mut self) -> bool {
        let now_ns = self.now_ns();
        let mut came = false;
        for (from, receiver) in &mut self.receivers {
            // Others have their turn.
            for _ in 0..64 {
                let Some(tag) = receiver.try_receive(&mut self.packet) else {
                    break;
                };
                came = true;
                if let Some(packet) = decode(tag, &self.packet) {
                    self.driver.receive(*from, packet, now_ns, &mut self.wires);
                }
            }
            if receiver.is_awaited() {
                self.group.wakers().wake(*from);
            }
        }
        let lost = self.lost();
        self.driver.set_lost(lost);
        self.wires.set_lost(lost);
        let (leader, acceptor) = self.driver.roles();
        let is_lost = lost >> leader & 1 == 1 || self.leads() && lost >> acceptor & 1 == 1;
        if now_ns >= self.tick_ns || is_lost {
            self.tick_ns = now_ns + self.every_ns;
            self.driver.tick(now_ns, &mut self.wires);
        }
        if !self.unsent.is_empty() {
            self.send();
        }
        self.wires.flush();
        came
    }

    fn deliver(&mut self, event: Event<Piece>) -> Option<Delivery> {
        let (index, submission) = match event {
            Event::Delivered { index, submission } => (index, submission),
            Event::Behind { floor } => return Some(Delivery::Behind { floor }),
        };
        let start = submission.origin >> 8;
        let own = (start == self.start).then_some(submission.number);
        if let Some(number) = own {
            self.delivered = number + 1;
        }
        let command = self.unfinished.take(&submission)?;
        self.raise(index + 1);
        Some(Delivery::Command {
            index,
            start,
            number: submission.number,
            own,
            command,
        })
    }

    /// No member answers a read any more before it has delivered what is below `next`.
    fn raise(&mut self, next: u64) {
        if seeded!(WatermarkUnraised) {
            return;
        }
        while self.raised < next {
            let before = self.watermark.get(0);
            if before >= next || self.watermark.replace(0, before, next) {
                self.raised = before.max(next);
            }
        }
    }

    /// The first index of the log that this member has not learned; deliveries of those before may not be taken yet.
    pub fn next(&self) -> u64 {
        self.driver.next()
    }

    /// Whether a read of this member's state, to which all deliveries were applied, has all that was answered anywhere before this
    /// call. If not, it will after some deliveries.
    pub fn is_current(&self) -> bool {
        let is_taken = !self.driver.has_event();
        is_taken && self.driver.next() >= self.watermark.get(0)
    }

    /// The other members that do not run, a bit each.
    fn lost(&self) -> u64 {
        self.group.lost() & !(1 << self.me)
    }

    /// Whether a packet is there, or there is room for one that waits, or a member has ended or begun.
    fn has_news(&self) -> bool {
        self.receivers.iter().any(|(_, it)| it.can_receive())
            || self.wires.can_flush()
            || self.lost() != self.wires.lost()
    }

    /// Waits until a packet is there, a member has ended, or something is due.
    pub fn pause(&mut self) {
        let look = || self.has_news().then_some(());
        let due = || Due {
            began: self.began,
            after_ns: self.tick_ns.saturating_sub(BEGINNING_NS),
        };
        let _ = self.wait_strategy.wait_watched(WAKE, due, look);
    }

    /// Waits for the next delivery.
    pub fn wait(&mut self) -> Delivery {
        loop {
            if let Some(delivery) = self.poll() {
                return delivery;
            }
            self.pause();
        }
    }

    /// Says that this member is about to sleep in a way of the user's, from which its bell wakes it. Returns how long it may;
    /// `None` if there is something to do.
    pub fn sleeps(&mut self) -> Option<Duration> {
        self.group.wakers().arm(self.me);
        let is_there = self.driver.has_event() || self.has_news();
        let left = self.tick_ns.saturating_sub(self.now_ns());
        if is_there || left == 0 {
            self.wakes();
            return None;
        }
        Some(Duration::from_nanos(left))
    }

    /// Says that it does not sleep any more.
    pub fn wakes(&mut self) {
        self.group.wakers().disarm(self.me);
    }

    /// Where in the order the user's state stands once all deliveries have been taken, as bytes, to go with a copy of that state.
    ///
    /// # Panics
    ///
    /// If not all deliveries have been taken.
    pub fn snapshot(&self) -> Vec<u8> {
        assert!(!self.driver.has_event(), "deliveries wait to be taken");
        let Snapshot { next, numbers } = self.driver.snapshot();
        let mut bytes = Vec::new();
        for word in [next, numbers.len() as u64] {
            bytes.extend(word.to_ne_bytes());
        }
        for (origin, number) in numbers {
            bytes.extend(origin.to_ne_bytes());
            bytes.extend(number.to_ne_bytes());
        }
        self.unfinished.encode(&mut bytes);
        bytes
    }

    /// Goes on from a snapshot, whose state the user has. Returns the bytes behind it; `None` if it is no snapshot, or older than
    /// what was delivered: then nothing has changed. Own commands that are in it are not delivered any more.
    pub fn install<'a>(&mut self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let mut rest = bytes;
        let (next, count) = (word(&mut rest)?, word(&mut rest)?);
        let mut snapshot = Snapshot {
            next,
            ..Snapshot::default()
        };
        for _ in 0..count {
            let (origin, number) = (word(&mut rest)?, word(&mut rest)?);
            snapshot.numbers.insert(origin, number);
        }
        let (unfinished, rest) = Unfinished::decode(rest)?;
        let own = self.start << 8 | self.me as u64;
        let delivered = snapshot.numbers.get(&own).copied().unwrap_or(0);
        if !self.driver.install(snapshot, &mut self.wires) {
            return None;
        }
        self.delivered = self.delivered.max(delivered);
        self.unfinished = unfinished;
        Some(rest)
    }
}
