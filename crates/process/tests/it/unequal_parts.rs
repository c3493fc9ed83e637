//! Two ranks of which only one finds that the parts that they give each other have one length.

use crate::common::{plans_of, two_processes};
use crate::own_process::watched;
use corecast_collectives::Parts;
use corecast_plan::Pattern;
use corecast_team::{Failure, Member, Team};

/// Elements that fit beside a flag, a message, and neither.
const LENGTHS: [usize; 4] = [1, 2, 100, 20_000];

/// Rank 1 takes `taken` elements where rank 0 gives `given`, and gives what rank 0 takes.
fn alltoallv(member: &mut Member, given: usize, taken: usize) -> Result<(), Failure> {
    let (send, mut recv) = (vec![1u64; given + 1], vec![0; given + taken + 1]);
    let counts = match member.rank() {
        0 => [[1, given], [1, given]],
        _ => [[given, 1], [taken, 1]],
    };
    let places = counts.map(|[first, _]| [0, first]);
    let [give, take] = [0, 1].map(|at| Parts::new(&counts[at], &places[at]));
    member.alltoallv((&send, give), (&mut recv, take))?;
    member.barrier()
}

/// Rank 1 finds `taken` elements in rank 0's part, and rank 0 `given` in both.
fn allgatherv(member: &mut Member, given: usize, taken: usize) -> Result<(), Failure> {
    let counts = match member.rank() {
        0 => [given, given],
        _ => [taken, given],
    };
    let (send, mut recv) = (vec![1u64; given], vec![0; counts[0] + given]);
    member.allgatherv(&send, &mut recv, Parts::new(&counts, &[0, counts[0]]))?;
    member.barrier()
}

type Body = fn(&mut Member, usize, usize) -> Result<(), Failure>;

/// What a team of two threads, or of two processes in this one, comes to; the test fails instead of hanging.
fn run(processes: bool, body: Body, given: usize, taken: usize) -> Vec<Result<(), Failure>> {
    let context = format!("{given} and {taken}, processes: {processes}");
    watched(&context, move || {
        let body = |member: &mut Member| body(member, given, taken);
        match processes {
            true => two_processes(body),
            false => Team::new(plans_of(2, Pattern::Sequential))
                .unwrap()
                .run(body),
        }
    })
}

#[test]
fn lengths_that_only_one_rank_finds_equal_are_noticed() {
    for (name, body) in [("alltoallv", alltoallv as Body), ("allgatherv", allgatherv)] {
        for (given, taken) in LENGTHS.iter().flat_map(|&a| LENGTHS.map(|b| (a, b))) {
            for processes in [false, true] {
                let results = run(processes, body, given, taken);
                let context = format!("{name} {given} {taken} {processes}: {results:?}");
                if given == taken {
                    assert!(results.iter().all(Result::is_ok), "{context}");
                    continue;
                }
                assert!(results.iter().any(Result::is_err), "{context}");
                for failure in results.iter().filter_map(|result| result.as_ref().err()) {
                    // A rank that has what it takes may be in the next operation by then.
                    let is_told =
                        matches!(failure, Failure::Length { .. } | Failure::Mismatch { .. });
                    assert!(is_told, "{context}");
                }
            }
        }
    }
}
