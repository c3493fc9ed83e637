//! Failures and cancellations of several processes over the same memory.

use super::*;
use crate::call_sites::SITES;
use crate::record::RECORD_LINES;
use corecast_wire::{LineSlice, Segment, Words, fence_kind};

fn lines<T: corecast_wire::Lines>(count: usize) -> LineSlice<T> {
    let segment = Segment::new(Segment::bytes_for::<T>(count), None).unwrap();
    segment.lines(count).unwrap()
}

/// What two processes know of a team of two ranks.
fn two_processes() -> [TeamState; 2] {
    let (histories, parkers) = (lines(2), lines(2));
    let (stopped, record): (LineSlice<StopWord>, LineSlice<Words>) =
        (lines(1), lines(RECORD_LINES));
    let site_tables = [lines(SITES), lines(SITES)];
    [0, 1].map(|_| {
        let between = CrossProcess {
            site_tables: site_tables
                .iter()
                .cloned()
                .map(CallSiteTable::new)
                .collect(),
            record: Record::new(record.clone()),
            own: Vec::new(),
        };
        TeamState::new(
            (0..2).map(|rank| histories.get(rank)).collect(),
            (0..2).map(|rank| parkers.get(rank)).collect(),
            stopped.get(0),
            fence_kind(),
            &Options::default(),
            Some(between),
        )
    })
}

fn stalled(rank: usize) -> Failure {
    let activity = |rank| crate::RankActivity {
        rank,
        operation: None,
        site: None,
    };
    Failure::Stalled {
        local: activity(rank),
        remote: activity(1 - rank),
        waited: Duration::from_secs(1),
    }
}

/// The second process fails while the first has claimed the record, but has not set the stop word yet.
#[test]
fn of_two_failures_all_get_the_one_that_was_recorded() {
    let [a, b] = two_processes();
    assert!(a.between.as_ref().unwrap().record.write(&stalled(0)));
    assert_eq!(b.fail(stalled(1)), stalled(0));
    assert_eq!(b.failure(), Some(stalled(0)));
    assert_eq!(a.fail(stalled(0)), stalled(0));
    assert_eq!(a.stops(0, 9), Err(stalled(0)));
    assert_eq!(b.stops(1, 9), Err(stalled(0)));
}

/// Whoever claimed the record has died before it wrote anything.
#[test]
fn a_record_that_is_never_written_hides_no_failure() {
    let [a, b] = two_processes();
    let Some(between) = &a.between else {
        unreachable!()
    };
    assert!(between.record.claim());
    assert_eq!(b.fail(stalled(1)), stalled(1));
    assert_eq!(b.stops(1, 9), Err(stalled(1)));
}

/// Whoever claimed the record has died, and a third process reads of it after the second has noticed the death.
#[test]
fn a_rank_that_died_while_it_wrote_is_named_to_all() {
    let [noticing, third] = two_processes();
    let Some(between) = &noticing.between else {
        unreachable!()
    };
    assert!(between.record.claim());
    noticing.lost(&[1], 0);
    for state in [noticing, third] {
        let Some(Failure::PeerLost { local, remote, how }) = state.failure() else {
            panic!("{:?}", state.failure())
        };
        assert_eq!((local.rank, remote.rank, how), (0, 1, Loss::Died));
    }
}

#[test]
fn cancellations_of_two_processes_and_a_failure() {
    let [a, b] = two_processes();
    let off = |rank| Err(Failure::Cancelled { rank });
    a.cancel(6);
    assert_eq!((b.stops(1, 5), b.stops(1, 6)), (Ok(()), off(1)));
    b.cancel(2);
    a.cancel(4);
    for (rank, state) in [&a, &b].into_iter().enumerate() {
        assert_eq!(
            (state.stops(rank, 1), state.stops(rank, 2)),
            (Ok(()), off(rank))
        );
    }
    assert_eq!(b.failure(), None, "to cancel is no failure");
    assert_eq!(b.fail(stalled(1)), stalled(1));
    a.cancel(1);
    assert_eq!(
        (a.stops(0, 1), a.failure()),
        (Err(stalled(1)), Some(stalled(1)))
    );
}

#[test]
fn differences_are_found_where_numbers_wrap_around() {
    use corecast_wire::op_history::Entry;
    use std::panic::Location;
    for before in [0, (1 << 31) - 3, u32::MAX - 3] {
        let [state, _] = two_processes();
        for rank in 0..2 {
            state.histories[rank].begin_after(before);
            for count in 1..=6u32 {
                let kind = match (rank, count) {
                    (1, 2) => corecast_collectives::Collective::Scan,
                    _ => corecast_collectives::Collective::Barrier,
                };
                let operation = crate::Operation {
                    seq: before.wrapping_add(count),
                    kind,
                    root: 0,
                    in_flight: false,
                };
                let Entry { seq, what } = operation.entry();
                state.histories[rank].enter(Entry { seq, what }, Location::caller());
            }
        }
        let last = before.wrapping_add(6);
        let (one, two) = state.first_difference((0, 1), last).unwrap();
        let second = Some(before.wrapping_add(2));
        assert_eq!(
            [one, two].map(|activity| activity.operation.map(|operation| operation.seq)),
            [second; 2]
        );
    }
}

/// Another process takes the stop word back while this one reads what has happened.
#[test]
fn a_stop_word_that_changes_again_is_a_failure_all_the_same() {
    let [a, _] = two_processes();
    let word = StopWord::default();
    word.fail();
    let stop = word.look().unwrap();
    assert!(!a.is_stopped());
    let failure = a.stopped_by(stop, 0, 9).unwrap_err();
    assert!(matches!(failure, Failure::Corrupt { .. }), "{failure}");
    assert_eq!(a.failure(), Some(failure));
}
