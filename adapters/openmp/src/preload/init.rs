//! Layer 4: decisions before the program starts, while it has one thread, and the message at its end.

use super::objects::Code;
use super::runtime;
use corecast::debug::{Level, say};
use corecast_wire::objects::is_in_the_program;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// See [`is_on`].
pub(crate) static IS_ON: AtomicBool = AtomicBool::new(false);
static RECORDS_WAITS: AtomicBool = AtomicBool::new(false);
static HAS_REGIONS: AtomicBool = AtomicBool::new(false);
static HAS_TEAMS: AtomicBool = AtomicBool::new(false);
/// The PUs that the program was started with, before its runtime binds threads.
static AFFINITY: OnceLock<libc::cpu_set_t> = OnceLock::new();

/// Whether barriers are replaced at all. They are if this library is not linked into the program and
/// `CORECAST_DISABLE` is unset, empty or 0.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    // Relaxed: set before the program starts.
    IS_ON.load(Ordering::Relaxed)
}

/// Whether waits are recorded.
#[inline(always)]
pub(crate) fn records_waits() -> bool {
    // Relaxed: set before the program starts.
    RECORDS_WAITS.load(Ordering::Relaxed)
}

/// Has waits recorded from now on. It is called before the program starts.
pub(crate) fn record_waits() {
    RECORDS_WAITS.store(true, Ordering::Relaxed);
}

/// Decides whether barriers are replaced, and returns [`is_on`]. The loader calls it before the program starts.
pub(crate) fn begin() -> bool {
    // It is linked into `corecast` as well, where nothing is replaced.
    let own = begin as fn() -> bool as Code;
    if corecast::interception::is_disabled() || is_in_the_program(own) {
        return false;
    }
    IS_ON.store(true, Ordering::Relaxed);
    // SAFETY: plain data, for which zeros are valid.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is as long as is said.
    if unsafe { libc::sched_getaffinity(0, size_of_val(&set), &mut set) } == 0 {
        let _ = AFFINITY.set(set);
    }
    // The kind of fence is asked for now: with one thread the kernel answers at once; later it waits for all CPUs,
    // some 10 ms.
    corecast_wire::fence_kind();
    // The first such call looks up symbols. A later one may come while another thread holds the loader's lock and
    // waits for its region: that of a library's constructor.
    let _ = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    true
}

/// Lets the calling thread run wherever the program could at its start, and on `more`: some runtimes bind the first
/// thread before anything else of the program runs.
pub(crate) fn widen_affinity(more: &[usize]) {
    let Some(mut set) = AFFINITY.get().copied() else {
        return;
    };
    for &pu in more.iter().filter(|&&pu| pu < libc::CPU_SETSIZE as usize) {
        // SAFETY: within the set.
        unsafe { libc::CPU_SET(pu, &mut set) };
    }
    // SAFETY: the set is as long as is said. Where it is refused, less is known of the machine.
    unsafe { libc::sched_setaffinity(0, size_of_val(&set), &set) };
}

/// Notes that a region began.
pub(crate) fn note_region() {
    // Relaxed, as all of these: they publish nothing, and are read at the end.
    HAS_REGIONS.store(true, Ordering::Relaxed);
}

/// Notes that a team was made.
pub(crate) fn note_team() {
    HAS_TEAMS.store(true, Ordering::Relaxed);
}

/// Says why no barrier was replaced, if none was. It is called at the program's end.
pub(crate) fn say_if_nothing_was_gained() {
    if HAS_TEAMS.load(Ordering::Relaxed) {
        return;
    }
    say(Level::Info, || {
        let why = match (HAS_REGIONS.load(Ordering::Relaxed), runtime::any()) {
            (true, _) => {
                "its regions have one thread, tasks, or no barrier but the one at their end"
            }
            (false, true) => "it ran no region",
            (false, false) => "it called no OpenMP runtime that can be reached from outside",
        };
        format!("OpenMP: nothing was intercepted, and nothing is gained: {why}")
    });
}
