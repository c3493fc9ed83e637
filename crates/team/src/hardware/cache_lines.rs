//! CLa's four primitives on the threads of a team.

use super::ends::Hardware;
use super::line_operations::GroupWatch;
use crate::failure::Failure;
use crate::team_state::TeamState;
use corecast_wire::cache_lines::{
    CacheLines, LineId, LineSet, LineUse, Payload, PayloadLine, SharedLine,
};
use corecast_wire::park::ANY;
use corecast_wire::sync::{AtomicU64, Ordering};
use corecast_wire::{Line, Segment, SegmentError};
use std::collections::HashMap;
use std::sync::Arc;

/// The lines of an algorithm in the memory of a team, made by [`Team::lines`](crate::Team::lines). They keep their values
/// from round to round.
#[derive(Debug)]
pub struct TeamLines {
    state: Arc<TeamState>,
    lines: Vec<(SharedLine, LineUse)>,
    /// For each rank the rounds that it has begun.
    rounds: Box<[Line<AtomicU64>]>,
}

impl TeamLines {
    /// Lines for the ranks of `state`, each on the NUMA node of the rank that is its home, if that is known.
    pub(crate) fn new(
        set: &LineSet,
        state: &Arc<TeamState>,
        nodes: &[Option<u32>],
    ) -> Result<Self, SegmentError> {
        let bytes = |uses: &LineUse| Segment::bytes_for::<PayloadLine>(uses.lines);
        let mut sizes: HashMap<Option<u32>, usize> = HashMap::new();
        for uses in set.lines() {
            let size = sizes.entry(nodes[uses.home]).or_insert(0);
            *size = size.saturating_add(bytes(uses));
        }
        let segments = sizes.into_iter();
        let segments = segments.map(|(node, bytes)| Ok((node, Segment::new(bytes, node)?)));
        let segments: HashMap<_, _> = segments.collect::<Result<_, SegmentError>>()?;
        let line = |uses: &LineUse| {
            let memory = segments[&nodes[uses.home]].lines(uses.lines)?;
            let bells = uses.waiters.iter().map(|&rank| state.parkers[rank].clone());
            let line = SharedLine::new(memory, bells.collect(), state.fence());
            Ok((line, uses.clone()))
        };
        let lines = set.lines().iter().map(line);
        Ok(Self {
            state: Arc::clone(state),
            lines: lines.collect::<Result<_, SegmentError>>()?,
            rounds: (0..nodes.len()).map(|_| Line::default()).collect(),
        })
    }

    /// Whether these lines belong to the team with this state.
    pub(crate) fn belong_to(&self, state: &Arc<TeamState>) -> bool {
        Arc::ptr_eq(&self.state, state)
    }

    /// Counts a round of a rank.
    pub(crate) fn begin_round(&self, rank: usize) -> u64 {
        // Relaxed: only this rank reads and writes it.
        let round = self.rounds[rank].load(Ordering::Relaxed) + 1;
        self.rounds[rank].store(round, Ordering::Relaxed);
        round
    }
}

/// What one member does to the lines of an algorithm; see [`Member::on_lines`](crate::Member::on_lines).
#[derive(Debug)]
pub struct MemberLines<'m> {
    fabric: &'m mut Hardware,
    lines: &'m TeamLines,
}

impl<'m> MemberLines<'m> {
    pub(crate) fn new(fabric: &'m mut Hardware, lines: &'m TeamLines) -> Self {
        Self { fabric, lines }
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

    /// Goes on copying to the bounce buffer until all is copied, or the line has the value.
    #[cold]
    #[inline(never)]
    fn stage_until(&mut self, line: &SharedLine, value: u64, peer: usize) -> Result<(), Failure> {
        let (endpoint, call) = (&mut self.fabric.endpoint, &self.fabric.call);
        let watch = || call.watch(peer).staging(true);
        call.wait_watched(&self.fabric.wait_strategy, ANY, watch, || {
            endpoint.advance();
            (!endpoint.is_staging() || line.value() >= value).then_some(())
        })
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
        if self.fabric.endpoint.is_staging() {
            self.stage_until(shared, value, uses.writers[0])?;
        }
        let call = &self.fabric.call;
        let watch = || GroupWatch {
            call,
            members: &uses.writers,
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
