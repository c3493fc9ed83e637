//! Operations that are one exchange of two ranks in one line, in as few instructions as may be: of flags, their barrier, and of words.
//!
//! A row of them takes a transfer of the line each time, and twice what a rank does from seeing the other's flag to raising its
//! own next one: a rank gets the line when the other one has raised a flag, and has to raise its own before the other one gets it back.
//! So nothing is done here that only a longer wait needs, and nothing is called: registers are not saved for what seldom happens.
//! (`benches/records/2026-11-30-pair-exchange.md`)

use super::ends::Hardware;
use super::link::Link;
use super::waiter::{Waiter, claim_after};
use crate::failure::Failure;
use crate::operation::{OpFingerprint, Operation};
use corecast_collectives::Collective;
use corecast_wire::Signal;
use corecast_wire::op_history::OpHistory;
use std::panic::Location;

/// What two ranks give each other, of one length and at most [`VALUE_BYTES_MAX`](corecast_wire::VALUE_BYTES_MAX) bytes.
#[derive(Debug)]
pub(crate) struct Word<'m, 't> {
    pub(crate) mine: &'m [u8],
    pub(crate) theirs: &'t mut [u8],
}

impl<'m, 't> Word<'m, 't> {
    /// `mine` for as many bytes of `room`, which are aligned for any element.
    #[inline(always)]
    pub(crate) fn new(mine: &'m [u8], room: &'t mut u128) -> Self {
        let theirs = &mut bytemuck::bytes_of_mut(room)[..mine.len()];
        Self { mine, theirs }
    }
}

/// How far a rank is with an exchange that it has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExchangeStage {
    /// It has raised its flag, and may have to wake the other one.
    Raised,
    /// It has waited through the first phase of a wait.
    Waited,
    /// Both have raised their flags, and have the other's word.
    Done,
}

impl Hardware {
    // Both of these have the whole way in one function each: parts that they shared, the compiler called (November 2026).

    /// Begins operation number `seq`, a barrier, and waits for the only peer, but not for long. `None` if nothing was done, since
    /// something else is due as well.
    #[inline(always)]
    pub(crate) fn exchange_flags(
        &mut self,
        seq: u64,
        history: &OpHistory,
        site: &'static Location<'static>,
    ) -> Option<ExchangeStage> {
        let (call, [link]) = (&mut self.call, &mut self.links[..]) else {
            return None;
        };
        if self.endpoint.is_staging() {
            return None;
        }
        let pauses = link.flag_pause.next_amid_row()?;
        let operation = Operation::blocking(seq, Collective::Barrier, 0).entry();
        call.fingerprint.advance(operation, seq);
        history.enter(operation, site);
        link.out_count += 1;
        link.out_flag
            .raise(call.fingerprint.flag(link.out_count, 0));
        link.in_count += 1;
        if !link.out_parker.is_awake(self.wait_strategy.fence()) {
            return Some(ExchangeStage::Raised);
        }
        let (link, expected) = (&*link, call.fingerprint.flag(link.in_count, 0));
        let mut claim = claim_after(pauses, |link| link.in_flag.claim());
        let look =
            || Some(link.in_flag.seq()).filter(|&found| OpFingerprint::reached(expected, found));
        match self.wait_strategy.briefly_after(|| claim(link), look) {
            Some(found) if OpFingerprint::agrees(expected, found) => Some(ExchangeStage::Done),
            _ => Some(ExchangeStage::Waited),
        }
    }

    /// Begins operation number `seq`, in which both give each other a word, as [`exchange_flags`](Self::exchange_flags) does.
    #[inline(always)]
    pub(crate) fn exchange_words(
        &mut self,
        (seq, kind): (u64, Collective),
        history: &OpHistory,
        site: &'static Location<'static>,
        word: &mut Word<'_, '_>,
    ) -> Option<ExchangeStage> {
        let (call, [link]) = (&mut self.call, &mut self.links[..]) else {
            return None;
        };
        if self.endpoint.is_staging() {
            return None;
        }
        let pauses = link.swap_pause.next_amid_row()?;
        let operation = Operation::blocking(seq, kind, 0).entry();
        call.fingerprint.advance(operation, seq);
        history.enter(operation, site);
        let number = link.swaps.put(word.mine);
        let expected = call.fingerprint.flag(number, word.mine.len());
        link.swaps.own().raise(expected);
        if !link.out_parker.is_awake(self.wait_strategy.fence()) {
            return Some(ExchangeStage::Raised);
        }
        let link = &*link;
        let mut claim = claim_after(pauses, |link| link.swaps.other().claim());
        let look = || {
            Some(link.swaps.other().seq()).filter(|&found| OpFingerprint::reached(expected, found))
        };
        match self.wait_strategy.briefly_after(|| claim(link), look) {
            Some(found) if OpFingerprint::agrees(expected, found) => {
                link.swaps.get(number, word.theirs);
                Some(ExchangeStage::Done)
            }
            _ => Some(ExchangeStage::Waited),
        }
    }

    /// Ends what [`exchange_flags`](Self::exchange_flags) or [`exchange_words`](Self::exchange_words) has begun, with the same word.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    pub(crate) fn end_exchange(
        &mut self,
        met: ExchangeStage,
        word: Option<&mut Word<'_, '_>>,
    ) -> Result<(), Failure> {
        let peer = self.links[0].peer;
        let (link, waiter) = self.at_link(peer);
        match word {
            None => {
                let expected = (waiter.call.fingerprint.flag(link.in_count, 0), 0);
                wait_at(waiter, link, met, expected, |link| &link.in_flag)
            }
            Some(word) => {
                let (number, len) = (link.swaps.number(), word.mine.len());
                let expected = (waiter.call.fingerprint.flag(number, len), len);
                wait_at(waiter, link, met, expected, |link| link.swaps.other())?;
                link.swaps.get(number, word.theirs);
                Ok(())
            }
        }
    }
}

/// Waits for the other one's flag, which both raise in an exchange.
fn wait_at(
    waiter: Waiter<'_>,
    link: &mut Link,
    met: ExchangeStage,
    expected: (u64, usize),
    flag: impl Fn(&Link) -> &Signal,
) -> Result<(), Failure> {
    match met {
        ExchangeStage::Done => Ok(()),
        ExchangeStage::Raised => {
            waiter.wake(link);
            waiter.wait_for_flag(link, expected, flag, |_| {})
        }
        ExchangeStage::Waited => waiter.wait_on_for_flag(link, expected, flag(link)),
    }
}
