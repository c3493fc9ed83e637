//! Measures what operations of two ranks cost where both compute between them, as programs do and loops of benchmarks do not.
//!
//! ```text
//! cargo run --release -p corecast --example between
//! ```
//!
//! All ways take turns in rows of operations, on teams of their own. Both ranks compute for the same time between two operations,
//! a chain of multiplications; shown are nanoseconds for an operation with what is computed, medians of the rows. A barrier is by
//! one line for both flags or by a line for each; data of 8 bytes go in a line for both values, of 16 bytes in messages.

use corecast::operator::Sum;
use corecast::{Algorithms, Builder, Failure, Member, Team};
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

/// Multiplications between two operations.
const WORK: [u64; 9] = [0, 50, 100, 150, 200, 300, 500, 1000, 2000];

/// Rows of each way and work, and operations in one.
const ROWS: usize = 15;
const OPERATIONS: u64 = 20_000;

type Operation = fn(&mut Member, u64) -> Result<(), Failure>;

fn barrier(member: &mut Member, _: u64) -> Result<(), Failure> {
    member.barrier()
}

fn sum<const WORDS: usize>(member: &mut Member, number: u64) -> Result<(), Failure> {
    member.allreduce(black_box(&mut [number; WORDS]), Sum)
}

fn main() -> Result<(), Box<dyn Error>> {
    let ways: [(&str, &str, Operation); 4] = [
        ("barrier, one line", "barrier=butterfly", barrier),
        ("barrier, two lines", "barrier=dissemination", barrier),
        ("allreduce of 8 B", "", sum::<1>),
        ("allreduce of 16 B", "", sum::<2>),
    ];
    let teams = ways.map(|(_, algorithms, _)| {
        let algorithms: Algorithms = algorithms.parse()?;
        Ok::<_, Box<dyn Error>>(Builder::new().threads(2).algorithms(algorithms).build()?)
    });
    let mut teams = teams.into_iter().collect::<Result<Vec<Team>, _>>()?;
    print!("{:>14}", "computed, ns");
    for (name, ..) in ways {
        print!("{name:>20}");
    }
    println!();
    for work in WORK {
        let mut rows = vec![Vec::new(); ways.len()];
        let mut own = Vec::new();
        for _ in 0..ROWS {
            own.push(nanoseconds(|number| {
                black_box(compute(work, number));
                Ok(())
            })?);
            for ((team, (.., operation)), rows) in teams.iter_mut().zip(ways).zip(&mut rows) {
                let took = team.run(|member| {
                    member.barrier()?;
                    nanoseconds(|number| {
                        black_box(compute(work, number));
                        operation(member, number)
                    })
                });
                let took = took.into_iter().collect::<Result<Vec<f64>, _>>()?;
                rows.push(took.into_iter().fold(0.0, f64::max));
            }
        }
        print!("{:>14.0}", median(own));
        for rows in rows {
            print!("{:>20.0}", median(rows));
        }
        println!();
    }
    Ok(())
}

/// How long one of many calls takes.
fn nanoseconds(mut call: impl FnMut(u64) -> Result<(), Failure>) -> Result<f64, Failure> {
    let began = Instant::now();
    (0..OPERATIONS).try_for_each(&mut call)?;
    Ok(began.elapsed().as_secs_f64() * 1e9 / OPERATIONS as f64)
}

fn compute(work: u64, from: u64) -> u64 {
    (0..work).fold(from, |value, _| black_box(value.wrapping_mul(3)))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
