//! Programs that start later take what an earlier one has kept of the kernel's files, as long as the machine runs.

use corecast::Builder;
use corecast::model::Profile;
use corecast::model::profile::machine_key;
use corecast::store::Store;
use std::path::Path;
use std::process::Command;

const FOLDER: &str = "CORECAST_TEST_KERNEL_TEXTS";

/// What [`the_next_program`] runs again in a process of its own.
#[test]
fn a_program_with_a_team_says_what_it_knows_of_the_processor() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let team = Builder::new().threads(1).cache_folder(folder).build();
    drop(team.unwrap());
    let found = corecast::machine::discover();
    println!(
        "processor: {:?} in {:?}",
        found.machine.cpu, found.machine.name
    );
}

fn the_next_program(folder: &Path) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "kernel_texts::a_program_with_a_team_says_what_it_knows_of_the_processor",
            "--nocapture",
        ])
        .env(FOLDER, folder)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let line = text
        .lines()
        .find_map(|line| line.split("processor: ").nth(1));
    line.unwrap_or_else(|| panic!("{text}")).to_owned()
}

#[test]
fn later_programs_take_what_was_kept_until_the_next_boot() {
    let folder = tempfile::tempdir().unwrap();
    let here = corecast::machine::discover();
    let fresh = format!("{:?} in {:?}", here.machine.cpu, here.machine.name);
    assert_eq!(the_next_program(folder.path()), fresh);

    let profile = Profile::new(machine_key(&here.machine), "2026-11-28".into());
    Store::at(folder.path())
        .save_profile(&here.machine, &profile)
        .unwrap();
    let is_kept = |name: &str| name.starts_with("kernel-") && name.ends_with(".json");
    let entries = std::fs::read_dir(folder.path()).unwrap();
    let mut kept = entries.map(|entry| entry.unwrap().path());
    let kept = kept
        .find(|path| is_kept(path.file_name().unwrap().to_str().unwrap()))
        .unwrap();
    assert_eq!(the_next_program(folder.path()), fresh);

    // What it says shows whether it was taken; the host's name is none of what stays.
    let mut texts: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&kept).unwrap()).unwrap();
    let kept_cpus = texts["texts"]["/proc/cpuinfo"].take();
    assert!(kept_cpus.is_string(), "{kept_cpus}");
    texts["texts"]["/proc/cpuinfo"] = "processor : 0\nmodel name : A Kept Processor".into();
    std::fs::write(&kept, texts.to_string()).unwrap();
    let taken = format!("{:?} in {:?}", Some("A Kept Processor"), here.machine.name);
    assert_eq!(the_next_program(folder.path()), taken);

    texts["online"] = "0-4095".into();
    std::fs::write(&kept, texts.to_string()).unwrap();
    assert_eq!(the_next_program(folder.path()), fresh);
    texts["online"] = here.online.to_string().into();
    texts["boot"] = "another".into();
    std::fs::write(&kept, texts.to_string()).unwrap();
    assert_eq!(the_next_program(folder.path()), fresh);
    std::fs::write(&kept, "{").unwrap();
    assert_eq!(the_next_program(folder.path()), fresh);
}
