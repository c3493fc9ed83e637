//! A program for a launcher: under `corecast run -n 4 -- PROGRAM` it is one of four processes of a team, and by itself
//! it is a team of two threads.
//!
//! ```text
//! cargo build --example 10_launched
//! corecast run -n 4 -- target/debug/examples/10_launched
//! ```

use corecast::Builder;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let team = match Builder::new().inherited()? {
        Some(team) => team,
        None => corecast::team(2)?,
    };
    let size = team.size();
    let sums = team.run(|member| member.allreduce_value(member.rank() as u64, |a, b| a + b));
    for (rank, sum) in team.ranks().into_iter().zip(sums) {
        println!("rank {rank} of {size}: the sum is {}", sum?);
    }
    Ok(())
}
