//! `corecast explain` shows the plans that the library runs.

use std::path::Path;

use crate::common::corecast_in;
use corecast::model::profile::machine_key;
use corecast::model::{Profile, ProfileEntry, RacedCandidate};
use corecast::store::Store;
use corecast::{Builder, costs};

/// Asks the command and the library about one team, with `cache` as the user's cache folder, and compares.
fn agree(cache: &Path, arguments: &[&str], builder: Builder) {
    let said = corecast_in(cache, &[&["explain", "--json"], arguments].concat()).json();
    let team = builder
        .cache_folder(cache.join("corecast"))
        .build()
        .unwrap();
    let runs = team.explain();
    assert_eq!(said["threads"], serde_json::json!(team.pus()));
    assert_eq!(said["profile"], runs.races);
    let operations = said["operations"].as_array().unwrap();
    assert_eq!(operations.len(), runs.operations.len());
    for chosen in &runs.operations {
        let chosen = serde_json::to_value(chosen).unwrap();
        let said = operations
            .iter()
            .find(|o| o["op"] == chosen["operation"])
            .unwrap();
        assert_eq!(said["decided_by"], chosen["decided_by"]);
        assert_eq!(said["reason"], chosen["reason"]);
        assert_eq!(said["chosen"]["pattern"], chosen["pattern"]);
        assert_eq!(said["chosen"]["root"], chosen["root"]);
        assert_eq!(said["chosen"]["latency"], chosen["predicted"]);
        assert_eq!(said["chosen"]["unit"], chosen["unit"]);
        let others = said["runners_up"].as_array().unwrap();
        let named: Vec<_> = others.iter().map(|o| &o["pattern"]).collect();
        let runners_up = chosen["runners_up"].as_array().unwrap();
        let known: Vec<_> = runners_up.iter().map(|o| &o["pattern"]).collect();
        // Where a race decides, a starting team plans fewer alternatives than the command shows.
        match chosen["decided_by"].as_str() {
            Some("model") => assert_eq!(named, known),
            _ => assert!(known.iter().all(|pattern| named.contains(pattern))),
        }
    }
    let waits = &said["circumstances"]["waits"];
    assert_eq!(*waits, serde_json::to_value(&runs.waits).unwrap());
}

#[test]
fn explanations_agree_with_teams() {
    let cache = tempfile::tempdir().unwrap();
    let here = corecast::machine::discover();
    let first = here.usable.first().unwrap().to_string();
    let check = || {
        agree(cache.path(), &[], Builder::new());
        agree(cache.path(), &["--root", "0"], Builder::new().root(0));
        agree(
            cache.path(),
            &["--threads", &first],
            Builder::new().cores(&first),
        );
        if here.usable.len() > 1 {
            agree(cache.path(), &["--subset", "1"], Builder::new().threads(1));
        }
    };
    check();

    let store = Store::at(cache.path().join("corecast"));
    store.save_machine(&costs::built_in(&here.machine)).unwrap();
    let threads = here.usable.as_slice().to_vec();
    let ranks = threads.len();
    let mut children = vec![vec![]; ranks];
    children[ranks - 1] = (0..ranks - 1).collect();
    let mut profile = Profile::new(machine_key(&here.machine), "2026-11-21".into());
    for operation in ["barrier", "reduce"] {
        profile.record(ProfileEntry {
            operation: operation.into(),
            threads: threads.clone(),
            winner: "sequential".into(),
            candidates: vec![RacedCandidate {
                pattern: "sequential".into(),
                root: ranks - 1,
                children: Some(children.clone()),
                fan_in: None,
                predicted_ns: 300.0,
                measured_ns: 200.0,
                interval_ns: (190.0, 210.0),
            }],
        });
    }
    let path = store.save_profile(&here.machine, &profile).unwrap();
    check();
    let said = corecast_in(cache.path(), &["explain", "--op", "reduce", "--json"]).json();
    assert_eq!(said["operations"][0]["decided_by"], "race");
    assert_eq!(said["operations"][0]["chosen"]["root"], ranks - 1);

    std::fs::write(path, "garbage").unwrap();
    check();
}

#[test]
fn a_part_of_the_machine_has_the_costs_of_the_whole() {
    let cache = tempfile::tempdir().unwrap();
    let here = corecast::machine::discover();
    let store = Store::at(cache.path().join("corecast"));
    store.save_machine(&costs::built_in(&here.machine)).unwrap();
    let whole = here.outside_mask.is_empty() && here.outside_cpuset.is_empty();
    let Some(first) = here.usable.first().filter(|_| whole) else {
        println!("SKIPPED: this process is itself confined");
        return;
    };
    let path = cache.path().to_owned();
    // Programs inherit the mask of the thread that starts them.
    let confined = std::thread::spawn(move || {
        let _pinning = corecast::machine::pin_current(first).ok()?;
        Some(corecast_in(&path, &["explain", "--json"]).json())
    });
    let Some(said) = confined.join().unwrap() else {
        println!("SKIPPED: pinning is refused");
        return;
    };
    assert_eq!(said["threads"], serde_json::json!([first]));
    assert_eq!(said["costs"], "measured");
}

#[test]
fn plans_stand_beside_what_models_say() {
    let cache = tempfile::tempdir().unwrap();
    let some = ["explain", "-i", "builtin:sandybridge-2x8"];
    let json = corecast_in(cache.path(), &[&some[..], &["--json"]].concat()).json();
    for operation in json["operations"].as_array().unwrap() {
        let chosen = &operation["chosen"];
        let time = |name: &str| chosen[name].as_f64().unwrap();
        assert!(time("simulated") > 0.0, "{chosen}");
        assert!(time("t_min") <= time("t_max"), "{chosen}");
    }
    let text = corecast_in(cache.path(), &[&some[..], &["--op", "barrier"]].concat()).text();
    assert!(text.contains("T_min  T_max  simulated"), "{text}");
    // Without measured costs there are no forecasts.
    let json = corecast_in(cache.path(), &["explain", "--json"]).json();
    assert!(json["operations"][0]["chosen"].get("simulated").is_none());
}

/// With `--root`, both ways to an other root over the tree of a team that was asked for none.
#[test]
fn other_roots_show_both_ways() {
    let cache = tempfile::tempdir().unwrap();
    let machine = "builtin:sandybridge-2x8";
    let mut ways = std::collections::BTreeSet::new();
    for operation in ["broadcast", "reduce"] {
        for root in ["0", "7", "13", "31"] {
            let some = ["explain", "-i", machine, "--op", operation, "--root", root];
            let json = corecast_in(cache.path(), &[&some[..], &["--json"]].concat()).json();
            let Some(other) = json["operations"][0].get("other_root") else {
                continue;
            };
            let time = |name: &str| other[name].as_f64().unwrap();
            let (rehung, copied) = (time("rehung"), time("copied"));
            let runs = if copied < rehung { "copied" } else { "rehung" };
            assert_eq!(other["runs"], runs, "{other}");
            ways.insert(runs);
            let text = corecast_in(cache.path(), &some).text();
            let line = text.lines().find(|line| line.starts_with("without --root"));
            let line = line.unwrap_or_else(|| panic!("{text}"));
            let way = ["by a copy", "over the tree re-hung"][usize::from(runs == "rehung")];
            assert!(line.contains(&format!("goes {way}")), "{line}");
        }
    }
    assert!(!ways.is_empty());
    let some = [
        "explain", "-i", machine, "--op", "barrier", "--root", "7", "--json",
    ];
    let json = corecast_in(cache.path(), &some).json();
    assert!(json["operations"][0].get("other_root").is_none());
}
