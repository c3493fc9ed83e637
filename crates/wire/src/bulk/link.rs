//! One pair of ranks that lend to each other, as one of them sees it.

use super::far::Process;
use super::offer::{Borrower, Lender, Said};
use super::outbox::OutboxLine;
use crate::Line;
use crate::fence::FenceKind;
use crate::park::Parker;
use crate::segment::{LineRef, LineSlice};
use std::ops::Range;
use std::sync::Arc;

/// What one rank keeps about its loans to one peer, and the peer's loans to it.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) lender: Lender,
    pub(super) borrower: Borrower,
    /// Where the peer sleeps.
    pub(super) peer: LineRef<Line<Parker>>,
    /// What the peer sleeps for: an offer of ours, or a return of ours.
    pub(super) offer_token: u32,
    pub(super) return_token: u32,
    /// The peer's outbox; `None` where addresses are offered.
    pub(super) theirs: Option<LineSlice<OutboxLine>>,
    /// The peer's process, where this one can read its memory.
    pub(super) far: Option<Arc<Process>>,
    /// What the peer's next offer says, once it was looked at: another process may write there what
    /// it likes, but not between a check and the use of what was checked.
    pub(super) seen: Option<Said>,
    /// Loans to the peer that wait for their turn in the outbox.
    pub(super) staged: usize,
    /// The last round of staging in which a loan to the peer had to wait.
    pub(super) waited: u64,
}

impl Link {
    pub(super) fn look(&mut self) -> Option<Said> {
        if self.theirs.is_some() {
            self.seen = self.seen.or_else(|| self.borrower.look());
            return self.seen;
        }
        self.borrower.look()
    }

    /// Offers bytes of this process, where there is room for an offer; its number.
    pub(super) fn offer(&mut self, tag: u32, addresses: &Range<usize>, fence: FenceKind) -> u64 {
        let len = addresses.len() as u64;
        self.lender.offer(Said {
            start: addresses.start as u64,
            len,
            left: len,
            tag,
            far: false,
        });
        self.peer.wake_for(self.offer_token, fence);
        self.lender.made()
    }

    pub(super) fn give_back(&mut self, fence: FenceKind) {
        self.seen = None;
        self.borrower.give_back();
        if self.theirs.is_none() {
            self.borrower.finish();
        }
        self.peer.wake_for(self.return_token, fence);
    }
}
