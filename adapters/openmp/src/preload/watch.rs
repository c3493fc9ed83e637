//! How long threads wait, and whom for: only where [`record::FOLDER`](crate::record::FOLDER) asks for it.
//!
//! Each thread writes down when it came, and reads when the others came after it has left. It has a place for
//! each of two barriers one after the other, so nobody's time is written over before all have read it: who comes
//! to the next barrier but one knows that all have come to the next, and have read.

use super::here::{self, Barriers};
use super::region::Region;
use super::runtime::{self, Site};
pub(crate) use crate::record::Kind;
use crate::record::{FOLDER, Object, Record, SCHEMA, Wait};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_void;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

static IS_ON: AtomicBool = AtomicBool::new(false);
static STARTED: OnceLock<Start> = OnceLock::new();
/// Of every thread that has waited.
static ALL: Mutex<Vec<Arc<Mutex<Tallies>>>> = Mutex::new(Vec::new());

#[derive(Debug)]
struct Start {
    folder: PathBuf,
    process: u32,
    clock: Instant,
}

#[inline(always)]
pub(crate) fn is_on() -> bool {
    // Relaxed: set before the program starts.
    IS_ON.load(Ordering::Relaxed)
}

/// Before the program starts.
pub(crate) fn begin() {
    if let Some(folder) = std::env::var_os(FOLDER).filter(|folder| !folder.is_empty()) {
        now();
        let _ = STARTED.set(Start {
            folder: folder.into(),
            process: std::process::id(),
            clock: Instant::now(),
        });
        IS_ON.store(true, Ordering::Relaxed);
    }
}

/// Nanoseconds, of all threads alike.
fn now() -> u64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    u64::try_from(FIRST.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// When a thread came: to two barriers in turn, and to the region's end.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Arrivals([AtomicU64; 3]);

const END: usize = 2;

/// When the threads of a region came.
#[derive(Debug)]
pub(crate) struct Times {
    of_threads: Box<[Arrivals]>,
    /// When the first thread began.
    begun: AtomicU64,
}

impl Times {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            of_threads: (0..threads).map(|_| Arrivals::default()).collect(),
            begun: AtomicU64::new(0),
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.of_threads.len()
    }

    fn arrive(&self, thread: usize, at: usize) -> u64 {
        let now = now();
        // Relaxed, as all of these: barriers come between.
        self.of_threads[thread].0[at].store(now, Ordering::Relaxed);
        now
    }

    fn all(&self, at: usize) -> impl Iterator<Item = u64> {
        let times = self.of_threads.iter();
        times.map(move |arrivals| arrivals.0[at].load(Ordering::Relaxed))
    }

    fn last(&self, at: usize) -> u64 {
        self.all(at).max().unwrap_or(0)
    }
}

/// A thread's stay in a region.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    times: &'a Times,
    /// What the region runs.
    code: Site,
    thread: usize,
    barriers_met: Cell<usize>,
    /// Whose its barriers are.
    pub(crate) barriers: Cell<Barriers>,
}

impl Frame<'_> {
    /// Runs `meet`, a barrier.
    pub(crate) fn time(&self, site: Site, kind: Kind, meet: impl FnOnce()) {
        let at = self.barriers_met.get() % 2;
        self.barriers_met.set(self.barriers_met.get() + 1);
        let came = self.times.arrive(self.thread, at);
        meet();
        let left = now();
        let last = self.times.last(at).clamp(came, left);
        let is_own = matches!(self.barriers.get(), Barriers::Own(_));
        let site = if is_ours(site) { self.code } else { site };
        note(site, kind, |tally| {
            tally.add(1, is_own, last - came, left - last);
        });
    }
}

/// Whether that is in this library: so it seems where a region's code ends with a barrier, and the compiler made a
/// jump of the call.
fn is_ours(site: Site) -> bool {
    thread_local! {
        static KNOWN: RefCell<HashMap<usize, bool>> = RefCell::default();
    }
    let look = || {
        let base = |code| runtime::object_of(code).map(|(base, _)| base);
        base(site) == base(is_ours as Site)
    };
    KNOWN
        .try_with(|known| *known.borrow_mut().entry(site.addr()).or_insert_with(look))
        .unwrap_or_else(|_| look())
}

/// Runs this thread's part of a region.
pub(crate) fn within<R>(
    region: &Region,
    barriers: Barriers,
    body: impl FnOnce(Barriers) -> R,
) -> R {
    let Some((thread, threads)) = here::rank_and_size(region).filter(|(_, n)| *n > 1) else {
        return body(barriers);
    };
    let times = region.times(threads);
    if thread == 0 {
        times.begun.store(now(), Ordering::Relaxed);
    }
    let frame = Frame {
        times,
        code: region.code(),
        thread,
        barriers_met: Cell::new(0),
        barriers: Cell::new(barriers),
    };
    let result = body(Barriers::Watched(std::ptr::from_ref(&frame).cast()));
    times.arrive(thread, END);
    result
}

/// The region has ended, as its first thread sees it.
pub(crate) fn end(region: &Region) {
    let Some(times) = region.take_times() else {
        return;
    };
    let left = now();
    let last = times.last(END).min(left);
    note(region.code(), Kind::Region, |tally| {
        for came in times.all(END) {
            tally.add(1, false, last.saturating_sub(came), 0);
        }
        tally.add(0, false, 0, left - last);
        let took = left.saturating_sub(times.begun.load(Ordering::Relaxed));
        tally.threads = tally.threads.max(times.size());
        tally.in_regions_ns += took * times.size() as u64;
    });
}

/// The waits at one place.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    times: u64,
    own: u64,
    imbalance_ns: u64,
    mechanism_ns: u64,
    longest_ns: u64,
    threads: usize,
    in_regions_ns: u64,
}

impl Tally {
    fn add(&mut self, times: u64, is_own: bool, imbalance_ns: u64, mechanism_ns: u64) {
        self.times += times;
        self.own += u64::from(is_own) * times;
        self.imbalance_ns += imbalance_ns;
        self.mechanism_ns += mechanism_ns;
        self.longest_ns = self.longest_ns.max(imbalance_ns + mechanism_ns);
    }

    fn merge(&mut self, other: &Self) {
        self.times += other.times;
        self.own += other.own;
        self.imbalance_ns += other.imbalance_ns;
        self.mechanism_ns += other.mechanism_ns;
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        self.threads = self.threads.max(other.threads);
        self.in_regions_ns += other.in_regions_ns;
    }
}

type Tallies = HashMap<(usize, Kind), Tally>;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn note(site: Site, kind: Kind, add: impl FnOnce(&mut Tally)) {
    thread_local! {
        static MINE: Arc<Mutex<Tallies>> = {
            let mine = Arc::default();
            locked(&ALL).push(Arc::clone(&mine));
            mine
        };
    }
    // A thread that ends has no tallies any more.
    let _ = MINE.try_with(|mine| add(locked(mine).entry((site.addr(), kind)).or_default()));
}

/// At the end of the process: writes the record.
pub(crate) fn finish() {
    let process = std::process::id();
    // A child that was forked, and goes on as it is, has its parent's numbers.
    let Some(start) = STARTED.get().filter(|start| start.process == process) else {
        return;
    };
    let mut sum = Tallies::new();
    for of_thread in locked(&ALL).iter() {
        for (place, tally) in locked(of_thread).iter() {
            sum.entry(*place).or_default().merge(tally);
        }
    }
    if sum.is_empty() {
        return;
    }
    let mut record = Record {
        schema: SCHEMA,
        program: std::env::current_exe().map_or_else(
            |_| "unknown".to_owned(),
            |path| path.to_string_lossy().into(),
        ),
        process,
        seconds: start.clock.elapsed().as_secs_f64(),
        threads: sum.values().map(|tally| tally.threads).max().unwrap_or(0),
        in_regions_ns: sum.values().map(|tally| tally.in_regions_ns).sum(),
        objects: Vec::new(),
        waits: Vec::with_capacity(sum.len()),
    };
    for ((site, kind), tally) in sum {
        let found = runtime::object_of(std::ptr::without_provenance::<c_void>(site));
        let object = found.map(|(base, path)| {
            let object = Object {
                path: path.to_string_lossy().into(),
                base: base as u64,
            };
            let at = record.objects.iter().position(|other| *other == object);
            at.unwrap_or_else(|| {
                record.objects.push(object);
                record.objects.len() - 1
            })
        });
        record.waits.push(Wait {
            object,
            address: site as u64,
            kind,
            times: tally.times,
            own: tally.own,
            imbalance_ns: tally.imbalance_ns,
            mechanism_ns: tally.mechanism_ns,
            longest_ns: tally.longest_ns,
        });
    }
    let path = start.folder.join(format!("{process}.json"));
    let written = serde_json::to_vec(&record)
        .map_err(Into::into)
        .and_then(|text| std::fs::write(&path, text));
    if let Err(error) = written {
        use corecast::debug::{Level, say};
        say(Level::Warn, || {
            format!("OpenMP: cannot write {}: {error}", path.display())
        });
    }
}

impl Kind {
    /// What LLVM's run-time is told of the place of a barrier.
    ///
    /// # Safety
    ///
    /// Null, or an `ident_t`, whose second word are its flags.
    pub(crate) unsafe fn of_place(place: *const c_void) -> Self {
        const SHARED: u32 = 0x1c0;
        if place.is_null() {
            return Self::Barrier;
        }
        // SAFETY: the caller's.
        let flags = unsafe { *place.cast::<u32>().add(1) };
        match flags & SHARED {
            0x40 => Self::For,
            0xc0 => Self::Sections,
            0x140 => Self::Single,
            _ => Self::Barrier,
        }
    }
}
