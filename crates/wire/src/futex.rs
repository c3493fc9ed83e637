//! Sleeping until a word changes: a futex, or loom's condition variable in models.

#[cfg(not(any(loom, corecast_simulated)))]
mod imp {
    use core::sync::atomic::AtomicU32;
    use rustix::thread::futex;
    use std::time::Duration;

    /// Empty, because the kernel keeps all state of a futex besides the word itself.
    #[derive(Debug, Default)]
    pub(crate) struct FutexWord;

    impl FutexWord {
        /// Sleeps while `word` holds `expected`, at most for `limit`. May return at any time.
        ///
        /// `shared` says that the waker may be another process. The kernel then finds the word by its
        /// page's file instead of its address.
        pub(crate) fn sleep(
            &self,
            word: &AtomicU32,
            expected: u32,
            limit: Option<Duration>,
            shared: bool,
        ) {
            let limit = limit.map(|d| futex::Timespec {
                tv_sec: d.as_secs().min(i64::MAX as u64) as i64,
                tv_nsec: i64::from(d.subsec_nanos()),
            });
            // EAGAIN (the word changed), EINTR and ETIMEDOUT all mean: look again.
            let _ = futex::wait(word, flags(shared), expected, limit.as_ref());
        }

        /// Wakes one thread that sleeps on `word`, if there is one. `shared` must be as it was for the
        /// sleep.
        pub(crate) fn wake(&self, word: &AtomicU32, shared: bool) {
            let _ = futex::wake(word, flags(shared), 1);
        }

        /// Wakes all threads of this process that sleep on `word`.
        pub(crate) fn wake_all(&self, word: &AtomicU32) {
            let _ = futex::wake(word, flags(false), i32::MAX as u32);
        }
    }

    fn flags(shared: bool) -> futex::Flags {
        match shared {
            true => futex::Flags::empty(),
            false => futex::Flags::PRIVATE,
        }
    }
}

#[cfg(loom)]
mod imp {
    use loom::sync::atomic::AtomicU32;
    use std::time::Duration;

    /// A model of the kernel's hash bucket, whose lock makes "compare and sleep" one step.
    #[derive(Debug, Default)]
    pub(crate) struct FutexWord {
        lock: loom::sync::Mutex<()>,
        bell: loom::sync::Condvar,
    }

    impl FutexWord {
        pub(crate) fn sleep(
            &self,
            word: &AtomicU32,
            expected: u32,
            _limit: Option<Duration>,
            _shared: bool,
        ) {
            let guard = self.lock.lock().unwrap();
            // Relaxed: the kernel compares under the bucket's lock, which the waker takes after its change.
            if word.load(loom::sync::atomic::Ordering::Relaxed) == expected {
                drop(self.bell.wait(guard).unwrap());
            }
        }

        pub(crate) fn wake(&self, _word: &AtomicU32, _shared: bool) {
            drop(self.lock.lock().unwrap());
            self.bell.notify_all();
        }

        pub(crate) fn wake_all(&self, word: &AtomicU32) {
            self.wake(word, false);
        }
    }
}

#[cfg(corecast_simulated)]
mod imp {
    use crate::simulated;
    use crate::sync::{AtomicU32, Ordering};
    use std::time::Duration;

    /// Empty, because the scheduler keeps who sleeps.
    #[derive(Debug, Default)]
    pub(crate) struct FutexWord;

    impl FutexWord {
        pub(crate) fn sleep(
            &self,
            word: &AtomicU32,
            expected: u32,
            limit: Option<Duration>,
            _shared: bool,
        ) {
            // Relaxed: tasks take turns.
            let holds = || word.bare().load(Ordering::Relaxed) == expected;
            simulated::sleep_on(address(word), holds, limit);
        }

        pub(crate) fn wake(&self, word: &AtomicU32, _shared: bool) {
            simulated::wake_on(address(word), 1);
        }

        pub(crate) fn wake_all(&self, word: &AtomicU32) {
            simulated::wake_on(address(word), usize::MAX);
        }
    }

    fn address(word: &AtomicU32) -> usize {
        core::ptr::from_ref(word).addr()
    }
}

pub(crate) use imp::FutexWord;
