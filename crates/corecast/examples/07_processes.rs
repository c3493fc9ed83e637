//! A team of two processes: this program starts itself again, both meet at a name, and then it is the
//! same as with threads.
//!
//! ```text
//! cargo run --example 07_processes
//! ```

use corecast::operator::Sum;
use corecast::process::Address;
use corecast::{Builder, Failure};
use std::process::Command;

/// Tells the second process where to meet the first.
const NAME: &str = "CORECAST_EXAMPLE_NAME";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given = std::env::var(NAME).ok();
    let name = given
        .clone()
        .unwrap_or_else(|| format!("example-07-{}", std::process::id()));
    let second = match given {
        Some(_) => None,
        None => {
            let program = std::env::current_exe()?;
            Some(Command::new(program).env(NAME, &name).spawn()?)
        }
    };

    // Each brings two of four ranks; whoever comes first plans for all.
    let team = Builder::new().enter(&Address::Name(name), 4, &[None, None])?;
    println!(
        "process {} has ranks {:?}",
        std::process::id(),
        team.ranks()
    );
    let sums = team.run(|member| {
        let mut sum = vec![member.rank() as u64; 10_000];
        member.allreduce(&mut sum, Sum)?;
        member.barrier()?;
        Ok::<_, Failure>(sum)
    });
    for sum in sums {
        assert!(sum?.iter().all(|&sum| sum == 6));
    }
    if let Some(mut second) = second
        && !second.wait()?.success()
    {
        return Err("the second process failed".into());
    }
    Ok(())
}
