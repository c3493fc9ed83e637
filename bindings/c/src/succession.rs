//! Teams that go on when they have lost ranks.

use crate::memory::{give, numbers};
use crate::status::{Refusal, StatusCode, entry};
use crate::team::{Team, team};
use corecast::Successor;

/// Makes a team of the ranks of `team` that go on: all but the `count` ranks in `leaving`, those whose thread panicked, and
/// those whose process has ended or has freed its team. The others keep their order, and move up. All members of `team` must
/// have left before; in a team of processes each process that lives calls this, with the ranks of its own that leave.
///
/// Writes to `completed`, unless that is NULL, the number of operations, from the first one on, that have completed on all
/// ranks that go on. `team` can be freed afterwards.
///
/// Threads: one.
///
/// # Safety
///
/// `team` is NULL or a live handle; `leaving` has `count` numbers, and may be NULL if that is 0; `next` is NULL or a place
/// for a handle; `completed` is NULL or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_team_without(
    team: *const Team,
    leaving: *const usize,
    count: usize,
    next: *mut *mut Team,
    completed: *mut u64,
) -> StatusCode {
    entry(|| {
        if next.is_null() {
            return Err(Refusal::null("next"));
        }
        // SAFETY: the caller's promise, here and below.
        let before = unsafe { self::team(team)? };
        let leaving = match count {
            0 => &[],
            // SAFETY: as above.
            _ => unsafe { numbers("leaving", leaving, count)? },
        };
        let own = before.ranks();
        if let Some(rank) = leaving.iter().find(|rank| !own.contains(rank)) {
            return Err(Refusal::invalid(format!(
                "rank {rank} is not of this process, whose ranks are {own:?}"
            )));
        }
        // SAFETY: as above.
        unsafe { give_next(before.without(leaving)?, next, completed) }
    })
}

/// Makes a team with as many ranks as `team`, in which others take the places of those that were lost: new threads, and in a
/// team of processes other processes, which enter a team of this size at the same address, and ask for the ranks that were
/// lost. Else as `corecast_team_without`.
///
/// Threads: one.
///
/// # Safety
///
/// `team` is NULL or a live handle; `next` is NULL or a place for a handle; `completed` is NULL or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_team_refilled(
    team: *const Team,
    next: *mut *mut Team,
    completed: *mut u64,
) -> StatusCode {
    entry(|| {
        if next.is_null() {
            return Err(Refusal::null("next"));
        }
        // SAFETY: the caller's promise, here and below.
        let before = unsafe { self::team(team)? };
        // SAFETY: as above.
        unsafe { give_next(before.refilled()?, next, completed) }
    })
}

/// Gives the next team, and how many operations have completed before.
///
/// # Safety
///
/// `next` is a place for a handle; `completed` is NULL or a place for a number.
unsafe fn give_next(
    successor: Successor,
    next: *mut *mut Team,
    completed: *mut u64,
) -> Result<(), Refusal> {
    if !completed.is_null() {
        // SAFETY: the caller's promise, here and below.
        unsafe { give("completed", completed, successor.completed())? };
    }
    // SAFETY: as above.
    unsafe { give("next", next, Team::boxed(successor.team)) }
}
