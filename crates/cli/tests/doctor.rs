//! `corecast doctor` as scripts and people see it.

mod common;

use common::corecast;

/// The command, which may exit with 1 where a sandbox withholds something; anything else is wrong.
fn doctor(args: &[&str]) -> (Option<i32>, String) {
    let output = corecast(&[&["doctor"], args].concat()).output;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said, "", "doctor {args:?}");
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 1)), "doctor {args:?}: {code:?}");
    (code, String::from_utf8(output.stdout).unwrap())
}

#[test]
fn this_machine_is_examined() {
    let (code, text) = doctor(&[]);
    for check in [
        "quota", "cpuset", "siblings", "governor", "steal", "pinning", "/dev/shm",
    ] {
        let words = |line: &str| line.split_whitespace().nth(1) == Some(check);
        assert!(text.lines().any(words), "{check}: {text}");
    }
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("14 checks: "), "{text}");
    assert_eq!(code == Some(0), last.ends_with(" 0 failures"), "{text}");
    assert!(!text.contains('\u{1b}'), "no colours into a pipe");
}

#[test]
fn everything_that_is_not_well_has_a_way_out() {
    let (_, text) = doctor(&["--json"]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (json["schema"].as_u64(), text.lines().count()),
        (Some(1), 1)
    );
    let checks = json["checks"].as_array().unwrap();
    for check in checks {
        let well = check["level"] == "ok";
        assert_eq!(well, check["fix"].is_null(), "{check}");
    }
    let level = |name: &str| {
        let found = checks.iter().find(|check| check["check"] == name);
        found.unwrap()["level"].as_str().unwrap().to_owned()
    };
    // The cache folder of these tests is empty.
    assert_eq!(
        (level("costs"), level("profile")),
        ("note".into(), "note".into())
    );
    assert!(json["facts"]["usable"].as_u64().unwrap() >= 1);
}

#[test]
fn other_machines_cannot_be_examined() {
    let line = corecast(&["doctor", "-i", "core:4"]).refusal();
    assert!(line.contains("leave out --machine \"core:4\""), "{line}");
}

#[test]
fn a_fence_that_was_switched_off_is_told() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_corecast"))
        .args(["doctor"])
        .env("CORECAST_FENCE", "symmetric")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("fix: unset CORECAST_FENCE"), "{text}");
}
