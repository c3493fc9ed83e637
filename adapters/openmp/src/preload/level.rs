//! Layer 8: where a thread is in the program: the regions around its code, one level for each, and who runs the barriers
//! of each of them.
//!
//! Code of one runtime may be called in a region of another one. Its barriers, tasks and ends then belong to the innermost
//! level of *its* runtime, and to no region if there is none. So a thread's levels are a list, the innermost one first:
//!
//! ```text
//! thread ──► region of libomp ──► serial region of libomp ──► region of libgomp
//!            a library's          a library's                 the program's
//! ```
//!
//! | [`Barriers`] | the next barrier of the level | becomes |
//! | --- | --- | --- |
//! | `Runtime` | is the runtime's: outside of regions, after a cancellation, or without a team | – |
//! | `Unknown` | looks for the region's team first | `Team`, or `Runtime` if there is none |
//! | `Team` | is Corecast's | `Runtime` once the team is cancelled |
//! | `Timed` | is that of [`Timed::barriers`], and its wait is recorded | stays; [`Timed::barriers`] changes as above |
//!
//! A thread enters a region as `Unknown`, or as `Runtime` if the region's code has made tasks before.

use super::region::Region;
use super::runtime::Runtime;
use super::waits::Stay;
use corecast::Member;
use std::cell::Cell;

/// Who runs the barriers of the thread's region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Barriers {
    /// The runtime.
    Runtime = 0,
    /// The thread has not looked for the region's team yet.
    Unknown,
    /// The team of this member.
    Team(*mut Member),
    /// The one that [`Timed::barriers`] says; the waits are recorded.
    Timed(*const Timed),
}

/// A stay in a region whose waits are recorded; `timed.rs` makes and uses it.
#[derive(Debug)]
pub(crate) struct Timed {
    pub(crate) stay: Stay,
    pub(crate) barriers: Cell<Barriers>,
}

/// What a thread is in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Inside {
    /// A region that is known here.
    Region(*const Region),
    /// Something that the runtime runs by itself: a region of one thread, or one that keeps the runtime's barriers.
    Other(&'static Runtime),
}

/// One of the levels that a thread is in. It lies on the thread's stack, or in a box if one call begins it and another
/// one ends it.
#[derive(Debug)]
pub(crate) struct Level {
    pub(crate) inside: Inside,
    /// Those of the level while the thread is in a level within this one; meanwhile they are the thread's own.
    pub(crate) barriers: Cell<Barriers>,
    /// The level around this one, or null.
    pub(crate) outer: *const Level,
    /// How many regions, one within the other, were begun by a call of their own and are this level; 0 if it lies on the
    /// stack.
    pub(crate) begun: Cell<usize>,
}

impl Level {
    /// A level that is to lie within `outer`.
    #[inline(always)]
    pub(crate) fn new(inside: Inside, outer: *const Level) -> Self {
        Self {
            inside,
            barriers: Cell::new(Barriers::Runtime),
            outer,
            begun: Cell::new(0),
        }
    }

    /// The region, if it is one that is known here.
    #[inline(always)]
    pub(crate) fn region<'a>(&self) -> Option<&'a Region> {
        match self.inside {
            // SAFETY: a region outlives the threads in it.
            Inside::Region(region) => unsafe { region.as_ref() },
            Inside::Other(_) => None,
        }
    }

    pub(crate) fn runtime(&self) -> &'static Runtime {
        match self.inside {
            // SAFETY: as above.
            Inside::Region(region) => unsafe { &*region }.runtime(),
            Inside::Other(runtime) => runtime,
        }
    }
}
