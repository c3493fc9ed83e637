//! A forked process is no member: its copy of a member refuses every operation, and does not act
//! for the rank when it ends. The parent's member goes on.
//!
//! Each test has a process of its own: a lock that a thread of another test held while this one forks
//! would stay locked in the copy.

use crate::own_process::by_itself;
use corecast_collectives::operator::Sum;
use corecast_collectives::{Plans, PlansError};
use corecast_plan::Pattern;
use corecast_process::Address;
use corecast_process::ProcessGroup;
use corecast_team::{Failure, Member, Options, Team};

fn plans() -> Result<Plans, PlansError> {
    let machine = corecast_model::synthetic("core:2").unwrap();
    Plans::of_pattern(machine.costs(), Pattern::Binomial, None)
}

/// Runs `body` in a forked process; returns whether `body` returned `true`.
fn in_fork(body: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child has this thread alone; `body` and what follows take no lock that another
    // thread may have held, and it ends by `_exit`.
    match unsafe { libc::fork() } {
        0 => {
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

fn forks_in_the_middle(member: &mut Member) {
    let rank = member.rank();
    member.barrier().unwrap();
    let refused = in_fork(|| {
        let failed = [
            member.barrier(),
            member.broadcast(0, &mut [1u8]),
            member.allreduce(&mut [1u64; 1000], |a, b| a + b),
        ];
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

#[test]
fn threads() {
    by_itself(|| {
        Team::new(plans().unwrap())
            .unwrap()
            .run(forks_in_the_middle);
    });
}

#[test]
fn processes() {
    by_itself(|| {
        let address = Address::Name(format!("forked-{}", std::process::id()));
        let options = Options::default();
        let team = ProcessGroup::enter(&address, 2, &[None, None], plans, &options).unwrap();
        team.run(forks_in_the_middle);
        let team = ProcessGroup::enter(&address, 2, &[None, None], plans, &options).unwrap();
        team.run(forks_in_flight);
        // Dropping the copy of a member does not end the member of the parent.
        let team = ProcessGroup::enter(&address, 2, &[None, None], plans, &options).unwrap();
        let mut members: Vec<Option<Member>> = (0..2).map(|rank| team.join(rank).ok()).collect();
        assert!(in_fork(|| {
            members.iter_mut().for_each(|member| drop(member.take()));
            true
        }));
        let sum = |mut member: Member| member.allreduce_value(1, |a, b| a + b);
        let [one, other] =
            [0, 1].map(|rank: usize| members[rank].take().expect("the parent's own"));
        let other = std::thread::spawn(move || sum(other));
        assert_eq!((sum(one), other.join().unwrap()), (Ok(2), Ok(2)));
    });
}
