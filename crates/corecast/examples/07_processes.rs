//! A team of two processes: this program starts itself once more, and both processes enter the team by its
//! name. After that the code is that of a team of threads.
//!
//! ```text
//! cargo run --example 07_processes
//! ```

use corecast::operator::Sum;
use corecast::process::Address;
use corecast::{Builder, Failure};
use std::process::Command;

/// The environment variable that tells the second process the name of the team.
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

    // Each process has two of the four ranks; the process that comes first plans for both.
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

    // Buffers that all processes see are read where they lie.
    let sums = team.run(|member| {
        let mut data = member.alloc::<f64>(10_000)?;
        data.fill(0.5);
        member.allreduce(&mut data, Sum)?;
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(data[9_999])
    });
    for sum in sums {
        assert_eq!(sum.map_err(|error| error.to_string())?, 2.0);
    }
    if let Some(mut second) = second
        && !second.wait()?.success()
    {
        return Err("the second process failed".into());
    }
    Ok(())
}
