//! Numbers out of all proportion, for every numeric option of every command: a result or one line, never an abort.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longest time of one run. It only ends a command that would never end.
const WATCHDOG: Duration = Duration::from_secs(240);

/// The numbers that each option gets.
const NUMBERS: [&str; 4] = ["0", "-1", "18446744073709551615", "99999999999"];

/// A command line, and options that take a number there.
const OPTIONS: [(&str, &[&str]); 14] = [
    ("run -- true", &["-n"]),
    (
        "explain -i core:2 --op barrier",
        &["--root", "--subset", "--threads"],
    ),
    ("explain --op barrier --size 8", &["--ranks"]),
    ("explain --op allreduce", &["--size"]),
    (
        "plan -i core:3",
        &["--root", "--subset", "--threads", "--seed"],
    ),
    ("plan -i core:3 --budget 10ms", &["--moves"]),
    ("plan -i core:3 --moves 10", &["--budget"]),
    (
        "sim -i core:2",
        &[
            "--warm-up",
            "--size",
            "--seed",
            "--jitter",
            "--skew",
            "--root",
            "--threads",
        ],
    ),
    ("probe", &["--time-limit", "--subset", "--threads"]),
    (
        "bench --op broadcast --no-peers --quick --ranks 2 --patterns binary",
        &["--size", "--cache", "--precision", "--seconds"],
    ),
    ("bench --no-peers --quick", &["--ranks", "--subset"]),
    (
        "bench --app streamcluster --no-peers --quick --ranks 2 --patterns binary --points 64 --centres 4 --chunk 32",
        &["--dim"],
    ),
    (
        "tune --dry-run --op broadcast",
        &["--ranks", "--budget", "--most", "--threads"],
    ),
    ("tune --dry-run --op broadcast", &["--size"]),
];

/// Options of an application, each against the others' usual values.
const APPLICATION: [&str; 3] = ["--points", "--centres", "--chunk"];

#[test]
fn no_number_does_worse_than_a_refusal() {
    for (line, options) in OPTIONS {
        for option in options {
            try_all(line, option);
        }
    }
    for option in APPLICATION {
        try_all(
            "bench --app streamcluster --no-peers --quick --ranks 2 --patterns binary",
            option,
        );
    }
    for pattern in ["knomial", "dissemination"] {
        for number in NUMBERS {
            let name = format!("{pattern}:{number}");
            check(
                &[
                    "plan",
                    "-i",
                    "core:3",
                    "--op",
                    "barrier",
                    "--pattern",
                    &name,
                ],
                [&name, "radix"],
            );
        }
    }
    for number in NUMBERS {
        let spec = format!("core:{number}");
        check(&["topo", "-i", &spec], [&spec, &spec]);
    }
}

fn try_all(line: &str, option: &str) {
    for number in NUMBERS {
        let mut words: Vec<&str> = line.split(' ').collect();
        let at = words.iter().position(|word| *word == "--");
        let at = at.unwrap_or(words.len());
        words.splice(at..at, [option, number]);
        check(&words, [number, option]);
    }
}

/// Runs the command: exit code 0, or 2 with one line that has one of `quoted`.
fn check(words: &[&str], quoted: [&str; 2]) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_corecast"))
        .args(words)
        .env("XDG_CACHE_HOME", "/nonexistent/corecast-tests")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    let ended = loop {
        if child.try_wait().unwrap().is_some() {
            break true;
        }
        if begin.elapsed() > WATCHDOG {
            child.kill().unwrap();
            break false;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(ended, "{words:?} does not end: {said}");
    match output.status.code() {
        Some(0) => {}
        Some(2) => {
            assert_eq!(said.matches('\n').count(), 1, "{words:?}: {said}");
            let quotes = quoted.iter().any(|part| said.contains(part));
            assert!(quotes, "{words:?} is not quoted: {said}");
        }
        _ => panic!("{words:?}: {:?}: {said}", output.status),
    }
}

#[test]
fn an_option_is_named_with_its_negative_number() {
    for (line, option) in [
        ("plan -i core:3", "--root"),
        ("explain -i core:3", "--root"),
        ("sim -i core:3", "--root"),
        ("sim -i core:3", "--warm-up"),
        ("bench", "--ranks"),
        ("bench", "--seconds"),
        ("tune --dry-run", "--ranks"),
        ("probe", "--time-limit"),
        ("explain -i core:3", "--subset"),
    ] {
        let words: Vec<&str> = line.split(' ').chain([option, "-1"]).collect();
        let said = crate::common::corecast(&words).refusal();
        assert!(
            said.contains(option) && said.contains("-1"),
            "{words:?}: {said}"
        );
    }
}

#[test]
fn a_very_long_number_leaves_room_for_what_is_wrong() {
    let pattern = format!("knomial:{}", "9".repeat(100_000));
    let said = crate::common::corecast(&["plan", "-i", "core:3", "--pattern", &pattern]).refusal();
    assert!(
        said.contains("knomial:999") && said.contains("radix"),
        "{said}"
    );
    assert!(said.len() < 1000, "{said}");
}

#[test]
fn counts_beyond_reason_are_refused_with_the_limit() {
    for (line, quoted) in [
        (
            "run -n 1000000 -- true",
            "-n 1000000: a team has from 1 to 4096",
        ),
        (
            "explain --op barrier --size 8 --ranks 100000",
            "--ranks 100000: a team has from 1 to 4096",
        ),
        (
            "bench --op broadcast --no-peers --cache 99999G --ranks 2",
            "--cache \"99999G\"",
        ),
        (
            "sim -i core:2 --warm-up 1001",
            "--warm-up 1001: at most 1000",
        ),
        ("tune --dry-run --most 0", "--most 0"),
        (
            "bench --app streamcluster --points 100 --chunk 101",
            "--chunk 101: the stream has 100 points",
        ),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let said = crate::common::corecast(&words).refusal();
        assert!(said.contains(quoted), "{said}");
    }
}
