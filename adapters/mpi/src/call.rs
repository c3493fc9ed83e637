//! Layer 6: one call of a collective that is taken over.

use crate::buffers::Elements;
use crate::communicators;
use crate::operators::{self, Operator};
use crate::process;
use crate::types;
use corecast::debug::{Level, say};
use corecast::{Failure, Member};
use corecast_network::{Handle, Library};
use corecast_wire::exclusive::Unusable;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A call, with what all collectives need.
pub(crate) struct Call<'a> {
    pub(crate) member: &'a mut Member,
    pub(crate) rank: usize,
    pub(crate) size: usize,
    library: &'static Library,
    comm: Handle,
}

/// What is left of a call: that it ran, or how it ended.
type Ran = Result<(), Failure>;

/// Runs `body` as a collective on the communicator; `None` if the call is the library's. It is if `body` says so before it
/// has called anything: for arguments that the library refuses, and for what all ranks leave to it.
#[inline]
pub(crate) fn run(raw: Handle, body: impl FnOnce(&mut Call<'_>) -> Option<Ran>) -> Option<c_int> {
    if !process::is_on() {
        return None;
    }
    let library = process::library()?;
    let communicator = communicators::served(library, raw)?;
    communicator.with(library, |shared, rank, size| {
        let comm = library.handle(raw);
        let on_member = |member: &mut Member| {
            let mut call = Call {
                member,
                rank,
                size,
                library,
                comm,
            };
            // A panic must not leave a function of C.
            match catch_unwind(AssertUnwindSafe(|| body(&mut call))) {
                Ok(ran) => Ok(ran.map(|ran| match ran {
                    Ok(()) => 0,
                    Err(failure) => failed(library, comm, &failure),
                })),
                Err(_) => Ok(Some(raise(library, comm, library.dialect().other_error()))),
            }
        };
        // SAFETY: MPI allows one collective at a time on a communicator, and `Shared` says why one on several of them.
        let ran: Result<Option<c_int>, Unusable> =
            unsafe { shared.member.with(|why| why, on_member) };
        ran.unwrap_or_else(|_| Some(raise(library, comm, library.dialect().other_error())))
    })
}

/// Reports a failure as MPI's error handler of the communicator wants it.
#[cold]
fn failed(library: &Library, comm: Handle, failure: &Failure) -> c_int {
    say(Level::Warn, || format!("MPI: {failure}"));
    let code = match failure {
        Failure::Length { .. } => library.dialect().truncated(),
        _ => library.dialect().other_error(),
    };
    raise(library, comm, code)
}

#[cold]
fn raise(library: &Library, comm: Handle, code: c_int) -> c_int {
    // SAFETY: a communicator that the program has just given.
    unsafe { (library.functions().comm_call_errhandler)(comm, code) };
    code
}

impl<'a> Call<'a> {
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

    /// The operator of a reduction, with the type of its elements; `None` if all ranks leave the pair to the library.
    #[inline]
    pub(crate) fn operator(
        &self,
        datatype: Handle,
        op: Handle,
    ) -> Option<(Elements<'static>, Operator<'static>)> {
        let elements = self.elements(datatype)?;
        let operator = operators::of(self.library, (datatype, elements.found), op)?;
        Some((elements, operator))
    }

    /// Whether a buffer is `MPI_IN_PLACE`.
    #[inline]
    pub(crate) fn is_in_place(&self, buffer: *const c_void) -> bool {
        buffer == self.library.dialect().in_place()
    }

    /// Whether a buffer can have `count` elements.
    #[inline]
    pub(crate) fn is_buffer(
        &self,
        buffer: *const c_void,
        elements: &Elements<'_>,
        count: usize,
    ) -> bool {
        !buffer.is_null() || elements.bytes(count) == 0 || !elements.found.is_dense
    }
}

/// A number of elements, if it is one.
#[inline]
pub(crate) fn count(count: impl TryInto<usize>) -> Option<usize> {
    count.try_into().ok()
}
