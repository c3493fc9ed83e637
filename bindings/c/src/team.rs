//! The handle of a team.

use crate::member::Member;
use crate::memory::{give, give_text, to_write};
use crate::status::{Refusal, Status, StatusCode, entry};
use std::ffi::{c_char, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A team of threads, in this process or in several. Free its members before it.
#[derive(Debug)]
pub struct Team {
    inner: corecast::Team,
    /// Whether a rank was joined by itself, or a run goes on, or has panicked.
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

/// What each thread of `corecast_team_run` does as a rank. `member` is lent for as long as this runs;
/// `context` is what `corecast_team_run` was given. It must not unwind: no exception, no `longjmp`.
pub type Body = Option<unsafe extern "C" fn(member: *mut Member, context: *mut c_void)>;

/// The handle's own data.
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
pub(crate) unsafe fn team<'a>(team: *const Team) -> Result<&'a corecast::Team, Refusal> {
    // SAFETY: the caller's promise.
    unsafe { whole(team) }.map(|team| &team.inner)
}

/// Makes a team of `ranks` threads of this process. Corecast chooses everything else.
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

/// Frees a team. Whoever waits for a rank that nobody has joined gets an error. NULL is allowed and
/// does nothing.
///
/// Threads: one.
///
/// # Safety
///
/// `team` is NULL or a live handle, which is not used afterwards.
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

/// The number of ranks, of all processes together; 0 for NULL.
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

/// Writes the ranks of this process, in order, as many as there is room for, and to `count` how many
/// there are. They are all ranks, unless other processes bring some.
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
/// pins, and returns when all have ended. It can be called again, as long as no rank was joined by itself. Ranks of
/// other processes wait for the next run, or until this process frees the team.
///
/// Returns the first failure of any member, if there was one.
///
/// Threads: any, one at a time.
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
    /// The context that is passed to the body on all threads.
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
                "a team runs if no rank of it was joined by itself, once at a time: make another team",
            ));
        }
        let Team {
            inner: team,
            joined,
        } = team;
        team.run(|member| {
            let mut handle = Member::lent(member);
            // SAFETY: the caller's promise; the handle ends before the member is given back.
            unsafe { body(&raw mut *handle, context.get()) };
            // A member that a panic has taken out of its team must leave here by a panic too, so that the
            // others do not wait for it.
            assert!(!handle.has_left(), "a member has left by a panic");
        });
        *lock(joined) = false;
        match team.failure() {
            Some(failure) => Err(failure.into()),
            None => Ok(()),
        }
    })
}

/// Makes the caller a member, for programs that bring their own threads. Each rank can be joined once.
/// This pins nothing; `corecast_team_pin_here` does.
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

/// Pins the calling thread to the PU of `rank`, where the team pins. Writes to `pinned`, unless that is
/// NULL, whether the thread is confined to its PU now; a system that refuses is no error. The thread
/// stays pinned after the team is freed.
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

/// Writes what runs, where, why, and how good it is, in words: as much as fits `buffer` with the 0 at
/// its end. Writes the length of the whole text, without that 0, to `length`, unless that is NULL.
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

/// Returns the first failure of any member, with its text; `CORECAST_STATUS_OK` if there was none.
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

/// Writes the PU of each rank, by the operating system's numbers, as many as there is room for.
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
