//! One rank's ends of the lines that groups share.

use super::{Hardware, Here, NothingElse};
use crate::failure::Failure;
use crate::operation::Mark;
use corecast_collectives::groups::{Group, Groups};
use corecast_wire::notice::{self, Reader, Writer};
use corecast_wire::park::ANY;
use corecast_wire::queue::Received;
use corecast_wire::wait::Watch;
use corecast_wire::{FenceKind, Line, LineRef, Meeting, Parker, Segment, SegmentError, Tally};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

/// The ends of one rank, by the numbers that [`Groups`] gives out.
#[derive(Debug, Default)]
pub(crate) struct SharedLines {
    posts: Vec<Post>,
    reads: Vec<Read>,
    adds: Vec<Add>,
    collects: Vec<Collect>,
    meets: Vec<Meet>,
}

#[derive(Debug)]
struct Post {
    writer: Writer,
    readers: Box<[usize]>,
    room_token: u32,
}

#[derive(Debug)]
struct Read {
    reader: Reader,
    peer: usize,
    long: bool,
    token: u32,
}

#[derive(Debug)]
struct Add {
    tally: LineRef<Tally>,
    bell: LineRef<Line<Parker>>,
    token: u32,
    members: u64,
    /// Additions of this rank so far.
    count: u64,
}

#[derive(Debug)]
struct Collect {
    tally: LineRef<Tally>,
    members: Box<[usize]>,
    token: u32,
    /// The sum when all have added as often as this rank has collected.
    sum: u64,
}

#[derive(Debug)]
struct Meet {
    meeting: Meeting,
    /// All but this rank.
    others: Box<[usize]>,
    token: u32,
    /// The sum when all have come as often as this rank.
    sum: u64,
    /// When so many are missing they may all be running.
    at_once: u64,
    /// How often in a row they were not, though.
    vain: u32,
}

/// After so many looks in vain whoever is missing probably waits for this very hardware thread: threads that are not
/// pinned may lie three and one on two.
const VAIN_MAX: u32 = 2;

/// Waits until another such look: threads move.
const VAIN_PAUSE: u32 = 64;

impl Meet {
    /// Whether to [look](corecast_wire::Governor::soon) for as long as a switch takes where `missing` are missing.
    #[inline(always)]
    fn may_end_soon(&mut self, missing: u64) -> bool {
        if missing > self.at_once {
            return false;
        }
        if self.vain >= VAIN_MAX {
            self.vain = (self.vain + 1) % VAIN_PAUSE;
            return false;
        }
        self.vain += 1;
        true
    }
}

impl SharedLines {
    /// Where a peer posts what others of its operations send or lend.
    pub(super) fn long_posts_of(&self, peer: usize) -> Option<&Reader> {
        let read = self
            .reads
            .iter()
            .find(|read| read.long && read.peer == peer);
        read.map(|read| &read.reader)
    }
}

/// Bytes that each rank's segment needs for the lines that it posts on or collects, or is the first to meet at.
pub(crate) fn shared_bytes(n: usize, groups: &Groups, lane: usize) -> Vec<usize> {
    let mut bytes = vec![0; n];
    for group in groups.notices() {
        bytes[group.one] += notice::bytes(group.others.len(), body_lines(group, lane));
    }
    for group in groups.tallies() {
        bytes[group.one] += Segment::bytes_for::<Tally>(1);
    }
    for ranks in groups.meetings() {
        bytes[ranks[0]] += Segment::bytes_for::<Tally>(1);
    }
    bytes
}

/// Body lines of each slot of a notice in one lane: where operations block, of which there is one at a time.
fn body_lines(group: &Group, lane: usize) -> usize {
    match group.long && lane == 0 {
        true => BODY_LINES,
        false => 0,
    }
}

/// Posts of 16 KiB: of all slots 256 KiB, so that a rank of some that share a core has several broadcasts of
/// 16 to 64 KiB behind it before it waits for the others, and they fit the second cache.
const BODY_LINES: usize = 256;

/// The ends of all ranks in one lane, which have `usable` hardware threads between them. Lines lie with whoever
/// posts or collects, or is named first; those of ranks that are not `owned` are passed over.
pub(crate) fn ends(
    groups: &Groups,
    lane: usize,
    owned: impl Fn(usize) -> bool,
    (homes, parkers): (&[Arc<Segment>], &[LineRef<Line<Parker>>]),
    (fence, usable): (FenceKind, usize),
) -> Result<Vec<SharedLines>, SegmentError> {
    let (notices, tallies, meetings) = (groups.notices(), groups.tallies(), groups.meetings());
    let mut all: Vec<SharedLines> = homes.iter().map(|_| SharedLines::default()).collect();
    let lines = notices.len() + tallies.len() + meetings.len();
    let mut number = (lane * lines) as u32;
    for group in notices {
        let Group { one, others, .. } = group;
        let shape = (others.len(), body_lines(group, lane));
        let parts = notice::parts(number, shape, &homes[*one])?;
        if owned(*one) {
            let bells: Vec<_> = others.iter().map(|&rank| parkers[rank].clone()).collect();
            all[*one].posts.push(Post {
                writer: parts.writer(&bells, fence),
                readers: others.as_slice().into(),
                room_token: notice::room_token(number),
            });
        }
        for (index, &rank) in others.iter().enumerate() {
            if owned(rank) {
                all[rank].reads.push(Read {
                    reader: parts.reader(index, &parkers[*one], fence),
                    peer: *one,
                    long: group.long,
                    token: notice::token(number),
                });
            }
        }
        number += 1;
    }
    for Group { one, others, .. } in tallies {
        let tally: LineRef<Tally> = homes[*one].lines(1)?.get(0);
        let token = notice::token(number);
        if owned(*one) {
            all[*one].collects.push(Collect {
                tally: tally.clone(),
                members: others.as_slice().into(),
                token,
                sum: 0,
            });
        }
        for &rank in others {
            if owned(rank) {
                all[rank].adds.push(Add {
                    tally: tally.clone(),
                    bell: parkers[*one].clone(),
                    token,
                    members: others.len() as u64,
                    count: 0,
                });
            }
        }
        number += 1;
    }
    for ranks in meetings {
        let tally: LineRef<Tally> = homes[ranks[0]].lines(1)?.get(0);
        for &rank in ranks.iter().filter(|&&rank| owned(rank)) {
            let others: Box<[usize]> = ranks
                .iter()
                .copied()
                .filter(|&other| other != rank)
                .collect();
            let bells = others.iter().map(|&other| parkers[other].clone()).collect();
            all[rank].meets.push(Meet {
                meeting: Meeting::new(number, tally.clone(), bells, fence),
                others,
                token: notice::token(number),
                sum: 0,
                at_once: usable.saturating_sub(1) as u64,
                vain: 0,
            });
        }
        number += 1;
    }
    Ok(all)
}

/// Watches all members of a group, those that have not come to this operation first: of them one is to
/// be named where patience ends.
struct GroupWatch<'a> {
    here: &'a Here,
    members: &'a [usize],
    /// Whom the next short look is for.
    next: usize,
}

impl Watch for GroupWatch<'_> {
    type Error = Failure;

    fn check(&mut self, waited: Duration) -> Result<(), Failure> {
        // While the wait is short one at a time: the lines that are looked at are busy.
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
