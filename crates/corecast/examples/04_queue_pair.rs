//! Two threads and no team: a queue in each direction, and the time of a round trip.
//!
//! ```text
//! cargo run --release --example 04_queue_pair
//! ```

use std::time::Instant;

use corecast::queue::{self, Options};

const ROUNDS: u32 = 10_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut here, mut there) = queue::pair(&Options::default())?;
    let echo = std::thread::spawn(move || {
        let mut buffer = [0; 8];
        for _ in 0..ROUNDS {
            let message = there.receive(&mut buffer).expect("the message fits");
            there
                .send(&buffer[..message.len])
                .expect("the other end is there");
        }
    });
    let start = Instant::now();
    let mut buffer = [0; 8];
    for round in 0..u64::from(ROUNDS) {
        here.send(&round.to_ne_bytes())?;
        here.receive(&mut buffer)?;
        assert_eq!(u64::from_ne_bytes(buffer), round);
    }
    let each = start.elapsed() / ROUNDS;
    echo.join().expect("the echo ends");
    println!("{ROUNDS} round trips of 8 bytes, {each:?} each");
    Ok(())
}
