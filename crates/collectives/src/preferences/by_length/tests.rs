//! Tables by length agree with a search through their ranges.

use super::*;

/// A reference that looks through the ranges in order.
fn naive(ranges: &[(usize, Option<u8>)], rest: Option<u8>, bytes: usize) -> Option<u8> {
    let found = ranges.iter().find(|(limit, _)| bytes <= *limit);
    found.map_or(rest, |range| range.1)
}

fn random(rng: &mut fastrand::Rng) -> (Vec<(usize, Option<u8>)>, Option<u8>) {
    let mut limits: Vec<usize> = (0..rng.usize(..14)).map(|_| rng.usize(..40)).collect();
    limits.sort_unstable();
    limits.dedup();
    let mut choice = || rng.bool().then(|| rng.u8(..3));
    let ranges = limits.into_iter().map(|limit| (limit, choice())).collect();
    (ranges, choice())
}

#[test]
fn tables_say_what_lists_say() {
    let mut rng = fastrand::Rng::with_seed(8);
    let (mut made, mut refused) = (0, 0);
    for _ in 0..4000 {
        let (ranges, rest) = random(&mut rng);
        let Ok(table) = ByLength::new(&ranges, rest) else {
            let changes = ranges.iter().map(|r| r.1).chain([rest]).collect::<Vec<_>>();
            assert!(changes.windows(2).filter(|two| two[0] != two[1]).count() >= RANGES_MAX);
            refused += 1;
            continue;
        };
        made += 1;
        for bytes in (0..45).chain([usize::MAX]) {
            assert_eq!(table.at(bytes), naive(&ranges, rest, bytes), "{ranges:?}");
        }
        let first = (0..45).find(|&bytes| table.at(bytes).is_some());
        assert_eq!(table.free(), first.unwrap_or(usize::MAX));
        let listed: Vec<_> = table.ranges().collect();
        assert_eq!(ByLength::new(&listed, None), Ok(table));
        assert_eq!(table.is_empty(), (0..45).all(|b| table.at(b).is_none()));
        let (ranges, rest) = random(&mut rng);
        if let Ok(other) = ByLength::new(&ranges, rest)
            && let Ok(both) = table.or(&other)
        {
            for bytes in 0..45 {
                assert_eq!(both.at(bytes), table.at(bytes).or(other.at(bytes)));
            }
        }
    }
    assert!(made > 2000 && refused > 100, "{made} {refused}");
}

#[test]
fn limits_increase() {
    for (limits, error) in [
        ([5, 5], "up to 5 bytes follows one up to 5"),
        ([5, 4], "up to 4 bytes follows one up to 5"),
    ] {
        let found = ByLength::new(&limits.map(|limit| (limit, Some(1))), None).unwrap_err();
        assert!(found.to_string().contains(error), "{found}");
    }
    let many: Vec<_> = (0..8).map(|limit| (limit, Some(limit))).collect();
    let error = ByLength::new(&many, None).unwrap_err().to_string();
    assert!(error.starts_with("9 ranges"), "{error}");
    assert_eq!(ByLength::<u8>::default().everywhere(), None);
    assert_eq!(ByLength::from(3).everywhere(), Some(3));
}
