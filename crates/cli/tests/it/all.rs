//! `corecast` without a command, from discovery to a profile that `explain` reads.

use std::path::Path;

use crate::common::{corecast, corecast_in};

#[test]
fn the_main_job_measures_plans_races_and_keeps() {
    let cache = tempfile::tempdir().unwrap();
    let json = corecast_in(cache.path(), &["--quick", "--json"]).json();
    assert!(!json["machine"]["pus"].as_array().unwrap().is_empty());
    let plans = json["plans"].as_array().unwrap();
    assert_eq!(plans.len(), 3, "one for each operation");
    for plan in plans {
        assert!(plan["latency"].as_f64().unwrap() >= plan["lower_bound"].as_f64().unwrap());
    }
    let races = json["races"].as_array().unwrap();
    if races.is_empty() {
        println!("SKIPPED: no race with a single hardware thread");
        return;
    }
    let operations: Vec<_> = races.iter().map(|r| r["operation"].clone()).collect();
    assert_eq!(operations, ["barrier", "broadcast", "reduce", "allreduce"]);
    for race in races {
        let entries = race["entries"].as_array().unwrap();
        let mut own = entries.iter().filter(|e| e["role"] == "corecast");
        assert!(own.all(|e| e["status"] == "timed"), "{race}");
    }
    if json["costs"] != "measured" {
        println!("SKIPPED: this machine could not be measured");
        return;
    }
    for operation in ["barrier", "broadcast", "reduce"] {
        let explained = corecast_in(cache.path(), &["explain", "--op", operation, "--json"]).json();
        assert_eq!(
            explained["operations"][0]["decided_by"], "race",
            "{operation}"
        );
    }
}

#[test]
fn what_cannot_be_saved_is_printed_all_the_same() {
    let run = corecast_in(Path::new("/dev/null/cache"), &["--quick"]);
    let text = String::from_utf8_lossy(&run.output.stdout);
    let warnings = String::from_utf8_lossy(&run.output.stderr);
    assert_eq!(run.output.status.code(), Some(0), "{warnings}");
    if text.contains("costs not saved") {
        assert!(warnings.contains("XDG_CACHE_HOME"), "{warnings}");
        assert!(text.contains("chosen plans"), "{text}");
    }
}

#[test]
fn quick_before_a_command_is_refused() {
    let line = corecast(&["--quick", "topo"]).refusal();
    assert!(line.contains("--quick"), "{line}");
}
