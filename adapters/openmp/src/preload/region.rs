//! What a thread that starts regions shares with the threads of one.

use super::here::Here;
use super::local::here;
use super::runtime::{Known, Runtime, known};
use super::teams::Pool;
use super::watch::Times;
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Most arguments of a body that are passed on.
pub(crate) const ARGUMENTS_MAX: usize = 64;

/// The team for regions of a run-time and a number of threads; none where it could not be made, for all of
/// the threads alike.
struct Kept {
    runtime: &'static Runtime,
    threads: usize,
    pool: Option<Box<Pool>>,
}

impl Kept {
    fn fits(&self, runtime: &Runtime, threads: usize) -> bool {
        let is_forked = || self.pool.as_ref().is_some_and(|pool| pool.is_forked());
        std::ptr::eq(self.runtime, runtime) && self.threads == threads && !is_forked()
    }
}

/// A region of one thread that starts them, at one depth of nesting: used for one after the other. Regions
/// that repeat change nothing here, so their threads find all but [`copied`](Self::copied) in their caches.
///
/// What its threads read when it starts lies in one line. On a page of its own: beside what the run-time had allocated
/// it made regions 4 % slower (GNU OpenMP 12, two threads).
#[repr(C, align(4096))]
pub(crate) struct Region {
    code: Cell<*const c_void>,
    data: Cell<*mut c_void>,
    known: Cell<&'static Known>,
    /// Whether its barriers can be Corecast's. Decided once for all of its threads.
    is_own: Cell<bool>,
    /// Its barriers were called off.
    is_off: AtomicBool,
    pool: AtomicPtr<Pool>,
    arguments: UnsafeCell<Vec<*mut c_void>>,
    pools: Mutex<Vec<Kept>>,
    /// When its threads came, of the region that runs, if anybody wants to know.
    times: AtomicPtr<Times>,
    /// By number of threads.
    all_times: Mutex<Vec<Arc<Times>>>,
    pub(crate) copied: Copied,
}

/// What `copyprivate` gives to all.
#[repr(align(128))]
pub(crate) struct Copied {
    pub(crate) data: AtomicPtr<c_void>,
    /// The thread that gave last.
    giver: AtomicPtr<Here>,
    /// Times that somebody began to give.
    begun: AtomicU32,
}

impl Copied {
    /// Lets the thread that gave last go first: what it gives is in its caches, and what the others have copied is in
    /// theirs. Who copies comes last to the next barrier, and so leaves it first: without this the roles, and all that
    /// is given, would change sides every time.
    pub(crate) fn give_way(&self) {
        let (giver, here) = (self.giver.load(Ordering::Relaxed), here());
        if giver.is_null() || std::ptr::eq(giver, here) {
            return;
        }
        for _ in 0..TURNS {
            if self.begun.load(Ordering::Relaxed) != here.copied() {
                return;
            }
            std::hint::spin_loop();
        }
    }

    /// The calling thread gives.
    pub(crate) fn begin(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn give(&self, data: *mut c_void) {
        self.data.store(data, Ordering::Relaxed);
        let giver = std::ptr::from_ref(here()).cast_mut();
        if self.giver.load(Ordering::Relaxed) != giver {
            self.giver.store(giver, Ordering::Relaxed);
        }
    }

    /// What is given, for the others.
    pub(crate) fn take(&self) -> *mut c_void {
        here().set_copied(self.begun.load(Ordering::Relaxed));
        self.data.load(Ordering::Relaxed)
    }
}

/// Looks for the thread that gave last: longer than a few transfers of a line.
const TURNS: u32 = 32;

// SAFETY: cells are written by the thread that starts the region, before the run-time starts its threads and
// after it has joined them; in between all read.
unsafe impl Sync for Region {}

impl Region {
    pub(crate) fn new(known: &'static Known) -> Self {
        Self {
            known: Cell::new(known),
            code: Cell::new(std::ptr::null()),
            data: Cell::new(std::ptr::null_mut()),
            is_own: Cell::new(false),
            pool: AtomicPtr::new(std::ptr::null_mut()),
            is_off: AtomicBool::new(false),
            arguments: UnsafeCell::new(Vec::new()),
            pools: Mutex::new(Vec::new()),
            times: AtomicPtr::new(std::ptr::null_mut()),
            all_times: Mutex::new(Vec::new()),
            copied: Copied {
                data: AtomicPtr::new(std::ptr::null_mut()),
                giver: AtomicPtr::new(std::ptr::null_mut()),
                begun: AtomicU32::new(0),
            },
        }
    }

    /// What the next region runs.
    #[inline(always)]
    pub(crate) fn prepare(
        &self,
        code: *const c_void,
        data: *mut c_void,
        arguments: &[*mut c_void],
    ) {
        if self.code.get() != code {
            self.code.set(code);
            self.known.set(known(code));
        }
        if self.data.get() != data {
            self.data.set(data);
        }
        // Relaxed: it only says what to try.
        let is_own = !self.known.get().has_tasks.load(Ordering::Relaxed);
        if self.is_own.get() != is_own {
            self.is_own.set(is_own);
        }
        let kept = self.arguments();
        // By hand: few, and slices are compared by a call.
        let mut pairs = kept.iter().zip(arguments);
        if kept.len() != arguments.len() || !pairs.all(|(kept, given)| kept == given) {
            self.keep(arguments);
        }
    }

    #[cold]
    fn keep(&self, arguments: &[*mut c_void]) {
        // SAFETY: no thread is in the region (Invariant 2).
        let kept = unsafe { &mut *self.arguments.get() };
        kept.clear();
        kept.extend_from_slice(arguments);
    }

    pub(crate) fn code(&self) -> *const c_void {
        self.code.get()
    }

    pub(crate) fn data(&self) -> *mut c_void {
        self.data.get()
    }

    pub(crate) fn arguments(&self) -> &[*mut c_void] {
        // SAFETY: nobody writes while threads are in the region.
        unsafe { &*self.arguments.get() }
    }

    pub(crate) fn runtime(&self) -> &'static Runtime {
        self.known.get().runtime
    }

    pub(crate) fn is_own(&self) -> bool {
        self.is_own.get()
    }

    /// The team for `threads`; the same for all threads of the region. `None`: there can be none.
    pub(crate) fn pool(&self, threads: usize) -> Option<&Pool> {
        let runtime = self.runtime();
        // Acquire: synchronises with the store below.
        // SAFETY: pools of a region live until a region of it has ended.
        let last = unsafe { self.pool.load(Ordering::Acquire).as_ref() };
        if let Some(pool) = last
            && pool.is_for(runtime, threads)
        {
            return Some(pool);
        }
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        let index = match pools.iter().position(|kept| kept.fits(runtime, threads)) {
            Some(index) => index,
            None => {
                pools.push(Kept {
                    runtime,
                    threads,
                    pool: Pool::any(threads, runtime).map(Box::new),
                });
                pools.len() - 1
            }
        };
        let pool: *const Pool = &**pools[index].pool.as_ref()?;
        self.pool.store(pool.cast_mut(), Ordering::Release);
        // SAFETY: boxed, and freed by `end` alone.
        Some(unsafe { &*pool })
    }

    /// Where its threads, so many of them, write down when they come.
    pub(crate) fn times(&self, threads: usize) -> &Times {
        let mut all = self
            .all_times
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().position(|times| times.size() == threads);
        let index = found.unwrap_or_else(|| {
            all.push(Arc::new(Times::new(threads)));
            all.len() - 1
        });
        let times = std::ptr::from_ref(&*all[index]);
        // Relaxed: read by the thread that started the region, after the run-time's join.
        self.times.store(times.cast_mut(), Ordering::Relaxed);
        // SAFETY: where it is it stays, as long as the region.
        unsafe { &*times }
    }

    /// What [`times`](Self::times) has given, once.
    pub(crate) fn take_times(&self) -> Option<&Times> {
        let times = self.times.load(Ordering::Relaxed);
        self.times.store(std::ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: as in `times`.
        unsafe { times.as_ref() }
    }

    /// Its barriers are the run-time's from now on, until it ends.
    pub(crate) fn set_off(&self) {
        self.known.get().has_tasks.store(true, Ordering::Relaxed);
        if self.is_own() {
            self.is_off.store(true, Ordering::Relaxed);
        }
    }

    /// All its threads have left.
    #[inline(always)]
    pub(crate) fn end(&self) {
        // Relaxed: the run-time's join came before.
        if self.is_off.load(Ordering::Relaxed) {
            self.renew();
        }
    }

    #[cold]
    fn renew(&self) {
        self.is_off.store(false, Ordering::Relaxed);
        let last = self.pool.swap(std::ptr::null_mut(), Ordering::Relaxed);
        self.pools
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|kept| {
                kept.pool
                    .as_deref()
                    .is_none_or(|pool| !std::ptr::eq(pool, last))
            });
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        let pools = self.pools.get_mut().unwrap_or_else(PoisonError::into_inner);
        for pool in pools.drain(..).filter_map(|kept| kept.pool) {
            pool.leave();
        }
    }
}
