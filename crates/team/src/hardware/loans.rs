//! How a rank receives loans: it reads them where they lie, from a bounce buffer, or from another process's
//! memory.

use super::ends::{Hardware, endpoint_token};
use super::nothing_else::{NothingElse, Overtaking};
use crate::element::Element;
use crate::failure::Failure;
use crate::transfer_path::{LendsFrom, Processes};
#[cfg(not(loom))]
use corecast_transfer::{MappedHeap, SharedRegions, SymmetricHeap};
use corecast_transfer::{Piece, Unfetched};
use corecast_wire::Fabric;
use corecast_wire::queue::Received;
use std::cell::RefCell;
use std::convert::Infallible;
use std::sync::Arc;

/// Bytes read at a time by kernel copy where they are combined: they stay in the second-level cache until then.
const STEP_BYTES: usize = 128 * 1024;

/// Bytes copied at a time where the data are stored unchanged: few enough that a failure is noticed within a millisecond.
const COPY_INTO_BYTES: usize = 4 << 20;

/// Bytes of another process's bounce buffer or symmetric memory that are copied at a time before they are combined: the copy
/// stays in the first-level cache until then.
///
/// An allreduce of two processes takes 1.05 times as long as one that combined in the bounce buffer for 64 KiB, and 1.11
/// times for 1 MiB; with 8 KiB at a time 1.11 and 1.10 (medians of 14 interleaved runs of `corecast bench --op allreduce
/// --size 64K,1M`, 2-core KVM guest, AMD EPYC, busy with other work, November 2026).
pub(crate) const COMBINE_BYTES: usize = 16 * 1024;

/// A destination for the bytes of a loan.
pub(super) trait Sink {
    /// The number of bytes to read at a time, by kernel copy or in symmetric memory.
    fn step(&self, symmetric: bool) -> usize;

    /// The bytes of the result into which they are read.
    fn all(&self) -> usize;

    /// Takes `piece`, which begins at `start` in the loan. Returns `false` if no correct peer lends such a
    /// piece.
    fn piece(&mut self, element: &mut Element, start: usize, piece: &Piece<'_>) -> bool;

    /// Makes room for the bytes at `place`, which is (start, length), and fills it by `read`.
    fn read(
        &mut self,
        element: &mut Element,
        place: (usize, usize),
        read: impl FnOnce(&mut [u8]) -> Result<(), Unfetched>,
    ) -> Result<(), Unfetched>;
}

/// Gives elements of `element_size` bytes to a function.
pub(super) struct Consume<F> {
    pub(super) element_size: usize,
    pub(super) consume: F,
}

impl<F: FnMut(usize, &[u8])> Sink for Consume<F> {
    fn step(&self, symmetric: bool) -> usize {
        let bytes = if symmetric { COMBINE_BYTES } else { STEP_BYTES };
        (bytes / self.element_size).max(1) * self.element_size
    }

    fn all(&self) -> usize {
        0
    }

    /// Between threads the function reads the bytes in place. Another process could write them meanwhile, so its bytes
    /// are copied first, a few at a time.
    fn piece(&mut self, element: &mut Element, start: usize, piece: &Piece<'_>) -> bool {
        let (len, element_size) = (piece.len(), self.element_size);
        if !len.is_multiple_of(element_size) || !element.is_empty() {
            let copy = |room: &mut [u8]| piece.copy(0, room, 0);
            return element.join(element_size, len, copy, |whole| {
                (self.consume)(start + len - whole.len(), whole);
            });
        }
        if let Some(bytes) = piece.bytes() {
            (self.consume)(start, bytes);
            return true;
        }
        let step = (COMBINE_BYTES / element_size).max(1) * element_size;
        for at in (0..len).step_by(step) {
            let block = element.room(step.min(len - at));
            piece.copy(at, block, 0);
            (self.consume)(start + at, block);
        }
        true
    }

    fn read(
        &mut self,
        element: &mut Element,
        (start, len): (usize, usize),
        read: impl FnOnce(&mut [u8]) -> Result<(), Unfetched>,
    ) -> Result<(), Unfetched> {
        let room = element.room(len);
        read(room)?;
        (self.consume)(start, room);
        Ok(())
    }
}

/// Copies the bytes into a part of a result that has `all` bytes.
pub(super) struct CopyInto<'a> {
    pub(super) into: &'a mut [u8],
    pub(super) all: usize,
}

impl Sink for CopyInto<'_> {
    fn step(&self, _: bool) -> usize {
        COPY_INTO_BYTES
    }

    fn all(&self) -> usize {
        self.all
    }

    #[inline]
    fn piece(&mut self, _: &mut Element, start: usize, piece: &Piece<'_>) -> bool {
        let into = &mut self.into[start..start + piece.len()];
        piece.copy(0, into, self.all);
        true
    }

    fn read(
        &mut self,
        _: &mut Element,
        (start, len): (usize, usize),
        read: impl FnOnce(&mut [u8]) -> Result<(), Unfetched>,
    ) -> Result<(), Unfetched> {
        read(&mut self.into[start..start + len])
    }
}

impl Hardware {
    /// Lets the endpoint read the memory of the peers' processes, and lend its own memory from `lends_from`
    /// bytes on.
    pub(crate) fn open_kernel_copy(&mut self, processes: &Processes, lends_from: LendsFrom) {
        for (number, link) in self.links.iter().enumerate() {
            if let Some(process) = &processes[link.peer] {
                self.endpoint.reads(number, Arc::clone(process));
                // The room is made now, because operations must not allocate.
                self.element.room(STEP_BYTES);
            }
        }
        let bytes = |from: Option<usize>| from.unwrap_or(usize::MAX);
        self.endpoint.lend_by_kernel_from(bytes(lends_from.copied));
        self.endpoint
            .combine_by_kernel_from(bytes(lends_from.combined));
    }

    /// Lets the endpoint lend what lies in this process's heap, and read what peers lend of theirs.
    #[cfg(not(loom))]
    pub(crate) fn open_heaps(
        &mut self,
        own: Option<&SymmetricHeap>,
        theirs: &[Option<MappedHeap>],
    ) {
        if let Some(heap) = own {
            self.endpoint.lends_heap(heap);
        }
        for (number, link) in self.links.iter().enumerate() {
            if let Some(heap) = &theirs[link.peer] {
                self.endpoint.maps_heap(number, heap);
            }
        }
    }

    /// Lets the endpoint lend what lies in these regions, and read what peers lend of theirs.
    #[cfg(not(loom))]
    pub(crate) fn open_regions(&mut self, regions: &Arc<SharedRegions>) {
        self.endpoint.lends_regions(Arc::clone(regions));
    }

    /// Takes the next loan of `peer`, which must have `len` bytes.
    #[inline]
    pub(super) fn take_loan(
        &mut self,
        peer: usize,
        len: usize,
        mut sink: impl Sink,
    ) -> Result<(), Failure> {
        let link = self.link_index(peer);
        let mut start = 0;
        loop {
            let left = len - start;
            self.expect_loan(link, left)?;
            if self.endpoint.is_direct(link) {
                start += self.read_direct((link, peer), (start, left), &mut sink)?;
            } else {
                let sane = match self.endpoint.borrow(link) {
                    Ok(Some(piece)) => {
                        let from = start;
                        start += piece.len();
                        sink.piece(&mut self.element, from, &piece)
                    }
                    // The loan was revoked: the team has failed, and the next wait returns the failure.
                    Ok(None) => true,
                    Err(_) => false,
                };
                if !sane {
                    return Err(self.corrupt(peer));
                }
            }
            if start == len {
                return Ok(());
            }
        }
    }

    /// Waits until there is a descriptor for another loan on the link.
    #[inline]
    pub(super) fn wait_for_descriptor(&mut self, link: usize) -> Result<(), Failure> {
        if self.endpoint.has_room(link) {
            return Ok(());
        }
        self.wait_for_ack(link, |endpoint| endpoint.has_room(link))
    }

    /// Waits until the peer behind `link` lends `len` bytes.
    #[inline]
    pub(super) fn expect_loan(&mut self, link: usize, len: usize) -> Result<(), Failure> {
        let (tag, left) = self.wait_for_loan(link, len)?;
        if (tag, left) != (self.call.fingerprint.tag(), len) {
            let (peer, next) = (self.links[link].peer, Received { len: left, tag });
            return Err(self.unexpected(peer, len, next));
        }
        Ok(())
    }

    /// Waits until the peer behind `link` lends something, which should have `expected` bytes; returns its tag and
    /// length.
    fn wait_for_loan(&mut self, link: usize, expected: usize) -> Result<(u32, usize), Failure> {
        let (call, from, lines) = (&self.call, &self.links[link], &self.lines);
        let token = endpoint_token(&self.endpoint, from.loan_token);
        // Where loans go through bounce buffers a message can overtake an earlier loan, and shows no mismatch by itself.
        let in_turn = self.endpoint.borrows_addresses(link);
        let endpoint = RefCell::new(&mut self.endpoint);
        let watch = || NothingElse {
            watch: call.watch(from.peer).staging(&endpoint, &self.link_of),
            receiver: in_turn.then_some(&from.receiver),
            endpoint: None,
            reader: lines.long_ring_of(from.peer).filter(|_| in_turn),
            overtaking: (!in_turn).then_some(Overtaking {
                receiver: &from.receiver,
                rests: None,
            }),
            tag: self.call.fingerprint.tag(),
            expected,
        };
        call.wait_watched(&self.wait_strategy, token, watch, || {
            let mut endpoint = endpoint.borrow_mut();
            endpoint.advance();
            endpoint.peek(link)
        })
    }

    /// Reads a loan where it lies in `peer`'s process. Returns the bytes read: less than `left` if the kernel
    /// refused.
    #[cold]
    fn read_direct(
        &mut self,
        (link, peer): (usize, usize),
        (start, left): (usize, usize),
        sink: &mut impl Sink,
    ) -> Result<usize, Failure> {
        let (mut done, all) = (0, sink.all());
        let step = sink.step(self.endpoint.is_symmetric(link));
        while done < left {
            let len = step.min(left - done);
            let endpoint = &mut self.endpoint;
            let read = |into: &mut [u8]| endpoint.fetch(link, done, into, all);
            match sink.read(&mut self.element, (start + done, len), read) {
                Ok(()) => done += len,
                Err(Unfetched::Refused) => {
                    self.endpoint.refuse(link, done);
                    return Ok(done);
                }
                Err(Unfetched::Outside) => return Err(self.corrupt(peer)),
                Err(Unfetched::Revoked) => return Err(self.wait_for_news(link, peer)),
            }
            // Other ranks may wait for loans of this rank.
            self.endpoint.advance();
        }
        self.endpoint.give_back(link);
        Ok(done)
    }

    /// Waits for the failure that made `peer` revoke its loan.
    fn wait_for_news(&mut self, link: usize, peer: usize) -> Failure {
        let token = self.links[link].loan_token;
        match self.wait_at_endpoint(token, peer, |_| None::<Infallible>) {
            Err(failure) => failure,
            Ok(never) => match never {},
        }
    }

    #[cold]
    pub(super) fn corrupt(&self, peer: usize) -> Failure {
        self.call.fail(self.call.watch(peer).corrupt())
    }

    /// Bytes of the result that this rank is about to write, if one loan has `len` bytes. A rank that lends
    /// nothing receives only this loan. Other ranks receive one loan of each rank, or as much as their window
    /// has.
    #[inline]
    pub(super) fn result_bytes(&self, len: usize) -> usize {
        match self.endpoint.span() {
            0 => len,
            span => span.max(len.saturating_mul(self.size())),
        }
    }
}
