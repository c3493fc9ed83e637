//! A child knows that it is a copy, by each of the two ways.

use super::*;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// Runs `body` in a forked child; whether it returned true there. The test is one of several
/// threads, so `body` must neither allocate nor lock.
fn in_child(body: impl FnMut() -> bool) -> bool {
    // SAFETY: the child calls `body`, which keeps to what a signal handler may do, and ends.
    in_made(unsafe { libc::fork() }, body)
}

/// [`in_child`] for a child of a bare system call, for which the C library calls no handler.
fn in_bare_child(body: impl FnMut() -> bool) -> bool {
    let signal = libc::SIGCHLD as usize;
    // SAFETY: a copy of the process, as by `fork`, with no memory of ours; see `in_child`.
    let child = unsafe { libc::syscall(libc::SYS_clone, signal, 0usize, 0usize, 0usize, 0usize) };
    in_made(child as libc::pid_t, body)
}

/// The rest of both, once the child is there.
fn in_made(child: libc::pid_t, mut body: impl FnMut() -> bool) -> bool {
    match child {
        -1 => panic!("fork: {}", std::io::Error::last_os_error()),
        0 => {
            let code = if body() { 0 } else { 1 };
            // SAFETY: ends this child at once, without the parent's clean-up.
            unsafe { libc::_exit(code) }
        }
        child => {
            let mut status = 0;
            // SAFETY: waits for our own child and writes to our own integer.
            let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
            assert_eq!(ended, child);
            status == 0
        }
    }
}

#[track_caller]
fn told_apart(word: &'static StaticU32) {
    let fork_detector = ForkDetector::of(word);
    assert!(!forked_since(&fork_detector) && !forked_since(&ForkDetector::of(word)));
    assert!(in_child(|| {
        let inherited = forked_since(&fork_detector);
        let own = ForkDetector::of(word);
        // A grandchild is a copy of both.
        inherited
            && forked_since(&fork_detector)
            && !forked_since(&own)
            && in_child(|| {
                let after = (forked_since(&fork_detector), forked_since(&own));
                let own = ForkDetector::of(word);
                after == (true, true) && !forked_since(&own) && forked_since(&fork_detector)
            })
    }));
    assert!(!forked_since(&fork_detector));
    // Children that end do not matter, and siblings are told apart from the parent.
    assert!(in_child(|| forked_since(&fork_detector)));
}

#[test]
fn a_child_knows_by_the_page_that_the_kernel_clears() {
    match wiped() {
        Some(word) => told_apart(word),
        None => eprintln!("the kernel refuses MADV_WIPEONFORK"),
    }
}

#[test]
fn a_child_of_a_bare_system_call_knows_by_the_page() {
    // SAFETY: advice for no bytes, which tells whether the kernel knows it.
    if unsafe { libc::madvise(std::ptr::null_mut(), 0, libc::MADV_WIPEONFORK) } != 0 {
        eprintln!("SKIPPED: the kernel refuses MADV_WIPEONFORK");
        return;
    }
    let fork_detector = ForkDetector::now();
    assert!(in_bare_child(|| forked_since(&fork_detector)));
    assert!(!forked_since(&fork_detector));
}

#[test]
fn a_child_knows_by_the_handler() {
    told_apart(handled());
}

#[test]
fn a_child_knows_by_the_way_that_is_used_here() {
    let fork_detector = ForkDetector::now();
    assert!(in_child(|| forked_since(&fork_detector)));
    assert!(!forked_since(&fork_detector));
}

#[test]
fn a_child_does_not_keep_a_local_descriptor() {
    use std::io::Read;
    use std::os::fd::{AsFd, AsRawFd, OwnedFd};
    let (mut reader, writer) = std::io::pipe().unwrap();
    let writer = LocalFd::open(|| Ok::<_, std::io::Error>(OwnedFd::from(writer))).unwrap();
    let number = writer.as_fd().as_raw_fd();
    let plain = std::fs::File::open("/dev/null").unwrap();
    let mut writer = Some(writer);
    let is_open = |number: i32| {
        // SAFETY: asks for the flags of a number, whatever it is.
        unsafe { libc::fcntl(number, libc::F_GETFD) != -1 }
    };
    assert!(in_child(|| {
        let closed = !is_open(number) && is_open(plain.as_raw_fd());
        // The number may be another one's before the copy is dropped, which must not close that.
        // SAFETY: duplicates a descriptor of this process.
        let again = unsafe { libc::dup2(plain.as_raw_fd(), number) } == number;
        writer.take();
        closed && again && is_open(number)
    }));
    // What was opened before another one was dropped is closed all the same.
    let other = std::fs::File::open("/dev/null").unwrap();
    drop(LocalFd::open(|| other.try_clone().map(OwnedFd::from)).unwrap());
    assert!(in_child(|| !is_open(number) && is_open(other.as_raw_fd())));
    // A child of a child has nothing left to close.
    assert!(in_child(|| in_child(|| !is_open(number))));
    assert!(is_open(number));
    drop(writer);
    assert_eq!(reader.read(&mut [0]).unwrap(), 0, "nobody else writes");
}

#[test]
fn a_child_finds_nothing_locked_that_is_locked_without_forks() {
    static LOCK: Mutex<()> = Mutex::new(());
    let (inside, is_inside) = channel();
    let (forks, begins) = channel();
    let thread = thread::spawn(move || {
        without_forks(Duration::MAX, || {
            let _locked = LOCK.lock().unwrap();
            inside.send(()).unwrap();
            begins.recv().unwrap();
            // Past the moment at which the child would be made.
            thread::sleep(Duration::from_millis(50));
        })
    });
    is_inside.recv().unwrap();
    // Nobody unlocks in this child what the thread has locked.
    assert!(in_bare_child(|| {
        without_forks(Duration::from_millis(1), || ()).is_none()
    }));
    forks.send(()).unwrap();
    assert!(in_child(|| {
        LOCK.try_lock().is_ok() && without_forks(Duration::ZERO, || ()).is_some()
    }));
    assert_eq!(thread.join().unwrap(), Some(()));
    // Neither is anything locked in the parent for long: other tests fork meanwhile.
    assert_eq!(without_forks(Duration::from_secs(60), || 1), Some(1));
}
