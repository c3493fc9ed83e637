//! Every algorithm of every collective, for every team size up to nine and every root, with single bytes, odd
//! lengths, and buffers that begin anywhere; all nine ways to synchronise, with and without a fixed order of
//! reduction.

use super::case::case;
use super::draw::{DRAWN, Of, Step, combines, has_parts};
use super::element::Fold;
use crate::common::plans_of;
use corecast_collectives::{
    Algorithms, allgather, allreduce, alltoall, broadcast, gather, reduce, reduce_scatter, scan,
    scatter,
};
use corecast_model::Collective;
use corecast_plan::Pattern;
use corecast_team::{Options, Synchrony, Team};

/// Bytes around a line, and odd numbers that take several lines.
const SHORT: [usize; 6] = [0, 1, 63, 65, 447, 449];

/// Bytes around messages, published messages, pieces, chunks, pipeline segments and tokens, for some sizes of
/// teams.
const LONG: [usize; 9] = [
    4097, 8191, 8193, 16_383, 16_385, 32_767, 32_769, 65_537, 131_073,
];

const RANKS_MAX: usize = 9;

fn matrix(whats: &[Collective], choices: impl Iterator<Item = Algorithms>) {
    let syncs: Vec<Synchrony> = Synchrony::all().collect();
    for (index, algorithms) in choices.enumerate() {
        for n in 1..=RANKS_MAX {
            let plans = plans_of(n, Pattern::Smelt);
            let options = Options {
                algorithms,
                deterministic: (index + n).is_multiple_of(2),
                // Ranks that share cores use other algorithms; teams of three count as such on every machine.
                parallelism: (n == 3).then_some(1),
                ..Options::default()
            };
            let team = Team::with_options(plans, &options).unwrap();
            let lens = match n {
                2 | 3 | 8 => [&SHORT[..], &LONG].concat(),
                _ => SHORT.to_vec(),
            };
            team.run(|member| {
                let (mut number, me) = (0, member.rank());
                for (&what, &len) in whats
                    .iter()
                    .flat_map(|what| lens.iter().map(move |len| (what, len)))
                {
                    for root in (0..n).filter(|&root| what.has_root() || root == 0) {
                        let folds = if combines(what) {
                            &[Fold::Sum, Fold::Then][..]
                        } else {
                            &[Fold::Sum]
                        };
                        for &fold in folds {
                            number += 1;
                            let step = Step {
                                number,
                                what,
                                of: Of::U8,
                                fold,
                                root,
                                len,
                                sync: syncs[number % syncs.len()],
                                seed: number as u64,
                            };
                            let mut case = case(&step, member, (number * 5 + me) as u64);
                            let done = member.synced(step.sync, |member| case.block(member));
                            done.unwrap_or_else(|failure| {
                                panic!("{failure}, {algorithms:?}, {step:?}")
                            });
                            case.check();
                        }
                    }
                }
            });
        }
    }
}

macro_rules! matrices {
    ($($test:ident: $collective:ident, $($what:ident),*;)*) => {$(
        #[test]
        fn $test() {
            let asked = std::iter::once(None)
                .chain($collective::Algorithm::ALL.iter().copied().map(Some));
            let choices = asked.map(|choice| {
                let mut algorithms = Algorithms::default();
                algorithms.$collective = choice.into();
                algorithms
            });
            matrix(&[$(Collective::$what),*], choices);
        }
    )*};
}

matrices! {
    bytes_are_broadcast: broadcast, Broadcast, Barrier;
    bytes_are_reduced: reduce, Reduce;
    bytes_are_reduced_for_all: allreduce, Allreduce;
    bytes_are_scattered: scatter, Scatter, Scatterv;
    bytes_are_gathered: gather, Gather, Gatherv;
    bytes_are_gathered_for_all: allgather, Allgather, Allgatherv;
    bytes_change_places: alltoall, Alltoall, Alltoallv;
    bytes_are_reduced_in_parts: reduce_scatter, ReduceScatter, ReduceScatterv;
    bytes_are_scanned: scan, Scan, Exscan;
}

/// 16 MiB and one byte through every operation, or one element of eight bytes where each is combined.
#[test]
fn sixteen_mebibytes_arrive_whole() {
    for n in [2, 3] {
        let plans = plans_of(n, Pattern::Smelt);
        Team::new(plans).unwrap().run(|member| {
            for (number, &what) in DRAWN.iter().enumerate() {
                let (of, whole) = match combines(what) {
                    true => (Of::U64, (2 << 20) + 1),
                    false => (Of::U8, (16 << 20) + 1),
                };
                let step = Step {
                    number,
                    what,
                    of,
                    fold: Fold::Max,
                    root: number % n,
                    len: if has_parts(what) { whole / n } else { whole },
                    sync: Synchrony::LOOSE,
                    seed: number as u64,
                };
                let mut case = case(&step, member, number as u64);
                case.block(member).unwrap();
                case.check();
            }
        });
    }
}
