//! Deterministic simulation: the code as it is, over a scheduler and a clock that a test owns.
//!
//! This module is there only in builds with `--cfg corecast_simulated`, as models are only in builds with `--cfg loom`.
//! An ordinary build has nothing of it. Where loom replaces what an atomic is, a simulation replaces who runs next:
//!
//! | what the code does | what a simulation makes of it |
//! | --- | --- |
//! | accesses an atomic, or a cell between atomics | a scheduling point, then the access |
//! | spins, yields, copies half of a long message | a scheduling point that takes longer |
//! | sleeps on a word, wakes its sleepers | the same, among tasks |
//! | reads a clock, sleeps for a time | virtual time |
//! | locks a mutex | tries, with scheduling points between two attempts |
//! | asks whether it panics, which process it is, who watches which process | the scheduler's answer |
//! | asks for memory | the kernel's answer, unless the scheduler refuses |
//!
//! Ranks are *tasks*: coroutines on one thread of the system. Operations in flight are fibers on top of that, and a task
//! can be suspended while one of its fibers runs. Memory is sequentially consistent: orderings are the matter of loom.
//!
//! **Invariant 1:** one task runs at a time on a thread, and only [`suspend`] ends its turn. **Invariant 2:** without a
//! scheduler on the thread every function here does what the standard library does, so tests can prepare and inspect.

mod task;
mod words;

pub use task::{Stack, Task, suspend};
pub use words::WordId;
pub(crate) use words::{mapped, unmapped, word_of};

use std::cell::Cell;
use std::time::Duration;

/// Why the running task offers its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// It is about to access memory that others access too.
    Access,
    /// It looks again, after a hint to the processor.
    Spin,
    /// It gives its turn away.
    Yield,
    /// It waits for a mutex that another task holds.
    Blocked,
}

/// What a simulation decides. One scheduler is in charge of all tasks of a thread of the system.
pub trait Scheduler {
    /// The running task is at a scheduling point.
    fn point(&self, point: Point);
    /// Virtual time since the simulation began.
    fn now(&self) -> Duration;
    /// The running task sleeps until it is woken on `word` or `limit` has passed. Without a word it sleeps for the time.
    fn sleep(&self, word: Option<WordId>, limit: Option<Duration>);
    /// Wakes up to `count` tasks that sleep on `word`.
    fn wake(&self, word: WordId, count: usize);
    /// Whether the running task unwinds its stack in a panic of its own.
    fn is_panicking(&self) -> bool;
    /// The number of the process that the running task belongs to.
    fn process(&self) -> u32;
    /// Calls `on_death` once, some time after process `pid` has ended, or after it runs another program if that shows
    /// too; returns a name for [`unwatch`](Self::unwatch).
    fn watch(&self, pid: u32, shows_exec: bool, on_death: Box<dyn FnOnce() + Send>) -> u64;
    /// Whether process `pid` has ended or runs another program, so that its sockets are closed.
    fn has_ended(&self, pid: u32) -> bool;
    /// Ends a watch.
    fn unwatch(&self, watch: u64);
    /// Whether the kernel maps that much memory.
    fn grants(&self, bytes: usize) -> bool;
}

thread_local! {
    static SCHEDULER: Cell<Option<&'static dyn Scheduler>> = const { Cell::new(None) };
}

/// Puts a scheduler in charge of this thread, or none. Returns the one before.
pub fn set_scheduler(scheduler: Option<&'static dyn Scheduler>) -> Option<&'static dyn Scheduler> {
    SCHEDULER.replace(scheduler)
}

/// The scheduler of this thread.
#[inline(always)]
pub fn scheduler() -> Option<&'static dyn Scheduler> {
    SCHEDULER.get()
}

/// Offers the running task's turn.
#[inline(always)]
pub fn point(point: Point) {
    if let Some(scheduler) = scheduler() {
        scheduler.point(point);
    }
}

/// Virtual time, or zero without a scheduler.
pub fn now() -> Duration {
    scheduler().map_or(Duration::ZERO, Scheduler::now)
}

/// The number of the running task's process: the real one without a scheduler.
pub fn process_id() -> u32 {
    scheduler().map_or_else(std::process::id, Scheduler::process)
}

/// Sleeps on the word at `address` if it `holds` what it must: the compare and the sleep are one step, as in the kernel.
pub(crate) fn sleep_on(address: usize, holds: impl FnOnce() -> bool, limit: Option<Duration>) {
    let Some(scheduler) = scheduler() else {
        return std::thread::yield_now();
    };
    scheduler.point(Point::Access);
    if holds() {
        scheduler.sleep(Some(word_of(address)), limit);
    }
}

/// Wakes up to `count` tasks that sleep on the word at `address`.
pub(crate) fn wake_on(address: usize, count: usize) {
    if let Some(scheduler) = scheduler() {
        scheduler.point(Point::Access);
        scheduler.wake(word_of(address), count);
    }
}

/// Whether the kernel would map `bytes`.
pub(crate) fn grants(bytes: usize) -> bool {
    scheduler().is_none_or(|scheduler| scheduler.grants(bytes))
}
