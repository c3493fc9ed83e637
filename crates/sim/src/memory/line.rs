//! One line: its content, and which caches have a copy in which state.

use super::lru::LruPlace;
use crate::VirtualTime;
use smallvec::SmallVec;

/// The state of a copy; a core without one has it invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CopyState {
    /// The only copy, newer than memory.
    Modified,
    /// Newer than memory, while others have copies; this copy answers readers.
    Owned,
    /// The only copy, equal to memory.
    Exclusive,
    /// Equal to memory; this copy answers readers.
    Forward,
    /// One of several.
    Shared,
}

impl CopyState {
    /// Whether a store needs no request.
    pub(crate) fn writable(self) -> bool {
        matches!(self, Self::Modified | Self::Exclusive)
    }

    /// Whether this copy answers readers.
    pub(crate) fn answers(self) -> bool {
        self != Self::Shared
    }

    /// Whether memory is older.
    pub(crate) fn dirty(self) -> bool {
        matches!(self, Self::Modified | Self::Owned)
    }
}

/// A core's copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    pub(crate) core: u32,
    pub(crate) state: CopyState,
    /// The place of the copy in its core's caches.
    pub(crate) place: LruPlace,
    /// When it arrives; it cannot be passed on earlier.
    pub(crate) since: VirtualTime,
}

/// A shared cache's copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupCopy {
    pub(crate) group: u32,
    pub(crate) dirty: bool,
    pub(crate) place: LruPlace,
    /// When it arrives.
    pub(crate) since: VirtualTime,
}

/// Copies of a line. Most lines have a writer and a reader, so two are with the line.
pub(crate) type LineCopies = SmallVec<[Copy; 2]>;

/// A line.
#[derive(Clone, Debug)]
pub(crate) struct CachedLine {
    /// One word stands for the whole line and for all its copies.
    pub(crate) word: u64,
    pub(crate) home: u32,
    /// Under the protocol of homes: whether the home's cache is newer than memory.
    pub(crate) newer: bool,
    /// Until this time a request is served, and others wait.
    pub(crate) busy: VirtualTime,
    /// The copies of cores, by core.
    pub(crate) copies: LineCopies,
    pub(crate) groups: Vec<GroupCopy>,
}

impl CachedLine {
    pub(crate) fn new(home: u32) -> Self {
        Self {
            word: 0,
            home,
            newer: false,
            busy: 0,
            copies: LineCopies::new(),
            groups: Vec::new(),
        }
    }

    pub(crate) fn place(&self, core: u32) -> Result<usize, usize> {
        match &self.copies[..] {
            [] => Err(0),
            [one] => match one.core.cmp(&core) {
                std::cmp::Ordering::Equal => Ok(0),
                std::cmp::Ordering::Less => Err(1),
                std::cmp::Ordering::Greater => Err(0),
            },
            many => many.binary_search_by_key(&core, |copy| copy.core),
        }
    }

    pub(crate) fn copy(&self, core: u32) -> Option<&Copy> {
        self.place(core).ok().map(|place| &self.copies[place])
    }

    /// The copy that answers readers, if it is not that of `core`.
    pub(crate) fn answerer(&self, core: u32) -> Option<Copy> {
        let others = self.copies.iter().filter(|copy| copy.core != core);
        others.copied().find(|copy| copy.state.answers())
    }

    /// Whether the states are coherent: a writable copy is the only one, and at most one copy answers readers.
    pub(crate) fn coherent(&self) -> bool {
        let answering = self.copies.iter().filter(|copy| copy.state.answers());
        let alone = self.copies.iter().any(|copy| copy.state.writable());
        answering.count() <= 1 && (!alone || self.copies.len() == 1)
    }
}
