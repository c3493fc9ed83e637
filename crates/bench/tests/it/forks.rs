//! Forks and joins, and messages, over all settings. No time is asserted.

use crate::common::{placements, plans, shortest};
use corecast_bench::forks::{self, Lines, Method, Team};
use corecast_bench::peers::Selection;
use corecast_bench::{Entrant, Role, Status, cpu_placement, message, race};
use corecast_plan::Pattern;

#[test]
fn everybody_has_done_its_work_at_the_join() {
    for ranks in [1, 2, 3, 5] {
        let plans = plans(ranks, Pattern::Binomial, Some(0));
        let placements = placements(ranks);
        let mut entrants = forks::peers(&placements, Selection::Threads);
        entrants.push(Entrant::threads(Lines::new(ranks, true)));
        for method in [Method::Barriers, Method::Trees] {
            let team = Team::new("corecast", method, &plans, 1).unwrap();
            entrants.push(Entrant::threads(team));
        }
        let comparison =
            race::run("fork_join", &placements, &shortest(), &entrants, |_| {}).unwrap();
        for entry in &comparison.entries {
            assert_eq!(entry.status, Status::Timed, "{ranks} ranks: {}", entry.name);
        }
        let own = comparison
            .entries
            .iter()
            .filter(|e| e.role == Role::Corecast);
        assert_eq!(own.count(), 2);
    }
}

#[test]
fn parallel_regions_of_openmp_are_checked_and_timed() {
    let required = std::env::var("CORECAST_REQUIRE_PEERS").is_ok_and(|v| v == "1");
    let entrants = forks::peers(&cpu_placement::free(3), Selection::Likely);
    for entrant in &entrants {
        if let Some(reason) = entrant.reason_absent() {
            println!("SKIPPED {}: {reason}", entrant.name());
            assert!(!required, "{} is missing: {reason}", entrant.name());
        }
    }
    let race = race::run(
        "fork_join",
        &cpu_placement::free(3),
        &shortest(),
        &entrants,
        |_| {},
    )
    .unwrap();
    for entry in race.entries.iter().filter(|e| e.name.contains("omp")) {
        let fine = matches!(entry.status, Status::Timed | Status::Skipped(_));
        assert!(fine, "{} {}: {:?}", entry.name, entry.setting, entry.status);
        assert!(entry.status != Status::Timed || entry.operations > 0);
    }
}

#[test]
fn messages_reach_the_other_rank() {
    let placements = cpu_placement::free(2);
    let entrants = message::entrants(&placements, true).unwrap();
    let comparison = race::run("message", &placements, &shortest(), &entrants, |_| {}).unwrap();
    let timed = comparison.entries.iter().filter(|e| e.role != Role::Peer);
    for entry in timed {
        assert_eq!(entry.status, Status::Timed, "{}", entry.name);
    }
    // The peer pins its threads, so it is absent from a race without PUs and says so.
    let peer = comparison
        .entries
        .iter()
        .find(|e| e.role == Role::Peer)
        .unwrap();
    assert!(matches!(&peer.status, Status::Skipped(why) if why.contains("pins")));
}
