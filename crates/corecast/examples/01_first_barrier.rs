//! A barrier: no thread goes on before all threads have arrived.
//!
//! ```text
//! cargo run --example 01_first_barrier
//! ```

use std::sync::atomic::{AtomicUsize, Ordering};

const PHASES: usize = 1_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let team = corecast::team(2)?;
    let size = team.size();
    let arrived = AtomicUsize::new(0);
    let results = team.run(|member| {
        for phase in 1..=PHASES {
            arrived.fetch_add(1, Ordering::Relaxed);
            member.barrier()?;
            // All members have arrived in this phase, and none has begun the next one.
            let seen = arrived.load(Ordering::Relaxed);
            assert_eq!(seen, phase * size);
            member.barrier()?;
        }
        Ok::<_, corecast::Failure>(())
    });
    results.into_iter().collect::<Result<(), _>>()?;
    println!("{size} ranks went through {PHASES} phases together");
    Ok(())
}
