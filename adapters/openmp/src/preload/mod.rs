//! What happens between a program and its OpenMP run-time.
//!
//! ```text
//! GOMP_parallel, __kmpc_fork_call ──► region of the caller ──► the run-time's own, with a body of ours
//!                                                                   │ on each of its threads
//! GOMP_barrier, __kmpc_barrier, … ──► here: whose team? ◄───────────┘
//!                                       ├──► a team of Corecast ──► called off? ─┐
//!                                       └──► the run-time's own barrier ◄────────┘
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `runtime.rs` | the run-times of the process, and which of them a program's code uses |
//! | `region.rs` | what a thread that starts regions shares with the threads of one |
//! | `here.rs`, `local.rs` | the region that a thread is in, and its barrier |
//! | `teams.rs` | Corecast's teams, by number of threads |
//! | `affinity.rs` | the PUs that the program was started with |
//! | `gnu.rs`, `llvm.rs` | what compilers call |
//! | `said.rs` | what is said at the end |
//! | `watch.rs` | how long threads waited and where, if anybody wants to know |
//!
//! **Invariant 1:** a barrier of a region is Corecast's for all of its threads or for none. A task, or a
//! cancellation, calls the team's barriers off *before* it exists, from the next one of its thread on. That one
//! cannot have completed, as this thread has not come to it; all before it complete. So all threads leave
//! Corecast's barriers at the same one, and keep to the run-time's until the region ends.
//!
//! **Invariant 2:** what is changed of a region is changed by the thread that starts it, while no thread is in it.

mod affinity;
mod gnu;
mod here;
mod llvm;
mod local;
mod region;
mod runtime;
mod said;
mod teams;
mod watch;

use corecast::debug::{Level, say};
use std::sync::atomic::{AtomicBool, Ordering};

/// See [`is_on`].
static IS_ON: AtomicBool = AtomicBool::new(false);

/// Whether barriers are to be replaced at all: this is a library of its own, and `CORECAST_DISABLE` is unset, empty
/// or 0.
#[inline(always)]
fn is_on() -> bool {
    // Relaxed: set before the program starts.
    IS_ON.load(Ordering::Relaxed)
}

/// Ends the process: there is no way on that would be right.
#[cold]
fn give_up(why: &str) -> ! {
    say(Level::Warn, || {
        format!("OpenMP: {why}; CORECAST_DISABLE=1 runs the program without Corecast")
    });
    std::process::abort()
}
