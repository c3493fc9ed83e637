//! The sources of a team's waits: measurements, the environment, and the program.

use std::process::Command;

use corecast::model::{Deep, MachineFile, deep};
use corecast::store::Store;
use corecast::{Builder, WAIT, WaitConfig, WaitCosts, Waiting};

/// This machine with the literature's costs, and with these times for a yield and a wake-up.
fn measured(yield_ns: f64, wake_ns: f64) -> MachineFile {
    let quantity = |name: &str, value: f64| {
        format!(
            r#"{{"name":"{name}","unit":"ns","figure":{{"value":{value},"half_width":1.0,"samples":9}}}}"#
        )
    };
    let text = format!(
        r#"{{"schema":1,"when":"2026-11-23T00:00:00Z","tool":"a test","seconds":1.0,
            "clock":{{"counter":"clock","steady":true,"ticks_per_ns":1.0,"drift":0.0,"steal":0.0,"huge_pages":false}},
            "quantities":[{},{}]}}"#,
        quantity(deep::YIELD, yield_ns),
        quantity(deep::WAKE, wake_ns)
    );
    let section: Deep = serde_json::from_str(&text).unwrap();
    let machine = corecast::machine::discover().machine;
    let file = corecast::costs::built_in(&machine);
    file.with_deep(section).unwrap()
}

#[test]
fn teams_wait_by_what_waiting_was_measured_to_cost() {
    let folder = tempfile::tempdir().unwrap();
    let builder = || Builder::new().cache_folder(folder.path());
    let waits = |ranks: usize| {
        let team = builder().threads(ranks).build().unwrap();
        team.run(|member| member.barrier().unwrap());
        team.explain().waits
    };
    assert!(waits(1).reason.contains("not measured"));
    let (yield_ns, wake_ns) = (700.0, 11_000.0);
    let file = measured(yield_ns, wake_ns);
    Store::at(folder.path()).save_machine(&file).unwrap();
    let found = corecast::costs::of_waits(&file).unwrap();
    let own = WaitCosts {
        yield_ns,
        wake_ns,
        hardware_ns: None,
    };
    assert_eq!(found, own);

    let alone = waits(1);
    assert_eq!(alone.policy, "balanced");
    assert_eq!((alone.spin_ns, alone.yield_ns), (5_600, 88_000));
    assert!(
        alone.reason.contains("0.7 µs, a wake-up 11.0 µs"),
        "{}",
        alone.reason
    );
    // One rank more than can run at a time: ranks take turns and do not spin.
    let usable = corecast::machine::discover().unthrottled_parallelism();
    let crowd = waits(usable + 1);
    assert_eq!(crowd.policy, "crowded");
    assert_eq!((crowd.spin_ns, crowd.yield_ns), (0, 176_000));

    // The program's setting overrides all others.
    let team = builder()
        .threads(1)
        .wait(Waiting::Budget(9_000))
        .build()
        .unwrap();
    let waits = team.explain().waits;
    assert_eq!(
        (waits.policy, waits.spin_ns, waits.yield_ns),
        ("budget", 5_600, 3_400)
    );
    let team = builder()
        .threads(1)
        .wait_config(WaitConfig::SPIN)
        .build()
        .unwrap();
    assert_eq!(team.explain().waits.as_wait_config(), WaitConfig::SPIN);
    // Given costs may be of another machine, so waits are not taken from them.
    let given = builder()
        .threads(1)
        .machine(measured(1e3, 1e3))
        .build()
        .unwrap();
    assert!(given.explain().waits.reason.contains("not measured"));
}

/// The variable that is set for the child below, which runs this test program.
const CHILD: &str = "CORECAST_TEST_CHILD";

#[test]
fn the_environment_says_how_to_wait() {
    if std::env::var_os(CHILD).is_some() {
        let builder = || {
            Builder::new()
                .cache_folder("/nonexistent/corecast-tests")
                .threads(2)
        };
        match builder().build() {
            Ok(team) => println!("\nwaits: {}", team.explain().waits),
            Err(error) => println!("\nerror: {error}"),
        }
        let own = builder().wait(Waiting::Park).build().unwrap();
        println!("own: {}", own.explain().waits);
        return;
    }
    let said = |preferences: &str| {
        let output = Command::new(std::env::current_exe().unwrap())
            .args([
                "waits::the_environment_says_how_to_wait",
                "--exact",
                "--nocapture",
            ])
            .env(CHILD, "1")
            .env(WAIT, preferences)
            .output()
            .unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let line = |text: &str, start: &str| {
        let found = text.lines().find(|line| line.starts_with(start));
        found
            .unwrap_or_else(|| panic!("no {start} in {text}"))
            .to_owned()
    };
    assert!(line(&said("spin"), "waits:").starts_with("waits: spin (CORECAST_WAIT=spin)"));
    let budget = said("50us");
    assert!(line(&budget, "waits:").starts_with("waits: budget (CORECAST_WAIT=50000ns)"));
    assert_eq!(line(&budget, "own:"), "own: park (asked for): sleep");
    assert!(line(&said(""), "waits:").contains("on"));
    let error = line(&said("sometimes"), "error:");
    assert!(
        error.contains("CORECAST_WAIT") && error.contains("\"sometimes\""),
        "{error}"
    );
    assert!(error.contains("20us"), "{error}");
}
