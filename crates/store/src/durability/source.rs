//! What gives the entries of the order to whoever writes them down.

use std::fmt::Debug;
use std::ops::ControlFlow;

use corecast_agree::Follower;

use super::entry::Entry;
use crate::keyspace::Keyspace;

/// What gives the entries of the order to whoever writes them down.
pub(crate) trait Source: Debug + Send {
    /// Gives those that come next with their indices, in their order, up to one that `each` breaks at or whose effect is not known
    /// yet: that one comes first the next time. Returns its index.
    fn take(&mut self, each: &mut dyn FnMut(u64, Entry<'_>) -> ControlFlow<()>) -> u64;
}

impl Source for Follower<Keyspace> {
    fn take(&mut self, each: &mut dyn FnMut(u64, Entry<'_>) -> ControlFlow<()>) -> u64 {
        Follower::take(self, |index, write| match Entry::of(write) {
            Entry::Undecided => ControlFlow::Break(()),
            Entry::Nothing => ControlFlow::Continue(()),
            entry => each(index, entry),
        })
    }
}
