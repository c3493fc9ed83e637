//! Layer 6: one call of a collective that is taken over.

use crate::buffers::{Elements, Refused};
use crate::communicators::{self, Communicator, FOR_GOOD, Freeing, Left};
use crate::operators::{self, Operator};
use crate::process;
use crate::race::{Entry, Kind, Races, Turn};
use crate::racing::{Step, Timed, Times};
use crate::ranks::{Fault, Ranks};
use crate::sites;
use crate::teams::{self, Membership, Shared};
use crate::types;
use crate::windows::After;
use corecast::Failure;
use corecast::debug::{Level, say};
use corecast_network::{Handle, Library, NetworkError};
use corecast_wire::exclusive::Unusable;
use std::ffi::{c_int, c_void};
use std::time::Instant;

/// A call, with what all collectives need.
pub(crate) struct Call<'a> {
    pub(crate) ranks: &'a mut Ranks,
    pub(crate) rank: usize,
    pub(crate) size: usize,
    library: &'static Library,
    comm: Handle,
    races: &'a mut Races,
    /// The race that this call is part of, and since when its time is taken.
    timed: Option<(Entry, Instant)>,
    /// Whether further calls like this one may be left to the library, which then are not looked up.
    leaves: bool,
    /// How many are.
    left: u32,
    /// Whether this rank gives itself more than it takes.
    is_cut: bool,
    /// Why this rank has not all of what it takes.
    refused: Option<Refused>,
}

/// What is left of a call: that it ran, or how it ended.
type Ran = Result<(), Fault>;

/// What became of a call.
pub(crate) enum Taken {
    /// It ended with this code of MPI's.
    Done(c_int),
    /// It ended with this code, on several hosts.
    DoneBetween(c_int),
    /// It is the library's.
    Library,
    /// It is the library's, which calls functions of the program's that may call collectives.
    LibraryCallsBack,
    /// It is the library's, which calls functions of the program's while it frees a communicator.
    LibraryFrees(Freeing),
    /// It is the library's, and this comes after it.
    LibraryAnd(After),
    /// It is the library's, on a communicator whose calls are [counted](Communicator::counted).
    LibraryCounted(&'static Communicator),
    /// It is the library's, and the time is to be [noted](note), since then.
    LibraryTimed(Handle, Entry, Instant),
}

impl Taken {
    /// A call that has ended with this code, or is the library's.
    pub(crate) fn of(code: Option<c_int>) -> Self {
        code.map_or(Self::Library, Self::Done)
    }

    /// A call of the library's, which frees a communicator.
    pub(crate) fn freeing(freeing: Option<Freeing>) -> Self {
        freeing.map_or(Self::Library, Self::LibraryFrees)
    }

    /// A call of the library's, after which there is something left to do or not.
    pub(crate) fn before(after: Option<After>) -> Self {
        after.map_or(Self::Library, Self::LibraryAnd)
    }
}

/// Runs `body` as a collective on the communicator. The call is the library's if `body` says so before it has called anything:
/// for arguments that the library refuses, and for what all ranks leave to it.
#[inline]
pub(crate) fn run(raw: Handle, body: impl FnOnce(&mut Call<'_>) -> Option<Ran>) -> Taken {
    served(raw).map_or(Taken::Library, |found| run_on(found, raw, body))
}

/// [`run`] on a communicator that was found.
#[inline]
fn run_on(found: Served, raw: Handle, body: impl FnOnce(&mut Call<'_>) -> Option<Ran>) -> Taken {
    let ran = with_membership(found, |shared, membership, library, rank, size| {
        let comm = library.handle(raw);
        if let Some(caller) = sites::caller() {
            membership.ranks.set_caller(caller);
        }
        let mut call = Call {
            ranks: &mut membership.ranks,
            rank,
            size,
            library,
            comm,
            races: &mut membership.races,
            timed: None,
            leaves: false,
            left: 0,
            is_cut: false,
            refused: None,
        };
        // A panic ends the process, as it cannot leave a function of C.
        let ran = body(&mut call);
        let (timed, is_cut, refused) = (call.timed, call.is_cut, call.refused);
        match ran {
            Some(ran) => {
                if let Some((entry, began)) = timed {
                    membership.races.note(entry, began);
                }
                let (code, is_raised) = match (ran, refused) {
                    // Where nothing returns errors, the handler was called already.
                    (Ok(()), Some(Refused(code))) => (code, process::quiet().is_some()),
                    (Ok(()), None) if is_cut => (library.dialect().truncated(), true),
                    (Ok(()), None) => (0, false),
                    (Err(fault), _) => {
                        teams::forget(shared);
                        (code_of(library, &fault), true)
                    }
                };
                membership.ended_call();
                let taken = match membership.ranks.is_spread() {
                    true => Taken::DoneBetween(code),
                    false => Taken::Done(code),
                };
                (taken, is_raised.then_some(code))
            }
            None => {
                let taken = timed.map_or(Taken::Library, |(entry, began)| {
                    Taken::LibraryTimed(comm, entry, began)
                });
                (taken, None)
            }
        }
    });
    match ran {
        Some((taken, None)) => taken,
        Some((taken, Some(code))) => {
            // The call has left the team by now: the handler may call collectives, or never return.
            raise(found.0, found.0.handle(raw), code);
            taken
        }
        None if found.1.is_counting() => Taken::LibraryCounted(found.1),
        None => Taken::Library,
    }
}

/// Whether a race has left a call to the library: it is found by its arguments, before anything else is looked up.
#[inline(always)]
pub(crate) fn is_left(raw: Handle, left: Option<Left>) -> bool {
    left.is_some_and(|left| communicators::has_left(raw, &left))
}

/// [`run`] for a reduction, which may be left to the library from now on.
#[inline]
pub(crate) fn run_reduction(
    raw: Handle,
    left: Left,
    body: impl FnOnce(&mut Call<'_>) -> Option<Ran>,
) -> Taken {
    run_and_leave(raw, Some(left), true, body)
}

/// [`run`] for a collective that moves data, which may be left to the library for good.
#[inline]
pub(crate) fn run_move(
    raw: Handle,
    left: Option<Left>,
    body: impl FnOnce(&mut Call<'_>) -> Option<Ran>,
) -> Taken {
    // While it is raced each call is looked up: ranks may give the same data by other types, and count them apart.
    run_and_leave(raw, left, false, body)
}

/// [`run`], and leaves the calls to the library that a race says. None are left where calls are recorded: each of them is noted.
#[inline]
fn run_and_leave(
    raw: Handle,
    left: Option<Left>,
    leaves: bool,
    body: impl FnOnce(&mut Call<'_>) -> Option<Ran>,
) -> Taken {
    let Some(found @ (library, communicator)) = served(raw) else {
        return Taken::Library;
    };
    // Most calls have looked already. Those on a communicator whose place another one has taken meanwhile have not.
    if left.is_some_and(|left| communicator.has_left(&left)) {
        return Taken::Library;
    }
    let mut calls = 0;
    let taken = run_on(found, raw, |call| {
        call.leaves = leaves && !sites::is_asked();
        let ran = body(call);
        calls = call.left;
        ran
    });
    if calls > 0 {
        leave(library, communicator, left, calls);
    }
    taken
}

/// Leaves a call of constant meaning to the library for so many calls.
#[cold]
#[inline(never)]
fn leave(library: &Library, communicator: &Communicator, left: Option<Left>, calls: u32) {
    let is_constant =
        |left: &Left| left.datatype == 0 || types::is_predefined(library, left.datatype);
    if let Some(left) = left.filter(is_constant)
        && !sites::is_asked()
    {
        communicator.leave(&left, calls);
    }
}

/// Notes the time when a call of the library's has ended that is part of a race.
#[cold]
pub(crate) fn note(comm: Handle, entry: Entry, began: Instant) {
    let found = served(comm);
    found.and_then(|found| {
        with_membership(found, |_, membership, _, _, _| {
            membership.races.note(entry, began)
        })
    });
}

/// The library, and a communicator that Corecast serves.
type Served = (&'static Library, &'static Communicator);

/// A communicator, unless its calls are the library's.
#[inline]
fn served(raw: Handle) -> Option<Served> {
    let library = process::library().filter(|_| process::is_on())?;
    Some((library, communicators::served(library, raw)?))
}

/// Runs `body` with what this rank has of the communicator's team; `None` if the call is the library's.
#[inline]
fn with_membership<R>(
    (library, communicator): Served,
    body: impl FnOnce(&Shared, &mut Membership, &'static Library, usize, usize) -> R,
) -> Option<R> {
    communicator.with(library, |shared, rank, size| {
        // SAFETY: MPI allows one collective at a time on a communicator, and `Shared` says why one on several of them.
        let ran: Result<R, Unusable> = unsafe {
            let on_membership =
                |membership: &mut Membership| Ok(body(shared, membership, library, rank, size));
            shared.membership.with(|why| why, on_membership)
        };
        ran.ok()
    })
}

/// Says what has failed, and MPI's code for it.
#[cold]
fn code_of(library: &Library, fault: &Fault) -> c_int {
    say(Level::Warn, || format!("MPI: {fault}"));
    match fault {
        Fault::Network(NetworkError::Call { code, .. }) => *code,
        Fault::Host(Failure::Length { .. }) | Fault::Network(NetworkError::Length { .. }) => {
            library.dialect().truncated()
        }
        _ => library.dialect().other_error(),
    }
}

/// Calls the communicator's error handler.
#[cold]
fn raise(library: &Library, comm: Handle, code: c_int) {
    // SAFETY: a communicator that the program has just given.
    unsafe { (library.functions().comm_call_errhandler)(comm, code) };
}

impl Call<'_> {
    /// Whether what this rank sends begins where the same is received. MPI forbids that; `None` if the library refuses it, which
    /// some do where both are `alike`: of one number of elements of one type, without gaps. Others let programs do so, and so
    /// does this.
    #[inline]
    pub(crate) fn is_aliased(
        &self,
        sent: *const c_void,
        received: *const c_void,
        (bytes, alike): (usize, bool),
    ) -> Option<bool> {
        // Data types may have addresses of their own, which count from null.
        let is_same = sent == received && !sent.is_null() && bytes > 0;
        let is_refused = is_same && alike && self.library.refuses_aliases();
        (!is_refused).then_some(is_same)
    }

    /// Goes on if this call runs on the team, and not if it is the library's; `bytes` is the same on all ranks. If the library
    /// may win, the two are raced.
    #[inline]
    pub(crate) fn take(&mut self, kind: Kind, bytes: usize) -> Option<()> {
        let (entry, ranks) = (Entry::of(kind, bytes), &mut *self.ranks);
        let greatest = |mut times: Times| {
            let found = ranks.greatest(&mut times);
            found.ok().map(|()| times)
        };
        match self.races.turn(entry, bytes, greatest) {
            Turn::Team => Some(()),
            Turn::Library => {
                self.left = FOR_GOOD;
                None
            }
            Turn::Raced(step) => self.race(entry, step),
        }
    }

    /// [`take`](Self::take) for operations of which a rank knows its own lengths alone, so that all lengths share one race. Two ranks
    /// know the same: `between` says how many bytes pass to and from the other one.
    #[inline]
    pub(crate) fn take_of_any_lengths(
        &mut self,
        kind: Kind,
        between: impl FnOnce(usize) -> usize,
    ) -> Option<()> {
        // One race for all lengths would keep long ones where short ones are faster: who acts for a host copies what the others
        // send at the same time.
        if self.ranks.is_spread() && process::races() {
            return None;
        }
        if self.size != 2 {
            return self.take(kind, 0);
        }
        let taken = self.take(kind, between(1 - self.rank));
        // Other lengths are not left to the library with this one.
        self.left = 0;
        taken
    }

    /// A call that is part of a race.
    #[cold]
    fn race(&mut self, entry: Entry, step: Step) -> Option<()> {
        if self.leaves && !step.on_team {
            // As after the race.
            self.left = self.races.skip_between(entry);
        }
        if step.meets {
            // A failure of the team is told by the operation itself, or by the next one.
            let _ = self.ranks.barrier();
        }
        self.timed = match step.timed {
            Timed::No => None,
            Timed::Call => Some((entry, Instant::now())),
            Timed::Since(began) => Some((entry, began)),
        };
        step.on_team.then_some(())
    }

    /// Notes that this rank gives itself another number of bytes than it takes. All other ranks are in the operation, and it
    /// runs; afterwards the rank hears of what was cut, as a library reports it, while less is no error to one.
    #[cold]
    pub(crate) fn differs(&mut self, given: usize, taken: usize) {
        self.is_cut |= given > taken;
        say(Level::Warn, || {
            format!("MPI: a rank gives itself {given} bytes where it expects {taken}")
        });
    }

    /// Notes how the library has written what this rank takes. If it has refused to, the program hears of it when the operation
    /// has ended.
    #[inline]
    pub(crate) fn wrote(&mut self, written: Result<(), Refused>) {
        self.refused = self.refused.or(written.err());
    }

    /// A root, if it is one.
    #[inline]
    pub(crate) fn root(&self, root: c_int) -> Option<usize> {
        usize::try_from(root).ok().filter(|&root| root < self.size)
    }

    /// A data type, if it is one.
    #[inline]
    pub(crate) fn elements(&self, datatype: Handle) -> Option<Elements<'static>> {
        let (library, comm) = (self.library, self.comm);
        let found = types::of(library, datatype)?;
        let datatype = library.handle(datatype);
        Some(Elements {
            library,
            comm,
            datatype,
            found,
        })
    }

    /// Goes on if what is given is of a type that is committed: else it could not be packed when others wait for it. One of what is
    /// only taken is refused by those libraries that look, and crashes others; here it is an error when the operation has ended.
    #[inline]
    pub(crate) fn committed(&self, elements: &Elements<'_>) -> Option<()> {
        let takes = |quiet| self.library.takes_type(quiet, elements.datatype);
        let is_predefined = elements.found.class.is_some();
        (is_predefined || process::on_quiet(takes).unwrap_or(true)).then_some(())
    }

    /// The operator of a reduction, with the type of its elements; `None` if all ranks leave the pair to the library.
    #[inline]
    pub(crate) fn operator(
        &self,
        datatype: Handle,
        op: Handle,
    ) -> Option<(Elements<'static>, Operator<'static>)> {
        let elements = self.elements(datatype)?;
        let operator = operators::of(self.library, (datatype, elements.found), op)?;
        let can = self.ranks.keeps_order() || !operator.as_combine().ordered();
        can.then_some((elements, operator))
    }

    /// Whether a buffer is `MPI_IN_PLACE`.
    #[inline]
    pub(crate) fn is_in_place(&self, buffer: *const c_void) -> bool {
        buffer == self.library.dialect().in_place()
    }

    /// Whether a buffer can have `count` elements, none of which lie in place.
    #[inline]
    pub(crate) fn is_buffer(
        &self,
        buffer: *const c_void,
        elements: &Elements<'_>,
        count: usize,
    ) -> bool {
        let is_somewhere =
            !buffer.is_null() || elements.bytes(count) == 0 || !elements.found.is_dense;
        is_somewhere && !self.is_in_place(buffer)
    }
}

/// A number of elements, if it is one.
#[inline]
pub(crate) fn count(count: impl TryInto<usize>) -> Option<usize> {
    count.try_into().ok()
}
