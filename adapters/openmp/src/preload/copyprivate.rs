//! Layer 4: what `single copyprivate` gives from one thread of a region to all others, and which thread is to run the
//! `single`. A barrier lies between giving and taking.

use super::runtime::Data;
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// What `copyprivate` gives from one thread of a region to all others.
///
/// Relaxed, all: what is given is written before a barrier and read after it; the rest are hints.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Copied {
    data: AtomicPtr<c_void>,
    /// The thread that gave last.
    giver: AtomicPtr<Receipt>,
    /// How often a thread began to give.
    begun: AtomicU32,
}

/// Which gift of its region a thread has taken last. Its address tells threads apart.
pub(crate) struct Receipt(Cell<u32>);

/// How often a thread looks for the one that gave last: longer than a few transfers of a line.
const LOOKS: u32 = 32;

impl Copied {
    /// Lets the thread that gave last go first: what it gives is in its caches, and what the others have copied is in
    /// theirs. A thread that copies comes last to the next barrier, and so leaves it first: without this the roles, and
    /// all that is given, would change sides every time.
    pub(crate) fn give_way(&self, mine: &Receipt) {
        let giver = self.giver.load(Ordering::Relaxed).cast_const();
        if giver.is_null() || std::ptr::eq(giver, mine) {
            return;
        }
        for _ in 0..LOOKS {
            if self.begun.load(Ordering::Relaxed) != mine.0.get() {
                return;
            }
            std::hint::spin_loop();
        }
    }

    /// The calling thread is the one that gives.
    pub(crate) fn begin(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn give(&self, data: Data, mine: &Receipt) {
        self.data.store(data, Ordering::Relaxed);
        let mine = std::ptr::from_ref(mine).cast_mut();
        if self.giver.load(Ordering::Relaxed) != mine {
            self.giver.store(mine, Ordering::Relaxed);
        }
    }

    /// What is given, for the others.
    pub(crate) fn take(&self, mine: &Receipt) -> Data {
        mine.0.set(self.begun.load(Ordering::Relaxed));
        self.data.load(Ordering::Relaxed)
    }
}
