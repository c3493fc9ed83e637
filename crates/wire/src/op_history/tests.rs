//! Readers of an operation history see whole entries while its owner runs on.

use super::*;

/// Operations that the owner enters.
const OPERATIONS: u32 = if cfg!(miri) { 200 } else { 199_999 };

#[test]
fn sites_belong_to_their_entries_while_the_owner_runs_on() {
    let here = Location::caller();
    let elsewhere = elsewhere();
    let history = crate::Segment::one::<OpHistory>(None).unwrap();
    assert_eq!((history.now().seq, history.read_at(0)), (0, None));
    let writer = {
        let history = history.clone();
        std::thread::spawn(move || {
            for seq in 1..=OPERATIONS {
                let site = if seq % 3 == 0 { here } else { elsewhere };
                history.enter(Entry { seq, what: seq ^ 5 }, site);
            }
        })
    };
    let mut last = 0;
    while last < OPERATIONS {
        let now = history.now();
        assert!(now.seq >= last);
        last = now.seq;
        assert_eq!(history.read_at(last + 1_000_000), None);
        for seq in last.saturating_sub(HISTORY_LEN as u32)..=last {
            if let Some((entry, site)) = history.read_at(seq) {
                assert_eq!((entry.seq, entry.what), (seq, seq ^ 5));
                let expected = if seq % 3 == 0 { here } else { elsewhere };
                assert_eq!(site, expected, "operation {seq}");
            }
        }
    }
    writer.join().unwrap();
    let oldest = OPERATIONS - (HISTORY_LEN as u32 - 2);
    assert!(history.read_at(oldest).is_some() && history.read_at(oldest - 1).is_none());
}

/// Near the ends of the signed and of the unsigned numbers a history reads as near 0.
#[test]
fn numbers_wrap_around() {
    for before in [0, (1 << 31) - 4, u32::MAX - 4] {
        let history = crate::Segment::one::<OpHistory>(None).unwrap();
        history.begin_after(before);
        for count in 1..30 {
            let seq = before.wrapping_add(count);
            assert_eq!(history.entry_at(seq), None, "not entered yet");
            history.enter(Entry { seq, what: count }, Location::caller());
            for back in 0..=HISTORY_LEN as u32 + 1 {
                let found = history.entry_at(seq.wrapping_sub(back));
                let is_there = back < count.min(HISTORY_LEN as u32 - 1);
                let expected = is_there.then(|| count - back);
                assert_eq!(
                    found.map(|(entry, _)| entry.what),
                    expected,
                    "{seq} - {back}"
                );
            }
        }
        history.begin_after(7);
        assert_eq!(history.now().what, 29, "a history begins once");
    }
}

#[track_caller]
fn elsewhere() -> &'static Location<'static> {
    Location::caller()
}

#[test]
fn presence_is_told() {
    let history = crate::Segment::one::<OpHistory>(None).unwrap();
    assert_eq!(history.presence(), Presence::Absent);
    for presence in [
        Presence::Present,
        Presence::Left,
        Presence::Panicked,
        Presence::Died,
        Presence::Resting,
    ] {
        history.set_presence(presence, Some(Location::caller()));
        assert_eq!(history.presence(), presence);
    }
    assert!(history.joined_at().is_some());
}

/// Words that overlap an operation history could hold any address.
#[test]
#[cfg_attr(
    miri,
    ignore = "it does not know words of two sizes in one place, which only a stranger writes"
)]
fn addresses_that_anybody_could_write_are_not_followed() {
    let segment = crate::Segment::new(4096, None).unwrap();
    let words = segment.at::<crate::Words>(0, 1).unwrap();
    for history in [
        segment.at::<OpHistory>(0, 1).unwrap().get(0),
        segment.lines::<OpHistory>(1).unwrap().get(0),
    ] {
        history.set_presence(Presence::Present, Some(Location::caller()));
        history.enter(Entry { seq: 1, what: 7 }, Location::caller());
        assert_eq!((history.joined_at(), history.read_at(1)), (None, None));
    }
    for word in 0..crate::WORDS {
        words[0].set(word, 0xdead_beef);
    }
    let own = crate::Segment::new(4096, None).unwrap();
    let history = own.lines::<OpHistory>(1).unwrap().get(0);
    let site = Location::caller();
    history.set_presence(Presence::Present, Some(site));
    assert_eq!(history.joined_at(), Some(site));
    // From now on nobody gets a view of this memory.
    assert!(own.at::<crate::Words>(0, 1).is_err());
}

#[test]
fn bytes_are_those_of_one_operation() {
    let history = crate::Segment::one::<OpHistory>(None).unwrap();
    assert_eq!([0, 1].map(|number| history.stated_bytes(number)), [None; 2]);
    for (number, bytes) in [(1, 0), (u64::MAX, 1), (0, 7), (1 << 32 | 1, usize::MAX - 1)] {
        history.state_bytes(number, bytes);
        assert_eq!(history.stated_bytes(number), Some(bytes));
        assert_eq!(history.stated_bytes(number ^ 1 << 32), None);
    }
}
