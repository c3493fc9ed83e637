//! `corecast bench` on this machine, with the least time.

use crate::common::{Run, corecast};

/// A quick run of Corecast and the floors without peers.
fn quick(some: &[&str], more: &[&str]) -> Run {
    corecast(&[&["bench", "--quick", "--no-peers"], some, more].concat())
}

/// Whether there are two hardware threads; if not, prints that `what` needs them.
fn two_threads(what: &str) -> bool {
    let enough = std::thread::available_parallelism().map_or(1, usize::from) >= 2;
    if !enough {
        println!("SKIPPED: {what} two hardware threads");
    }
    enough
}

#[test]
fn own_barriers_are_verified_and_timed() {
    if !two_threads("a barrier needs") {
        return;
    }
    let threads = corecast(&["topo", "--json"]).json()["costs"]["threads"].clone();
    let two = format!("{},{}", threads[0], threads[1]);
    let json = quick(&["--threads", &two], &["--json"]).json();
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
    let json = quick(&["--ranks", "5"], &["--json"]).json();
    assert_eq!(json["ranks"], 5);
    let entries = json["entries"].as_array().unwrap();
    if std::thread::available_parallelism().map_or(1, usize::from) < 5 {
        assert_eq!(json["oversubscribed"], true);
        // Such teams do not pin their threads, and count on one line.
        assert_eq!(json["seats"], "any");
        assert_eq!(entries[0]["algorithm"], "counter");
        assert!(entries[0]["predicted_ns"].is_null());
    }
    assert!(entries.iter().all(|e| e["status"] == "timed"), "{json}");
}

#[test]
fn every_operation_has_its_table() {
    let all = ["--ranks", "3", "--op", "all"];
    let json = quick(&all, &["--json"]).json();
    let races = json["comparisons"].as_array().unwrap();
    assert!(races.len() >= 4);
    for race in races {
        let entries = race["entries"].as_array().unwrap();
        assert!(entries.iter().all(|e| e["status"] == "timed"), "{race}");
    }
    let text = quick(&all, &["--size", "64"]).text();
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
    let text = quick(&["--ranks", "2"], &["--op", "scan"]).text();
    assert!(text.contains("floor: one line"), "{text}");
    assert!(!text.contains("FAILED"), "{text}");
}

#[test]
fn an_application_runs_over_every_barrier() {
    let some = ["bench", "--quick", "--app", "streamcluster", "--ranks", "3"];
    let some = [
        &some[..],
        &["--points", "300", "--chunk", "150", "--dim", "4"],
        // With few centres ranks synchronise hundreds of times and not thousands, which takes minutes on a busy machine.
        &["--centres", "4"],
    ]
    .concat();
    let json = corecast(&[&some[..], &["--json"]].concat()).json();
    assert_eq!(
        (&json["schema"], &json["kind"]),
        (&1.into(), &"application".into())
    );
    assert_eq!(json["problem"]["dimensions"], 4);
    assert_eq!(json["problem"]["centres_max"], 4);
    let entries = json["entries"].as_array().unwrap();
    let names: Vec<_> = entries.iter().filter_map(|e| e["name"].as_str()).collect();
    for name in [
        "one rank alone",
        "corecast collectives",
        "MCS tree",
        "std::sync::Barrier",
    ] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    for entry in entries {
        assert_eq!(entry["status"], "timed", "{entry}");
        assert!(entry["ratio_to_one_rank"]["median"].as_f64().unwrap() > 0.0);
        let synchronised = entry["synchronisations"].as_u64().unwrap();
        assert_eq!(synchronised > 100, entry["name"] != "one rank alone");
    }
    let text = corecast(&[&some[..], &["--no-peers"]].concat()).text();
    assert!(
        text.contains("streamcluster: 300 points of 4 dimensions"),
        "{text}"
    );
    assert!(!text.contains("pthread"), "{text}");
}

#[test]
fn overheads_have_a_column_for_each_construct() {
    let some = ["--overheads", "--ranks", "3"];
    let json = quick(&some, &["--json"]).json();
    assert_eq!(
        (&json["schema"], &json["kind"]),
        (&1.into(), &"overheads".into())
    );
    let constructs = json["constructs"].as_array().unwrap();
    let names: Vec<_> = constructs
        .iter()
        .filter_map(|c| c["construct"].as_str())
        .collect();
    let expected = [
        "parallel",
        "for",
        "parallel_for",
        "barrier",
        "single",
        "reduction",
    ];
    assert_eq!(names, expected);
    for construct in constructs {
        assert!(construct["reference_ns"]["median"].as_f64().unwrap() > 0.0);
        for entry in construct["entries"].as_array().unwrap() {
            assert_eq!(entry["status"], "timed", "{entry}");
            assert!(entry["mean_ns"].is_number() && entry["sd_ns"].is_number());
        }
    }
    let text = quick(&some, &[]).text();
    assert!(text.contains("corecast collectives"), "{text}");
    assert!(text.contains("parallel_for"), "{text}");
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
        (
            &["--op", "reduce", "--ranks", "2", "--cache", "hot"],
            "\"hot\"",
        ),
        (&["--ranks", "2", "--precision", "0"], "--precision 0"),
        (&["--ranks", "2", "--seconds", "0"], "--seconds 0"),
        (
            &["--app", "streamcluster", "--dim", "129"],
            "129 dimensions",
        ),
        (&["--app", "streamcluster", "--points", "0"], "0 points"),
        (&["--app", "streamcluster", "--chunk", "20"], "chunks of 20"),
        (&["--overheads", "--pinning", "both"], "--pinning both"),
    ] {
        let line = corecast(&[&["bench", "--quick"], args].concat()).refusal();
        assert!(line.contains(quoted), "{args:?}: {line}");
    }
}

#[test]
fn what_models_say_stands_beside_what_was_measured() {
    if !two_threads("messages need") {
        return;
    }
    let some = ["--probe", "--op"];
    let json = quick(&some, &["reduce", "--size", "64", "--json"]).json();
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
    let text = quick(&some, &["barrier"]).text();
    assert!(
        text.contains("simulated") && text.contains("T_min"),
        "{text}"
    );
    // These are not simulated; they race without a forecast.
    for operation in ["exscan", "gatherv"] {
        let json = quick(&some, &[operation, "--json"]).json();
        let entries = json["entries"].as_array().unwrap();
        let plain = |entry: &serde_json::Value| {
            entry["status"] == "timed" && entry["simulated_ns"].is_null()
        };
        assert!(entries.iter().all(plain), "{json}");
    }
}

#[test]
fn starts_caches_and_pinning_are_told() {
    if !two_threads("a window needs") {
        return;
    }
    let some = ["--ranks", "2", "--op", "reduce"];
    let ways = [
        (
            &["--start", "window", "--cache", "1M"][..],
            "window",
            1 << 20,
        ),
        (&["--start", "barrier", "--pinning", "both"], "barrier", 0),
    ];
    for (more, start, cold) in ways {
        let json = quick(&[&some[..], more].concat(), &["--json"]).json();
        assert_eq!(json["start"], start);
        assert_eq!(json["cold_bytes"], cold);
        let entries = json["entries"].as_array().unwrap();
        for entry in entries {
            assert_eq!(entry["status"], "timed", "{entry}");
            let time = |name: &str| entry["rank_ns"][name].as_f64().unwrap();
            assert!(
                0.0 < time("min") && time("min") <= time("average"),
                "{entry}"
            );
            assert!(time("average") <= time("max"), "{entry}");
            assert!(entry["start_spread_ns"].as_f64().unwrap() >= 0.0);
            assert!(entry["operations"].as_u64().unwrap() > 0);
            assert!(entry["ns_per_op"]["outliers"].is_u64());
        }
        let own = |of: &str| {
            let own = entries.iter().filter(|e| e["role"] == "corecast");
            own.filter(|e| e["setting"].as_str().unwrap().contains(of))
                .count()
        };
        let (pinned, all) = (own(" pinned"), own("pinned"));
        assert_eq!(2 * pinned, if cold > 0 { 2 * all } else { all }, "{json}");
    }
    let text = quick(&some, &["--cache", "cold"]).text();
    assert!(text.contains("of other memory"), "{text}");
    assert!(text.contains("start: "), "{text}");
}

#[test]
fn loose_operations_run_back_to_back_in_threads_and_processes() {
    let some = ["--ranks", "2", "--op", "reduce", "--sync", "loose"];
    let json = quick(&some, &["--json"]).json();
    assert_eq!(json["start"], "back-to-back");
    let entries = json["entries"].as_array().unwrap();
    for who in ["threads", "processes"] {
        let of = |entry: &&serde_json::Value| entry["setting"].as_str().unwrap().contains(who);
        let entry = entries
            .iter()
            .find(of)
            .unwrap_or_else(|| panic!("no {who}: {json}"));
        assert_eq!(entry["status"], "timed", "{entry}");
        assert!(entry["start_spread_ns"].is_null(), "{entry}");
        assert!(entry["simulated_ns"].is_null(), "{entry}");
    }
    assert!(
        entries.iter().all(|entry| entry["role"] != "floor"),
        "{json}"
    );
    assert!(json["notes"].to_string().contains("throughput"), "{json}");
    for (more, option) in [
        (&["--start", "window"][..], "--start"),
        (&["--cache", "cold"], "--cache"),
        (&["--osu"], "--osu"),
    ] {
        let line = corecast(&[&["bench", "--quick"], &some[..], more].concat()).refusal();
        assert!(
            line.contains("--sync loose") && line.contains(option),
            "{line}"
        );
    }
    let line = corecast(&["bench", "--op", "message", "--sync", "loose"]).refusal();
    assert!(line.contains("leave --op out"), "{line}");
}

#[test]
fn tables_as_osus_have_a_block_for_each_entrant() {
    let some = ["--ranks", "2", "--osu"];
    let text = quick(&some, &["--op", "gather", "--size", "8,64"]).text();
    let blocks: Vec<&str> = text.split("\n\n").collect();
    assert!(blocks.len() >= 2, "{text}");
    for block in blocks {
        let lines: Vec<&str> = block.lines().collect();
        assert!(lines[0].starts_with("# ") && lines[0].contains(": gather of 2 ranks"));
        assert!(lines[1].starts_with("# Size") && lines[1].contains("Avg Latency(us)"));
        for (line, size) in lines[2..].iter().zip(["8", "64"]) {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            assert_eq!((words[0], words.len()), (size, 5), "{text}");
            assert!(words[1..4].iter().all(|word| word.parse::<f64>().is_ok()));
        }
    }
    let text = quick(&some, &["--op", "barrier"]).text();
    assert!(text.contains("# Avg Latency(us)"), "{text}");
}

#[test]
fn forks_and_messages_race_too() {
    if !two_threads("a message needs") {
        return;
    }
    for (op, own) in [("fork_join", "corecast"), ("message", "corecast ump")] {
        let json = quick(&["--ranks", "2", "--json"], &["--op", op]).json();
        assert_eq!(json["title"], op);
        let entries = json["entries"].as_array().unwrap();
        assert!(
            entries.iter().all(|entry| entry["status"] == "timed"),
            "{json}"
        );
        let names = |entry: &serde_json::Value| entry["name"].as_str().unwrap().contains(own);
        assert!(entries.iter().any(names), "{json}");
    }
    let line = corecast(&["bench", "--op", "message", "--ranks", "2", "--unpinned"]).refusal();
    assert!(line.contains("--pinning"), "{line}");
}

/// Collects all keys below `value`, except those of a machine file.
fn keys(value: &serde_json::Value, found: &mut std::collections::BTreeSet<String>) {
    match value {
        serde_json::Value::Object(map) => {
            for (key, value) in map {
                found.insert(key.clone());
                if key != "profile" {
                    keys(value, found);
                }
            }
        }
        serde_json::Value::Array(list) => list.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

#[test]
fn every_field_is_documented() {
    let some = ["--ranks", "2", "--op", "reduce", "--size", "8,64"];
    let json = quick(&some, &["--json"]).json();
    let mut found = std::collections::BTreeSet::new();
    keys(&json, &mut found);
    assert!(found.len() > 20, "{found:?}");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/bench.md");
    let text = std::fs::read_to_string(path).unwrap();
    for key in found {
        assert!(
            text.contains(&format!("`{key}`")),
            "{key} is not in docs/bench.md"
        );
    }
}
