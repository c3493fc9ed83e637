//! The line by which a writer asks whoever combines at its replica, and by which that one answers.
//!
//! | state | changed by |
//! | --- | --- |
//! | idle | the writer, which asks |
//! | asked | a combiner, which takes what is asked for |
//! | taken | that combiner, which answers |
//! | answered | the writer, which takes the answer |
//!
//! The mutex orders the message; the state only says when it is worth to take it, so it orders nothing.

use corecast_wire::sync::{AtomicU32, Mutex, Ordering};
use std::sync::PoisonError;

const IDLE: u32 = 0;
const ASKED: u32 = 1;
const TAKEN: u32 = 2;
const ANSWERED: u32 = 3;

/// What one call writes.
pub(super) enum Ask<W> {
    One(W),
    Many(Vec<W>),
}

/// What the writes of one call answer.
pub(super) enum Answer<R> {
    One(R),
    Many(Vec<R>),
}

impl<R> Answer<R> {
    /// The answer to [`Ask::One`].
    pub(super) fn one(self) -> R {
        match self {
            Self::One(response) => response,
            Self::Many(_) => unreachable!("one was asked for"),
        }
    }

    /// The answer to [`Ask::Many`].
    pub(super) fn many(self) -> Vec<R> {
        match self {
            Self::Many(responses) => responses,
            Self::One(_) => unreachable!("many were asked for"),
        }
    }
}

/// A writer's line.
pub(super) struct Mailbox<W, R> {
    state: AtomicU32,
    message: Mutex<Message<W, R>>,
}

enum Message<W, R> {
    Nothing,
    Asks(Ask<W>),
    Answers(Answer<R>),
}

impl<W, R> Mailbox<W, R> {
    pub(super) fn new() -> Self {
        Self {
            state: AtomicU32::new(IDLE),
            message: Mutex::new(Message::Nothing),
        }
    }

    fn replace(&self, message: Message<W, R>) -> Message<W, R> {
        let mut place = self.message.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *place, message)
    }

    /// The writer asks.
    pub(super) fn ask(&self, ask: Ask<W>) {
        self.replace(Message::Asks(ask));
        // Relaxed, as all accesses of the state: the mutex orders the message.
        self.state.store(ASKED, Ordering::Relaxed);
    }

    /// Whether a combiner finds something to take.
    #[inline]
    pub(super) fn is_asked(&self) -> bool {
        self.state.load(Ordering::Relaxed) == ASKED
    }

    /// A combiner, of which there is one at a time, takes what is asked for.
    #[inline]
    pub(super) fn take(&self) -> Option<Ask<W>> {
        if !self.is_asked() {
            return None;
        }
        self.state.store(TAKEN, Ordering::Relaxed);
        match self.replace(Message::Nothing) {
            Message::Asks(ask) => Some(ask),
            _ => unreachable!("a writer has asked"),
        }
    }

    /// The combiner that took it answers.
    pub(super) fn answer(&self, answer: Answer<R>) {
        self.replace(Message::Answers(answer));
        self.state.store(ANSWERED, Ordering::Relaxed);
    }

    /// Whether the writer finds an answer.
    #[inline]
    pub(super) fn is_answered(&self) -> bool {
        self.state.load(Ordering::Relaxed) == ANSWERED
    }

    /// The writer takes the answer.
    pub(super) fn answered(&self) -> Option<Answer<R>> {
        if !self.is_answered() {
            return None;
        }
        self.state.store(IDLE, Ordering::Relaxed);
        match self.replace(Message::Nothing) {
            Message::Answers(answer) => Some(answer),
            _ => unreachable!("a combiner has answered"),
        }
    }
}
