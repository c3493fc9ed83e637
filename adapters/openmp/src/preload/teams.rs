//! Corecast's teams, by number of threads.

use super::runtime::{Functions, Runtime};
use super::{affinity, said};
use corecast::debug::{Level, say};
use corecast::{Builder, Member, Policy, Team, Waiting};
use corecast_wire::fork::{Stamp, forked_since};
use std::cell::UnsafeCell;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How long threads that have a CPU each stay awake, where nobody says: run-times take that for granted. GNU's stays
/// so for a few of these, LLVM's for 200.
const BLOCK_TIME_NS: u32 = 1_000_000;

/// A member, used by one thread of a region at a time; on lines of its own.
#[derive(Debug)]
#[repr(align(128))]
struct Seat(UnsafeCell<Member>);

/// A team, and the members that the threads of one region after the other use.
#[derive(Debug)]
pub(crate) struct Pool {
    runtime: &'static Runtime,
    seats: Box<[Seat]>,
    stamp: Stamp,
    _team: Team,
}

// SAFETY: a seat is used by the one thread that has its number in the region; regions of a pool come one
// after the other, and what one has done is visible to the next by the run-time's fork and join.
unsafe impl Sync for Pool {}
// SAFETY: members can be sent.
unsafe impl Send for Pool {}

/// Of threads that started regions, and have ended.
static LEFT: Mutex<Vec<Pool>> = Mutex::new(Vec::new());

fn left() -> MutexGuard<'static, Vec<Pool>> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    /// For regions of `threads`: one that another thread has left, or a new one; `None`, and said why, if that cannot
    /// be.
    pub(crate) fn any(threads: usize, runtime: &'static Runtime) -> Option<Self> {
        let mut all = left();
        let found = all.iter().position(|pool| pool.is_for(runtime, threads));
        let found = found.map(|at| all.swap_remove(at));
        drop(all);
        found.or_else(|| Self::new(threads, runtime))
    }

    /// The thread whose regions it was for ends. All operations have completed.
    pub(crate) fn leave(self) {
        left().push(self);
    }

    fn new(threads: usize, runtime: &'static Runtime) -> Option<Self> {
        let made = build(threads, runtime);
        let text = runtime.path.to_string_lossy();
        match made {
            Ok(pool) => {
                said::intercepted();
                say(Level::Info, || {
                    format!("OpenMP: barriers of {threads} threads of {text} run here")
                });
                Some(pool)
            }
            Err(error) => {
                say(Level::Warn, || {
                    format!("OpenMP: barriers of {threads} threads stay with {text}: {error}")
                });
                None
            }
        }
    }

    /// Whether it is for regions of that run-time and that many threads, and of use.
    pub(crate) fn is_for(&self, runtime: &Runtime, threads: usize) -> bool {
        std::ptr::eq(self.runtime, runtime) && self.seats.len() == threads && !self.is_forked()
    }

    /// Whether this process is a copy of the one that made it: then it is of no use.
    pub(crate) fn is_forked(&self) -> bool {
        forked_since(&self.stamp)
    }

    /// A member, for the thread of that number.
    pub(crate) fn member(&self, thread: usize) -> *mut Member {
        self.seats[thread].0.get()
    }
}

type Refusal = Box<dyn std::error::Error + Send + Sync>;

/// On a thread of its own: the run-time may have bound this one to one PU, which would seem to be all there is.
fn build(threads: usize, runtime: &'static Runtime) -> Result<Pool, Refusal> {
    let places = Places::of(threads, &runtime.real);
    std::thread::scope(|scope| {
        let build = || {
            affinity::widen(places.as_ref().map_or(&[][..], |places| &places.all));
            let bound = places.and_then(|places| places.of_threads);
            build_here(threads, runtime, bound.as_deref())
        };
        let thread = std::thread::Builder::new().spawn_scoped(scope, build)?;
        thread.join().expect("builds without a panic")
    })
}

fn build_here(
    threads: usize,
    runtime: &'static Runtime,
    bound: Option<&str>,
) -> Result<Pool, Refusal> {
    let mut builder = match bound {
        Some(list) => Builder::new().cores(list),
        None => Builder::new().threads(threads),
    };
    // The run-time pins, or does not; this only tells which measurements fit.
    builder = builder.pin(bound.is_some());
    let usable = std::thread::available_parallelism().map_or(1, usize::from);
    let wish = std::env::var("OMP_WAIT_POLICY").unwrap_or_default();
    if std::env::var_os("CORECAST_WAIT").is_none() {
        builder = match wish.trim().to_ascii_uppercase().as_str() {
            "ACTIVE" if threads <= usable => builder.policy(Policy::SPIN),
            "PASSIVE" => builder.policy(Policy::PARK),
            _ if threads <= usable => builder.wait(Waiting::Budget(BLOCK_TIME_NS)),
            _ => builder,
        };
    }
    let team = builder.build()?;
    let seats = (0..threads).map(|rank| {
        let member = team.join(rank).expect("a fresh team's ranks are free");
        Seat(UnsafeCell::new(member))
    });
    Ok(Pool {
        runtime,
        seats: seats.collect(),
        stamp: Stamp::now(),
        _team: team,
    })
}

/// Where the run-time lets threads run.
struct Places {
    /// The PUs of all places.
    all: Vec<usize>,
    /// That of each thread, where each is bound to one.
    of_threads: Option<String>,
}

impl Places {
    /// None of a run-time that does not bind.
    fn of(threads: usize, real: &Functions) -> Option<Self> {
        /// `omp_proc_bind_spread`.
        const SPREAD: i32 = 4;
        // SAFETY: functions without conditions.
        let (bind, count) = unsafe { (real.proc_bind?(), real.num_places?()) };
        if bind == 0 {
            return None;
        }
        let places: Vec<Vec<usize>> = (0..count)
            .map(|place| Self::ids(place, real))
            .collect::<Option<_>>()?;
        let of_thread = |thread: usize| {
            let place = match bind {
                SPREAD => thread * places.len() / threads,
                _ => thread,
            };
            match places.get(place)?[..] {
                [id] => Some(id.to_string()),
                _ => None,
            }
        };
        let of_threads: Option<Vec<String>> = (0..threads).map(of_thread).collect();
        Some(Self {
            of_threads: of_threads
                .filter(|_| threads <= places.len())
                .map(|ids| ids.join(",")),
            all: places.concat(),
        })
    }

    fn ids(place: i32, real: &Functions) -> Option<Vec<usize>> {
        // SAFETY: a place below their number.
        let count = usize::try_from(unsafe { real.place_procs?(place) }).ok()?;
        let mut ids = vec![0; count];
        // SAFETY: as many numbers as it has.
        unsafe { real.place_ids?(place, ids.as_mut_ptr()) };
        ids.into_iter().map(|id| usize::try_from(id).ok()).collect()
    }
}
