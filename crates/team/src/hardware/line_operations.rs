//! A rank's operations on the lines that groups share: publish, read, add, collect, and arrive at a barrier.

use super::call_context::CallContext;
use super::ends::Hardware;
use super::lines::{Collect, Publish, Read, SharedLines};
use super::nothing_else::NothingElse;
use crate::failure::Failure;
use crate::operation::OpFingerprint;
use corecast_wire::park::ANY;
use corecast_wire::queue::Received;
use corecast_wire::wait::Watch;
use std::cell::RefCell;
use std::time::Duration;

/// Watches all members of a group. It looks first at those that have not reached this operation, because a wait that ends
/// must name one of them.
struct GroupWatch<'a> {
    call: &'a CallContext,
    members: &'a [usize],
    /// The member that the next cheap check looks at (round robin).
    next: usize,
}

impl Watch for GroupWatch<'_> {
    type Error = Failure;

    fn check(&mut self, waited: Duration) -> Result<(), Failure> {
        // A short wait looks at one member at a time, because the lines that it reads are busy.
        if waited.is_zero() {
            self.next = (self.next + 1) % self.members.len();
            return self.call.watch(self.members[self.next]).check(waited);
        }
        for there in [false, true] {
            let watches = self.members.iter().map(|&peer| self.call.watch(peer));
            watches
                .filter(|watch| watch.is_there() == there)
                .try_for_each(|mut watch| watch.check(waited))?;
        }
        Ok(())
    }
}

impl Hardware {
    /// Bytes of the longest message that fits on a line on which this rank publishes; 0 if there is no such
    /// line.
    pub(crate) fn long_publish_bytes(&self, line: usize) -> usize {
        let publish = self.lines.publishes.get(line);
        publish.map_or(0, |publish| publish.writer.publish_bytes_max())
    }

    #[inline(always)]
    pub(super) fn publish_line(&mut self, line: usize, payload: &[u8]) -> Result<(), Failure> {
        if self.lines.publishes[line]
            .writer
            .holder(payload.len())
            .is_some()
        {
            self.wait_for_room(line, payload.len())?;
        }
        let tag = self.call.fingerprint.tag();
        self.lines.publishes[line].writer.publish(tag, payload);
        Ok(())
    }

    /// Waits until there is room for a message of `len` bytes.
    #[cold]
    #[inline(never)]
    fn wait_for_room(&mut self, line: usize, len: usize) -> Result<(), Failure> {
        while let Some(reader) = self.lines.publishes[line].writer.holder(len) {
            let Publish {
                readers,
                room_token,
                ..
            } = &self.lines.publishes[line];
            let (peer, token) = (readers[reader], *room_token);
            let freed = |lines: &mut SharedLines| {
                let holder = lines.publishes[line].writer.holder(len);
                (holder != Some(reader)).then_some(())
            };
            if self.endpoint.is_staging() {
                self.stage_lines_until(peer, freed)?;
            }
            let (call, lines) = (&self.call, &mut self.lines);
            call.wait(&self.wait_strategy, token, peer, || freed(lines))?;
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn read_line(&mut self, line: usize, payload: &mut [u8]) -> Result<(), Failure> {
        let peer = self.lines.reads[line].peer;
        if self.endpoint.is_staging() {
            self.stage_lines_until(peer, |lines| lines.reads[line].reader.look().map(drop))?;
        }
        let Read { reader, token, .. } = &self.lines.reads[line];
        let (tag, expected, index) = (
            self.call.fingerprint.tag(),
            payload.len(),
            self.link_of[peer] as usize,
        );
        let (endpoint, call, links) = (RefCell::new(&mut self.endpoint), &self.call, &self.links);
        let watch = || NothingElse {
            watch: call.watch(peer).staging(&endpoint, &self.link_of),
            receiver: links.get(index).map(|link| &link.receiver),
            endpoint: links.get(index).map(|_| (&endpoint, index)),
            reader: None,
            overtaking: None,
            tag,
            expected,
        };
        let word = Some(reader.monitored());
        let noticed =
            call.wait_watched_at(&self.wait_strategy, word, *token, watch, || reader.look())?;
        let (tag, len) = (noticed.tag, noticed.len);
        if (tag, len) != (self.call.fingerprint.tag(), payload.len()) {
            return Err(self.unexpected(peer, payload.len(), Received { len, tag }));
        }
        match self.lines.reads[line].reader.take(payload) {
            true => Ok(()),
            false => Err(self.corrupt(peer)),
        }
    }

    #[inline(always)]
    pub(super) fn add_to_line(&mut self, line: usize) {
        let add = &mut self.lines.adds[line];
        add.count += 1;
        let sum = add.counter.add(self.call.fingerprint.share());
        // Only the last member to add wakes the collector: before that the sum is too small.
        if OpFingerprint::is_counted(add.count.wrapping_mul(add.members), sum) {
            add.bell.wake_for(add.token, self.wait_strategy.fence());
        }
    }

    #[inline(always)]
    pub(super) fn collect_line(&mut self, line: usize) -> Result<(), Failure> {
        let collect = &mut self.lines.collects[line];
        let shares = self
            .call
            .fingerprint
            .share()
            .wrapping_mul(collect.members.len() as u64);
        collect.sum = collect.sum.wrapping_add(shares);
        let expected = collect.sum;
        if self.endpoint.is_staging() {
            let first = collect.members[0];
            self.stage_lines_until(first, |lines| {
                let found = lines.collects[line].counter.sum();
                OpFingerprint::is_counted(expected, found).then_some(())
            })?;
        }
        let Collect {
            counter,
            members,
            token,
            ..
        } = &self.lines.collects[line];
        let look =
            || Some(counter.sum()).filter(|&found| OpFingerprint::is_counted(expected, found));
        let call = &self.call;
        let watch = || GroupWatch {
            call,
            members,
            next: 0,
        };
        let word = Some(counter.monitored());
        let found = call.wait_watched_at(&self.wait_strategy, word, *token, watch, look)?;
        match found == expected {
            true => Ok(()),
            false => Err(call.fail(self.strangers(members))),
        }
    }

    #[inline(always)]
    pub(super) fn arrive_at_line(&mut self, line: usize) -> Result<(), Failure> {
        let share = self.call.fingerprint.share();
        let end = &mut self.lines.barrier_ends[line];
        end.sum = end
            .sum
            .wrapping_add(share.wrapping_mul(end.others.len() as u64 + 1));
        let expected = end.sum;
        let mut found = end.counter_barrier.come(share);
        if OpFingerprint::is_counted(expected, found) {
            end.counter_barrier.wake();
        } else {
            found = self.wait_at_counter_barrier(line, expected, found)?;
        }
        let others = &self.lines.barrier_ends[line].others;
        match OpFingerprint::agrees_in_sum(expected, found, others.len()) {
            true => Ok(()),
            false => Err(self.call.fail(self.strangers(others))),
        }
    }

    /// Waits until the sum of a counter barrier, last read as `found`, reaches `expected`, and returns the sum.
    /// It may be larger, because others may have arrived at the next barrier already.
    #[inline(always)]
    fn wait_at_counter_barrier(
        &mut self,
        line: usize,
        expected: u64,
        found: u64,
    ) -> Result<u64, Failure> {
        let sum = |lines: &SharedLines| {
            let found = lines.barrier_ends[line].counter_barrier.sum();
            Some(found).filter(|&found| OpFingerprint::is_counted(expected, found))
        };
        if self.endpoint.is_staging() {
            let first = self.lines.barrier_ends[line].others[0];
            self.stage_lines_until(first, |lines| sum(lines).map(drop))?;
        }
        let (call, lines) = (&self.call, &self.lines);
        let end = &lines.barrier_ends[line];
        if let Some(found) = self.wait_strategy.briefly(|| sum(lines)) {
            return Ok(found);
        }
        let watch = GroupWatch {
            call,
            members: &end.others,
            next: 0,
        };
        let word = Some(end.counter_barrier.monitored());
        let look = &mut || sum(lines);
        let waited = match OpFingerprint::missing(expected, found) <= end.at_once {
            true => self.wait_strategy.wait_long(word, end.token, watch, look),
            false => self.wait_strategy.give_way(word, end.token, watch, look),
        };
        call.waited(waited, || sum(lines))
    }

    /// The failure of a group in which some member has another history than this rank.
    #[cold]
    #[inline(never)]
    fn strangers(&self, members: &[usize]) -> Failure {
        let mut watches = members.iter().map(|&peer| self.call.watch(peer));
        watches
            .find_map(|watch| watch.difference())
            .unwrap_or_else(|| self.call.watch(members[0]).mismatch())
    }

    /// Goes on copying to the bounce buffer until all is copied, or `ready` finds something at the lines.
    #[cold]
    #[inline(never)]
    fn stage_lines_until(
        &mut self,
        peer: usize,
        mut ready: impl FnMut(&mut SharedLines) -> Option<()>,
    ) -> Result<(), Failure> {
        let endpoint = RefCell::new(&mut self.endpoint);
        let (lines, call) = (&mut self.lines, &self.call);
        let watch = || call.watch(peer).staging(&endpoint, &self.link_of);
        call.wait_watched(&self.wait_strategy, ANY, watch, || {
            let mut endpoint = endpoint.borrow_mut();
            endpoint.advance();
            (!endpoint.is_staging() || ready(lines).is_some()).then_some(())
        })
    }
}
