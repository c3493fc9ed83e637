//! Races the barriers that need no Corecast: `barriers [RANKS] [--json]`.

use corecast_bench::{Entrant, Settings, floor, peers, race, seat, table};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let json = arguments.iter().any(|a| a == "--json");
    let ranks = match arguments.iter().find(|a| *a != "--json") {
        Some(text) => text.parse()?,
        None => 2,
    };
    let pus = seat::allowed_pus();
    let seats = match pus.is_empty() {
        true => seat::free(ranks),
        false => seat::pinned(ranks, &pus),
    };
    let mut entrants: Vec<Entrant<'_>> = Vec::new();
    if ranks == 2 && !seat::oversubscribed(&seats) {
        entrants.extend(floor::mutual_exchanges());
        entrants.extend(floor::round_trips());
    }
    entrants.extend(peers::barriers(&seats));
    let comparison = race::run("barrier", &seats, &Settings::default(), &entrants, |_| {})?;
    match json {
        true => println!("{}", serde_json::to_string_pretty(&comparison.report())?),
        false => print!("{}", table::render(&comparison)),
    }
    Ok(())
}
