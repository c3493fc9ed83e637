//! A team's handle.

use crate::member::Member;
use crate::memory::{give, give_text, to_write};
use crate::status::{Refusal, Status, StatusCode, entry};
use std::ffi::{c_char, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A team of threads, in this process or in several. Free its members before it.
#[derive(Debug)]
pub struct Team {
    inner: corecast::Team,
    /// Whether a rank was joined, by itself or by `corecast_team_run`.
    joined: Mutex<bool>,
}

impl Team {
    pub(crate) fn boxed(inner: corecast::Team) -> *mut Self {
        let joined = Mutex::new(false);
        Box::into_raw(Box::new(Self { inner, joined }))
    }
}

fn lock(joined: &Mutex<bool>) -> MutexGuard<'_, bool> {
    joined.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a thread of `corecast_team_run` does as a rank. It must not unwind: no exception, no
/// `longjmp`.
///
/// # Safety
///
/// `member` is lent for as long as this runs; `context` is what `corecast_team_run` was given.
pub type Body = Option<unsafe extern "C" fn(member: *mut Member, context: *mut c_void)>;

/// What lies behind a handle.
///
/// # Safety
///
/// `team` is NULL or a live handle.
unsafe fn whole<'a>(team: *const Team) -> Result<&'a Team, Refusal> {
    // SAFETY: NULL, or the caller's promise.
    unsafe { team.as_ref() }.ok_or_else(|| Refusal::null("team"))
}

/// The team behind a handle.
///
/// # Safety
///
/// `team` is NULL or a live handle.
unsafe fn team<'a>(team: *const Team) -> Result<&'a corecast::Team, Refusal> {
    // SAFETY: the caller's promise.
    unsafe { whole(team) }.map(|team| &team.inner)
}

/// A team of `ranks` threads of this process, everything chosen by Corecast.
///
/// Threads: any.
///
/// # Safety
///
/// `team` is NULL or a place for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_team_new(ranks: usize, team: *mut *mut Team) -> StatusCode {
    entry(|| {
        if team.is_null() {
            return Err(Refusal::null("team"));
        }
        let built = corecast::team(ranks)?;
        // SAFETY: the caller's promise.
        unsafe { give("team", team, Team::boxed(built)) }
    })
}

/// Frees a team. Ranks that nobody has joined are lost to those who wait for them. NULL is nothing.
///
/// Threads: one.
///
/// # Safety
///
/// `team` is NULL or a live handle, which is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_team_free(team: *mut Team) -> StatusCode {
    entry(|| {
        if !team.is_null() {
            // SAFETY: made by `Team::boxed`, and the caller's promise.
            drop(unsafe { Box::from_raw(team) });
        }
        Ok(())
    })
}

/// Number of ranks, of all processes together; 0 for NULL.
///
/// Threads: any.
///
/// # Safety
///
/// `team` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_team_size(team: *const Team) -> usize {
    // SAFETY: the caller's promise.
    unsafe { self::team(team) }.map_or(0, corecast::Team::size)
}

/// The ranks of this process, in order: all of them, unless other processes bring some. Writes as
/// many as there is room for, and to `count` how many there are.
///
/// Threads: any.
///
/// # Safety
///
/// `team` is NULL or a live handle; `ranks` has room for `capacity` numbers, `count` for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_team_ranks(
    team: *const Team,
    ranks: *mut usize,
    capacity: usize,
    count: *mut usize,
) -> StatusCode {
    entry(|| {
        // SAFETY: the caller's promise, here and below.
        let own = unsafe { self::team(team)? }.ranks();
        let written = own.len().min(capacity);
        if written > 0 && ranks.is_null() {
            return Err(Refusal::null("ranks"));
        }
        for (at, &rank) in own[..written].iter().enumerate() {
            // SAFETY: within the capacity.
            unsafe { ranks.add(at).write(rank) };
        }
        // SAFETY: as above.
        unsafe { give("count", count, own.len()) }
    })
}

/// Runs `body` as every rank of this process, each on a thread of its own, pinned where the team
/// pins, and returns when all have ended. A team runs once, and no rank of it was joined before.
///
/// The first failure of any member, if there was one, is what this returns, too.
///
/// Threads: any, once for each team.
///
/// # Safety
///
/// `team` is NULL or a live handle; `body` may be called from several threads at once with `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_team_run(
    team: *const Team,
    body: Body,
    context: *mut c_void,
) -> StatusCode {
    /// What the caller hands on to all threads.
    #[derive(Clone, Copy)]
    struct Context(*mut c_void);
    // SAFETY: the caller's promise: `body` may be called with it from several threads.
    unsafe impl Sync for Context {}
    impl Context {
        fn get(&self) -> *mut c_void {
            self.0
        }
    }
    let context = Context(context);
    entry(|| {
        // SAFETY: the caller's promise.
        let team = unsafe { whole(team)? };
        let body = body.ok_or_else(|| Refusal::null("body"))?;
        let before = std::mem::replace(&mut *lock(&team.joined), true);
        if before {
            return Err(Refusal::new(
                Status::NotJoined,
                "a team runs once, and only if no rank of it was joined before: make another team",
            ));
        }
        let team = &team.inner;
        team.run(|member| {
            let mut handle = Member::lent(member);
            // SAFETY: the caller's promise; the handle ends before the member is given back.
            unsafe { body(&raw mut *handle, context.get()) };
            // Its team waits for it: it has to leave in a panic as well.
            assert!(!handle.has_left(), "a member has left by a panic");
        });
        match team.failure() {
            Some(failure) => Err(failure.into()),
            None => Ok(()),
        }
    })
}

/// Becomes a member, for those who bring their own threads. Each rank can be joined once. Pins
/// nothing: see `corecast_team_pin_here`.
///
/// Threads: any.
///
/// # Safety
///
/// `team` is NULL or a live handle; `member` is NULL or a place for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_team_join(
    team: *const Team,
    rank: usize,
    member: *mut *mut Member,
) -> StatusCode {
    entry(|| {
        if member.is_null() {
            return Err(Refusal::null("member"));
        }
        // SAFETY: the caller's promise, here and below.
        let team = unsafe { whole(team)? };
        let mut any = lock(&team.joined);
        let joined = team.inner.join(rank)?;
        *any = true;
        drop(any);
        // SAFETY: as above.
        unsafe { give("member", member, Box::into_raw(Member::own(joined))) }
    })
}

/// Pins the calling thread to the PU of `rank`, where the team pins. Says to `pinned`, unless that
/// is NULL, whether the thread is confined to its PU now; a system that refuses is no error. The
/// thread stays pinned after the team is gone.
///
/// Threads: any.
///
/// # Safety
///
/// `team` is NULL or a live handle; `pinned` is NULL or a place for an answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_team_pin_here(
    team: *const Team,
    rank: usize,
    pinned: *mut bool,
) -> StatusCode {
    entry(|| {
        // SAFETY: the caller's promise, here and below.
        let team = unsafe { self::team(team)? };
        let size = team.size();
        if rank >= size {
            return Err(Refusal::invalid(format!(
                "rank {rank} is outside of a team of {size}"
            )));
        }
        let held = team.pin_here(rank) == corecast::Pinning::Held;
        match pinned.is_null() {
            true => Ok(()),
            // SAFETY: as above.
            false => unsafe { give("pinned", pinned, held) },
        }
    })
}

/// What runs, where, why, and how good it is, in words: as much as fits `buffer` with the 0 at its
/// end. Writes the length of the whole text, without that 0, to `length`, unless that is NULL.
///
/// Threads: any.
///
/// # Safety
///
/// `team` is NULL or a live handle; `buffer` has `capacity` bytes; `length` is NULL or a place for a
/// number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_team_explain(
    team: *const Team,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> StatusCode {
    entry(|| {
        // SAFETY: the caller's promise, here and below.
        let text = unsafe { self::team(team)? }.explain().to_string();
        // SAFETY: as above.
        unsafe { give_text(&text, buffer, capacity, length) }
    })
}

/// The first failure of any member as a status, with its text; `CORECAST_STATUS_OK` where there was
/// none.
///
/// Threads: any.
///
/// # Safety
///
/// `team` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_team_failure(team: *const Team) -> StatusCode {
    entry(|| {
        // SAFETY: the caller's promise.
        match unsafe { self::team(team)? }.failure() {
            Some(failure) => Err(failure.into()),
            None => Ok(()),
        }
    })
}

/// The PU of each rank, by the operating system's numbers: as many as there is room for.
///
/// Threads: any.
///
/// # Safety
///
/// `team` is NULL or a live handle; `pus` has room for `capacity` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_team_pus(
    team: *const Team,
    pus: *mut u32,
    capacity: usize,
) -> StatusCode {
    entry(|| {
        // SAFETY: the caller's promise, here and below.
        let all = unsafe { self::team(team)? }.pus();
        let written = all.len().min(capacity);
        // SAFETY: as above; only whether there is room is looked at.
        unsafe { to_write("pus", pus.cast(), written * size_of::<u32>())? };
        for (at, &pu) in all[..written].iter().enumerate() {
            // SAFETY: within the capacity.
            unsafe { pus.add(at).write(pu) };
        }
        Ok(())
    })
}

const _: () = assert!(Status::Ok as i32 == 0, "C tests it as a number");
