//! A process that is killed between two writes, for tests: it writes a number of times and then no more.

/// How often a process still writes to shared memory. Outside of tests and models without end, and of no size.
#[derive(Clone, Debug, Default)]
pub(super) struct Writes {
    #[cfg(any(test, loom))]
    left: std::cell::Cell<Option<u32>>,
}

impl Writes {
    /// Ends this process, as a kill does, if it has no write left.
    #[inline(always)]
    pub(super) fn next(&self) {
        #[cfg(any(test, loom))]
        if let Some(left) = self.left.get() {
            if left == 0 {
                std::panic::resume_unwind(Box::new("killed"));
            }
            self.left.set(Some(left - 1));
        }
    }

    /// Has it be killed before the write after so many more.
    #[cfg(any(test, loom))]
    pub(super) fn kill_after(&self, writes: u32) {
        self.left.set(Some(writes));
    }
}
