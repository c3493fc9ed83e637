//! Ranks that a process has claimed are free again if it cannot join as all of them.

use crate::by_itself::by_itself;
use crate::common::plans_of;
use corecast_plan::Pattern;
use corecast_process::{EnterError, ProcessGroup};
use corecast_team::{Options, Team};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

/// The memory of a team of three for which nobody waits, and its options.
fn found() -> (OwnedFd, Options) {
    let plans = plans_of(3, Pattern::Binomial);
    let options = Options {
        join_limit: Duration::ZERO,
        ..Options::default()
    };
    (ProcessGroup::found(&plans, &options).unwrap(), options)
}

/// Whether a process that joins so has its ranks, but other ranks are missing.
fn joins(joined: &Result<Team, EnterError>) -> bool {
    matches!(joined, Err(EnterError::Missing { .. }))
}

#[test]
fn ranks_of_a_call_that_finds_one_taken() {
    let (memory, options) = found();
    let join = |ranks: &[usize]| ProcessGroup::attach(&memory, ranks, &options);
    let first = join(&[1]);
    assert!(joins(&first), "{first:?}");
    for ranks in [&[0, 1][..], &[2, 0, 1], &[1, 2], &[0, 0]] {
        let refused = join(ranks);
        let taken = matches!(refused, Err(EnterError::Taken { .. }));
        assert!(taken, "{ranks:?}: {refused:?}");
    }
    let second = join(&[0]);
    assert!(joins(&second), "{second:?}");
    let last = join(&[2]);
    assert!(last.is_ok(), "{last:?}");
}

/// Runs `body` while this process can open `more` descriptors and no others.
fn with_descriptors<R>(more: u64, body: impl FnOnce() -> R) -> R {
    let lowest = std::fs::File::open("/dev/null").unwrap().as_raw_fd();
    let mut before = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: writes to the value.
    let got = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut before) };
    let limit = |limit: &libc::rlimit| {
        // SAFETY: reads the value.
        let set = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, limit) };
        assert_eq!(set, 0);
    };
    assert_eq!(got, 0);
    limit(&libc::rlimit {
        rlim_cur: lowest as u64 + more,
        ..before
    });
    let result = body();
    limit(&before);
    result
}

/// There is no descriptor for the thread that tells others when this process ends.
#[test]
fn ranks_of_a_process_whose_end_would_not_show() {
    by_itself(|| {
        let (memory, options) = found();
        let join = |more| {
            with_descriptors(more, || {
                ProcessGroup::attach(memory.as_fd(), &[0, 2], &options)
            })
        };
        let tries: Vec<_> = (0..20).map(join).collect();
        let refused = |joined: &_| matches!(joined, Err(EnterError::Watch(_)));
        assert!(tries.iter().any(refused), "{tries:?}");
        let taken = |joined: &_| matches!(joined, Err(EnterError::Taken { .. }));
        let first = tries.iter().position(joins);
        let first = first.unwrap_or_else(|| panic!("{tries:?}"));
        assert!(!tries[..first].iter().any(taken), "{tries:?}");
    });
}
