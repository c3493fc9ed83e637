//! Where in the segment what lies.

use corecast_wire::park::Parker;
use corecast_wire::{Line, LineRef, LineSlice, Segment, SegmentError, Words};
use std::sync::Arc;

use super::packet_ring::{self, RingLines};
use super::{AcceptorMemory, ConfigurationMemory};

/// Bytes of a line.
const LINE: usize = size_of::<Words>();

/// Slots of a ring of packets.
const RING_SLOTS: usize = 64;

/// The first word of a segment that is a group's.
const MAGIC: u64 = u64::from_le_bytes(*b"1Paxos#1");

/// Lines before those of members: the header, the watermark, and the head of the configuration log.
const COMMON_LINES: usize = 3;

/// Lines of each member besides slots: whether it runs, its bell, and its acceptor's control.
const MEMBER_LINES: usize = 3;

/// Where in the segment what lies.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    segment: Arc<Segment>,
    size: usize,
    window: usize,
    user_lines: usize,
}

impl Layout {
    /// Bytes of a group's segment.
    pub(super) fn bytes(size: usize, window: usize, user_lines: usize) -> usize {
        LINE * Self::lines_before_user(size, window) + LINE * user_lines
    }

    fn lines_before_user(size: usize, window: usize) -> usize {
        Self::rings_at(size, window) + size * size * Self::ring_lines()
    }

    fn ring_lines() -> usize {
        1 + RING_SLOTS * packet_ring::SLOT_LINES
    }

    fn slots_at(size: usize) -> usize {
        // A parker has a line of the same size.
        COMMON_LINES + size * (MEMBER_LINES + 1)
    }

    fn buffers_at(size: usize, window: usize) -> usize {
        Self::slots_at(size) + size * window * AcceptorMemory::SLOT_LINES
    }

    fn rings_at(size: usize, window: usize) -> usize {
        Self::buffers_at(size, window) + 2 * size * ConfigurationMemory::buffer_lines(window)
    }

    /// Begins the segment of a new group.
    pub(super) fn create(
        segment: Arc<Segment>,
        size: usize,
        window: usize,
        user_lines: usize,
    ) -> Result<Self, SegmentError> {
        let layout = Self {
            segment,
            size,
            window,
            user_lines,
        };
        let header = layout.header()?;
        header.set(1, size as u64);
        header.set(2, window as u64);
        header.set(3, user_lines as u64);
        header.set(0, MAGIC);
        Ok(layout)
    }

    /// Finds what another process has begun.
    pub(super) fn open(segment: Arc<Segment>) -> Result<Self, SegmentError> {
        let header = segment.at::<Words>(0, 1)?.get(0);
        let number = |word| usize::try_from(header.get(word)).unwrap_or(usize::MAX);
        let (size, window, user_lines) = (number(1), number(2), number(3));
        let most = segment.bytes() / LINE;
        let fits = (1..=64).contains(&size) && window.max(user_lines) <= most;
        if header.get(0) != MAGIC
            || !fits
            || Self::bytes(size, window, user_lines) > segment.bytes()
        {
            return Err(SegmentError::Foreign {
                why: "it is not the memory of a group of this version".into(),
            });
        }
        Ok(Self {
            segment,
            size,
            window,
            user_lines,
        })
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Entries that acceptors keep.
    pub(super) fn window(&self) -> usize {
        self.window
    }

    fn lines(&self, first: usize, count: usize) -> Result<LineSlice<Words>, SegmentError> {
        self.segment.at::<Words>(LINE * first, count)
    }

    /// Word 4 counts the starts of members.
    pub(super) fn header(&self) -> Result<LineRef<Words>, SegmentError> {
        Ok(self.lines(0, 1)?.get(0))
    }

    pub(super) fn watermark(&self) -> Result<LineRef<Words>, SegmentError> {
        Ok(self.lines(1, 1)?.get(0))
    }

    /// A line for each member that says which start of it runs, 0 for none, and by which thread.
    pub(super) fn running(&self) -> Result<LineSlice<Words>, SegmentError> {
        self.lines(COMMON_LINES, self.size)
    }

    /// A line for each member that says whether its bell is to be rung.
    pub(super) fn bells(&self) -> Result<LineSlice<Words>, SegmentError> {
        self.lines(COMMON_LINES + self.size, self.size)
    }

    pub(super) fn parkers(&self) -> Result<LineSlice<Line<Parker>>, SegmentError> {
        const { assert!(size_of::<Line<Parker>>() == LINE) };
        let first = COMMON_LINES + 3 * self.size;
        self.segment.at::<Line<Parker>>(LINE * first, self.size)
    }

    pub(super) fn acceptor(&self, of: usize) -> Result<AcceptorMemory, SegmentError> {
        let control = self.lines(COMMON_LINES + 2 * self.size + of, 1)?.get(0);
        let lines = self.window * AcceptorMemory::SLOT_LINES;
        let slots = self.lines(Self::slots_at(self.size) + of * lines, lines)?;
        Ok(AcceptorMemory::new(
            control,
            slots,
            AcceptorMemory::SLOT_LINES,
        ))
    }

    pub(super) fn configurations(&self) -> Result<ConfigurationMemory, SegmentError> {
        let head = self.lines(2, 1)?.get(0);
        let lines = 2 * self.size * ConfigurationMemory::buffer_lines(self.window);
        let buffers = self.lines(Self::buffers_at(self.size, self.window), lines)?;
        Ok(ConfigurationMemory::new(head, buffers, self.size))
    }

    pub(super) fn ring(&self, from: usize, to: usize) -> Result<RingLines, SegmentError> {
        let number = from * self.size + to;
        let first = Self::rings_at(self.size, self.window) + number * Self::ring_lines();
        Ok(RingLines {
            read: self.lines(first, 1)?.get(0),
            slots: self.lines(first + 1, RING_SLOTS * packet_ring::SLOT_LINES)?,
        })
    }

    pub(super) fn user(&self) -> Result<LineSlice<Words>, SegmentError> {
        let first = Self::lines_before_user(self.size, self.window);
        self.lines(first, self.user_lines)
    }
}
