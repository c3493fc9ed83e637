//! Races forks and joins: Corecast's, `fork_union`, rayon, `std::thread::scope`, GNU and LLVM OpenMP and a
//! hand-written pair of lines.
//!
//! ```text
//! cargo run --release -p forks [-- --json --pus 0,1 --seconds 10]
//! ```

mod union;

use clap::Parser;
use corecast_bench::cpu_placement::{self, CpuPlacement};
use corecast_bench::forks::{self, Lines, Method, Team};
use corecast_bench::peers::Selection;
use corecast_bench::{Comparison, Entrant, Settings, race, table};
use corecast_collectives::Plans;
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;
use union::Union;

/// Races forks and joins.
#[derive(Parser)]
#[command(name = "forks")]
struct Arguments {
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// The PUs to run on, a rank each; all that are allowed unless given.
    #[arg(long, value_delimiter = ',', num_args = 1, value_name = "A,B,...")]
    pus: Option<Vec<u32>>,
    /// Time for the comparison, about.
    #[arg(long, default_value_t = 10, value_name = "SECONDS")]
    seconds: u64,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("forks: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let placements = placements(arguments.pus.as_deref())?;
    let settings = Settings {
        budget: Duration::from_secs(arguments.seconds),
        ..Settings::default()
    };
    let comparison = compare(&placements, Selection::All, &settings)?;
    match arguments.json {
        true => println!("{}", serde_json::to_string_pretty(&comparison.report())?),
        false => println!("{}", table::render(&comparison, table::Extent::All)),
    }
    Ok(())
}

fn compare(
    placements: &[CpuPlacement],
    selection: Selection,
    settings: &Settings,
) -> Result<Comparison, Box<dyn Error>> {
    let ranks = placements.len();
    let machine = corecast_model::synthetic(&format!("core:{ranks}"))?;
    let mut entrants: Vec<Entrant<'_>> = vec![Entrant::threads(Lines::new(ranks, false))];
    for (pattern, method) in [
        ("dissemination:2", Method::Barriers),
        ("binomial", Method::Trees),
        ("sequential", Method::Barriers),
        ("sequential", Method::Trees),
    ] {
        let plans = Plans::of_pattern(machine.costs(), pattern.parse()?, None)?;
        let team = Team::new(format!("corecast {pattern}"), method, &plans, ranks)?;
        entrants.push(Entrant::threads(team));
    }
    entrants.push(Entrant::threads(Union::new(placements)));
    entrants.extend(forks::peers(placements, selection));
    Ok(race::run(
        "fork_join",
        placements,
        settings,
        &entrants,
        |_| {},
    )?)
}

fn placements(pus: Option<&[u32]>) -> Result<Vec<CpuPlacement>, String> {
    let allowed = cpu_placement::allowed_pus();
    let pus = pus.unwrap_or(&allowed);
    let mut distinct = pus.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    match distinct.len() == pus.len() && pus.len() > 1 {
        true => Ok(cpu_placement::pinned(pus.len(), pus)),
        false => Err(format!(
            "forks need two PUs or more, a different one for each rank, and were given {pus:?}; this process may use \
             {allowed:?}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_bench::Status;

    /// Threads that poll need a PU each.
    #[test]
    fn everybody_does_every_piece_of_every_fork() {
        let Ok(placements) = placements(None) else {
            eprintln!("SKIPPED: one PU, two are needed");
            return;
        };
        let placements = &placements[..2];
        let comparison = compare(placements, Selection::Threads, &Settings::quick()).unwrap();
        let union = comparison.entries.iter().find(|e| e.name == "fork_union");
        assert_eq!(union.unwrap().status, Status::Timed);
        for entry in &comparison.entries {
            assert_eq!(entry.status, Status::Timed, "{}", entry.name);
        }
    }

    #[test]
    fn a_pu_cannot_be_given_twice() {
        assert!(placements(Some(&[0, 0])).is_err() && placements(Some(&[0])).is_err());
        assert_eq!(
            placements(Some(&[1, 0])),
            Ok(cpu_placement::pinned(2, &[1, 0]))
        );
    }
}
