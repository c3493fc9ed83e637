//! Races Corecast's queues against the hand-written floor and other people's
//! queues: two threads, messages of 56 bytes in slots of 64.
//!
//! ```text
//! cargo run --release -p queues [-- --json --pus 0,1 --seconds 10]
//! ```

mod engines;
mod field;
mod link;
mod peers;
mod wire;

use clap::Parser;
use corecast_bench::comparison::Report;
use corecast_bench::cpu_placement::{self, CpuPlacement};
use corecast_bench::{Entrant, Settings, race, table};
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

/// Version of the JSON that `--json` prints around the comparisons.
const SCHEMA: u32 = 1;

/// Races Corecast's queues against the floor and other people's queues.
#[derive(Parser)]
#[command(name = "queues")]
struct Arguments {
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
    /// The two PUs to run on; the first two allowed ones unless given.
    #[arg(long, value_delimiter = ',', num_args = 1, value_name = "A,B")]
    pus: Option<Vec<u32>>,
    /// Time for each of the two comparisons, about.
    #[arg(long, default_value_t = 10, value_name = "SECONDS")]
    seconds: u64,
}

#[derive(serde::Serialize)]
struct Output {
    schema: u32,
    kind: &'static str,
    comparisons: Vec<Report>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("queues: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let placements = placements(arguments.pus.as_deref())?;
    let settings = Settings {
        // 2^16 messages or so, and a thousand round trips.
        batch: Duration::from_millis(2),
        budget: Duration::from_secs(arguments.seconds),
        ..Settings::default()
    };
    let mut comparisons = Vec::new();
    let fields: [(&str, Vec<Entrant<'_>>); 2] = [
        ("queue latency, one way", field::latency()?),
        ("queue throughput, per message", field::throughput()?),
    ];
    for (title, entrants) in &fields {
        let comparison = race::run(title, &placements, &settings, entrants, |_| {})?;
        if !arguments.json {
            println!("{}", table::render(&comparison, table::Extent::All));
        }
        comparisons.push(comparison.report());
    }
    if arguments.json {
        let output = Output {
            schema: SCHEMA,
            kind: "comparisons",
            comparisons,
        };
        println!("{}", serde_json::to_string_pretty(&output)?);
    }
    Ok(())
}

fn placements(pus: Option<&[u32]>) -> Result<Vec<CpuPlacement>, String> {
    let allowed = cpu_placement::allowed_pus();
    let pus = match pus {
        Some(pus) => pus,
        None => &allowed[..allowed.len().min(2)],
    };
    match pus {
        [a, b] if a != b => Ok(cpu_placement::pinned(2, pus)),
        _ => Err(format!(
            "queues need two different PUs and were given {pus:?}; this process may use {allowed:?}"
        )),
    }
}
