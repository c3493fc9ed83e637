//! `--pin`: tells the program's OpenMP runtime to bind its threads to the PUs of the team that Corecast would make.

use std::env;
use std::process::Command;

use anyhow::{Result, ensure};
use corecast::debug::{Level, say};

/// Environment variables that bind threads, and that take precedence over `--pin`.
const BINDING: [&str; 4] = [
    "OMP_PLACES",
    "OMP_PROC_BIND",
    "GOMP_CPU_AFFINITY",
    "KMP_AFFINITY",
];

/// Sets the program's OpenMP places, unless the user has set them.
pub(super) fn pin(command: &mut Command) -> Result<()> {
    if let Some(name) = BINDING
        .iter()
        .find(|name| env::var_os(name).is_some_and(|text| !text.is_empty()))
    {
        say(Level::Warn, || {
            format!("--pin: {name} is set, and stays as it is")
        });
        return Ok(());
    }
    let usable = corecast_machine::discover().usable.len();
    let preferences = env::var("OMP_NUM_THREADS").unwrap_or_default();
    // The variable may list a number for each level of nesting.
    let outer = preferences.split(',').next().unwrap_or_default().trim();
    let threads = outer.parse().unwrap_or(usable);
    ensure!(
        threads <= usable,
        "--pin: OMP_NUM_THREADS={threads} is more than the {usable} usable PUs, where threads are better left to the \
         kernel: leave out --pin"
    );
    let team = corecast::Builder::new()
        .threads(threads)
        .pin(true)
        .build()?;
    let places: Vec<String> = team
        .explain()
        .ranks
        .iter()
        .map(|rank| format!("{{{}}}", rank.pu))
        .collect();
    command.env("OMP_PLACES", places.join(","));
    command.env("OMP_PROC_BIND", "close");
    Ok(())
}
