//! The operations of a fabric on the ends of a rank: flags, queues, shared lines and loans.

use super::ends::Hardware;
use super::loans::{Consume, CopyInto};
use super::nothing_else::NothingElse;
use super::waiter::claim_after;
use crate::failure::Failure;
use corecast_transfer::{Endpoint, Window};
use corecast_wire::arch::cycles;
use corecast_wire::fabric::{fill_a_copy, lend_to_fill_a_copy};
use corecast_wire::queue::{DEFAULT_SLOTS, ExactError, SendError, message_bytes_max};
use corecast_wire::{Fabric, VALUE_BYTES_MAX};
use std::cell::RefCell;
use std::ops::Range;

impl Fabric for Hardware {
    type Error = Failure;
    type Window<'w> = Window<'w>;

    #[inline(always)]
    fn rank(&self) -> usize {
        self.call.rank
    }

    #[inline(always)]
    fn size(&self) -> usize {
        self.link_of.len()
    }

    #[inline(always)]
    fn notify(&mut self, peer: usize) -> Result<(), Failure> {
        let (link, waiter) = self.at_link(peer);
        link.out_count += 1;
        let flag = waiter.call.fingerprint.flag(link.out_count, 0);
        link.out_flag.raise(flag);
        waiter.wake(link);
        Ok(())
    }

    #[inline(always)]
    fn wait(&mut self, peer: usize) -> Result<(), Failure> {
        let (link, waiter) = self.at_link(peer);
        link.in_count += 1;
        let flag = waiter.call.fingerprint.flag(link.in_count, 0);
        waiter.wait_for_flag(link, (flag, 0), |link| &link.in_flag, |_| {})
    }

    #[inline(always)]
    fn wait_by_taking(&mut self, peer: usize) -> Result<(), Failure> {
        let (link, waiter) = self.at_link(peer);
        link.in_count += 1;
        let flag = waiter.call.fingerprint.flag(link.in_count, 0);
        let pauses = link.flag_pause.next(cycles);
        let claim = claim_after(pauses, |link| {
            if link.one_line {
                link.in_flag.claim();
            }
        });
        waiter.wait_for_flag(link, (flag, 0), |link| &link.in_flag, claim)
    }

    #[inline(always)]
    fn swap(&mut self, peer: usize, mine: &[u8], theirs: &mut [u8]) -> Result<(), Failure> {
        let len = mine.len();
        debug_assert_eq!(len, theirs.len(), "a swap has one length");
        if len > VALUE_BYTES_MAX {
            return self.swap_messages(peer, mine, theirs);
        }
        let (link, waiter) = self.at_link(peer);
        let number = link.swaps.put(mine);
        let flag = waiter.call.fingerprint.flag(number, len);
        link.swaps.own().raise(flag);
        let pauses = link.swap_pause.next(cycles);
        waiter.wake(link);
        let claim = claim_after(pauses, |link| link.swaps.other().claim());
        waiter.wait_for_flag(link, (flag, len), |link| link.swaps.other(), claim)?;
        link.swaps.get(number, theirs);
        Ok(())
    }

    #[inline(always)]
    fn send(&mut self, peer: usize, payload: &[u8]) -> Result<(), Failure> {
        if self.endpoint.is_staging() {
            let (link, mut waiter) = self.at_link(peer);
            waiter.stage_until(link, |link| link.sender.can_send(payload.len()))?;
        }
        let (link, waiter) = self.at_link(peer);
        let watch = || waiter.call.watch(peer);
        let tag = waiter.call.fingerprint.tag();
        match link.sender.send_watched(tag, payload, watch) {
            Ok(()) => Ok(()),
            Err(SendError::Ended(failure)) => Err(waiter.call.fail(failure)),
            Err(other) => unreachable!("members split messages to fit: {other}"),
        }
    }

    #[inline(always)]
    fn receive(&mut self, peer: usize, payload: &mut [u8]) -> Result<(), Failure> {
        let index = self.link_index(peer);
        if self.endpoint.is_staging() {
            let (link, mut waiter) = self.at_link(peer);
            waiter.stage_until(link, |link| link.receiver.can_receive())?;
        }
        let (tag, expected) = (self.call.fingerprint.tag(), payload.len());
        let endpoint = RefCell::new(&mut self.endpoint);
        let watch = || NothingElse {
            watch: self.call.watch(peer).staging(&endpoint, &self.link_of),
            receiver: None,
            endpoint: Some((&endpoint, index)),
            reader: self.lines.long_ring_of(peer),
            overtaking: None,
            tag,
            expected,
        };
        match self.links[index]
            .receiver
            .receive_exact(tag, payload, watch)
        {
            Ok(()) => Ok(()),
            Err(unexpected) => Err(self.receive_failed(peer, payload.len(), unexpected)),
        }
    }

    #[inline(always)]
    fn publish(&mut self, line: usize, payload: &[u8]) -> Result<(), Failure> {
        self.publish_line(line, payload)
    }

    #[inline(always)]
    fn read(&mut self, line: usize, payload: &mut [u8]) -> Result<(), Failure> {
        self.read_line(line, payload)
    }

    #[inline(always)]
    fn add(&mut self, line: usize) -> Result<(), Failure> {
        self.add_to_line(line);
        Ok(())
    }

    #[inline(always)]
    fn collect(&mut self, line: usize) -> Result<(), Failure> {
        self.collect_line(line)
    }

    #[inline(always)]
    fn arrive_and_wait(&mut self, line: usize) -> Result<(), Failure> {
        self.arrive_at_line(line)
    }

    fn message_bytes_max(&self) -> usize {
        let longest = self
            .links
            .iter()
            .map(|link| link.sender.message_bytes_max());
        longest
            .min()
            // A team of one rank has no links. It gives the default of larger teams.
            .unwrap_or(message_bytes_max(DEFAULT_SLOTS))
    }

    fn publish_bytes_max(&self, line: usize) -> usize {
        self.long_publish_bytes(line)
    }

    #[cold]
    fn wrong_length(&self, peer: usize, sent: usize, expected: usize) -> Failure {
        let watch = self.call.watch(peer);
        self.call.fail(watch.length(sent, expected))
    }

    #[inline]
    fn with_window<R>(
        &mut self,
        data: &mut [u8],
        element: usize,
        _written: bool,
        body: impl FnOnce(&mut Self, &mut Window<'_>) -> R,
    ) -> R {
        corecast_transfer::scope(self, data, element, body)
    }

    #[inline]
    fn with_window_to_read<R>(
        &mut self,
        data: &[u8],
        element: usize,
        body: impl FnOnce(&mut Self, &mut Window<'_>) -> R,
    ) -> R {
        corecast_transfer::scope_to_read(self, data, element, body)
    }

    #[inline]
    fn view<'b>(&self, window: &'b Window<'_>, range: Range<usize>) -> &'b [u8] {
        self.endpoint.view(window, range)
    }

    #[inline]
    fn view_mut<'b>(
        &mut self,
        window: &'b mut Window<'_>,
        range: Range<usize>,
    ) -> Result<&'b mut [u8], Failure> {
        while let Some(link) = self.endpoint.holder(window, &range) {
            self.wait_for_ack(link, |endpoint| {
                endpoint.holder(window, &range) != Some(link)
            })?;
        }
        Ok(self
            .endpoint
            .view_mut(window, range)
            .expect("nobody holds it"))
    }

    fn lends_copies(&self) -> bool {
        self.endpoint.copies()
    }

    fn lend(
        &mut self,
        window: &Window<'_>,
        peers: impl IntoIterator<Item = usize>,
        range: Range<usize>,
    ) -> Result<(), Failure> {
        self.lend_by(Endpoint::lend, window, peers, range)
    }

    fn lend_to_combine(
        &mut self,
        window: &Window<'_>,
        peers: impl IntoIterator<Item = usize>,
        range: Range<usize>,
    ) -> Result<(), Failure> {
        self.lend_by(Endpoint::lend_to_combine, window, peers, range)
    }

    fn borrow(
        &mut self,
        peer: usize,
        len: usize,
        consume: impl FnMut(usize, &[u8]),
    ) -> Result<(), Failure> {
        let element_size = self.endpoint.element_size();
        self.take_loan(
            peer,
            len,
            Consume {
                element_size,
                consume,
            },
        )
    }

    fn fetch(&mut self, peer: usize, into: &mut [u8]) -> Result<(), Failure> {
        let (len, all) = (into.len(), self.result_bytes(into.len()));
        self.take_loan(peer, len, CopyInto { into, all })
    }

    fn await_loan(&mut self, peer: usize, len: usize) -> Result<(), Failure> {
        let link = self.link_index(peer);
        self.expect_loan(link, len)
    }

    fn dismiss(&mut self, peer: usize, len: usize) -> Result<(), Failure> {
        let link = self.link_index(peer);
        if !self.endpoint.borrows_addresses(link) {
            return self.borrow(peer, len, |_, _| ());
        }
        self.expect_loan(link, len)?;
        self.endpoint.give_back(link);
        Ok(())
    }

    fn lend_to_fill(
        &mut self,
        window: &mut Window<'_>,
        peer: usize,
        range: Range<usize>,
    ) -> Result<(), Failure> {
        let link = self.link_index(peer);
        if !self.endpoint.borrows_addresses(link) {
            return lend_to_fill_a_copy(self, window, peer, range);
        }
        self.wait_for_descriptor(link)?;
        self.view_mut(window, range.clone())?;
        let tag = self.call.fingerprint.tag();
        self.endpoint.lend_to_fill(window, link, tag, range);
        Ok(())
    }

    fn fill(
        &mut self,
        peer: usize,
        len: usize,
        mut body: impl FnOnce(&mut Self, &mut [u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let link = self.link_index(peer);
        if !self.endpoint.borrows_addresses(link) {
            return fill_a_copy(self, peer, len, body);
        }
        loop {
            self.expect_loan(link, len)?;
            match corecast_transfer::fill(self, link, body) {
                Ok(filled) => return filled,
                // It was revoked: the team has failed, and the next wait returns the failure.
                Err(again) => body = again,
            }
        }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        while let Some(link) = self.endpoint.unsettled() {
            self.wait_for_ack(link, |endpoint| endpoint.unsettled() != Some(link))?;
        }
        Ok(())
    }
}

impl Hardware {
    /// Lends by one of the endpoint's functions, once each link takes another loan.
    #[inline]
    fn lend_by(
        &mut self,
        lend: impl FnOnce(&mut Endpoint, &Window<'_>, &[usize], u32, Range<usize>),
        window: &Window<'_>,
        peers: impl IntoIterator<Item = usize>,
        range: Range<usize>,
    ) -> Result<(), Failure> {
        let mut links = std::mem::take(&mut self.lend_to);
        links.clear();
        links.extend(peers.into_iter().map(|peer| self.link_index(peer)));
        let mut room = Ok(());
        for &link in &links {
            if room.is_ok() {
                room = self.wait_for_descriptor(link);
            }
        }
        if room.is_ok() {
            let tag = self.call.fingerprint.tag();
            lend(&mut self.endpoint, window, &links, tag, range);
        }
        self.lend_to = links;
        room
    }

    /// Apart, since a swap of a word would take longer beside it, for want of registers.
    #[inline(never)]
    fn swap_messages(
        &mut self,
        peer: usize,
        mine: &[u8],
        theirs: &mut [u8],
    ) -> Result<(), Failure> {
        self.send(peer, mine)?;
        self.receive(peer, theirs)
    }

    #[cold]
    #[inline(never)]
    fn receive_failed(&self, peer: usize, expected: usize, error: ExactError<Failure>) -> Failure {
        match error {
            ExactError::Ended(failure) => self.call.fail(failure),
            ExactError::Unexpected(next) => self.unexpected(peer, expected, next),
        }
    }
}
