//! Corecast's own entrants: each operation, over many shapes, verified and timed. No time is
//! asserted.

use crate::common::{plans, shortest};
use corecast_bench::contestant::PLANNED;
use corecast_bench::{Contestant, Engine, Entrant, Exercise, Role, Status, cpu_placement, race};
use corecast_model::Collective;
use corecast_plan::Pattern;

fn contestant(collective: Collective, ranks: usize, pattern: &str, bytes: usize) -> Contestant {
    let pattern: Pattern = pattern.parse().unwrap();
    let root = (ranks > 2).then_some(1);
    let exercise = Exercise {
        name: format!("{collective} {pattern} {ranks}"),
        collective,
        root: root.unwrap_or(0),
        bytes,
        usable: cpu_placement::allowed_pus().len(),
        predicted_ns: Some(1.0),
    };
    Contestant::new(exercise, &plans(ranks, pattern, root)).unwrap()
}

#[test]
fn every_operation_passes_its_check_at_any_team_size() {
    let pus = cpu_placement::allowed_pus();
    for ranks in [1, 2, 3, 4, 7] {
        let mut entrants = Vec::new();
        for collective in PLANNED {
            for pattern in ["sequential", "binomial", "dissemination:2"] {
                entrants.push(Entrant::threads(contestant(collective, ranks, pattern, 8)));
            }
        }
        let placements = cpu_placement::pinned(ranks, &pus);
        let comparison = race::run("all", &placements, &shortest(), &entrants, |_| {}).unwrap();
        for entry in &comparison.entries {
            assert_eq!(entry.status, Status::Timed, "{}", entry.name);
            assert_eq!(entry.role, Role::Corecast);
            // Where debug assertions record what ran, the check has compared it with this.
            assert!(entry.algorithm.is_some(), "{}", entry.name);
            assert!(entry.timed().iter().all(|&ns| ns > 0.0), "{}", entry.name);
        }
    }
}

#[test]
fn data_of_any_length_arrive() {
    for bytes in [0, 8, 56, 64, 5000] {
        let entrants = [
            Collective::Broadcast,
            Collective::Reduce,
            Collective::Allreduce,
        ]
        .map(|collective| Entrant::threads(contestant(collective, 3, "chain", bytes)));
        let placements = cpu_placement::free(3);
        let comparison = race::run("lengths", &placements, &shortest(), &entrants, |_| {}).unwrap();
        for entry in &comparison.entries {
            assert_eq!(entry.status, Status::Timed, "{} {bytes}", entry.name);
        }
    }
}

#[test]
fn settings_name_the_root_where_there_is_one() {
    let setting = |collective| contestant(collective, 3, "smelt", 8).setting();
    assert_eq!(setting(Collective::Broadcast), "from rank 1");
    assert_eq!(setting(Collective::Reduce), "to rank 1");
    assert_eq!(setting(Collective::Barrier), "");
}

#[test]
fn a_second_race_of_the_same_contestant_fails_and_does_not_hang() {
    let contestant = contestant(Collective::Barrier, 2, "smelt", 0);
    for first in [true, false] {
        struct Again<'a>(&'a Contestant);
        impl Engine for Again<'_> {
            fn name(&self) -> &str {
                "again"
            }
            fn ranks(&self) -> usize {
                2
            }
            fn member<'a>(&'a self, rank: usize) -> Box<dyn corecast_bench::Member + 'a> {
                self.0.member(rank)
            }
        }
        let entrants = [Entrant::threads(Again(&contestant))];
        let comparison = race::run(
            "again",
            &cpu_placement::free(2),
            &shortest(),
            &entrants,
            |_| {},
        )
        .unwrap();
        let status = &comparison.entries[0].status;
        match first {
            true => assert_eq!(*status, Status::Timed),
            false => assert!(
                matches!(status, Status::Failed(why) if why.contains("one race")),
                "{status:?}"
            ),
        }
    }
}

#[test]
#[should_panic(expected = "plans do not race in gather")]
fn plans_race_in_what_runs_over_them() {
    contestant(Collective::Gather, 2, "smelt", 8);
}
