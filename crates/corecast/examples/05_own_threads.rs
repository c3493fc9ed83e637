//! Threads of one's own, such as those of a pool: each joins as a rank and pins itself.
//!
//! ```text
//! cargo run --example 05_own_threads
//! ```

use std::sync::Arc;
use std::time::Duration;

use corecast::Builder;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Threads of other code may die, so no member waits for them longer than this.
    let patience = Duration::from_secs(10);
    let team = Arc::new(Builder::new().threads(2).patience(patience).build()?);
    let threads: Vec<_> = (0..team.size())
        .map(|rank| {
            let team = Arc::clone(&team);
            std::thread::spawn(move || {
                let pinning = team.pin_here(rank);
                let mut member = team.join(rank).expect("each rank is joined once");
                let ranks = member.allreduce_value(1u32, |a, b| a + b)?;
                Ok::<_, corecast::Failure>((ranks, pinning))
            })
        })
        .collect();
    for (rank, thread) in threads.into_iter().enumerate() {
        let (ranks, pinning) = thread.join().expect("the thread ends")?;
        println!("rank {rank} of {ranks}: pinning {pinning}");
    }
    Ok(())
}
