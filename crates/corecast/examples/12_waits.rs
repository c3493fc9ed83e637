//! How long ranks wait, where, and whether for others: here rank 1 has three times the work of rank 0.
//!
//! `cargo run --release --example 12_waits`

use corecast::{Builder, Failure};
use std::hint::black_box;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let team = Builder::new().threads(2).record(true).build()?;
    let ended = team.run(|member| {
        for _ in 0..100 {
            let terms = 500_000 * (1 + 2 * member.rank() as u64);
            let part: u64 = (0..black_box(terms)).map(|x| black_box(x) % 7).sum();
            let sum = member.allreduce_value(part, |a, b| a + b)?;
            black_box(sum);
            member.barrier()?;
        }
        Ok::<(), Failure>(())
    });
    ended.into_iter().collect::<Result<Vec<()>, _>>()?;
    println!("{}", team.record().expect("it was asked for"));
    Ok(())
}
