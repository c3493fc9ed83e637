use super::super::Profile;
use super::*;

/// A profile with one tuning that has everything.
fn profile() -> Profile {
    let mut tuning = Tuning::new(vec![0, 1], true, Mode::Threads, Start::Together);
    tuning.under = Circumstances {
        microcode: Some("0x2b".into()),
        cpuset: "0-1".into(),
        edition: "1".into(),
    };
    tuning.waits = Some(TunedWaits {
        spin_ns: 3000,
        hardware_ns: 0,
        soon_ns: 0,
        yield_ns: 100,
        park: true,
    });
    let ran = TunedCandidate {
        predicted_ns: Some(900.5),
        measured_ns: Some(1000.0),
        interval_ns: Some((990.0, 1010.0)),
        samples: 40,
        ..TunedCandidate::new(Some("ring".into()))
    };
    let dropped = TunedCandidate {
        dropped: Some("after 3 rounds: 1.4 times the leader".into()),
        ..TunedCandidate::new(None)
    };
    let race = |bytes| SizeRace {
        bytes,
        candidates: vec![ran.clone(), dropped.clone()],
    };
    tuning.operations = vec![TunedOperation {
        operation: "allreduce".into(),
        ranges: vec![
            TunedRange {
                races: vec![race(8), race(512)],
                mended: Some("a sentence".into()),
                ..TunedRange::new(Some(4096), Some("ring".into()))
            },
            TunedRange::new(None, None),
        ],
    }];
    let mut profile = Profile::new("cpu 1p1n2c2t-0".into(), "2026-11-23".into());
    profile.record_tuning(tuning);
    profile
}

#[test]
fn waits_in_the_cpu_are_written_only_where_there_are_some() {
    let mut profile = profile();
    let text = profile.to_json();
    assert!(!text.contains("hardware_ns"), "as before there were any");
    assert_eq!(Profile::from_json(&text), Ok(profile.clone()));
    profile.tunings[0].waits.as_mut().unwrap().hardware_ns = 2400;
    let text = profile.to_json();
    assert!(text.contains("\"hardware_ns\":2400"), "{text}");
    assert_eq!(Profile::from_json(&text), Ok(profile));
}

#[test]
fn a_round_trip_keeps_all() {
    let profile = profile();
    assert_eq!(Profile::from_json(&profile.to_json()), Ok(profile.clone()));
    let operation = profile.tunings[0].operation("allreduce").unwrap();
    let range = operation.at(4096);
    assert_eq!(range.algorithm.as_deref(), Some("ring"));
    assert_eq!(range.race_near(60).unwrap().bytes, 8);
    assert_eq!(range.race_near(70).unwrap().bytes, 512);
    let race = range.race_near(0).unwrap();
    assert_eq!(race.candidate(Some("ring")).unwrap().samples, 40);
    assert!(race.candidate(None).unwrap().dropped.is_some());
    assert_eq!(operation.at(4097).algorithm, None);
    assert_eq!(operation.at(u64::MAX).algorithm, None);
}

#[test]
fn older_profiles_have_none() {
    let mut profile = profile();
    profile.tunings.clear();
    let text = profile.to_json();
    assert!(!text.contains("tunings"));
    assert_eq!(Profile::from_json(&text), Ok(profile));
}

#[test]
fn a_team_has_one_tuning() {
    let mut profile = profile();
    let mut other = profile.tunings[0].clone();
    other.operations.clear();
    profile.record_tuning(other.clone());
    assert_eq!(profile.tunings, [other.clone()]);
    other.mode = Mode::Processes;
    profile.record_tuning(other.clone());
    assert_eq!(profile.tunings.len(), 2);
    profile.tunings[0] = other;
    let error = Profile::from_json(&profile.to_json())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("profile tuning 1: tuning 0 is of the same team"),
        "{error}"
    );
}

#[test]
fn bad_tunings_are_refused() {
    let text = profile().to_json();
    let end = "\"up_to_bytes\":4096";
    for (from, to, part) in [
        ("\"threads\":[", "\"thread\":[", "missing field `threads`"),
        (
            "\"mode\":\"threads\"",
            "\"mode\":\"fibres\"",
            "unknown variant `fibres`",
        ),
        ("\"strict\"", "\"tight\"", "unknown variant `tight`"),
        (
            end,
            "\"up_to_bytes\":null",
            "\"allreduce\": range 0 has no end",
        ),
        (end, "\"up_to_bytes\":-1", "not a profile"),
        (
            "\"up_to_bytes\":null",
            "\"up_to_bytes\":9",
            "the last range ends at 9 bytes",
        ),
        (
            "990.0",
            "-990.0",
            "range 0: ring at 8 bytes: -990 ns is no time",
        ),
        ("990.0", "1990.0", "an interval that ends before it begins"),
        ("\"cpuset\"", "\"set\"", "missing field `cpuset`"),
    ] {
        assert!(text.contains(from), "{from}");
        let error = Profile::from_json(&text.replace(from, to))
            .unwrap_err()
            .to_string();
        assert!(error.contains(part) && !error.contains('\n'), "{error}");
    }
    type Damage = fn(&mut Tuning);
    let damages: [(Damage, &str); 5] = [
        (
            |t| t.threads.clear(),
            "profile tuning 0: it is of no threads",
        ),
        (
            |t| t.operations[0].ranges.clear(),
            "0 ranges, expected 1 to 8",
        ),
        (
            |t| t.operations[0].ranges = vec![TunedRange::new(None, None); 9],
            "9 ranges",
        ),
        (
            |t| t.operations.push(t.operations[0].clone()),
            "\"allreduce\" is there twice",
        ),
        (
            |t| {
                t.operations[0]
                    .ranges
                    .insert(1, TunedRange::new(Some(4096), None))
            },
            "range 1 ends at 4096 bytes, before it begins",
        ),
    ];
    for (damage, part) in damages {
        let mut profile = profile();
        damage(&mut profile.tunings[0]);
        let error = Profile::from_json(&profile.to_json())
            .unwrap_err()
            .to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn circumstances_say_what_changed() {
    let then = profile().tunings[0].under.clone();
    assert_eq!(then.stale(&then), None);
    for (now, part) in [
        (
            Circumstances {
                edition: "2".into(),
                ..then.clone()
            },
            "edition \"1\" of Corecast's",
        ),
        (
            Circumstances {
                microcode: None,
                ..then.clone()
            },
            "microcode 0x2b, now it is unknown",
        ),
        (
            Circumstances {
                cpuset: "0".into(),
                ..then.clone()
            },
            "may use PU 0",
        ),
    ] {
        assert!(then.stale(&now).unwrap().contains(part));
    }
    assert_eq!("loose".parse(), Ok(Start::BackToBack));
    let error = "tight".parse::<Start>().unwrap_err().to_string();
    assert_eq!(
        error,
        "\"tight\" is no synchronisation: take one of strict, loose"
    );
}
