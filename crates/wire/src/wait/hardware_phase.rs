//! The hardware phase of a wait: the thread keeps its CPU, and the CPU waits for a write of the line that is looked at.
//!
//! Where the wait knows its line, a write ends it, and so it waits for as long as the phase lasts. Where it does not, it
//! waits for an eighth of the time that it has waited at a time: what comes meanwhile is late by as much at most.

use crate::arch;
use crate::hardware_wait::{self, HardwareWait, Monitored};
use crate::wait_config::PATIENCE;

/// Longest time between two questions to the watch, which reads lines that others write. Lost peers are noticed about as
/// soon as by a wait that sleeps.
const QUESTION_NS: u32 = 100_000;

/// The hardware phase of the waits of one thread.
#[derive(Clone, Debug)]
pub(super) struct HardwarePhase {
    hardware_wait: HardwareWait,
    /// Ticks that a wait has lasted before.
    before: u64,
    /// Ticks that the phase lasts.
    ticks: u64,
    /// Ticks between two questions to the watch.
    question: u64,
}

impl HardwarePhase {
    /// A phase of `ns` nanoseconds after `before_ns` of polling.
    pub(super) fn new(
        hardware_wait: HardwareWait,
        before_ns: u32,
        ns: u32,
        ticks: impl Fn(u32) -> u64,
    ) -> Self {
        Self {
            hardware_wait,
            before: ticks(before_ns),
            ticks: ticks(ns),
            question: ticks(QUESTION_NS),
        }
    }

    /// Waits until `look` finds something or `check` fails; `None` when the phase is over.
    #[cold]
    #[inline(never)]
    pub(super) fn wait<T, E>(
        &self,
        word: Option<Monitored<'_>>,
        look: &mut impl FnMut() -> Option<T>,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Option<Result<T, E>> {
        hardware_wait::came();
        let start = arch::cycles();
        let (mut now, mut asked) = (start, start);
        while let Some(ticks) = self.next(now.wrapping_sub(start), word.is_some()) {
            let deadline = now.wrapping_add(ticks);
            let found = match word {
                Some(word) => self.hardware_wait.wait_for(word, deadline, &mut *look),
                None if self.hardware_wait.instruction().keeps_deadlines() => {
                    self.hardware_wait.wait_until(deadline);
                    None
                }
                None => {
                    arch::relax();
                    None
                }
            };
            if let Some(found) = found.or_else(&mut *look) {
                return Some(Ok(found));
            }
            now = arch::cycles();
            if now.wrapping_sub(asked) >= self.question {
                asked = now;
                if let Err(ended) = check() {
                    return Some(Err(ended));
                }
            }
        }
        None
    }

    /// Ticks of the next wait when the phase has lasted `waited`; `None` if it is over.
    fn next(&self, waited: u64, is_monitored: bool) -> Option<u64> {
        let left = self.ticks.checked_sub(waited).filter(|&left| left > 0)?;
        let most = match is_monitored {
            true => self.question,
            false => self.before.saturating_add(waited) / PATIENCE as u64,
        };
        Some(left.min(most.max(1)))
    }
}

#[cfg(test)]
mod tests;
