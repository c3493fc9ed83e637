//! `corecast bench` on this machine, for as short as it can.

mod common;

use common::corecast;

#[test]
fn own_barriers_are_verified_and_timed() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        println!("SKIPPED: a barrier needs two hardware threads");
        return;
    }
    let threads = corecast(&["topo", "--json"]).json()["costs"]["threads"].clone();
    let two = format!("{},{}", threads[0], threads[1]);
    let json = corecast(&[
        "bench",
        "--quick",
        "--no-peers",
        "--threads",
        &two,
        "--json",
    ])
    .json();
    assert_eq!(json["ranks"], 2);
    let entries = json["entries"].as_array().unwrap();
    let ours: Vec<_> = entries.iter().filter(|e| e["role"] == "corecast").collect();
    assert!(!ours.is_empty());
    for entry in ours {
        assert_eq!(entry["status"], "timed", "{entry}");
        assert!(entry["ns_per_op"]["median"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn races_that_cannot_be_run() {
    for (args, quoted) in [
        (&["-i", "core:4"][..], "\"core:4\""),
        (&["--patterns", "nonsense"], "\"nonsense\""),
        (&["--subset", "1"], "team of two"),
        (&["--threads", "65000"], "65000"),
    ] {
        let line = corecast(&[&["bench", "--quick"], args].concat()).refusal();
        assert!(line.contains(quoted), "{args:?}: {line}");
    }
}
