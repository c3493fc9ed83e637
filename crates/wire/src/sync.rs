//! The one place where atomics come from, so that loom can replace them.
//!
//! It is public for the crates above that hold lock-free protocols of their own (`corecast-transfer`).
//!
//! Orderings that carry a proof are named here by their role. In an ordinary build each name is a
//! constant; under loom it can be weakened by a seeded `mutant`, which the models must catch.
//!
//! A deterministic simulation replaces clocks, mutexes and yields here too, see `simulated`.

#[cfg(any(loom, corecast_simulated))]
pub mod mutant;
#[cfg(corecast_simulated)]
mod simulated;

#[cfg(corecast_simulated)]
pub use core::sync::atomic::Ordering;
#[cfg(corecast_simulated)]
pub use simulated::{
    AtomicU32, AtomicU64, Instant, Mutex, MutexGuard, panicking, process_id, sleep, yield_now,
};

#[cfg(not(any(loom, corecast_simulated)))]
pub use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};

#[cfg(loom)]
pub use loom::cell::UnsafeCell;

#[cfg(loom)]
pub use loom::thread::yield_now;

/// Whether a model has failed and unwinds: drops must not touch its atomics and locks any more. `false` outside of models.
#[inline(always)]
pub fn model_failed() -> bool {
    cfg!(loom) && std::thread::panicking()
}

/// A word of the process, which outlives a model and belongs to no protocol: models use the ordinary atomic.
#[cfg(not(loom))]
pub(crate) use AtomicU32 as StaticU32;
#[cfg(loom)]
pub(crate) use core::sync::atomic::AtomicU32 as StaticU32;

/// Returns a number that no earlier call in this process returned. No protocol relies on the order of the calls, so
/// models use the same ordinary atomic.
pub fn fresh_name() -> u64 {
    static LAST: core::sync::atomic::AtomicU64 = core::sync::atomic::AtomicU64::new(0);
    // Relaxed: only a name.
    LAST.fetch_add(1, core::sync::atomic::Ordering::Relaxed) + 1
}

/// Lets other threads run.
#[cfg(not(any(loom, corecast_simulated)))]
pub use std::thread::yield_now;

/// Clock and process of ordinary builds.
#[cfg(not(corecast_simulated))]
pub use std::{
    process::id as process_id,
    thread::{panicking, sleep},
    time::Instant,
};

#[cfg(loom)]
pub use loom::sync::{Mutex, MutexGuard};
#[cfg(not(any(loom, corecast_simulated)))]
pub use std::sync::{Mutex, MutexGuard};

/// `UnsafeCell` with loom's interface: access only through closures over raw pointers.
#[cfg(not(loom))]
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    /// A cell with this value.
    pub const fn new(value: T) -> Self {
        Self(core::cell::UnsafeCell::new(value))
    }

    /// Calls `f` with a pointer to read through.
    #[inline(always)]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        #[cfg(corecast_simulated)]
        crate::simulated::point(crate::simulated::Point::Access);
        f(self.0.get())
    }

    /// Calls `f` with a pointer to write through.
    #[inline(always)]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        #[cfg(corecast_simulated)]
        crate::simulated::point(crate::simulated::Point::Access);
        f(self.0.get())
    }
}

/// Orderings by role. Each names its partner.
pub mod order {
    use super::Ordering;

    macro_rules! role {
        ($(#[$doc:meta])* $name:ident = $ordering:ident, $mutant:ident) => {
            $(#[$doc])*
            #[cfg(not(loom))]
            #[inline(always)]
            pub const fn $name() -> Ordering {
                Ordering::$ordering
            }
            $(#[$doc])*
            #[cfg(loom)]
            pub fn $name() -> Ordering {
                if super::mutant::is(super::mutant::Mutant::$mutant) {
                    Ordering::Relaxed
                } else {
                    Ordering::$ordering
                }
            }
        };
    }

    role! {
        /// A sender's store of a slot's header: publishes the payload. Partner: [`observe`].
        publish = Release, PublishRelaxed
    }
    role! {
        /// A receiver's load of a slot's header: sees the payload. Partner: [`publish`].
        observe = Acquire, ObserveRelaxed
    }
    role! {
        /// A receiver's store that gives slots back (UMP: the acknowledgement line, FastForward:
        /// the emptied header): its reads of the payload come first. Partner: [`reclaim`].
        give_back = Release, GiveBackRelaxed
    }
    role! {
        /// A sender's load that takes slots back: its writes of the next payload come after.
        /// Partner: [`give_back`].
        reclaim = Acquire, ReclaimRelaxed
    }
    role! {
        /// A writer's store of a broadcast ring's header: publishes the payload. Partner: [`observe_ring`].
        publish_ring = Release, RingPublishRelaxed
    }
    role! {
        /// A reader's load of a broadcast ring's header: sees the payload. Partner: [`publish_ring`].
        observe_ring = Acquire, RingReadRelaxed
    }
    role! {
        /// An addition to an arrival counter: everything before it is visible to a reader of the sum. Partner:
        /// [`total`]; of an addition to a shared line, [`see`].
        count = Release, CountRelaxed
    }
    role! {
        /// An addition at a counter barrier: the last member sees what all others did before. Partners: itself,
        /// [`total`].
        arrive_and_wait = AcqRel, MeetRelaxed
    }
    role! {
        /// An arrival counter's load. Partners: [`count`], [`arrive_and_wait`].
        total = Acquire, TotalRelaxed
    }
    role! {
        /// An operation history's store of what an operation is and where it was called. Partner: [`recall`].
        note = Release, NoteRelaxed
    }
    role! {
        /// A reader's load of what an operation is and where it was called: it then finds at least the number that
        /// preceded these in an operation history. Partner: [`note`].
        recall = Acquire, RecallRelaxed
    }
    role! {
        /// An operation history's store that says how far its owner has come: the number of an operation, an end, a rest,
        /// whether it is there. All that the owner gave before is visible to a reader. Partner: [`ask`].
        tell = Release, TellRelaxed
    }
    role! {
        /// The load by which a rank learns how far another one has come. Partner: [`tell`].
        ask = Acquire, AskRelaxed
    }
    role! {
        /// A lender's store of a descriptor's number: the data come first. Partner: [`accept`].
        descriptor = Release, DescriptorRelaxed
    }
    role! {
        /// A borrower's load of a descriptor's number: it sees the data. Partner: [`descriptor`].
        accept = Acquire, AcceptRelaxed
    }
    role! {
        /// A borrower's store of how many descriptors it has returned: it has read the data before.
        /// Partner: [`regain`].
        hand_back = Release, HandBackRelaxed
    }
    role! {
        /// A borrower's store that it reads nothing any more. Partner: [`past`].
        finish = Release, FinishRelaxed
    }
    role! {
        /// A lender's load, when it revokes, of the word that says whether the borrower reads. Partner: [`finish`].
        past = Acquire, PastRelaxed
    }
    role! {
        /// A lender's load of the count of returned descriptors: its next writes to the data come after. Partner:
        /// [`hand_back`].
        regain = Acquire, RegainRelaxed
    }
    role! {
        /// A flag's store, that of a shared line's value, or that of a failure in a stop word: everything before it is
        /// visible to a reader of the value. Partner: [`see`].
        raise = Release, RaiseRelaxed
    }
    role! {
        /// The load of a flag, of a shared line's value or of a stop word. Partners: [`raise`], [`count`].
        see = Acquire, SeeRelaxed
    }
    role! {
        /// An arrival at a phase barrier: the last thread sees what all others did before they arrived, because each
        /// addition continues the release sequence. Partner: itself. Also a sleeper's mark, whose partner is [`open`].
        come = AcqRel, ComeRelaxed
    }
    role! {
        /// The exchange that begins a phase barrier's next phase: threads that waited see what the last one has seen.
        /// Partner: [`pass`]. Its acquire has a sleeper's mark by [`come`] as its partner.
        open = AcqRel, OpenRelaxed
    }
    role! {
        /// The load by which a thread that waits at a phase barrier learns that the phase is over. Partner: [`open`].
        pass = Acquire, PassRelaxed
    }
    role! {
        /// The ring of the bell for a phase barrier's sleepers: the phase is over before it. Partner: [`hear`].
        ring = Release, RingRelaxed
    }
    role! {
        /// A sleeper's load of a phase barrier's bell. Partner: [`ring`].
        hear = Acquire, HearRelaxed
    }
    role! {
        /// The store that ends a writing of a reader lock. Partners: the loads of
        /// readers, and the next writer's exchange.
        unlock = Release, UnlockRelaxed
    }
    role! {
        /// The store by which a reader says that it has left a reader lock. Partner: [`drained`].
        leave = Release, LeaveRelaxed
    }
    role! {
        /// The load by which a writer finds that a reader has left a reader lock. Partner: [`leave`].
        drained = SeqCst, DrainedRelaxed
    }
    role! {
        /// The addition that reserves entries of a shared log: whoever reserves later ones sees what came before. Partner:
        /// itself.
        reserve = AcqRel, ReserveRelaxed
    }
    role! {
        /// The store that says that an entry of a shared log is written. Partner: [`follow`].
        append = Release, AppendRelaxed
    }
    role! {
        /// The load by which a reader of a shared log learns that an entry is written. Partner: [`append`].
        follow = Acquire, FollowRelaxed
    }
}

/// Whether a fault is seeded, which is never so in an ordinary build.
#[macro_export]
#[doc(hidden)]
macro_rules! mutated {
    ($mutant:ident) => {{
        #[cfg(any(loom, corecast_simulated))]
        {
            $crate::sync::mutant::is($crate::sync::mutant::Mutant::$mutant)
        }
        #[cfg(not(any(loom, corecast_simulated)))]
        {
            false
        }
    }};
}
#[doc(hidden)]
pub use mutated;
