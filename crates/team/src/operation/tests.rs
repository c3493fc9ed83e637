//! Operations, their entries and their fingerprints agree.

use super::*;

#[test]
fn entries_give_operations_back() {
    for kind in Collective::ALL {
        for (seq, root) in [(1, 0), (u32::MAX, (RANKS_MAX - 1) as u32)] {
            for in_flight in [false, true] {
                let operation = Operation {
                    seq,
                    kind,
                    root,
                    in_flight,
                };
                assert_eq!(Operation::of_entry(operation.entry()), Some(operation));
                assert_eq!(Operation::blocks(operation.entry()), !in_flight);
            }
        }
    }
    let none = Entry { seq: 0, what: 0 };
    assert_eq!(Operation::of_entry(none), None);
    assert!(!Operation::blocks(none));
}

#[test]
fn operations_are_shown_with_the_rank_that_they_begin_or_end_at() {
    for (kind, in_flight, said) in [
        (
            Collective::Scatter,
            false,
            "scatter from rank 2 (operation 5)",
        ),
        (Collective::Gather, false, "gather to rank 2 (operation 5)"),
        (
            Collective::Reduce,
            true,
            "reduce to rank 2 in flight (operation 5)",
        ),
        (Collective::Barrier, false, "barrier (operation 5)"),
    ] {
        let operation = Operation {
            seq: 5,
            kind,
            root: 2,
            in_flight,
        };
        assert_eq!(operation.to_string(), said);
    }
}

#[test]
fn fingerprints_tell_their_number_and_their_history() {
    let reduce = |seq, root| Operation {
        seq,
        kind: Collective::Reduce,
        root,
        in_flight: false,
    };
    for near in [1u32, 77, 0xFF, 0x100, u32::MAX] {
        for off in [-128i32, -1, 0, 1, 127] {
            let seq = near.wrapping_add_signed(off);
            let mut fingerprint = OpFingerprint::default();
            fingerprint.advance(reduce(seq, 3).entry(), u64::from(seq));
            assert!(fingerprint.tag() <= corecast_wire::queue::TAG_MAX);
            assert_eq!(
                OpFingerprint::seq_of_tag(fingerprint.tag(), near),
                seq,
                "{near} {off}"
            );
        }
    }
    let [mut a, mut b] = [OpFingerprint::default(); 2];
    a.advance(reduce(1, 0).entry(), 1);
    b.advance(reduce(1, 1).entry(), 1);
    assert!(
        OpFingerprint::reached(a.flag(1, 0), a.flag(1, 0))
            && OpFingerprint::agrees(a.flag(1, 0), a.flag(1, 0))
    );
    assert!(!OpFingerprint::agrees(a.flag(1, 0), b.flag(1, 0)) && a.tag() != b.tag());
    // Histories that differ once differ for ever.
    a.advance(reduce(2, 0).entry(), 2);
    b.advance(reduce(2, 0).entry(), 2);
    assert!(!OpFingerprint::agrees(a.flag(2, 0), b.flag(2, 0)) && a.tag() != b.tag());
    // A flag that is ahead has reached the count and always agrees; one that is behind has not reached it.
    assert!(!OpFingerprint::reached(a.flag(3, 0), a.flag(2, 0)));
    assert!(
        OpFingerprint::reached(a.flag(2, 0), b.flag(3, 0))
            && OpFingerprint::agrees(a.flag(2, 0), b.flag(3, 0))
    );
    assert_eq!(a.share() & ((1 << COUNT_BITS) - 1), 1);
    assert_eq!(a.share() >> COUNT_BITS, a.word() >> COUNT_BITS);
    // Shares of one history come to a known sum, in any order.
    let sum = a.share().wrapping_mul(3);
    assert!(
        OpFingerprint::is_counted(sum, sum)
            && !OpFingerprint::is_counted(sum, a.share().wrapping_mul(2))
    );
    let mixed = a.share().wrapping_mul(2).wrapping_add(b.share());
    assert!(OpFingerprint::is_counted(sum, mixed) && mixed != sum);
    assert_eq!(OpFingerprint::missing(sum, a.share()), 2);
    assert!(
        OpFingerprint::agrees_in_sum(sum, sum, 2) && !OpFingerprint::agrees_in_sum(sum, mixed, 2)
    );
    let ahead = |more: u64| sum.wrapping_add(b.share().wrapping_mul(more));
    assert!(
        OpFingerprint::agrees_in_sum(sum, ahead(1), 2)
            && OpFingerprint::agrees_in_sum(sum, ahead(2), 2)
    );
    assert!(
        !OpFingerprint::agrees_in_sum(sum, ahead(3), 2),
        "two others are ahead by two at most"
    );
}

/// The count of a flag has 48 bits, that of an arrival counter 25. Both are compared by signed differences.
#[test]
fn counts_wrap_around() {
    let barrier = |seq: u64| Operation {
        seq: seq as u32,
        kind: Collective::Barrier,
        root: 0,
        in_flight: false,
    };
    let near = |wrap: u64| (wrap - 3..wrap + 3).chain([1]);
    for seq in [1 << 31, 1 << 32].into_iter().flat_map(near) {
        let mut own = OpFingerprint::default();
        own.advance(barrier(seq).entry(), seq);
        let mut other = own;
        other.advance(barrier(seq + 1).entry(), seq + 1);
        for count in [1 << 16, 1 << 47, 1 << 48].into_iter().flat_map(near) {
            for (raised, reached) in [(count - 1, false), (count, true), (count + 1, true)] {
                assert_eq!(
                    OpFingerprint::reached(own.flag(count, 0), own.flag(raised, 0)),
                    reached
                );
            }
            assert!(
                OpFingerprint::agrees(own.flag(count, 0), own.flag(count, 0))
                    && OpFingerprint::agrees(own.flag(count, 0), other.flag(count + 1, 0))
            );
            assert!(!OpFingerprint::agrees(
                own.flag(count, 0),
                other.flag(count, 0)
            ));
        }
        // Three members have added `count` shares in all, of which the last ones come one by one.
        let share = own.share();
        for count in [1 << 24, 1 << 25, 1 << 26].into_iter().flat_map(near) {
            let expected = share.wrapping_mul(count + 3);
            for missing in 0..3 {
                let found = share.wrapping_mul(count + 3 - missing);
                assert_eq!(OpFingerprint::missing(expected, found), missing);
                assert_eq!(OpFingerprint::is_counted(expected, found), missing == 0);
            }
            for (ahead, agrees) in [(0, true), (1, true), (2, true), (3, false)] {
                let found = expected.wrapping_add(other.share().wrapping_mul(ahead));
                assert!(OpFingerprint::is_counted(expected, found));
                assert_eq!(OpFingerprint::agrees_in_sum(expected, found, 2), agrees);
            }
        }
    }
}
