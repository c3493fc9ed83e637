//! The Promela model of 1Paxos, where spin is installed: it holds, and each of its faults is found.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a program in a folder, and returns what it printed.
fn run(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output();
    let output = output.unwrap_or_else(|error| panic!("{program} {arguments:?}: {error}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{program} {arguments:?}: {text}");
    text
}

/// Explores the model with a fault, and returns whether an assertion was violated, and how many states there were.
fn explore(fault: u32) -> (bool, u64) {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/onepaxos.pml");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("onepaxos-{fault}"));
    std::fs::create_dir_all(&folder).unwrap();
    let define = format!("-DMUTANT={fault}");
    run(&folder, "spin", &["-a", &define, &model.to_string_lossy()]);
    // Faults are found at once, so what takes time is the compiler.
    let level = if fault == 0 { "-O2" } else { "-O0" };
    run(
        &folder,
        "cc",
        &[level, "-w", "-DSAFETY", "-o", "pan", "pan.c"],
    );
    let pan = folder.join("pan");
    let text = run(&folder, &pan.to_string_lossy(), &["-m100000", "-n"]);
    let number = |line: &str| line.split_whitespace().find_map(|word| word.parse().ok());
    let states = text.lines().find(|line| line.contains("states, stored"));
    let states = states
        .and_then(number)
        .expect("pan tells how many states it stored");
    assert!(!text.contains("search depth too small"), "{text}");
    assert_ne!(
        text.contains("errors: 0"),
        text.contains("assertion violated"),
        "{text}"
    );
    (text.contains("assertion violated"), states)
}

#[test]
fn the_promela_model_holds_and_finds_its_faults() {
    let there = |program: &str| Command::new(program).arg("-V").output().is_ok();
    if !there("spin") || !there("cc") {
        assert!(
            std::env::var("CORECAST_REQUIRE_PEERS").as_deref() != Ok("1"),
            "spin or cc is missing, and CORECAST_REQUIRE_PEERS=1"
        );
        return println!("SKIPPED: the Promela model needs spin and a C compiler");
    }
    let (broken, states) = explore(0);
    println!("onepaxos.pml: {states} states");
    assert!(!broken);
    assert!(states > 400_000, "only {states} states");
    for fault in 1..=5 {
        assert!(explore(fault).0, "fault {fault} is not found");
    }
}
