//! A rank's handle.

use crate::status::{Refusal, Status, StatusCode, entry};
use corecast_wire::Flag;
use std::cell::UnsafeCell;
use std::ptr::NonNull;

/// A rank of a team. One thread at a time may use it. Freeing it means leaving: whoever waits for it
/// fails.
#[derive(Debug)]
pub struct Member {
    /// 1 while a call is under way.
    busy: Flag,
    rank: usize,
    size: usize,
    hand: UnsafeCell<Hand>,
}

/// What one call at a time uses.
#[derive(Debug)]
pub(crate) struct Hand {
    whose: Whose,
    /// Counts and displacements in bytes.
    pub(crate) scratch: Vec<usize>,
}

#[derive(Debug)]
enum Whose {
    /// Joined by the caller.
    Own(Box<corecast::Member>),
    /// That of `corecast_team_run`, for as long as its body runs.
    Lent(NonNull<corecast::Member>),
    /// It has left.
    Nobody,
}

impl Member {
    pub(crate) fn own(member: corecast::Member) -> Box<Self> {
        let (rank, size) = (member.rank(), member.size());
        Self::new(rank, size, Whose::Own(Box::new(member)))
    }

    /// The handle must not be used when `member` is no longer lent.
    pub(crate) fn lent(member: &mut corecast::Member) -> Box<Self> {
        let (rank, size) = (member.rank(), member.size());
        Self::new(rank, size, Whose::Lent(NonNull::from(member)))
    }

    fn new(rank: usize, size: usize, whose: Whose) -> Box<Self> {
        let scratch = Vec::new();
        Box::new(Self {
            busy: Flag::default(),
            rank,
            size,
            hand: UnsafeCell::new(Hand { whose, scratch }),
        })
    }

    /// Whether a lent member has panicked.
    pub(crate) fn has_left(&mut self) -> bool {
        matches!(self.hand.get_mut().whose, Whose::Nobody)
    }
}

impl Hand {
    /// The member, and room for parts.
    #[inline(always)]
    pub(crate) fn both(&mut self) -> Result<(&mut corecast::Member, &mut Vec<usize>), Refusal> {
        let member = match &mut self.whose {
            Whose::Own(member) => &mut **member,
            // SAFETY: lent for as long as the handle is used (`Member::lent`), to one call at a time.
            Whose::Lent(member) => unsafe { member.as_mut() },
            Whose::Nobody => {
                return Err(Refusal::new(
                    Status::Left,
                    "this member has left its team, because Corecast panicked in a call before: free it",
                ));
            }
        };
        Ok((member, &mut self.scratch))
    }

    #[inline(always)]
    pub(crate) fn member(&mut self) -> Result<&mut corecast::Member, Refusal> {
        self.both().map(|(member, _)| member)
    }
}

/// A call that is under way. In a panic the member leaves, so that nobody waits for it for ever.
struct Call<'a>(&'a Member);

impl Drop for Call<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if std::thread::panicking() {
            // SAFETY: this call has the hand.
            let hand = unsafe { &mut *self.0.hand.get() };
            hand.whose = Whose::Nobody;
        }
        self.0.busy.raise(0);
    }
}

/// Runs a call on a member.
///
/// # Safety
///
/// `member` is NULL, or a live handle that no other thread uses at this moment. A thread that uses it
/// all the same is noticed by its mark unless both come at the very same time.
#[inline(always)]
pub(crate) unsafe fn call(
    member: *const Member,
    body: impl FnOnce(&mut Hand) -> Result<(), Refusal>,
) -> Status {
    entry(|| {
        // SAFETY: NULL, or the caller's promise.
        let Some(member) = (unsafe { member.as_ref() }) else {
            return Err(Refusal::null("member"));
        };
        if member.busy.seq() != 0 {
            return Err(Refusal::new(
                Status::Busy,
                format!(
                    "rank {} is in a call already, on another thread, in operations in flight, or in its \
                     own operator: a member does one thing at a time",
                    member.rank
                ),
            ));
        }
        member.busy.raise(1);
        let call = Call(member);
        // SAFETY: nobody else is in a call, as was just seen, and the caller's promise.
        body(unsafe { &mut *call.0.hand.get() })
    })
}

/// This rank; 0 for NULL.
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

/// Number of ranks of its team; 0 for NULL.
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

/// Leaves the team, and frees a member that `corecast_team_join` gave. Those of `corecast_team_run`
/// are freed by it alone. NULL is nothing.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle, which is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_member_free(member: *mut Member) -> StatusCode {
    if member.is_null() {
        return Status::Ok;
    }
    // SAFETY: not NULL, and the caller's promise.
    let checked = unsafe {
        call(member, |hand| match hand.whose {
            Whose::Lent(_) => Err(Refusal::invalid(
                "this member is that of corecast_team_run, which frees it itself",
            )),
            _ => Ok(()),
        })
    };
    match checked {
        Status::Ok => entry(|| {
            // SAFETY: it was made by `Member::own`, and nobody uses it any more.
            drop(unsafe { Box::from_raw(member) });
            Ok(())
        }),
        refused => refused,
    }
}
