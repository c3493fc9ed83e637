//! Peers in processes of their own, played by shell scripts.

use corecast_bench::external::ExternalError;
use corecast_bench::{Entrant, External, Settings, Status, cpu_placement, peers, race};
use std::time::{Duration, Instant};

fn script(text: &str) -> External {
    let mut external = External::new("script", "sh", "/bin/sh");
    external.arguments = vec!["-c".into(), text.into()];
    external
}

#[test]
fn a_result_is_read_from_among_other_lines() {
    let external = script("echo hello; echo ns_per_op 12.5; echo noise >&2");
    assert_eq!(external.measure().unwrap().ns, 12.5);
}

#[test]
fn variables_are_set_and_removed() {
    let mut external = script("echo ns_per_op ${VALUE:-1}${HOME:-}");
    external.environment = vec![("VALUE".to_owned(), "42".to_owned())];
    external.environment_removed = vec!["HOME".to_owned()];
    assert_eq!(external.measure().unwrap().ns, 42.0);
}

#[test]
fn failures_quote_what_the_program_said() {
    let failed = script("echo ns_per_op 3; echo it broke >&2; exit 3").measure();
    let text = failed.unwrap_err().to_string();
    assert!(text.contains("exit status: 3"), "{text}");
    assert!(text.contains("it broke"), "{text}");

    let silent = script("echo something else").measure().unwrap_err();
    assert!(matches!(&silent, ExternalError::NoResult(line) if line == "something else"));

    let missing = External::new("x", "", "/nowhere/at/all").measure();
    let text = missing.unwrap_err().to_string();
    assert!(text.contains("/nowhere/at/all"), "{text}");
}

#[test]
fn a_hanging_peer_is_killed_with_its_children() {
    // The grandchild keeps the output open: killing the shell would not do.
    for text in ["sleep 1000 & sleep 1000", "exec >&- 2>&-; sleep 1000"] {
        let mut external = script(text);
        external.limit = Duration::from_millis(300);
        let begin = Instant::now();
        let outcome = external.measure();
        assert!(
            matches!(outcome, Err(ExternalError::TimedOut(_))),
            "{outcome:?}"
        );
        assert!(
            begin.elapsed() < Duration::from_secs(900),
            "it was waited for"
        );
    }
}

#[test]
fn an_external_peer_that_fails_later_stops_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let mark = directory.path().join("mark");
    // `once` succeeds at its first launch only; `slip` fails at one launch only.
    let other = directory.path().join("other");
    let slip = format!(
        "echo x >> {0}; [ $(wc -l < {0}) = 3 ] || echo ns_per_op 6",
        other.display()
    );
    let once = format!(
        "[ -e {0} ] && exit 1; touch {0}; echo ns_per_op 7",
        mark.display()
    );
    let settings = Settings {
        rounds_min: 6,
        rounds_max: 8,
        ..Settings::quick()
    };
    let entrants = [
        Entrant::process(script(&once)),
        Entrant::process(script("echo ns_per_op 5")),
        Entrant::threads(peers::StdBarrier::new(2)),
        Entrant::process(script(&slip)),
    ];
    let comparison = race::run(
        "test",
        &cpu_placement::free(2),
        &settings,
        &entrants,
        |_| {},
    )
    .unwrap();
    let slipped = &comparison.entries[3];
    assert_eq!((&slipped.status, slipped.misses), (&Status::Timed, 1));
    assert_eq!(slipped.timed().len(), comparison.rounds - 1);
    assert!(
        comparison
            .notes
            .iter()
            .any(|note| note.contains("missed a round"))
    );
    assert!(matches!(comparison.entries[0].status, Status::Failed(_)));
    assert_eq!(comparison.entries[0].summary(), None);
    for entry in &comparison.entries[1..3] {
        assert_eq!(entry.status, Status::Timed);
        assert_eq!(entry.timed().len(), comparison.rounds);
    }
    assert_eq!(comparison.entries[1].summary().unwrap().median, 5.0);
}

#[test]
fn native_peers_run_or_say_why_not() {
    let settings = Settings {
        warm_up_rounds: 0,
        rounds_min: 1,
        rounds_max: 1,
        ..Settings::quick()
    };
    let placements = cpu_placement::pinned(2, &cpu_placement::allowed_pus());
    let entrants = peers::native_barriers(&placements, peers::Selection::All);
    for name in ["gomp", "libomp", "C++ std::barrier"] {
        assert!(
            entrants.iter().any(|e| e.name() == name),
            "{name} is listed"
        );
    }
    let comparison = race::run("test", &placements, &settings, &entrants, |_| {}).unwrap();
    for entry in &comparison.entries {
        match &entry.status {
            Status::Timed => {}
            Status::Skipped(reason) => assert!(reason.contains("install"), "{reason}"),
            Status::Failed(reason) => panic!("{}: {reason}", entry.name),
            // On a busy machine a spinning peer may exceed any limit. That is a missed round, of which there is one.
            Status::Pending => {
                let missed = format!("{} ({}) missed a round: ", entry.name, entry.setting);
                let mut notes = comparison.notes.iter();
                let note = notes.find_map(|note| note.strip_prefix(&missed));
                let note = note.unwrap_or_else(|| panic!("{} did not run", entry.name));
                assert!(note.contains("not done after"), "{note}");
            }
        }
    }
}
