//! Threads that wait asleep: seen in their state and their CPU time, so that it does not matter how busy the
//! machine is.

use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A watchdog against hangs, not a measurement.
const WATCHDOG: Duration = Duration::from_secs(300);

/// A thread's id in the kernel, which the thread itself tells to others.
#[derive(Default)]
pub(crate) struct Number(AtomicI32);

impl Number {
    /// Stores the id of the calling thread.
    pub(crate) fn tell(&self) {
        let me = rustix::thread::gettid().as_raw_nonzero().get();
        self.0.store(me, Ordering::Relaxed);
    }
}

/// A thread that has been seen asleep.
pub(crate) struct Sleeper {
    thread: i32,
    since: Instant,
    used: Duration,
}

impl Sleeper {
    /// Waits until the thread has told its id and sleeps.
    #[track_caller]
    pub(crate) fn seen(number: &Number) -> Self {
        let begin = Instant::now();
        loop {
            let thread = number.0.load(Ordering::Relaxed);
            if thread > 0 {
                let (state, used) = stat(thread);
                if state == "S" {
                    let since = Instant::now();
                    return Self {
                        thread,
                        since,
                        used,
                    };
                }
            }
            assert!(begin.elapsed() < WATCHDOG, "thread {thread} never sleeps");
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Panics if the thread has used a twentieth or more of the time since it was seen. A thread that spins
    /// uses all that the machine gives it, and one that sleeps and looks now and then less than a hundredth.
    #[track_caller]
    pub(crate) fn has_slept(&self) {
        let used = stat(self.thread).1 - self.used;
        let waited = self.since.elapsed();
        assert!(used < waited / 20, "used {used:?} of {waited:?}");
    }
}

/// State and CPU time of a thread. They are fields 3, 14 and 15 of proc(5), of which the last two count
/// hundredths of a second.
fn stat(thread: i32) -> (String, Duration) {
    let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).unwrap();
    let (_, fields) = text.rsplit_once(") ").unwrap();
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    let [user, system]: [u64; 2] = [11, 12].map(|field: usize| fields[field].parse().unwrap());
    let used = Duration::from_millis(10 * (user + system));
    (fields[0].to_owned(), used)
}
