//! Unusable input: exit code 2, one line on standard error that quotes it, nothing else.

mod common;

use common::{TWO_THREADS, corecast, corecast_in, file};

#[test]
fn machines_that_cannot_be_used() {
    let folder = tempfile::tempdir().unwrap();
    let noise: Vec<u8> = (0..4096u32)
        .map(|k| (k.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let cases: Vec<(String, Vec<u8>, &str)> = [
        (
            "truncated",
            TWO_THREADS[..TWO_THREADS.len() / 2].into(),
            "not a machine file",
        ),
        ("empty", Vec::new(), "not a machine file"),
        ("array", b"[]".to_vec(), "not a machine file"),
        (
            "nan",
            TWO_THREADS.replace("[55,0]", "[NaN,0]").into(),
            "not a machine file",
        ),
        (
            "quoted-nan",
            TWO_THREADS.replace("[55,0]", "[\"NaN\",0]").into(),
            "send[1][0] is \"NaN\"",
        ),
        (
            "negative",
            TWO_THREADS.replace("[55,0]", "[-55,0]").into(),
            "send[1][0] is -55",
        ),
        (
            "missing-cost",
            TWO_THREADS.replace("[55,0]", "[null,0]").into(),
            "send[1][0] is missing",
        ),
        (
            "ragged",
            TWO_THREADS.replace("[55,0]", "[55]").into(),
            "send[1] has 1 entries",
        ),
        (
            "future",
            TWO_THREADS.replace("\"schema\":1", "\"schema\":7").into(),
            "schema 7 is unknown",
        ),
        ("noise", noise, "is not text"),
        (
            "newlines",
            b"{\"schema\":\"\n\n\x1b[31m\"}".to_vec(),
            "machine file",
        ),
    ]
    .map(|(name, content, reason)| (name.to_owned(), content, reason))
    .into();
    for command in ["topo", "plan", "explain"] {
        for (name, content, reason) in &cases {
            let path = file(folder.path(), name, content);
            let line = corecast(&[command, "-i", &path]).refusal();
            assert!(
                line.contains(reason) && line.contains(name.as_str()),
                "{name}: {line}"
            );
        }
        let missing = corecast(&[command, "--json", "--machine", "/nonexistent/m.json"]).refusal();
        assert!(missing.contains("\"/nonexistent/m.json\""), "{missing}");
        let a_folder = corecast(&[command, "-i", folder.path().to_str().unwrap()]).refusal();
        assert!(a_folder.contains("cannot read"), "{a_folder}");
        for (spec, quoted) in [
            ("builtin:cray", "\"cray\""),
            ("synthetic:", "synthetic machine"),
            ("synthetic:package:0", "\"package:0\""),
            ("synthetic:package:2 cores:4", "\"cores:4\""),
            ("package:4096 core:4096", "4096"),
        ] {
            let line = corecast(&[command, "-i", spec]).refusal();
            assert!(line.contains(quoted), "{spec}: {line}");
        }
    }
}

#[test]
fn random_bytes_never_do_worse_than_a_refusal() {
    let folder = tempfile::tempdir().unwrap();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for round in 0..40 {
        // A valid file with some bytes replaced: nearly right is what breaks readers.
        let mut bytes = TWO_THREADS.as_bytes().to_vec();
        for _ in 0..1 + round % 4 {
            let at = next() as usize % bytes.len();
            bytes[at] = next() as u8;
        }
        let path = file(folder.path(), "mutant", &bytes);
        let run = corecast(&["plan", "--json", "-i", &path]);
        match run.output.status.code() {
            Some(0) => drop(run.json()),
            _ => drop(run.refusal()),
        }
    }
}

#[test]
fn plans_that_cannot_be_made() {
    for (args, quoted) in [
        (
            &["--pattern", "best"][..],
            "pattern \"best\" is not in this version: use one of smelt",
        ),
        (&["--pattern", "optimal"], "\"optimal\""),
        (
            &["--pattern", "nonsense"],
            "\"nonsense\" is unknown: use one of",
        ),
        (&["--pattern", "knomial:1"], "\"knomial:1\""),
        (&["--pattern", "knomial:99999999999999999999"], "radix"),
        (&["--pattern", "dissemination:2"], "cannot broadcast"),
        (&["--op", "scan"], "\"scan\""),
        (&["--root", "8"], "root 8"),
        (&["--root", "-1"], "-1"),
        (&["--root", "first"], "\"first\""),
        (&["--root", "2", "--threads", "3,4"], "root 2"),
        (&["--threads", "1,1"], "thread 1 is listed twice"),
        (&["--threads", "0-3,2"], "thread 2 is listed twice"),
        (&["--threads", "0-8"], "thread 8"),
        (&["--threads", ""], "--threads \"\""),
        (&["--threads", "0;1"], "\"0;1\""),
        (&["--subset", "9"], "--subset 9"),
        (&["--subset", "0"], "--subset 0"),
        (&["--subset", "two"], "'two'"),
        (&["--subset", "2", "--placement", "spread"], "'spread'"),
        (&["--frobnicate"], "--frobnicate"),
    ] {
        for json in [&[][..], &["--json"]] {
            let line = corecast(&[&["plan", "-i", "core:8"], args, json].concat()).refusal();
            assert!(line.contains(quoted), "{args:?}: {line}");
        }
    }
}

#[test]
fn commands_and_files_that_do_not_exist() {
    assert!(corecast(&["frobnicate"]).refusal().contains("'frobnicate'"));
    let line = corecast(&["topo", "-i", "core:2", "--svg", "/nonexistent/picture.svg"]).refusal();
    assert!(line.contains("\"/nonexistent/picture.svg\""), "{line}");
    assert!(
        corecast(&["topo", "--json", "--csv"])
            .refusal()
            .contains("--csv")
    );
}

#[test]
fn help_and_version_succeed() {
    assert!(corecast(&["--version"]).text().starts_with("corecast "));
    assert!(corecast(&["--help"]).text().contains("Exit codes"));
    assert!(corecast(&["plan", "--help"]).text().contains("--placement"));
    assert!(corecast(&["-i", "core:4"]).refusal().contains("\"core:4\""));
}

#[test]
fn a_broken_measurement_of_this_machine_is_reported_and_replaced() {
    let cache = tempfile::tempdir().unwrap();
    let topo = corecast(&["topo", "--json"]).json();
    let folder = cache.path().join("corecast");
    std::fs::create_dir(&folder).unwrap();
    let name = format!("machine-{}.json", topo["fingerprint"].as_str().unwrap());
    file(&folder, &name, "{");
    let text = corecast_in(cache.path(), &["topo"]).text();
    assert!(
        text.contains("cannot be used") && text.contains("from the literature"),
        "{text}"
    );
}
