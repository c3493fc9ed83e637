//! Barriers of crates, over all their settings. No time is asserted.

use crate::common::{placements, shortest};
use corecast_bench::peers::{Selection, crates};
use corecast_bench::{Role, Status, race};
use std::collections::BTreeSet;

#[test]
fn barriers_of_crates_are_found_right_and_timed() {
    for ranks in [1, 2, 3, 5] {
        let placements = placements(ranks);
        let entrants = crates::barriers(&placements, Selection::All);
        let comparison = race::run("barrier", &placements, &shortest(), &entrants, |_| {}).unwrap();
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
