//! The output of `corecast doctor`, as JSON and as text.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::corecast;
use serde_json::Value;

/// Runs the command, which must exit with 0, or with 1 where a sandbox withholds something.
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
        "quota", "cpuset", "siblings", "governor", "waiting", "copies", "steal", "pinning",
        "/dev/shm",
    ] {
        let words = |line: &str| line.split_whitespace().nth(1) == Some(check);
        assert!(text.lines().any(words), "{check}: {text}");
    }
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("16 checks: "), "{text}");
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

/// A C program with a parallel region, which compilers without `-fopenmp` ignore.
const SOURCE: &str = "int main(void) {\n#pragma omp parallel\n  {\n#pragma omp barrier\n    ;\n  }\n  return 0;\n}\n";

/// Compiles [`SOURCE`] with `command` to `name` in `folder`; `None`, with a message, where that is not possible here.
fn compiled(folder: &Path, name: &str, command: &[&str]) -> Option<String> {
    let source = crate::common::file(folder, "source.c", SOURCE);
    let program = folder.join(name).to_str().unwrap().to_owned();
    let output = Command::new(command[0])
        .args(&command[1..])
        .args([&source, "-o", &program])
        .output();
    match output {
        Ok(output) if output.status.success() => Some(program),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            println!("SKIPPED: {command:?}: {said}");
            None
        }
        Err(error) => {
            println!("SKIPPED: {command:?}: {error}");
            None
        }
    }
}

/// The facts of a program, and its checks by their names.
fn looked_at(program: &str) -> (Value, BTreeMap<String, Value>) {
    let (_, text) = doctor(&["--json", program]);
    let json: Value = serde_json::from_str(&text).unwrap();
    let checks = json["checks"].as_array().unwrap();
    assert_eq!(checks.len(), 21, "{text}");
    let named = |check: &Value| (check["check"].as_str().unwrap().to_owned(), check.clone());
    (
        json["facts"]["program"].clone(),
        checks.iter().map(named).collect(),
    )
}

fn runtimes(program: &Value) -> Vec<&str> {
    let found = program["runtimes"].as_array().unwrap();
    found
        .iter()
        .map(|found| found["runtime"].as_str().unwrap())
        .collect()
}

#[test]
fn a_plain_program_is_well() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = compiled(folder.path(), "plain", &["cc"]) else {
        return;
    };
    let (facts, checks) = looked_at(&program);
    for check in ["program", "libraries", "OpenMP", "MPI", "Corecast"] {
        assert_eq!(checks[check]["level"], "ok", "{}", checks[check]);
    }
    let libraries = facts["libraries"].to_string();
    assert!(libraries.contains("libc"), "{libraries}");
    let (_, text) = doctor(&[&program]);
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("21 checks: "), "{text}");
    assert!(text.contains(&program), "{text}");
}

#[test]
fn corecast_is_found_in_a_program_that_has_it_within() {
    let (facts, _) = looked_at(env!("CARGO_BIN_EXE_corecast"));
    assert_eq!(runtimes(&facts), ["corecast"]);
}

#[test]
fn openmp_is_found_as_a_library() {
    let folder = tempfile::tempdir().unwrap();
    if let Some(program) = compiled(folder.path(), "gnu", &["gcc", "-fopenmp"]) {
        let (facts, checks) = looked_at(&program);
        assert_eq!(runtimes(&facts), ["gnu-openmp"]);
        assert_ne!(checks["OpenMP"]["level"], "ok");
        let fix = checks["OpenMP"]["fix"].as_str().unwrap();
        assert!(fix.contains("OMP_WAIT_POLICY=passive"), "{fix}");
    }
    if let Some(program) = compiled(folder.path(), "llvm", &["clang", "-fopenmp"]) {
        let (facts, checks) = looked_at(&program);
        let found = runtimes(&facts);
        assert!(
            matches!(found[..], ["llvm-openmp" | "intel-openmp"]),
            "{found:?}"
        );
        let fix = checks["OpenMP"]["fix"].as_str().unwrap();
        assert!(fix.contains("KMP_BLOCKTIME=0"), "{fix}");
    }
}

#[test]
fn openmp_is_found_in_a_static_program() {
    let folder = tempfile::tempdir().unwrap();
    let whole = ["gcc", "-fopenmp", "-static"];
    if let Some(program) = compiled(folder.path(), "whole", &whole) {
        let (facts, _) = looked_at(&program);
        assert_eq!(runtimes(&facts), ["gnu-openmp"]);
        assert_eq!(facts["static"], true);
        let (_, text) = doctor(&[&program]);
        assert!(text.contains("linked statically"), "{text}");
    }
    if let Some(program) = compiled(folder.path(), "stripped", &[&whole[..], &["-s"]].concat()) {
        let (facts, checks) = looked_at(&program);
        assert_eq!(runtimes(&facts), [""; 0]);
        let said = checks["OpenMP"]["found"].as_str().unwrap();
        assert!(said.starts_with("unknown: "), "{said}");
    }
}

#[test]
fn libraries_are_found_beside_the_program_or_named_as_missing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("lib")).unwrap();
    let shared = [
        "cc",
        "-shared",
        "-fPIC",
        "-Dmain=inner",
        "-Wl,-soname,libinner.so.7",
    ];
    let Some(library) = compiled(folder.path(), "lib/libinner.so.7", &shared) else {
        return;
    };
    let beside = [
        "cc",
        "-Wl,--no-as-needed",
        "-Wl,-rpath,$ORIGIN/lib",
        &library,
    ];
    let Some(program) = compiled(folder.path(), "program", &beside) else {
        return;
    };
    let (facts, checks) = looked_at(&program);
    assert_eq!(checks["libraries"]["level"], "ok", "{facts}");
    assert!(
        facts["libraries"].to_string().contains("libinner.so.7"),
        "{facts}"
    );
    std::fs::remove_file(&library).unwrap();
    let (facts, checks) = looked_at(&program);
    assert_eq!(checks["libraries"]["level"], "warning", "{facts}");
    assert_eq!(facts["missing"][0]["name"], "libinner.so.7");
    let output = Command::new(env!("CARGO_BIN_EXE_corecast"))
        .args(["doctor", "--json", &program])
        .env("LD_LIBRARY_PATH", compiled_again(folder.path(), &shared))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("elsewhere/libinner.so.7"), "{text}");
}

/// Compiles the library into another folder, and returns the folder.
fn compiled_again(folder: &Path, shared: &[&str]) -> PathBuf {
    let elsewhere = folder.join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    compiled(folder, "elsewhere/libinner.so.7", shared).expect("it was compiled before");
    elsewhere
}

#[test]
fn scripts_are_looked_through() {
    let folder = tempfile::tempdir().unwrap();
    let script = crate::common::file(folder.path(), "run", "#!/usr/bin/env sh\necho\n");
    let (facts, checks) = looked_at(&script);
    assert_eq!(facts["scripts"][0], script.as_str());
    let found = checks["program"]["found"].as_str().unwrap();
    assert!(found.contains("script"), "{found}");
    let lost = crate::common::file(folder.path(), "lost", "#!/nowhere/at/all\n");
    let line = corecast(&["doctor", &lost]).refusal();
    assert!(line.contains("interpreter is missing"), "{line}");
    assert!(line.contains("/nowhere/at/all"), "{line}");
}

#[test]
fn what_is_no_program_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let text = crate::common::file(folder.path(), "text", "words\n");
    let nowhere = folder.path().join("nowhere");
    for (name, words) in [
        (text.as_str(), "is no program"),
        (nowhere.to_str().unwrap(), "is not there"),
        (folder.path().to_str().unwrap(), "is a folder"),
        ("/dev/null", "no plain file"),
        ("corecast-has-no-such-program", "in PATH"),
        ("", "without a name"),
    ] {
        let line = corecast(&["doctor", name]).refusal();
        assert!(line.contains(words), "{line}");
        assert!(
            line.contains(&format!("{name:?}")) || name.is_empty(),
            "{line}"
        );
    }
    if let Some(object) = compiled(folder.path(), "object.o", &["cc", "-c"]) {
        let line = corecast(&["doctor", &object]).refusal();
        assert!(line.contains("object file"), "{line}");
    }
}

/// A program whose header names another architecture is reported as foreign.
#[test]
fn programs_for_other_machines_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = compiled(folder.path(), "plain", &["cc"]) else {
        return;
    };
    let mut bytes = std::fs::read(&program).unwrap();
    // e_machine, in the byte order of the file: SPARC V9.
    let other: [u8; 2] = if bytes[5] == 1 { [43, 0] } else { [0, 43] };
    bytes[18..20].copy_from_slice(&other);
    let program = crate::common::file(folder.path(), "sparc", bytes);
    let (facts, checks) = looked_at(&program);
    assert_eq!(facts["foreign"], true);
    let found = checks["program"]["found"].as_str().unwrap();
    assert!(found.starts_with(&program), "{found}");
    assert!(found.contains("ELF machine 43"), "{found}");
}
