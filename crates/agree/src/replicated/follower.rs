//! What follows the order of writes without being a replica: to write it down, for instance.

use super::membership::Membership;
use crate::Dispatch;
use corecast_wire::shared_log::{Cursor, Found};
use corecast_wire::sync::{AtomicU64, Ordering};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Follows the order of writes, and applies nothing. The log keeps what a follower has not taken yet, however much that
/// becomes: unlike a replica it is neither helped nor left behind.
///
/// # Examples
///
/// ```
/// use corecast_agree::{Dispatch, Options, Replicated};
/// use std::ops::ControlFlow;
///
/// struct Sum(u64);
///
/// impl Dispatch for Sum {
///     type Read<'a> = ();
///     type Write = u64;
///     type Response = u64;
///     type Snapshot = u64;
///     fn read(&self, (): ()) -> u64 {
///         self.0
///     }
///     fn write(&mut self, add: &u64) -> u64 {
///         self.0 += add;
///         self.0
///     }
///     fn snapshot(&self) -> u64 {
///         self.0
///     }
///     fn install(snapshot: u64) -> Self {
///         Self(snapshot)
///     }
/// }
///
/// let sum = Replicated::new(Options::default(), Sum(0));
/// let mut follower = sum.follow();
/// let mut handle = sum.handle(0)?;
/// handle.write_all(vec![3, 4]);
/// let mut written = Vec::new();
/// let next = follower.take(|index, add| {
///     written.push((index, *add));
///     ControlFlow::Continue(())
/// });
/// assert_eq!((written, next), (vec![(0, 3), (1, 4)], handle.seen()));
/// # Ok::<(), corecast_agree::ReplicaError>(())
/// ```
pub struct Follower<T: Dispatch> {
    membership: Arc<Membership<T>>,
    cursor: Cursor<T::Write>,
    next: u64,
    /// The same, for those who trim the log.
    taken: Arc<AtomicU64>,
}

impl<T: Dispatch> Follower<T> {
    pub(super) fn new(membership: Arc<Membership<T>>) -> Self {
        let (cursor, next, taken) = membership.follow();
        Self {
            membership,
            cursor,
            next,
            taken,
        }
    }

    /// The number of the entry that comes next.
    #[must_use]
    pub fn next_index(&self) -> u64 {
        self.next
    }

    /// Takes the entries that come next, in their order, up to one that is not written yet or that `each` breaks at, which
    /// comes first the next time. Returns the number of that one. What any replica has applied is written, so a call takes
    /// at least what has been answered before it. Writes of one [`Handle::write_all`](super::Handle::write_all) may be
    /// taken by several calls.
    ///
    /// # Cost
    ///
    /// A line read for each entry. It waits for nobody.
    pub fn take(&mut self, mut each: impl FnMut(u64, &T::Write) -> ControlFlow<()>) -> u64 {
        loop {
            match self.cursor.look(self.next, || None) {
                Found::Entry(write) => {
                    if each(self.next, write).is_break() {
                        break;
                    }
                }
                Found::Nothing => {}
                Found::Pending => break,
                Found::Gone => unreachable!("entries that a follower needs are kept for it"),
            }
            self.next += 1;
        }
        // Relaxed: a lower bound for those who trim the log; the block that is read is kept by the cursor.
        self.taken.store(self.next, Ordering::Relaxed);
        self.next
    }
}

impl<T: Dispatch> Drop for Follower<T> {
    fn drop(&mut self) {
        self.membership.unfollow(&self.taken);
    }
}

impl<T: Dispatch> fmt::Debug for Follower<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Follower(at {})", self.next)
    }
}
