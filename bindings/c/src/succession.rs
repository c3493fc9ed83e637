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
    let goes_on = |before: &corecast::Team| {
        let leaving = match count {
            0 => &[],
            // SAFETY: the caller's promise.
            _ => unsafe { numbers("leaving", leaving, count)? },
        };
        let own = before.ranks();
        if let Some(rank) = leaving.iter().find(|rank| !own.contains(rank)) {
            return Err(Refusal::invalid(format!(
                "rank {rank} is not of this process, whose ranks are {own:?}"
            )));
        }
        Ok(before.without(leaving)?)
    };
    // SAFETY: the caller's promise.
    unsafe { succeed(team, next, completed, goes_on) }
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
    // SAFETY: the caller's promise.
    unsafe { succeed(team, next, completed, |before| Ok(before.refilled()?)) }
}

/// Gives the team by which another one `goes_on`, and how many operations have completed before.
///
/// # Safety
///
/// `team` is NULL or a live handle; `next` is NULL or a place for a handle; `completed` is NULL or a place for a number.
unsafe fn succeed(
    team: *const Team,
    next: *mut *mut Team,
    completed: *mut u64,
    goes_on: impl FnOnce(&corecast::Team) -> Result<Successor, Refusal>,
) -> StatusCode {
    entry(|| {
        if next.is_null() {
            return Err(Refusal::null("next"));
        }
        // SAFETY: the caller's promise, here and below.
        let successor = goes_on(unsafe { self::team(team)? })?;
        if !completed.is_null() {
            // SAFETY: as above.
            unsafe { give("completed", completed, successor.completed())? };
        }
        // SAFETY: as above.
        unsafe { give("next", next, Team::boxed(successor.team)) }
    })
}
