//! Barriers of crates, over all their settings. No time is asserted.

use corecast_bench::peers::{Selection, crates};
use corecast_bench::{Role, Settings, Status, race, seat};
use std::collections::BTreeSet;

#[test]
fn barriers_of_crates_are_found_right_and_timed() {
    let settings = Settings {
        rounds_min: 2,
        rounds_max: 2,
        warm_up_rounds: 0,
        ..Settings::quick()
    };
    let pus = seat::allowed_pus();
    for ranks in [1, 2, 3, 5] {
        let seats = match pus.is_empty() {
            true => seat::free(ranks),
            false => seat::pinned(ranks, &pus),
        };
        let entrants = crates::barriers(&seats, Selection::All);
        let comparison = race::run("barrier", &seats, &settings, &entrants, |_| {}).unwrap();
        let mut labels = BTreeSet::new();
        for entry in &comparison.entries {
            assert_eq!(entry.status, Status::Timed, "{ranks} ranks: {}", entry.name);
            assert_eq!(entry.role, Role::Peer);
            let label = (entry.name.clone(), entry.setting.clone());
            assert!(labels.insert(label), "{} twice", entry.name);
        }
        for name in [
            "hurdles",
            "spin::Barrier",
            "crossbeam-channel",
            "std::sync::mpsc",
        ] {
            assert!(labels.iter().any(|(of, _)| of == name), "{name}");
        }
    }
}
