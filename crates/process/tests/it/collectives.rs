//! Every collective with every algorithm, team size up to nine, root and threshold of length against a
//! naive reference; operators that are not commutative, and rounded sums whose bits must not change.

use crate::common::plans_of;
use crate::periodic::{PERIOD, joined, repeated};
use corecast_collectives::operator::{Ordered, Sum};
use corecast_collectives::{
    Algorithms, Parts, Plans, PlansError, allgather, allreduce, alltoall, broadcast, gather,
    pipeline, reduce, reduce_scatter, scan, scatter,
};
use corecast_plan::Pattern;
use corecast_process::Address;
use corecast_process::ProcessGroup;
use corecast_team::{Member, Options, Team};

const RANKS_MAX: usize = 9;

/// Elements around a slot (56 bytes), two slots (112 bytes) and a message (8,240 bytes), for every team.
const SHORT: [usize; 9] = [0, 1, 7, 8, 14, 15, 1029, 1030, 1031];

/// Elements around a pipeline segment (32 KiB) and more, for some teams.
const LONG: [usize; 4] = [4095, 4096, 4097, 20_001];

fn team(n: usize, pattern: Pattern, algorithms: Algorithms, deterministic: bool) -> Team {
    let plans = plans_of(n, pattern);
    let options = Options {
        algorithms,
        deterministic,
        ..Options::default()
    };
    Team::with_options(plans, &options).unwrap()
}

/// The data of a rank for rank `to`.
fn given(rank: usize, to: usize, len: usize) -> Vec<u64> {
    let seed = (rank * 100 + to) as u64;
    let value = |index: usize| seed << 40 | (index as u64).wrapping_mul(0x9E37_79B9);
    repeated((0..len.min(PERIOD)).map(value).collect(), len)
}

/// The default, and each algorithm of one collective.
macro_rules! choices {
    ($collective:ident) => {
        std::iter::once(None)
            .chain($collective::Algorithm::ALL.iter().copied().map(Some))
            .map(|choice| {
                let mut algorithms = Algorithms::default();
                algorithms.$collective = choice.into();
                algorithms
            })
    };
}

/// The default, and then in each round one further algorithm of each of `operations`, until all have run.
fn by_rounds(operations: &[&str]) -> Vec<Algorithms> {
    let names = |operation: &&str| Algorithms::names(operation).unwrap();
    let names: Vec<_> = operations.iter().map(names).collect();
    let rounds = names.iter().map(Vec::len).max().unwrap();
    let round = |round: usize| {
        let mut algorithms = Algorithms::default();
        for (operation, names) in operations.iter().zip(&names) {
            let name = round.checked_sub(1).and_then(|at| names.get(at)).copied();
            algorithms.ask(operation, &[(usize::MAX, name)]).unwrap();
        }
        algorithms
    };
    (0..=rounds).map(round).collect()
}

/// Runs `body` for each choice of algorithms, team size and length.
fn all(choices: impl Iterator<Item = Algorithms>, body: impl Fn(&mut Member, usize) + Sync) {
    for algorithms in choices {
        for n in 1..=RANKS_MAX {
            team(n, Pattern::Smelt, algorithms, false).run(|member| {
                for len in SHORT {
                    body(member, len);
                }
                if [1, 2, 4, 7].contains(&n) {
                    for len in LONG {
                        body(member, len);
                    }
                }
            });
        }
    }
}

/// All roots for short data, the first and the last for long ones.
fn roots(n: usize, len: usize) -> impl Iterator<Item = usize> {
    (0..n).filter(move |&root| len < 1000 || root == 0 || root == n - 1)
}

#[test]
fn scatters_agree_with_the_reference() {
    all(choices!(scatter), |member, len| {
        let (n, rank) = (member.size(), member.rank());
        for root in roots(n, len) {
            let send = joined((0..n).map(|to| given(root, to, len)));
            let mut recv = vec![7; len];
            member
                .scatter(root, (rank == root).then_some(&send[..]), &mut recv)
                .unwrap();
            assert!(
                recv == given(root, rank, len),
                "{len} from {root} of {n} at {rank}"
            );
        }
    });
}

#[test]
fn gathers_agree_with_the_reference() {
    all(choices!(gather), |member, len| {
        let (n, rank) = (member.size(), member.rank());
        for root in roots(n, len) {
            let mut recv = vec![7; n * len];
            let into = (rank == root).then_some(&mut recv[..]);
            member.gather(root, &given(rank, 0, len), into).unwrap();
            let expected = match rank == root {
                true => joined((0..n).map(|rank| given(rank, 0, len))),
                false => vec![7; n * len],
            };
            assert!(recv == expected, "{len} to {root} of {n} at {rank}");
        }
    });
}

#[test]
fn allgathers_agree_with_the_reference() {
    all(choices!(allgather), |member, len| {
        let (n, rank) = (member.size(), member.rank());
        let mut recv = vec![7; n * len];
        member.allgather(&given(rank, 0, len), &mut recv).unwrap();
        let expected = joined((0..n).map(|rank| given(rank, 0, len)));
        assert!(recv == expected, "{len} of {n} at {rank}");
    });
}

#[test]
fn alltoalls_agree_with_the_reference() {
    all(choices!(alltoall), |member, len| {
        let (n, rank) = (member.size(), member.rank());
        let send = joined((0..n).map(|to| given(rank, to, len)));
        let mut recv = vec![7; n * len];
        member.alltoall(&send, &mut recv).unwrap();
        let expected = joined((0..n).map(|from| given(from, rank, len)));
        assert!(recv == expected, "{len} of {n} at {rank}");
    });
}

#[test]
fn broadcasts_agree_with_the_reference() {
    all(choices!(broadcast), |member, len| {
        let (n, rank) = (member.size(), member.rank());
        for root in roots(n, len) {
            let mut data = given(rank, 0, len);
            member.broadcast(root, &mut data).unwrap();
            assert!(
                data == given(root, 0, len),
                "{len} from {root} of {n} at {rank}"
            );
        }
    });
}

/// Scatters and gathers in pipeline segments, at lengths on both sides of each number of segments, from every root,
/// between threads and between processes. Elements have one byte, so segments end anywhere.
#[test]
fn segments_of_scatters_and_gathers_give_the_same() {
    let value = |rank: usize, len: usize| -> Vec<u8> {
        let period = (0..len.min(PERIOD)).map(|index| (rank * 71 + index * 13) as u8);
        repeated(period.collect(), len)
    };
    let asked = |scatter: scatter::Algorithm, gather: gather::Algorithm| {
        let mut asked = Algorithms::default();
        (asked.scatter, asked.gather) = (scatter.into(), gather.into());
        asked
    };
    for (n, algorithms) in [
        (
            3,
            asked(scatter::Algorithm::Fixed, gather::Algorithm::Fixed),
        ),
        (
            5,
            asked(scatter::Algorithm::Dynamic, gather::Algorithm::Fixed),
        ),
        (
            6,
            asked(scatter::Algorithm::Fixed, gather::Algorithm::Binomial),
        ),
    ] {
        let body = |member: &mut Member| {
            let rank = member.rank();
            // Bytes of all parts together; 200 KiB do not fit four segments.
            for all in [8 << 10, 16 << 10, 32 << 10, 64 << 10, 200 << 10] {
                for (root, len) in (0..n).map(|root| (root, all / n + (root + all / 8192) % 3 - 1))
                {
                    let everything: Vec<u8> = (0..n).flat_map(|rank| value(rank, len)).collect();
                    let (send, mut recv) =
                        ((rank == root).then_some(&everything[..]), vec![1; len]);
                    member.scatter(root, send, &mut recv).unwrap();
                    assert!(
                        recv == value(rank, len),
                        "{len} from {root} of {n} at {rank}"
                    );
                    let mut back = vec![1; n * len];
                    let into = (rank == root).then_some(&mut back[..]);
                    member.gather(root, &recv, into).unwrap();
                    assert!(rank != root || back == everything, "{len} to {root} of {n}");
                }
            }
        };
        team(n, Pattern::Smelt, algorithms, false).run(body);
        in_processes(
            n,
            &format!("segments-{n}"),
            algorithms,
            Pattern::Smelt,
            [0; 2],
            body,
        );
    }
}

/// Each set of roots copies to the root of a tree, at which the others hang it, between threads and between processes.
#[test]
fn copies_to_the_root_of_the_tree_give_the_same() {
    for (n, pattern) in [
        (2, Pattern::Chain),
        (5, Pattern::Chain),
        (7, Pattern::Binary),
    ] {
        for copies in [[(1 << n) - 1; 2], [0b1_0110 % (1 << n), 0b1101 % (1 << n)]] {
            let body = |member: &mut Member| {
                let rank = member.rank();
                for (root, len) in (0..n).flat_map(|root| [(root, 1), (root, 600), (root, 9000)]) {
                    let mut data = given(rank, 0, len);
                    member.broadcast(root, &mut data).unwrap();
                    assert!(
                        data == given(root, 0, len),
                        "{len} from {root} of {n} at {rank}"
                    );
                    let mut data = given(rank, 0, len);
                    member.reduce(root, &mut data, Sum).unwrap();
                    assert!(
                        rank != root || data == sums(n, len),
                        "{len} to {root} of {n}"
                    );
                }
            };
            let machine = corecast_model::synthetic(&format!("core:{n}")).unwrap();
            let plans = Plans::of_pattern(machine.costs(), pattern, Some(n / 2)).unwrap();
            let plans = plans.with_copies_of(copies).unwrap();
            Team::with_options(plans, &Options::default())
                .unwrap()
                .run(body);
            let name = format!("copies-{n}-{}", copies[0]);
            in_processes(n, &name, Algorithms::default(), pattern, copies, body);
        }
    }
}

/// Runs `body` on ranks that enter as processes do, each with its own plans; `copies` are roots that copy.
fn in_processes(
    n: usize,
    name: &str,
    algorithms: Algorithms,
    pattern: Pattern,
    copies: [u64; 2],
    body: impl Fn(&mut Member) + Copy + Send + Sync,
) {
    let (address, options) = (
        Address::Name(format!("{name}-{}", std::process::id())),
        Options {
            algorithms,
            ..Options::default()
        },
    );
    let plans = || {
        let machine = corecast_model::synthetic(&format!("core:{n}")).unwrap();
        let plans = Plans::of_pattern(machine.costs(), pattern, Some(n / 2))?;
        Ok::<_, PlansError>(plans.with_copies_of(copies).unwrap())
    };
    std::thread::scope(|scope| {
        for _ in 0..n {
            scope.spawn(|| {
                let team = ProcessGroup::enter(&address, n, &[None], plans, &options);
                team.unwrap().run(body);
            });
        }
    });
}

/// Affine maps x ↦ a·x + b. Their composition is associative, but not commutative.
type Map = [u64; 2];

fn then(f: Map, g: Map) -> Map {
    let times = |a: u64, b: u64| a.wrapping_mul(b);
    [times(f[0], g[0]), times(f[1], g[0]).wrapping_add(g[1])]
}

fn maps(rank: usize, len: usize) -> Vec<Map> {
    let value = |index: usize| [(rank * 2 + 3 + index) as u64, (rank + 1) as u64];
    repeated((0..len.min(PERIOD)).map(value).collect(), len)
}

/// The reference of all reductions: the maps of `ranks`, composed in rank order.
fn composed(ranks: std::ops::Range<usize>, len: usize) -> Vec<Map> {
    let mut ranks = ranks.map(|rank| maps(rank, len.min(PERIOD)));
    let mut sum = ranks.next().unwrap();
    for with in ranks {
        sum.iter_mut().zip(with).for_each(|(f, g)| *f = then(*f, g));
    }
    repeated(sum, len)
}

fn sums(n: usize, len: usize) -> Vec<u64> {
    let period = len.min(PERIOD);
    let values = (0..n).map(|rank| given(rank, 0, period));
    let sum = values.fold(vec![0; period], |mut sum: Vec<u64>, with| {
        sum.iter_mut()
            .zip(with)
            .for_each(|(a, b)| *a = a.wrapping_add(b));
        sum
    });
    repeated(sum, len)
}

#[test]
fn reductions_agree_with_the_reference() {
    all(choices!(reduce), |member, len| {
        let (n, rank) = (member.size(), member.rank());
        for root in roots(n, len) {
            let (mut data, mut ordered) = (given(rank, 0, len), maps(rank, len / 2));
            member.reduce(root, &mut data, Sum).unwrap();
            member.reduce(root, &mut ordered, Ordered(then)).unwrap();
            if rank == root {
                assert!(data == sums(n, len), "{len} to {root} of {n}");
                assert!(ordered == composed(0..n, len / 2), "{len} to {root} of {n}");
            } else {
                assert!(data == given(rank, 0, len) && ordered == maps(rank, len / 2));
            }
        }
    });
}

#[test]
fn allreductions_agree_with_the_reference() {
    all(choices!(allreduce), |member, len| {
        let (n, rank) = (member.size(), member.rank());
        let (mut data, mut ordered) = (given(rank, 0, len), maps(rank, len / 2));
        member.allreduce(&mut data, Sum).unwrap();
        assert!(data == sums(n, len), "{len} of {n} at {rank}");
        member.allreduce(&mut ordered, Ordered(then)).unwrap();
        assert!(ordered == composed(0..n, len / 2), "{len} of {n} at {rank}");
    });
}

#[test]
fn scattered_reductions_agree_with_the_reference() {
    all(choices!(reduce_scatter), |member, len| {
        let (n, rank) = (member.size(), member.rank());
        let block = pipeline::block(len, 1, n, rank);
        let mut mine = vec![7; block.len()];
        member
            .reduce_scatter(&given(rank, 0, len), &mut mine, Sum)
            .unwrap();
        assert!(mine == sums(n, len)[block], "{len} of {n} at {rank}");

        // Rank r gets r times `len / n` elements.
        let counts: Vec<usize> = (0..n).map(|rank| rank * (len / n)).collect();
        let start: usize = counts[..rank].iter().sum();
        let all: usize = counts.iter().sum();
        let mut ordered = vec![[7; 2]; counts[rank]];
        member
            .reduce_scatterv(&maps(rank, all), &counts, &mut ordered, Ordered(then))
            .unwrap();
        let expected = &composed(0..n, all)[start..start + counts[rank]];
        assert!(ordered == expected, "{len} of {n} at {rank}");
    });
}

#[test]
fn scans_agree_with_the_reference() {
    all(choices!(scan), |member, len| {
        let (n, rank) = (member.size(), member.rank());
        let (mut upto, mut before) = (maps(rank, len / 2), maps(rank, len / 2));
        member.scan(&mut upto, Ordered(then)).unwrap();
        assert!(
            upto == composed(0..rank + 1, len / 2),
            "{len} of {n} at {rank}"
        );
        member.exscan(&mut before, Ordered(then)).unwrap();
        let expected = match rank {
            0 => maps(0, len / 2),
            _ => composed(0..rank, len / 2),
        };
        assert!(before == expected, "{len} of {n} at {rank}");
    });
}

/// Counts that differ by rank, and parts that lie backwards with gaps between them.
fn scattered_parts(n: usize, count: impl Fn(usize) -> usize) -> (Vec<usize>, Vec<usize>, usize) {
    let counts: Vec<usize> = (0..n).map(count).collect();
    let mut end = 0;
    let mut displacements = vec![0; n];
    for rank in (0..n).rev() {
        displacements[rank] = end + 1;
        end += counts[rank] + 1;
    }
    (counts, displacements, end + 1)
}

fn v_forms(member: &mut Member, len: usize) {
    let (n, rank) = (member.size(), member.rank());
    let (counts, displacements, all) = scattered_parts(n, |rank| rank * len / 2);
    let parts = Parts::new(&counts, &displacements);
    let mine = given(rank, 0, counts[rank]);
    let mut expected = vec![7; all];
    (0..n).for_each(|rank| expected[parts.of(rank)].copy_from_slice(&given(rank, 0, counts[rank])));
    for root in [0, n / 2, n - 1] {
        let mut recv = vec![7; all];
        let into = (rank == root).then_some((&mut recv[..], parts));
        member.gatherv(root, &mine, into).unwrap();
        if rank == root {
            assert!(recv == expected, "gatherv to {root} of {n}");
        }
        let mut back = vec![8; counts[rank]];
        let from = (rank == root).then_some((&expected[..], parts));
        member.scatterv(root, from, &mut back).unwrap();
        assert!(back == mine, "scatterv from {root} of {n} at {rank}");
    }
    let mut recv = vec![7; all];
    member.allgatherv(&mine, &mut recv, parts).unwrap();
    assert!(recv == expected, "allgatherv of {n} at {rank}");

    // Rank a gives (a + 2 b) len / 3 elements to rank b, which may be none.
    let count = |a: usize, b: usize| (a + 2 * b) * len / 3;
    let (give_counts, give_at, give_all) = scattered_parts(n, |to| count(rank, to));
    let (take_counts, take_at, take_all) = scattered_parts(n, |from| count(from, rank));
    let give = Parts::new(&give_counts, &give_at);
    let take = Parts::new(&take_counts, &take_at);
    let (mut send, mut recv, mut expected) =
        (vec![6; give_all], vec![7; take_all], vec![7; take_all]);
    for peer in 0..n {
        send[give.of(peer)].copy_from_slice(&given(rank, peer, give_counts[peer]));
        expected[take.of(peer)].copy_from_slice(&given(peer, rank, take_counts[peer]));
    }
    member.alltoallv((&send, give), (&mut recv, take)).unwrap();
    assert!(recv == expected, "alltoallv of {n} at {rank}");
}

#[test]
fn parts_of_different_lengths_arrive() {
    let rounds = by_rounds(&["allgather", "scatter", "gather", "alltoall"]);
    all(rounds.into_iter(), v_forms);
}

/// In teams of more than 64 ranks not all ranks are linked.
#[test]
fn ranks_that_are_not_all_linked_get_the_same() {
    let n = 67;
    team(n, Pattern::Binary, Algorithms::default(), false).run(|member| {
        let rank = member.rank();
        for len in [0, 1, 60] {
            let mine = given(rank, 0, len);
            let (root, mut recv) = (n - 2, vec![7; n * len]);
            member
                .gather(root, &mine, (rank == root).then_some(&mut recv[..]))
                .unwrap();
            let everything = joined((0..n).map(|rank| given(rank, 0, len)));
            assert!(rank != root || recv == everything);
            let mut back = vec![7; len];
            let send = (rank == root).then_some(&recv[..]);
            member.scatter(root, send, &mut back).unwrap();
            assert!(back == mine);
            member.allgather(&mine, &mut recv).unwrap();
            assert!(recv == everything);
            let send = joined((0..n).map(|to| given(rank, to, len)));
            member.alltoall(&send, &mut recv).unwrap();
            assert!(recv == joined((0..n).map(|from| given(from, rank, len))));
            let mut sum = mine.clone();
            member.allreduce(&mut sum, Sum).unwrap();
            assert!(sum == sums(n, len));
            let block = pipeline::block(len, 1, n, rank);
            let mut part = vec![7; block.len()];
            member.reduce_scatter(&mine, &mut part, Sum).unwrap();
            assert!(part == sums(n, len)[block.clone()]);
            let mut part = vec![[7; 2]; block.len()];
            member
                .reduce_scatter(&maps(rank, len), &mut part, Ordered(then))
                .unwrap();
            assert!(part == composed(0..n, len)[block]);
            let mut upto = maps(rank, len);
            member.scan(&mut upto, Ordered(then)).unwrap();
            assert!(upto == composed(0..rank + 1, len));
        }
        v_forms(member, 2);
    });
}

#[test]
fn long_arrays_arrive_whole() {
    let len = (16 << 20) / 8;
    team(2, Pattern::Smelt, Algorithms::default(), false).run(|member| {
        let rank = member.rank();
        let (mine, other) = (given(rank, 0, len), given(1 - rank, 0, len));
        let mut all = vec![7; 2 * len];
        member.allgather(&mine, &mut all).unwrap();
        assert!(all[rank * len..][..len] == mine && all[(1 - rank) * len..][..len] == other);
        let mut data = mine.clone();
        member.allreduce(&mut data, Sum).unwrap();
        assert!(data == sums(2, len));
        let mut upto = mine;
        member.scan(&mut upto, Sum).unwrap();
        assert!(rank == 0 || upto == data);
    });
}

/// Bits of sums of values that round, at all places of an array of any length: reduce, allreduce and
/// `reduce_scatter` give the same for every plan, algorithm, root, length and repetition, scans the same
/// for every plan, algorithm, length and repetition.
#[test]
fn deterministic_sums_have_the_same_bits_whatever_happens() {
    let value = |rank: usize| 1e9 / (rank as f64 + 3.0);
    let every = || {
        choices!(allreduce)
            .chain(choices!(reduce))
            .chain(choices!(reduce_scatter))
            .chain(choices!(scan))
    };
    for n in [2, 3, 5, 8, 9] {
        let mut found: Vec<(u64, Vec<u64>)> = Vec::new();
        for (index, algorithms) in every().enumerate() {
            let pattern = [Pattern::Smelt, Pattern::Chain, Pattern::Binomial][index % 3];
            let bits = team(n, pattern, algorithms, true).run(|member| {
                let rank = member.rank();
                let mut seen: Vec<u64> = Vec::new();
                let mut prefixes: Vec<u64> = Vec::new();
                for len in [1, 57, 2100] {
                    for root in [0, n - 1] {
                        let mut data = vec![value(rank); len];
                        member.reduce(root, &mut data, Sum).unwrap();
                        if rank == root {
                            seen.extend(data.iter().map(|x| x.to_bits()));
                        }
                    }
                    let mut data = vec![value(rank); len];
                    member.allreduce(&mut data, Sum).unwrap();
                    seen.extend(data.iter().map(|x| x.to_bits()));
                    let mut mine = vec![0.0; len];
                    member
                        .reduce_scatter(&vec![value(rank); n * len], &mut mine, Sum)
                        .unwrap();
                    seen.extend(mine.iter().map(|x| x.to_bits()));
                    let mut data = vec![value(rank); len];
                    member.scan(&mut data, Sum).unwrap();
                    prefixes.extend(data.iter().map(|x| x.to_bits()));
                }
                seen.dedup();
                prefixes.dedup();
                assert_eq!((seen.len(), prefixes.len()), (1, 1), "{algorithms:?}");
                (seen[0], prefixes[0])
            });
            assert!(bits.iter().all(|(sum, _)| *sum == bits[0].0));
            found.push((
                bits[0].0,
                bits.into_iter().map(|(_, prefix)| prefix).collect(),
            ));
        }
        found.dedup();
        assert_eq!(found.len(), 1, "{n} ranks");
        // Scans combine in the order of a loop over the ranks.
        let mut sum = value(0);
        let prefixes = (1..n).map(|rank| {
            sum += value(rank);
            sum.to_bits()
        });
        let expected: Vec<u64> = std::iter::once(value(0).to_bits())
            .chain(prefixes)
            .collect();
        assert_eq!(found[0].1, expected);
    }
}

/// Ranks of a team of processes, which share a segment alone and copy what they lend.
#[test]
fn ranks_behind_a_segment_get_the_same() {
    let rounds = by_rounds(&Algorithms::OPERATIONS);
    for (round, algorithms) in rounds.into_iter().enumerate() {
        for n in [2, 5, 8] {
            let name = format!("collectives-{round}-{n}-{}", std::process::id());
            let options = Options {
                algorithms,
                ..Options::default()
            };
            std::thread::scope(|scope| {
                for _ in 0..n {
                    scope.spawn(|| {
                        let machine = corecast_model::synthetic(&format!("core:{n}")).unwrap();
                        let plans = || {
                            let packages = (0..n as u32).map(|rank| rank % 3).collect();
                            Plans::of_pattern(machine.costs(), Pattern::Smelt, None)?
                                .with_packages(packages)
                        };
                        let address = Address::Name(name.clone());
                        let team =
                            ProcessGroup::enter(&address, n, &[None], plans, &options).unwrap();
                        team.run(|member| {
                            for len in [0, 3, 57, 5000, 30_000] {
                                every_operation(member, len);
                                member.barrier().unwrap();
                            }
                        });
                    });
                }
            });
        }
    }
}

fn every_operation(member: &mut Member, len: usize) {
    let (n, rank) = (member.size(), member.rank());
    let root = len % n;
    let mine = given(rank, 0, len);
    let everything = joined((0..n).map(|rank| given(rank, 0, len)));
    let mut data = mine.clone();
    member.broadcast(root, &mut data).unwrap();
    assert!(data == given(root, 0, len), "broadcast of {len}");
    let mut all = vec![7; n * len];
    let into = (rank == root).then_some(&mut all[..]);
    member.gather(root, &mine, into).unwrap();
    assert!(rank != root || all == everything, "gather of {len}");
    let mut back = vec![7; len];
    let send = (rank == root).then_some(&all[..]);
    member.scatter(root, send, &mut back).unwrap();
    assert!(back == mine, "scatter of {len}");
    member.allgather(&mine, &mut all).unwrap();
    assert!(all == everything, "allgather of {len}");
    let send = joined((0..n).map(|to| given(rank, to, len)));
    member.alltoall(&send, &mut all).unwrap();
    let expected = joined((0..n).map(|from| given(from, rank, len)));
    assert!(all == expected, "alltoall of {len}");
    let mut data = mine.clone();
    member.allreduce(&mut data, Sum).unwrap();
    assert!(data == sums(n, len), "allreduce of {len}");
    let mut ordered = maps(rank, len);
    member.allreduce(&mut ordered, Ordered(then)).unwrap();
    assert!(ordered == composed(0..n, len), "ordered allreduce of {len}");
    let block = pipeline::block(len, 1, n, rank);
    let mut part = vec![7; block.len()];
    member.reduce_scatter(&mine, &mut part, Sum).unwrap();
    assert!(
        part == sums(n, len)[block.clone()],
        "reduce_scatter of {len}"
    );
    let mut part = vec![[7; 2]; block.len()];
    member
        .reduce_scatter(&maps(rank, len), &mut part, Ordered(then))
        .unwrap();
    assert!(part == composed(0..n, len)[block], "ordered, {len}");
    let mut upto = maps(rank, len);
    member.scan(&mut upto, Ordered(then)).unwrap();
    assert!(upto == composed(0..rank + 1, len), "scan of {len}");
    let mut before = maps(rank, len);
    member.exscan(&mut before, Ordered(then)).unwrap();
    assert!(
        rank == 0 || before == composed(0..rank, len),
        "exscan of {len}"
    );
    v_forms(member, len.min(6000));
}

#[test]
fn one_value_is_reduced_for_the_root_alone() {
    let team = team(3, Pattern::Binomial, Algorithms::default(), false);
    for root in 0..3 {
        let sums = team.run(|member| member.reduce_value(root, 10 + member.rank(), Sum));
        for (rank, sum) in sums.into_iter().enumerate() {
            assert_eq!(sum, Ok((rank == root).then_some(33)));
        }
    }
}
