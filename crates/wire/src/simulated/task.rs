//! Tasks: coroutines that a scheduler resumes, below the fibers of operations in flight.

use crate::fiber;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

/// The stack of a task.
pub struct Stack(DefaultStack);

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stack")
    }
}

impl Stack {
    /// Maps a stack.
    ///
    /// # Errors
    ///
    /// The kernel's.
    pub fn new() -> std::io::Result<Self> {
        DefaultStack::new(fiber::STACK_BYTES.max(512 * 1024)).map(Self)
    }
}

type TaskYielder = Cell<*const Yielder<(), ()>>;

/// A coroutine. Dropping one that has not ended unwinds its stack, and those of its fibers.
pub struct Task {
    run: Coroutine<(), (), (), DefaultStack>,
    /// Where the yielder of `run` lies, from its first turn on.
    yielder: Rc<TaskYielder>,
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Task(done: {})", self.run.done())
    }
}

thread_local! {
    /// The yielder of the task that runs on this thread.
    static CURRENT: TaskYielder = const { Cell::new(std::ptr::null()) };
}

/// Ends the running task's turn; returns when the scheduler resumes it. It may be called while a fiber of the task runs:
/// the fiber's stack is then part of the task.
///
/// # Panics
///
/// Outside of a task. A task that is dropped unwinds from here.
pub fn suspend() {
    let yielder = CURRENT.get();
    assert!(!yielder.is_null(), "no task runs on this thread");
    let _fiber = fiber::set_aside();
    // SAFETY: `Task::resume` sets the pointer for as long as its task runs, and the yielder lies at the bottom of that
    // task's stack, which lives as long as the task. The task's chain of stacks stands still until it is resumed.
    unsafe { &*yielder }.suspend(());
}

impl Task {
    /// A task that runs `body` from its first turn on.
    pub fn new(stack: Stack, body: impl FnOnce() + 'static) -> Self {
        let yielder = Rc::new(Cell::new(std::ptr::null()));
        let place = Rc::clone(&yielder);
        let run = Coroutine::with_stack(stack.0, move |own: &Yielder<(), ()>, ()| {
            place.set(own);
            CURRENT.set(own);
            body();
        });
        Self { run, yielder }
    }

    /// Gives the task a turn. Returns whether it has ended.
    ///
    /// # Panics
    ///
    /// With the task's panic, or if it has ended before.
    pub fn resume(&mut self) -> bool {
        /// No task runs afterwards, also after a panic.
        struct Nobody;
        impl Drop for Nobody {
            fn drop(&mut self) {
                CURRENT.set(std::ptr::null());
            }
        }
        assert!(CURRENT.get().is_null(), "a task resumes another one");
        let _nobody = Nobody;
        CURRENT.set(self.yielder.get());
        matches!(self.run.resume(()), CoroutineResult::Return(()))
    }

    /// Unwinds what has not ended, and returns the stack.
    pub fn into_stack(mut self) -> Stack {
        let _fiber = fiber::set_aside();
        self.run.force_unwind();
        Stack(self.run.into_stack())
    }
}
