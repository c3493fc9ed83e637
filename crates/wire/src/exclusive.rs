//! A value behind a handle that one thread at a time may use.
//!
//! C cannot borrow, so in bindings and adapters a call marks the handle as in use for as long as it runs, and a call that finds the
//! mark is refused. Two calls that begin at the same instant may both miss the mark: it finds mistakes, but
//! is no lock.

use crate::Flag;
use std::cell::UnsafeCell;

/// A value and its mark. The value is dropped if a call panics.
#[derive(Debug)]
pub struct Exclusive<T> {
    /// 1 while a call uses the value.
    busy: Flag,
    /// `None` after a panic amid a call.
    value: UnsafeCell<Option<T>>,
}

/// Why a value cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// Another call uses it.
    Busy,
    /// An earlier call has panicked and dropped it.
    Dropped,
}

/// A call that is under way. A panic in it drops the value, so that peers do not wait for it for ever.
struct Call<'a, T>(&'a Exclusive<T>);

impl<T> Drop for Call<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if std::thread::panicking() {
            // SAFETY: this call has the value to itself until the mark below is taken away.
            unsafe { *self.0.value.get() = None };
        }
        self.0.busy.raise(0);
    }
}

impl<T> Exclusive<T> {
    /// A value that no call uses.
    pub fn new(value: T) -> Self {
        Self {
            busy: Flag::default(),
            value: UnsafeCell::new(Some(value)),
        }
    }

    /// Whether the value was dropped by a panic.
    pub fn is_dropped(&mut self) -> bool {
        self.value.get_mut().is_none()
    }

    /// Runs `body` on the value. If the value cannot be used, returns what `refuse` makes of the reason.
    ///
    /// # Safety
    ///
    /// No other thread calls this at this very instant, as its mark could be missed.
    #[inline(always)]
    pub unsafe fn with<R, E>(
        &self,
        refuse: impl FnOnce(Unusable) -> E,
        body: impl FnOnce(&mut T) -> Result<R, E>,
    ) -> Result<R, E> {
        if self.busy.seq() != 0 {
            return Err(refuse(Unusable::Busy));
        }
        self.busy.raise(1);
        let call = Call(self);
        // SAFETY: no other call has the value: its mark would have been seen, by the caller's promise.
        match unsafe { &mut *call.0.value.get() } {
            Some(value) => body(value),
            None => Err(refuse(Unusable::Dropped)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn one_call_at_a_time_and_none_after_a_panic() {
        let mut shared = Exclusive::new(7);
        // SAFETY: there is one thread.
        let using = |body: &dyn Fn(&mut i32) -> Result<(), Unusable>| unsafe {
            shared.with(|why| why, body)
        };
        let nested = |value: &mut i32| {
            assert_eq!(using(&|_| Ok(())), Err(Unusable::Busy));
            *value += 1;
            Ok(())
        };
        assert_eq!(using(&nested), Ok(()));
        let eight = |value: &mut i32| {
            assert_eq!(*value, 8);
            Ok(())
        };
        assert_eq!(using(&eight), Ok(()));
        let panics = AssertUnwindSafe(|| using(&|_| panic!("amid a call")));
        assert!(catch_unwind(panics).is_err());
        assert_eq!(using(&|_| Ok(())), Err(Unusable::Dropped));
        assert!(shared.is_dropped());
    }
}
