//! Random programs over all collectives, on teams of threads and of processes: each rank compares each
//! result with a naive reference. Other tests end members amid such programs.
//!
//! ```text
//! Spec (team)  ──►  Program: pieces of Steps  ──►  Case per rank: buffers and what they must become
//! spec.rs           draw.rs                        case.rs, element.rs
//!                                   │
//!                   play.rs: blocking or in flight, with delays, checked by every rank
//! ```
//!
//! All ranks draw the same program from the same seed; how a rank delays and waits is drawn from a
//! seed of its own. `CORECAST_TEST_SEED=7` replays one program, `CORECAST_TEST_CASES=40` plays forty
//! times as many (as the check of a change does), `0.1` a tenth.
//!
//! # What it has been seen to catch
//!
//! Faults that were put into the code by hand, each seen by some program among the first 16:
//!
//! - a rank leaves an operation before its loans have come back;
//! - `allgather::bruck` swaps two blocks, `alltoall::direct` puts parts in their neighbours' places;
//! - `scan::chain` combines in the wrong order, in scans and in exclusive ones alone;
//! - `barrier::dissemination` does not wait in its last round, `barrier::tree` not for its children;
//! - sender and receiver differ about the length above which data are lent, by one;
//! - the last pipeline segment of long data is forgotten; blocks leave out the remainder;
//! - an operation in flight takes an operation context that is not free yet; a request reports too early that it
//!   has ended.
//!
//! Tests that end members have caught: the end of a process is not reported; a member that leaves does not report
//! it. If a failure wakes no waiting rank, ranks still notice it, because they look now and then, but late, which
//! shows in the times that are printed.

mod apart;
mod case;
mod doom;
mod draw;
mod element;
mod kills;
mod lengths;
mod matrix;
mod play;
mod processes;
mod spec;
mod watch;

use draw::Program;
use play::{Player, Witness};
use spec::Spec;
use watch::{cases, replayable};

/// Number of operations of a program.
const STEPS: usize = 24;

/// The team and the program of a seed.
fn drawn(seed: u64) -> (Spec, Program) {
    let mut rng = fastrand::Rng::with_seed(mixed(&[seed, 4]));
    let n = rng.usize(1..=9);
    let spec = Spec::draw(&mut rng, n);
    let program = Program::draw(seed, &spec, STEPS);
    (spec, program)
}

#[test]
fn random_programs_of_threads_agree_with_the_reference() {
    for seed in cases(100) {
        replayable(
            "random_programs_of_threads_agree_with_the_reference",
            seed,
            move || {
                let (spec, program) = drawn(seed);
                let team = spec.team().unwrap();
                let witness = Witness::new(&team.ranks());
                team.run(|member| {
                    let has_failed = || team.failure().is_some();
                    let mut player = Player::new(&program, member, &witness, &has_failed);
                    let played = player.play(&program, member);
                    played.unwrap_or_else(|failure| panic!("{failure}, in {spec:?}"));
                });
            },
        );
    }
}

/// Plays a part for a test in another process.
#[test]
fn part() {
    let Some(words) = apart::part() else {
        return;
    };
    match &words[..] {
        [kind, index, session, first, end] if kind == "programs" => {
            let seeds = first.parse().unwrap()..end.parse().unwrap();
            processes::play_as(index.parse().unwrap(), session, seeds);
        }
        [kind, rest @ ..] if kind == "kill" => kills::play_part(rest),
        [kind, rest @ ..] if kind == "stop" => kills::stop_part(rest),
        [kind, rest @ ..] if kind == "survive" => kills::survive_all(rest),
        _ => panic!("{words:?}"),
    }
}

/// A hash of `parts`.
pub(crate) fn mixed(parts: &[u64]) -> u64 {
    parts.iter().fold(0x9E37_79B9_7F4A_7C15, |state, part| {
        let mut word = (state ^ part).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word ^= word >> 27;
        word = word.wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ word >> 31
    })
}
