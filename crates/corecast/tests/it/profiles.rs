//! Stored races and costs are used when they fit a team, and are reported when they do not.

use corecast::choose::DecidedBy;
use corecast::model::profile::machine_key;
use corecast::model::{Machine, Measured, Profile, ProfileEntry, RacedCandidate};
use corecast::store::Store;
use corecast::{Builder, Chosen, Explanation, costs};

const RANKS: usize = 4;

struct Cache {
    folder: tempfile::TempDir,
    machine: Machine,
}

impl Cache {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            machine: corecast::machine::discover().machine,
        }
    }

    fn store(&self) -> Store {
        Store::at(self.folder.path())
    }

    fn builder(&self) -> Builder {
        Builder::new()
            .threads(RANKS)
            .cache_folder(self.folder.path())
    }

    fn explain(&self) -> Explanation {
        self.builder().build().unwrap().explain()
    }

    /// Stores a race of barriers that `pattern` won with this tree.
    fn race(&self, pattern: &str, root: usize, children: Option<Vec<Vec<usize>>>) {
        self.race_of_two(pattern, root, children, None);
    }

    /// Stores a race of barriers that `pattern` won with this fan-out tree and, if given, this fan-in tree.
    fn race_of_two(
        &self,
        pattern: &str,
        root: usize,
        children: Option<Vec<Vec<usize>>>,
        fan_in: Option<Vec<Vec<usize>>>,
    ) {
        let candidate = RacedCandidate {
            pattern: pattern.to_owned(),
            root,
            children,
            fan_in,
            predicted_ns: 900.0,
            measured_ns: 400.0,
            interval_ns: (390.0, 410.0),
        };
        let mut profile = Profile::new(machine_key(&self.machine), "2026-11-21".into());
        profile.record(ProfileEntry {
            operation: "barrier".into(),
            threads: self.builder().build().unwrap().pus(),
            winner: pattern.to_owned(),
            candidates: vec![candidate],
        });
        self.store().save_profile(&self.machine, &profile).unwrap();
    }
}

fn barrier(explanation: &Explanation) -> &Chosen {
    &explanation.operations[0]
}

/// A chain: rank 3 is the parent of 2, 2 of 1, and 1 of 0.
fn backwards() -> Vec<Vec<usize>> {
    vec![vec![], vec![0], vec![1], vec![2]]
}

#[test]
fn the_winner_of_a_race_runs() {
    let cache = Cache::new();
    cache.race("chain", 3, Some(backwards()));
    let team = cache.builder().build().unwrap();
    let explanation = team.explain();
    let chosen = barrier(&explanation);
    assert_eq!(chosen.decided_by, DecidedBy::Race);
    // This is the tree that was raced: a chain that is planned now would have another root.
    assert_eq!((chosen.pattern.as_str(), chosen.root), ("chain", Some(3)));
    assert!(
        chosen.reason.contains("median of 400 ns"),
        "{}",
        chosen.reason
    );
    assert!(explanation.races.contains("raced 2026-11-21"));
    // Only barriers were raced, so the model decides about the others.
    assert_eq!(explanation.operations[1].decided_by, DecidedBy::Model);
    for done in team.run(|member| member.barrier()) {
        done.unwrap();
    }
    cache.race("dissemination:4", 0, None);
    let explanation = cache.explain();
    let chosen = barrier(&explanation);
    assert_eq!(
        (chosen.pattern.as_str(), chosen.root),
        ("dissemination:4", None)
    );
}

#[test]
fn a_winner_of_two_trees_comes_back_with_both() {
    let cache = Cache::new();
    let star = vec![vec![], vec![], vec![], vec![2, 1, 0]];
    cache.race_of_two("best", 3, Some(star.clone()), Some(backwards()));
    let path = cache.store().profile_path(&cache.machine).unwrap();
    let saved = Profile::from_json(&std::fs::read_to_string(path).unwrap()).unwrap();
    let won = saved.entries[0].winning().unwrap();
    assert_eq!(
        (&won.children, &won.fan_in),
        (&Some(star), &Some(backwards()))
    );
    let team = cache.builder().build().unwrap();
    let explanation = team.explain();
    let chosen = barrier(&explanation);
    assert_eq!(chosen.decided_by, DecidedBy::Race);
    assert_eq!((chosen.pattern.as_str(), chosen.root), ("best", Some(3)));
    assert!(chosen.two_trees);
    team.run(|member| (0..100).for_each(|_| member.barrier().unwrap()));
}

#[test]
fn races_that_do_not_fit_are_told_about() {
    let cache = Cache::new();
    let reason = |pattern: &str, root, children| {
        cache.race(pattern, root, children);
        let explanation = cache.explain();
        let chosen = barrier(&explanation);
        assert_eq!(chosen.decided_by, unraced(RANKS));
        chosen.reason.clone()
    };
    let unknown = reason("heap", 3, Some(backwards()));
    assert!(unknown.contains("heap, cannot run"), "{unknown}");
    let cyclic = reason("chain", 3, Some(vec![vec![1], vec![0], vec![], vec![]]));
    assert!(cyclic.contains("chain, cannot run"), "{cyclic}");

    cache.race("chain", 3, Some(backwards()));
    let elsewhere = cache.builder().root(0).build().unwrap().explain();
    let reason = &barrier(&elsewhere).reason;
    assert!(reason.contains("raced with root 3, and root 0"), "{reason}");
    // A team of another size was not raced.
    let smaller = cache.builder().threads(RANKS - 1).build().unwrap();
    assert_eq!(barrier(&smaller.explain()).decided_by, unraced(RANKS - 1));
}

/// The source of the decision about the barrier of a team that was not raced.
fn unraced(ranks: usize) -> DecidedBy {
    match ranks > corecast::machine::discover().unthrottled_parallelism() {
        true => DecidedBy::Sharing,
        false => DecidedBy::Model,
    }
}

#[test]
fn stale_foreign_and_broken_profiles_are_ignored() {
    let cache = Cache::new();
    let races = || cache.explain().races;
    assert!(races().contains("nothing has been raced"));
    let path = cache.store().profile_path(&cache.machine).unwrap();
    std::fs::write(&path, "{\"schema\": 1").unwrap();
    assert!(races().contains("not a profile"), "{}", races());
    std::fs::write(&path, "{\"schema\": 9}").unwrap();
    assert!(races().contains("schema 9 is unknown"), "{}", races());
    let foreign = Profile::new("another".into(), "2026-11-21".into());
    cache
        .store()
        .save_profile(&cache.machine, &foreign)
        .unwrap();
    assert!(
        races().contains("another machine, \"another\""),
        "{}",
        races()
    );
}

#[test]
fn measured_costs_are_taken_and_broken_ones_told_about() {
    let cache = Cache::new();
    let costs = || cache.explain().costs.to_string();
    assert!(costs().contains("not been measured yet"), "{}", costs());
    let when = "2026-11-21".to_owned();
    let measured = Measured {
        when,
        ..Measured::default()
    };
    let file = costs::built_in(&cache.machine).with_measured(measured);
    let path = cache.store().save_machine(&file).unwrap();
    assert!(
        costs().contains("measured on this machine 2026-11-21"),
        "{}",
        costs()
    );
    std::fs::write(&path, "garbage").unwrap();
    let text = costs();
    assert!(
        text.contains("literature") && text.contains("cannot be used"),
        "{text}"
    );
}
