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
fn more_ranks_than_threads_race_too() {
    let json = corecast(&["bench", "--quick", "--no-peers", "--ranks", "5", "--json"]).json();
    assert_eq!(json["ranks"], 5);
    let entries = json["entries"].as_array().unwrap();
    if std::thread::available_parallelism().map_or(1, usize::from) < 5 {
        assert_eq!(json["oversubscribed"], true);
        let names: Vec<_> = entries.iter().filter_map(|e| e["name"].as_str()).collect();
        assert!(names.contains(&"corecast sequential"), "{names:?}");
        assert!(entries[0]["predicted_ns"].is_null());
    }
    assert!(entries.iter().all(|e| e["status"] == "timed"), "{json}");
}

#[test]
fn every_operation_has_its_table() {
    let all = [
        "bench",
        "--quick",
        "--no-peers",
        "--ranks",
        "3",
        "--op",
        "all",
    ];
    let json = corecast(&[&all[..], &["--json"]].concat()).json();
    let races = json["comparisons"].as_array().unwrap();
    assert!(races.len() >= 4);
    for race in races {
        let entries = race["entries"].as_array().unwrap();
        assert!(entries.iter().all(|e| e["status"] == "timed"), "{race}");
    }
    let text = corecast(&[&all[..], &["--size", "64"]].concat()).text();
    assert!(text.contains("allreduce of 64 bytes"), "{text}");
    assert!(text.contains("after a barrier"), "{text}");
}

#[test]
fn every_size_has_its_table_and_a_line_in_the_last_one() {
    let some = ["bench", "--quick", "--ranks", "2", "--op", "reduce"];
    let some = [&some[..], &["--size", "8,4K..16K"]].concat();
    let json = corecast(&[&some[..], &["--json"]].concat()).json();
    let races = json["comparisons"].as_array().unwrap();
    let sizes: Vec<_> = races.iter().filter_map(|r| r["bytes"].as_u64()).collect();
    assert_eq!(sizes, [8, 4096, 16384]);
    for race in races {
        assert_eq!(race["operation"], "reduce");
        let entries = race["entries"].as_array().unwrap();
        for name in ["Open MPI", "MPICH"] {
            let peer = entries.iter().find(|e| e["name"] == name).unwrap();
            if peer["status"] == "skipped" {
                println!("SKIPPED: {name}: {}", peer["reason"]);
                assert!(peer["reason"].as_str().unwrap().contains("install"));
                let required = std::env::var("CORECAST_REQUIRE_PEERS").is_ok_and(|v| v == "1");
                assert!(!required, "CORECAST_REQUIRE_PEERS is set: {peer}");
            }
        }
        let ours = |e: &&serde_json::Value| e["role"] != "peer";
        assert!(entries.iter().filter(ours).all(|e| e["status"] == "timed"));
    }
    let text = corecast(&[&some[..], &["--no-peers"]].concat()).text();
    assert!(text.contains("reduce by size: 2 ranks"), "{text}");
    assert!(text.contains("\n16K "), "{text}");
}

#[test]
fn operations_that_a_team_does_not_have_yet_say_so() {
    let args = ["bench", "--quick", "--no-peers", "--ranks", "2", "--op"];
    let text = corecast(&[&args[..], &["scan"]].concat()).text();
    assert!(text.contains("floor: one line"), "{text}");
    assert!(!text.contains("FAILED"), "{text}");
}

#[test]
fn races_that_cannot_be_run() {
    for (args, quoted) in [
        (&["-i", "core:4"][..], "\"core:4\""),
        (&["--patterns", "nonsense"], "\"nonsense\""),
        (&["--subset", "1"], "team of two"),
        (&["--ranks", "1"], "team of two"),
        (&["--ranks", "100000"], "100000"),
        (&["--op", "reduce", "--size", "12"], "12"),
        (&["--op", "reduce", "--size", "8,4X"], "\"4X\""),
        (&["--op", "reduce", "--size", "64..8"], "\"64..8\""),
        (
            &["--op", "alltoall", "--size", "1G", "--ranks", "64"],
            "1073741824",
        ),
        (
            &[
                "--op",
                "reduce",
                "--ranks",
                "3",
                "--patterns",
                "dissemination:2",
            ],
            "\"dissemination:2\"",
        ),
        (&["--threads", "65000"], "65000"),
    ] {
        let line = corecast(&[&["bench", "--quick"], args].concat()).refusal();
        assert!(line.contains(quoted), "{args:?}: {line}");
    }
}

#[test]
fn what_models_say_stands_beside_what_was_measured() {
    let some = ["bench", "--quick", "--no-peers", "--probe", "--op"];
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        println!("SKIPPED: messages need two hardware threads");
        return;
    }
    let json = corecast(&[&some[..], &["reduce", "--size", "64", "--json"]].concat()).json();
    let file = corecast::model::MachineFile::from_json(&json["profile"].to_string()).unwrap();
    let messages = file.messages().unwrap();
    assert!(messages.call("reduce") > 0.0 && messages.one.get(0, 1) > 0.0);
    let entries = json["entries"].as_array().unwrap();
    let plans = entries.iter().filter(|entry| {
        let name = entry["name"].as_str().unwrap();
        entry["role"] == "corecast" && !name.contains("processes")
    });
    for entry in plans {
        let time = |name: &str| entry[name].as_f64().unwrap();
        assert!(time("simulated_ns") > 0.0, "{entry}");
        assert!(time("t_min_ns") > 0.0 && time("t_min_ns") <= time("t_max_ns"));
    }
    let text = corecast(&[&some[..], &["barrier"]].concat()).text();
    assert!(
        text.contains("simulated") && text.contains("T_min"),
        "{text}"
    );
}
