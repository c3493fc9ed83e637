//! Models of teams, checked in every interleaving that the memory model allows within some preemptions.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test --profile models -p corecast-team --test loom`. The members are those that users
//! have, operations in flight and their fibers included, over the atomics and locks of the model. Each model also has
//! seeded faults that it must catch: a model that cannot fail proves nothing.
#![cfg(loom)]

#[path = "loom/activity.rs"]
mod activity;
#[path = "../../wire/tests/loom/check.rs"]
mod check;
#[path = "loom/in_flight.rs"]
mod in_flight;
#[path = "loom/processes.rs"]
mod processes;

use corecast_plan::Pattern;
use corecast_team::{
    Collective, Failure, Member, Operation, Options, Plans, RankActivity, Site, Team,
};
use corecast_wire::WaitConfig;
use loom::thread::Builder;
use std::panic::Location;

/// Words of the stack of a rank. A model's own thread has too few for a team.
const STACK_WORDS: usize = 1 << 15;

fn plans() -> Plans {
    let machine = corecast_model::synthetic("core:2").unwrap();
    Plans::of_pattern(machine.costs(), Pattern::Binomial, None).unwrap()
}

/// Plans of two ranks whose barrier is one exchange.
fn pair() -> Plans {
    let machine = corecast_model::synthetic("core:2").unwrap();
    let dissemination = Pattern::Dissemination { radix: 2 };
    Plans::of_pattern(machine.costs(), dissemination, None).unwrap()
}

/// A team whose members sleep at once, because models do not spin, and which is as small as teams can be.
fn options(depth: usize) -> Options {
    Options {
        wait_config: Some(WaitConfig::PARK),
        parallelism: Some(2),
        slots: Some(2),
        depth,
        ..Options::default()
    }
}

/// Both members of a team of threads.
fn members(plans: &Plans, options: Options) -> [Member; 2] {
    let team = Team::with_options(plans.clone(), &options).unwrap();
    [0, 1].map(|rank| team.join(rank).unwrap())
}

/// Runs both members on threads of their own, and returns what they return.
fn run<A: Send + 'static, B: Send + 'static>(
    members: impl FnOnce() -> [Member; 2] + Send + 'static,
    zero: impl FnOnce(&mut Member) -> A + Send + 'static,
    one: impl FnOnce(&mut Member) -> B + Send + 'static,
) -> (A, B) {
    let thread = || Builder::new().stack_size(STACK_WORDS);
    let ranks = thread().spawn(move || {
        let [mut first, mut second] = members();
        let other = thread().spawn(move || one(&mut second)).unwrap();
        let result = zero(&mut first);
        drop(first);
        (result, other.join().unwrap())
    });
    ranks.unwrap().join().unwrap()
}

type Called = (&'static Location<'static>, Result<(), Failure>);

/// Calls a barrier, and says where.
#[track_caller]
fn barrier(member: &mut Member) -> Called {
    (Location::caller(), member.barrier())
}

/// Calls a broadcast from `root`, and says where.
#[track_caller]
fn broadcast(member: &mut Member, root: usize) -> Called {
    (Location::caller(), member.broadcast(root, &mut [7u64]))
}

/// What a failure should say about a rank.
fn activity(
    rank: usize,
    (seq, kind, root): (u32, Collective, u32),
    site: &'static Location<'static>,
) -> RankActivity {
    RankActivity {
        rank,
        operation: Some(Operation {
            seq,
            kind,
            root,
            in_flight: false,
        }),
        site: Some(Site::Local(site)),
    }
}
