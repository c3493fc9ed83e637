//! The sources of a team's waits: measurements, the environment, and the program.

use std::collections::BTreeMap;
use std::process::Command;

use corecast::model::{Deep, MachineFile, Matrix, Messages, deep};
use corecast::store::Store;
use corecast::{Builder, WAIT, WaitConfig, WaitCosts, Waiting};
use corecast_wire::hardware_wait::{self, HardwareWait};

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

/// [`measured`], and these times for waits in the CPU.
fn measured_in_cpu(shortest: f64, seen: f64, polled: f64) -> MachineFile {
    let file = measured(700.0, 11_000.0);
    let mut section = file.deep().unwrap().clone();
    for (name, value) in [
        (deep::SHORTEST_HARDWARE_WAIT, shortest),
        (deep::HARDWARE_SEEN, seen),
        (deep::POLLED, polled),
    ] {
        let mut quantity = section.quantities[0].clone();
        quantity.name = name.to_owned();
        quantity.figure.value = value;
        section.quantities.push(quantity);
    }
    let file = file.with_deep(section).unwrap();
    // As it is stored and read again.
    MachineFile::from_json(&file.to_json()).unwrap()
}

#[test]
fn a_turn_of_the_scheduler_counts_where_ranks_share_hardware_threads() {
    let file = measured(700.0, 11_000.0);
    let n = file.threads().len();
    let all = |time: f64| Matrix::from_fn(n, |i, j| if i == j { 0.0 } else { time });
    let messages = Messages {
        long_bytes: 4096,
        one: all(200.0),
        long: all(1200.0),
        alone: all(100.0),
        taken: all(600.0),
        crossed: all(250.0),
        calls: BTreeMap::new(),
        combine: 0.0,
        copy: 0.0,
    };
    let file = file.with_messages(messages).unwrap();
    // A message of one line takes 200 ns and a byte 1000 / 4096; a turn 700 ns.
    let apart = (n > 1).then_some(819);
    let shared = (n > 1).then_some(3686);
    assert_eq!(corecast::costs::half_bytes(&file), apart);
    assert_eq!(corecast::costs::shared_half_bytes(&file), shared);

    let folder = tempfile::tempdir().unwrap();
    Store::at(folder.path()).save_machine(&file).unwrap();
    let usable = corecast::machine::discover().usable.len();
    let builder = Builder::new().cache_folder(folder.path());
    let team = builder.threads(2 * usable).build().unwrap();
    let said = team.explain().to_string();
    assert!(said.contains("has its turn, 1400 ns"), "{said}");
}

#[test]
fn waits_in_the_cpu_are_a_phase_where_they_were_measured_and_the_cpu_has_them() {
    let late = |file: &MachineFile| corecast::costs::of_waits(file).unwrap().hardware_ns;
    assert_eq!(late(&measured(700.0, 11_000.0)), None);
    let file = measured_in_cpu(90.0, 400.0, 250.0);
    assert_eq!(late(&file), Some(150.0));
    assert_eq!(late(&measured_in_cpu(90.0, 200.0, 250.0)), Some(90.0));

    let folder = tempfile::tempdir().unwrap();
    Store::at(folder.path()).save_machine(&file).unwrap();
    let builder = || Builder::new().cache_folder(folder.path()).threads(1);
    let team = builder().build().unwrap();
    let waits = team.explain().waits;
    let said = team.explain().to_string();
    let json = serde_json::to_value(team.explain()).unwrap();
    assert_eq!(waits.spin_ns + waits.hardware_ns, 5_600);
    match HardwareWait::here() {
        Some(found) => {
            let name = found.instruction().name();
            assert_eq!((waits.spin_ns, waits.hardware_ns), (1_200, 4_400));
            assert!(waits.reason.contains("in the CPU to be 0.15 µs late"));
            assert!(waits.to_string().contains(&format!("wait by {name} 5 µs")));
            assert!(said.contains(&format!("came to {name} so far")), "{said}");
            assert_eq!(json["waits"]["hardware"], name);
        }
        None => {
            assert_eq!(waits.hardware_ns, 0);
            assert!(!waits.reason.contains("in the CPU"), "{}", waits.reason);
            assert!(said.contains(hardware_wait::MISSING), "{said}");
            assert!(json["waits"]["hardware"].is_null());
        }
    }
    assert!(json["waits"]["hardware_waits"].is_u64());
    // A CPU without the instruction polls for as long as it was asked to wait.
    let asked = WaitConfig {
        hardware_ns: 2_000,
        ..WaitConfig::BALANCED
    };
    let team = builder().wait_config(asked).build().unwrap();
    team.run(|member| member.barrier().unwrap());
    assert_eq!(team.explain().waits.as_wait_config(), asked);
    let said = team.explain().waits.to_string();
    assert!(
        said.contains("spin 3 µs, ") && said.contains(" 2 µs, yield 100 µs"),
        "{said}"
    );
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
