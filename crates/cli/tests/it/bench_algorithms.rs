//! `corecast bench` races what programs get: the profile and `CORECAST_ALGO` count, the table says what ran, and the
//! models predict that.

use std::path::Path;
use std::process::Command;

use corecast::model::profile::{Mode, Start, TunedOperation, TunedRange, Tuning, machine_key};
use corecast::model::{Collective, MachineFile, Matrix, Messages, Place, Profile};
use corecast::store::Store;
use corecast::{Builder, Planned, costs, machine, rules};
use corecast_sim::drive::{Call, Job};
use corecast_sim::measured::MeasuredMachine;
use serde_json::Value;

/// A tuning of two ranks that runs one algorithm for all allreduces.
fn tuning(mode: Mode, algorithm: &str) -> Tuning {
    let planned = Builder::new().threads(2).planned().unwrap();
    let mut tuning = Tuning::new(planned.rank_pus, planned.pinned, mode, Start::Together);
    tuning.under = rules::circumstances(&machine::discover());
    tuning.created = "2026-11-26T01:02:03Z".into();
    tuning.operations = vec![TunedOperation {
        operation: "allreduce".into(),
        ranges: vec![TunedRange::new(None, Some(algorithm.into()))],
    }];
    tuning
}

/// A cache folder whose profile has other algorithms for threads than for processes.
fn tuned() -> tempfile::TempDir {
    let cache = tempfile::tempdir().unwrap();
    let here = machine::discover().machine;
    let mut profile = Profile::new(machine_key(&here), "2026-11-26".into());
    profile.record_tuning(tuning(Mode::Threads, "trees"));
    profile.record_tuning(tuning(Mode::Processes, "ring"));
    let store = Store::at(cache.path().join("corecast"));
    store.save_profile(&here, &profile).unwrap();
    cache
}

/// A race of allreduces of 64 bytes between two ranks.
fn race(cache: &Path, asked: Option<&str>, more: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_corecast"));
    command
        .args("bench --quick --no-peers --json --ranks 2 --start barrier --seconds 0.1".split(' '))
        .args("--op allreduce --size 64".split(' '))
        .args(more)
        .env("XDG_CACHE_HOME", cache)
        .env_remove("CORECAST_ALGO");
    if let Some(asked) = asked {
        command.env("CORECAST_ALGO", asked);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{more:?}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The entry of a team.
fn entry<'a>(race: &'a Value, name: &str) -> &'a Value {
    let mut entries = race["entries"].as_array().unwrap().iter();
    let entry = entries.find(|entry| entry["name"] == name);
    let entry = entry.unwrap_or_else(|| panic!("{name} in {race}"));
    assert_eq!(entry["status"], "timed", "{entry}");
    entry
}

/// The algorithms that a team of threads and one of processes ran.
fn ran<'a>(race: &'a Value, name: &str) -> [&'a str; 2] {
    let of = |name: &str| entry(race, name)["algorithm"].as_str().unwrap();
    [of(name), of(&format!("{name} processes"))]
}

#[test]
fn programs_get_the_profile_and_what_the_environment_asks_for() {
    let cache = tuned();
    let race = |asked, more: &[&str]| race(cache.path(), asked, more);
    let found = race(None, &[]);
    assert_eq!(found["algorithms"], "users");
    assert_eq!(ran(&found, "corecast"), ["trees", "ring"]);
    let notes = found["notes"].to_string();
    assert!(notes.contains("tuned 2026-11-26T01:02:03Z"), "{notes}");
    // The environment comes before the profile, at its lengths.
    let asked = Some("allreduce=doubling@..64");
    assert_eq!(ran(&race(asked, &[]), "corecast"), ["doubling"; 2]);
    let asked = Some("allreduce=doubling@64..");
    assert_eq!(ran(&race(asked, &[]), "corecast"), ["trees", "ring"]);
}

#[test]
fn other_teams_leave_profile_or_environment_out() {
    let cache = tuned();
    let asked = Some("allreduce=doubling");
    let found = race(cache.path(), asked, &["--algorithms", "all"]);
    let usual = ran(&found, "corecast built-in");
    assert_eq!(usual, ["messages"; 2]);
    assert_eq!(ran(&found, "corecast tuned"), ["trees", "ring"]);
    // Every other algorithm that two ranks can run takes part, each once.
    for name in ["owners", "doubling", "ring"] {
        let entry = entry(&found, &format!("corecast {name}"));
        assert_eq!(entry["algorithm"], name);
    }
    let names = found["entries"].as_array().unwrap().iter();
    let twice = names.filter(|entry| entry["algorithm"] == "trees");
    assert_eq!(twice.count(), 1, "{found}");
    let nowhere = tempfile::tempdir().unwrap();
    let found = race(nowhere.path(), asked, &["--algorithms", "tuned"]);
    assert_eq!(ran(&found, "corecast tuned"), usual);
    let notes = found["notes"].to_string();
    assert!(
        notes.contains("no tuning: nothing has been raced"),
        "{notes}"
    );
}

/// The costs of a made-up measurement of this machine.
fn measured() -> MachineFile {
    let file = costs::built_in(&machine::discover().machine);
    let n = file.threads().len();
    let all = |ns: f64| Matrix::from_fn(n, |i, j| if i == j { 0.0 } else { ns });
    let messages = Messages {
        long_bytes: 4152,
        one: all(66.0),
        long: all(250.0),
        alone: all(25.0),
        taken: all(120.0),
        crossed: all(90.0),
        calls: [("allreduce".to_owned(), 8.0)].into(),
        combine: 60.0,
        copy: 50.0,
    };
    file.with_messages(messages).unwrap()
}

/// What the simulator says of an algorithm between two ranks over the plans of `planned`, without the tuner and the command.
fn simulated(file: &MachineFile, planned: &Planned, algorithm: &str) -> f64 {
    let at = planned
        .rank_pus
        .iter()
        .map(|&pu| file.position(pu).unwrap());
    let at: Vec<usize> = at.collect();
    let costs = file.costs().subset(&at).unwrap();
    let messages = file.messages().unwrap().subset(&at);
    let place = |pu: &u32| Place::from(file.machine().pu(*pu).unwrap());
    let places = planned.rank_pus.iter().map(place).collect();
    let machine = MeasuredMachine::new("here", &costs, &messages, places).unwrap();
    let call = Call::new(Collective::Allreduce, algorithm, 0, 64).unwrap();
    let job = Job::new(&call, &planned.plans).unwrap();
    machine.latency(&[0, 1], &job).unwrap()
}

#[test]
fn the_models_predict_what_ran() {
    if machine::discover().usable.len() < 2 {
        println!("SKIPPED: a prediction needs two hardware threads");
        return;
    }
    let cache = tempfile::tempdir().unwrap();
    let file = measured();
    let folder = cache.path().join("corecast");
    Store::at(&folder).save_machine(&file).unwrap();
    // The race plans with the file in this folder, not with what the user's own one may hold.
    let builder = Builder::new().threads(2).cache_folder(&folder);
    let planned = builder.planned().unwrap();
    let simulated = |ran: &str| simulated(&file, &planned, ran);
    let found = race(cache.path(), None, &["--algorithms", "all"]);
    let mut times = Vec::new();
    for entry in found["entries"].as_array().unwrap() {
        let (name, ran) = (entry["name"].as_str().unwrap(), &entry["algorithm"]);
        let Some(ran) = ran.as_str().filter(|_| !name.ends_with("processes")) else {
            continue;
        };
        let (said, right) = (entry["simulated_ns"].as_f64(), simulated(ran));
        let said = said.unwrap_or_else(|| panic!("a prediction of {entry}"));
        assert!((said / right - 1.0).abs() < 1e-9, "{ran}: {said}, {right}");
        times.push(right);
    }
    let (least, most) = (times[0], times.iter().copied().fold(0.0, f64::max));
    assert!(times.len() > 4 && most > 1.2 * least, "{times:?}");
    let found = race(cache.path(), Some("allreduce=trees"), &[]);
    let said = entry(&found, "corecast")["simulated_ns"].as_f64().unwrap();
    assert!((said / simulated("trees") - 1.0).abs() < 1e-9, "{found}");
}
