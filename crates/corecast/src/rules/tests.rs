//! Tests of the order of the sources, and of the tuning that fits a team.

use super::*;
use corecast_model::Profile;
use corecast_model::profile::{Mode, Start, TunedOperation};

const FIT: Fit<'_> = Fit {
    threads: &[0, 1],
    pinned: true,
    mode: Mode::Threads,
    start: Start::Together,
    similar: true,
};

fn now() -> Circumstances {
    Circumstances {
        microcode: Some("0x1".into()),
        cpuset: "0-1".into(),
        edition: algorithms::edition(),
    }
}

fn tuning(start: Start, ranges: &[(Option<u64>, Option<&str>)]) -> Tuning {
    let mut tuning = Tuning::new(vec![0, 1], true, Mode::Threads, start);
    tuning.under = now();
    tuning.created = "today".into();
    let range =
        |&(end, name): &(Option<u64>, Option<&str>)| TunedRange::new(end, name.map(str::to_owned));
    tuning.operations = vec![TunedOperation {
        operation: "allreduce".into(),
        ranges: ranges.iter().map(range).collect(),
    }];
    tuning
}

fn races(tunings: Vec<Tuning>) -> Races {
    let mut profile = Profile::new("key".into(), "today".into());
    profile.tunings = tunings;
    Races::of(profile, "a file")
}

const RANGES: [(Option<u64>, Option<&str>); 3] = [
    (Some(100), Some("messages")),
    (Some(200), None),
    (None, Some("ring")),
];

#[test]
fn the_first_that_asks_decides_in_each_range() {
    let (program, environment) = ("allreduce=trees@..50", "allreduce=owners@40..60");
    let rules = Rules::new(program.parse().unwrap(), environment.parse().unwrap()).unwrap();
    let races = races(vec![tuning(Start::Together, &RANGES)]);
    let rules = rules.with_tuning(&races, &FIT, &now());
    for (bytes, algorithm, by) in [
        (50, Some("trees"), AskedBy::Program),
        (51, Some("owners"), AskedBy::Environment),
        (61, Some("messages"), AskedBy::Profile),
        (101, None, AskedBy::Profile),
        (201, Some("ring"), AskedBy::Profile),
    ] {
        let rule = rules.at("allreduce", bytes).unwrap();
        assert_eq!((rule.algorithm, rule.by), (algorithm, by), "{bytes}");
        let all = rules.algorithms().asked("allreduce", bytes).unwrap();
        assert_eq!(all, algorithm, "{bytes}");
    }
    assert_eq!(rules.at("scan", 8).unwrap().by, AskedBy::BuiltIn);
    assert_eq!(rules.source(), "a file, tuned today");
    assert_eq!(rules.sentences().len(), 3);
}

#[test]
fn what_does_not_fit_is_refused_with_a_reason() {
    let none = Rules::new(Algorithms::default(), Algorithms::default()).unwrap();
    let check = |races: &Races, fit: &Fit<'_>, part: &str| {
        let rules = none.clone().with_tuning(races, fit, &now());
        assert!(rules.algorithms().is_empty() && rules.tuning().is_none());
        assert!(rules.source().contains(part), "{}", rules.source());
    };
    let good = races(vec![tuning(Start::Together, &RANGES)]);
    for fit in [
        Fit {
            threads: &[0, 0],
            ..FIT
        },
        Fit {
            threads: &[0, 1, 2],
            ..FIT
        },
        Fit {
            mode: Mode::Processes,
            ..FIT
        },
    ] {
        check(
            &good,
            &fit,
            "was not tuned yet, nor one like it, see corecast tune",
        );
    }
    let mut stale = tuning(Start::Together, &RANGES);
    stale.under.microcode = Some("0x2".into());
    check(
        &races(vec![stale]),
        &FIT,
        "microcode 0x2, now it is 0x1; run corecast tune",
    );
    let foreign = tuning(Start::Together, &[(None, Some("pigeons"))]);
    check(
        &races(vec![foreign]),
        &FIT,
        "no algorithm of allreduce is called 'pigeons'",
    );
    check(&Races::none("no file"), &FIT, "none: no file");
}

#[test]
fn the_tuning_of_the_most_similar_team_is_better_than_none() {
    let none = Rules::new(Algorithms::default(), Algorithms::default()).unwrap();
    let of = |threads: &[u32], pinned, algorithm: &str| {
        let mut one = tuning(Start::Together, &[(None, Some(algorithm))]);
        (one.threads, one.pinned) = (threads.to_vec(), pinned);
        one.waits = Some(corecast_model::profile::TunedWaits {
            spin_ns: 1,
            hardware_ns: 0,
            soon_ns: 0,
            yield_ns: 2,
            park: true,
        });
        one.kernel_copies_from = Some(4096);
        one.operations.push(TunedOperation {
            operation: "barrier".into(),
            ranges: vec![TunedRange::new(None, Some("counter".into()))],
        });
        one
    };
    let sixteen: Vec<u32> = (0..16).collect();
    let shared = [0, 0, 1, 1, 2, 2];
    let all = races(vec![
        of(&[0, 1], true, "ring"),
        of(&[0, 1, 2, 3], true, "owners"),
        of(&[0, 1, 2, 3], false, "trees"),
        of(&sixteen, true, "doubling"),
        of(&shared, false, "rabenseifner"),
    ]);
    let found = |threads: &[u32], pinned| {
        let fit = Fit {
            threads,
            pinned,
            ..FIT
        };
        let rules = none.clone().with_tuning(&all, &fit, &now());
        (rules.at("allreduce", 8).unwrap().algorithm, rules)
    };
    let twelve: Vec<u32> = (0..12).collect();
    let more: Vec<u32> = (0..70).collect();
    for (threads, pinned, algorithm) in [
        (&[1, 0][..], true, Some("ring")),
        (&[0, 1], false, Some("ring")),
        (&[0, 1, 2], true, Some("owners")),
        (&[0, 1, 2], false, Some("trees")),
        (&[3, 2, 1, 0], true, Some("owners")),
        (&twelve, true, Some("doubling")),
        (&[0, 0, 0, 1], true, Some("rabenseifner")),
        // More than four times as many; and two ranks on one PU are not like two on two, nor like six on three.
        (&more, true, None),
        (&[0, 0], true, None),
    ] {
        let (name, rules) = found(threads, pinned);
        assert_eq!(name, algorithm, "{threads:?}: {}", rules.source());
        let Some(tuning) = rules.tuning() else {
            continue;
        };
        // Waits and barriers are those of the team that raced, the path is that of the machine.
        assert_eq!(tuning.waits, None);
        assert_eq!(rules.at("barrier", 0).unwrap().algorithm, None);
        assert_eq!(rules.kernel_copies(), Some(KernelCopies::From(4096)));
        let part = "pinned, the nearest that was tuned";
        assert!(rules.source().contains(part), "{}", rules.source());
    }
    let alone = Fit {
        threads: &[1, 0],
        similar: false,
        ..FIT
    };
    let rules = none.clone().with_tuning(&all, &alone, &now());
    assert_eq!(rules.tuning(), None);
    let (_, exact) = found(&[0, 1, 2, 3], true);
    assert_eq!(exact.at("barrier", 0).unwrap().algorithm, Some("counter"));
    assert_eq!(exact.source(), "a file, tuned today");
}

#[test]
fn the_other_start_is_better_than_none() {
    let none = Rules::new(Algorithms::default(), Algorithms::default()).unwrap();
    let loose = tuning(Start::BackToBack, &[(None, Some("ring"))]);
    let rules = none
        .clone()
        .with_tuning(&races(vec![loose.clone()]), &FIT, &now());
    assert_eq!(rules.at("allreduce", 8).unwrap().algorithm, Some("ring"));
    assert!(rules.source().ends_with("loose as nothing else was tuned"));
    let both = races(vec![
        loose,
        tuning(Start::Together, &[(None, Some("owners"))]),
    ]);
    let rules = none.with_tuning(&both, &FIT, &now());
    assert_eq!(rules.at("allreduce", 8).unwrap().algorithm, Some("owners"));
}

#[test]
fn too_many_ranges_leave_the_tuning_out() {
    let ends: Vec<String> = (0..4)
        .map(|i| format!("ring@{}..{}", 10 * i, 10 * i + 5))
        .collect();
    let program = format!("allreduce={}", ends.join(",")).replacen("ring@0..5", "ring@..5", 1);
    let rules = Rules::new(program.parse().unwrap(), Algorithms::default()).unwrap();
    let rules = rules.with_tuning(&races(vec![tuning(Start::Together, &RANGES)]), &FIT, &now());
    assert!(
        rules.source().contains("not for allreduce"),
        "{}",
        rules.source()
    );
    assert_eq!(rules.at("allreduce", 7).unwrap().algorithm, None);
    let other = "allreduce=owners@5..7,owners@15..17,owners@25..27"
        .parse()
        .unwrap();
    let error = Rules::new(program.parse().unwrap(), other)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("allreduce") && error.contains("ranges of lengths"),
        "{error}"
    );
}
