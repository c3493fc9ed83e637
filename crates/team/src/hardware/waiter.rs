//! A rank's waits for the flags of a link.

use super::call_context::CallContext;
use super::link::Link;
use super::nothing_else::NothingElse;
use crate::failure::Failure;
use crate::operation::OpFingerprint;
use corecast_transfer::Endpoint;
use corecast_wire::arch::relax;
use corecast_wire::park::ANY;
use corecast_wire::{Signal, WaitStrategy};
use std::cell::RefCell;

/// What a wait at a link needs besides the link: borrowed apart, so that an operation of some 40 ns finds its link once.
pub(super) struct Waiter<'a> {
    pub(super) call: &'a CallContext,
    pub(super) endpoint: &'a mut Endpoint,
    pub(super) link_of: &'a [u32],
    pub(super) wait_strategy: &'a WaitStrategy,
}

impl Waiter<'_> {
    /// Wakes the peer of a link if it sleeps until a flag is raised.
    #[inline(always)]
    pub(super) fn wake(&self, link: &Link) {
        link.out_parker
            .wake_for(link.out_token, self.wait_strategy.fence());
    }

    /// Goes on copying to the bounce buffer until all is copied, or `ready` returns `true`.
    #[inline(always)]
    pub(super) fn stage_until(
        &mut self,
        link: &mut Link,
        ready: impl FnMut(&mut Link) -> bool,
    ) -> Result<(), Failure> {
        let at = (self.call, self.wait_strategy, self.link_of);
        stage_until(self.endpoint, at, link, ready)
    }

    /// Waits until a flag of a link has the value `expected`, or a later one; beside it is a value of `len` bytes. Does `before`
    /// before each further look of the first phase.
    #[inline(always)]
    pub(super) fn wait_for_flag(
        mut self,
        link: &mut Link,
        (expected, len): (u64, usize),
        flag: impl Fn(&Link) -> &Signal,
        mut before: impl FnMut(&Link),
    ) -> Result<(), Failure> {
        if self.endpoint.is_staging() {
            self.stage_until(link, |link| {
                OpFingerprint::reached(expected, flag(link).seq())
            })?;
        }
        let link = &*link;
        let signal = flag(link);
        let look = || Some(signal.seq()).filter(|&found| OpFingerprint::reached(expected, found));
        match self.wait_strategy.briefly_after(|| before(link), look) {
            Some(found) if OpFingerprint::agrees(expected, found) => Ok(()),
            Some(found) => Err(flag_failed(self.call, link, (expected, len), found)),
            None => self.wait_on_for_flag(link, (expected, len), signal),
        }
    }

    /// The later phases of [`wait_for_flag`](Self::wait_for_flag).
    #[inline(always)]
    pub(super) fn wait_on_for_flag(
        self,
        link: &Link,
        (expected, len): (u64, usize),
        signal: &Signal,
    ) -> Result<(), Failure> {
        let at = (self.call, self.wait_strategy, self.link_of);
        let found = wait_long(self.endpoint, at, link, (signal, expected, len))?;
        match OpFingerprint::agrees(expected, found) {
            true => Ok(()),
            false => Err(flag_failed(self.call, link, (expected, len), found)),
        }
    }
}

/// What a rank does before each further look at a line that it will write next: it takes the line, the first time after so many pauses
/// more. Other ways to write this loop, such as a flag for one pause, took half as long again on far cores
/// (`benches/records/2026-11-30-barrier.md`): measure those too after a change.
#[inline(always)]
pub(super) fn claim_after(mut pauses: u32, claim: impl Fn(&Link)) -> impl FnMut(&Link) {
    move |link| {
        for _ in 0..std::mem::take(&mut pauses) {
            relax();
        }
        claim(link);
    }
}

// What is seldom called is given what it needs one by one: a reference to all of it would have each call of an operation write
// it to memory first.

#[cold]
#[inline(never)]
fn stage_until(
    endpoint: &mut Endpoint,
    (call, wait_strategy, link_of): (&CallContext, &WaitStrategy, &[u32]),
    link: &mut Link,
    mut ready: impl FnMut(&mut Link) -> bool,
) -> Result<(), Failure> {
    let (peer, endpoint) = (link.peer, RefCell::new(endpoint));
    let watch = || call.watch(peer).staging(&endpoint, link_of);
    call.wait_watched(wait_strategy, ANY, watch, || {
        let mut endpoint = endpoint.borrow_mut();
        endpoint.advance();
        (!endpoint.is_staging() || ready(link)).then_some(())
    })
}

/// Waits for a flag that does not come soon. A peer that finds other lengths may have sent what is to lie beside the flag, if that
/// has `len` bytes, by message or loan.
#[cold]
#[inline(never)]
fn wait_long(
    endpoint: &mut Endpoint,
    (call, wait_strategy, link_of): (&CallContext, &WaitStrategy, &[u32]),
    link: &Link,
    (signal, expected, len): (&Signal, u64, usize),
) -> Result<u64, Failure> {
    let look = || Some(signal.seq()).filter(|&found| OpFingerprint::reached(expected, found));
    let (word, token) = (signal.monitored(), link.in_token);
    if len == 0 {
        return call.wait_long(wait_strategy, word, token, call.watch(link.peer), look);
    }
    let endpoint = RefCell::new(endpoint);
    let watch = NothingElse {
        watch: call.watch(link.peer),
        receiver: Some(&link.receiver),
        endpoint: Some((&endpoint, link_of[link.peer] as usize)),
        reader: None,
        overtaking: None,
        tag: call.fingerprint.tag(),
        expected: len,
    };
    call.wait_long(wait_strategy, word, token, watch, look)
}

/// The failure of a flag that another operation has raised, or one of another length.
#[cold]
#[inline(never)]
fn flag_failed(
    call: &CallContext,
    link: &Link,
    (expected, len): (u64, usize),
    found: u64,
) -> Failure {
    let watch = call.watch(link.peer);
    let sent = OpFingerprint::len_of((expected, len), found);
    call.fail(match sent {
        Some(sent) if watch.difference().is_none() => watch.length(sent, len),
        _ => watch.mismatch(),
    })
}
