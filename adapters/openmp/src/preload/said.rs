//! What is said at the end, where nothing was gained.

use corecast::debug::{Level, say};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

static HAS_REGIONS: AtomicBool = AtomicBool::new(false);
static IS_INTERCEPTED: AtomicBool = AtomicBool::new(false);

/// A region began.
pub(crate) fn region() {
    // Relaxed, all: words for people.
    HAS_REGIONS.store(true, Ordering::Relaxed);
}

/// A team was made.
pub(crate) fn intercepted() {
    IS_INTERCEPTED.store(true, Ordering::Relaxed);
}

/// Run by the loader, before the program.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = {
    extern "C" fn at_start() {
        let off = std::env::var_os("CORECAST_DISABLE");
        if off.is_none_or(|text| text.is_empty() || text == "0") && is_loaded() {
            super::IS_ON.store(true, Ordering::Relaxed);
            super::affinity::keep();
            // While there is one thread the kernel answers at once; later it waits for all CPUs, some 10 ms.
            corecast_wire::fence_kind();
            super::watch::begin();
            // SAFETY: a function of this library, which is never unloaded.
            unsafe { libc::atexit(at_end) };
        }
    }
    at_start
};

/// Whether this is a library of its own, and not a part of the program.
fn is_loaded() -> bool {
    let base = |code| super::runtime::object_of(code).map(|(base, _)| base);
    // SAFETY: a function without conditions.
    let entry = unsafe { libc::getauxval(libc::AT_ENTRY) } as usize;
    base(is_loaded as *const c_void) != base(std::ptr::without_provenance(entry))
}

extern "C" fn at_end() {
    super::watch::finish();
    if IS_INTERCEPTED.load(Ordering::Relaxed) {
        return;
    }
    say(Level::Info, || {
        let why = match (HAS_REGIONS.load(Ordering::Relaxed), super::runtime::any()) {
            (true, _) => {
                "its regions have one thread, tasks, or no barrier but the one at their end"
            }
            (false, true) => "it ran no region",
            (false, false) => "it called no OpenMP run-time that can be reached from outside",
        };
        format!("OpenMP: nothing was intercepted, and nothing is gained: {why}")
    });
}
