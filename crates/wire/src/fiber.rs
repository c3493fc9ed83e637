//! Operations that stand still where they would wait, so that their thread goes on with others.
//!
//! An algorithm is written as if it blocked. Run on a *fiber*, a stack of its own, it comes back
//! to its thread at every wait that does not succeed at once ([`suspend`], called by the governor),
//! and goes on from there when it is resumed. So the code of a nonblocking operation is that of the
//! blocking one.
//!
//! **Invariant 1:** what a job borrows outlives [`scope`], and no fiber outlives it either: one that
//! has not ended by then is unwound. **Invariant 2:** a fiber runs on the thread that entered the
//! scope, because nothing in it can be sent.

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

/// What a fiber is resumed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// A look whether what it waits for has come.
    Quick,
    /// The thread has waited for so long: a look as well whether it can still come.
    Long(Duration),
}

type Run = Coroutine<Look, (), (), DefaultStack>;

/// Bytes of a fiber's stack. Algorithms need some kilobytes; the rest is for users' operators.
pub const STACK_BYTES: usize = 128 * 1024;

/// Stacks for fibers, made once. Pages that no fiber has touched take no memory.
#[derive(Default)]
pub struct Stacks(Vec<Seat>);

/// A place where one fiber at a time runs.
struct Seat {
    stack: Cell<Option<DefaultStack>>,
    run: Cell<Option<Run>>,
    /// Of the fiber that runs here, valid while `run` has not ended.
    yielder: Cell<*const Yielder<Look, ()>>,
}

// SAFETY: outside of a scope nothing runs on any seat (Invariant 1), and a stack that nothing runs
// on is plain memory.
unsafe impl Send for Stacks {}

impl fmt::Debug for Stacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stacks({})", self.0.len())
    }
}

impl Stacks {
    /// `count` stacks.
    ///
    /// # Errors
    ///
    /// The kernel's, when it has no memory to map.
    pub fn new(count: usize) -> std::io::Result<Self> {
        let seat = |_| {
            Ok(Seat {
                stack: Cell::new(Some(DefaultStack::new(STACK_BYTES)?)),
                run: Cell::new(None),
                yielder: Cell::new(std::ptr::null()),
            })
        };
        (0..count).map(seat).collect::<Result<_, _>>().map(Self)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

/// The fibers of one [`scope`].
pub struct Fibers<'scope, 'env: 'scope> {
    seats: &'scope [Seat],
    scope: PhantomData<Cell<&'scope ()>>,
    env: PhantomData<Cell<&'env ()>>,
}

impl fmt::Debug for Fibers<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fibers({})", self.seats.len())
    }
}

thread_local! {
    /// The yielder of the fiber that runs on this thread, if one does.
    static CURRENT: Cell<*const Yielder<Look, ()>> = const { Cell::new(std::ptr::null()) };
}

/// Whether the caller runs on a fiber.
#[inline]
pub fn is_inside() -> bool {
    !CURRENT.get().is_null()
}

/// On a fiber: goes back to the thread, and returns when it is resumed, saying what for. Elsewhere
/// `None`, at once.
pub fn suspend() -> Option<Look> {
    let current = CURRENT.get();
    if current.is_null() {
        return None;
    }
    // SAFETY: `Fibers::go` sets the word for as long as the fiber runs, to a yielder that lies on
    // that fiber's stack; we run on it.
    Some(unsafe { &*current }.suspend(()))
}

/// Puts the word back, also when a job panics.
struct Restore(*const Yielder<Look, ()>);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.set(self.0);
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
///         fiber::suspend();
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
    // Ends what has not ended, whatever happens (Invariant 1).
    struct End<'a>(&'a [Seat]);
    impl Drop for End<'_> {
        fn drop(&mut self) {
            for seat in self.0 {
                if let Some(mut run) = seat.run.take() {
                    // What is dropped on its stack must not suspend another fiber from there.
                    let _restore = Restore(CURRENT.replace(std::ptr::null()));
                    run.force_unwind();
                    seat.stack.set(Some(run.into_stack()));
                }
            }
        }
    }
    let seats = &*stacks.0;
    let _end = End(seats);
    let fibers = Fibers {
        seats,
        scope: PhantomData,
        env: PhantomData,
    };
    body(&fibers)
}

impl<'scope, 'env> Fibers<'scope, 'env> {
    /// How many fibers there can be at a time.
    pub fn count(&self) -> usize {
        self.seats.len()
    }

    /// Runs `job` on fiber `seat` until it suspends or ends; says whether it has ended.
    ///
    /// # Panics
    ///
    /// If that fiber is running another job, or with the job's own panic.
    ///
    /// # Cost
    ///
    /// No allocation: the job is moved onto the stack that it runs on.
    pub fn start(&'scope self, seat: usize, job: impl FnOnce() + 'scope) -> bool {
        let place = &self.seats[seat];
        let stack = place.stack.take();
        let stack = stack.unwrap_or_else(|| panic!("fiber {seat} is running another job"));
        let first = |yielder: &Yielder<Look, ()>, _: Look| {
            place.yielder.set(yielder);
            CURRENT.set(yielder);
            job();
        };
        // SAFETY: `job` and `place` live for 'scope, and the fiber ends within it (Invariant 1):
        // `scope` drives or unwinds every run before it returns, and cannot be forgotten, since it
        // holds the fibers in its own frame.
        let run = unsafe { Run::with_stack_unchecked(stack, first) };
        self.go(seat, run, Look::Quick)
    }

    /// Goes on with fiber `seat`; says whether it has ended, or had before.
    ///
    /// # Panics
    ///
    /// With the job's own panic.
    pub fn resume(&self, seat: usize, look: Look) -> bool {
        match self.seats[seat].run.take() {
            Some(run) => self.go(seat, run, look),
            None => self.is_idle(seat),
        }
    }

    /// Whether fiber `seat` runs nothing.
    pub fn is_idle(&self, seat: usize) -> bool {
        let stack = self.seats[seat].stack.take();
        let idle = stack.is_some();
        self.seats[seat].stack.set(stack);
        idle
    }

    fn go(&self, seat: usize, run: Run, look: Look) -> bool {
        let place = &self.seats[seat];
        // A job that panics ends: its stack is given back then too.
        struct Back<'a>(&'a Seat, Option<Run>);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                match self.1.take() {
                    Some(run) if run.done() => self.0.stack.set(Some(run.into_stack())),
                    rest => self.0.run.set(rest),
                }
            }
        }
        let mut back = Back(place, Some(run));
        let _restore = Restore(CURRENT.replace(place.yielder.get()));
        let run = back.1.as_mut().expect("just put there");
        matches!(run.resume(look), CoroutineResult::Return(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn fibers_take_turns_and_stacks_come_back() {
        let mut stacks = Stacks::new(3).unwrap();
        for _ in 0..100 {
            let order = RefCell::new(Vec::new());
            scope(&mut stacks, |fibers| {
                for seat in 0..3 {
                    let order = &order;
                    let ended = fibers.start(seat, move || {
                        for step in 0..=seat {
                            order.borrow_mut().push((seat, step));
                            assert_eq!(suspend(), Some(Look::Long(Duration::from_nanos(7))));
                        }
                    });
                    assert!(!ended && !fibers.is_idle(seat) && !is_inside());
                }
                let mut left = 3;
                while left > 0 {
                    let look = Look::Long(Duration::from_nanos(7));
                    left = (0..3).filter(|&seat| !fibers.resume(seat, look)).count();
                }
                assert!((0..3).all(|seat| fibers.is_idle(seat)));
            });
            let order = order.into_inner();
            assert_eq!(order, [(0, 0), (1, 0), (2, 0), (1, 1), (2, 1), (2, 2)]);
            assert_eq!(stacks.count(), 3);
        }
        assert_eq!(suspend(), None);
    }

    /// Counts how often it is dropped.
    struct Counted<'a>(&'a Cell<u32>);

    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }

    #[test]
    fn unfinished_fibers_are_unwound() {
        let dropped = Cell::new(0);
        let mut stacks = Stacks::new(1).unwrap();
        scope(&mut stacks, |fibers| {
            let counted = Counted(&dropped);
            fibers.start(0, move || {
                let _counted = counted;
                suspend();
                unreachable!("nobody resumes it");
            });
        });
        assert_eq!((dropped.get(), stacks.count()), (1, 1));
    }

    /// A fiber within a fiber is unwound, and what it drops would wait.
    #[test]
    fn what_is_unwound_suspends_nobody() {
        struct Waits<'a>(&'a Cell<u32>);
        impl Drop for Waits<'_> {
            fn drop(&mut self) {
                assert_eq!((suspend(), is_inside()), (None, false));
                self.0.set(self.0.get() + 1);
            }
        }
        let dropped = Cell::new(0);
        let (mut outer, mut inner) = (Stacks::new(1).unwrap(), Stacks::new(1).unwrap());
        scope(&mut outer, |fibers| {
            fibers.start(0, || {
                scope(&mut inner, |fibers| {
                    let waits = Waits(&dropped);
                    fibers.start(0, move || {
                        let _waits = waits;
                        suspend();
                    });
                });
                assert!(is_inside());
                suspend();
            });
            assert_eq!(dropped.get(), 1);
            assert!(fibers.resume(0, Look::Quick));
        });
    }

    #[test]
    fn a_fiber_cannot_resume_itself() {
        let mut stacks = Stacks::new(1).unwrap();
        scope(&mut stacks, |fibers| {
            let ended = fibers.start(0, || assert!(!fibers.resume(0, Look::Quick)));
            assert!(ended && fibers.resume(0, Look::Quick));
        });
    }

    #[test]
    fn a_panic_comes_out_of_resume_and_leaves_the_fiber_usable() {
        let mut stacks = Stacks::new(1).unwrap();
        scope(&mut stacks, |fibers| {
            fibers.start(0, || {
                suspend();
                panic!("on purpose");
            });
            let resume = || fibers.resume(0, Look::Quick);
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(resume));
            assert_eq!(
                *caught.unwrap_err().downcast::<&str>().unwrap(),
                "on purpose"
            );
            assert!(fibers.is_idle(0) && !is_inside());
            assert!(fibers.start(0, || ()));
        });
        assert_eq!(stacks.count(), 1);
    }

    #[test]
    fn fibers_nest() {
        let (mut outer, mut inner) = (Stacks::new(1).unwrap(), Stacks::new(1).unwrap());
        let steps = Cell::new(0);
        scope(&mut outer, |fibers| {
            fibers.start(0, || {
                scope(&mut inner, |fibers| {
                    fibers.start(0, || {
                        steps.set(steps.get() + 1);
                        suspend();
                        steps.set(steps.get() + 1);
                    });
                    suspend();
                    assert!(fibers.resume(0, Look::Quick));
                });
                suspend();
            });
            assert_eq!(steps.get(), 1);
            assert!(!fibers.resume(0, Look::Quick));
            assert_eq!(steps.get(), 2);
            assert!(fibers.resume(0, Look::Quick));
        });
    }
}
