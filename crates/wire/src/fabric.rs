//! The line operations in which every collective algorithm is written.
//!
//! An algorithm sees only its own rank, the lines that join it to its peers, and its own buffers. So one source runs on
//! hardware and on any other fabric that can move a line from one rank to another and say when it has arrived.
//!
//! In the words of the cache-line-aware model (CLa §2.4): `notify` is a `write` of a flag line,
//! `wait` a `wait` on it; `send` is a `write` with the payload in the flag's line, `receive` a
//! `wait` followed by a `copy`; `lend` is a `write` of a line that names data, `borrow` a `wait` on
//! it followed by a `copy` or a combination of many lines, in place. `lend_to_fill` and `fill`
//! are as `lend` and `borrow`, but the borrower writes.
//!
//! These lines join two ranks. Lines that a group shares are made with the fabric, and a rank knows each of them by a
//! number: `publish` is a `write` of a line that several poll, `read` the `wait` and `copy` of each of them; `add` is
//! an `add` to a line that many add to, `collect` the `wait` of the one that reads it, and `arrive_and_wait` both, by
//! all. The four primitives themselves are [`CacheLines`](crate::cache_lines::CacheLines).

use std::ops::Range;

/// Line operations between one rank and its peers.
///
/// Between two ranks, messages of [`send`](Fabric::send) arrive in the order in which they were
/// sent, and so do notifications and loans; the three are not ordered with each other. Published messages on one
/// line are read in their order.
///
/// **Shared lines.** A fabric is made with the groups of its team, which say which rank publishes on a line that
/// others read, which rank collects a line that others add to, and which ranks meet at a line. In the order of the
/// groups, a rank numbers the lines that it publishes on from 0. It numbers the lines that it reads, adds to, collects
/// and meets others at in the same way, each kind by itself.
pub trait Fabric {
    /// The error of an operation that ended without doing its work.
    type Error;

    /// A buffer that is open: parts of it can be lent.
    type Window<'w>;

    /// This rank.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn size(&self) -> usize;

    /// Sends `peer` a message without payload, which says that this rank has come to this point.
    ///
    /// # Errors
    ///
    /// The fabric's own error.
    fn notify(&mut self, peer: usize) -> Result<(), Self::Error>;

    /// Waits for the next [`notify`](Fabric::notify) of `peer` that was not waited for yet.
    ///
    /// # Errors
    ///
    /// The fabric's own error, for example when the peer is lost.
    fn wait(&mut self, peer: usize) -> Result<(), Self::Error>;

    /// [`wait`](Fabric::wait) of a rank that notifies `peer` next, by a line that both write: it may take the line to look at
    /// it.
    ///
    /// # Errors
    ///
    /// Those of [`wait`](Fabric::wait).
    #[inline(always)]
    fn wait_by_taking(&mut self, peer: usize) -> Result<(), Self::Error> {
        self.wait(peer)
    }

    /// Sends `payload` to `peer`. May wait until the peer has received earlier messages.
    ///
    /// # Errors
    ///
    /// The fabric's own error.
    fn send(&mut self, peer: usize, payload: &[u8]) -> Result<(), Self::Error>;

    /// Waits for the next message of `peer`, which must be as long as `payload`, and copies it there.
    ///
    /// # Errors
    ///
    /// The fabric's own error, for example for a message of another length or of another operation.
    fn receive(&mut self, peer: usize, payload: &mut [u8]) -> Result<(), Self::Error>;

    /// Gives `peer` the block `mine` and takes its block into `theirs`, while it does the same. All of them have one length, which
    /// fits a message; ranks that do not agree on it learn so as by messages.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Fabric::send) and [`receive`](Fabric::receive).
    #[inline(always)]
    fn swap(&mut self, peer: usize, mine: &[u8], theirs: &mut [u8]) -> Result<(), Self::Error> {
        self.send(peer, mine)?;
        self.receive(peer, theirs)
    }

    /// Publishes `payload`, of at most [`publish_bytes_max`](Fabric::publish_bytes_max) bytes, on the `line`-th line
    /// that this rank publishes on. Every reader of the line [`read`](Fabric::read)s it. May wait until all of them
    /// have read earlier messages.
    ///
    /// # Errors
    ///
    /// The fabric's own error.
    fn publish(&mut self, line: usize, payload: &[u8]) -> Result<(), Self::Error>;

    /// Waits for the next publish on the `line`-th line that this rank reads, which must be as long as
    /// `payload`, and copies it there.
    ///
    /// # Errors
    ///
    /// The fabric's own error, for example for a published message of another length or of another operation.
    fn read(&mut self, line: usize, payload: &mut [u8]) -> Result<(), Self::Error>;

    /// Adds this rank to the `line`-th line that it adds to, which tells the rank that collects the line that this one
    /// has come to this point. It must not leave the operation before it knows, by a message of any rank, that the line
    /// was collected: there is no room for a second addition.
    ///
    /// # Errors
    ///
    /// The fabric's own error.
    fn add(&mut self, line: usize) -> Result<(), Self::Error>;

    /// Waits until all ranks that add to the `line`-th line that this rank collects have added once more.
    ///
    /// # Errors
    ///
    /// The fabric's own error, for example for an addition in another operation.
    fn collect(&mut self, line: usize) -> Result<(), Self::Error>;

    /// Adds this rank to the `line`-th line at which it meets others, and waits until all of them have added once more.
    /// The last one does not wait.
    ///
    /// # Errors
    ///
    /// The fabric's own error, for example for an addition in another operation.
    fn arrive_and_wait(&mut self, line: usize) -> Result<(), Self::Error>;

    /// Bytes of the longest message of [`send`](Fabric::send), at least 1.
    fn message_bytes_max(&self) -> usize;

    /// Bytes of the longest publish on the `line`-th line that this rank publishes on.
    fn publish_bytes_max(&self, line: usize) -> usize;

    /// The error for a `peer` that sends `sent` bytes where this rank expects `expected`.
    fn wrong_length(&self, peer: usize, sent: usize, expected: usize) -> Self::Error;

    /// Opens `data`, whose elements have `element` bytes, as a window for as long as `body` runs. No other rank reads
    /// `data` afterwards. `written` says that this rank has just written them, as a program does with its operands. No
    /// other rank then has a copy of their lines, which a simulated machine has to know.
    fn with_window<R>(
        &mut self,
        data: &mut [u8],
        element: usize,
        written: bool,
        body: impl FnOnce(&mut Self, &mut Self::Window<'_>) -> R,
    ) -> R;

    /// [`with_window`](Fabric::with_window) over data that are only read, and that this rank has written: over a copy of
    /// them, unless the fabric has windows over bytes that nobody may write.
    fn with_window_to_read<R>(
        &mut self,
        data: &[u8],
        element: usize,
        body: impl FnOnce(&mut Self, &mut Self::Window<'_>) -> R,
    ) -> R {
        self.with_window(&mut data.to_vec(), element, true, body)
    }

    /// A part of a window for reading.
    fn view<'b>(&self, window: &'b Self::Window<'_>, range: Range<usize>) -> &'b [u8];

    /// A part of a window for writing. Waits until all loans of that part were returned.
    ///
    /// # Errors
    ///
    /// The fabric's own error.
    fn view_mut<'b>(
        &mut self,
        window: &'b mut Self::Window<'_>,
        range: Range<usize>,
    ) -> Result<&'b mut [u8], Self::Error>;

    /// Whether lending copies the data. The slowest borrower then holds up a loan to many, so all ranks must read such
    /// loans in one order, or they wait for each other in a circle.
    fn lends_copies(&self) -> bool {
        false
    }

    /// The other ranks in the order in which this one reads what each of them lends to all. Where lending copies, all
    /// ranks have one order. Elsewhere it begins at the next rank, so that not all read one rank's memory at the same
    /// time.
    fn reading_order(&self) -> impl Iterator<Item = usize> + use<Self> {
        let (rank, n) = (self.rank(), self.size());
        let first = if self.lends_copies() { 0 } else { rank + 1 };
        (first..first + n)
            .map(move |peer| peer % n)
            .filter(move |&peer| peer != rank)
    }

    /// Lends a part of a window to each of `peers`, which [`borrow`](Fabric::borrow) or [`fetch`](Fabric::fetch) it.
    /// Waits only while too many earlier loans were not returned.
    ///
    /// # Errors
    ///
    /// The fabric's own error.
    fn lend(
        &mut self,
        window: &Self::Window<'_>,
        peers: impl IntoIterator<Item = usize>,
        range: Range<usize>,
    ) -> Result<(), Self::Error>;

    /// [Lends](Fabric::lend) what each of `peers` combines with data of its own and does not copy: a fabric may have a faster way
    /// for such data.
    ///
    /// # Errors
    ///
    /// The fabric's own error.
    fn lend_to_combine(
        &mut self,
        window: &Self::Window<'_>,
        peers: impl IntoIterator<Item = usize>,
        range: Range<usize>,
    ) -> Result<(), Self::Error> {
        self.lend(window, peers, range)
    }

    /// Waits for the next loan of `peer`, which must have `len` bytes, and passes it to `each` in place: in one piece,
    /// or in several one after the other, each with its offset in the loan.
    ///
    /// # Errors
    ///
    /// The fabric's own error, for example for a loan of another length or of another operation.
    fn borrow(
        &mut self,
        peer: usize,
        len: usize,
        each: impl FnMut(usize, &[u8]),
    ) -> Result<(), Self::Error>;

    /// [Borrows](Fabric::borrow) as many bytes as `into` has, and copies them to `into`.
    ///
    /// # Errors
    ///
    /// As [`borrow`](Fabric::borrow).
    fn fetch(&mut self, peer: usize, into: &mut [u8]) -> Result<(), Self::Error> {
        self.borrow(peer, into.len(), |start, piece| {
            crate::copy::slice(&mut into[start..start + piece.len()], piece);
        })
    }

    /// Waits until the next loan of `peer` is there, which must have `len` bytes, and leaves it there. Where nobody waits for what
    /// this rank [`fill`](Fabric::fill)s it need not wait.
    ///
    /// # Errors
    ///
    /// As [`borrow`](Fabric::borrow).
    fn await_loan(&mut self, peer: usize, len: usize) -> Result<(), Self::Error> {
        let _ = (peer, len);
        Ok(())
    }

    /// Waits for the next loan of `peer`, which must have `len` bytes, and returns it unread.
    ///
    /// # Errors
    ///
    /// As [`borrow`](Fabric::borrow).
    fn dismiss(&mut self, peer: usize, len: usize) -> Result<(), Self::Error> {
        self.borrow(peer, len, |_, _| ())
    }

    /// Lends a part of a window to `peer`, which [`fill`](Fabric::fill)s it. Only when [`view_mut`](Fabric::view_mut) has
    /// returned the part is it for anything else.
    ///
    /// # Errors
    ///
    /// The fabric's own error.
    fn lend_to_fill(
        &mut self,
        window: &mut Self::Window<'_>,
        peer: usize,
        range: Range<usize>,
    ) -> Result<(), Self::Error> {
        lend_to_fill_a_copy(self, window, peer, range)
    }

    /// Waits for the next part that `peer` lends to be filled, which must have `len` bytes, and passes it to `body`, in place or
    /// as a copy. `body` finds in it what the peer had there, and takes nothing else from this peer. A peer whose operation fails
    /// waits until `body` has ended, so it does not wait: what it takes from others was [awaited](Fabric::await_loan).
    ///
    /// # Errors
    ///
    /// As [`borrow`](Fabric::borrow), or that of `body`.
    fn fill(
        &mut self,
        peer: usize,
        len: usize,
        body: impl FnOnce(&mut Self, &mut [u8]) -> Result<(), Self::Error>,
    ) -> Result<(), Self::Error> {
        fill_a_copy(self, peer, len, body)
    }

    /// Waits until all loans of this rank were returned.
    ///
    /// # Errors
    ///
    /// The fabric's own error.
    fn flush(&mut self) -> Result<(), Self::Error>;
}

/// [`Fabric::lend_to_fill`] where no rank writes in another one's windows: lends the part to be read, and waits for messages that
/// bring what it becomes.
///
/// # Errors
///
/// The fabric's own error.
pub fn lend_to_fill_a_copy<F: Fabric + ?Sized>(
    fabric: &mut F,
    window: &mut F::Window<'_>,
    peer: usize,
    range: Range<usize>,
) -> Result<(), F::Error> {
    fabric.lend(window, std::iter::once(peer), range.clone())?;
    let longest = fabric.message_bytes_max();
    let mut messages = fabric.view_mut(window, range)?.chunks_mut(longest);
    messages.try_for_each(|message| fabric.receive(peer, message))
}

/// [`Fabric::fill`] for a peer that [lends a copy](lend_to_fill_a_copy).
///
/// # Errors
///
/// The fabric's own error, or that of `body`.
///
/// # Cost
///
/// Memory for `len` bytes.
pub fn fill_a_copy<F: Fabric + ?Sized>(
    fabric: &mut F,
    peer: usize,
    len: usize,
    body: impl FnOnce(&mut F, &mut [u8]) -> Result<(), F::Error>,
) -> Result<(), F::Error> {
    let mut part = vec![0; len];
    fabric.fetch(peer, &mut part)?;
    body(fabric, &mut part)?;
    let mut messages = part.chunks(fabric.message_bytes_max());
    messages.try_for_each(|message| fabric.send(peer, message))
}
