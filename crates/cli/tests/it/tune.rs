//! `corecast tune` on this machine, with the least time.

use crate::common::{corecast, corecast_in};

fn names(values: &serde_json::Value) -> Vec<&str> {
    let all = values.as_array().unwrap().iter();
    all.map(|one| one["name"].as_str().unwrap()).collect()
}

#[test]
fn a_tuning_has_winners_ranges_and_is_kept() {
    let cache = tempfile::tempdir().unwrap();
    let tune = |budget| {
        let line =
            format!("tune --ranks 2 --op barrier,allgather --size 8,4K --json --budget {budget}");
        let arguments: Vec<&str> = line.split(' ').collect();
        corecast_in(cache.path(), &arguments).json()
    };
    // On a busy machine the first operation may take all of a short budget.
    let is_whole = |json: &serde_json::Value| {
        json["teams"][0]["operations"].as_array().map(Vec::len) == Some(2)
    };
    let json = [2, 30, 400].into_iter().map(tune).find(is_whole);
    let json = json.expect("a budget of 400 s is for both operations");
    assert_eq!(
        (json["kind"].as_str(), json["synchrony"].as_str()),
        (Some("tune"), Some("strict"))
    );
    let team = &json["teams"][0];
    assert_eq!(team["threads"].as_array().unwrap().len(), 2);
    assert_eq!(team["interrupted"], false);
    let operations = team["operations"].as_array().unwrap();
    let tuned: Vec<_> = operations
        .iter()
        .filter_map(|o| o["operation"].as_str())
        .collect();
    assert_eq!(tuned, ["barrier", "allgather"]);
    for operation in operations {
        let points = operation["points"].as_array().unwrap();
        for point in points {
            let chosen = &point["candidates"][point["chosen"].as_u64().unwrap() as usize];
            assert!(chosen["measured_ns"].as_f64().unwrap() > 0.0, "{point}");
            let raced = point["candidates"].as_array().unwrap().len();
            assert_eq!(point["algorithms"].as_array().unwrap().len(), raced);
            assert!(point["algorithms"][0].is_null());
        }
        let ranges = operation["ranges"].as_array().unwrap();
        assert!(ranges.last().unwrap()["up_to_bytes"].is_null());
    }
    // There are the requested sizes, and there may be some between them.
    let sizes: Vec<_> = operations[1]["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["bytes"].as_u64().unwrap())
        .collect();
    assert!(
        sizes.is_sorted() && sizes.contains(&8) && sizes.contains(&4096),
        "{sizes:?}"
    );
    let barrier = team["races"]
        .as_array()
        .unwrap()
        .iter()
        .find(|r| r["what"] == "barrier")
        .unwrap();
    assert!(
        names(&barrier["candidates"]).contains(&"dissemination:2"),
        "{barrier}"
    );
    assert!(
        team["saved"].as_str().unwrap().starts_with("saved in "),
        "{team}"
    );
    // The plan that won runs from now on.
    let explained = corecast_in(cache.path(), &["explain", "--op", "barrier", "--json"]).json();
    if explained["threads"].as_array().unwrap().len() == 2 {
        assert_eq!(
            explained["operations"][0]["decided_by"], "race",
            "{explained}"
        );
    }
}

#[test]
fn oversubscribed_teams_race_barriers_with_what_follows() {
    let arguments = [
        "tune",
        "--ranks",
        "5",
        "--op",
        "barrier,scan",
        "--size",
        "8",
        "--budget",
        "2",
        "--no-save",
        "--json",
    ];
    let json = corecast(&arguments).json();
    let team = &json["teams"][0];
    assert!(team["saved"].is_null());
    if std::thread::available_parallelism().map_or(1, usize::from) >= 5 {
        return;
    }
    assert_eq!(team["pinned"], false);
    let barrier = &team["races"][0];
    assert_eq!(barrier["subject"], "barrier, then broadcast");
    assert!(
        names(&barrier["candidates"]).contains(&"binary"),
        "{barrier}"
    );
    let notes = team["notes"].to_string();
    assert!(notes.contains("ranks share hardware threads"), "{notes}");
}

#[test]
fn loose_operations_are_checked_against_all_algorithms() {
    let arguments = [
        "tune",
        "--ranks",
        "2",
        "--op",
        "alltoall",
        "--size",
        "8",
        "--sync",
        "loose",
        "--budget",
        "1",
        "--unpinned",
        "--check",
        "--no-save",
        "--json",
    ];
    // Two races of a second need not agree, so both exit codes are right.
    let run = corecast(&arguments);
    assert!(
        matches!(run.output.status.code(), Some(0 | 1)),
        "{}",
        run.output.status
    );
    let json: serde_json::Value = serde_json::from_slice(&run.output.stdout).unwrap();
    assert_eq!(json["synchrony"], "loose");
    let checked = &json["teams"][0]["checked"];
    let one = &checked["by_size"][0];
    assert_eq!(one["operation"], "alltoall");
    // All algorithms are listed with the built-in choice; the one that it runs is left out under its own name.
    let others = one["others"].as_array().unwrap().len();
    let left_out = one["left_out"].as_array().unwrap().len();
    // On a busy machine a second may not be enough for any of them.
    let raced = one["whole"] == false && others == 0 || others == 1;
    assert!(raced && left_out == 1, "{one}");
    assert_eq!(checked["slower"] == 0, run.output.status.success());
}

#[test]
fn a_check_alone_is_about_what_teams_run_now_and_keeps_nothing() {
    let cache = tempfile::tempdir().unwrap();
    let line =
        "tune --ranks 2 --op alltoall --size 8,4K --budget 60 --unpinned --check-only --json";
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_corecast"))
        .args(line.split(' '))
        .env("XDG_CACHE_HOME", cache.path())
        .env("CORECAST_ALGO", "alltoall=bruck@..64")
        .output()
        .unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let team = &json["teams"][0];
    let ranges = team["operations"][0]["ranges"].as_array().unwrap();
    let ranges: Vec<_> = ranges.iter().map(|range| &range["algorithm"]).collect();
    assert_eq!(
        ranges,
        [&serde_json::json!("bruck"), &serde_json::Value::Null]
    );
    let checked = &team["checked"]["by_size"];
    let names: Vec<_> = (0..2).map(|at| checked[at]["tuned"].as_str()).collect();
    assert_eq!(names, [Some("bruck"), Some("built-in")], "{checked}");
    assert!(team["races"].as_array().unwrap().is_empty());
    assert!(std::fs::read_dir(cache.path()).unwrap().next().is_none());
}

#[test]
fn loose_operations_of_processes_race_too() {
    let ranks = ["tune", "--ranks", "2", "--processes", "--unpinned"];
    let what = ["--op", "reduce", "--size", "8", "--sync", "loose"];
    let how = ["--budget", "1", "--no-save", "--json"];
    let json = corecast(&[&ranks[..], &what, &how].concat()).json();
    assert_eq!(json["synchrony"], "loose");
    let team = &json["teams"][0];
    assert_eq!(team["mode"], "processes", "{json}");
    let raced = team["operations"][0]["points"][0]["candidates"].as_array();
    let timed = |one: &serde_json::Value| one["measured_ns"].as_f64() > Some(0.0);
    assert!(raced.unwrap().iter().all(timed), "{json}");
}

#[test]
fn a_dry_run_shows_who_would_race_and_why() {
    let json = corecast(&[
        "tune",
        "--ranks",
        "3",
        "--size",
        "8,1M",
        "--dry-run",
        "--json",
    ])
    .json();
    let team = &json["teams"][0];
    let races = team["races"].as_array().unwrap();
    // There are nine operations at two sizes, and the barrier.
    assert_eq!(races.len(), 19);
    let allreduce = races
        .iter()
        .find(|r| r["operation"] == "allreduce")
        .unwrap();
    assert!(allreduce["racing"][0]["algorithm"].is_null());
    let out = allreduce["left_out"].as_array().unwrap();
    let rabenseifner = out
        .iter()
        .find(|l| l["algorithm"] == "rabenseifner")
        .unwrap();
    assert!(
        rabenseifner["why"]
            .as_str()
            .unwrap()
            .contains("a power of two")
    );
    let text = corecast(&["tune", "--ranks", "3", "--dry-run", "-v"]).text();
    assert!(
        text.contains("barrier plans: ") && text.contains("left out: "),
        "{text}"
    );
}

#[test]
fn unusable_wishes_are_refused_in_a_line() {
    for (arguments, part) in [
        (&["--op", "allgoat"][..], "\"allgoat\""),
        (&["--size", "12"], "--size 12"),
        (&["--size", "0"], "--size 0"),
        (&["--budget", "0"], "--budget 0"),
        (&["--ranks", "1"], "--ranks 1"),
        (&["--ranks", "9999"], "--ranks 9999"),
        (&["--threads", "77777"], "77777"),
        (&["-i", "core:4"], "leave -i out"),
    ] {
        let line = corecast(&[&["tune"], arguments].concat()).refusal();
        assert!(line.contains(part), "{line}");
    }
}
