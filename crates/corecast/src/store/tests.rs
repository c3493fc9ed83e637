//! Tests of the folder: what is saved is found, and what cannot be used is refused with its reason.

use super::*;
use corecast_model::profile::{Mode, SizeRace, Start, TunedOperation, TunedRange, Tuning};
use std::sync::Arc;

fn machine() -> MachineFile {
    corecast_model::synthetic("core:2").unwrap()
}

#[test]
fn what_is_kept_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path().join("new"));
    let file = machine();
    assert_eq!(store.measured(file.machine()), Stored::Absent);
    let path = store.save_machine(&file).unwrap();
    assert_eq!(store.measured(file.machine()), Stored::Found(path, file));
}

#[test]
fn a_measurement_in_depth_outlives_new_costs() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    let plain = machine();
    let section = include_str!("../../../model/src/deep/example.json");
    let text = plain.to_json();
    let text = text.replacen("\"unit\"", &format!("\"deep\": {section}, \"unit\""), 1);
    let full = MachineFile::from_json(&text).unwrap();
    assert!(full.deep().is_some());
    store.save_machine(&full).unwrap();
    let path = store.save_machine(&plain).unwrap();
    assert_eq!(
        store.measured(plain.machine()),
        Stored::Found(path, full.clone())
    );
}

#[test]
fn garbage_and_foreign_files_are_unusable() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    let file = machine();
    let foreign = Profile::new("another 1p1n2c2t-0".into(), "2026-11-21".into());
    store.save_profile(file.machine(), &foreign).unwrap();
    let Stored::Unusable(reason) = store.profile(file.machine()) else {
        panic!("a foreign profile was taken");
    };
    assert!(
        reason.contains("another machine, \"another 1p1n2c2t-0\""),
        "{reason}"
    );
    std::fs::write(store.machine_path(file.machine()).unwrap(), "{").unwrap();
    let Stored::Unusable(reason) = store.measured(file.machine()) else {
        panic!("garbage was taken");
    };
    assert!(
        reason.contains("cannot be used: not a machine file"),
        "{reason}"
    );
}

#[test]
fn the_network_of_a_host_is_found_among_other_files() {
    use corecast_model::cluster::Network;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path().join("new"));
    assert_eq!(store.network_of("a"), None);
    store.save_machine(&machine()).unwrap();
    std::fs::write(folder.path().join("new/machine-x.json"), "{").unwrap();
    assert_eq!(store.network_of("a"), None);
    let hosts = ["a", "b"].map(|name| (name.to_owned(), machine(), vec![0]));
    let file = MachineFile::of_hosts("a b", hosts.into(), Network::ASSUMED).unwrap();
    let path = store.save_machine(&file).unwrap();
    let cluster = file.cluster().unwrap().clone();
    assert_eq!(store.network_of("b"), Some((path, cluster)));
    assert_eq!(store.network_of("c"), None);
    assert_eq!(Store { folder: None }.network_of("a"), None);
}

#[test]
fn nowhere_is_an_error_with_a_way_out() {
    let store = Store { folder: None };
    let error = store.save_machine(&machine()).unwrap_err().to_string();
    assert!(error.contains("set XDG_CACHE_HOME"), "{error}");
    assert_eq!(store.measured(machine().machine()), Stored::Absent);
}

#[test]
fn a_profile_is_read_once_and_again_when_its_file_has_changed() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    let here = machine().machine().clone();
    let save = |created: &str| {
        let profile = Profile::new(machine_key(&here), created.into());
        store.save_profile(&here, &profile).unwrap();
    };
    let shared = || match store.choices(&here) {
        Stored::Found(_, profile) => profile,
        other => panic!("{other:?}"),
    };
    assert_eq!(store.choices(&here), Stored::Absent);
    save("2026-11-21");
    let first = shared();
    assert_eq!(first.created, "2026-11-21");
    // Another test may read another one in between.
    assert!((0..1000).any(|_| Arc::ptr_eq(&shared(), &shared())));
    // As long, and perhaps at the same time.
    save("2026-11-22");
    assert_eq!(shared().created, "2026-11-22");
    let path = store.profile_path(&here).unwrap();
    std::fs::write(&path, "{").unwrap();
    assert!(matches!(store.choices(&here), Stored::Unusable(_)));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(store.choices(&here), Stored::Absent);
}

/// A profile of this machine with a tuning that a race has decided.
fn raced(here: &Machine, algorithm: &str) -> Profile {
    let mut profile = Profile::new(machine_key(here), "2026-11-28".into());
    let mut range = TunedRange::new(None, Some(algorithm.into()));
    range.races.push(SizeRace {
        bytes: 8,
        candidates: Vec::new(),
    });
    let mut tuning = Tuning::new(vec![0, 1], true, Mode::Threads, Start::Together);
    tuning.operations.push(TunedOperation {
        operation: "broadcast".into(),
        ranges: vec![range],
    });
    profile.record_tuning(tuning);
    profile
}

#[test]
fn teams_read_choices_without_races_and_never_those_of_another_profile() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    let here = machine().machine().clone();
    let shared = || match store.choices(&here) {
        Stored::Found(_, profile) => profile,
        other => panic!("{other:?}"),
    };
    let (first, second) = (raced(&here, "whole"), raced(&here, "chain"));
    let path = store.save_profile(&here, &first).unwrap();
    assert_eq!(*shared(), first.without_races());
    assert_ne!(*shared(), first);
    assert_eq!(
        store.profile(&here),
        Stored::Found(path.clone(), first.clone())
    );
    // Somebody has put another profile in its place, as long as the first, and has left the choices.
    let beside = folder.path().join("beside");
    std::fs::write(&beside, second.to_json()).unwrap();
    std::fs::rename(&beside, &path).unwrap();
    assert_eq!(*shared(), second);
    // Choices that cannot be read, or are about another machine.
    let choices = folder.path().join(
        path.file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .replace("profile", "choices"),
    );
    store.save_profile(&here, &first).unwrap();
    let good = std::fs::read_to_string(&choices).unwrap();
    for bad in [
        String::new(),
        "{".to_owned(),
        good.replace("\"schema\":1", "\"schema\":2"),
        good.replace(&machine_key(&here), "another"),
        good.replacen('{', "", 1),
    ] {
        assert_ne!(bad, good);
        // Written again, so that what this process has read before is not used.
        store.save_profile(&here, &first).unwrap();
        std::fs::write(&choices, bad).unwrap();
        assert_eq!(*shared(), first);
    }
}
