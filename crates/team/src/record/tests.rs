//! Failures are read by other processes as they were written.

use super::*;
use corecast_collectives::Collective;
use corecast_wire::Segment;

fn activity(rank: usize, site: Option<&str>) -> RankActivity {
    RankActivity {
        rank,
        operation: Some(Operation {
            seq: 7,
            kind: Collective::Reduce,
            root: 3,
            in_flight: true,
        }),
        site: site.map(|site| Site::Remote(Arc::from(site))),
    }
}

#[test]
fn failures_are_read_as_they_were_written_and_the_first_one_stays() {
    let (local, remote) = (activity(1, Some("a.rs:1:2")), activity(70_000, None));
    // No word is like another one, so that each is read where it was written.
    let text = |first: u8| (0..240).map(|at| char::from(first + at / 8 % 30)).collect();
    let (long, other): (String, String) = (text(b'A'), text(b'a'));
    let lost = [Loss::Left, Loss::Panicked, Loss::Died].map(|how| Failure::PeerLost {
        local: activity(1, Some(&long)),
        remote: activity(2, Some(&other)),
        how,
    });
    let failures = [
        Failure::Mismatch {
            local: local.clone(),
            remote: remote.clone(),
        },
        Failure::Length {
            local: local.clone(),
            remote: activity(2, Some(&long)),
            sent: 9,
            expected: usize::MAX,
        },
        Failure::Corrupt {
            local: remote.clone(),
            remote: local.clone(),
        },
        Failure::NeverJoined {
            local: local.clone(),
            missing: 5,
            waited: Duration::from_millis(12),
        },
        Failure::Stalled {
            local,
            remote,
            waited: Duration::from_secs(9),
        },
        Failure::Forked { rank: 4 },
        Failure::Cancelled { rank: 3 },
    ];
    for failure in failures.iter().chain(&lost) {
        let segment = Segment::new(Segment::bytes_for::<Words>(RECORD_LINES), None).unwrap();
        let lines: LineSlice<Words> = segment.lines(RECORD_LINES).unwrap();
        let record = Record::new(lines.clone());
        assert_eq!(record.read(), None);
        assert!(record.write(failure));
        assert_eq!(Record::new(lines).read().as_ref(), Some(failure));
        assert!(!record.write(&failures[0]));
        assert_eq!(record.read().as_ref(), Some(failure));
    }
}

#[test]
fn a_call_site_that_is_too_long_keeps_its_end() {
    let segment = Segment::new(Segment::bytes_for::<Words>(RECORD_LINES), None).unwrap();
    let record = Record::new(segment.lines(RECORD_LINES).unwrap());
    let path = "a".repeat(100) + &"b".repeat(235) + ":7:12";
    let refused = |site: &str| Failure::Corrupt {
        local: activity(1, Some(site)),
        remote: activity(2, None),
    };
    assert!(record.write(&refused(&path)));
    assert_eq!(record.read(), Some(refused(&path[100..])));
}
