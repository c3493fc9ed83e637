//! Measures the CPU time of a team that waits: eight ranks wait for a ninth that sleeps.
//!
//! `cargo run --release -p corecast-process --example idle [SECONDS]`

use corecast_collectives::Plans;
use corecast_plan::Pattern;
use corecast_team::Team;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds: u64 = std::env::args().nth(1).map_or(Ok(10), |s| s.parse())?;
    let machine = corecast_model::synthetic("core:9")?;
    let team = Team::new(Plans::of_pattern(
        machine.costs(),
        Pattern::Sequential,
        None,
    )?)?;
    let (clock, cpu) = (Instant::now(), cpu_time());
    team.run(|member| {
        if member.rank() == 0 {
            std::thread::sleep(Duration::from_secs(seconds));
        }
        member.barrier()
    })
    .into_iter()
    .collect::<Result<Vec<()>, _>>()?;
    let (waited, used) = (clock.elapsed(), cpu_time() - cpu);
    println!(
        "9 ranks waited {:.1} s and used {:.2} ms of CPU: {:.4} % of a core",
        waited.as_secs_f64(),
        used.as_secs_f64() * 1e3,
        100.0 * used.as_secs_f64() / waited.as_secs_f64()
    );
    Ok(())
}

/// CPU time of the whole process.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
