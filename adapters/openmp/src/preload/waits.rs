//! Layer 6: the record of waits: how long threads wait, and where; only if
//! [`record::FOLDER`] asks for it.
//!
//! Each thread notes when it arrives at a barrier, and reads when the others arrived after it has left. It has one
//! place for each of two barriers in a row, so no time is overwritten before all threads have read it: a thread that
//! arrives at the next barrier but one knows that all have arrived at the next one, and so have read.

use super::init;
use super::objects::{Code, is_ours, locked};
use crate::record::{self, Kind, Object, Record, SCHEMA, Sums, Wait};
use corecast::debug::{Level, say};
use std::cell::Cell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

static STARTED: OnceLock<Start> = OnceLock::new();
/// The tallies of all threads that have waited.
static ALL: Mutex<Vec<&'static Mutex<Tally>>> = Mutex::new(Vec::new());

#[derive(Debug)]
struct Start {
    folder: PathBuf,
    process: u32,
    clock: Instant,
}

/// Begins the record if [`record::FOLDER`] is set. It is called before the program starts.
pub(crate) fn begin() {
    if let Some(folder) = record::folder() {
        let _ = STARTED.set(Start {
            folder,
            process: std::process::id(),
            clock: Instant::now(),
        });
        init::record_waits();
    }
}

/// Nanoseconds since the start, on a clock that all threads share.
fn now() -> u64 {
    let since = STARTED
        .get()
        .map_or(0, |start| start.clock.elapsed().as_nanos());
    u64::try_from(since).unwrap_or(u64::MAX)
}

/// The times at which a thread arrived: at two barriers in turn, and at the region's end.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Arrivals([AtomicU64; 3]);

const END: usize = 2;

/// The times at which the threads of a region arrived.
#[derive(Debug)]
pub(crate) struct Times {
    of_threads: Box<[Arrivals]>,
    /// When the first thread began; 0 while no region runs.
    begun: AtomicU64,
}

// Relaxed, all: a time is read after a barrier, or the runtime's join, that came after it was written.
impl Times {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            of_threads: (0..threads).map(|_| Arrivals::default()).collect(),
            begun: AtomicU64::new(0),
        }
    }

    pub(crate) fn threads(&self) -> usize {
        self.of_threads.len()
    }

    fn arrive(&self, thread: usize, at: usize) -> u64 {
        let now = now();
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

    /// Records the end of the region with `code`. Its first thread calls it after the runtime's join.
    pub(crate) fn end(&self, code: Code) {
        let begun = self.begun.swap(0, Ordering::Relaxed);
        if begun == 0 {
            return;
        }
        let left = now();
        let last = self.last(END).min(left);
        tally(|tally| {
            let sums = tally.sums(code, code, Kind::Region);
            for came in self.all(END) {
                *sums += Sums::of(false, last.saturating_sub(came), 0);
            }
            *sums += Sums {
                times: 0,
                ..Sums::of(false, 0, left - last)
            };
            tally.threads = tally.threads.max(self.threads());
            tally.in_regions_ns += left.saturating_sub(begun) * self.threads() as u64;
        });
    }
}

/// A thread's stay in a region.
#[derive(Debug)]
pub(crate) struct Stay {
    times: Arc<Times>,
    /// The code of the region.
    code: Code,
    thread: usize,
    barriers: Cell<usize>,
}

impl Stay {
    pub(crate) fn begin(times: Arc<Times>, code: Code, thread: usize) -> Self {
        if thread == 0 {
            times.begun.store(now(), Ordering::Relaxed);
        }
        Self {
            times,
            code,
            thread,
            barriers: Cell::new(0),
        }
    }

    /// Runs `meet`, a barrier, which returns whether it was Corecast's.
    pub(crate) fn time(&self, site: Code, kind: Kind, meet: impl FnOnce() -> bool) {
        let at = self.barriers.replace(self.barriers.get() + 1) % 2;
        let came = self.times.arrive(self.thread, at);
        let is_own = meet();
        let left = now();
        let last = self.times.last(at).clamp(came, left);
        tally(|tally| {
            *tally.sums(site, self.code, kind) += Sums::of(is_own, last - came, left - last);
        });
    }

    pub(crate) fn end(&self) {
        self.times.arrive(self.thread, END);
    }
}

/// The waits of one thread.
#[derive(Debug, Default)]
struct Tally {
    /// By the address of the barrier's call, the code of the region, and the kind of barrier.
    waits: HashMap<(usize, usize, Kind), Told>,
    threads: usize,
    in_regions_ns: u64,
}

/// The sums of waits at a place. The place is looked up at the first wait, because its object may be unloaded later.
#[derive(Debug)]
struct Told {
    place: Place,
    sums: Sums,
}

/// An address, and the file that it is in.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    object: Option<Object>,
    address: usize,
    kind: Kind,
}

impl Place {
    fn of(site: Code, code: Code, kind: Kind) -> Self {
        // Where a region's code ends with a barrier, compilers make a jump of the call, which then returns to this
        // library. The region's code is named instead, one byte into it, as readers look before a return address.
        let address = match is_ours(site) {
            true => code.wrapping_byte_add(1),
            false => site,
        };
        Self {
            object: Object::of(address),
            address: address.addr(),
            kind,
        }
    }
}

impl Tally {
    fn sums(&mut self, site: Code, code: Code, kind: Kind) -> &mut Sums {
        let key = (site.addr(), code.addr(), kind);
        let told = self.waits.entry(key).or_insert_with(|| Told {
            place: Place::of(site, code, kind),
            sums: Sums::default(),
        });
        &mut told.sums
    }
}

/// Lets `add` change the calling thread's tally.
fn tally(add: impl FnOnce(&mut Tally)) {
    thread_local! {
        /// Without a destructor, for which the C library would take the loader's lock: the region may be one of a
        /// library's constructor, for which the loader holds it.
        static MINE: Cell<Option<&'static Mutex<Tally>>> = const { Cell::new(None) };
    }
    let mine = MINE.get().unwrap_or_else(|| {
        let mine: &'static Mutex<Tally> = Box::leak(Box::default());
        locked(&ALL).push(mine);
        MINE.set(Some(mine));
        mine
    });
    add(&mut locked(mine));
}

/// The waits that [`settle`] has taken from the threads.
static SETTLED: Mutex<Vec<Told>> = Mutex::new(Vec::new());

/// Takes the waits so far from the threads. It is called when an object was unloaded: the same addresses may be those of
/// another one from then on.
pub(crate) fn settle() {
    let mut settled = locked(&SETTLED);
    for of_thread in locked(&ALL).iter() {
        for (_, told) in locked(of_thread).waits.drain() {
            match settled.iter_mut().find(|known| known.place == told.place) {
                Some(known) => known.sums += told.sums,
                None => settled.push(told),
            }
        }
    }
}

/// Called at the end of the process: writes the record.
pub(crate) fn finish() {
    let process = std::process::id();
    // A forked child that runs on without `exec` has its parent's numbers, and writes no record.
    let Some(start) = STARTED.get().filter(|start| start.process == process) else {
        return;
    };
    let program = std::env::current_exe();
    let mut record = Record {
        schema: SCHEMA,
        program: program.map_or_else(|_| "unknown".into(), |path| path.to_string_lossy().into()),
        process,
        seconds: start.clock.elapsed().as_secs_f64(),
        threads: 0,
        in_regions_ns: 0,
        objects: Vec::new(),
        waits: Vec::new(),
    };
    settle();
    for of_thread in locked(&ALL).iter() {
        let tally = locked(of_thread);
        record.threads = record.threads.max(tally.threads);
        record.in_regions_ns += tally.in_regions_ns;
    }
    for Told { place, sums } in locked(&SETTLED).drain(..) {
        let object = place.object.map(|object| {
            let known = record.objects.iter().position(|other| *other == object);
            known.unwrap_or_else(|| {
                record.objects.push(object);
                record.objects.len() - 1
            })
        });
        record.waits.push(Wait {
            place: record::Place::Code {
                object,
                address: place.address as u64,
                rank: None,
            },
            kind: place.kind,
            sums,
        });
    }
    if record.waits.is_empty() {
        return;
    }
    let path = start.folder.join(format!("{process}.json"));
    let text = serde_json::to_vec(&record).map_err(Into::into);
    if let Err(error) = text.and_then(|text| std::fs::write(&path, text)) {
        say(Level::Warn, || {
            format!("OpenMP: cannot write {}: {error}", path.display())
        });
    }
}
