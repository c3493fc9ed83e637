//! A team of processes that goes on when one of them is killed, and takes another one in: this program starts itself once
//! more for each other rank, kills one of these halfway, and starts one that takes its place.
//!
//! ```text
//! cargo run --example 11_survivors
//! ```

use corecast::process::Address;
use corecast::{Builder, Error, Failure, Member, Team};
use std::process::{Child, Command};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// The environment variable that tells another process the team's name and its rank.
const PLACE: &str = "CORECAST_EXAMPLE_PLACE";
const RANKS: usize = 3;
/// Steps of the work.
const STEPS: u64 = 20_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if let Ok(place) = std::env::var(PLACE) {
        let (name, rank) = place.split_once(' ').ok_or("a name and a rank")?;
        let address = Address::Name(name.to_owned());
        return Ok(steps(&address, rank.parse()?, &|_| {})?);
    }
    let name = format!("example-11-{}", std::process::id());
    let start = |rank: usize| -> std::io::Result<Child> {
        let program = std::env::current_exe()?;
        let place = format!("{name} {rank}");
        Command::new(program).env(PLACE, place).spawn()
    };
    let others = Mutex::new(vec![start(1)?, start(2)?]);
    let replace = |step| {
        if step == STEPS / 2 {
            let mut others = others.lock().expect("no thread panics with it");
            others[1].kill().expect("it is a child of this process");
            others[1].wait().expect("it is a child of this process");
            others[1] = start(2).expect("it has been started before");
        }
    };
    steps(&Address::Name(name.clone()), 0, &replace)?;
    for mut other in others.into_inner()? {
        if !other.wait()?.success() {
            return Err("another process failed".into());
        }
    }
    Ok(())
}

/// Takes all steps as a rank of the team at `address`. Whenever the team has lost a rank, it goes on as one in which another
/// process has taken that place.
fn steps(address: &Address, rank: usize, each: &(dyn Fn(u64) + Sync)) -> Result<(), Error> {
    let mut team: Team = Builder::new().enter(address, RANKS, &[Some(rank)])?;
    let done = AtomicU64::new(0);
    while let Err(failure) = team.run(|member| work(member, &done, each)).remove(0) {
        let next = team.refilled()?;
        println!("rank {rank}: {failure}");
        println!(
            "rank {rank}: {} operations had completed on all ranks that go on, {:?}",
            next.completed(),
            next.ranks
        );
        team = next.team;
    }
    println!("rank {rank}: {STEPS} steps are done");
    Ok(())
}

fn work(member: &mut Member, done: &AtomicU64, each: &dyn Fn(u64)) -> Result<(), Failure> {
    // Some may have come a step further than others, and a new process has taken none.
    let mut step = member.allreduce_value(done.load(Ordering::Relaxed), u64::max)?;
    while step < STEPS {
        step += 1;
        let sum = member.allreduce_value(step, |a, b| a + b)?;
        assert_eq!(sum, step * RANKS as u64);
        done.store(step, Ordering::Relaxed);
        each(step);
    }
    Ok(())
}
