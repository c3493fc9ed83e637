//! A forked process is no member: its copy of a member refuses every operation, and does not act
//! for the rank when it ends. The parent's member goes on.
//!
//! Each test has a process of its own: a lock that a thread of another test held while this one forks
//! would stay locked in the copy.

use crate::by_itself::by_itself;
use crate::common::binomial;
use crate::own_process::{WATCHDOG, in_fork};
use corecast_collectives::operator::Sum;
use corecast_process::Address;
use corecast_process::ProcessGroup;
use corecast_team::{Failure, Member, Options, Team};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn forks_in_the_middle(member: &mut Member) {
    let rank = member.rank();
    member.barrier().unwrap();
    let refused = in_fork(|| {
        let failed = [
            member.barrier(),
            member.broadcast(0, &mut [1u8]),
            member.allreduce(&mut [1u64; 1000], |a, b| a + b),
        ];
        // Between processes it would reach the team.
        member.cancel();
        failed
            .iter()
            .all(|done| *done == Err(Failure::Forked { rank }))
    });
    assert!(refused, "rank {rank}");
    for round in 0..100 {
        let sum = member.allreduce_value(round + rank, |a, b| a + b);
        assert_eq!(sum, Ok(2 * round + 1));
    }
}

/// Forks while an operation is in flight; the child unwinds it, and the body.
fn forks_in_flight(member: &mut Member) {
    let parent = std::process::id();
    for _ in 0..5 {
        let mut data = [1u64; 4];
        let body = || {
            member.overlap(|flight| {
                let request = flight.allreduce(&mut data, &Sum)?;
                // It ends by what follows the body.
                let ended_well = in_fork(|| std::panic::resume_unwind(Box::new(())));
                assert!(ended_well);
                request.wait()
            })
        };
        let flown = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
        if std::process::id() != parent {
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(i32::from(flown.is_ok())) }
        }
        flown.unwrap().unwrap().unwrap();
        assert_eq!(data, [2; 4]);
    }
}

/// What a forked process does with an operation of its parent's in flight.
#[derive(Clone, Copy, Debug)]
enum GoesOn {
    Waits,
    Tests,
    StartsMore,
    Returns,
}

/// Where the two ranks of one process are.
#[derive(Debug, Default)]
struct Steps {
    reads: AtomicBool,
    forked: AtomicBool,
}

fn until(step: &AtomicBool) {
    while !step.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
}

/// Rank 0 forks while rank 1 reads what it lends, or has not begun. The child goes on with its copy of the operation,
/// which must neither wait for rank 1 nor do anything in the name of rank 0.
fn goes_on(member: &mut Member, way: GoesOn, reads: bool, steps: &Steps) {
    const LENGTH: usize = 100_000;
    let mut data = vec![1_u64; LENGTH];
    let rank = member.rank();
    let add = |a: u64, b: u64| {
        if rank == 1 && reads {
            steps.reads.store(true, Ordering::Release);
            until(&steps.forked);
        }
        a + b
    };
    if rank == 1 {
        if !reads {
            until(&steps.forked);
        }
        // An operation that blocks would not match one in flight.
        let flown = member.overlap(|flight| flight.reduce(1, &mut data, &add)?.wait());
        flown.unwrap().unwrap();
        assert!(data.iter().all(|&sum| sum == 2), "{way:?}");
        return;
    }
    let forked = Failure::Forked { rank };
    let mut child = -1;
    let flown = member.overlap(|flight| {
        let request = flight.reduce(1, &mut data, &add)?;
        if reads {
            until(&steps.reads);
        }
        // SAFETY: the child does what this test is about, and ends by `_exit` or its alarm.
        child = unsafe { libc::fork() };
        if child != 0 {
            assert!(child > 0, "{}", std::io::Error::last_os_error());
            let mut status = -1;
            // SAFETY: our child, and a place for its status.
            let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
            steps.forked.store(true, Ordering::Release);
            assert_eq!((waited, status), (child, 0), "{way:?}, reads: {reads}");
            return request.wait();
        }
        // SAFETY: takes an integer; the default action of the signal ends the child.
        unsafe { libc::alarm(WATCHDOG.as_secs() as u32) };
        match way {
            GoesOn::Waits => request.wait(),
            GoesOn::Tests => request.test().map(drop),
            GoesOn::StartsMore => {
                let refused = [(); 9].map(|()| flight.barrier().map(drop));
                assert!(refused.iter().all(|done| *done == Err(forked.clone())));
                flight.progress();
                request.wait()
            }
            GoesOn::Returns => Err(forked.clone()),
        }
    });
    if child == 0 {
        let refused = flown.unwrap() == Err(forked.clone()) && member.barrier() == Err(forked);
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(i32::from(!refused)) }
    }
    flown.unwrap().unwrap();
}

const WAYS: [GoesOn; 4] = [
    GoesOn::Waits,
    GoesOn::Tests,
    GoesOn::StartsMore,
    GoesOn::Returns,
];

fn all_go_on(member: &mut Member, steps: &[Steps]) {
    for (round, steps) in steps.iter().enumerate() {
        goes_on(member, WAYS[round / 2], round % 2 == 1, steps);
    }
    assert_eq!(member.allreduce_value(1, |a, b| a + b), Ok(2));
}

#[test]
fn threads() {
    by_itself(|| {
        Team::new(binomial(2).unwrap())
            .unwrap()
            .run(forks_in_the_middle);
    });
}

#[test]
fn operations_in_flight_go_on_in_the_parent_alone() {
    by_itself(|| {
        let steps = || [(); 2 * WAYS.len()].map(|()| Steps::default());
        let (here, there) = (steps(), steps());
        Team::new(binomial(2).unwrap())
            .unwrap()
            .run(|member| all_go_on(member, &here));
        let address = Address::Name(format!("goes-on-{}", std::process::id()));
        let options = Options::default();
        let team =
            ProcessGroup::enter(&address, 2, &[None, None], || binomial(2), &options).unwrap();
        team.run(|member| all_go_on(member, &there));
    });
}

/// A rank that nobody has joined yet has not left because a forked process drops its copy of the team.
#[test]
fn a_copy_of_the_team_speaks_for_no_rank() {
    by_itself(|| {
        let options = Options {
            join_limit: Duration::from_millis(100),
            ..Options::default()
        };
        let memory = ProcessGroup::found(&binomial(2).unwrap(), &options).unwrap();
        let team = ProcessGroup::attach(&memory, &[0, 1], &options).unwrap();
        let mut member = team.join(0).unwrap();
        let mut team = Some(team);
        assert!(in_fork(|| {
            drop(team.take());
            true
        }));
        let failure = member.barrier().unwrap_err();
        assert!(
            matches!(failure, Failure::NeverJoined { missing: 1, .. }),
            "{failure}"
        );
    });
}

#[test]
fn processes() {
    by_itself(|| {
        let address = Address::Name(format!("forked-{}", std::process::id()));
        let options = Options::default();
        let team =
            ProcessGroup::enter(&address, 2, &[None, None], || binomial(2), &options).unwrap();
        team.run(forks_in_the_middle);
        let team =
            ProcessGroup::enter(&address, 2, &[None, None], || binomial(2), &options).unwrap();
        team.run(forks_in_flight);
        // Dropping the copy of a member does not end the member of the parent.
        let team =
            ProcessGroup::enter(&address, 2, &[None, None], || binomial(2), &options).unwrap();
        let mut members: Vec<Option<Member>> = (0..2).map(|rank| team.join(rank).ok()).collect();
        assert!(in_fork(|| {
            members.iter_mut().for_each(|member| drop(member.take()));
            true
        }));
        assert!(team.is_joined(0) && team.is_joined(1));
        let sum = |mut member: Member| member.allreduce_value(1, |a, b| a + b);
        let [one, other] =
            [0, 1].map(|rank: usize| members[rank].take().expect("the parent's own"));
        let other = std::thread::spawn(move || sum(other));
        assert_eq!((sum(one), other.join().unwrap()), (Ok(2), Ok(2)));
    });
}
