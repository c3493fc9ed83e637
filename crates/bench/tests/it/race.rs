//! The harness, with engines of known cost and known faults. No absolute time is asserted: engines whose clock
//! counts the turns of their loop are compared, and real time only until it comes out once as it should.

use corecast_bench::cpu_placement::{self, CpuPlacement};
use corecast_bench::engine::Ledger;
use corecast_bench::{
    Comparison, Engine, Entrant, External, Flaw, Member, Progress, RaceError, Role, Settings,
    Status, floor, peers, race, table,
};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Work of a known number of turns per operation, without synchronisation.
struct Busy {
    name: &'static str,
    turns: u64,
    parts: u32,
    role: Role,
    /// Whether members say that a turn takes a nanosecond; otherwise the harness measures.
    is_told: bool,
    operations: [AtomicU64; 2],
}

impl Busy {
    fn new(name: &'static str, turns: u64, role: Role) -> Busy {
        Busy {
            name,
            turns,
            parts: 1,
            role,
            is_told: true,
            operations: Default::default(),
        }
    }
}

impl Engine for &Busy {
    fn name(&self) -> &str {
        self.name
    }
    fn setting(&self) -> String {
        format!("{} turns", self.turns)
    }
    fn role(&self) -> Role {
        self.role
    }
    fn ranks(&self) -> usize {
        2
    }
    fn parts(&self) -> u32 {
        self.parts
    }
    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        struct BusyMember<'a>(&'a Busy, usize);
        impl Member for BusyMember<'_> {
            fn run(&mut self, operations: u64) {
                self.0.operations[self.1].fetch_add(operations, Ordering::Relaxed);
                for turn in 0..operations * self.0.turns {
                    black_box(turn);
                }
            }
            fn measure(&mut self, operations: u64) -> Option<Duration> {
                self.run(operations);
                self.0
                    .is_told
                    .then(|| Duration::from_nanos(operations * self.0.turns))
            }
            fn verify(&mut self, _rank: usize, _ledger: &Ledger) -> Result<(), Flaw> {
                Ok(())
            }
        }
        Box::new(BusyMember(self, rank))
    }
}

/// A barrier made of a function.
struct Made {
    ranks: usize,
    pass: fn(&Shared, usize, &mut u64),
    shared: Shared,
}

#[derive(Default)]
struct Shared {
    arrived: AtomicU64,
    ranks: u64,
}

fn made(ranks: usize, pass: fn(&Shared, usize, &mut u64)) -> Made {
    Made {
        ranks,
        pass,
        shared: Shared {
            arrived: AtomicU64::new(0),
            ranks: ranks as u64,
        },
    }
}

impl Engine for Made {
    fn name(&self) -> &str {
        "made"
    }
    fn ranks(&self) -> usize {
        self.ranks
    }
    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        let mut number = 0;
        Box::new(move |operations| {
            for _ in 0..operations {
                (self.pass)(&self.shared, rank, &mut number);
            }
        })
    }
}

fn counting(shared: &Shared, _rank: usize, number: &mut u64) {
    *number += 1;
    shared.arrived.fetch_add(1, Ordering::AcqRel);
    while shared.arrived.load(Ordering::Acquire) < *number * shared.ranks {
        std::thread::yield_now();
    }
}

fn not_waiting(_shared: &Shared, _rank: usize, _number: &mut u64) {}

/// A barrier that waits for all ranks but one.
fn one_short(shared: &Shared, _rank: usize, number: &mut u64) {
    *number += 1;
    shared.arrived.fetch_add(1, Ordering::AcqRel);
    while shared.arrived.load(Ordering::Acquire) < *number * shared.ranks - 1 {
        std::thread::yield_now();
    }
}

fn run(placements: &[CpuPlacement], entrants: &[Entrant<'_>]) -> Comparison {
    race::run("test", placements, &Settings::quick(), entrants, |_| {}).unwrap()
}

#[test]
fn relative_costs_come_out_as_they_are() {
    let settings = Settings {
        rounds_min: 30,
        rounds_max: 30,
        budget: Duration::from_secs(30),
        ..Settings::quick()
    };
    let ratio = |is_told| {
        let engine = |name, turns, role| Busy {
            is_told,
            ..Busy::new(name, turns, role)
        };
        let (one, four) = (
            engine("one", 500, Role::Floor),
            engine("four", 2000, Role::Peer),
        );
        let entrants = [Entrant::threads(&four), Entrant::threads(&one)];
        let comparison = race::run(
            "test",
            &cpu_placement::free(2),
            &settings,
            &entrants,
            |_| {},
        )
        .unwrap();
        assert_eq!(comparison.rounds, 30);
        let [four, one] = &comparison.entries[..] else {
            panic!("two entries")
        };
        let ratio = comparison.ratio(four, one).unwrap();
        assert_eq!(ratio.pairs, 30);
        let fastest = comparison.fastest(Role::Floor).unwrap();
        assert_eq!(fastest.name, "one");
        assert!(comparison.fastest(Role::Corecast).is_none());
        ratio.median
    };
    assert_eq!(ratio(true), 4.0);
    // Here the harness measures real time, on a machine that may be busy: one of twenty tries must come out
    // right.
    let measured: Vec<f64> = (0..20)
        .map(|_| ratio(false))
        .take_while(|ratio| !(2.0..8.0).contains(ratio))
        .collect();
    assert!(measured.len() < 20, "{measured:?}");
}

#[test]
fn all_ranks_run_the_same_number_of_operations() {
    let busy = Busy::new("busy", 10, Role::Peer);
    run(&cpu_placement::free(2), &[Entrant::threads(&busy)]);
    let [a, b] = &busy.operations;
    assert!(a.load(Ordering::Relaxed) > 0);
    assert_eq!(a.load(Ordering::Relaxed), b.load(Ordering::Relaxed));
}

#[test]
fn parts_divide_the_reported_time() {
    let whole = Busy::new("whole", 1000, Role::Floor);
    let mut halved = Busy::new("halved", 1000, Role::Peer);
    halved.parts = 4;
    let comparison = run(
        &cpu_placement::free(2),
        &[Entrant::threads(&whole), Entrant::threads(&halved)],
    );
    let [whole, halved] = &comparison.entries[..] else {
        panic!("two entries")
    };
    let ratio = comparison.ratio(whole, halved).unwrap().median;
    assert_eq!(ratio, 4.0);
}

/// An engine that reports its own times, and fails after the given number of batches.
struct Teller {
    fails_after: u64,
    teams: usize,
    batches: AtomicU64,
    turns: AtomicU64,
}

impl Engine for &Teller {
    fn name(&self) -> &str {
        "teller"
    }
    fn ranks(&self) -> usize {
        1
    }
    fn predicted_ns(&self) -> Option<f64> {
        Some(300.0)
    }
    fn teams(&self) -> usize {
        self.teams
    }
    fn failure(&self) -> Option<String> {
        let failed = self.batches.load(Ordering::Relaxed) > self.fails_after;
        failed.then(|| "seeded".to_owned())
    }
    fn member<'a>(&'a self, _rank: usize) -> Box<dyn Member + 'a> {
        struct TellerMember<'a>(&'a Teller);
        impl Member for TellerMember<'_> {
            fn run(&mut self, _operations: u64) {}
            fn measure(&mut self, operations: u64) -> Option<Duration> {
                self.0.batches.fetch_add(1, Ordering::Relaxed);
                Some(Duration::from_nanos(250 * operations))
            }
            fn turn(&mut self) {
                self.0.turns.fetch_add(1, Ordering::Relaxed);
            }
        }
        Box::new(TellerMember(self))
    }
}

fn teller(fails_after: u64) -> Teller {
    Teller {
        fails_after,
        teams: 1,
        batches: AtomicU64::new(0),
        turns: AtomicU64::new(0),
    }
}

#[test]
fn members_may_time_themselves_and_turn_before_each_batch() {
    let teller = teller(u64::MAX);
    let comparison = run(&cpu_placement::free(1), &[Entrant::threads(&teller)]);
    let entry = &comparison.entries[0];
    assert_eq!(entry.summary().unwrap().median, 250.0);
    assert_eq!(entry.predicted_ns, Some(300.0));
    assert_eq!(comparison.report().entries[0].predicted_ns, Some(300.0));
    assert!(table::render(&comparison, table::Extent::Best).contains("predicted"));
    let batches = teller.batches.load(Ordering::Relaxed);
    assert_eq!(teller.turns.load(Ordering::Relaxed), batches);
}

/// Batches that find new memory do not count.
#[test]
fn each_team_of_an_engine_warms_up() {
    let settings = Settings {
        rounds_max: 6,
        ..Settings::quick()
    };
    let batches = |teams| {
        let teller = Teller {
            teams,
            ..teller(u64::MAX)
        };
        let entrants = [Entrant::threads(&teller)];
        let placements = cpu_placement::free(1);
        let comparison = race::run("test", &placements, &settings, &entrants, |_| {}).unwrap();
        (
            teller.batches.load(Ordering::Relaxed),
            comparison.entries[0].samples.len(),
        )
    };
    let (alone, counted) = batches(1);
    assert_eq!(batches(8), (alone + 7, counted));
}

#[test]
fn an_engine_that_stops_working_is_out() {
    let teller = teller(8);
    let comparison = run(&cpu_placement::free(1), &[Entrant::threads(&teller)]);
    let entry = &comparison.entries[0];
    assert_eq!(entry.status, Status::Failed("seeded".to_owned()));
    assert!(entry.summary().is_none());
}

#[test]
fn barriers_that_do_not_wait_are_not_timed() {
    for (ranks, pass) in [
        (2, not_waiting as fn(&Shared, usize, &mut u64)),
        (4, not_waiting),
        (4, one_short),
    ] {
        let comparison = run(
            &cpu_placement::free(ranks),
            &[
                Entrant::threads(made(ranks, pass)),
                Entrant::threads(made(ranks, counting)),
            ],
        );
        let broken = &comparison.entries[0];
        assert!(
            matches!(&broken.status, Status::Failed(why) if why.contains("does not synchronise")),
            "{:?}",
            broken.status
        );
        assert!(broken.timed().is_empty());
        // The sound one is timed all the same.
        assert_eq!(comparison.entries[1].status, Status::Timed);
        assert!(table::render(&comparison, table::Extent::All).contains("FAILED made"));
    }
}

#[test]
fn a_single_rank_is_always_in_step() {
    let comparison = run(
        &cpu_placement::free(1),
        &[Entrant::threads(made(1, not_waiting))],
    );
    assert_eq!(comparison.entries[0].status, Status::Timed);
}

#[test]
fn in_process_peers_are_sound_at_any_team_size() {
    for ranks in [1, 2, 3, 8] {
        let pus = cpu_placement::allowed_pus();
        let entrants = [
            Entrant::threads(peers::StdBarrier::new(ranks)),
            Entrant::threads(peers::PthreadBarrier::new(ranks)),
            Entrant::threads(peers::PthreadBarrier::new(ranks)).unpinned(),
        ];
        let comparison = run(&cpu_placement::pinned(ranks, &pus), &entrants);
        for entry in &comparison.entries {
            assert_eq!(entry.status, Status::Timed, "{} {ranks}", entry.name);
        }
        assert_eq!(comparison.entries[2].setting, "unpinned");
    }
}

#[test]
fn floors_are_sound() {
    let pus = cpu_placement::allowed_pus();
    if pus.len() < 2 {
        return;
    }
    let entrants: Vec<Entrant<'_>> = floor::barrier_floors()
        .into_iter()
        .chain(floor::value_exchanges())
        .chain(floor::round_trips())
        .chain([2, 64].map(floor::LineStream::new).map(Entrant::threads))
        .collect();
    let comparison = run(&cpu_placement::pinned(2, &pus), &entrants);
    for entry in &comparison.entries {
        assert_eq!(entry.status, Status::Timed, "{}", entry.name);
        assert_eq!(entry.role, Role::Floor);
    }
}

#[test]
fn an_engine_for_another_team_size_is_told_so() {
    let comparison = run(
        &cpu_placement::free(3),
        &[Entrant::threads(made(2, counting))],
    );
    assert!(matches!(&comparison.entries[0].status, Status::Failed(why)
            if why.contains("2 ranks") && why.contains("has 3")),);
}

#[test]
fn a_panicking_engine_fails_alone() {
    fn panics(_: &Shared, _: usize, _: &mut u64) {
        panic!("seeded");
    }
    let comparison = run(
        &cpu_placement::free(2),
        &[
            Entrant::threads(made(2, panics)),
            Entrant::threads(made(2, counting)),
        ],
    );
    assert!(matches!(&comparison.entries[0].status, Status::Failed(why) if why.contains("seeded")));
    assert_eq!(comparison.entries[1].status, Status::Timed);
}

#[test]
fn a_race_without_entrants_or_placements_is_refused() {
    let settings = Settings::quick();
    let none = race::run("test", &cpu_placement::free(2), &settings, &[], |_| {});
    assert_eq!(none.unwrap_err(), RaceError::NoEntrants);
    let entrants = [Entrant::threads(made(2, counting))];
    let nowhere = race::run("test", &[], &settings, &entrants, |_| {});
    assert_eq!(nowhere.unwrap_err(), RaceError::NoPlacements);
}

#[test]
fn refused_pins_and_absent_entrants_are_told() {
    let entrants = [
        Entrant::threads(made(2, counting)),
        Entrant::absent("gomp", "", "no compiler (install gcc)"),
    ];
    let comparison = run(&[CpuPlacement::Pu(70_000), CpuPlacement::Free], &entrants);
    assert_eq!(comparison.notes.len(), 1);
    assert!(comparison.notes[0].contains("70000"));
    let text = table::render(&comparison, table::Extent::All);
    assert!(
        text.contains("SKIPPED gomp: no compiler (install gcc)"),
        "{text}"
    );
}

#[test]
fn progress_names_entrants_and_never_runs_backwards() {
    let mut names = Vec::new();
    let mut last = 0.0;
    let entrants = [Entrant::threads(made(2, counting))];
    race::run(
        "test",
        &cpu_placement::free(2),
        &Settings::quick(),
        &entrants,
        |progress| match progress {
            Progress::Preparing { name, .. } => names.push(name.to_owned()),
            Progress::Round { done, .. } => {
                assert!((last..=1.0).contains(&done));
                last = done;
            }
        },
    )
    .unwrap();
    assert_eq!(names, ["made"]);
}

#[test]
fn the_report_survives_json() {
    let mut echo = External::new("script", "echo", "/bin/echo");
    echo.arguments = vec!["ns_per_op 100".into()];
    let entrants = [
        Entrant::threads(made(2, counting)),
        Entrant::process(echo),
        Entrant::absent("gone", "", "not here"),
    ];
    let report = run(&cpu_placement::free(2), &entrants).report();
    let text = serde_json::to_string(&report).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["schema"], 1);
    assert_eq!(value["entries"][1]["ns_per_op"]["median"], 100.0);
    assert_eq!(value["entries"][1]["role"], "peer");
    assert_eq!(value["entries"][2]["status"], "skipped");
    assert_eq!(value["entries"][2]["ns_per_op"], serde_json::Value::Null);
    let back: corecast_bench::comparison::Report = serde_json::from_str(&text).unwrap();
    assert_eq!(back.entries.len(), report.entries.len());
}
