//! Races the barriers that people use today, and the floor of two ranks:
//! `barriers [RANKS [SECONDS]] [--json]`.

use corecast_bench::{Entrant, Settings, cpu_placement, floor, peers, race, table};
use std::error::Error;
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let json = arguments.iter().any(|a| a == "--json");
    let mut numbers = arguments.iter().filter(|a| *a != "--json");
    let ranks = numbers.next().map_or(Ok(2), |text| text.parse())?;
    let seconds = numbers.next().map_or(Ok(10), |text| text.parse())?;
    let settings = Settings {
        budget: Duration::from_secs(seconds),
        ..Settings::default()
    };
    let pus = cpu_placement::allowed_pus();
    let placements = match pus.is_empty() {
        true => cpu_placement::free(ranks),
        false => cpu_placement::pinned(ranks, &pus),
    };
    let mut entrants: Vec<Entrant<'_>> = Vec::new();
    if ranks == 2 && !cpu_placement::oversubscribed(&placements) {
        entrants.extend(floor::barrier_floors());
    }
    entrants.extend(peers::barriers(&placements, peers::Selection::All));
    let comparison = race::run("barrier", &placements, &settings, &entrants, |_| {})?;
    match json {
        true => println!("{}", serde_json::to_string_pretty(&comparison.report())?),
        false => print!("{}", table::render(&comparison, table::Extent::All)),
    }
    Ok(())
}
