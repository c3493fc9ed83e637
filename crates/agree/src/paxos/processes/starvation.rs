//! Whether a member that is silent waits for a CPU, by what the kernel says of its thread.
//!
//! A member that is stopped, hangs or computes is to be replaced. One that only waits for its turn on a busy machine is not:
//! whoever replaces it waits for a CPU as well. The kernel tells them apart: the state of a thread that waits for a CPU is that of
//! one that runs, but it takes no time.
//!
//! Which thread that is stands in memory that all members write. A wrong number names another thread of this machine at worst:
//! then a silent member is replaced later. So it is where there is no `/proc`: then no member is known to wait.

use std::fs;

/// Of a thread that waits for a CPU, or runs.
const RUNNABLE: &str = "R";

/// The kernel counts the time of threads in hundredths of a second, for every program.
const TICK_NS: u64 = 10_000_000;

/// Rounding hides as much: user and system time are rounded each.
const ROUNDED: u64 = 2;

/// The first look at a thread in a silence of its member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct First {
    thread: u64,
    since_ns: u64,
    at_ns: u64,
    ticks: u64,
}

/// What is known of the thread of a silent member.
#[derive(Debug, Default)]
pub(super) struct Starvation {
    first: Option<First>,
}

impl Starvation {
    /// Whether the thread of a member that has been silent since `since_ns` waits for a CPU, rather than to run for half the time since
    /// the first call with this `since_ns`.
    ///
    /// # Cost
    ///
    /// Some 10 microseconds: a file of the kernel's is read.
    pub(super) fn is_starved(&mut self, thread: u64, since_ns: u64, now_ns: u64) -> bool {
        self.judge(thread, since_ns, now_ns, look(thread))
    }

    /// The same, by the ticks that a thread has run which waits for a CPU or runs.
    fn judge(&mut self, thread: u64, since_ns: u64, now_ns: u64, ticks: Option<u64>) -> bool {
        let Some(ticks) = ticks else {
            return false;
        };
        let before = self
            .first
            .filter(|it| (it.thread, it.since_ns) == (thread, since_ns));
        let first = before.unwrap_or(First {
            thread,
            since_ns,
            at_ns: now_ns,
            ticks,
        });
        self.first = Some(first);
        let ran = ticks.saturating_sub(first.ticks);
        let waited_ns = now_ns.saturating_sub(first.at_ns);
        ran <= ROUNDED || ran.saturating_mul(2 * TICK_NS) <= waited_ns
    }
}

/// The number of the calling thread; 0 if the kernel does not say.
pub(super) fn own_thread() -> u64 {
    let link = fs::read_link("/proc/thread-self").ok();
    let number = link.and_then(|it| it.file_name()?.to_str()?.parse().ok());
    number.unwrap_or(0)
}

/// How long a thread has run, if it wants to run.
fn look(thread: u64) -> Option<u64> {
    let thread = u32::try_from(thread).ok().filter(|it| *it != 0)?;
    let text = fs::read_to_string(format!("/proc/{thread}/task/{thread}/stat")).ok()?;
    runnable_ticks(&text)
}

/// The user and system time in the `stat` of a thread, if its state is runnable.
fn runnable_ticks(text: &str) -> Option<u64> {
    // The name, in brackets, may hold anything; behind it comes the state, and the times are the 12th and 13th word.
    let mut words = text.rsplit_once(')')?.1.split_ascii_whitespace();
    if words.next() != Some(RUNNABLE) {
        return None;
    }
    let mut times = words.skip(10).map(|it| it.parse::<u64>().ok());
    times.next()??.checked_add(times.next()??)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `proc(5)`: 1 pid, 2 name, 3 state, 14 user time, 15 system time.
    fn stat(name: &str, state: &str, user: u64, system: u64) -> String {
        let zeros = "0 ".repeat(10);
        format!("12 ({name}) {state} {zeros}{user} {system} 0 0 20 0\n")
    }

    #[test]
    fn only_threads_that_want_to_run_have_times() {
        for name in ["corecast", "a) T 1 (b", ""] {
            assert_eq!(runnable_ticks(&stat(name, "R", 30, 12)), Some(42));
            for state in ["S", "D", "T", "t", "Z", "X", "I"] {
                assert_eq!(runnable_ticks(&stat(name, state, 30, 12)), None);
            }
        }
        let text = stat("corecast", "R", 30, 12);
        let times = text.find("30").unwrap();
        for end in 0..times {
            assert_eq!(runnable_ticks(&text[..end]), None);
        }
        assert_eq!(runnable_ticks(&stat("x", "R", u64::MAX, 1)), None);
    }

    #[test]
    fn who_runs_half_of_the_time_does_not_starve() {
        let ms = 1_000_000;
        let mut it = Starvation::default();
        // It is not known yet how long it has run in this silence.
        assert!(it.judge(7, 0, 50 * ms, Some(1000)));
        assert!(it.judge(7, 0, 60 * ms, Some(1000 + ROUNDED)));
        assert!(!it.judge(7, 0, 100 * ms, Some(1003)));
        assert!(it.judge(7, 0, 110 * ms, Some(1003)));
        assert!(!it.judge(7, 0, 400 * ms, Some(1035)));
        assert!(!it.judge(7, 0, 410 * ms, None), "it is stopped");
        // Another silence, and another thread.
        assert!(it.judge(7, 300 * ms, 450 * ms, Some(1100)));
        assert!(it.judge(8, 300 * ms, 450 * ms, Some(9000)));
        assert!(it.judge(8, 300 * ms, 460 * ms, Some(9002)));
        // Clocks and counts that go back.
        assert!(it.judge(8, 300 * ms, 440 * ms, Some(3)));
    }

    #[test]
    fn the_kernel_knows_who_runs() {
        let own = own_thread();
        assert!(look(own).is_some(), "this thread runs");
        for nobody in [0, u64::from(u32::MAX), 1 << 40, u64::MAX] {
            assert_eq!(look(nobody), None);
        }
        let (tell, told) = std::sync::mpsc::channel();
        let (end, ends) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || {
            tell.send(own_thread()).unwrap();
            let _ = ends.recv();
        });
        let other_thread = told.recv().unwrap();
        assert_ne!(other_thread, own);
        // It sleeps at last.
        while look(other_thread).is_some() {
            std::thread::yield_now();
        }
        drop(end);
        other.join().unwrap();
    }
}
