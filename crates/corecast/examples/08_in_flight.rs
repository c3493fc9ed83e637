//! Two operations in flight while the ranks compute.
//!
//! ```text
//! cargo run --example 08_in_flight
//! ```

use corecast::operator::Max;

type Error = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Error> {
    let team = corecast::team(3)?;
    let ended = team.run(|member| {
        let mut peak = [member.rank() as f64; 100];
        let mut news = [0u8; 40_000];
        if member.rank() == 1 {
            news.fill(7);
        }
        let mut own = 0u64;
        // All operations have ended when this returns, even if the closure returns early.
        member.overlap(|flight| {
            let highest = flight.allreduce(&mut peak, &Max)?;
            let telling = flight.broadcast(1, &mut news)?;
            // A test of one operation lets both make progress.
            while !highest.test()? {
                own += 1;
            }
            telling.wait()?;
            highest.wait()
        })??;
        assert_eq!((peak, news), ([2.0; 100], [7; 40_000]));
        Ok::<_, Error>(own)
    });
    for (rank, own) in ended.into_iter().enumerate() {
        println!("rank {rank} did {} pieces of its own work meanwhile", own?);
    }
    Ok(())
}
