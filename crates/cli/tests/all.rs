//! `corecast` without a command: the whole way from discovery to a profile that `explain` reads.

mod common;

use common::corecast_in;

#[test]
fn the_main_job_measures_plans_races_and_keeps() {
    let cache = tempfile::tempdir().unwrap();
    let json = corecast_in(cache.path(), &["--json"]).json();
    assert!(!json["machine"]["pus"].as_array().unwrap().is_empty());
    let plans = json["plans"].as_array().unwrap();
    assert_eq!(plans.len(), 3, "one for each operation");
    for plan in plans {
        assert!(plan["latency"].as_f64().unwrap() >= plan["lower_bound"].as_f64().unwrap());
    }
    let Some(entries) = json["race"]["entries"].as_array() else {
        println!("SKIPPED: no race with a single hardware thread");
        return;
    };
    assert!(
        entries
            .iter()
            .any(|e| e["role"] == "corecast" && e["status"] == "timed")
    );
    if json["costs"] != "measured" {
        println!("SKIPPED: this machine could not be measured");
        return;
    }
    let explained = corecast_in(cache.path(), &["explain", "--op", "barrier", "--json"]).json();
    assert_eq!(explained["operations"][0]["decided_by"], "race");
}
