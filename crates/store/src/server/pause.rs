//! `CLIENT PAUSE`: commands that wait for a while.
//!
//! An event loop looks at a word that is nearly always zero before each request. Where a request has to wait, its connection reads and
//! runs nothing more until the pause has ended, by its time or by `CLIENT UNPAUSE`.

use std::sync::{Mutex, PoisonError};

use corecast_wire::sync::{AtomicU32, Ordering};

use super::clock::now;

/// Which commands wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Waits {
    Nothing,
    Writes,
    All,
}

/// Until when commands wait.
#[derive(Debug, Default)]
pub(super) struct Pause {
    /// Whether there may be a pause. It orders nothing: who does not see it yet runs what came at the same time.
    is_set: AtomicU32,
    /// Which commands wait, and the end in milliseconds since 1970.
    set: Mutex<Option<(Waits, i64)>>,
}

impl Pause {
    /// Which commands wait now.
    pub(super) fn waits(&self) -> Waits {
        // Relaxed: see the field.
        if self.is_set.load(Ordering::Relaxed) == 0 {
            return Waits::Nothing;
        }
        self.left().map_or(Waits::Nothing, |it| it.0)
    }

    /// Which commands wait, and for how many milliseconds more.
    pub(super) fn left(&self) -> Option<(Waits, u64)> {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        let left = set.and_then(|(waits, end)| {
            let left = u64::try_from(end - now()).ok()?;
            Some((waits, left)).filter(|_| left > 0)
        });
        if left.is_none() {
            *set = None;
            self.is_set.store(0, Ordering::Relaxed);
        }
        left
    }

    /// Has commands wait until `end`. As in Redis, a pause that is there is only made stricter and longer.
    pub(super) fn begin(&self, waits: Waits, end: i64) {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        let (before, until) = set.filter(|it| it.1 > now()).unwrap_or((waits, end));
        *set = Some((before.max(waits), until.max(end)));
        self.is_set.store(1, Ordering::Relaxed);
    }

    pub(super) fn end(&self) {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        *set = None;
        self.is_set.store(0, Ordering::Relaxed);
    }
}
