//! `corecast doctor`: says what slows Corecast down on this machine, and how to mend it.
//!
//! The checks are in [`corecast_doctor`]; this file runs and prints them.

use std::ffi::OsString;
use std::fmt::Write;
use std::process::{Command, ExitCode};

use anyhow::{Result, ensure};
use clap::Args;
use owo_colors::OwoColorize;
use serde::Serialize;

use corecast_doctor::{Facts, Finding, Level, Program, examine, read_peer};
use corecast_draw::Screen;
use corecast_model::words::count;

use crate::options::Global;
use crate::{failure, output};

/// Arguments of `corecast doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 also with notes and warnings, 1 if something that Corecast offers cannot be had here.")]
pub(crate) struct DoctorArgs {
    /// A program to look at as well, by its path or its name in PATH: which libraries it needs, which OpenMP and MPI
    /// runtimes it holds. It is not run
    #[arg(value_name = "PROGRAM")]
    program: Option<OsString>,
}

/// Arguments of the process that tries to read its parent's memory.
#[derive(Debug, Args)]
pub(crate) struct ReaderArgs {
    pid: u32,
    address: u64,
    word: u64,
}

/// The output of `--json`.
#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    /// The worst level.
    level: Level,
    checks: &'a [Finding],
    facts: &'a Facts,
}

/// Runs the command.
pub(crate) fn run(global: &Global, args: &DoctorArgs) -> Result<ExitCode> {
    if let Some(machine) = &global.machine {
        ensure!(
            machine.is_empty(),
            "doctor looks at the machine that it runs on: leave out --machine {machine:?}"
        );
    }
    let program = args.program.as_deref().map(Program::look).transpose()?;
    let mut reader = Command::new(std::env::current_exe().unwrap_or_else(|_| "corecast".into()));
    reader.arg("doctor-reader");
    let facts = Facts::gather(program, reader);
    let checks = examine(&facts);
    let worst = checks.iter().map(|c| c.level).max().unwrap_or(Level::Ok);
    if global.json {
        output::json(&Report {
            schema: 1,
            level: worst,
            checks: &checks,
            facts: &facts,
        })?;
    } else {
        output::print(&text(&checks, output::screen()))?;
    }
    Ok(failure::checked(worst < Level::Failure))
}

/// Runs the process that tries to read its parent's memory.
pub(crate) fn reader(args: &ReaderArgs) -> Result<ExitCode> {
    let outcome = read_peer(args.pid, args.address, args.word);
    if let Err(reason) = &outcome {
        output::print(reason)?;
    }
    Ok(failure::checked(outcome.is_ok()))
}

/// A line for each check with its fix below, and a line with the counts.
fn text(checks: &[Finding], screen: Screen) -> String {
    let width = checks.iter().map(|c| c.check.len()).max().unwrap_or(0);
    let mut out = String::new();
    // Names of files may hold control characters, which could recolour a terminal.
    let tame = |text: &str| text.replace(char::is_control, "\u{fffd}");
    for check in checks {
        let level = format!("{:<8}", check.level.name());
        let style = match check.level {
            Level::Ok => screen.dim(),
            _ => screen.bold(),
        };
        let _ = writeln!(
            out,
            "{}{:<width$}  {}",
            level.style(style),
            check.check,
            tame(&check.found)
        );
        if let Some(fix) = &check.fix {
            let _ = writeln!(out, "{:8}{:width$}  fix: {fix}", "", "");
        }
    }
    let of = |level: Level| checks.iter().filter(|c| c.level == level).count();
    let _ = writeln!(
        out,
        "{}: {} ok, {}, {}, {}",
        count(checks.len(), "check"),
        of(Level::Ok),
        count(of(Level::Note), "note"),
        count(of(Level::Warning), "warning"),
        count(of(Level::Failure), "failure")
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_stands_below_its_check() {
        let mut facts = Facts::sound();
        facts.limits.quota_cpus = Some(2.0);
        let text = text(&examine(&facts), Screen::PLAIN);
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[0].starts_with("warning quota          2 CPUs of time"),
            "{text}"
        );
        assert!(
            lines[1].starts_with("                       fix: make teams of at most 2 ranks"),
            "{text}"
        );
        assert_eq!(
            lines[lines.len() - 1],
            "16 checks: 15 ok, 0 notes, 1 warning, 0 failures"
        );
    }
}
