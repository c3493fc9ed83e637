//! Sized operations of Corecast and of the floors, over all shapes. No time is asserted.

use crate::common::{plans, shortest};
use corecast_bench::sized::{Library, Player, Task, Threads, Trial};
use corecast_bench::{Entrant, Role, Status, cpu_placement, floor, race};
use corecast_model::Collective;
use corecast_plan::Pattern;
use corecast_team::Options;

#[test]
fn floors_and_teams_of_any_size_pass_their_check() {
    for ranks in [1, 2, 3, 5] {
        let plans = plans(ranks, Pattern::Binomial, Some(0));
        let placements = cpu_placement::free(ranks);
        for operation in Collective::ALL {
            for bytes in [0, 8, 520, 40_000] {
                let task = Task {
                    operation,
                    ranks,
                    bytes: if operation == Collective::Barrier {
                        0
                    } else {
                        bytes
                    },
                };
                let mut entrants = floor::copies(task, true);
                entrants.extend(floor::lines(task, true));
                let floors = entrants.len();
                assert_eq!(floors == 0, operation == Collective::Barrier);
                let threads = Threads::new("threads", task, &plans, 2).unwrap();
                entrants.push(Entrant::threads(Trial::new(threads, task, true)));
                let comparison = race::run(
                    &task.to_string(),
                    &placements,
                    &shortest(),
                    &entrants,
                    |_| {},
                )
                .unwrap();
                for (at, entry) in comparison.entries.iter().enumerate() {
                    assert_eq!(entry.status, Status::Timed, "{task:?}: {}", entry.name);
                    let role = if at < floors {
                        Role::Floor
                    } else {
                        Role::Corecast
                    };
                    assert_eq!(entry.role, role);
                    // Where debug assertions record what ran, the check has compared it with this.
                    assert_eq!(entry.algorithm.is_some(), role == Role::Corecast);
                    assert!(entry.timed().iter().all(|&ns| ns > 0.0));
                }
            }
        }
    }
}

#[test]
fn what_ran_is_what_was_asked_for_where_a_team_can_run_it() {
    let plans = plans(3, Pattern::Binomial, Some(0));
    let of = |operation, asked: &str| {
        let task = Task {
            operation,
            ranks: 3,
            bytes: 4096,
        };
        let options = Options {
            algorithms: asked.parse().unwrap(),
            parallelism: Some(2),
            ..Options::default()
        };
        let threads = Threads::with_options("threads", task, &plans, &options, 1).unwrap();
        let entrants = [Entrant::threads(Trial::new(threads, task, true))];
        let placements = cpu_placement::free(3);
        let race = race::run("x", &placements, &shortest(), &entrants, |_| {}).unwrap();
        assert_eq!(race.entries[0].status, Status::Timed);
        race.entries[0].algorithm.clone().unwrap()
    };
    use Collective::{Allreduce, Exscan, Scatterv};
    assert_eq!(of(Allreduce, "allreduce=ring"), "ring");
    assert_eq!(of(Allreduce, "allreduce=ring@..4K,trees@4K.."), "ring");
    assert_eq!(of(Allreduce, "allreduce=ring@..4095,trees@4095.."), "trees");
    assert_eq!(of(Allreduce, "allreduce=doubling:8K"), "doubling:8K");
    // These three ranks cannot run it.
    assert_ne!(of(Allreduce, "allreduce=rabenseifner"), "rabenseifner");
    assert_eq!(of(Exscan, "scan=chain:4K"), "chain:4K");
    // Where parts differ, only what is asked for at all lengths counts.
    assert_eq!(of(Scatterv, "scatter=fixed"), "fixed");
    assert_eq!(of(Scatterv, "scatter=fixed@..64K"), of(Scatterv, ""));
}

/// A library whose operations do nothing.
struct Idle;

impl Library for Idle {
    fn name(&self) -> &str {
        "idle"
    }

    fn player<'a>(&'a self, _rank: usize) -> Box<dyn Player + 'a> {
        Box::new(Idle)
    }
}

impl Player for Idle {
    fn barrier(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn prepare(&mut self, _place: usize, write: &mut dyn FnMut(&mut [f64])) {
        write(&mut [0.0]);
    }

    fn perform(&mut self, _place: usize) -> Result<(), String> {
        Ok(())
    }

    fn result(&mut self, _place: usize, read: &mut dyn FnMut(&[f64])) {
        read(&[0.5]);
    }
}

#[test]
fn a_library_that_does_nothing_is_not_timed() {
    for operation in Collective::ALL {
        let task = Task {
            operation,
            ranks: 2,
            bytes: 8,
        };
        let entrants = [Entrant::threads(Trial::new(Idle, task, false))];
        let comparison =
            race::run("x", &cpu_placement::free(2), &shortest(), &entrants, |_| {}).unwrap();
        let entry = &comparison.entries[0];
        let Status::Failed(reason) = &entry.status else {
            panic!("{operation}: {:?}", entry.status);
        };
        assert!(reason.contains("is not timed"), "{reason}");
    }
}
