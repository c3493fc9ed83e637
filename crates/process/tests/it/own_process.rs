//! Other processes of tests, and helpers that wait for a condition.

use std::process::Child;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Time limit against hangs: longer than anything takes on a busy machine.
pub(crate) const WATCHDOG: Duration = Duration::from_secs(300);

/// A process that is killed when this is dropped. Children that it has forked end when its input does.
pub(crate) struct Kept(pub(crate) Child);

impl Drop for Kept {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What `body` returns, on a thread of its own; the test fails instead of hanging.
#[track_caller]
pub(crate) fn watched<T: Send + 'static>(
    context: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || done.send(body()).unwrap());
    let ended = ended.recv_timeout(WATCHDOG);
    ended.unwrap_or_else(|why| panic!("{context}: no end: {why}"))
}

/// Waits until the condition holds.
#[track_caller]
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < WATCHDOG, "never: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Runs `body` in a forked process, which a watchdog ends; returns whether `body` returned `true`.
pub(crate) fn in_fork(body: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child has this thread alone; `body` and what follows take no lock that another
    // thread may have held, and it ends by `_exit`.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: takes an integer; the default action of the signal ends the child.
            unsafe { libc::alarm(WATCHDOG.as_secs() as u32) };
            let code = i32::from(!body());
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(code) }
        }
        child => {
            assert!(child > 0, "{}", std::io::Error::last_os_error());
            let mut status = 0;
            // SAFETY: our child, and a place for its status.
            let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
            assert_eq!(waited, child);
            libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
        }
    }
}
