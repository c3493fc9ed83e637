//! Layer 10: the stay of a thread in a region whose waits are recorded, which [`Barriers::Timed`] points to. No thread
//! has one unless [`record::FOLDER`](crate::record::FOLDER) asks for the record.

use super::level::{Barriers, Timed};
use super::objects::Code;
use super::region::Region;
use super::thread::Thread;
use super::waits::Stay;
use crate::record::Kind;
use std::cell::Cell;

/// Runs a thread's part of a region by `run`, and records its waits. `run` gets the state with which the thread enters
/// the region; without a record it would be `barriers`.
#[cold]
pub(crate) fn run(region: &Region, barriers: Barriers, run: impl FnOnce(Barriers)) {
    let Some((thread, threads)) = region.number_of_several() else {
        return run(barriers);
    };
    let timed = Timed {
        stay: Stay::begin(region.times(threads), region.code(), thread),
        barriers: Cell::new(barriers),
    };
    run(Barriers::Timed(&timed));
    timed.stay.end();
}

/// Runs `meet`, a barrier that the program called at `site`, and records the wait.
pub(crate) fn barrier(
    thread: &Thread,
    timed: *const Timed,
    site: Code,
    kind: Kind,
    meet: impl FnOnce(),
) {
    // SAFETY: a `Timed` outlives its thread's stay in the region.
    let stay = unsafe { &(*timed).stay };
    stay.time(site, kind, || {
        matches!(untimed(thread, timed, meet), Barriers::Team(_))
    });
}

/// Runs `call` with the thread's barriers set to those of `timed`. Stores there what `call` sets them to, and returns
/// it.
pub(crate) fn untimed(thread: &Thread, timed: *const Timed, call: impl FnOnce()) -> Barriers {
    // SAFETY: a `Timed` outlives its thread's stay in the region.
    let of_region = unsafe { &(*timed).barriers };
    thread.barriers.set(of_region.get());
    call();
    let barriers = thread.barriers.replace(Barriers::Timed(timed));
    of_region.set(barriers);
    barriers
}
