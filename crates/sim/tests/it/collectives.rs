//! Runs every algorithm on simulated machines: its results are right, it ends, and it is the same every time.

use corecast_collectives::Plans;
use corecast_plan::{Operation, Pattern};
use corecast_sim::drive::{Call, Collective, Job};
use corecast_sim::engine::RunOptions;
use corecast_sim::fabric::{CallPrediction, CallSetting, predict};
use corecast_sim::machine::{Protocol, SimMachine, known};

fn machines() -> Vec<SimMachine> {
    let mut all = vec![
        known::mesh(3, 3),
        known::ring(9),
        known::bus(9),
        known::packages(3, 3),
        known::tilepro64(),
    ];
    let mut victims = known::packages(3, 3);
    victims.protocol = Protocol::Moesi;
    victims.sizes.inclusive = false;
    all.push(victims);
    // The caches have so little room that lines come and go all the time, and there is no store buffer.
    let mut tiny = known::packages(3, 3);
    (tiny.sizes.l1, tiny.sizes.l2, tiny.sizes.shared) = (2, 4, 8);
    tiny.sizes.stores = 0;
    all.push(tiny);
    all
}

fn plans(n: usize, pattern: Pattern) -> Plans {
    let costs = corecast_model::synthetic(&format!("core:{n}")).unwrap();
    let packages = (0..n as u32).map(|rank| rank / 3).collect();
    let plans = Plans::of_pattern(costs.costs(), pattern, Some(n / 2)).unwrap();
    plans.with_packages(packages).unwrap()
}

fn one(
    machine: &SimMachine,
    n: usize,
    call: &Call,
    setting: &CallSetting,
) -> Option<CallPrediction> {
    let job = Job::new(call, &plans(n, Pattern::Binary)).ok()?;
    let cores: Vec<usize> = (0..n).collect();
    // `predict` asserts that results are right.
    Some(
        predict(machine, &cores, &job, setting)
            .unwrap_or_else(|error| panic!("{call} on {n} cores of {}: {error}", machine.name)),
    )
}

#[test]
fn every_algorithm_on_every_machine() {
    let mut random = fastrand::Rng::with_seed(5);
    let mut runs = 0;
    for machine in machines() {
        for n in 1..=9 {
            for collective in Collective::WITH_ALGORITHMS {
                for algorithm in corecast_sim::drive::algorithms(collective) {
                    let bytes = [0, 8, 200, 3000, 5000][random.usize(0..5)];
                    let call = Call::new(collective, algorithm, n / 2, bytes).unwrap();
                    let setting = CallSetting {
                        warm_up: random.usize(0..3),
                        skew: 500.0,
                        options: RunOptions {
                            seed: random.u64(..),
                            jitter: 50.0,
                            ..RunOptions::default()
                        },
                        ..CallSetting::default()
                    };
                    runs += usize::from(one(&machine, n, &call, &setting).is_some());
                }
            }
        }
    }
    assert!(runs > 2000, "{runs}");
}

/// Calls with long data in pipeline segments, with queues that run full, and with rings that wrap around.
#[test]
fn long_data_and_many_laps() {
    for machine in [known::mesh(3, 3), known::packages(3, 3), known::tilepro64()] {
        for (collective, algorithm, bytes, laps) in [
            (Collective::Broadcast, "fixed", 100_000, 2),
            (Collective::Broadcast, "messages", 20_000, 3),
            (Collective::Broadcast, "line", 2_000, 2),
            (Collective::Broadcast, "groups", 2_000, 2),
            (Collective::Reduce, "fixed", 100_000, 2),
            (Collective::Allreduce, "ring", 50_000, 2),
            (Collective::Barrier, "m-way", 0, 40),
            (Collective::Barrier, "groups", 0, 40),
            (Collective::Gather, "push", 20_000, 2),
        ] {
            let call = Call::new(collective, algorithm, 2, bytes).unwrap();
            let setting = CallSetting {
                warm_up: laps,
                ..CallSetting::default()
            };
            let found = one(&machine, 5, &call, &setting).unwrap();
            assert!(found.latency > 0.0, "{call}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_and_another_one_does_not() {
    let call = Call::new(Collective::Allreduce, "messages", 0, 8).unwrap();
    let found = |seed| {
        let setting = CallSetting {
            options: RunOptions {
                seed,
                jitter: 20.0,
                trace: true,
                ..RunOptions::default()
            },
            ..CallSetting::default()
        };
        let found = one(&known::mesh(3, 3), 9, &call, &setting).unwrap();
        format!("{found:?}")
    };
    assert_eq!(found(1), found(1));
    assert_ne!(found(1), found(2));
}

/// Counts the line operations of a message: the sender stores into a slot and looks for a sleeper, the receiver loads
/// the slot.
#[test]
fn a_message_is_one_line_from_cache_to_cache() {
    let call = Call::new(Collective::Broadcast, "messages", 1, 8).unwrap();
    for machine in [known::mesh(3, 3), known::packages(3, 3)] {
        let found = one(&machine, 2, &call, &CallSetting::default()).unwrap();
        let counts = &found.counts;
        let transfers: u64 = counts.transfers.values().sum();
        // The sender has a copy from the lap before, and gets the only one; then the receiver reads the line.
        assert_eq!((transfers, counts.invalidations), (2, 1), "{counts:?}");
        assert_eq!(counts.from(corecast_sim::memory::LineSource::Modified), 1);
    }
}

/// The rest of 1,024 bytes takes 16 lines of the body: each is taken from its reader, and comes over once.
#[test]
fn a_long_message_is_its_slot_and_the_lines_of_the_rest() {
    let counts = |bytes| {
        let call = Call::new(Collective::Broadcast, "messages", 1, bytes).unwrap();
        let machine = known::packages(3, 3);
        let counts = one(&machine, 2, &call, &CallSetting::default())
            .unwrap()
            .counts;
        let came = counts.from(corecast_sim::memory::LineSource::Modified);
        (came, counts.invalidations)
    };
    let (short, long) = (counts(56), counts(1024));
    assert_eq!((short, long), ((1, 1), (17, 17)));
}

#[test]
fn nobody_ends_before_the_root_begins_and_more_take_longer() {
    let mut last = 0.0;
    for n in [2, 4, 8] {
        let call = Call::new(Collective::Broadcast, "messages", n / 2, 8).unwrap();
        let found = one(&known::packages(3, 3), n, &call, &CallSetting::default()).unwrap();
        assert!(found.latency > last, "{n} ranks");
        last = found.latency;
        let longest = found.ends.iter().copied().fold(0.0, f64::max);
        assert_eq!(longest, found.latency);
    }
}

/// Where the model prefers a copy to the tree's root to the tree re-hung at the root of the operation, the copy is
/// faster in virtual time too.
#[test]
fn copies_to_the_root_of_the_tree_are_faster_where_the_model_says_so() {
    let n = 16;
    let file = corecast_model::synthetic(&format!("core:{n}")).unwrap();
    let plans = Plans::of_pattern(file.costs(), Pattern::Binary, Some(0)).unwrap();
    let rehung = plans.clone().with_copies_of([0; 2]).unwrap();
    let mut compared = 0;
    for (collective, operation) in [
        (Collective::Broadcast, Operation::Broadcast),
        (Collective::Reduce, Operation::Reduce),
    ] {
        for root in (0..n).filter(|&root| plans.copies(operation, root)) {
            let call = Call::new(collective, "messages", root, 8).unwrap();
            let cores: Vec<usize> = (0..n).collect();
            let time = |plans| {
                let job = Job::new(&call, plans).unwrap();
                let found = predict(&known::mesh(4, 4), &cores, &job, &CallSetting::default());
                found.unwrap().latency
            };
            let (copied, rehung) = (time(&plans), time(&rehung));
            assert!(copied < rehung, "{call}: {copied} and {rehung}");
            compared += 1;
        }
    }
    assert!(compared > 4, "{compared} roots copy");
}
