use super::*;
use crate::fault::{self, Fault};

/// A fault is noticed in one of so many cases.
const CASES: u64 = 1000;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Runs one case, and returns what was seen.
fn case(seed: u64) -> Result<Seen, String> {
    let mut simulation = Simulation::new(seed);
    let result = simulation.run();
    let weather = simulation.io.weather;
    result
        .map_err(|error| format!("{error}\n{weather:?}\nCORECAST_REPLAY={seed} runs it again"))?;
    Ok(simulation.seen)
}

/// `CORECAST_TEST_SEEDS` says how many cases are run, and `CORECAST_REPLAY` that it is this one.
#[test]
fn members_agree_in_any_weather_and_go_on_when_it_is_quiet() {
    let seeds = match number("CORECAST_REPLAY") {
        Some(seed) => seed..seed + 1,
        None => 0..number("CORECAST_TEST_SEEDS").unwrap_or(1000),
    };
    let mut all = Seen::default();
    for seed in seeds.clone() {
        let seen = case(seed).unwrap_or_else(|error| panic!("{error}"));
        all.deaths += seen.deaths;
        all.restarts += seen.restarts;
        all.snapshots += seen.snapshots;
        all.configurations += seen.configurations;
        all.quiet += seen.quiet;
        all.acknowledged.extend(seen.acknowledged);
    }
    let acknowledged = all.acknowledged.len();
    println!(
        "{seeds:?}: {acknowledged} commands acknowledged, {} submitted in quiet weather, {} deaths, {} restarts, {} \
         snapshots, {} configurations",
        all.quiet, all.deaths, all.restarts, all.snapshots, all.configurations
    );
    if seeds.end - seeds.start >= 300 {
        let least = all.deaths.min(all.restarts).min(all.snapshots);
        assert!(least > 30 && all.configurations > 1000, "hardly any faults");
    }
}

#[test]
fn a_broken_rule_is_noticed() {
    let faults = [
        Fault::NothingCarried,
        Fault::CarriedIgnored,
        Fault::ReportIgnored,
        Fault::BallotIgnored,
        Fault::LeaderChangeDropsCarried,
        Fault::RestartedLeads,
        Fault::ToldUnchosen,
        Fault::DuplicatesDelivered,
    ];
    for fault in faults {
        let found = (0..CASES)
            .find_map(|seed| Some((seed, fault::with(Some(fault), || case(seed)).err()?)));
        let (seed, error) =
            found.unwrap_or_else(|| panic!("{fault:?} is not noticed in {CASES} cases"));
        println!("{fault:?}: case {seed}: {error}");
    }
}
