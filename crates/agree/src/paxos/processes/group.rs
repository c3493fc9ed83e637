//! The memory of a group, and who of its members runs.

use corecast_wire::park::Parker;
use corecast_wire::{FenceKind, Line, LineRef, LineSlice, Segment, SegmentError, Words};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use super::layout::Layout;

/// The word of the header that counts starts.
const STARTS: usize = 4;

/// The word of a member's line that says which thread it belongs to, 0 if that is not known.
const THREAD: usize = 1;

/// The token for which members sleep.
pub(super) const WAKE: u32 = 1;

/// How processes wake each other: a full fence on both sides.
pub(super) const FENCE: FenceKind = FenceKind::SharedSymmetric;

/// Rings the bell of a member that sleeps in a way of its own, such as on its connections.
pub type Ring = Arc<dyn Fn(usize) + Send + Sync>;

/// The memory of a group of processes, as whoever starts its members has it.
///
/// It outlives all members. A member may be killed at any time; whoever started it then says so by [`ended`](Self::ended), by
/// which the others replace it at once, and may start it again.
#[derive(Clone)]
pub struct ProcessGroup {
    layout: Layout,
    running: LineSlice<Words>,
    wakers: Wakers,
}

impl std::fmt::Debug for ProcessGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ProcessGroup({})", self.layout.size())
    }
}

impl ProcessGroup {
    /// The memory of a new group of `size` processes, and its descriptor for them. Acceptors keep up to `window` entries;
    /// `user_lines` lines are the user's.
    ///
    /// # Errors
    ///
    /// [`SegmentError`] when memory is short. It takes about 3 · `size` · `window` KiB.
    ///
    /// # Panics
    ///
    /// `size` is not 1 to 64, or `window` 0.
    pub fn create(
        size: usize,
        window: usize,
        user_lines: usize,
    ) -> Result<(Self, OwnedFd), SegmentError> {
        assert!(
            (1..=64).contains(&size),
            "a group of {size} members: 1 to 64"
        );
        assert!(window > 0, "a window of no entries");
        let (segment, fd) = Segment::shared(Layout::bytes(size, window, user_lines))?;
        let group = Self::of(Layout::create(segment, size, window, user_lines)?)?;
        Ok((group, fd))
    }

    /// The group whose memory another process has made.
    ///
    /// # Errors
    ///
    /// [`SegmentError`] where the descriptor is something else.
    pub fn attach(descriptor: BorrowedFd<'_>) -> Result<Self, SegmentError> {
        Self::of(Layout::open(Segment::attach(descriptor)?)?)
    }

    fn of(layout: Layout) -> Result<Self, SegmentError> {
        Ok(Self {
            running: layout.running()?,
            wakers: Wakers {
                bells: layout.bells()?,
                parkers: layout.parkers()?,
                ring: Arc::new(|_| ()),
            },
            layout,
        })
    }

    /// Number of members.
    pub fn size(&self) -> usize {
        self.layout.size()
    }

    /// Lines of the user's, all zero in the beginning.
    ///
    /// # Errors
    ///
    /// None once the group is made.
    pub fn user_lines(&self) -> Result<LineSlice<Words>, SegmentError> {
        self.layout.user()
    }

    /// Has `ring` called for members that [sleep](super::ProcessMember::sleeps) in a way of their own.
    #[must_use]
    pub fn ringing(mut self, ring: Ring) -> Self {
        self.wakers.ring = ring;
        self
    }

    /// Says that a process is about to be started for a member, and returns the number of this start. The former one must
    /// have ended.
    pub fn starting(&self, member: usize) -> Result<u64, SegmentError> {
        let header = self.layout.header()?;
        let start = header.get(STARTS) + 1;
        header.set(STARTS, start);
        self.running[member].set(THREAD, 0);
        self.running[member].set(0, start);
        Ok(start)
    }

    /// Says that the process of a member has ended, and wakes the others, which replace it.
    pub fn ended(&self, member: usize) {
        self.running[member].set(0, 0);
        (0..self.size()).for_each(|to| self.wakers.wake(to));
    }

    /// Which start of a member runs; `None` if none does.
    pub fn running(&self, member: usize) -> Option<u64> {
        Some(self.running[member].get(0)).filter(|it| *it != 0)
    }

    /// Says that a member belongs to this thread.
    pub(super) fn set_thread(&self, member: usize, thread: u64) {
        self.running[member].set(THREAD, thread);
    }

    /// The thread that a member belongs to; any number, as other processes write it.
    pub(super) fn thread(&self, member: usize) -> u64 {
        self.running[member].get(THREAD)
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(super) fn wakers(&self) -> &Wakers {
        &self.wakers
    }

    /// The members that do not run, a bit each.
    pub(super) fn lost(&self) -> u64 {
        let running = self.running.iter().enumerate();
        let gone = running.filter(|(_, it)| it.get(0) == 0);
        gone.fold(0, |bits, (member, _)| bits | 1 << member)
    }

    /// Wakes a member, for whoever has written to lines of the user's.
    pub fn wake(&self, member: usize) {
        self.wakers.wake(member);
    }
}

/// How members are woken.
#[derive(Clone)]
pub(super) struct Wakers {
    bells: LineSlice<Words>,
    parkers: LineSlice<Line<Parker>>,
    ring: Ring,
}

impl Wakers {
    /// Wakes a member that sleeps, after something was published for it.
    pub(super) fn wake(&self, member: usize) {
        // It has the fence that also orders the look at the bell.
        self.parkers[member].wake_for(WAKE, FENCE);
        if self.bells[member].get(0) != 0 && self.bells[member].replace(0, 1, 0) {
            (self.ring)(member);
        }
    }

    pub(super) fn parker(&self, member: usize) -> LineRef<Line<Parker>> {
        self.parkers.get(member)
    }

    /// Says that a member is about to sleep until its bell rings. It has to look once more after this.
    pub(super) fn arm(&self, member: usize) {
        self.bells[member].set(0, 1);
        corecast_wire::fence::full(false);
    }

    /// Says that it does not sleep.
    pub(super) fn disarm(&self, member: usize) {
        self.bells[member].set(0, 0);
    }
}
