//! Layer 5: the team cache. Corecast's teams by runtime and number of threads, made when they are first needed and used
//! for one region after the other.
//!
//! | a team is | then |
//! | --- | --- |
//! | taken by a region | its members are used by that region's threads alone (Invariant 3) |
//! | given back | it waits for another thread that starts regions of its runtime and size |
//! | refused, as none could be made | it is kept too, without members, so that no region tries and warns again |
//! | cancelled | the region drops it |
//! | older than a `fork` | it fits no region of the child, and is never touched again |

use super::init;
use super::objects::locked;
use super::runtime::{Functions, Runtime};
use corecast::debug::{Level, say};
use corecast::{Builder, Member, Team, WaitConfig, Waiting};
use corecast_wire::fork::{ForkDetector, forked_since};
use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::sync::Mutex;

/// Nanoseconds that waiting threads with a CPU each stay awake, unless a setting says otherwise. The runtimes do so
/// too: GNU's for a few times as long, LLVM's for 200 times.
const BLOCK_TIME_NS: u32 = 1_000_000;

static CACHE: Mutex<Vec<CachedTeam>> = Mutex::new(Vec::new());

/// A team, and its members, for regions of one runtime and number of threads.
#[derive(Debug)]
pub(crate) struct CachedTeam {
    runtime: &'static Runtime,
    threads: usize,
    /// The member of each thread, by number; empty if no team could be made.
    members: Box<[Slot]>,
    fork_detector: ForkDetector,
    _team: Option<Team>,
}

/// A member, used by one thread of a region at a time; on lines of its own.
#[derive(Debug)]
#[repr(align(128))]
struct Slot(UnsafeCell<Member>);

// SAFETY: Invariant 3. Regions of a team come one after the other, and what one has done is visible to the next by the
// runtime's fork and join, or by the lock of the cache.
unsafe impl Sync for CachedTeam {}
// SAFETY: members can be sent.
unsafe impl Send for CachedTeam {}

/// Takes a team for regions of `threads` threads from the cache, or makes one. A team that cannot be made has no
/// members, and the reason has been printed.
pub(crate) fn take(threads: usize, runtime: &'static Runtime) -> CachedTeam {
    let mut all = locked(&CACHE);
    let found = all.iter().position(|team| team.fits(threads, runtime));
    let found = found.map(|at| all.swap_remove(at));
    drop(all);
    found.unwrap_or_else(|| CachedTeam::new(threads, runtime))
}

/// Gives a team back to the cache. Its region will not run again, and all operations have completed.
pub(crate) fn give_back(team: CachedTeam) {
    locked(&CACHE).push(team);
}

impl CachedTeam {
    fn new(threads: usize, runtime: &'static Runtime) -> Self {
        let path = runtime.path.to_string_lossy();
        let (members, team) = match build(threads, &runtime.real) {
            Ok((members, team)) => {
                init::note_team();
                say(Level::Info, || {
                    format!("OpenMP: barriers of {threads} threads of {path} run here")
                });
                (members, Some(team))
            }
            Err(error) => {
                say(Level::Warn, || {
                    format!("OpenMP: barriers of {threads} threads stay with {path}: {error}")
                });
                (Box::default(), None)
            }
        };
        Self {
            runtime,
            threads,
            members,
            fork_detector: ForkDetector::now(),
            _team: team,
        }
    }

    /// Whether this team is for regions of that runtime and number of threads, in this process.
    pub(crate) fn fits(&self, threads: usize, runtime: &Runtime) -> bool {
        std::ptr::eq(self.runtime, runtime)
            && self.threads == threads
            && !forked_since(&self.fork_detector)
    }

    /// The member for the thread of that number; `None` if no team could be made.
    pub(crate) fn member(&self, thread: usize) -> Option<*mut Member> {
        self.members.get(thread).map(|slot| slot.0.get())
    }
}

type Built = Result<(Box<[Slot]>, Team), Box<dyn std::error::Error + Send + Sync>>;

/// Builds the team on a new thread, because the runtime may have bound this one to one PU, and discovery would then
/// find only that PU.
///
/// The region may have been started by a constructor of a library, while the loader holds its lock for the thread that
/// runs it. The standard library's threads would wait for that lock, since they have destructors for thread-local
/// values; so the thread is one of the C library's.
fn build(threads: usize, real: &Functions) -> Built {
    struct Work {
        threads: usize,
        places: Option<Places>,
        built: Option<Built>,
    }

    extern "C" fn run(work: *mut c_void) -> *mut c_void {
        // SAFETY: what `build` gave; it waits until this ends.
        let work = unsafe { &mut *work.cast::<Work>() };
        let places = work.places.take();
        init::widen_affinity(places.as_ref().map_or(&[][..], |places| &places.all));
        work.built = Some(build_here(
            work.threads,
            places.and_then(|places| places.of_threads),
        ));
        std::ptr::null_mut()
    }

    let mut work = Work {
        threads,
        places: Places::of(threads, real),
        built: None,
    };
    let given: *mut Work = &mut work;
    // SAFETY: plain data, for which zeros are valid; written before it is read.
    let mut thread: libc::pthread_t = unsafe { std::mem::zeroed() };
    // SAFETY: the function gets what it expects, and the calling thread waits for it right below.
    let code = unsafe { libc::pthread_create(&mut thread, std::ptr::null(), run, given.cast()) };
    if code != 0 {
        return Err(std::io::Error::from_raw_os_error(code).into());
    }
    // SAFETY: the thread was started above, and is joined once.
    unsafe { libc::pthread_join(thread, std::ptr::null_mut()) };
    work.built.expect("the thread has built")
}

fn build_here(threads: usize, bound: Option<String>) -> Built {
    let builder = match &bound {
        Some(list) => Builder::new().cores(list),
        None => Builder::new().threads(threads),
    };
    // Threads are pinned by the runtime, or not at all. The setting only selects the measurements that fit.
    let mut builder = builder.pin(bound.is_some()).record(false);
    let usable = std::thread::available_parallelism().map_or(1, usize::from);
    let asked = std::env::var("OMP_WAIT_POLICY").unwrap_or_default();
    if std::env::var_os("CORECAST_WAIT").is_none() {
        builder = match asked.trim().to_ascii_uppercase().as_str() {
            "ACTIVE" if threads <= usable => builder.wait_config(WaitConfig::SPIN),
            "PASSIVE" => builder.wait_config(WaitConfig::PARK),
            _ if threads <= usable => builder.wait(Waiting::Budget(BLOCK_TIME_NS)),
            _ => builder,
        };
    }
    let team = builder.build()?;
    let join = |rank| Slot(UnsafeCell::new(team.join(rank).expect("a fresh rank")));
    Ok(((0..threads).map(join).collect(), team))
}

/// The places of a runtime: in OpenMP a place is a set of PUs that threads can be bound to.
struct Places {
    /// The PUs of all places.
    all: Vec<usize>,
    /// The PU of each thread as a list, if each is bound to one PU.
    of_threads: Option<String>,
}

impl Places {
    /// The places of a runtime; `None` if it does not bind threads.
    fn of(threads: usize, real: &Functions) -> Option<Self> {
        /// `omp_proc_bind_spread`.
        const SPREAD: i32 = 4;
        // SAFETY: functions without conditions.
        let (bind, count) = unsafe { (real.omp_get_proc_bind?(), real.omp_get_num_places?()) };
        if bind == 0 {
            return None;
        }
        let places = (0..count).map(|place| Self::pus(place, real));
        let places: Vec<Vec<usize>> = places.collect::<Option<_>>()?;
        let of_thread = |thread: usize| {
            let place = match bind {
                SPREAD => thread * places.len() / threads,
                _ => thread,
            };
            match places.get(place)?[..] {
                [pu] => Some(pu.to_string()),
                _ => None,
            }
        };
        let of_threads: Option<Vec<String>> = (0..threads).map(of_thread).collect();
        Some(Self {
            of_threads: of_threads
                .filter(|_| threads <= places.len())
                .map(|pus| pus.join(",")),
            all: places.concat(),
        })
    }

    fn pus(place: i32, real: &Functions) -> Option<Vec<usize>> {
        // SAFETY: a place below their number.
        let count = usize::try_from(unsafe { real.omp_get_place_num_procs?(place) }).ok()?;
        let mut pus = vec![0; count];
        // SAFETY: as many numbers as it has.
        unsafe { real.omp_get_place_proc_ids?(place, pus.as_mut_ptr()) };
        pus.into_iter().map(|pu| usize::try_from(pu).ok()).collect()
    }
}
