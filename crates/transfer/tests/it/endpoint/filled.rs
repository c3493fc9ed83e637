//! Parts of a window that peers fill.

use super::*;

/// Rank 0 has all other ranks fill random parts of its data, which do not overlap, and lends what they filled to the next one.
#[test]
fn parts_are_filled_by_their_ranks() {
    for (seed, n) in [(1, 2), (2, 3), (3, 4)] {
        let len = 3000;
        let ranks = team(&vec![0; n], 2, 128);
        let rounds = 50;
        thread::scope(|scope| {
            for (rank, mut ends) in ranks.into_iter().enumerate() {
                scope.spawn(move || {
                    let mut rng = fastrand::Rng::with_seed(seed);
                    let mut data = vec![0; len];
                    let mut expected = vec![0; len];
                    bulk::scope(&mut ends, &mut data, 1, |ends, window| {
                        for round in 0..rounds {
                            let mut cuts: Vec<usize> = (0..n).map(|_| rng.usize(..=len)).collect();
                            cuts.sort_unstable();
                            for peer in 1..n {
                                let part = cuts[peer - 1]..cuts[peer];
                                let sent = bytes(rng.u64(..), part.len());
                                expected[part.clone()].copy_from_slice(&sent);
                                let tag = round as u32;
                                if rank == 0 {
                                    let link = ends.link_to[peer];
                                    ends.view_mut(window, part.clone());
                                    ends.endpoint.lend_to_fill(window, link, tag, part);
                                } else if rank == peer {
                                    ends.fill(0, tag, &sent);
                                }
                            }
                            if rank == 0 {
                                assert!(ends.view_mut(window, 0..len) == expected, "{round}");
                                assert!(ends.endpoint.view(window, 0..len) == expected);
                                ends.lend(window, &[ends.link_to[1]], 7, 0..len);
                            } else if rank == 1 {
                                ends.expect(0, 7, &expected, "what was filled");
                            }
                        }
                        ends.flush();
                    });
                });
            }
        });
    }
}

/// Until it was returned, a part that a peer fills is for nothing else.
#[test]
fn nobody_touches_what_is_filled() {
    let mut ranks = team(&[0, 0, 0], 2, 128);
    let [zero, one, _] = &mut ranks[..] else {
        unreachable!("three ranks")
    };
    let mut data = bytes(1, 100);
    bulk::scope(zero, &mut data, 1, |zero, window| {
        let [first, second] = [zero.link_to[1], zero.link_to[2]];
        zero.endpoint.lend_to_fill(window, first, 1, 10..20);
        let refused = |body: &mut dyn FnMut()| catch_unwind(AssertUnwindSafe(body)).is_err();
        let endpoint = &mut zero.endpoint;
        assert!(refused(&mut || assert_eq!(
            endpoint.view(window, 19..21).len(),
            2
        )));
        assert!(refused(&mut || endpoint.lend(window, &[second], 1, 0..11)));
        assert!(refused(&mut || endpoint.lend_to_fill(
            window,
            second,
            1,
            5..100
        )));
        assert!(endpoint.view_mut(window, 0..100).is_none());
        assert_eq!(endpoint.view(window, 0..10).len(), 10);
        assert_eq!(endpoint.view_mut(window, 20..30).unwrap().len(), 10);
        let link = one.link_to[0];
        let before = bytes(1, 100);
        let filled = bulk::fill(one, link, |one, part| {
            assert_eq!(part, &before[10..20]);
            assert_eq!(one.endpoint.peek(link), None, "it is in use");
            part.fill(5);
            Ok::<_, ()>(())
        });
        assert!(matches!(filled, Ok(Ok(()))));
        assert_eq!(endpoint.view(window, 10..20), [5; 10]);
        endpoint.lend_to_fill(window, second, 1, 5..100);
    });
}

/// A scope that ends takes back what nobody has filled yet.
#[test]
fn what_was_taken_back_is_not_filled() {
    let mut ranks = team(&[0, 0], 2, 128);
    let [zero, one] = &mut ranks[..] else {
        unreachable!("two ranks")
    };
    let mut data = vec![1; 100];
    bulk::scope(zero, &mut data, 1, |zero, window| {
        zero.endpoint.lend_to_fill(window, 0, 1, 0..100);
        assert_eq!(one.endpoint.peek(0), Some((1, 100)));
    });
    let filled = bulk::fill(one, 0, |_, _| -> Result<(), ()> {
        unreachable!("it was taken back")
    });
    assert!(filled.is_err());
    assert_eq!(data, [1; 100]);
    bulk::scope_to_read(zero, &data, 1, |zero, window| {
        let to_read = catch_unwind(AssertUnwindSafe(|| {
            zero.endpoint.lend_to_fill(window, 0, 1, 0..100);
        }));
        assert!(to_read.is_err(), "the data are only for reading");
    });
}

/// A part is not returned if whoever was to fill it failed, or panicked.
#[test]
fn what_was_not_filled_is_not_returned() {
    let mut ranks = team(&[0, 0], 2, 128);
    let [zero, one] = &mut ranks[..] else {
        unreachable!("two ranks")
    };
    let mut data = vec![1; 100];
    bulk::scope(zero, &mut data, 1, |zero, window| {
        zero.endpoint.lend_to_fill(window, 0, 1, 0..100);
        let filled = bulk::fill(one, 0, |_, part| {
            part[0] = 2;
            Err("half of it")
        });
        assert!(matches!(filled, Ok(Err("half of it"))));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _ = bulk::fill(one, 0, |_, _| -> Result<(), ()> { panic!("on purpose") });
        }));
        assert!(panicked.is_err());
        assert_eq!(zero.endpoint.holder(window, &(0..1)), Some(0));
    });
    assert_eq!(data[0], 2, "the scope did not wait for ever");
}
