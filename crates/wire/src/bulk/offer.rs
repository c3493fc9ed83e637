//! Offers: lines by which one rank tells another where long data lies, and hears that it was read.
//!
//! | offer | written by | who may touch the data |
//! | --- | --- | --- |
//! | free | – | lender |
//! | made: number k | lender | lender reads, borrower reads |
//! | returned: the borrower's count has reached k | borrower | lender |
//! | revoked | lender | lender, once the borrower is not reading |
//!
//! **Invariant 1:** the lender does not write what it has lent until the count has reached the
//! offer's number, or the offer is revoked. **Invariant 2:** the borrower reads by address only
//! between announcing that it reads and counting the offer, and only if the offer still stands
//! *after* the announcement. With a full fence on both sides at least one of lender and borrower
//! sees what the other has announced. **Invariant 3:** every store to the line of returns but the
//! first releases, because whoever reads a later one takes the earlier returns from it as well.

#![cfg_attr(not(loom), expect(unreachable_pub, reason = "models see both ends"))]

use crate::fence;
use crate::segment::{LineRef, LineSlice, Lines};
use crate::sync::{AtomicU32, AtomicU64, Ordering, order};

/// Offers of one direction that can stand at a time.
#[cfg(not(loom))]
pub(crate) const OFFERS: usize = 8;
#[cfg(loom)]
pub(crate) const OFFERS: usize = 2;

/// The number of an offer that the lender took back.
const REVOKED: u64 = u64::MAX;

/// One line: where data lies, and how much of it.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Offer {
    /// 1 for the first offer of a link; written last.
    number: AtomicU64,
    start: AtomicU64,
    len: AtomicU64,
    left: AtomicU64,
    tag: AtomicU32,
}

// SAFETY: atomic integers: zero is their default, any bit pattern is valid, no Drop.
unsafe impl Lines for Offer {}

/// One line: how many offers the borrower has returned, above one bit that says that it is reading.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub(crate) struct Returns(AtomicU64);

// SAFETY: as above.
unsafe impl Lines for Returns {}

/// What an offer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    /// An address in this process, or an offset in the lender's outbox.
    pub start: u64,
    /// Bytes.
    pub len: u64,
    /// Bytes from here to the end of what is lent, this offer's included.
    pub left: u64,
    /// The lender's tag.
    pub tag: u32,
}

/// The lender's end of one direction.
#[derive(Debug)]
pub struct Lender {
    offers: LineSlice<Offer>,
    returns: LineRef<Returns>,
    /// Offers made so far.
    made: u64,
}

impl Lender {
    pub(crate) fn new(offers: LineSlice<Offer>, returns: LineRef<Returns>) -> Self {
        assert_eq!(offers.len(), OFFERS);
        Self {
            offers,
            returns,
            made: 0,
        }
    }

    /// How many offers have been made.
    #[inline]
    pub fn made(&self) -> u64 {
        self.made
    }

    /// How many offers were returned. A count that no borrower of this link can have reached, which
    /// only another process can write, says nothing.
    #[inline]
    pub fn returned(&self) -> u64 {
        // Acquire: synchronises with the Release in `Borrower::give_back`: the borrower's reads come
        // before whatever is written to the data now (Invariant 1).
        let count = self.returns.0.load(order::regain()) >> 1;
        if count <= self.made { count } else { 0 }
    }

    /// Whether one more offer can be made.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.made - self.returned() < OFFERS as u64
    }

    /// Makes an offer; its number is then [`Lender::made`]. There must be room, as the caller knows:
    /// what another process counts is no matter for an assertion.
    #[inline]
    pub fn offer(&mut self, said: Said) {
        let offer = &self.offers[self.made as usize % OFFERS];
        self.made += 1;
        // Relaxed: published by the number below.
        offer.start.store(said.start, Ordering::Relaxed);
        offer.len.store(said.len, Ordering::Relaxed);
        offer.left.store(said.left, Ordering::Relaxed);
        offer.tag.store(said.tag, Ordering::Relaxed);
        // Release: synchronises with the Acquire in `Borrower::look`: the data come before it.
        offer.number.store(self.made, order::offer());
    }

    /// Takes all standing offers back. Returns when the borrower reads none of them.
    #[cold]
    pub fn revoke(&self) {
        let standing = self.made.saturating_sub(OFFERS as u64)..self.made;
        for number in standing.rev() {
            // Relaxed: ordered by the fence (Invariant 2).
            let offer = &self.offers[number as usize % OFFERS];
            offer.number.store(REVOKED, Ordering::Relaxed);
        }
        fence::full();
        while self.returns.0.load(order::regain()) & 1 == 1 {
            // The borrower is between two of its own instructions, or in a user's operator: short,
            // and not to be cut, because it reads this thread's memory.
            crate::sync::yield_now();
        }
    }
}

/// The borrower's end of one direction.
#[derive(Debug)]
pub struct Borrower {
    offers: LineSlice<Offer>,
    returns: LineRef<Returns>,
    /// Offers returned so far.
    taken: u64,
}

impl Borrower {
    pub(crate) fn new(offers: LineSlice<Offer>, returns: LineRef<Returns>) -> Self {
        assert_eq!(offers.len(), OFFERS);
        Self {
            offers,
            returns,
            taken: 0,
        }
    }

    fn next(&self) -> &Offer {
        &self.offers[self.taken as usize % OFFERS]
    }

    /// The next offer, if it has been made.
    #[inline]
    pub fn look(&self) -> Option<Said> {
        let offer = self.next();
        // Acquire: synchronises with the Release in `Lender::offer`.
        if offer.number.load(order::accept()) != self.taken + 1 {
            return None;
        }
        Some(Said {
            start: offer.start.load(Ordering::Relaxed),
            len: offer.len.load(Ordering::Relaxed),
            left: offer.left.load(Ordering::Relaxed),
            tag: offer.tag.load(Ordering::Relaxed),
        })
    }

    /// Announces that this thread reads what the next offer names; `false` if it was revoked, and
    /// nothing may be read.
    #[inline]
    pub fn begin(&self) -> bool {
        // Release: the lender may learn of earlier returns from this store (Invariant 3). Before
        // the load below it comes by the fence (Invariant 2).
        let count = self.taken << 1;
        self.returns.0.store(count | 1, order::announce());
        fence::full();
        // Relaxed: `look` has acquired what this offer says.
        let stands = self.next().number.load(Ordering::Relaxed) == self.taken + 1;
        if !stands {
            // Release: as above.
            self.returns.0.store(count, order::announce());
        }
        stands
    }

    /// Returns the offer.
    #[inline]
    pub fn give_back(&mut self) {
        self.taken += 1;
        // Release: synchronises with the Acquire in `Lender::returned`: the data were read before.
        self.returns.0.store(self.taken << 1, order::hand_back());
    }
}

/// A link in one direction, for models.
#[cfg(loom)]
pub fn link() -> (Lender, Borrower) {
    let offers: LineSlice<Offer> = {
        let memory = crate::Segment::new(0, None).expect("models have memory");
        memory.lines(OFFERS).expect("models have memory")
    };
    let returns: LineRef<Returns> = crate::Segment::one(None).expect("models have memory");
    let lender = Lender::new(offers.clone(), returns.clone());
    (lender, Borrower::new(offers, returns))
}
