//! `corecast explain --op --size`: the algorithm that a team runs at one size, as text and as JSON, from a made-up
//! profile.

use std::path::Path;

use crate::common::{corecast, corecast_in};
use corecast::model::Profile;
use corecast::model::profile::{
    Mode, SizeRace, Start, TunedCandidate, TunedOperation, TunedRange, Tuning, machine_key,
};
use corecast::store::Store;
use corecast::{Builder, rules};

fn candidate(name: Option<&str>, measured: Option<f64>, dropped: Option<&str>) -> TunedCandidate {
    TunedCandidate {
        predicted_ns: Some(1234.0),
        measured_ns: measured,
        interval_ns: measured.map(|ns| (ns - 10.0, ns + 10.0)),
        samples: 30,
        dropped: dropped.map(str::to_owned),
        ..TunedCandidate::new(name.map(str::to_owned))
    }
}

/// A tuning of four ranks on this machine, with three ranges for allreduces.
fn tuning() -> Tuning {
    let here = corecast::machine::discover();
    let planned = Builder::new().threads(4).planned().unwrap();
    let mut tuning = Tuning::new(
        planned.rank_pus,
        planned.pinned,
        Mode::Threads,
        Start::Together,
    );
    tuning.under = rules::circumstances(&here);
    tuning.created = "2026-11-23T01:02:03Z".into();
    let race = SizeRace {
        bytes: 1024,
        candidates: vec![
            candidate(Some("doubling"), Some(2000.0), None),
            candidate(None, Some(2500.0), None),
            candidate(
                Some("ring"),
                Some(9000.0),
                Some("out after round 9: 4.50 times as long"),
            ),
        ],
    };
    let builtin = SizeRace {
        bytes: 65536,
        candidates: vec![
            candidate(None, Some(70_000.0), None),
            candidate(Some("ring"), Some(80_000.0), None),
        ],
    };
    tuning.operations = vec![TunedOperation {
        operation: "allreduce".into(),
        ranges: vec![
            TunedRange {
                races: vec![race],
                ..TunedRange::new(Some(4096), Some("doubling".into()))
            },
            TunedRange {
                races: vec![builtin],
                ..TunedRange::new(Some(1 << 20), None)
            },
            TunedRange {
                mended: Some("a reduce and a broadcast were faster".into()),
                ..TunedRange::new(None, Some("trees".into()))
            },
        ],
    }];
    tuning
}

fn keep(cache: &Path, tuning: Tuning) {
    let machine = corecast::machine::discover().machine;
    let mut profile = Profile::new(machine_key(&machine), "2026-11-23".into());
    profile.record_tuning(tuning);
    let store = Store::at(cache.join("corecast"));
    store.save_profile(&machine, &profile).unwrap();
}

const ALLREDUCE: [&str; 5] = ["explain", "--op", "allreduce", "--ranks", "4"];

fn json(cache: &Path, size: &str) -> serde_json::Value {
    let asked = [&ALLREDUCE[..], &["--size", size, "--json"]].concat();
    corecast_in(cache, &asked).json()
}

#[test]
fn a_tuned_size_has_its_race() {
    let cache = tempfile::tempdir().unwrap();
    keep(cache.path(), tuning());
    let said = json(cache.path(), "4K");
    assert_eq!(said["algorithm"], "doubling");
    assert_eq!(said["decided_by"], "profile");
    assert_eq!(
        (&said["above_bytes"], &said["up_to_bytes"]),
        (&serde_json::Value::Null, &4096.into())
    );
    assert_eq!(said["raced_bytes"], 1024);
    let candidates = said["candidates"].as_array().unwrap();
    let named = |name: &str| {
        candidates
            .iter()
            .find(|one| one["algorithm"] == name)
            .unwrap()
    };
    assert_eq!(candidates.len(), 7);
    assert_eq!(candidates[0]["algorithm"], "doubling");
    assert_eq!(named("doubling")["measured_ns"], 2000.0);
    assert_eq!(named("doubling")["runs"], true);
    assert!(
        named("ring")["dropped"]
            .as_str()
            .unwrap()
            .starts_with("out after round 9")
    );
    // The built-in choice raced without a name: its time is shown with the name of what it runs.
    let built_in = candidates
        .iter()
        .find(|one| one["built_in"] == true)
        .unwrap();
    assert_eq!(built_in["measured_ns"], 2500.0);
    let text = corecast_in(cache.path(), &[&ALLREDUCE[..], &["--size", "4K"]].concat()).text();
    for part in [
        "allreduce of 4096 bytes between 4 threads on PU ",
        ": doubling\n",
        "why: it won the race of 1024 bytes of 3 candidates with a median of 2000 ns (1990 to 2010), \
         predicted 1234 ns; the next was Corecast's choice with 2500 ns\n",
        "the same holds up to 4096 bytes\n",
        "measured: at 1024 bytes, the nearest size that was raced\n",
        "out after round 9: 4.50 times as long",
        ", tuned 2026-11-23T01:02:03Z\n",
    ] {
        assert!(text.contains(part), "{part:?} in\n{text}");
    }
}

#[test]
fn each_range_says_who_decided() {
    let cache = tempfile::tempdir().unwrap();
    keep(cache.path(), tuning());
    let said = json(cache.path(), "4097");
    assert_eq!(
        (&said["decided_by"], &said["asked"]),
        (&"profile".into(), &serde_json::Value::Null)
    );
    let reason = said["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("Corecast's choice won the race of 65536 bytes"),
        "{reason}"
    );
    let said = json(cache.path(), "2M");
    assert_eq!(
        (&said["algorithm"], &said["decided_by"]),
        (&"trees".into(), &"profile".into())
    );
    assert_eq!(said["mended"], "a reduce and a broadcast were faster");
    let other = [
        "explain", "--op", "scan", "--ranks", "4", "--size", "64K", "--json",
    ];
    let said = corecast_in(cache.path(), &other).json();
    let algorithm = said["algorithm"].as_str().unwrap();
    // Its segments depend on how many hardware threads there are.
    assert_eq!(algorithm.split(':').next(), Some("chain"));
    assert_eq!(said["decided_by"], "built-in");
    // The library runs what was shown.
    let team = Builder::new()
        .threads(4)
        .cache_folder(cache.path().join("corecast"));
    let built = team.build().unwrap();
    let explanation = built.explain();
    assert_eq!(explanation.tuning, said["tuning"]);
    // Where there is a hardware thread for each rank, a sentence about rounds follows.
    assert_eq!(
        explanation.algorithms[0],
        "allreduce=doubling@..4K,trees@1M.. (asked for by the tuning)"
    );
}

#[test]
fn tunings_of_other_circumstances_are_refused() {
    for (damage, part) in [
        (
            (|t| t.under.microcode = Some("0xold".into())) as fn(&mut Tuning),
            "microcode 0xold",
        ),
        (|t| t.under.cpuset = "0-511".into(), "tuned with PU 0-511"),
        (|t| t.under.edition = "0".into(), "edition \"0\""),
        (|t| t.mode = Mode::Processes, "a team of 4 threads on PU"),
        (
            |t| t.operations[0].operation = "gossip".into(),
            "operation \"gossip\" is unknown",
        ),
    ] {
        let cache = tempfile::tempdir().unwrap();
        let mut tuning = tuning();
        damage(&mut tuning);
        keep(cache.path(), tuning);
        let said = json(cache.path(), "1K");
        assert_eq!(said["decided_by"], "built-in");
        let source = said["tuning"].as_str().unwrap();
        assert!(
            source.starts_with("none: ") && source.contains(part),
            "{source}"
        );
    }
}

#[test]
fn the_environment_asks_before_the_profile() {
    let cache = tempfile::tempdir().unwrap();
    keep(cache.path(), tuning());
    let run = |value: &str, size: &str| {
        std::process::Command::new(env!("CARGO_BIN_EXE_corecast"))
            .args(ALLREDUCE)
            .args(["--size", size, "--json"])
            .env("XDG_CACHE_HOME", cache.path())
            .env("CORECAST_ALGO", value)
            .output()
            .unwrap()
    };
    let said = |value: &str, size: &str| -> serde_json::Value {
        serde_json::from_slice(&run(value, size).stdout).unwrap()
    };
    let requested = "allreduce=ring@..2K,rabenseifner@2K..3K";
    let first = said(requested, "1K");
    assert_eq!(
        (&first["algorithm"], &first["decided_by"]),
        (&"ring".into(), &"environment".into())
    );
    assert_eq!(first["reason"], "CORECAST_ALGO asks for it");
    assert_eq!(said(requested, "3K")["algorithm"], "rabenseifner");
    assert_eq!(said(requested, "3073")["algorithm"], "doubling");
    let sized = said("allreduce=doubling:4K@..64K", "64K");
    assert_eq!(sized["algorithm"], "doubling:4K");
    assert_eq!(sized["asked"], sized["algorithm"]);
    let runs = sized["candidates"].as_array().unwrap();
    let runs: Vec<_> = runs.iter().filter(|one| one["runs"] == true).collect();
    assert_eq!(
        (runs.len(), &runs[0]["algorithm"]),
        (1, &sized["algorithm"])
    );
    let refused = run("allreduce=doubling:5K", "1K");
    let line = String::from_utf8(refused.stderr).unwrap();
    assert!(
        line.contains("no algorithm of allreduce is called 'doubling:5K': take one of doubling:4K, doubling:8K"),
        "{line}"
    );
    assert_eq!((refused.status.code(), line.lines().count()), (Some(2), 1));
    let refused = run("allreduce=wing", "1K");
    let line = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{line}");
    assert!(
        line.contains("CORECAST_ALGO=\"allreduce=wing\": no algorithm of allreduce is called 'wing': take one of messages, trees"),
        "{line}"
    );
    assert_eq!(line.lines().count(), 1);
}

#[test]
fn wishes_that_cannot_be_are_refused() {
    for (arguments, part) in [
        (&["--size", "8"][..], "--op"),
        (
            &["--op", "gossip", "--size", "8"],
            "operation \"gossip\" is unknown",
        ),
        (&["--op", "scan", "--size", "many"], "--size \"many\""),
        (
            &["--op", "scan", "--size", "8,16"],
            "--size \"8,16\": one size at a time",
        ),
        (
            &["--op", "scan", "--size", "8", "--sync", "tight"],
            "'tight' for '--sync <SYNC>'",
        ),
        (
            &["--op", "scan", "--size", "8", "-i", "core:2"],
            "leave -i out",
        ),
    ] {
        let said = corecast(&[&["explain"], arguments].concat()).output;
        let line = String::from_utf8_lossy(&said.stderr).into_owned();
        assert_eq!(said.status.code(), Some(2), "{line}");
        assert!(line.contains(part), "{line}");
    }
}
