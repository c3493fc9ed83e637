//! What a team runs where nothing was measured, raced or asked for, beside the best algorithm on simulated machines.
//! Writes docs/defaults.md.

use crate::after_tuning::{self, AfterTuning};
use crate::document::{summary, table};
use crate::simulated_team::{Case, OF_PAIRS, OF_PARTS, SimulatedTeam};
use corecast_model::Collective;
use std::fmt::Write;

/// Blocks of up to this length are short.
const SHORT_BYTES: usize = 4 << 10;

/// By how much a choice may be slower than the best algorithm.
const WITHIN: f64 = 1.03;

/// The operations whose algorithms differ by length.
fn operations() -> impl Iterator<Item = Collective> {
    let all = Collective::WITH_ALGORITHMS.into_iter();
    all.filter(|&one| one != Collective::Barrier)
}

/// The numbers of ranks of the document.
const RANKS: [usize; 3] = [2, 8, 16];

/// The lengths of the document: 8 B to 16 MiB, for many ranks short blocks alone.
fn lengths(ranks: usize) -> impl Iterator<Item = usize> {
    let all = (3..=23).step_by(2).chain([24]).map(|log| 1 << log);
    all.filter(move |&bytes| ranks <= 8 || bytes <= SHORT_BYTES)
}

/// The teams that are tuned have so many ranks at most.
const TUNED_RANKS_MAX: usize = 8;

/// Every power of two from 8 B to 16 MiB.
fn all_lengths() -> impl Iterator<Item = usize> {
    (3..=24).map(|log| 1 << log)
}

const HEAD: &str = "\
# Choices where nothing was measured

What a team runs where no algorithm was raced, learned or asked for ([tuning.md](tuning.md)), beside the best algorithm on
eleven [simulated machines](simulator.md), each rank on a core of its own: 2 and 8 ranks at 8 B to 16 MiB, more ranks up to
4 KiB. Written by `cargo run --release -p corecast-validation`; with `-- --check` it says whether this file is what would be
written, which CI does.

## The model

More than two ranks with a hardware thread each choose by one number of the machine: Hockney's n½, the length at which a message
takes twice as long as one of a line. `corecast probe` measures it (`messages`: *one* and *long*); else it is taken to be 1 KiB.
The formulas for the limits are in `crates/collectives/src/registry/round_limits.rs`, and `corecast explain` says them:

| ranks | allreduce by `doubling` below | blocks travel together below |
| ---: | ---: | ---: |
";

const WHY: &str = "\
Blocks travel together by `binomial` (gathers), by `halving` (reduce-scatters of 2^k ranks) and, of more than 8 ranks, by `bruck`
(allgathers), if those of half of the ranks fit a message. Allreductions beyond the limit, or a message, go by `rabenseifner`
(2^k ranks, up to two messages), then by `owners`.

Of two ranks, and of ranks that share hardware threads, each step of another rank may take a turn of the scheduler, so they have no
rounds: data go whole up to 2·(n−1)·n½, along trees or in one message, and then by `owners`. Where ranks share hardware threads a
message also waits for a turn, so n½ has the bytes of one more: `corecast probe` measures it (`sched_yield`), else n½ is taken to
be 2 KiB there. Teams of 3, 4, 8 and 16 threads on two cores of a KVM guest (AMD EPYC, 28 November 2026, `corecast tune --check-only
--ranks 3,4,8,16 --op allreduce`; n½ of 3576 B) took by this limit, in times of the fixed one of 16 KiB before it: 8 threads 0.70 at
32 KiB; 16 threads 0.69 and 0.80 at 32 and 64 KiB; 3 threads 0.78 at 16 KiB.

Between threads a loan is copied once and a message twice, so what one rank gives another is lent from n½ on; between processes up
to two messages are sent. On that guest two threads whose cores were far from each other took lent, in times of messages, 0.7 to 0.9 for
3 and 4 KiB and 0.55 to 0.7 for 8 (1 December 2026); near each other 0.9 to 1.13 for 4 KiB and 0.6 to 0.83 for 8. On that guest a broadcast of 10 KiB of two threads took 2.9 µs lent and 4.7 in messages, an allreduce 2.2 and 2.7,
an allgather 5.4 and 7.4, a scatter 3.0 and 4.8.

Two processes with a core each copy long data one after the other where these fit a chunk of a bounce buffer, 32 KiB. So broadcasts and
reductions of up to 128 KiB, and scans and parts of gathers and scatters of more than 16 and up to 128 KiB, go in segments of 8 KiB, most
in 0.5 to 0.88 of the time from 16 KiB on, gathers of 128 KiB in up to 1.04
([record](../benches/records/2026-12-01-second-machine.md)). Where the chunks of a bounce buffer are too few for what is combined, it goes in pieces of 4 KiB.

What a root gets of several threads they write themselves, all at the same time: parts of a gather beyond 3·n½/(n−1) by `put`, and
reductions by `owners`, where ranks share hardware threads beyond 6·n½·n²/(n−k) ([record](../benches/records/2026-12-01-fills.md)).

Long data of threads that share hardware threads go whole, or in segments that are the longer the more ranks share a thread, as each
segment waits for turns (`crates/collectives/src/registry/segment_model.rs`). On that guest, in times of the segments of 32 KiB that
other teams have, data of 256 KiB to 2 MiB of 3, 8 and 16 threads took 0.55 to 1.04 in broadcasts, 0.43 to 1.01 in reductions and 0.49
to 1.01 in scans.

An allgather from each to all takes n·(n−1) messages, so of ranks that share hardware threads one gathers short parts and broadcasts them
from its line (the limit is in `crates/collectives/src/registry/round_limits.rs`). On that guest this took, in times of `direct`, 8 threads
0.7 to 0.85 at 1 and 4 KiB and 1.2 at 16; 16 threads 0.5 to 0.6 and 1.0; 4 threads 1.15 to 1.4, where it is not done. Between more than
four processes it is done at any length, as loans take messages there for each of their pieces: 8 processes 0.6 to 1.0 from 1 to 256 KiB,
16 processes 0.15 to 0.9.

Few such ranks give short data of an allreduction to each other by `direct`: each of them waits once for the others on its hardware
thread, and not once for a reduction and once for a broadcast (the same file). In times of the trees, four processes on that guest took
0.6 from 8 to 128 B, 0.7 to 0.9 from 512 B to 4 KiB, three 0.6 to 0.95; six are faster along trees from 128 B on, and eight always
(29 November 2026).

Absolute costs do not matter, only n½ and the number of ranks do. So there is no table of processors: nobody has published how
long messages of many lines take on the families of today. A wrong n½ costs little, as the two kinds of columns show.
";

const AFTER: &str = "\
## After the main job

The tuner of the main job ([tuning.md](tuning.md)) races on the same machines, in its own 17 s of their time: what it times are
simulated times with the noise of a busy machine, contenders that take up to 3 % longer or shorter in a whole replicate, and
predictions that are wrong by up to a quarter. Nine operations were raced at nine lengths, and in between where winners differ; all
are those of 22 lengths, each power of two from 8 B to 16 MiB, beside the fastest algorithm without noise.

What is left beyond 3 % is what 17 s do not decide: a call of 4 MiB takes 10 to 80 ms of 8 ranks on the older of these machines, and
what runs without a race stays until three replicates show that it takes 1.1 times as long. `corecast tune` takes longer and
leaves less.
";

const NOT: &str = "\
## What the simulator does not decide

Short blocks are messages, which the simulator times within 7.5 % on hardware (median, [validation.md](validation.md#this-machine)).
Beyond some KiB it is no judge of algorithms, and the built-in choices do not follow it there:

- **Copies within a rank take no time.** `bruck` of an alltoall, `doubling` of scans and of long allreductions, and `halving` of
  long blocks copy all data to scratch and back. Two threads on a KVM guest (AMD EPYC, 26 November 2026, `corecast tune
  --check-only` in an empty cache folder, against predictions from the same guest's probe): of 72 operations and lengths
  66 of the built-in choices were within 3 % of the fastest algorithm, and 50 of those that the model predicts to be the fastest.
  Of the 22 that it got wrong 18 were of 32 KiB and more, and took 1.2 to 12.7 times the least time.
- **Messages or loans?** On a machine of pairwise costs stores leave one by one, which is what short messages do, so a message of
  4 KiB takes three times as long as a loan; on `xeon-e5-2660` it takes 0.6 times as long, and on that guest 0.9 to 1.4 times.
- **Memory.** A machine of pairwise costs has one memory, to which every line that changes hands is written back. Long blocks
  wait there.
- **Software.** A published `line` is faster than a message by the simulator, and not on hardware
  ([ARCHITECTURE.md](../ARCHITECTURE.md)). An alltoall by `bruck` has some n·log2 n small copies at every rank, which are not in
  its simulated time either, so alltoalls stay as they are.
";

/// The document.
pub fn report() -> String {
    use corecast_collectives::registry::{HALF_BYTES, RoundLimits};
    let mut out = HEAD.to_owned();
    for ranks in [3, 4, 6, 8, 12, 16, 32, 64] {
        let limits = RoundLimits::new(ranks, HALF_BYTES);
        let _ = writeln!(out, "| {ranks} | {} | {} |", limits.whole, limits.together);
    }
    let _ = write!(out, "\n{WHY}");
    let mut rows: Vec<[String; 8]> = Vec::new();
    let mut slow: Vec<(usize, &str, Case)> = Vec::new();
    let mut after: Vec<[String; 6]> = Vec::new();
    for ranks in RANKS {
        for (seed, name) in (0..).zip(OF_PARTS.into_iter().chain(OF_PAIRS)) {
            let Some(team) = SimulatedTeam::new(name, ranks) else {
                continue;
            };
            let of_length = |bytes| operations().map(move |operation| (operation, bytes));
            let all: Vec<Case> = lengths(ranks)
                .flat_map(of_length)
                .map(|(operation, bytes)| team.case(operation, bytes))
                .collect();
            let (short, long): (Vec<_>, Vec<_>) =
                all.iter().partition(|case| case.bytes <= SHORT_BYTES);
            let unmeasured =
                |cases: &[&Case]| summary(cases.iter().map(|case| case.unmeasured.1), WITHIN);
            let measured =
                |cases: &[&Case]| summary(cases.iter().map(|case| case.measured.1), WITHIN);
            let ([within, mean], [own_within, own_mean]) = (unmeasured(&short), measured(&short));
            let [long_within, _] = unmeasured(&long);
            rows.push([
                ranks.to_string(),
                name.to_owned(),
                team.half_bytes().to_string(),
                within,
                mean,
                own_within,
                own_mean,
                long_within,
            ]);
            if ranks <= TUNED_RANKS_MAX {
                let operations: Vec<Collective> = operations().collect();
                let tuned = AfterTuning::of(&team, &operations, seed);
                let cases = all_lengths().flat_map(of_length);
                after.push(after_tuning::row(name, &tuned, cases, WITHIN));
            }
            let beyond = |case: &Case| case.unmeasured.1 > WITHIN;
            slow.extend(
                all.into_iter()
                    .filter(beyond)
                    .map(|case| (ranks, name, case)),
            );
        }
    }
    let head = [
        "ranks",
        "machine",
        "n½",
        "up to 4 KiB within 3 %",
        "mean",
        "by its own n½",
        "mean",
        "beyond 4 KiB within 3 %",
    ];
    let _ = write!(
        out,
        "\n## On eleven machines\n\nHow many choices are within 3 % of the best algorithm, and the geometric mean of their times relative to it.\n\n{}",
        table(head, rows)
    );
    let head = [
        "ranks",
        "machine",
        "raced within 3 %",
        "all within 3 %",
        "mean",
        "worst",
    ];
    let _ = write!(out, "\n{AFTER}\n{}", table(head, after));
    let _ = write!(
        out,
        "\n## Slower by more than 3 %\n\nOf all machines together, n½ not measured.\n\n{}\n{NOT}",
        worst(&slow)
    );
    out
}

/// The worst case of each operation, for short blocks and for long ones.
fn worst(slow: &[(usize, &str, Case)]) -> String {
    let mut rows: Vec<[String; 8]> = Vec::new();
    for operation in operations() {
        for ranks in RANKS {
            for short in [true, false] {
                let of = |one: &&(usize, &str, Case)| {
                    let (n, _, case) = one;
                    let kind = (case.operation, case.bytes <= SHORT_BYTES);
                    (*n, kind) == (ranks, (operation, short))
                };
                let all = || slow.iter().filter(of);
                let worst = all().max_by(|a, b| a.2.unmeasured.1.total_cmp(&b.2.unmeasured.1));
                let Some((_, machine, case)) = worst else {
                    continue;
                };
                let (chosen, ratio) = case.unmeasured;
                rows.push([
                    operation.to_string(),
                    ranks.to_string(),
                    if short { "up to 4 KiB" } else { "longer" }.to_owned(),
                    all().count().to_string(),
                    format!("{ratio:.2}"),
                    (*machine).to_owned(),
                    case.bytes.to_string(),
                    format!("{chosen}, best {}", case.best),
                ]);
            }
        }
    }
    let head = [
        "operation",
        "ranks",
        "blocks",
        "cases",
        "worst",
        "where",
        "bytes",
        "what",
    ];
    table(head, rows)
}
