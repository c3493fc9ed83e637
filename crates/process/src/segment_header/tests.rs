//! Segment headers agree with the team, and differences are named.

use super::*;
use corecast_plan::Pattern;
use corecast_transfer::HeapName;

fn plans(n: usize, pattern: &str) -> Plans {
    let machine = corecast_model::synthetic(&format!("core:{n}")).unwrap();
    let pattern: Pattern = pattern.parse().unwrap();
    Plans::of_pattern(machine.costs(), pattern, None).unwrap()
}

/// Random algorithms, with sizes and without, for random ranges of lengths.
fn asked(rng: &mut fastrand::Rng) -> Algorithms {
    let mut asked = Algorithms::default();
    let limits = (1..=rng.usize(0..8)).map(|limit| limit * 1000).collect();
    for (operation, limits) in [
        ("barrier", vec![usize::MAX]),
        ("scan", vec![usize::MAX]),
        ("broadcast", limits),
    ] {
        let names = Algorithms::sized_names(operation).unwrap();
        let mut name = || rng.choice(&names).copied().filter(|_| rng.bool());
        let ranges: Vec<_> = limits.into_iter().map(|limit| (limit, name())).collect();
        asked.ask(operation, &ranges).unwrap();
    }
    asked.half_bytes = rng.bool().then(|| rng.usize(0..10_000));
    asked
}

#[test]
fn algorithms_that_there_are_not_are_refused() {
    let algorithms = "barrier=m-way:3;broadcast=chain:1M".parse().unwrap();
    let words = encode(&plans(2, "chain"), &algorithms);
    // The first words are the barrier's algorithm, the number of ranges of broadcasts, the last limit, and its
    // algorithm. The eight lowest bits are the algorithm, the others its size.
    assert_eq!((words[0] & 255, words[1], words[3] & 255), (4, 1, 8));
    let barriers = corecast_collectives::barrier::Algorithm::ALL.len() as u64;
    for (at, value) in [
        (0, barriers + 1),
        (1, 0),
        (1, 9),
        (2, 7),
        (3, 10),
        (3, u64::MAX),
        // A tree of a size, messages of a size, and sizes that there are not.
        (0, 1 | 1 << 8),
        (3, 1 | 1 << 8),
        (3, words[3] + (1 << 8)),
        (3, 8 | 1 << 40),
        (0, 256),
    ] {
        let mut corrupt = words.clone();
        corrupt[at] = value;
        assert_eq!(decode(&corrupt, 2), None, "word {at} is {value}");
    }
}

#[test]
fn plans_come_back_and_garbage_does_not() {
    for n in [1, 2, 5, 9] {
        for pattern in ["binomial", "chain", "dissemination:3", "groups", "counter"] {
            let plans = match pattern {
                "groups" => {
                    let flat = Grouped::flat(n, n / 2);
                    let barrier = BarrierPlan::Groups {
                        fan_in: flat.clone(),
                        fan_out: Grouped::flat(n, 0),
                    };
                    let plans = plans(n, "chain").with_barrier(barrier).unwrap();
                    let plans = plans.with_broadcast_groups(flat).unwrap();
                    plans.with_packages((0..n as u32).collect()).unwrap()
                }
                "counter" => {
                    let plans = plans(n, "chain");
                    plans.with_barrier(BarrierPlan::Counter(n)).unwrap()
                }
                pattern => plans(n, pattern),
            };
            let mut rng = fastrand::Rng::with_seed(n as u64);
            let algorithms = asked(&mut rng);
            let copies = [rng.u64(..1 << n), rng.u64(..1 << n)];
            let plans = plans.with_copies_of(copies).unwrap();
            let words = encode(&plans, &algorithms);
            let found = decode(&words, n);
            assert_eq!(found, Some((plans, algorithms)), "{n} {pattern}");
            for _ in 0..300 {
                let mut corrupt = words.clone();
                let at = rng.usize(0..corrupt.len());
                corrupt[at] = [rng.u64(..), rng.u64(0..10), u64::MAX][rng.usize(0..3)];
                // Any result but a panic or plans for another size will do.
                assert!(decode(&corrupt, n).is_none_or(|(plans, _)| plans.len() == n));
                assert_eq!(decode(&words[..at], n), None);
            }
        }
    }
}

#[test]
fn a_header_says_what_does_not_fit() {
    let plans = plans(3, "binomial");
    let options = Options {
        record: true,
        lines: 70_000,
        ..Options::default()
    };
    let segment = Segment::new(SegmentHeader::bytes(&plans, &options.algorithms), None).unwrap();
    let fence = FenceKind::SharedSymmetric;
    let read = |size, options: &Options, fence| {
        SegmentHeader::read(&segment, size, options, fence)
            .map(|(header, plans, ..)| (header, plans))
    };
    assert!(matches!(
        read(None, &options, fence),
        Err(SegmentHeaderError::NoTeam)
    ));
    SegmentHeader::write(&segment, &plans, &options, (FenceKind::SharedAsymmetric, 0)).unwrap();
    assert!(matches!(
        read(None, &options, fence),
        Err(SegmentHeaderError::Fence)
    ));
    let fence = FenceKind::SharedAsymmetric;
    let size = read(Some(4), &options, fence).unwrap_err();
    assert_eq!(
        size.to_string(),
        "the team has 3 ranks, this process expects 4: give all the same size"
    );
    let mut other = Options::default();
    other.algorithms.broadcast = corecast_collectives::broadcast::Algorithm::Whole.into();
    let (header, found, theirs, _) = SegmentHeader::read(&segment, Some(3), &other, fence).unwrap();
    assert_eq!(found, plans);
    assert_eq!(theirs.algorithms, options.algorithms);
    let flags = (theirs.record, theirs.deterministic, theirs.lines);
    assert_eq!(flags, (true, false, 70_000));
    assert!(header.owner(2).is_none());
    let facts = |pid: u32, born, node| Facts {
        heap: pid.is_multiple_of(2).then_some(HeapName {
            file: pid,
            id: u64::MAX - u64::from(pid),
        }),
        owner: Owner {
            pid,
            born,
            namespaces: Namespaces { pid: 4, time: 0 },
            word: (u64::from(pid) * 10, 9),
        },
        node,
    };
    let register = |rank, facts: Facts| {
        let claimed = header.claim(rank, facts.owner.pid);
        if claimed {
            assert_eq!(header.owner(rank), None);
            header.register(rank, facts);
        }
        claimed
    };
    assert!(register(2, facts(77, Some(5), Some(0))));
    assert!(!register(2, facts(78, None, None)));
    assert_eq!(header.owner(2), Some(facts(77, Some(5), None).owner));
    assert_eq!(header.claimed_by(2), 77);
    assert_eq!(header.nodes(), None);
    assert!(register(0, facts(79, None, Some(1))));
    assert!(register(1, facts(80, None, Some(0))));
    assert_eq!(header.owner(0), Some(facts(79, None, None).owner));
    assert_eq!(header.nodes(), Some(vec![1, 0, 0]));
    let heaps: Vec<_> = (0..3).map(|rank| header.heap(rank)).collect();
    assert_eq!(heaps, [None, facts(80, None, None).heap, None]);
    assert!(heaps[1].is_some());
    assert!(!header.end_mark(2).is_known());
    segment.at::<Words>(0, 1).unwrap()[0].set(word::VERSION, 99);
    let version = read(None, &options, fence).unwrap_err().to_string();
    assert!(version.contains("version 99"), "{version}");
}

#[test]
fn what_the_creator_decides_comes_back() {
    let plans = plans(3, "binomial");
    let fence = FenceKind::SharedSymmetric;
    let limits = [None, Some(Duration::ZERO), Some(Duration::from_millis(7))];
    for (index, patience) in limits.into_iter().enumerate() {
        let given = Options {
            backend: Backend::ALL[index % 2],
            slots: [None, Some(8), Some(16)][index],
            depth: index,
            deterministic: index == 1,
            record: index == 2,
            patience,
            join_limit: Duration::from_secs(index as u64),
            ..Options::default()
        };
        let bytes = SegmentHeader::bytes(&plans, &given.algorithms);
        let segment = Segment::new(bytes, None).unwrap();
        SegmentHeader::write(&segment, &plans, &given, (fence, 0)).unwrap();
        let ours = FenceKind::SharedAsymmetric;
        let read = SegmentHeader::read(&segment, Some(3), &Options::default(), ours);
        let (header, _, found, kind) = read.unwrap();
        assert_eq!(kind, fence);
        let decided = |options: &Options| {
            let flags = (options.deterministic, options.record);
            let limits = (options.patience, options.join_limit);
            (options.backend, options.slots, options.depth, flags, limits)
        };
        assert_eq!(decided(&found), decided(&given));

        // The first round that asks has the team.
        assert!(header.is_of_round(5) && !header.is_of_round(6) && header.is_of_round(5));
        assert!((0..3).all(|rank| header.claim(rank, 70 + rank as u32)));
        header.give_up(1);
        assert_eq!([0, 1, 2].map(|rank| header.claimed_by(rank)), [70, 0, 72]);
    }
}
