//! Layer 7: collectives that move data.
//!
//! What a rank leaves to the library, all ranks must. So only what is wrong on this rank alone, which the library then
//! refuses before it sends anything, depends on this rank's own arguments. What is raced is told apart by what all ranks know
//! of the length, which is nothing where each rank has its own.

use crate::buffers::{Block, Bytes};
use crate::call::{Call, Taken, count, run, run_move};
use crate::communicators::Left;
use crate::parts::{Counts, Layout, total};
use crate::process;
use crate::race::Kind;
use corecast_network::Handle;
use std::borrow::Cow;
use std::ffi::{c_int, c_void};

/// A buffer, its elements' number and type.
#[derive(Clone, Copy)]
pub(crate) struct Sent(pub(crate) *const c_void, pub(crate) i64, pub(crate) Handle);

/// A buffer, its elements' number and type.
#[derive(Clone, Copy)]
pub(crate) struct Received(pub(crate) *mut c_void, pub(crate) i64, pub(crate) Handle);

/// A buffer with parts for each rank, and their type.
#[derive(Clone, Copy)]
pub(crate) struct PartsOf<B, C>(pub(crate) B, pub(crate) C, pub(crate) Handle);

impl Sent {
    /// What a call is known by that has sent this, unless it was in place.
    #[inline(always)]
    pub(crate) fn of(self, kind: Kind) -> Option<Left> {
        let library = process::library_found()?;
        let Self(data, count, datatype) = self;
        let left = Left {
            kind,
            count,
            datatype,
            op: 0,
        };
        (data != library.dialect().in_place()).then_some(left)
    }

    /// Whether it has as many elements of the same type.
    #[inline]
    fn is_like(self, received: Received) -> bool {
        (self.1, self.2) == (received.1, received.2)
    }
}

impl Received {
    /// What a call is known by that has received this, unless it was in place.
    #[inline(always)]
    pub(crate) fn of(self, kind: Kind) -> Option<Left> {
        Sent(self.0, self.1, self.2).of(kind)
    }
}

/// What a gather is known by.
#[inline(always)]
pub(crate) fn gathered(sent: Sent, received: Received) -> Option<Left> {
    let sent = sent.of(Kind::Gather);
    sent.or_else(|| received.of(Kind::Gather))
}

/// What a scatter is known by.
#[inline(always)]
pub(crate) fn scattered(sent: Sent, received: Received) -> Option<Left> {
    let received = received.of(Kind::Scatter);
    received.or_else(|| sent.of(Kind::Scatter))
}

/// What all calls of a kind are known by.
#[inline(always)]
pub(crate) fn any(kind: Kind) -> Option<Left> {
    Some(Left {
        kind,
        count: 0,
        datatype: 0,
        op: 0,
    })
}

/// What a rank gives.
enum Own {
    /// From a buffer of its own.
    Apart(Block),
    /// From where it lies in the buffer that is written.
    InPlace(Block),
}

impl Own {
    /// The bytes; a copy of what lies in place.
    ///
    /// # Safety
    ///
    /// The program gave them to be read.
    unsafe fn read(&self) -> Cow<'static, [u8]> {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Apart(block) => block.read(),
                Self::InPlace(block) => block.read().into_owned().into(),
            }
        }
    }
}

impl Call<'_> {
    #[inline(always)]
    fn block(&self, start: *mut c_void, number: i64, datatype: Handle) -> Option<Block> {
        let block = Block {
            start,
            count: count(number)?,
            elements: self.elements(datatype)?,
        };
        self.is_buffer(start, &block.elements, block.count)
            .then_some(block)
    }

    /// Parts of all ranks, none of which lie in place.
    ///
    /// # Safety
    ///
    /// See [`Layout::of`].
    unsafe fn parts<C: Counts>(
        &self,
        start: *mut c_void,
        parts: C,
        datatype: Handle,
    ) -> Option<Layout<C>> {
        let elements = self.elements(datatype)?;
        // SAFETY: the caller's promise.
        let layout = unsafe { Layout::of(start, parts, self.size, elements) }?;
        (!self.is_in_place(start)).then_some(layout)
    }

    /// The same of parts that are sent.
    ///
    /// # Safety
    ///
    /// See [`Layout::of`].
    unsafe fn sent_parts<C: Counts>(
        &self,
        PartsOf(start, parts, datatype): PartsOf<*const c_void, C>,
    ) -> Option<Layout<C>> {
        // SAFETY: the caller's promise.
        let layout = unsafe { self.parts(start.cast_mut(), parts, datatype) }?;
        self.committed(&layout.part(0).elements)?;
        Some(layout)
    }

    #[inline(always)]
    fn sent(&self, sent: Sent) -> Option<Block> {
        let block = self.block(sent.0.cast_mut(), sent.1, sent.2)?;
        self.committed(&block.elements)?;
        Some(block)
    }

    /// What is sent, each for so many ranks, or the block in which it lies in place, which may be `alike`.
    #[inline(always)]
    fn own(&self, sent: Sent, times: usize, (place, alike): (Block, bool)) -> Option<Own> {
        match self.is_in_place(sent.0) {
            true => {
                self.committed(&place.elements)?;
                Some(Own::InPlace(place))
            }
            false => {
                let block = self.sent(sent)?.times(times);
                Some(match self.lies_in(block, (place, alike))? {
                    true => Own::InPlace(block),
                    false => Own::Apart(block),
                })
            }
        }
    }

    /// Whether a block of this rank's lies where the same is in the buffer of all, which may be [`alike`](Self::is_aliased).
    #[inline(always)]
    fn lies_in(&self, block: Block, (place, alike): (Block, bool)) -> Option<bool> {
        let alike = alike && block.elements.found.is_dense;
        self.is_aliased(block.start, place.start, (block.bytes(), alike))
    }

    #[inline(always)]
    fn received(&self, received: Received) -> Option<Block> {
        self.block(received.0, received.1, received.2)
    }

    /// What this rank gives in `parts` of `len` bytes each, as all ranks do. Where a program gives them another length than it
    /// expects of itself, the others are in the operation all the same: so they are cut, or filled up.
    #[inline]
    fn fit(&mut self, given: Cow<'static, [u8]>, parts: usize, len: usize) -> Cow<'static, [u8]> {
        match given.len() == parts * len {
            true => given,
            false => self.fit_each(&given, parts, len),
        }
    }

    #[cold]
    fn fit_each(&mut self, given: &[u8], parts: usize, len: usize) -> Cow<'static, [u8]> {
        let sent = given.len() / parts;
        self.differs(sent, len);
        let (mut fitted, both) = (vec![0; parts * len], sent.min(len));
        for part in 0..parts {
            fitted[part * len..][..both].copy_from_slice(&given[part * sent..][..both]);
        }
        fitted.into()
    }

    /// Room for the part of `sent` bytes that this rank has of its own: in place, if it is as long as what is expected.
    ///
    /// # Safety
    ///
    /// The program gave the block to be written.
    #[inline(always)]
    unsafe fn own_room(&mut self, into: Option<Block>, sent: usize) -> Bytes<'static> {
        match into {
            // SAFETY: the caller's promise.
            Some(into) if into.bytes() == sent => return unsafe { into.room() },
            Some(into) => self.differs(sent, into.bytes()),
            None => {}
        }
        Bytes::Packed(vec![0; sent])
    }
}

/// `MPI_Barrier`
#[inline(always)]
pub(crate) fn barrier(comm: Handle) -> Taken {
    run_move(comm, any(Kind::Barrier), move |call| {
        call.take(Kind::Barrier, 0)?;
        Some(call.ranks.barrier())
    })
}

/// `MPI_Bcast`
///
/// # Safety
///
/// MPI's. So it is for all functions here.
#[inline(always)]
pub(crate) unsafe fn broadcast(data: Received, root: c_int, comm: Handle) -> Taken {
    run_move(comm, data.of(Kind::Broadcast), move |call| {
        let (block, root) = (call.received(data)?, call.root(root)?);
        call.committed(&block.elements)?;
        call.take(Kind::Broadcast, block.bytes())?;
        // SAFETY: MPI's contract: the root's elements are read, those of others are written.
        unsafe {
            let mut bytes = match call.rank == root && !block.elements.found.is_dense {
                true => Bytes::Packed(block.read().into_owned()),
                false => block.room(),
            };
            let ran = call.ranks.broadcast(root, bytes.as_mut());
            if call.rank != root {
                call.wrote(block.write(&bytes));
            }
            Some(ran)
        }
    })
}

/// `MPI_Gather`
///
/// # Safety
///
/// See [`broadcast`].
#[inline(always)]
pub(crate) unsafe fn gather(sent: Sent, received: Received, root: c_int, comm: Handle) -> Taken {
    run_move(comm, gathered(sent, received), move |call| {
        let root = call.root(root)?;
        if call.rank != root {
            let block = call.sent(sent)?;
            call.take(Kind::Gather, block.bytes())?;
            // SAFETY: MPI's contract.
            return Some(call.ranks.gather(root, &unsafe { block.read() }, None));
        }
        let into = call.received(received)?;
        let all = into.times(call.size);
        let own = call.own(sent, 1, (into.after(call.rank), sent.is_like(received)))?;
        call.take(Kind::Gather, into.bytes())?;
        // SAFETY: MPI's contract. What lies in place is copied, as the room is written.
        unsafe {
            let own = call.fit(own.read(), 1, into.bytes());
            let mut bytes = all.room();
            let ran = call.ranks.gather(root, &own, Some(bytes.as_mut()));
            call.wrote(all.write(&bytes));
            Some(ran)
        }
    })
}

/// `MPI_Scatter`
///
/// # Safety
///
/// See [`broadcast`].
#[inline(always)]
pub(crate) unsafe fn scatter(sent: Sent, received: Received, root: c_int, comm: Handle) -> Taken {
    run_move(comm, scattered(sent, received), move |call| {
        let root = call.root(root)?;
        let in_place = call.rank == root && call.is_in_place(received.0);
        let from = match call.rank == root {
            true => Some(call.sent(sent)?),
            false => None,
        };
        let into = match in_place {
            true => None,
            false => Some(call.received(received)?),
        };
        let into = match (&from, into) {
            (Some(from), Some(into)) => {
                let place = (from.after(call.rank), sent.is_like(received));
                (!call.lies_in(into, place)?).then_some(into)
            }
            (_, into) => into,
        };
        let bytes = from.as_ref().or(into.as_ref())?.bytes();
        call.take(Kind::Scatter, bytes)?;
        // SAFETY: MPI's contract.
        unsafe {
            let all = from.map(|block| block.times(call.size).read());
            let mut room = match from {
                Some(from) => call.own_room(into, from.bytes()),
                None => into?.room(),
            };
            let ran = call.ranks.scatter(root, all.as_deref(), room.as_mut());
            if let Some(into) = into {
                call.wrote(into.within(bytes).write(&room));
            }
            Some(ran)
        }
    })
}

/// `MPI_Allgather`
///
/// # Safety
///
/// See [`broadcast`].
#[inline(always)]
pub(crate) unsafe fn allgather(sent: Sent, received: Received, comm: Handle) -> Taken {
    run_move(comm, received.of(Kind::Allgather), move |call| {
        let into = call.received(received)?;
        let own = call.own(sent, 1, (into.after(call.rank), sent.is_like(received)))?;
        call.take(Kind::Allgather, into.bytes())?;
        // SAFETY: MPI's contract. What lies in place is copied, as the room is written.
        unsafe {
            let own = call.fit(own.read(), 1, into.bytes());
            let all = into.times(call.size);
            let mut bytes = all.room();
            let ran = call.ranks.allgather(&own, bytes.as_mut());
            call.wrote(all.write(&bytes));
            Some(ran)
        }
    })
}

/// `MPI_Alltoall`
///
/// # Safety
///
/// See [`broadcast`].
#[inline(always)]
pub(crate) unsafe fn alltoall(sent: Sent, received: Received, comm: Handle) -> Taken {
    run_move(comm, received.of(Kind::Alltoall), move |call| {
        let into = call.received(received)?.times(call.size);
        let from = call.own(sent, call.size, (into, sent.is_like(received)))?;
        call.take(Kind::Alltoall, into.bytes() / call.size)?;
        // SAFETY: MPI's contract. What lies in place is copied, as the room is written.
        unsafe {
            let from = call.fit(from.read(), call.size, into.bytes() / call.size);
            let mut bytes = into.room();
            let ran = call.ranks.alltoall(&from, bytes.as_mut());
            call.wrote(into.write(&bytes));
            Some(ran)
        }
    })
}

/// `MPI_Gatherv`
///
/// # Safety
///
/// See [`broadcast`].
pub(crate) unsafe fn gatherv<C: Counts>(
    sent: Sent,
    received: PartsOf<*mut c_void, C>,
    root: c_int,
    comm: Handle,
) -> Taken {
    run_move(comm, any(Kind::Gatherv), move |call| {
        let root = call.root(root)?;
        if call.rank != root {
            let block = call.sent(sent)?;
            call.take_of_any_lengths(Kind::Gatherv, |_| block.bytes())?;
            // SAFETY: MPI's contract.
            return Some(call.ranks.gatherv(root, &unsafe { block.read() }, None));
        }
        // SAFETY: MPI's contract: there are numbers for each rank.
        let layout = unsafe { call.parts(received.0, received.1, received.2) }?;
        let place = layout.part(call.rank);
        let alike = (sent.1, sent.2) == (place.count as i64, received.2);
        let own = call.own(sent, 1, (place, alike))?;
        call.take_of_any_lengths(Kind::Gatherv, |other| layout.part(other).bytes())?;
        // SAFETY: MPI's contract. What lies in place is copied, as the room is written.
        unsafe {
            let own = call.fit(own.read(), 1, place.bytes());
            let mut room = layout.room();
            let ran = call.ranks.gatherv(root, &own, Some(room.parts()));
            call.wrote(layout.write(&room));
            Some(ran)
        }
    })
}

/// `MPI_Scatterv`
///
/// # Safety
///
/// See [`broadcast`].
pub(crate) unsafe fn scatterv<C: Counts>(
    sent: PartsOf<*const c_void, C>,
    received: Received,
    root: c_int,
    comm: Handle,
) -> Taken {
    run_move(comm, any(Kind::Scatterv), move |call| {
        let root = call.root(root)?;
        if call.rank != root {
            let into = call.received(received)?;
            call.take_of_any_lengths(Kind::Scatterv, |_| into.bytes())?;
            // SAFETY: MPI's contract.
            unsafe {
                let mut bytes = into.room();
                let ran = call.ranks.scatterv(root, None, bytes.as_mut());
                call.wrote(into.write(&bytes));
                return Some(ran);
            }
        }
        // SAFETY: MPI's contract: there are numbers for each rank.
        let layout = unsafe { call.sent_parts(sent) }?;
        let into = match call.is_in_place(received.0) {
            true => None,
            false => Some(call.received(received)?),
        };
        let into = match into {
            Some(into) => {
                let own = layout.part(call.rank);
                let alike = (own.count as i64, sent.2) == (received.1, received.2);
                (!call.lies_in(into, (own, alike))?).then_some(into)
            }
            None => None,
        };
        call.take_of_any_lengths(Kind::Scatterv, |other| layout.part(other).bytes())?;
        // SAFETY: MPI's contract.
        unsafe {
            let bytes = layout.part(call.rank).bytes();
            let mut room = call.own_room(into, bytes);
            let all = layout.read();
            let ran = call.ranks.scatterv(root, Some(all.parts()), room.as_mut());
            if let Some(into) = into {
                call.wrote(into.within(bytes).write(&room));
            }
            Some(ran)
        }
    })
}

/// `MPI_Allgatherv`
///
/// # Safety
///
/// See [`broadcast`].
pub(crate) unsafe fn allgatherv<C: Counts>(
    sent: Sent,
    received: PartsOf<*mut c_void, C>,
    comm: Handle,
) -> Taken {
    run(comm, move |call| {
        let elements = call.elements(received.2)?;
        // SAFETY: MPI's contract: there are numbers for each rank.
        let total = unsafe { total(received.1, call.size) }?;
        // SAFETY: as above.
        let layout = unsafe { call.parts(received.0, received.1, received.2) }?;
        let place = layout.part(call.rank);
        let alike = (sent.1, sent.2) == (place.count as i64, received.2);
        let own = call.own(sent, 1, (place, alike))?;
        call.take(Kind::Allgatherv, elements.bytes(total) / call.size)?;
        // SAFETY: MPI's contract. What lies in place is copied, as the room is written.
        unsafe {
            let own = call.fit(own.read(), 1, place.bytes());
            let mut room = layout.room();
            let (recv, parts) = room.parts();
            let ran = call.ranks.allgatherv(&own, recv, parts);
            call.wrote(layout.write(&room));
            Some(ran)
        }
    })
}

/// `MPI_Alltoallv`
///
/// # Safety
///
/// See [`broadcast`].
pub(crate) unsafe fn alltoallv<C: Counts>(
    sent: PartsOf<*const c_void, C>,
    received: PartsOf<*mut c_void, C>,
    comm: Handle,
) -> Taken {
    run_move(comm, any(Kind::Alltoallv), move |call| {
        // SAFETY: MPI's contract: there are numbers for each rank.
        let into = unsafe { call.parts(received.0, received.1, received.2) }?;
        let in_place = call.is_in_place(sent.0);
        let from = match in_place {
            true => {
                call.committed(&into.part(0).elements)?;
                None
            }
            // SAFETY: as above.
            false => Some(unsafe { call.sent_parts(sent) }?),
        };
        let alike = sent.2 == received.2 && sent.1 == received.1;
        let some = usize::from(!in_place);
        let is_aliased = call.is_aliased(sent.0, received.0, (some, alike))?;
        call.take_of_any_lengths(Kind::Alltoallv, |other| {
            let takes = into.part(other).bytes();
            let gives = from.as_ref().map_or(takes, |from| from.part(other).bytes());
            takes.max(gives)
        })?;
        // SAFETY: MPI's contract. What lies in place is copied, as the room is written.
        unsafe {
            let mut give = match &from {
                None => into.copy(),
                Some(from) if is_aliased => from.copy(),
                Some(from) => from.read(),
            };
            let mut room = into.room();
            if let Err((sent, expected)) = give.fit(&mut room, call.rank) {
                call.differs(sent, expected);
            }
            let ran = call.ranks.alltoallv(give.parts(), room.parts());
            call.wrote(into.write(&room));
            Some(ran)
        }
    })
}
