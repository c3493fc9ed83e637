//! Checks docs/algorithms.md against the code: names, files, and the transfers that a counting fabric sees.

use crate::channels::{Channels, Sent};
use crate::common::{ADD, run, run_with};
use crate::periodic::joined;
use corecast_collectives::barrier::{self, GroupSchedule, LineSteps, Steps};
use corecast_collectives::broadcast::AllLines;
use corecast_collectives::groups::{GroupRoute, Groups};
use corecast_collectives::reduction_order::ReductionOrder;
use corecast_collectives::scan::Upto;
use corecast_collectives::{
    Collective, PipelineSegments, Route, TransferProtocol, allgather, allreduce, alltoall,
    broadcast, entries, gather, pipeline, reduce, reduce_scatter, scan, scatter,
};
use corecast_plan::groups::Grouped;
use corecast_plan::{Pattern, Rounds};
use std::ops::Range;
use std::path::Path;

/// Bytes that a rank brings: blocks are equal for all n up to 9, and no part is cut further.
const S: usize = 2520;

/// Long enough for any part, so that messages and loans are counted alike.
const MESSAGE_BYTES: usize = 9 * S;

#[test]
fn the_table_is_that_of_the_registry() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/algorithms.md");
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).collect();
    let expected: Vec<String> = entries().iter().map(|entry| entry.row()).collect();
    // The table's first two lines are its head and the line below it.
    assert_eq!(
        rows[2..],
        expected,
        "write it anew: cargo run -p corecast-collectives --example algorithms"
    );
}

#[test]
fn the_files_of_the_registry_exist_and_none_is_missing() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../collectives/src");
    for entry in entries() {
        assert!(source.join(entry.file).is_file(), "{}", entry.file);
    }
    let text: String = entries().iter().map(|entry| entry.row()).collect();
    for collective in Collective::WITH_ALGORITHMS {
        let folder = collective.name();
        for entry in std::fs::read_dir(source.join(folder)).unwrap() {
            let file = entry.unwrap().file_name().into_string().unwrap();
            // `padded` is a part of Bruck's all-to-all, `packages` of barriers between packages, `upto` of both scans.
            let helps = [
                "mod.rs",
                "algorithm.rs",
                "padded.rs",
                "packages.rs",
                "upto.rs",
            ];
            assert!(
                helps.contains(&&*file) || text.contains(&format!("`{folder}/{file}`")),
                "{folder}/{file}"
            );
        }
    }
}

/// The value of a formula: sums and products of numbers and names.
fn value(formula: &str, n: usize) -> usize {
    let mut rest = formula;
    let sum = sum(&mut rest, n);
    assert_eq!(rest, "", "all of {formula}");
    usize::try_from(sum).unwrap()
}

fn sum(rest: &mut &str, n: usize) -> i64 {
    let mut total = product(rest, n);
    loop {
        let sign = match rest.chars().next() {
            Some('+') => 1,
            Some('-') => -1,
            _ => return total,
        };
        *rest = &rest[1..];
        total += sign * product(rest, n);
    }
}

fn product(rest: &mut &str, n: usize) -> i64 {
    let mut total = factor(rest, n);
    loop {
        let sign = rest.chars().next();
        if !matches!(sign, Some('*' | '/')) {
            return total;
        }
        *rest = &rest[1..];
        let by = factor(rest, n);
        match sign {
            Some('/') => {
                assert_eq!(total % by, 0, "{total} / {by}");
                total /= by;
            }
            _ => total *= by,
        }
    }
}

fn factor(rest: &mut &str, n: usize) -> i64 {
    if let Some(inner) = rest.strip_prefix('(') {
        *rest = inner;
        let total = sum(rest, n);
        *rest = rest.strip_prefix(')').expect("a closing bracket");
        return total;
    }
    let end = rest
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    *rest = after;
    let tracker = n.next_power_of_two().ilog2() as usize;
    (match word {
        "n" => n,
        "s" => S,
        "log" => tracker,
        "power" => 1 << tracker,
        "ones" => (0..n).map(|number| number.count_ones() as usize).sum(),
        "joins" => joins(n),
        "ways" => told(&m_way(n)),
        "mixed" => told(&barrier::multi_m_rounds(n)),
        "inside" => told(&m_way(n.div_ceil(2))) + told(&m_way(n / 2)),
        "across" => n.saturating_sub(1).min(1) * n,
        number => number.parse().expect("a number or a name"),
    }) as i64
}

/// Number of lines that are read in all rounds.
fn told(rounds: &Rounds) -> usize {
    rounds.notifications()
}

/// The rounds with the best m; no ranks count as one.
fn m_way(n: usize) -> Rounds {
    let n = n.max(1);
    Rounds::dissemination(n, barrier::best_m(n) + 1)
}

/// Two packages, to which ranks belong in turn.
fn packages(n: usize) -> Vec<u32> {
    (0..n as u32).map(|rank| rank % 2).collect()
}

/// A tree whose groups have one member and two members in turn.
fn grouped(n: usize, root: usize) -> Grouped {
    let mut lists = vec![Vec::new(); n];
    let (mut parent, mut child) = (0, 1);
    while child < n {
        for size in [1, 2] {
            let end = (child + size).min(n);
            let members: Vec<usize> = (child..end).map(|v| (v + root) % n).collect();
            if !members.is_empty() {
                lists[(parent + root) % n].push(members);
            }
            child = end;
        }
        parent += 1;
    }
    Grouped::from_groups(root, lists).unwrap()
}

fn joins(n: usize) -> usize {
    if n == 1 {
        return 0;
    }
    let power = n.next_power_of_two() / 2;
    n + joins(power) + joins(n - power)
}

fn given(rank: usize, len: usize) -> Vec<u8> {
    (0..len)
        .map(|index| (index * 7 + rank * 31) as u8)
        .collect()
}

fn summed(n: usize) -> Vec<u8> {
    (0..n).fold(vec![0; S], |mut sum, rank| {
        sum.iter_mut()
            .zip(given(rank, S))
            .for_each(|(a, b)| *a = a.wrapping_add(b));
        sum
    })
}

/// Runs one algorithm on `n` ranks, checks its result, and returns what was sent.
fn measured(collective: &str, name: &str, n: usize, root: usize) -> Sent {
    let machine = corecast_model::synthetic(&format!("core:{n}")).unwrap();
    let tree = Pattern::Smelt.tree(machine.costs(), root).unwrap();
    let routes = Route::all(&tree);
    let rounds = Rounds::dissemination(n, 2);
    let protocol = match name {
        "push" => TransferProtocol::push(MESSAGE_BYTES, 1),
        "pull" | "put" => TransferProtocol::pull(MESSAGE_BYTES, 1),
        _ => TransferProtocol::fitting([MESSAGE_BYTES, 1][n % 2], 1),
    };
    let parts = |rank: usize| rank * S..(rank + 1) * S;
    let block = |rank: usize| pipeline::block(S, 1, n, rank);
    let size = |ranks: Range<usize>| ranks.len() * S;
    let block_size = |ranks: Range<usize>| ranks.len() * S / n;
    let segment = match name {
        "fixed" => PipelineSegments::FIXED,
        "dynamic" => PipelineSegments::DYNAMIC,
        _ => PipelineSegments::Whole,
    };
    let mut groups = Groups::new(n);
    let rounds_of = |name| match name {
        "multi-m" => barrier::multi_m_rounds(n),
        "pair-wise" => barrier::pair_wise_rounds(&packages(n)),
        "package-roots" => barrier::package_root_rounds(&packages(n)),
        _ => m_way(n),
    };
    let line_steps = LineSteps::all(&rounds_of(name), &mut groups);
    let plan = grouped(n, root);
    let ways = GroupSchedule::all(&plan, &plan, &mut groups);
    let fan_out = GroupRoute::fan_out(&plan, &mut groups);
    let all_lines = AllLines::all(n, &mut groups);
    let barrier_ends: Vec<Option<usize>> = match n {
        1 => vec![None],
        _ => groups
            .counter_barrier((0..n).collect())
            .into_iter()
            .map(Some)
            .collect(),
    };
    let everything = joined((0..n).map(|rank| given(rank, S)));
    let body = |fabric: &mut Channels| {
        let rank = fabric.rank;
        let route = &routes[rank];
        let mut mine = given(rank, S);
        let (mut second, mut third, mut long, mut wide) =
            (vec![0; S], vec![0; S], vec![0; n * S], vec![0; 3 * S]);
        let mut incoming = vec![0; MESSAGE_BYTES];
        let shape = (S, 1);
        let as_is = (S, PipelineSegments::Whole);
        match (collective, name) {
            ("barrier", "tree") => barrier::tree(fabric, route, route).unwrap(),
            ("barrier", "dissemination") => {
                barrier::dissemination(fabric, &Steps::of(&rounds, rank)).unwrap();
            }
            ("barrier", "groups") => barrier::groups(fabric, &ways[rank]).unwrap(),
            ("barrier", "counter") => barrier::counter(fabric, barrier_ends[rank]).unwrap(),
            ("barrier", _) => barrier::m_way(fabric, &line_steps[rank]).unwrap(),
            ("broadcast", _) => {
                let window = &mut &mut mine[..];
                match name {
                    "messages" => broadcast::tree(fabric, route, root, window),
                    "line" => broadcast::line(fabric, &all_lines[rank], root, window),
                    "groups" => broadcast::groups(fabric, &fan_out[rank], window),
                    "whole" => broadcast::lent(fabric, route, root, window, shape, as_is.1),
                    "fixed" => {
                        broadcast::lent(fabric, route, root, window, shape, PipelineSegments::FIXED)
                    }
                    "dynamic" => broadcast::lent(
                        fabric,
                        route,
                        root,
                        window,
                        shape,
                        PipelineSegments::DYNAMIC,
                    ),
                    "binomial" => broadcast::binomial(fabric, root, window, shape, as_is.1),
                    "chain" => broadcast::chain(fabric, root, window, shape, as_is.1),
                    _ => broadcast::scattered(fabric, root, window, shape, protocol),
                }
                .unwrap();
                assert_eq!(mine, given(root, S));
            }
            ("reduce", "messages") => {
                reduce::tree(fabric, route, root, &mut mine, &mut incoming[..S], &ADD).unwrap();
                assert!(rank != root || mine == summed(n));
            }
            ("reduce", "owners") => {
                reduce::owners(fabric, root, &mut &mut mine[..], S, &ADD).unwrap();
                assert!(rank != root || mine == summed(n));
            }
            ("reduce", _) => {
                let pipeline = match name {
                    "whole" => PipelineSegments::Whole,
                    "fixed" => PipelineSegments::FIXED,
                    _ => PipelineSegments::DYNAMIC,
                };
                let mut scratch = vec![0; reduce::SCRATCH_SEGMENTS * pipeline.bytes(S, 1)];
                let buffers = (&mut &mut mine[..], &mut &mut scratch[..]);
                reduce::lent(fabric, route, root, buffers, S, pipeline, &ADD).unwrap();
                assert!(rank != root || mine == summed(n));
            }
            ("allreduce", "messages") if n == 2 => {
                allreduce::exchange(fabric, &mut mine, &mut incoming[..S], &ADD).unwrap();
                assert_eq!(mine, summed(n));
            }
            ("allreduce", "messages" | "trees") => {
                allreduce::tree(fabric, route, route, &mut mine, &mut incoming[..S], &ADD).unwrap();
                assert_eq!(mine, summed(n));
            }
            ("allreduce", "direct") => {
                let mut stack = vec![0; ReductionOrder::bytes(S, n)];
                let incoming = &mut incoming[..S];
                allreduce::direct(fabric, &mut mine, incoming, &mut stack, &ADD).unwrap();
                assert_eq!(mine, summed(n));
            }
            ("allreduce", _) => {
                let window = &mut &mut mine[..];
                match name {
                    "owners" if root == 0 => allreduce::owners(fabric, window, S, &ADD),
                    "owners" => {
                        let mut stack = vec![0; ReductionOrder::bytes(S, n)];
                        allreduce::owners_ordered(fabric, window, S, &mut stack, &ADD, S)
                    }
                    "doubling" => {
                        let buffers = (window, &mut &mut second[..], S);
                        allreduce::doubling(fabric, buffers, &mut incoming, &ADD, protocol)
                    }
                    "rabenseifner" => {
                        allreduce::rabenseifner(fabric, window, S, &mut incoming, &ADD, protocol)
                    }
                    _ => allreduce::ring(fabric, window, S, &mut incoming, &ADD, protocol),
                }
                .unwrap();
                assert_eq!(mine, summed(n));
            }
            ("scatter", _) => {
                let mut send = given(root, S);
                let recv = &mut vec![0; S / n][..];
                let window = &mut &mut send[..];
                match name {
                    "binomial" | "fixed" | "dynamic" => {
                        let scratch = &mut &mut second[..];
                        let cut = (block_size, segment.bytes(S, 1));
                        scatter::binomial(fabric, root, window, block, scratch, recv, cut, protocol)
                    }
                    "token" => {
                        let near = rank % 2 == 1;
                        scatter::token_ring(fabric, root, window, block, recv, near, (1, S))
                    }
                    _ => scatter::direct(fabric, root, window, block, recv, protocol),
                }
                .unwrap();
                assert_eq!(recv, &send[block(rank)]);
            }
            ("gather", _) => {
                match name {
                    "binomial" | "fixed" => {
                        let scratch = &mut vec![0; n * S][..];
                        let send = &mine[..];
                        let cut = (size, segment.bytes(n * S, 1));
                        gather::binomial(
                            fabric, root, send, scratch, &mut long, parts, cut, protocol,
                        )
                    }
                    "token" => {
                        let (send, near) = ((&&mut mine[..], S), rank % 2 == 1);
                        gather::token_ring(fabric, root, send, &mut long, parts, near, (1, S))
                    }
                    "put" if rank == root => {
                        let (send, recv) = ((&&mut mine[..], S), &mut &mut long[..]);
                        gather::take_puts(fabric, send, recv, parts, (protocol, 0))
                    }
                    "put" => gather::put(fabric, root, (&&mut mine[..], S), (protocol, 0)),
                    _ => gather::direct(
                        fabric,
                        root,
                        (&&mut mine[..], S),
                        &mut long,
                        parts,
                        protocol,
                    ),
                }
                .unwrap();
                assert!(rank != root || long == everything);
            }
            ("allgather", _) => {
                long[parts(rank)].copy_from_slice(&mine);
                match name {
                    "direct" => {
                        allgather::direct(fabric, (&&mut mine[..], S), &mut long, parts, protocol)
                    }
                    "ring" => allgather::ring(fabric, &mut &mut long[..], parts, rank, protocol),
                    "bruck" => allgather::bruck(fabric, &mut &mut long[..], S, protocol),
                    _ => {
                        let send = (&&mut mine[..], S);
                        gather::direct(fabric, root, send, &mut long, parts, protocol).unwrap();
                        let shape = (n * S, 1);
                        let window = &mut &mut long[..];
                        broadcast::lent(fabric, route, root, window, shape, PipelineSegments::Whole)
                    }
                }
                .unwrap();
                assert_eq!(long, everything);
            }
            ("alltoall", _) => {
                let recv = &mut second[..];
                let window = &mut &mut mine[..];
                match name {
                    "direct" => alltoall::direct(fabric, window, block, recv, block, protocol),
                    _ => {
                        let scratch = (&mut &mut wide[..], S / n);
                        let send: &[u8] = window;
                        alltoall::bruck(fabric, send, block, recv, block, scratch, protocol)
                    }
                }
                .unwrap();
                for from in 0..n {
                    assert_eq!(recv[block(from)], given(from, S)[block(rank)]);
                }
            }
            ("reduce_scatter", _) => {
                let recv = &mut vec![0; S / n][..];
                match name {
                    "owners" if root == 0 => {
                        let (window, incoming) = (&&mut mine[..], &mut incoming[..]);
                        reduce_scatter::owners(
                            fabric, window, block, recv, incoming, &ADD, protocol,
                        )
                    }
                    "owners" => {
                        let mut stack = vec![0; ReductionOrder::bytes(S, n)];
                        let buffers = (&mut incoming[..], &mut stack[..]);
                        let window = &&mut mine[..];
                        let cut = (protocol, S);
                        reduce_scatter::owners_ordered(
                            fabric, window, block, recv, buffers, &ADD, cut,
                        )
                    }
                    "ring" => {
                        let buffers = ((&mut &mut wide[..], S), &mut incoming[..]);
                        reduce_scatter::ring(fabric, &mine, block, recv, buffers, &ADD, protocol)
                    }
                    "halving" => {
                        let buffers = (&mut &mut second[..], &mut incoming[..]);
                        reduce_scatter::halving(fabric, &mine, block, recv, buffers, &ADD, protocol)
                    }
                    _ => {
                        for owner in 0..n {
                            let part = &mut mine[block(owner)];
                            let incoming = &mut incoming[..S / n];
                            reduce::tree(fabric, route, owner, part, incoming, &ADD).unwrap();
                        }
                        recv.copy_from_slice(&mine[block(rank)]);
                        Ok(())
                    }
                }
                .unwrap();
                assert_eq!(recv, &summed(n)[block(rank)]);
            }
            ("scan", _) => {
                let upto = [Upto::Own, Upto::Before][root % 2];
                match name {
                    "chain" => {
                        let scratch = (&mut &mut wide[..], S);
                        let buffers = (&mut &mut mine[..], scratch, &mut incoming[..]);
                        scan::chain(
                            fabric,
                            buffers,
                            S,
                            PipelineSegments::Whole,
                            upto,
                            &ADD,
                            protocol,
                        )
                    }
                    _ => {
                        let (first, second) = (&mut &mut second[..], &mut &mut third[..]);
                        let buffers = (first, second, &mut incoming[..]);
                        scan::doubling(fabric, &mut mine, upto, buffers, &ADD, protocol)
                    }
                }
                .unwrap();
                let expected = match upto {
                    Upto::Own => summed(rank + 1),
                    Upto::Before if rank == 0 => given(0, S),
                    Upto::Before => summed(rank),
                };
                assert_eq!(mine, expected);
            }
            other => panic!("no such algorithm: {other:?}"),
        }
    };
    run_with(&groups, n, body)
}

#[test]
fn formulas_agree_with_what_is_sent() {
    for row in entries() {
        let (collective, name) = (row.collective.name(), row.name);
        for n in 1..=9usize {
            let of_powers = ["rabenseifner", "halving", "butterfly"];
            if of_powers.contains(&name) && !n.is_power_of_two() {
                continue;
            }
            for root in 0..n {
                let sent = measured(collective, name, n, root);
                let transfers = match collective {
                    "barrier" => sent.notifications + sent.reads + sent.additions,
                    _ => sent.messages + sent.loans + sent.reads + sent.additions,
                };
                let found = (transfers, sent.bytes);
                let expected = (value(row.transfers, n), value(row.bytes, n));
                assert_eq!(
                    found, expected,
                    "{collective} {name}, {n} ranks, root {root}"
                );
                if name == "token" {
                    assert_eq!(sent.notifications, n.saturating_sub(2), "{collective}");
                }
                match name {
                    "push" => assert_eq!(sent.loans, 0, "{collective}"),
                    "pull" | "put" => assert_eq!(sent.messages, 0, "{collective}"),
                    _ => {}
                }
            }
        }
    }
}

/// Parts are longer than the token's limit, so they go in two transfers.
#[test]
fn tokens_part_what_is_long() {
    for n in 1..=5 {
        for root in 0..n {
            let sent = run(n, |fabric| {
                let (rank, mut send, mut recv) = (fabric.rank, given(root, n * S), vec![0; S]);
                let part = |rank: usize| rank * S..(rank + 1) * S;
                let (window, near) = (&&mut send[..], rank == 1);
                let shape = (8, 1000);
                scatter::token_ring(fabric, root, window, part, &mut recv, near, shape).unwrap();
                assert_eq!(recv, send[part(rank)]);
                let mut all = vec![0; n * S];
                let give = (&&mut recv[..], S);
                gather::token_ring(fabric, root, give, &mut all, part, near, shape).unwrap();
                assert!(rank != root || all == send);
            });
            let transfers = (sent.loans, sent.notifications, sent.bytes);
            let others = n - 1;
            let expected = (4 * others, 2 * n.saturating_sub(2), 2 * others * S);
            assert_eq!(transfers, expected, "{n} ranks, root {root}");
        }
    }
}

/// Segments of any length carry parts of any lengths, which lie side by side or apart, through binomial trees.
#[test]
fn segments_of_binomial_trees_carry_all_parts() {
    for (n, root) in (1..=9).flat_map(|n| (0..n).map(move |root| (n, root))) {
        for (round, segment) in [1, 7, 64, 100, usize::MAX].into_iter().enumerate() {
            let len = |rank: usize| [20 * rank + 30, 60, 3 * (rank % 3), 0][(round + n) % 4];
            let gap = round % 2;
            let start = |rank: usize| (0..rank).map(|rank| len(rank) + gap).sum();
            let part = |rank: usize| start(rank)..start(rank) + len(rank);
            let all = start(n);
            let size = |ranks: Range<usize>| ranks.map(|v| len((v + root) % n)).sum();
            let protocol = TransferProtocol::fitting([10, 1000][n % 2], 1);
            let sent = run(n, |fabric| {
                let rank = fabric.rank;
                let (send, recv) = (given(root, all), &mut vec![7; len(rank)][..]);
                let (scratch, cut) = (&mut vec![0; all][..], (size, segment));
                scatter::binomial(fabric, root, &send, part, scratch, recv, cut, protocol).unwrap();
                assert_eq!(recv, &send[part(rank)], "{n} ranks, segments of {segment}");
                let mut back = vec![7; all];
                gather::binomial(fabric, root, recv, scratch, &mut back, part, cut, protocol)
                    .unwrap();
                let parts = (0..n).filter(|_| rank == root).map(part);
                parts.for_each(|part| assert_eq!(back[part.clone()], send[part]));
            });
            let moved = |v: usize| v.count_ones() as usize * len((v + root) % n);
            let bytes: usize = (0..n).map(moved).sum();
            assert_eq!(sent.bytes, 2 * bytes, "{n} ranks, segments of {segment}");
            if segment == usize::MAX {
                assert_eq!(sent.messages + sent.loans, 2 * (n - 1));
            }
        }
    }
}
