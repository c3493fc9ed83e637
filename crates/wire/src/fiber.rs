//! Fibers: stacks of their own for operations, so that a thread goes on with other operations while one waits.
//!
//! An algorithm is written as if it blocked. On a *fiber*, a stack of its own, it returns to its thread at every
//! wait that does not succeed at once ([`suspend_until`], called by the wait strategy), and goes on from there
//! when the event has come. So the code of a nonblocking operation is that of the blocking one. The thread checks
//! for the event on its own stack, so a check in vain costs no change of stacks.
//!
//! **Invariant 1:** what a job borrows outlives [`scope`], and no fiber outlives it either: a fiber that has not
//! ended by then is unwound, whatever the others do when they are, and none is started from then on. **Invariant 2:** a fiber runs on the thread that entered the scope, because nothing
//! in it can be sent. **Invariant 3:** the `ready` closure of a suspended fiber lies on the fiber's stack, and
//! is taken out of its slot before the fiber goes on or is unwound.

mod current;
mod stack;

#[cfg(corecast_simulated)]
pub(crate) use current::set_aside;
pub use current::{Look, is_inside, suspend_until};
pub use stack::GUARD_BYTES;

use corosensei::{Coroutine, CoroutineResult, Yielder};
use current::Current;
use stack::GuardedStack;
use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

type Run = Coroutine<(), (), (), GuardedStack>;

/// Bytes of a fiber's stack, unless more are asked for. Algorithms need some kilobytes; the rest is for users'
/// operators.
///
/// Debug builds have larger stacks, because without optimisation each value has a place of its own and one
/// algorithm's frame takes more than 128 KiB.
pub const STACK_BYTES: usize = if cfg!(debug_assertions) { 1024 } else { 128 } * 1024;

/// Stacks for fibers, made once. Pages that no fiber has touched take no memory.
#[derive(Default)]
pub struct Stacks(Vec<FiberSlot>);

/// A place where one fiber at a time runs. The coroutine stays in its slot, because moving it costs about as much
/// as changing to its stack.
struct FiberSlot {
    stack: Cell<Option<GuardedStack>>,
    run: UnsafeCell<Option<Run>>,
    fiber: Current,
}

// SAFETY: outside of a scope nothing runs on any slot (Invariant 1), and a stack that nothing runs
// on is plain memory.
unsafe impl Send for Stacks {}

impl fmt::Debug for Stacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stacks({})", self.0.len())
    }
}

impl Stacks {
    /// Makes `count` stacks of [`STACK_BYTES`] for jobs of which every function probes its frame, as Rust's do. One page
    /// below each stack is its guard.
    ///
    /// # Errors
    ///
    /// The kernel's error when it has no memory to map.
    pub fn new(count: usize) -> std::io::Result<Self> {
        Self::with_sizes(count, STACK_BYTES, 1)
    }

    /// Makes `count` stacks of at least `bytes`, and of [`STACK_BYTES`] at least, for jobs that call functions of other
    /// languages. [`GUARD_BYTES`] below each stack are its guard: a function that overflows the stack faults there, unless
    /// it leaves more bytes than these untouched.
    ///
    /// # Errors
    ///
    /// The kernel's error when it has no memory to map.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_wire::fiber::Stacks;
    /// assert_eq!(Stacks::for_operators(2, 1 << 20)?.count(), 2);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn for_operators(count: usize, bytes: usize) -> std::io::Result<Self> {
        Self::with_sizes(count, bytes.max(STACK_BYTES), GUARD_BYTES)
    }

    fn with_sizes(count: usize, bytes: usize, guard: usize) -> std::io::Result<Self> {
        let slot = |_| {
            Ok(FiberSlot {
                stack: Cell::new(Some(GuardedStack::new(bytes, guard)?)),
                run: UnsafeCell::new(None),
                fiber: Current::new(),
            })
        };
        (0..count).map(slot).collect::<Result<_, _>>().map(Self)
    }

    /// The number of stacks.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

/// The fibers of one [`scope`].
pub struct Fibers<'scope, 'env: 'scope> {
    slots: &'scope [FiberSlot],
    /// Whether the scope unwinds its fibers, and no other one may be started.
    is_over: Cell<bool>,
    scope: PhantomData<Cell<&'scope ()>>,
    env: PhantomData<Cell<&'env ()>>,
}

impl fmt::Debug for Fibers<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fibers({})", self.slots.len())
    }
}

/// Runs `body`, which may start a fiber on each of `stacks`. Fibers that have not ended when it
/// returns or panics are unwound.
///
/// # Examples
///
/// ```
/// use corecast_wire::fiber::{self, Look, Stacks};
/// use std::cell::Cell;
///
/// let mut stacks = Stacks::new(1)?;
/// let steps = Cell::new(0);
/// fiber::scope(&mut stacks, |fibers| {
///     let ended = fibers.start(0, || {
///         steps.set(1);
///         fiber::suspend_until(|_| true);
///         steps.set(2);
///     });
///     assert_eq!((ended, steps.get()), (false, 1));
///     assert!(fibers.resume(0, Look::Quick));
/// });
/// assert_eq!(steps.get(), 2);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn scope<'env, R>(
    stacks: &mut Stacks,
    body: impl for<'scope> FnOnce(&'scope Fibers<'scope, 'env>) -> R,
) -> R {
    // Unwinds the fibers that have not ended, also when `body` panics (Invariant 1).
    struct End<'a, 'b>(&'a [FiberSlot], &'b Cell<bool>);
    impl Drop for End<'_, '_> {
        fn drop(&mut self) {
            self.1.set(true);
            let mut first = None;
            for slot in self.0.iter().filter(|slot| !slot.is_idle()) {
                // A job can go on after it was unwound, and panic. The fibers after it are unwound nevertheless.
                let unwound = catch_unwind(AssertUnwindSafe(|| slot.unwind()));
                first = first.or(unwound.err());
            }
            if let (Some(panic), false) = (first, std::thread::panicking()) {
                resume_unwind(panic);
            }
        }
    }
    let slots = &*stacks.0;
    let fibers = Fibers {
        slots,
        is_over: Cell::new(false),
        scope: PhantomData,
        env: PhantomData,
    };
    // It is dropped before `fibers`, to which values that it drops may refer.
    let _end = End(slots, &fibers.is_over);
    body(&fibers)
}

impl<'scope, 'env> Fibers<'scope, 'env> {
    /// The number of fibers that there can be at a time.
    pub fn count(&self) -> usize {
        self.slots.len()
    }

    /// Runs `job` on fiber `slot` until it suspends or ends, and returns whether it has ended.
    ///
    /// # Panics
    ///
    /// If that fiber is running another job, if the scope is over and unwinds its fibers, or with the job's own panic.
    ///
    /// # Cost
    ///
    /// No allocation: the job is moved onto the stack that it runs on.
    pub fn start(&'scope self, slot: usize, job: impl FnOnce() + 'scope) -> bool {
        assert!(!self.is_over.get(), "the scope of the fibers is over");
        let place = &self.slots[slot];
        let stack = place.stack.take();
        let stack = stack.unwrap_or_else(|| panic!("fiber {slot} is running another job"));
        let first = |yielder: &Yielder<(), ()>, ()| {
            place.fiber.yielder.set(yielder);
            job();
        };
        // SAFETY: `job` and `place` live for 'scope, and the fiber ends within it (Invariant 1):
        // `scope` drives or unwinds every run before it returns, and cannot be forgotten, since it
        // holds the fibers in its own frame.
        let run = unsafe { Run::with_stack_unchecked(stack, first) };
        // SAFETY: its stack was here, so no fiber runs here and nobody has a reference.
        unsafe { *place.run.get() = Some(run) };
        place.go()
    }

    /// Goes on with fiber `slot` if it is suspended and its `ready` closure returns true. Returns whether it went
    /// on.
    ///
    /// # Panics
    ///
    /// With the panic of the job or of the `ready` closure. After a panic of the closure the fiber never goes on.
    ///
    /// # Cost
    ///
    /// One call of the closure that [`suspend_until`] was given, and nothing else if it returns false.
    #[inline]
    pub fn resume(&self, slot: usize, look: Look) -> bool {
        let place = &self.slots[slot];
        let Some(mut ready) = place.fiber.ready.take() else {
            return false;
        };
        // SAFETY: the fiber is suspended, so `ready` is valid (Invariant 3); nobody else has it
        // while it is not in its slot.
        if !unsafe { ready.as_mut()(look) } {
            place.fiber.ready.set(Some(ready));
            return false;
        }
        place.go();
        true
    }

    /// Whether fiber `slot` runs nothing.
    #[inline]
    pub fn is_idle(&self, slot: usize) -> bool {
        self.slots[slot].is_idle()
    }
}

impl FiberSlot {
    #[inline]
    fn is_idle(&self) -> bool {
        // SAFETY: slots are of this thread alone, and nobody holds a reference into a cell.
        unsafe { &*self.stack.as_ptr() }.is_some()
    }

    /// Unwinds the fiber in this slot, if it has not ended.
    fn unwind(&self) {
        self.fiber.ready.set(None);
        // SAFETY: no fiber of this scope is running, but those that this one may resume while it is unwound, which are
        // in other slots: none has a reference to its run.
        if let Some(mut run) = unsafe { &mut *self.run.get() }.take() {
            // A value that is dropped on this fiber's stack must not suspend another fiber.
            let _restore = current::set(None);
            run.force_unwind();
            self.stack.set(Some(run.into_stack()));
        }
    }

    /// Runs the fiber in this slot, which is suspended or new, until it suspends or ends. Returns whether it has
    /// ended.
    fn go(&self) -> bool {
        /// Gives the stack back when the fiber has ended, also by a panic of its job.
        struct Back<'a>(&'a FiberSlot, &'a mut Option<Run>);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                if self.1.as_ref().is_some_and(Run::done) {
                    self.0.stack.set(self.1.take().map(Run::into_stack));
                }
            }
        }
        // SAFETY: whoever goes on has taken `ready` out, or has just put the run here, so there is no
        // second one: this is the only reference until the fiber suspends or ends.
        let back = Back(self, unsafe { &mut *self.run.get() });
        let _restore = current::set(Some(&self.fiber));
        let run = back.1.as_mut().expect("a fiber lies in its slot");
        matches!(run.resume(()), CoroutineResult::Return(()))
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
