//! CLa's four primitives on the threads of a team, which may be those of several processes.

use super::call_context::CallContext;
use super::ends::Hardware;
use crate::failure::Failure;
use crate::team_state::TeamState;
use corecast_wire::cache_lines::{
    CacheLines, LineId, LineSet, LineUse, Payload, PayloadLine, Rounds, SharedLine,
};
use corecast_wire::park::ANY;
use corecast_wire::sync::{AtomicU64, Ordering, mutated};
use corecast_wire::wait::Watch;
use corecast_wire::{Line, LineRef, Segment, SegmentError};
use std::sync::Arc;
use std::time::Duration;

/// The lines of an algorithm in the memory of a team, made by [`Team::lines`](crate::Team::lines). They keep their values
/// from round to round.
#[derive(Debug)]
pub struct TeamLines {
    state: Arc<TeamState>,
    lines: Vec<(SharedLine, LineUse)>,
    /// How far each rank has come.
    rounds: Vec<LineRef<Rounds>>,
    /// The rounds that ranks of this process have begun; no other process can write them.
    begun: Box<[Line<AtomicU64>]>,
    digest: u64,
}

impl TeamLines {
    /// Bytes of `set` near each rank.
    pub(crate) fn bytes(set: &LineSet) -> Vec<usize> {
        let mut bytes = vec![Segment::bytes_for::<Rounds>(1); set.ranks()];
        for uses in set.lines() {
            let all = &mut bytes[uses.home];
            *all = all.saturating_add(Segment::bytes_for::<PayloadLine>(uses.lines));
        }
        bytes
    }

    /// Lines for the ranks of `state`, in the memory that is `near` each rank. Processes that have the same memory near
    /// their ranks find the same lines there.
    pub(crate) fn new(
        set: &LineSet,
        state: &Arc<TeamState>,
        near: &[Arc<Segment>],
    ) -> Result<Self, SegmentError> {
        // Rounds come first: a process that has made other lines in this place is known by its own.
        let rounds = near.iter().map(|near| Ok(near.lines(1)?.get(0)));
        let rounds = rounds.collect::<Result<_, SegmentError>>()?;
        let line = |uses: &LineUse| {
            let memory = near[uses.home].lines(uses.lines)?;
            let bells = uses.waiters.iter().map(|&rank| state.parkers[rank].clone());
            let line = SharedLine::new(memory, bells.collect(), state.fence());
            Ok((line, uses.clone()))
        };
        let lines = set.lines().iter().map(line);
        let lines = lines.collect::<Result<_, SegmentError>>()?;
        Ok(Self {
            state: Arc::clone(state),
            lines,
            rounds,
            begun: near.iter().map(|_| Line::default()).collect(),
            digest: set.digest(),
        })
    }

    /// Whether these lines belong to the team with this state.
    pub(crate) fn belong_to(&self, state: &Arc<TeamState>) -> bool {
        Arc::ptr_eq(&self.state, state)
    }

    /// Counts a round of a rank, which enters the operation in its history afterwards.
    pub(crate) fn begin_round(&self, rank: usize) -> u64 {
        let begun = &self.begun[rank];
        // Relaxed, both: only this rank uses it.
        let round = begun.load(Ordering::Relaxed) + 1;
        begun.store(round, Ordering::Relaxed);
        self.rounds[rank].begin(round, self.digest);
        round
    }

    /// Notes that a rank has done its part of the round.
    pub(crate) fn end_round(&self, rank: usize, round: u64) {
        self.rounds[rank].end(round);
    }
}

/// What one member does to the lines of an algorithm; see [`Member::on_lines`](crate::Member::on_lines).
#[derive(Debug)]
pub struct MemberLines<'m> {
    fabric: &'m mut Hardware,
    lines: &'m TeamLines,
    round: u64,
}

impl<'m> MemberLines<'m> {
    pub(crate) fn new(fabric: &'m mut Hardware, lines: &'m TeamLines, round: u64) -> Self {
        Self {
            fabric,
            lines,
            round,
        }
    }

    #[inline(always)]
    fn line(&self, line: LineId) -> &'m SharedLine {
        &self.lines.lines[line.index()].0
    }

    /// Line whose value this rank changes.
    #[inline(always)]
    fn own(&self, line: LineId) -> &'m SharedLine {
        let (shared, uses) = &self.lines.lines[line.index()];
        debug_assert!(
            uses.writers.contains(&self.fabric.call.rank),
            "rank {} changes \"{}\", whose writers are {:?}",
            self.fabric.call.rank,
            uses.name,
            uses.writers
        );
        shared
    }
}

/// Watches the ranks that change a line. Each of them may change it or go on independently of the others, so a rank that is
/// ahead, or has left, is a failure only if it has not ended this round of the algorithm.
struct WritersWatch<'a> {
    call: &'a CallContext,
    writers: &'a [usize],
    lines: &'a TeamLines,
    round: u64,
    /// The writer that the next cheap check looks at (round robin).
    next: usize,
}

impl WritersWatch<'_> {
    /// The failure of a writer that has not ended this round and cannot go on with it.
    fn check_one(&self, peer: usize, waited: Duration) -> Result<(), Failure> {
        let (mut watch, rounds) = (self.call.watch(peer), &self.lines.rounds[peer]);
        if rounds.has_ended(self.round) {
            return Ok(());
        }
        // In the same operation without this round it runs another algorithm or has other lines.
        let elsewhere = !waited.is_zero()
            && watch.is_there()
            && !rounds.has_begun(self.round, self.lines.digest)
            && !mutated!(OtherLinesUnseen);
        let found = match elsewhere {
            true => Err(watch.mismatch()),
            false => watch.check(waited),
        };
        // It may have ended the round, and gone on, since the first look.
        found.or_else(|failure| match rounds.has_ended(self.round) {
            true => Ok(()),
            false => Err(failure),
        })
    }
}

impl Watch for WritersWatch<'_> {
    type Error = Failure;

    fn check(&mut self, waited: Duration) -> Result<(), Failure> {
        let own = self.call.rank;
        // A short wait looks at one writer at a time, because the lines that it reads are busy.
        if waited.is_zero() {
            self.next = (self.next + 1) % self.writers.len();
            let peer = self.writers[self.next];
            return match peer == own {
                true => Ok(()),
                false => self.check_one(peer, waited),
            };
        }
        let others = || self.writers.iter().copied().filter(|&peer| peer != own);
        // A wait that ends names a rank that has not reached this operation, if there is one.
        for there in [false, true] {
            let mut ranks = others().filter(|&peer| self.call.watch(peer).is_there() == there);
            ranks.try_for_each(|peer| self.check_one(peer, waited))?;
        }
        let ended = |peer: usize| self.lines.rounds[peer].has_ended(self.round);
        match others().next() {
            // Nobody will bring the value about: the ranks disagree about the algorithm.
            Some(first) if others().all(ended) => Err(self.call.watch(first).mismatch()),
            _ => Ok(()),
        }
    }
}

impl CacheLines for MemberLines<'_> {
    type Error = Failure;

    #[inline(always)]
    fn rank(&self) -> usize {
        self.fabric.call.rank
    }

    #[inline]
    fn copy(&mut self, from: LineId, to: LineId, lines: usize) {
        self.line(from).copy_to(self.line(to), lines);
    }

    #[inline]
    fn wait(&mut self, line: LineId, value: u64) -> Result<(), Failure> {
        let (shared, uses) = &self.lines.lines[line.index()];
        debug_assert!(
            uses.waiters.contains(&self.fabric.call.rank),
            "rank {} waits for \"{}\", whose waiters are {:?}",
            self.fabric.call.rank,
            uses.name,
            uses.waiters
        );
        // Loans to other processes are copied in the background, and an operation before this one has none left.
        debug_assert!(!self.fabric.endpoint.is_staging());
        let call = &self.fabric.call;
        let watch = || WritersWatch {
            call,
            writers: &uses.writers,
            lines: self.lines,
            round: self.round,
            next: 0,
        };
        let look = || (shared.value() >= value).then_some(());
        let word = Some(shared.monitored());
        call.wait_watched_at(&self.fabric.wait_strategy, word, ANY, watch, look)
    }

    #[inline]
    fn write(&mut self, line: LineId, value: u64) {
        self.own(line).write(value);
    }

    #[inline]
    fn add(&mut self, line: LineId, value: u64) {
        self.own(line).add(value);
    }

    #[inline]
    fn add_line(&mut self, line: LineId, from: LineId) {
        self.line(line).add_payload_of(self.line(from));
    }

    #[inline]
    fn payload(&self, line: LineId) -> Payload {
        self.line(line).payload()
    }

    #[inline]
    fn set_payload(&mut self, line: LineId, payload: Payload) {
        self.line(line).set_payload(payload);
    }
}
