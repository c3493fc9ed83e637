//! A user's own operator: all ranks learn the smallest value and the rank that has it (argmin).
//!
//! Elements are plain data without padding, which the re-exported `bytemuck` checks at compile time.
//!
//! ```text
//! cargo run --example 03_own_operator
//! ```

use corecast::bytemuck::{Pod, Zeroable};

/// A value and the rank that has it.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Best {
    value: f64,
    rank: u64,
}

/// The smaller value; of equal values that of the lower rank, so that the result does not depend on the order
/// in which the tree combines them.
fn smaller(a: Best, b: Best) -> Best {
    if (b.value, b.rank) < (a.value, a.rank) {
        b
    } else {
        a
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let team = corecast::team(4)?;
    let found = team.run(|member| {
        let rank = member.rank();
        // Each rank searches its part of the field.
        let value = (rank as f64 - 2.2).powi(2);
        let rank = rank as u64;
        member.allreduce_value(Best { value, rank }, smaller)
    });
    let found: Vec<Best> = found.into_iter().collect::<Result<_, _>>()?;
    assert!(found.iter().all(|best| *best == found[0]));
    println!(
        "everybody knows: the least value is that of rank {}",
        found[0].rank
    );
    Ok(())
}
