//! The handle of a rank.

use crate::status::{Refusal, Status, StatusCode, entry};
use corecast_wire::exclusive::{Exclusive, Unusable};
use std::ptr::NonNull;

/// One rank of a team. One thread at a time may use it. Freeing it means leaving the team: whoever
/// waits for it then fails.
#[derive(Debug)]
pub struct Member {
    rank: usize,
    size: usize,
    /// Whether it belongs to `corecast_team_run`, which frees it.
    is_lent: bool,
    state: Exclusive<State>,
}

/// The part of a handle that one call at a time uses.
#[derive(Debug)]
pub(crate) struct State {
    owner: Owner,
    /// Room for counts and displacements in bytes, kept from call to call.
    scratch: Vec<usize>,
}

#[derive(Debug)]
enum Owner {
    /// The caller has joined.
    Caller(Box<corecast::Member>),
    /// `corecast_team_run` has joined, and lends the member for as long as its body runs.
    Run(NonNull<corecast::Member>),
}

impl Member {
    /// The handle of a member that belongs to the caller.
    pub(crate) fn own(member: corecast::Member) -> Box<Self> {
        let (rank, size) = (member.rank(), member.size());
        Self::new(rank, size, Owner::Caller(Box::new(member)))
    }

    /// The handle of a member that is lent. It must not be used when `member` is no longer lent.
    pub(crate) fn lent(member: &mut corecast::Member) -> Box<Self> {
        let (rank, size) = (member.rank(), member.size());
        Self::new(rank, size, Owner::Run(NonNull::from(member)))
    }

    fn new(rank: usize, size: usize, owner: Owner) -> Box<Self> {
        let is_lent = matches!(owner, Owner::Run(_));
        let scratch = Vec::new();
        let state = Exclusive::new(State { owner, scratch });
        Box::new(Self {
            rank,
            size,
            is_lent,
            state,
        })
    }

    /// Whether the member has left its team by a panic.
    pub(crate) fn has_left(&mut self) -> bool {
        self.state.is_dropped()
    }

    #[cold]
    fn refuse(&self, why: Unusable) -> Refusal {
        match why {
            Unusable::Busy => Refusal::new(
                Status::Busy,
                format!(
                    "rank {} is in a call already, on another thread, in operations in flight, or in its \
                     own operator: a member does one thing at a time",
                    self.rank
                ),
            ),
            Unusable::Dropped => Refusal::new(
                Status::Left,
                "this member has left its team, because Corecast panicked in a call before: free it",
            ),
        }
    }
}

impl State {
    /// The member, and room for counts and displacements.
    #[inline(always)]
    pub(crate) fn with_scratch(&mut self) -> (&mut corecast::Member, &mut Vec<usize>) {
        let member = match &mut self.owner {
            Owner::Caller(member) => &mut **member,
            // SAFETY: it is lent for as long as the handle is used (`Member::lent`), to one call at a time.
            Owner::Run(member) => unsafe { member.as_mut() },
        };
        (member, &mut self.scratch)
    }

    /// The member.
    #[inline(always)]
    pub(crate) fn member(&mut self) -> &mut corecast::Member {
        self.with_scratch().0
    }
}

/// The member behind a handle.
///
/// # Safety
///
/// `member` is NULL or a live handle.
#[inline(always)]
pub(crate) unsafe fn of_handle<'a>(member: *const Member) -> Result<&'a Member, Refusal> {
    // SAFETY: NULL, or the caller's promise.
    unsafe { member.as_ref() }.ok_or_else(|| Refusal::null("member"))
}

/// Runs `body` on a member, inside of an `entry`. A call is refused while another one uses the member.
///
/// # Safety
///
/// No other thread begins a call on this member at this very instant.
#[inline(always)]
pub(crate) unsafe fn using(
    member: &Member,
    body: impl FnOnce(&mut State) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    // SAFETY: the caller's promise.
    unsafe { member.state.with(|why| member.refuse(why), body) }
}

/// The body of every function that uses a member: it runs `entry`, checks the handle, and calls `using`.
///
/// # Safety
///
/// `member` is NULL, or a live handle on which no other thread begins a call at this very instant.
#[inline(always)]
pub(crate) unsafe fn call(
    member: *const Member,
    body: impl FnOnce(&mut State) -> Result<(), Refusal>,
) -> Status {
    // SAFETY: the caller's promise.
    entry(|| unsafe { using(of_handle(member)?, body) })
}

/// The rank of a member; 0 for NULL.
///
/// Threads: any.
///
/// # Safety
///
/// `member` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_member_rank(member: *const Member) -> usize {
    // SAFETY: the caller's promise; these fields never change.
    unsafe { member.as_ref() }.map_or(0, |member| member.rank)
}

/// The number of ranks of a member's team; 0 for NULL.
///
/// Threads: any.
///
/// # Safety
///
/// `member` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_member_size(member: *const Member) -> usize {
    // SAFETY: as in `corecast_member_rank`.
    unsafe { member.as_ref() }.map_or(0, |member| member.size)
}

/// Leaves the team and frees a member that `corecast_team_join` gave. `corecast_team_run` frees its
/// members itself, and they are refused here. NULL is allowed and does nothing.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle, which is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_member_free(member: *mut Member) -> StatusCode {
    entry(|| {
        if member.is_null() {
            return Ok(());
        }
        // SAFETY: not NULL, and the caller's promise.
        let handle = unsafe { &*member };
        if handle.is_lent {
            return Err(Refusal::invalid(
                "this member is that of corecast_team_run, which frees it itself",
            ));
        }
        // SAFETY: the caller's promise.
        let usable = unsafe { handle.state.with(|why| why, |_| Ok(())) };
        if usable == Err(Unusable::Busy) {
            return Err(handle.refuse(Unusable::Busy));
        }
        // SAFETY: `Member::own` made it, no call is under way, and nobody uses it afterwards.
        drop(unsafe { Box::from_raw(member) });
        Ok(())
    })
}

/// Cancels every operation of the team from this member's next one on: whoever waits in such an
/// operation, or starts one, gets `CORECAST_STATUS_CANCELLED` and goes on. Operations before it
/// complete for all, as this member has done its part in them. It is for teams in which some member
/// will not come to the operation in which the others wait. The team is of no further use afterwards.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_cancel(member: *mut Member) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |state| {
            state.member().cancel();
            Ok(())
        })
    }
}
