//! Every algorithm over a fabric of plain channels gives what one loop over all ranks gives.

use crate::channels::{Channels, Sent};
use corecast_collectives::context::SCRATCH_KEPT_BYTES;
use corecast_collectives::registry::{SizeKind, record};
use corecast_collectives::{OpContext, Plans};
use corecast_plan::Pattern;
use corecast_sim::drive::{Bytes, Call, Collective, Job};
use std::collections::BTreeMap;
use std::ops::Add;

/// The longest message.
const MESSAGE_BYTES: usize = 112;

/// Runs `body` on each of `n` ranks, and returns what they return, and what they have sent together.
fn on_all_ranks<R: Send>(
    job: &Job,
    n: usize,
    body: impl Fn(&mut OpContext<Channels>) -> R + Sync,
) -> (Vec<R>, Sent) {
    let fabrics = Channels::all(n, job.groups(), MESSAGE_BYTES).into_iter();
    // A rank that panics takes its ends with it, so the others do not wait for it.
    let on_one_rank = &|mut context: OpContext<Channels>| (body(&mut context), context.fabric);
    let (results, fabrics): (Vec<R>, Vec<Channels>) = std::thread::scope(|scope| {
        let ranks = fabrics.map(|fabric| scope.spawn(move || on_one_rank(job.context(fabric))));
        let ranks: Vec<_> = ranks.collect();
        let ends = ranks.into_iter().map(|rank| rank.join().unwrap());
        ends.unzip()
    });
    let fabrics = fabrics.iter();
    fabrics.clone().for_each(Channels::assert_received);
    let sent = fabrics.map(|fabric| fabric.sent);
    (results, sent.fold(Sent::default(), Add::add))
}

#[test]
fn every_algorithm_gives_what_one_loop_gives() {
    let mut calls = 0;
    for n in 1..=9 {
        let file = corecast_model::synthetic(&format!("core:{n}")).unwrap();
        let plans = Plans::of_pattern(file.costs(), Pattern::Smelt, Some(n / 2)).unwrap();
        for collective in Collective::WITH_ALGORITHMS {
            for algorithm in corecast_sim::drive::algorithms(collective) {
                for bytes in [0, 1, 100, 4000] {
                    let call = Call::new(collective, algorithm, n / 2, bytes).unwrap();
                    let Ok(job) = Job::new(&call, &plans) else {
                        let power = n.is_power_of_two();
                        assert!(!power, "{call} on {n} ranks");
                        continue;
                    };
                    calls += 1;
                    on_all_ranks(&job, n, |context| {
                        let (call, rank) = (job.call(), context.fabric.rank);
                        let sum = Bytes::new(|_| ());
                        let mut run = || job.run(context, &sum).unwrap();
                        // Other builds record nothing.
                        let got = if cfg!(debug_assertions) {
                            let (got, ran) = record::recorded(run);
                            let first = ran[0];
                            assert_eq!(first, (call.collective, &call.algorithm[..]));
                            got
                        } else {
                            run()
                        };
                        let expected = job.expected(rank);
                        assert_eq!(got, expected, "{call} on {n} ranks, rank {rank}");
                    });
                }
            }
        }
    }
    assert!(calls > 1000, "{calls} calls");
}

/// How many pieces a transfer of `bytes` has by an algorithm whose segments have `size`.
fn pieces(algorithm: &str, bytes: usize, size: usize) -> usize {
    let of_size = bytes.div_ceil(size);
    match algorithm {
        // Halves of at least that size.
        "dynamic" => (0..usize::BITS)
            .map(|halvings| 1 << halvings)
            .take_while(|&count| count == 1 || bytes.div_ceil(count) >= size)
            .last()
            .unwrap(),
        // What may be read without the token, and all before it.
        "token" => of_size.min(2),
        _ => of_size,
    }
}

/// How many pieces of parts of `part` bytes are lent in a binomial tree of `n` ranks that cuts the bytes of all ranks into
/// segments with `size`.
fn lent_pieces(algorithm: &str, n: usize, part: usize, size: usize) -> usize {
    let segment = match algorithm {
        "dynamic" => (part * n).div_ceil(pieces(algorithm, part * n, size)),
        _ => size,
    };
    let piece_bytes = |v: usize| {
        let end = n.min(v + (1 << v.trailing_zeros()));
        let mut bytes = BTreeMap::new();
        (v * part..end * part).for_each(|byte| *bytes.entry(byte / segment).or_insert(0) += 1);
        bytes.into_values()
    };
    (1..n)
        .flat_map(piece_bytes)
        .filter(|&bytes: &usize| bytes > MESSAGE_BYTES)
        .count()
}

/// Data go in as many segments, and lines have as many readers, as the size says that is asked for.
#[test]
fn algorithms_have_the_size_that_is_asked_for() {
    const BYTES: usize = 20_000;
    let mut sizes = 0;
    for n in [2, 5, 8] {
        let file = corecast_model::synthetic(&format!("core:{n}")).unwrap();
        let plans = Plans::of_pattern(file.costs(), Pattern::Smelt, Some(0)).unwrap();
        for entry in corecast_collectives::entries() {
            let Some(of_entry) = entry.sizes else {
                continue;
            };
            let run = |name: &str, bytes: usize| {
                let call = Call::new(entry.collective, name, 0, bytes).unwrap();
                let job = Job::new(&call, &plans).unwrap();
                let (_, sent) = on_all_ranks(&job, n, |context| {
                    let got = job.run(context, &Bytes::new(|_| ())).unwrap();
                    assert_eq!(
                        got,
                        job.expected(context.fabric.rank),
                        "{call} on {n} ranks"
                    );
                });
                (job, sent.loans + sent.reads)
            };
            let each = of_entry.names.iter().zip(of_entry.kind.values());
            for (name, &size) in each.filter(|(_, size)| **size < 2 * BYTES) {
                sizes += 1;
                let blocks = match entry.collective {
                    Collective::Scatter => n,
                    _ => 1,
                };
                match of_entry.kind {
                    SizeKind::Segment(_) => {
                        let whole = run(&format!("{}:1M", entry.name), BYTES * blocks).1;
                        let taken = run(name, BYTES * blocks).1;
                        assert!(whole > 0, "{name} on {n} ranks");
                        assert_eq!(taken, whole * pieces(entry.name, BYTES, size), "{name}");
                    }
                    SizeKind::SegmentOfAll(_) => {
                        let part = BYTES / n;
                        let taken = run(name, part * blocks).1;
                        let lent = lent_pieces(entry.name, n, part, size);
                        assert_eq!(taken, lent, "{name} on {n} ranks");
                    }
                    SizeKind::Readers => {
                        let (job, taken) = run(name, 0);
                        let rounds = corecast_plan::Rounds::dissemination(n, size + 1);
                        assert_eq!(taken, rounds.notifications(), "{name}");
                        let readers = job.groups().rings().iter().map(|ring| ring.others.len());
                        assert_eq!(readers.max(), Some(size.min(n - 1)), "{name} of {n}");
                    }
                    _ => {
                        let (job, taken) = run(name, 0);
                        assert_eq!(taken, n - 1, "{name}");
                        let groups = job.groups().counters().iter();
                        let groups = groups.map(|counter| counter.others.len());
                        assert_eq!(groups.max(), Some(size.min(n - 1)), "{name} of {n}");
                    }
                }
            }
        }
    }
    assert!(sizes > 200, "{sizes} sizes");
}

/// Partial results in memory of their own: that memory is kept for the next call, unless it is very long. Of four ranks
/// in a binomial tree one passes on the parts of two.
#[test]
fn long_scratch_is_freed_and_short_one_is_kept() {
    let (halved, doubled) = (SCRATCH_KEPT_BYTES / 2 + 4096, 2 * SCRATCH_KEPT_BYTES + 8192);
    for (collective, algorithm, ranks, long) in [
        (Collective::Scatter, "binomial", 4, doubled),
        (Collective::Gather, "binomial", 4, halved),
        (Collective::ReduceScatter, "halving", 2, doubled),
    ] {
        for (bytes, is_kept) in [(1 << 20, true), (long, false)] {
            let (call, kept) = scratch_of(collective, algorithm, ranks, bytes);
            let grown = kept.iter().any(|(first, now)| now > first);
            assert_eq!(grown, is_kept, "{call}: {kept:?}");
        }
    }
}

/// In segments of 32 KiB, four of them are enough.
#[test]
fn scratch_of_segments_is_short() {
    for collective in [Collective::Scatter, Collective::Gather] {
        let (call, kept) = scratch_of(collective, "fixed", 4, 4 << 20);
        let most = kept.iter().map(|(first, now)| now - first).max().unwrap();
        let expected = (128 << 10) - 256..=128 << 10;
        assert!(expected.contains(&most), "{call}: {kept:?}");
    }
}

/// Bytes of each rank's scratch before a call and after it.
fn scratch_of(
    collective: Collective,
    algorithm: &str,
    ranks: usize,
    bytes: usize,
) -> (Call, Vec<(usize, usize)>) {
    let file = corecast_model::synthetic(&format!("core:{ranks}")).unwrap();
    let plans = Plans::of_pattern(file.costs(), Pattern::Smelt, Some(0)).unwrap();
    let call = Call::new(collective, algorithm, 0, bytes).unwrap();
    let job = Job::new(&call, &plans).unwrap();
    let (kept, _) = on_all_ranks(&job, ranks, |context| {
        let first = context.scratch_bytes();
        job.run(context, &Bytes::new(|_| ())).unwrap();
        (first, context.scratch_bytes())
    });
    (call, kept)
}

#[test]
fn what_cannot_be_called_is_quoted() {
    let file = corecast_model::synthetic("core:6").unwrap();
    let plans = Plans::of_pattern(file.costs(), Pattern::Smelt, None).unwrap();
    let call = |collective, algorithm, root| Call::new(collective, algorithm, root, 8).unwrap();
    let refused = |call: &Call| Job::new(call, &plans).unwrap_err().to_string();
    assert_eq!(
        refused(&call(Collective::Allreduce, "rabenseifner", 0)),
        "allreduce rabenseifner root=0 bytes=8 on 6 ranks: it needs a power of two"
    );
    assert_eq!(
        refused(&call(Collective::Reduce, "messages", 6)),
        "root 6 is none of 6 ranks: take one below 6"
    );
    let unknown = corecast_sim::drive::collective("sing")
        .unwrap_err()
        .to_string();
    assert!(
        unknown.starts_with("no collective is called \"sing\": take one of barrier, "),
        "{unknown}"
    );
}
