//! What a rank does at the lines that groups share: send to all, receive, add, collect and meet.

use super::ends::Hardware;
use super::lines::{Collect, Meet, Post, Read, SharedLines};
use super::waiting::{Here, NothingElse};
use crate::failure::Failure;
use crate::operation::Mark;
use corecast_wire::park::ANY;
use corecast_wire::queue::Received;
use corecast_wire::wait::Watch;
use std::cell::RefCell;
use std::time::Duration;

/// Watches all members of a group. It looks first at those that have not reached this operation, because a wait that ends
/// must name one of them.
struct GroupWatch<'a> {
    here: &'a Here,
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
            return self.here.watch(self.members[self.next]).check(waited);
        }
        for there in [false, true] {
            let watches = self.members.iter().map(|&peer| self.here.watch(peer));
            watches
                .filter(|watch| watch.is_there() == there)
                .try_for_each(|mut watch| watch.check(waited))?;
        }
        Ok(())
    }
}

impl Hardware {
    /// The longest post on a line of this rank; 0 if there is no such line.
    pub(crate) fn long_post_bytes(&self, line: usize) -> usize {
        let post = self.lines.posts.get(line);
        post.map_or(0, |post| post.writer.post_bytes_max())
    }

    #[inline(always)]
    pub(super) fn post_line(&mut self, line: usize, payload: &[u8]) -> Result<(), Failure> {
        if self.lines.posts[line].writer.holder().is_some() {
            self.wait_for_room(line)?;
        }
        let tag = self.mark.tag();
        self.lines.posts[line].writer.post(tag, payload);
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn wait_for_room(&mut self, line: usize) -> Result<(), Failure> {
        while let Some(reader) = self.lines.posts[line].writer.holder() {
            let Post {
                readers,
                room_token,
                ..
            } = &self.lines.posts[line];
            let (peer, token) = (readers[reader], *room_token);
            let freed = |lines: &mut SharedLines| {
                let holder = lines.posts[line].writer.holder();
                (holder != Some(reader)).then_some(())
            };
            if self.desk.is_staging() {
                self.stage_lines_until(peer, freed)?;
            }
            let (here, lines) = (&self.here, &mut self.lines);
            here.wait(&self.governor, token, peer, || freed(lines))?;
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn read_line(&mut self, line: usize, payload: &mut [u8]) -> Result<(), Failure> {
        let peer = self.lines.reads[line].peer;
        if self.desk.is_staging() {
            self.stage_lines_until(peer, |lines| lines.reads[line].reader.look().map(drop))?;
        }
        let Read { reader, token, .. } = &self.lines.reads[line];
        let (tag, expected, index) = (self.mark.tag(), payload.len(), self.link_of[peer] as usize);
        let (desk, here, links) = (RefCell::new(&mut self.desk), &self.here, &self.links);
        let watch = || NothingElse {
            watch: here.watch(peer),
            receiver: links.get(index).map(|link| &link.receiver),
            desk: links.get(index).map(|_| (&desk, index)),
            reader: None,
            tag,
            expected,
        };
        let noticed = here.wait_watched(&self.governor, *token, watch, || reader.look())?;
        let (tag, len) = (noticed.tag, noticed.len);
        if (tag, len) != (self.mark.tag(), payload.len()) {
            return Err(self.unexpected(peer, payload.len(), Received { len, tag }));
        }
        self.lines.reads[line].reader.take(payload);
        Ok(())
    }

    #[inline(always)]
    pub(super) fn add_to_line(&mut self, line: usize) {
        let add = &mut self.lines.adds[line];
        add.count += 1;
        let sum = add.tally.add(self.mark.share());
        // Whoever comes last wakes the one who collects: before, it would look in vain.
        if Mark::is_counted(add.count.wrapping_mul(add.members), sum) {
            add.bell.wake_for(add.token, self.governor.fence());
        }
    }

    #[inline(always)]
    pub(super) fn collect_line(&mut self, line: usize) -> Result<(), Failure> {
        let collect = &mut self.lines.collects[line];
        let shares = self.mark.share().wrapping_mul(collect.members.len() as u64);
        collect.sum = collect.sum.wrapping_add(shares);
        let expected = collect.sum;
        if self.desk.is_staging() {
            let first = collect.members[0];
            self.stage_lines_until(first, |lines| {
                let found = lines.collects[line].tally.sum();
                Mark::is_counted(expected, found).then_some(())
            })?;
        }
        let Collect {
            tally,
            members,
            token,
            ..
        } = &self.lines.collects[line];
        let look = || Some(tally.sum()).filter(|&found| Mark::is_counted(expected, found));
        let here = &self.here;
        let watch = || GroupWatch {
            here,
            members,
            next: 0,
        };
        let found = here.wait_watched(&self.governor, *token, watch, look)?;
        match found == expected {
            true => Ok(()),
            false => Err(here.board.fail(self.strangers(members))),
        }
    }

    #[inline(always)]
    pub(super) fn meet_at_line(&mut self, line: usize) -> Result<(), Failure> {
        let share = self.mark.share();
        let meet = &mut self.lines.meets[line];
        meet.sum = meet
            .sum
            .wrapping_add(share.wrapping_mul(meet.others.len() as u64 + 1));
        let expected = meet.sum;
        let mut found = meet.meeting.come(share);
        if Mark::is_counted(expected, found) {
            meet.meeting.wake();
        } else {
            found = self.wait_at_meeting(line, expected, found)?;
        }
        let others = &self.lines.meets[line].others;
        match Mark::agrees_in_sum(expected, found, others.len()) {
            true => Ok(()),
            false => Err(self.here.board.fail(self.strangers(others))),
        }
    }

    /// Waits until the sum of a meeting, which was `found`, is `expected`, or more: others may be on their way to
    /// the next one.
    #[inline(always)]
    fn wait_at_meeting(&mut self, line: usize, expected: u64, found: u64) -> Result<u64, Failure> {
        let sum = |lines: &SharedLines| {
            let found = lines.meets[line].meeting.sum();
            Some(found).filter(|&found| Mark::is_counted(expected, found))
        };
        if self.desk.is_staging() {
            let first = self.lines.meets[line].others[0];
            self.stage_lines_until(first, |lines| sum(lines).map(drop))?;
        }
        let missing = Mark::missing(expected, found);
        if self.lines.meets[line].may_end_soon(missing)
            && let Some(found) = self.governor.soon(|| sum(&self.lines))
        {
            self.lines.meets[line].vain = 0;
            return Ok(found);
        }
        let Meet { others, token, .. } = &self.lines.meets[line];
        let (here, lines) = (&self.here, &self.lines);
        let watch = || GroupWatch {
            here,
            members: others,
            next: 0,
        };
        here.wait_watched(&self.governor, *token, watch, || sum(lines))
    }

    /// The failure of a group of whom not all have the history of this rank.
    #[cold]
    #[inline(never)]
    fn strangers(&self, members: &[usize]) -> Failure {
        let mut watches = members.iter().map(|&peer| self.here.watch(peer));
        watches
            .find_map(|watch| watch.difference())
            .unwrap_or_else(|| self.here.watch(members[0]).mismatch())
    }

    /// Goes on copying to the outbox until all is copied, or a line is ready for what is to come.
    #[cold]
    #[inline(never)]
    fn stage_lines_until(
        &mut self,
        peer: usize,
        mut ready: impl FnMut(&mut SharedLines) -> Option<()>,
    ) -> Result<(), Failure> {
        let (desk, lines, here) = (&mut self.desk, &mut self.lines, &self.here);
        here.wait(&self.governor, ANY, peer, || {
            desk.advance();
            (!desk.is_staging() || ready(lines).is_some()).then_some(())
        })
    }
}
