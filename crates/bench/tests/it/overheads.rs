//! Constructs by every provider: sound ones are timed, broken ones are not.

use crate::common::{Open, own};
use corecast_bench::apps::{Means, OverBarrier, Provider};
use corecast_bench::overheads::{self, Construct, Delay, Report, constructing};
use corecast_bench::peers::NativeConstructs;
use corecast_bench::{Entrant, Role, Settings, Status, cpu_placement, peers, race};

fn providers(ranks: usize) -> Vec<Box<dyn Provider>> {
    let barriers = peers::thread_barriers(&cpu_placement::free(ranks)).into_iter();
    let barriers = barriers.map(|b| Box::new(OverBarrier::new(b)) as Box<dyn Provider>);
    let own = [Means::Barrier, Means::Collectives].map(|means| own(ranks, means));
    own.into_iter().chain(barriers).collect()
}

#[test]
fn every_construct_is_sound_by_everybody() {
    for ranks in [2, 5] {
        let mut races = Vec::new();
        for construct in Construct::ALL {
            let placements = cpu_placement::free(ranks);
            let (delay, settings) = (Delay::calibrate(), Settings::quick());
            let providers = providers(ranks);
            let race = overheads::race(
                construct,
                delay,
                &placements,
                &settings,
                providers,
                None,
                |_| {},
            );
            let race = race.unwrap();
            for entry in &race.entries {
                assert_eq!(entry.status, Status::Timed, "{construct}, {}", entry.name);
            }
            races.push((construct, race));
        }
        let report = Report::of(&races);
        assert_eq!(report.constructs.len(), 7);
        for table in &report.constructs {
            let own = table.entries.iter().filter(|e| e.role == Role::Corecast);
            let expected = if table.construct == Construct::Critical {
                0
            } else {
                2
            };
            assert_eq!(own.count(), expected, "{}", table.construct);
        }
    }
}

#[test]
fn what_openmp_and_the_standard_library_have_takes_part() {
    let placements = cpu_placement::free(2);
    let native = NativeConstructs::build(&placements);
    let required = std::env::var("CORECAST_REQUIRE_PEERS").is_ok_and(|v| v == "1");
    for construct in [
        Construct::Parallel,
        Construct::Critical,
        Construct::Reduction,
    ] {
        let settings = Settings {
            rounds_min: 2,
            rounds_max: 2,
            ..Settings::quick()
        };
        let delay = Delay::calibrate();
        let native = Some(&native);
        let race = overheads::race(
            construct,
            delay,
            &placements,
            &settings,
            Vec::new(),
            native,
            |_| {},
        );
        let race = race.unwrap();
        let expected = match construct {
            Construct::Parallel => Some("std::thread::scope"),
            Construct::Critical => Some("std::sync::Mutex"),
            _ => None,
        };
        for name in ["gomp", "libomp"].into_iter().chain(expected) {
            let mut entries = race.entries.iter().filter(|e| e.name == name);
            let entry = entries
                .next()
                .unwrap_or_else(|| panic!("{name}, {construct}"));
            match &entry.status {
                Status::Skipped(reason) => {
                    println!("SKIPPED: {name}: {reason}");
                    assert!(reason.contains("install") && !required, "{reason}");
                }
                status => assert_eq!(*status, Status::Timed, "{name}, {construct}"),
            }
        }
    }
}

#[test]
fn constructs_that_do_not_hold_ranks_together_are_not_timed() {
    let ranks = 4;
    for construct in Construct::ALL {
        if construct == Construct::Critical {
            continue;
        }
        let provider = Box::new(OverBarrier::new(Box::new(Open(ranks))));
        let engine = constructing(construct, Delay::calibrate(), provider);
        let entrants = [Entrant::threads(engine)];
        let settings = Settings {
            verify_rounds: 256,
            ..Settings::quick()
        };
        let race = race::run(
            "",
            &cpu_placement::free(ranks),
            &settings,
            &entrants,
            |_| {},
        )
        .unwrap();
        let status = &race.entries[0].status;
        assert!(
            matches!(status, Status::Failed(_)),
            "{construct}: {status:?}"
        );
    }
}
