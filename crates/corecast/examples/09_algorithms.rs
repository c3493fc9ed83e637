//! Algorithms by length: a program asks for some, and the example measures how long reading a profile and a
//! look-up take.
//!
//! `cargo run --release -p corecast --example 09_algorithms`

use corecast::model::Profile;
use corecast::model::profile::{
    Mode, SizeRace, Start, TunedCandidate, TunedOperation, TunedRange, Tuning,
};
use corecast::{Algorithms, Builder};
use std::hint::black_box;
use std::time::Instant;

/// A tuning of all operations: three ranges, nine sizes that were raced, five candidates each.
fn tuning(ranks: u32, mode: Mode) -> Tuning {
    let mut tuning = Tuning::new((0..ranks).collect(), true, mode, Start::Together);
    let candidate = |name: &str| TunedCandidate {
        predicted_ns: Some(1234.5),
        measured_ns: Some(2345.6),
        interval_ns: Some((2340.1, 2350.9)),
        samples: 40,
        dropped: Some("out after round 9: 1.42 times as long as the winner".into()),
        ..TunedCandidate::new(Some(name.into()))
    };
    let operation = |&name: &&str| {
        let names = Algorithms::names(name).unwrap();
        let range = |(index, end): (usize, Option<u64>)| TunedRange {
            races: (0..3 - (index as u64 / 2))
                .map(|at| SizeRace {
                    bytes: 8 << (6 * index as u64 + 2 * at),
                    candidates: names.iter().take(5).map(|name| candidate(name)).collect(),
                })
                .collect(),
            ..TunedRange::new(end, names.get(index).map(|&name| name.to_owned()))
        };
        let ends = [Some(1024), Some(64 << 10), None];
        TunedOperation {
            operation: name.to_owned(),
            ranges: ends.into_iter().enumerate().map(range).collect(),
        }
    };
    let lengths = Algorithms::OPERATIONS[1..].iter();
    tuning.operations = lengths.map(operation).collect();
    tuning
}

/// The least time of one of `rounds` calls, in nanoseconds, which is the time when nothing else runs.
fn least<R>(rounds: usize, mut call: impl FnMut() -> R) -> f64 {
    let times = (0..rounds).map(|_| {
        let begin = Instant::now();
        black_box(call());
        begin.elapsed().as_nanos() as f64
    });
    times.fold(f64::MAX, f64::min)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut asked = Algorithms::default();
    asked.ask(
        "allreduce",
        &[(4 << 10, Some("doubling")), (1 << 20, Some("ring"))],
    )?;
    let team = Builder::new().threads(3).algorithms(asked).build()?;
    let sums = team.run(|member| {
        let mut data = vec![member.rank() as u64; 1000];
        member
            .allreduce(&mut data, |a, b| a + b)
            .map(|()| data[999])
    });
    assert_eq!(sums, [Ok(3), Ok(3), Ok(3)]);
    println!("asked for {asked}, the sum is {}", 3);

    for teams in [1, 2, 4] {
        let mut profile = Profile::new("a machine".into(), "today".into());
        for team in 0..teams {
            let mode = [Mode::Threads, Mode::Processes][team as usize % 2];
            profile.record_tuning(tuning(2 + team, mode));
        }
        let text = profile.to_json();
        let ns = least(50, || Profile::from_json(&text).unwrap());
        println!(
            "a profile of {teams} tuned teams, {} KiB: read in {:.2} ms",
            text.len() >> 10,
            ns / 1e6
        );
    }

    // The table has eight ranges, and the lengths are from all of them in turn.
    let names = Algorithms::names("allreduce")?;
    let ends = [
        64,
        256,
        1 << 10,
        4 << 10,
        16 << 10,
        64 << 10,
        256 << 10,
        usize::MAX,
    ];
    let ranges = (0..).zip(ends).map(|(at, end)| (end, Some(names[at % 6])));
    asked.ask("allreduce", &ranges.collect::<Vec<_>>())?;
    let table = asked.allreduce;
    let lengths: Vec<usize> = (0..1000).map(|at| 8 << (at * 7 % 20)).collect();
    let ns = least(200, || {
        let table = black_box(&table);
        let found = lengths
            .iter()
            .filter(|&&bytes| table.at(black_box(bytes)).is_some());
        found.count()
    });
    println!("a look-up in a table of eight ranges: {:.1} ns", ns / 1e3);
    Ok(())
}
