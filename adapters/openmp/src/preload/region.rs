//! Layer 7: the data that the thread which starts a region shares with the threads in it.

use super::copyprivate::Copied;
use super::objects::{Code, Span, locked};
use super::runtime::{Data, Family, Known, Runtime, known};
use super::teams::{self, CachedTeam};
use super::waits::Times;
use std::cell::Cell;
use std::mem::offset_of;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex};

/// Most arguments of a body that are passed on.
pub(crate) const ARGUMENTS_MAX: usize = 64;

/// The regions that one thread starts at one depth of nesting. It serves one region after the other. A region that
/// repeats changes nothing here, so its threads find all but [`copied`](Self::copied) in their caches.
///
/// It lies on a page of its own: beside the runtime's allocations regions took 4 % longer (GNU OpenMP 12, two
/// threads).
#[repr(C, align(4096))]
pub(crate) struct Region {
    code: Cell<Code>,
    known: Cell<&'static Known>,
    /// The one of `held` that was used last, or null.
    team: AtomicPtr<CachedTeam>,
    /// Whether its barriers may be Corecast's. Decided once for all of its threads.
    is_own: Cell<bool>,
    /// Whether its team was cancelled.
    is_cancelled: AtomicBool,
    /// The number of the body's arguments.
    count: Cell<usize>,
    arguments: [Cell<Data>; ARGUMENTS_MAX],
    /// The addresses whose calls are this region's, as far as the object of its code goes; by family.
    spans: [Cell<Span>; 2],
    runtime: Cell<&'static Runtime>,
    /// The teams that it has taken; boxed, as its threads point to one.
    held: Mutex<Vec<Box<CachedTeam>>>,
    /// The arrival times of its threads, where waits are recorded.
    times: Mutex<Option<Arc<Times>>>,
    pub(crate) copied: Copied,
}

// The fields that threads read when they start a body of three arguments or fewer are on one cache line.
const _: () = assert!(offset_of!(Region, arguments) + 3 * size_of::<Data>() <= 64);

// SAFETY: Invariant 2, for the cells; all else is atomic or under a lock.
unsafe impl Sync for Region {}

impl Region {
    pub(crate) fn new(family: Family, code: Code) -> Self {
        let known = known(code, family);
        Self {
            code: Cell::new(code),
            known: Cell::new(known),
            team: AtomicPtr::default(),
            is_own: Cell::new(false),
            is_cancelled: AtomicBool::new(false),
            count: Cell::new(0),
            arguments: [const { Cell::new(std::ptr::null_mut()) }; ARGUMENTS_MAX],
            spans: Family::ALL.map(|family| Cell::new(known.span(family))),
            runtime: Cell::new(known.runtime()),
            held: Mutex::default(),
            times: Mutex::default(),
            copied: Copied::default(),
        }
    }

    /// Sets the code and the arguments of the next region, at most [`ARGUMENTS_MAX`]. It is called while no thread is
    /// in the region, and writes only what changes.
    #[inline(always)]
    pub(crate) fn prepare(&self, family: Family, code: Code, arguments: &[Data]) {
        debug_assert!(arguments.len() <= ARGUMENTS_MAX);
        if self.code.get() != code || !self.known.get().is_current() {
            self.change(family, code);
        }
        // Relaxed: it is only a hint.
        set(
            &self.is_own,
            !self.known.get().has_tasks.load(Ordering::Relaxed),
        );
        set(&self.count, arguments.len());
        for (kept, &given) in self.arguments.iter().zip(arguments) {
            set(kept, given);
        }
    }

    #[inline(never)]
    fn change(&self, family: Family, code: Code) {
        let known = known(code, family);
        self.code.set(code);
        self.known.set(known);
        self.runtime.set(known.runtime());
        for (span, family) in self.spans.iter().zip(Family::ALL) {
            set(span, known.span(family));
        }
    }

    /// Whether a call at `at` by a name of that family is seen at once to be this region's. If not, it may still be.
    #[inline(always)]
    pub(crate) fn has(&self, family: Family, at: Code) -> bool {
        self.spans[family as usize].get().contains(at)
    }

    pub(crate) fn code(&self) -> Code {
        self.code.get()
    }

    pub(crate) fn arguments(&self) -> impl ExactSizeIterator<Item = Data> {
        self.arguments.iter().take(self.count.get()).map(Cell::get)
    }

    pub(crate) fn runtime(&self) -> &'static Runtime {
        self.runtime.get()
    }

    pub(crate) fn is_own(&self) -> bool {
        self.is_own.get()
    }

    /// The calling thread's number in this region, and the number of threads; `None` if there is only one.
    pub(crate) fn number_of_several(&self) -> Option<(usize, usize)> {
        let real = &self.runtime().real;
        // SAFETY: functions without conditions.
        let (threads, thread) =
            unsafe { (real.omp_get_num_threads?(), real.omp_get_thread_num?()) };
        let (threads, thread) = (
            usize::try_from(threads).ok()?,
            usize::try_from(thread).ok()?,
        );
        (threads > 1 && thread < threads).then_some((thread, threads))
    }

    /// The team for `threads` threads. All threads of the region get the same one.
    pub(crate) fn team(&self, threads: usize) -> &CachedTeam {
        let runtime = self.runtime();
        // Acquire: synchronises with the store below.
        // SAFETY: a team that is held is freed while no thread is in the region.
        let last = unsafe { self.team.load(Ordering::Acquire).as_ref() };
        if let Some(team) = last
            && team.fits(threads, runtime)
        {
            return team;
        }
        let mut held = locked(&self.held);
        let found = held.iter().position(|team| team.fits(threads, runtime));
        let index = found.unwrap_or_else(|| {
            held.push(Box::new(teams::take(threads, runtime)));
            held.len() - 1
        });
        let team: *const CachedTeam = &*held[index];
        // Release: publishes the team to the load above.
        self.team.store(team.cast_mut(), Ordering::Release);
        // SAFETY: boxed, so it stays where it is, and freed while no thread is in the region.
        unsafe { &*team }
    }

    /// The place where its `threads` threads record their arrivals.
    pub(crate) fn times(&self, threads: usize) -> Arc<Times> {
        let mut times = locked(&self.times);
        times.take_if(|times| times.threads() != threads);
        Arc::clone(times.get_or_insert_with(|| Arc::new(Times::new(threads))))
    }

    /// Records the end of the region.
    #[cold]
    pub(crate) fn end_times(&self) {
        if let Some(times) = &*locked(&self.times) {
            times.end(self.code());
        }
    }

    /// Notes that a thread makes a task or cancels: the barriers of this code are the runtime's from the next region
    /// on.
    pub(crate) fn note_tasks(&self) {
        // Relaxed: a region of this code that starts without seeing it takes a team and cancels it again.
        let has_tasks = &self.known.get().has_tasks;
        has_tasks.store(true, Ordering::Relaxed);
    }

    /// Notes that a thread has cancelled its team.
    pub(crate) fn note_cancelled(&self) {
        // Relaxed: read by the thread that starts the region, after the runtime's join.
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Ends the region after all its threads have left: drops its team if it was cancelled.
    #[inline(always)]
    pub(crate) fn end(&self) {
        if self.is_cancelled.load(Ordering::Relaxed) {
            self.drop_team();
        }
    }

    #[cold]
    fn drop_team(&self) {
        // Relaxed, both: the threads of the next region are started later.
        self.is_cancelled.store(false, Ordering::Relaxed);
        let last = self.team.swap(std::ptr::null_mut(), Ordering::Relaxed);
        locked(&self.held).retain(|team| !std::ptr::eq(&**team, last));
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        for team in locked(&self.held).drain(..) {
            teams::give_back(*team);
        }
    }
}

/// Sets a cell; does not write if the value is the same, so that its line stays in other caches.
#[inline(always)]
fn set<T: Copy + PartialEq>(cell: &Cell<T>, value: T) {
    if cell.get() != value {
        cell.set(value);
    }
}
