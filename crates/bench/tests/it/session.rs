//! Sessions played by a small script: failures of a peer are reported, and stop no other entrant.

use corecast_bench::session::{FOLDER, KILLS_MAX, Launch, SessionError};
use corecast_bench::sized::{Conditions, Start, Task};
use corecast_bench::{Entrant, Session, Settings, Status, cpu_placement, race};
use corecast_model::Collective;
use std::sync::Arc;
use std::time::Duration;

const TASK: Task = Task {
    operation: Collective::Allreduce,
    ranks: 2,
    bytes: 8,
};

/// Two ranks in Perl, which every Debian has. `play` sees an order in `$_`.
fn session(play: &str) -> Session {
    let script = format!(
        r#"use IO::Socket::UNIX; my $dir = shift;
        for my $rank (0, 1) {{ next if fork; setpgrp;
            my $s = IO::Socket::UNIX->new(Peer => "$dir/socket") or die; $s->autoflush;
            print $s "rank $rank 2 $$\n";
            while (<$s>) {{ {play} }} exit }}
        wait; wait;"#
    );
    let launch = Launch {
        program: "perl".into(),
        arguments: vec!["-e".into(), script.into(), FOLDER.into()],
        environment: Vec::new(),
        environment_removed: Vec::new(),
        ranks: 2,
        oversubscribed: false,
    };
    // The limit is long, since most of these peers answer.
    Session::new("perl", "as is", launch).limited(Duration::from_secs(300))
}

/// A correct peer: rank 0 takes 5 ns, rank 1 takes 3 ns and 7 ns in turn and begins 4 ns later.
const GOOD: &str = r#"if (/^check/) { print $s "ok\n" }
    elsif (/^time \S+ \d+ \d+ \d+ (\d+)/) { print $s "times $1\n";
        print $s pack("QQ", 100 * $_ + 4 * $rank, $rank == 0 ? 5 : $_ % 2 ? 7 : 3) for 0 .. $1 - 1 }"#;

#[test]
fn the_slowest_rank_of_each_operation_counts() {
    let session = session(GOOD);
    assert!(session.pids().is_empty());
    assert_eq!(session.check(&TASK, 3).unwrap(), None);
    assert_eq!(session.pids().len(), 2);
    let timed = session.time(&TASK, 10).unwrap();
    assert_eq!(timed.took, Duration::from_nanos(5 * 5 + 5 * 7));
    assert_eq!(timed.operations, 10);
    let times = timed.rank_times.unwrap();
    assert_eq!((times.average, times.min, times.max), (5.0, 5.0, 5.0));
    assert_eq!(times.start_spread, Some(4.0));
}

#[test]
fn ranks_that_know_it_say_which_algorithm_they_ran() {
    let said = |play: &str| session(play).check(&TASK, 3);
    let known = said(r#"print $s "ok ring:8K\n""#).unwrap();
    assert_eq!(known.as_deref(), Some("ring:8K"));
    let error = said(r#"print $s "ok ring$rank\n""#).unwrap_err();
    assert!(matches!(error, SessionError::Wrong(_)), "{error}");
    assert!(error.to_string().contains("ring0"), "{error}");
}

#[test]
fn loose_operations_are_ordered_and_timed_together() {
    // Answers one pair for all operations, and refuses an order that is not loose.
    let loose = r#"if (/^check/) { print $s "ok\n" }
        elsif (/^time \S+ \d+ \d+ \d+ (\d+) 0 0 1 \d+$/) { print $s "times 1\n", pack("QQ", 7, $1 * (10 + $rank)) }
        else { print $s "wrong $_" }"#;
    let conditions = Conditions::from(false).starting(Start::BackToBack);
    let timed = session(loose).under(conditions).time(&TASK, 10).unwrap();
    assert_eq!(
        (timed.took, timed.operations),
        (Duration::from_nanos(110), 10)
    );
    let times = timed.rank_times.unwrap();
    assert_eq!((times.min, times.max), (10.0, 11.0));
    assert_eq!(times.start_spread, None);
    let strict = session(loose).under(Conditions::from(true)).time(&TASK, 10);
    assert!(matches!(strict, Err(SessionError::Wrong(_))), "{strict:?}");
}

#[test]
fn a_hanging_peer_is_killed_and_at_last_given_up() {
    let session = session("sleep 1000").limited(Duration::from_secs(1));
    for _ in 0..KILLS_MAX {
        let error = session.check(&TASK, 1).unwrap_err();
        assert!(matches!(error, SessionError::TimedOut(_)), "{error}");
        assert!(session.pids().is_empty());
    }
    let error = session.check(&TASK, 1).unwrap_err();
    assert!(matches!(error, SessionError::GivenUp(KILLS_MAX)), "{error}");
}

#[test]
fn failures_quote_what_the_processes_said() {
    let text = |play: &str| session(play).check(&TASK, 1).unwrap_err().to_string();
    assert!(text(r#"print $s "wrong it is 3\n""#).contains("it is 3"));
    assert!(text(r#"print $s "hello\n""#).contains("hello"));
    assert!(text(r#"print $s "times 0\n""#).contains("does not fit"));
    assert!(text(r#"print STDERR "it broke\n"; exit 3"#).contains("it broke"));

    let missing = Launch {
        program: "/nowhere/at/all".into(),
        arguments: Vec::new(),
        environment: Vec::new(),
        environment_removed: Vec::new(),
        ranks: 2,
        oversubscribed: false,
    };
    let error = Session::new("x", "", missing.clone()).check(&TASK, 1);
    assert!(error.unwrap_err().to_string().contains("/nowhere/at/all"));
    let ends = Launch {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), "echo no such host; exit 4".into()],
        ..missing
    };
    let error = Session::new("x", "", ends).check(&TASK, 1).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("exit status: 4") && error.contains("no such host"),
        "{error}"
    );
}

#[test]
fn a_session_that_fails_later_stops_nobody() {
    let settings = Settings {
        rounds_min: 6,
        rounds_max: 6,
        ..Settings::quick()
    };
    let late = r#"if (/^check/) { print $s "ok\n" } elsif ($n++ < 9) { print $s "times 1\n", pack("Q", 9) }
        else { exit 1 }"#;
    let entrants = [
        // An answer to `time` lacks half of the pair that it announces, so the limit ends it.
        Entrant::session(
            Arc::new(session(late).limited(Duration::from_secs(1))),
            TASK,
        ),
        Entrant::session(Arc::new(session(r#"print $s "wrong result\n""#)), TASK),
        Entrant::session(Arc::new(session(GOOD)), TASK),
    ];
    let comparison = race::run(
        "test",
        &cpu_placement::free(2),
        &settings,
        &entrants,
        |_| {},
    )
    .unwrap();
    assert!(matches!(comparison.entries[1].status, Status::Failed(_)));
    assert_eq!(comparison.entries[2].status, Status::Timed);
    assert_eq!(comparison.entries[2].timed().len(), comparison.rounds);
    let late = &comparison.entries[0];
    assert!(
        late.misses > 0 || matches!(late.status, Status::Failed(_)),
        "{late:?}"
    );
}
