//! `corecast run`: processes that are one team, and how they end.

mod common;

use common::corecast;
use std::process::Command;
use std::time::{Duration, Instant};

/// What every process of a team does when this test program is started by `corecast run`.
#[test]
fn member() {
    let Some(team) = corecast::Builder::new().inherited().unwrap() else {
        return;
    };
    let dies = std::env::var_os("CORECAST_TEST_DIES").is_some();
    let size = team.size();
    let ended = team.run(|member| {
        let sum = member
            .allreduce_value(member.rank() + 1, |a, b| a + b)
            .unwrap();
        if dies && member.rank() == 1 {
            std::process::exit(3);
        }
        let barrier = member.barrier();
        println!(
            "\nrank {} of {size}: {sum}, {}",
            member.rank(),
            barrier.is_ok()
        );
        barrier.is_ok() == dies
    });
    assert!(!ended[0]);
}

fn team(n: &str, dies: bool) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_corecast"));
    command.args(["run", "-n", n, "--"]);
    command.arg(std::env::current_exe().unwrap());
    command.args(["--exact", "member", "--nocapture", "--test-threads=1"]);
    if dies {
        command.env("CORECAST_TEST_DIES", "1");
    }
    command.output().unwrap()
}

#[test]
fn processes_are_one_team() {
    let output = team("3", false);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    for rank in 0..3 {
        assert!(
            said.contains(&format!("rank {rank} of 3: 6, true")),
            "{said}"
        );
    }
}

#[test]
fn the_first_failure_is_the_exit_code_and_the_others_hear_of_it() {
    let begin = Instant::now();
    let output = team("3", true);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    for rank in [0, 2] {
        assert!(
            said.contains(&format!("rank {rank} of 3: 6, false")),
            "{said}"
        );
    }
    assert!(begin.elapsed() < Duration::from_secs(60), "nobody was told");
}

#[test]
fn programs_get_their_place_and_their_arguments() {
    let script =
        "echo $CORECAST_TEAM_RANK/$CORECAST_TEAM_SIZE $0; test -e /proc/self/fd/$CORECAST_TEAM_FD";
    let mut lines: Vec<String> = corecast(&["run", "-n", "2", "--", "sh", "-c", script, "word"])
        .text()
        .lines()
        .map(str::to_owned)
        .collect();
    lines.sort();
    assert_eq!(lines, ["0/2 word", "1/2 word"]);
    let killed = corecast(&["run", "-n", "1", "--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(killed.output.status.code(), Some(128 + 9));
}

#[test]
fn what_cannot_be_started_is_told() {
    let said = corecast(&["run", "-n", "2", "--", "/no/such/program"]).refusal();
    assert!(said.contains("/no/such/program"), "{said}");
    let said = corecast(&["run", "-n", "0", "--", "true"]).refusal();
    assert!(said.contains("-n 0"), "{said}");
    corecast(&["run"]).refusal();
}
