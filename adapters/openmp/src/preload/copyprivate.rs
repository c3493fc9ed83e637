//! Layer 5: hands the data of `single copyprivate` from one thread of a region to all others, and proposes the thread
//! that runs the `single`. A barrier lies between giving and taking.

use super::runtime::Data;
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// The data that `copyprivate` gives from one thread of a region to all others.
///
/// All accesses are relaxed: `data` is written before a barrier and read after it, and the other fields are hints.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Copied {
    data: AtomicPtr<c_void>,
    /// The thread that gave last.
    giver: AtomicPtr<Receipt>,
    /// Number of times that a thread began to give.
    begun: AtomicU32,
}

/// The number of the last data that a thread has taken in its region. Its address identifies the thread.
pub(crate) struct Receipt(Cell<u32>);

/// Polls by which a thread waits for the one that gave last: longer than a few transfers of a line.
const LOOKS: u32 = 32;

impl Copied {
    /// Lets the thread that gave last go first, because its data are in its caches, and the copies of the others are
    /// in theirs. A thread that copies arrives last at the next barrier, and so leaves it first: without this another
    /// thread would give every time, and all data would move between caches.
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

    /// Notes that the calling thread is the one that gives.
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

    /// Returns the data that were given, to a thread that copies them.
    pub(crate) fn take(&self, mine: &Receipt) -> Data {
        mine.0.set(self.begun.load(Ordering::Relaxed));
        self.data.load(Ordering::Relaxed)
    }
}
