//! A sum of squares: one rank has the data, each rank computes a part, and one rank gets the result.
//!
//! ```text
//! cargo run --example 02_broadcast_and_reduce
//! ```

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let team = corecast::team(4)?;
    let root = 0;
    let results = team.run(|member| {
        // All ranks have room for the data, but only the root has the data.
        let mut data = [0.0f64; 100];
        if member.rank() == root {
            data = std::array::from_fn(|i| i as f64);
        }
        member.broadcast(root, &mut data)?;

        let part = data.len() / member.size();
        let mine = &data[part * member.rank()..part * (member.rank() + 1)];
        let squares: f64 = mine.iter().map(|x| x * x).sum();
        member.reduce_value(root, squares, |a, b| a + b)
    });
    for (rank, result) in results.into_iter().enumerate() {
        match result? {
            Some(sum) => println!("rank {rank}: the sum of squares is {sum}"),
            None => println!("rank {rank}: has done its part"),
        }
    }
    Ok(())
}
