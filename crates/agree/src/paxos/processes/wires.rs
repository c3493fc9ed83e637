//! How a member that is a process reaches the others, and the memory that they share.

use corecast_wire::SegmentError;
use std::collections::VecDeque;

use super::group::ProcessGroup;
use super::packet_ring::RingSender;
use super::starvation::{Starvation, own_thread};
use super::{AcceptorMemory, ConfigurationMemory, Piece};
use crate::paxos::group::wires::encode;
use crate::paxos::{Answer, Configuration, Message, Packet, SharedMemory, Submission, Transport};

/// As many packets wait for room in a ring; others are lost, and sent again later if somebody misses them.
const BACKLOG_MAX: usize = 2048;

/// How one member reaches the others.
#[derive(Debug)]
pub(super) struct ProcessWires {
    me: usize,
    group: ProcessGroup,
    senders: Vec<Option<Wire>>,
    configurations: ConfigurationMemory,
    acceptors: Vec<AcceptorMemory>,
    /// The members that do not run, a bit each: nothing is sent to them.
    lost: u64,
    starvation: Starvation,
    scratch: Vec<u8>,
}

#[derive(Debug)]
struct Wire {
    sender: RingSender,
    backlog: VecDeque<(u32, Vec<u8>)>,
}

impl ProcessWires {
    pub(super) fn new(me: usize, group: &ProcessGroup) -> Result<Self, SegmentError> {
        let layout = group.layout();
        let wire = |to: usize| -> Result<_, SegmentError> {
            let sender = RingSender::new(layout.ring(me, to)?);
            let backlog = VecDeque::new();
            Ok((to != me).then_some(Wire { sender, backlog }))
        };
        let acceptors = (0..group.size()).map(|of| layout.acceptor(of));
        let acceptors = acceptors.collect::<Result<Vec<_>, _>>()?;
        acceptors[me].recover();
        group.set_thread(me, own_thread());
        Ok(Self {
            me,
            senders: (0..group.size()).map(wire).collect::<Result<_, _>>()?,
            configurations: layout.configurations()?,
            acceptors,
            lost: 0,
            starvation: Starvation::default(),
            scratch: Vec::new(),
            group: group.clone(),
        })
    }

    pub(super) fn set_lost(&mut self, lost: u64) {
        self.lost = lost;
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// Sends what has waited for room.
    pub(super) fn flush(&mut self) {
        for (to, wire) in self.senders.iter_mut().enumerate() {
            let Some(wire) = wire else {
                continue;
            };
            if self.lost >> to & 1 == 1 {
                wire.backlog.clear();
            }
            let before = wire.backlog.len();
            while let Some((tag, bytes)) = wire.backlog.front()
                && wire.sender.try_send(*tag, bytes)
            {
                wire.backlog.pop_front();
            }
            if wire.backlog.len() < before {
                self.group.wakers().wake(to);
            }
            if !wire.backlog.is_empty() {
                wire.sender.await_room();
            }
        }
    }

    /// Whether what waits for room has some.
    pub(super) fn can_flush(&self) -> bool {
        let mut wires = self.senders.iter().flatten();
        wires.any(|wire| !wire.backlog.is_empty() && wire.sender.can_send())
    }
}

impl Transport<Piece> for ProcessWires {
    fn send(&mut self, to: usize, packet: Packet<Piece>) {
        let Some(wire) = &mut self.senders[to] else {
            return;
        };
        if self.lost >> to & 1 == 1 {
            return;
        }
        self.scratch.clear();
        let Some(tag) = encode(&packet, &mut self.scratch) else {
            return;
        };
        if wire.backlog.is_empty() && wire.sender.try_send(tag, &self.scratch) {
            self.group.wakers().wake(to);
        } else if wire.backlog.len() < BACKLOG_MAX {
            wire.backlog.push_back((tag, self.scratch.clone()));
        }
    }

    fn is_starved(&mut self, member: usize, since_ns: u64, now_ns: u64) -> bool {
        let thread = self.group.thread(member);
        self.starvation.is_starved(thread, since_ns, now_ns)
    }
}

impl SharedMemory<Piece> for ProcessWires {
    fn last(&mut self) -> (u64, Configuration<Submission<Piece>>) {
        self.configurations.last()
    }

    fn position(&mut self) -> u64 {
        self.configurations.position()
    }

    fn append(&mut self, position: u64, configuration: Configuration<Submission<Piece>>) -> bool {
        self.configurations
            .append(self.me, position, &configuration)
    }

    fn accept(
        &mut self,
        of: usize,
        message: &Message<Submission<Piece>>,
    ) -> Option<Answer<Submission<Piece>>> {
        debug_assert!(of == self.me || matches!(message, Message::Prepare { .. }));
        self.acceptors[of].step(message)
    }
}
