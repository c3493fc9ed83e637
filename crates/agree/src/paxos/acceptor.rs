//! The acceptor's part of 1Paxos.

use super::{Message, Value, Window};

/// What an acceptor must not forget.
///
/// It belongs into memory that outlives the thread or process that answers for it, such as a team's segment. Then whoever
/// has access to it may answer in place of one that was killed: what makes that safe is that each step is taken alone,
/// under a lock. If the memory is lost, [`Acceptor::lost`] takes its place, which never answers.
///
/// # Examples
///
/// ```
/// use corecast_agree::paxos::{Acceptor, Answer, Message};
///
/// let mut acceptor = Acceptor::new();
/// acceptor.step(&Message::<&str>::Prepare { ballot: 2 });
/// let late = Message::Accept { ballot: 1, index: 0, value: Some("x"), floor: 0 };
/// let refused = Message::Nack { ballot: 1, promised: 2 };
/// assert_eq!(acceptor.step(&late), Some(Answer::Reply(refused)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Acceptor<C> {
    /// None once its memory was lost.
    memory: Option<Memory<C>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Memory<C> {
    /// No lower ballot is answered.
    promised: u64,
    accepted: Window<Value<C>>,
}

/// What an acceptor sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<C> {
    /// To the member that sent the message.
    Reply(Message<C>),
    /// To all members, the acceptor's own among them.
    Broadcast(Message<C>),
}

impl<C: Clone> Acceptor<C> {
    /// An acceptor that has accepted nothing.
    pub fn new() -> Self {
        let memory = Memory {
            promised: 0,
            accepted: Window::new(0),
        };
        Self {
            memory: Some(memory),
        }
    }

    /// An acceptor whose memory was lost. It never answers, since it cannot know what it has promised and accepted.
    pub fn lost() -> Self {
        if seeded!(AcceptorRestartsEmpty) {
            return Self::new();
        }
        Self { memory: None }
    }

    /// What it has accepted for an index and not dropped.
    #[cfg(test)]
    pub(super) fn accepted(&self, index: u64) -> Option<&Value<C>> {
        self.memory.as_ref()?.accepted.get(index)
    }

    /// Takes one message; those that are not for acceptors are ignored. Costs a copy of the value if it is accepted.
    pub fn step(&mut self, message: &Message<C>) -> Option<Answer<C>> {
        let memory = self.memory.as_mut()?;
        let (Message::Prepare { ballot } | Message::Accept { ballot, .. }) = *message else {
            return None;
        };
        let promised = memory.promised;
        if ballot < promised && !seeded!(BallotIgnored) {
            return Some(Answer::Reply(Message::Nack { ballot, promised }));
        }
        memory.promised = ballot;
        match message {
            Message::Accept {
                index,
                value,
                floor,
                ..
            } => {
                memory.accepted.raise(*floor);
                // Below the floor all members have learned it.
                if *index < memory.accepted.floor() {
                    return None;
                }
                memory.accepted.insert(*index, value.clone());
                Some(Answer::Broadcast(Message::Learn {
                    index: *index,
                    value: value.clone(),
                    floor: *floor,
                }))
            }
            _ => {
                let accepted = memory.accepted.clone();
                Some(Answer::Reply(Message::Promise { ballot, accepted }))
            }
        }
    }
}

impl<C: Clone> Default for Acceptor<C> {
    fn default() -> Self {
        Self::new()
    }
}
