//! Unusable input gives exit code 2 and one line on standard error that quotes it, and nothing else.

use crate::common::{TWO_THREADS, corecast, corecast_in, file};

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
            ("parts:mesh:2x2", "see corecast sim"),
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
        // A valid file with some bytes replaced is more likely to break a parser than random bytes.
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

/// Large, deep and contradictory files are refused at once, with one line of bounded length.
#[test]
fn files_that_are_out_of_all_proportion() {
    const TEN_MB: usize = 10 << 20;
    let folder = tempfile::tempdir().unwrap();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = Vec::with_capacity(TEN_MB);
    while random.len() < TEN_MB {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        random.extend_from_slice(&state.to_le_bytes());
    }
    let letters: Vec<u8> = random.iter().map(|byte| b' ' + byte % 95).collect();
    let with = |from: &str, to: &str| {
        assert!(TWO_THREADS.contains(from), "{from}");
        TWO_THREADS.replacen(from, to, 1).into_bytes()
    };
    let long_row = format!("[55,0{}]", ",0".repeat(200_000));
    let long_name = format!("\"name\":\"{}\"", "m".repeat(1 << 20));
    let unknown_thread = with("[5,2]", "[5,3]");
    let unknown_thread = String::from_utf8(unknown_thread).unwrap();
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("ten-mb-of-bytes", random, "is not text: byte"),
        ("ten-mb-of-letters", letters, "not a machine file"),
        ("ten-mb-of-zeros", vec![0; TEN_MB], "not a machine file"),
        ("deep-lists", vec![b'['; TEN_MB], "not a machine file"),
        ("deep-objects", b"{\"a\":".repeat(1 << 20), "not a machine file"),
        ("deep-cost", with("[55,0]", &format!("[{}", "[".repeat(1 << 20))), "not a machine file"),
        ("deep-schema", with("\"schema\":1", &format!("\"schema\":{}", "[".repeat(1 << 20))), "not a machine file"),
        ("too-large", with("[55,0]", "[1e16,0]"), "send[1][0] is 10000000000000000"),
        ("out-of-range", with("[55,0]", "[1e999,0]"), "number out of range"),
        ("digits", with("[55,0]", &format!("[{},0]", "9".repeat(100_000))), "number out of range"),
        ("minus-nothing", with("[55,0]", "[-1e-300,0]"), "send[1][0] is -0.0000"),
        ("long-row", with("[55,0]", &long_row), "send[1] has 200002 entries"),
        ("wrong-unit", with("\"ns\"", "\"parsec\""), "unit \"parsec\" is unknown"),
        ("unit-as-number", with("\"ns\"", "9"), "not a machine file"),
        ("two-units", with("\"unit\":\"ns\"", "\"unit\":\"ns\",\"unit\":\"ns\""), "duplicate field `unit`"),
        ("two-schemas", with("\"schema\":1", "\"schema\":1,\"schema\":1"), "duplicate field `schema`"),
        ("two-matrices", with("\"send\":", "\"send\":[],\"send\":"), "duplicate field `send`"),
        ("two-files", [TWO_THREADS, TWO_THREADS].concat().into(), "trailing characters"),
        ("byte-order-mark", [b"\xef\xbb\xbf", TWO_THREADS.as_bytes()].concat(), "not a machine file"),
        ("thread-number", with("[5,2]", "[5,99999999999]"), "99999999999"),
        ("negative-thread", with("[5,2]", "[5,-2]"), "-2"),
        ("fractional-thread", with("[5,2]", "[5,2.5]"), "2.5"),
        ("no-threads", with("\"pus\":[", "\"pus\":[],\"other\":["), "machine"),
        ("long-name", unknown_thread.replace("\"name\":\"m\"", &long_name).into(), "hardware thread 3"),
        ("other-format", b"{\"name\":\"x\",\"numa_nodes\":[[0],[0]],\"unit\":\"ns\",\"send\":[[0]],\"receive\":[[0]]}".to_vec(), "thread 0 is in NUMA nodes 0 and 1"),
    ];
    for (name, content, reason) in &cases {
        let path = file(folder.path(), name, content);
        for command in [&["plan", "-i"][..], &["topo", "--json", "-i"]] {
            let line = corecast(&[command, &[&path]].concat()).refusal();
            let says = line.contains(reason) && line.contains(name);
            assert!(says && line.len() < 2000, "{name}: {line}");
        }
    }
}

/// A device, an unreadable file and an endless one are refused.
#[test]
fn files_that_are_no_files() {
    let line = corecast(&["plan", "-i", "/dev/null"]).refusal();
    assert!(line.contains("\"/dev/null\""), "{line}");
    let line = corecast(&["plan", "-i", ""]).refusal();
    assert!(line.contains("\"\""), "{line}");
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("link");
    std::os::unix::fs::symlink("nowhere", &broken).unwrap();
    let line = corecast(&["topo", "-i", broken.to_str().unwrap()]).refusal();
    assert!(
        line.contains("link") && line.contains("cannot read"),
        "{line}"
    );
    let below_a_file = file(folder.path(), "plain", TWO_THREADS) + "/m.json";
    let line = corecast(&["explain", "-i", &below_a_file]).refusal();
    assert!(line.contains("plain/m.json"), "{line}");
}

#[test]
fn plans_that_cannot_be_made() {
    for (args, quoted) in [
        (
            &["--pattern", "bets"][..],
            "pattern \"bets\" is unknown: use one of best, optimal, smelt",
        ),
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
