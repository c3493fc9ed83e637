//! Members as threads of one process, joined by one-way queues.

pub(super) mod wires;

#[cfg(test)]
mod tests;

use bytemuck::Pod;
use corecast_wire::park::ANY;
use corecast_wire::queue::{self, Backend, Capacity, Receiver};
use corecast_wire::sync::Instant;
use corecast_wire::{Segment, SegmentError, WaitConfig, WaitStrategy};
use std::sync::Arc;
use std::time::Duration;

use super::due::Due;
use super::{Driver, Event, Full, Options, Routes, Snapshot};
use wires::{Shared, Wires, packet_bytes_max};

/// A member of a group of threads that agree on one order of commands: atomic broadcast as a log.
///
/// Each member belongs to one thread, which must call [`poll`](Self::poll) or [`wait`](Self::wait) again and again: a member that does
/// not is taken for one that is gone, and if it led another one leads. A member that is dropped is gone.
///
/// # Cost
///
/// Without failures a command of the leader's takes one message to the acceptor and one from it to each member; one of another
/// member's takes one more. Over [trees](Self::set_routes) the acceptor sends to its children alone, and members pass it on.
/// A message is a line, or two for commands of more than 16 bytes.
///
/// # Examples
///
/// ```
/// use corecast_agree::paxos::{Event, GroupMember, Options};
/// use corecast_wire::WaitConfig;
///
/// let members = GroupMember::<u64>::group(3, Options::default(), WaitConfig::BALANCED)?;
/// let orders: Vec<Vec<u64>> = std::thread::scope(|scope| {
///     let threads: Vec<_> = members
///         .into_iter()
///         .map(|mut member| {
///             scope.spawn(move || {
///                 member.submit(member.me() as u64).expect("nothing is pending");
///                 let mut order = Vec::new();
///                 while order.len() < 3 {
///                     if let Event::Delivered { submission, .. } = member.wait() {
///                         order.push(submission.command);
///                     }
///                 }
///                 // A member that left at once could no longer pass on what the others still wait for.
///                 member.linger(std::time::Duration::from_millis(20));
///                 order
///             })
///         })
///         .collect();
///     threads.into_iter().map(|thread| thread.join().unwrap()).collect()
/// });
/// assert_eq!(orders[0], orders[1]);
/// assert_eq!(orders[0], orders[2]);
/// # Ok::<(), corecast_wire::SegmentError>(())
/// ```
#[derive(Debug)]
pub struct GroupMember<C: Pod> {
    me: usize,
    driver: Driver<C>,
    wires: Wires<C>,
    /// From each other member.
    receivers: Vec<(usize, Receiver)>,
    wait_strategy: WaitStrategy,
    began: Instant,
    /// The time as of the last look at the clock, which costs as much as a message.
    now_ns: u64,
    /// Polls until the next look at the clock.
    polls: u32,
    tick_ns: u64,
    every_ns: u64,
    buffer: Vec<u8>,
}

impl<C: Pod + Send> GroupMember<C> {
    /// The members of a new group of `size`. They wait as `wait_config` says.
    ///
    /// # Errors
    ///
    /// [`SegmentError`] when memory is short.
    ///
    /// # Panics
    ///
    /// `size` is not 1 to 64, or commands have more than 1,024 bytes.
    pub fn group(
        size: usize,
        options: Options,
        wait_config: WaitConfig,
    ) -> Result<Vec<Self>, SegmentError> {
        assert!(
            (1..=64).contains(&size),
            "a group of {size} members: 1 to 64"
        );
        assert!(
            size_of::<C>() <= 1024,
            "commands of {} bytes: up to 1,024",
            size_of::<C>()
        );
        let mut strategies = Vec::new();
        for _ in 0..size {
            strategies.push(WaitStrategy::new(wait_config, Segment::one(None)?));
        }
        let (mut senders, mut receivers) = (Vec::new(), Vec::new());
        senders.resize_with(size, Vec::new);
        receivers.resize_with(size, Vec::new);
        for from in 0..size {
            for to in 0..size {
                if from == to {
                    senders[from].push(None);
                    continue;
                }
                let sender_memory = Segment::new(queue::sender_bytes(), None)?;
                let receiver_memory =
                    Segment::new(queue::receiver_bytes(Capacity::of(SLOTS)), None)?;
                let (sender, receiver) = queue::join(
                    Backend::Ump,
                    Capacity::of(SLOTS),
                    (from * size + to) as u32,
                    (&strategies[from], &sender_memory),
                    (&strategies[to], &receiver_memory),
                )?;
                senders[from].push(Some(sender));
                receivers[to].push((from, receiver));
            }
        }
        let shared = Arc::new(Shared::new(size));
        let began = Instant::now();
        let members = senders
            .into_iter()
            .zip(receivers)
            .zip(strategies)
            .enumerate();
        let members = members.map(|(me, ((senders, receivers), wait_strategy))| Self {
            me,
            driver: Driver::new(me, size, me as u64, options, 0),
            wires: Wires::new(senders, Arc::clone(&shared)),
            receivers,
            wait_strategy,
            began,
            now_ns: 0,
            polls: 0,
            tick_ns: 0,
            every_ns: options.heartbeat_ns / 4,
            buffer: vec![0; packet_bytes_max::<C>()],
        });
        Ok(members.collect())
    }

    /// This member's number.
    pub fn me(&self) -> usize {
        self.me
    }

    /// Whether this member leads.
    pub fn leads(&self) -> bool {
        self.driver.leads()
    }

    /// What acceptors accept reaches all members over trees from now on. All members of the group must be given the same ones.
    pub fn set_routes(&mut self, routes: Routes) {
        self.driver.set_routes(routes);
    }

    /// Submits a command, and returns its number among those of this member; its `origin` is the member's number. It is chosen
    /// when the event with it is told.
    ///
    /// # Errors
    ///
    /// [`Full`] while `pending_max` commands of this member were not delivered: this is the back-pressure.
    pub fn submit(&mut self, command: C) -> Result<u64, Full<C>> {
        self.driver.submit(command, self.now_ns, &mut self.wires)
    }

    /// Takes what has come, and returns the next event if there is one. Costs a look at each queue, and one at the clock in 16 times.
    pub fn poll(&mut self) -> Option<Event<C>> {
        if let Some(event) = self.driver.event() {
            return Some(event);
        }
        if self.polls == 0 {
            self.polls = POLLS_A_LOOK;
            self.now_ns = self.began.elapsed().as_nanos() as u64;
        }
        self.polls -= 1;
        let now_ns = self.now_ns;
        for (from, receiver) in &mut self.receivers {
            while receiver.can_receive() {
                let Ok(received) = receiver.try_receive(&mut self.buffer) else {
                    break;
                };
                if let Some(packet) = wires::decode(received.tag, &self.buffer[..received.len]) {
                    self.driver.receive(*from, packet, now_ns, &mut self.wires);
                }
            }
        }
        if now_ns >= self.tick_ns {
            self.tick_ns = now_ns + self.every_ns;
            self.driver.tick(now_ns, &mut self.wires);
        }
        self.wires.flush();
        self.driver.event()
    }

    /// Waits for the next event.
    pub fn wait(&mut self) -> Event<C> {
        loop {
            if let Some(event) = self.poll() {
                return event;
            }
            self.pause();
        }
    }

    /// Goes on for some time without events being taken, so that others learn what this member has accepted.
    pub fn linger(&mut self, time: Duration) {
        let until = Instant::now() + time;
        let mut events = Vec::new();
        while Instant::now() < until {
            match self.poll() {
                Some(event) => events.push(event),
                None => self.pause(),
            }
        }
        self.driver.give_back(events);
    }

    /// Where in the log the user's state stands once all events have been taken.
    pub fn snapshot(&self) -> Snapshot {
        self.driver.snapshot()
    }

    /// Goes on from the snapshot of another member, whose state the user has installed. One that is older than what was delivered
    /// is refused, and the answer is false.
    pub fn install(&mut self, snapshot: Snapshot) -> bool {
        self.driver.install(snapshot, &mut self.wires)
    }

    /// Waits until a message is there, or something is due.
    fn pause(&mut self) {
        let receivers = &self.receivers;
        let look = || {
            receivers
                .iter()
                .any(|(_, it)| it.can_receive())
                .then_some(())
        };
        let due = || Due {
            began: self.began,
            after_ns: self.tick_ns,
        };
        if self.wait_strategy.wait_watched(ANY, due, look).is_err() {
            self.polls = 0;
        }
    }
}

/// A look at the clock is due after so many polls, and when a wait was long.
const POLLS_A_LOOK: u32 = 16;

/// Slots of each queue. What does not fit waits at its sender.
const SLOTS: usize = 64;
