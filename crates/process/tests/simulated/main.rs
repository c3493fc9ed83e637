//! Deterministic simulation: teams and processes as they are, over a scheduler and a clock that this program owns.
//!
//! ```console
//! $ RUSTFLAGS="--cfg corecast_simulated" CARGO_TARGET_DIR=target/simulated \
//!     cargo test --profile simulated -p corecast-process --test simulated
//! ```
#![cfg(corecast_simulated)]
#![allow(missing_docs)]

mod buffers;
mod case;
mod judge;
mod learning;
mod mutants;
mod one_line;
mod phases;
mod play;
mod random;
mod recorded;
mod run;
mod runs;
mod scheduler;
#[allow(
    dead_code,
    reason = "random programs on threads and processes use the rest"
)]
#[path = "../it/programs/spec.rs"]
mod spec;
mod state;
mod successions;

/// What random teams need of the other test program.
mod own_process {
    pub(crate) const WATCHDOG: std::time::Duration = std::time::Duration::from_secs(60);
}

use case::{Case, Replay};
use run::{Found, run, run_all, shrink, survey};

fn number(name: &str, usual: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(usual, |given| given.parse().expect("a number"))
}

#[test]
fn every_case_ends_with_right_results_or_failures_that_have_a_cause() {
    if let Ok(text) = std::env::var("CORECAST_REPLAY") {
        let replay: Replay = text.parse().unwrap_or_else(|error| panic!("{error}"));
        let case = Case::draw(&replay);
        eprintln!("{case}");
        if let Err(what) = run(&case) {
            panic!("{what}");
        }
        return;
    }
    let count = number("CORECAST_TEST_SEEDS", 1000);
    let start = number("CORECAST_TEST_FROM", 0);
    if std::env::var_os("CORECAST_TEST_SURVEY").is_some() {
        for (_, count, found) in survey(start..start + count) {
            let Found { replay, what } = shrink(found);
            println!("{count} times, CORECAST_REPLAY={replay}: {what}");
        }
        return;
    }
    match run_all(start..start + count, || ()) {
        Ok(done) => {
            println!(
                "{} cases, {} scheduling points, at most {} after the last fault",
                done.cases, done.steps, done.calm
            );
            for (what, count) in &done.counts {
                println!("{count:8} {what}");
            }
            let missing = judge::SEEN_IN_ALL.iter();
            let missing: Vec<_> = missing
                .filter(|it| !done.counts.contains_key(*it))
                .collect();
            assert!(
                missing.is_empty() || count < 10_000,
                "no case has seen {missing:?}: what draws the cases must have changed"
            );
        }
        Err(found) => {
            let Found { replay, what } = shrink(found);
            panic!("{what}\nCORECAST_REPLAY={replay} runs this again");
        }
    }
}

#[test]
fn a_seed_gives_the_same_run_again() {
    for seed in 0..50 {
        let once = || run(&Case::draw(&Replay::whole(seed))).map(|done| (done.steps, done.counts));
        assert_eq!(once(), once(), "seed {seed}");
    }
}

#[test]
fn a_replay_is_read_as_it_is_written() {
    for text in ["7", "7/pieces=2", "7/faults=", "7/pieces=0/faults=0+2"] {
        let replay: Replay = text.parse().unwrap();
        assert_eq!(replay.to_string(), text);
    }
    for text in ["", "x", "7/pieces=x", "7/faults=1+", "7/else=1"] {
        let read = text.parse::<Replay>();
        assert!(read.is_err() || text.ends_with('+'), "{text}: {read:?}");
    }
}

/// Runs as many cases as `CORECAST_TEST_SEEDS` says, or one of so many.
fn run_each(part: u64, run: impl Fn(u64) -> Result<(), String>) {
    for seed in 0..(number("CORECAST_TEST_SEEDS", 1000) / part).max(1) {
        if let Err(what) = run(seed) {
            panic!("seed {seed}: {what}");
        }
    }
}

#[test]
fn phase_barriers_count_every_arrival_once() {
    run_each(1, phases::run);
}

#[test]
fn recorded_calls_wait_for_who_comes_late() {
    run_each(20, recorded::run);
}

#[test]
fn ranks_that_see_different_times_learn_the_same() {
    run_each(100, learning::run);
}

#[test]
fn ranks_rest_between_runs_and_are_waited_for() {
    run_each(25, runs::run);
}

#[test]
fn whoever_lives_is_in_the_next_team_and_all_know_the_same_teams() {
    run_each(50, successions::run);
}

#[test]
fn nobody_waits_in_vain_at_lines_of_an_algorithm() {
    run_each(4, one_line::run);
}
