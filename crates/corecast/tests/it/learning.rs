//! `CORECAST_TUNE` and `Builder::learn`.

use corecast::{Builder, CORECAST_TUNE};
use std::process::Command;

/// Set in the process that a test starts of itself, to make a team there.
const CHILD: &str = "CORECAST_LEARNING_CHILD";

/// Makes teams that say whether they learn.
fn child() {
    let say = |what: &str, builder: Builder| match builder.build() {
        Ok(team) => {
            let learned = team.run(|member| {
                let mut data = [1_u64; 8];
                for _ in 0..200 {
                    member.allreduce(&mut data, u64::max).unwrap();
                }
                member.learned().len()
            });
            println!("\n{what}: {learned:?} {:?}", team.explain().algorithms);
        }
        Err(error) => println!("\n{what}: {error}"),
    };
    let folder = std::env::temp_dir().join("corecast-no-such-folder");
    let two = || Builder::new().threads(2).cache_folder(&folder);
    say("two", two());
    say("told", two().learn(true));
    say("told not to", two().learn(false));
    say("deterministic", two().deterministic(true));
}

#[test]
fn the_program_says_whether_teams_learn_and_else_the_environment() {
    if std::env::var_os(CHILD).is_some() {
        return child();
    }
    let said = |value: &str| {
        let test = "learning::the_program_says_whether_teams_learn_and_else_the_environment";
        let output = Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--nocapture"])
            .env(CHILD, "1")
            .env(CORECAST_TUNE, value)
            .output()
            .unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let sentence =
        |by| format!("[\"other lengths are raced in the first calls (asked for by {by})\"]");
    let (by_environment, by_program) = (sentence("CORECAST_TUNE=online"), sentence("the program"));
    for (value, two) in [
        ("online", format!("two: [1, 1] {by_environment}")),
        ("off", "two: [0, 0] []".to_owned()),
        ("", "two: [0, 0] []".to_owned()),
    ] {
        let text = said(value);
        let told = format!("told: [1, 1] {by_program}");
        for line in [
            &two[..],
            &told,
            "told not to: [0, 0] []",
            "deterministic: [0, 0] []",
        ] {
            assert!(
                text.lines().any(|one| one == line),
                "{value:?}: {line} in {text}"
            );
        }
    }
    let text = said("later");
    let error =
        "two: CORECAST_TUNE=\"later\": say online for teams that learn while they run, or off";
    assert!(text.contains(error), "{text}");
}
