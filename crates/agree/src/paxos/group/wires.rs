//! Packets over queues, and what the members of a group share.

use bytemuck::Pod;
use corecast_wire::queue::{Sender, TrySendError};
use corecast_wire::sync::Mutex;
use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};

use crate::paxos::{
    Acceptor, Answer, Configuration, ConfigurationLog, Message, Packet, SharedMemory, Submission,
    Transport,
};

/// As many packets wait for room in a queue; then they are lost, and sent again later if somebody misses them.
const BACKLOG_MAX: usize = 16_384;

/// The kinds of packets, which are the tags of their messages, and one more for a value that is nothing.
const ACCEPT: u32 = 0;
const LEARN: u32 = 1;
const SUBMIT: u32 = 2;
const ALIVE: u32 = 3;
const NACK: u32 = 4;
const LEARNED: u32 = 5;
const ASK: u32 = 6;
const NOTHING: u32 = 8;
const KINDS: u32 = NOTHING - 1;
/// What was accepted comes down a tree, and whose; with a word before its value if members are left out.
const ROUTED: u32 = 16;
const ABSENT: u32 = 32;
const ROOT_SHIFT: u32 = 8;

/// Words before the command of the longest packet.
pub(in crate::paxos) const WORDS_MAX: usize = 5;

pub(super) const fn packet_bytes_max<C>() -> usize {
    8 * WORDS_MAX + size_of::<C>()
}

/// The memory that all members share.
#[derive(Debug)]
pub(super) struct Shared<C> {
    log: Mutex<ConfigurationLog<Submission<C>>>,
    acceptors: Vec<Mutex<Acceptor<Submission<C>>>>,
}

impl<C: Clone> Shared<C> {
    pub(super) fn new(size: usize) -> Self {
        let acceptors = (0..size).map(|_| Mutex::new(Acceptor::new()));
        Self {
            log: Mutex::new(ConfigurationLog::new(size)),
            acceptors: acceptors.collect(),
        }
    }
}

/// How one member reaches the others.
#[derive(Debug)]
pub(super) struct Wires<C: Pod> {
    /// To each other member, and what waits for room.
    senders: Vec<Option<Wire>>,
    shared: Arc<Shared<C>>,
    scratch: Vec<u8>,
}

#[derive(Debug)]
struct Wire {
    sender: Sender,
    backlog: VecDeque<(u32, Vec<u8>)>,
}

impl<C: Pod> Wires<C> {
    pub(super) fn new(senders: Vec<Option<Sender>>, shared: Arc<Shared<C>>) -> Self {
        let wire = |sender: Sender| Wire {
            sender,
            backlog: VecDeque::new(),
        };
        let senders = senders.into_iter().map(|sender| sender.map(wire));
        Self {
            senders: senders.collect(),
            shared,
            scratch: Vec::with_capacity(packet_bytes_max::<C>()),
        }
    }

    /// Sends what has waited for room.
    pub(super) fn flush(&mut self) {
        for wire in self.senders.iter_mut().flatten() {
            while let Some((tag, bytes)) = wire.backlog.front() {
                match wire.sender.try_send_tagged(*tag, bytes) {
                    Err(TrySendError::Full) => break,
                    // Whoever is gone needs nothing.
                    _ => wire.backlog.pop_front(),
                };
            }
        }
    }
}

impl<C: Pod> Transport<C> for Wires<C> {
    fn send(&mut self, to: usize, packet: Packet<C>) {
        let Some(wire) = &mut self.senders[to] else {
            return;
        };
        self.scratch.clear();
        let Some(tag) = encode(&packet, &mut self.scratch) else {
            return;
        };
        let sent = wire
            .backlog
            .is_empty()
            .then(|| wire.sender.try_send_tagged(tag, &self.scratch));
        if matches!(sent, None | Some(Err(TrySendError::Full))) && wire.backlog.len() < BACKLOG_MAX
        {
            wire.backlog.push_back((tag, self.scratch.clone()));
        }
    }
}

impl<C: Pod> SharedMemory<C> for Wires<C> {
    fn last(&mut self) -> (u64, Configuration<Submission<C>>) {
        // No step of the log can panic halfway.
        let log = self
            .shared
            .log
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let (position, configuration) = log.last();
        (position, configuration.clone())
    }

    fn position(&mut self) -> u64 {
        let log = self
            .shared
            .log
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        log.last().0
    }

    fn append(&mut self, position: u64, configuration: Configuration<Submission<C>>) -> bool {
        let mut log = self
            .shared
            .log
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        log.append(position, configuration)
    }

    fn accept(
        &mut self,
        of: usize,
        message: &Message<Submission<C>>,
    ) -> Option<Answer<Submission<C>>> {
        // After a panic the memory may be torn, so it counts as lost.
        self.shared.acceptors[of].lock().ok()?.step(message)
    }
}

/// Commands as bytes of packets.
pub(in crate::paxos) trait Coded: Clone {
    fn append_to(&self, bytes: &mut Vec<u8>);
    fn of(bytes: &[u8]) -> Option<Self>;
}

impl<C: Pod> Coded for C {
    fn append_to(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(bytemuck::bytes_of(self));
    }

    fn of(bytes: &[u8]) -> Option<Self> {
        bytemuck::try_pod_read_unaligned(bytes).ok()
    }
}

/// Appends a packet's bytes, and returns its tag; none for what is never sent, as prepares are made in the shared memory.
pub(in crate::paxos) fn encode<C: Coded>(packet: &Packet<C>, bytes: &mut Vec<u8>) -> Option<u32> {
    let mut words = |words: &[u64]| bytes.extend_from_slice(bytemuck::cast_slice(words));
    let (tag, value) = match packet {
        Packet::Submit(submission) => (SUBMIT, Some(Some(submission))),
        Packet::Alive {
            position,
            next,
            floor,
        } => {
            words(&[*position, *next, *floor]);
            (ALIVE, None)
        }
        Packet::Broadcast {
            root,
            absent,
            message:
                Message::Learn {
                    index,
                    value,
                    floor,
                },
        } => {
            words(&[*index, *floor]);
            let mut tag = LEARN | ROUTED | (*root as u32) << ROOT_SHIFT;
            if *absent != 0 {
                words(&[*absent]);
                tag |= ABSENT;
            }
            (tag, Some(value.as_ref()))
        }
        // Acceptors tell all members nothing else.
        Packet::Broadcast { .. } => return None,
        Packet::Protocol(message) => match message {
            Message::Accept {
                ballot,
                index,
                value,
                floor,
            } => {
                words(&[*ballot, *index, *floor]);
                (ACCEPT, Some(value.as_ref()))
            }
            Message::Learn {
                index,
                value,
                floor,
            } => {
                words(&[*index, *floor]);
                (LEARN, Some(value.as_ref()))
            }
            Message::Nack { ballot, promised } => {
                words(&[*ballot, *promised]);
                (NACK, None)
            }
            Message::Learned { next } => {
                words(&[*next]);
                (LEARNED, None)
            }
            Message::Ask { next } => {
                words(&[*next]);
                (ASK, None)
            }
            Message::Prepare { .. } | Message::Promise { .. } => return None,
        },
    };
    match value {
        Some(Some(submission)) => {
            words(&[submission.origin, submission.number]);
            submission.command.append_to(bytes);
            Some(tag)
        }
        Some(None) => Some(tag | NOTHING),
        None => Some(tag),
    }
}

/// Takes the first word of bytes.
pub(in crate::paxos) fn word(bytes: &mut &[u8]) -> Option<u64> {
    let (word, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_ne_bytes(*word))
}

/// The packet of a message; none if it is not one.
pub(in crate::paxos) fn decode<C: Coded>(tag: u32, mut bytes: &[u8]) -> Option<Packet<C>> {
    fn submission<C: Coded>(bytes: &mut &[u8]) -> Option<Submission<C>> {
        let (origin, number) = (word(bytes)?, word(bytes)?);
        let command = C::of(bytes)?;
        Some(Submission {
            origin,
            number,
            command,
        })
    }
    let bytes = &mut bytes;
    let value = |bytes: &mut &[u8]| match tag & NOTHING {
        0 => submission(bytes).map(Some),
        _ => Some(None),
    };
    if tag & !(KINDS | NOTHING) != 0 && tag & KINDS != LEARN {
        return None;
    }
    let message = match tag & KINDS {
        ACCEPT => {
            let (ballot, index, floor) = (word(bytes)?, word(bytes)?, word(bytes)?);
            Message::Accept {
                ballot,
                index,
                floor,
                value: value(bytes)?,
            }
        }
        LEARN => {
            let (index, floor) = (word(bytes)?, word(bytes)?);
            let absent = match tag & ABSENT {
                0 => 0,
                _ => word(bytes)?,
            };
            let message = Message::Learn {
                index,
                floor,
                value: value(bytes)?,
            };
            if tag & ROUTED != 0 {
                return Some(Packet::Broadcast {
                    root: (tag >> ROOT_SHIFT) as usize,
                    absent,
                    message,
                });
            }
            message
        }
        SUBMIT => return Some(Packet::Submit(submission(bytes)?)),
        ALIVE => {
            return Some(Packet::Alive {
                position: word(bytes)?,
                next: word(bytes)?,
                floor: word(bytes)?,
            });
        }
        NACK => Message::Nack {
            ballot: word(bytes)?,
            promised: word(bytes)?,
        },
        LEARNED => Message::Learned { next: word(bytes)? },
        ASK => Message::Ask { next: word(bytes)? },
        _ => return None,
    };
    Some(Packet::Protocol(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_as_they_were_sent() {
        let submission = Submission {
            origin: 7,
            number: 1 << 40,
            command: [3_u16, 4, 5],
        };
        let values = [Some(submission.clone()), None];
        let mut packets = vec![
            Packet::Submit(submission),
            Packet::Alive {
                position: 1,
                next: 2,
                floor: 3,
            },
            Packet::Protocol(Message::Nack {
                ballot: 1,
                promised: 2,
            }),
            Packet::Protocol(Message::Learned { next: 9 }),
            Packet::Protocol(Message::Ask { next: 8 }),
        ];
        for value in values {
            packets.push(Packet::Protocol(Message::Accept {
                ballot: 1,
                index: 2,
                value: value.clone(),
                floor: 3,
            }));
            let learn = Message::Learn {
                index: 4,
                value,
                floor: 5,
            };
            for (root, absent) in [(0, 0), (63, 0), (5, 1 << 63)] {
                packets.push(Packet::Broadcast {
                    root,
                    absent,
                    message: learn.clone(),
                });
            }
            packets.push(Packet::Protocol(learn));
        }
        for packet in packets {
            let mut bytes = Vec::new();
            let tag = encode(&packet, &mut bytes).unwrap();
            assert!(bytes.len() <= packet_bytes_max::<[u16; 3]>());
            assert_eq!(decode(tag, &bytes), Some(packet.clone()));
            if !bytes.is_empty() {
                assert_eq!(decode::<[u16; 3]>(tag, &bytes[..bytes.len() - 1]), None);
            }
        }
    }
}
