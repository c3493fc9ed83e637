//! The `corecast` command: shows and measures machines, plans, simulates and tunes collectives, and races them.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`options`] | the options of every command |
//! | [`commands`] | a folder or a file per command: arguments, the call, text and JSON |
//! | [`source`] | finds the machine: a file, a built-in or synthetic one, or this one |
//! | [`models`] | what the models of this machine say that an algorithm takes |
//! | [`call_report`] | the call that `sim` and `graph` are about, as JSON |
//! | [`team`] | the hardware threads that take part |
//! | [`planning`] | makes plans from names of patterns |
//! | [`sizes`], [`duration`] | parse lists of bytes and times |
//! | [`interrupt`], [`progress`] | Ctrl-C and the progress bar |
//! | [`output`], [`failure`] | the only modules that write, and the exit codes |
//!
//! **Architecture invariant:** a command parses, calls and prints. Code that computes, draws or checks is in the
//! crates below: `corecast_plan`, `corecast_tune`, `corecast_bench`, `corecast_draw`, `corecast_doctor`.
#![forbid(unsafe_code)]

mod call_report;
mod commands;
mod duration;
mod failure;
mod interrupt;
mod models;
mod options;
mod output;
mod planning;
mod progress;
mod sizes;
mod source;
mod team;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use options::Global;

/// Fast communication between the cores of one machine: measured, planned, explained.
///
/// Without a command: measures this machine, plans, races the best plans, and keeps what it found.
#[derive(Debug, Parser)]
#[command(name = "corecast", version)]
#[command(after_help = "\
Exit codes: 0 success, 1 a check failed, 2 unusable input; 128 and the number of the signal if one came before there was \
a result.

The first Ctrl-C or SIGTERM ends a measurement, a race or a search with what it has so far, the second one at once.")]
struct Cli {
    #[command(flatten)]
    global: Global,
    /// Without a command: a few seconds instead of half a minute, with wide intervals
    #[arg(long)]
    quick: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show the machine: packages, NUMA nodes, shared caches, cores, hardware threads
    Topo(commands::topo::TopoArgs),
    /// Measure what messages cost between this machine's hardware threads
    Probe(commands::probe::ProbeArgs),
    /// Plan an operation: a tree or rounds with its cost, lower bound and gap
    Plan(commands::plan::PlanArgs),
    /// Say which plan, or at one size which algorithm, would run, and why
    Explain(commands::explain::ExplainArgs),
    /// Draw what the ranks of a collective do to lines, with the critical path and the bounds of its time
    Graph(commands::graph::GraphArgs),
    /// Predict a collective: run it on a simulated machine
    Sim(commands::sim::SimArgs),
    /// Race Corecast's operations against others' on this machine
    Bench(commands::bench::BenchArgs),
    /// Race algorithms, plans and waits for each operation and size, and keep the winners
    Tune(commands::tune::TuneArgs),
    /// Race everything on this machine and make a static page of it, with pictures
    Report(commands::report::ReportArgs),
    /// Run a program as it is with Corecast's barrier in it; or, with -n, as one team of processes
    Run(commands::run::RunArgs),
    /// Serve a key-value store to clients of Redis
    Serve(commands::serve::ServeArgs),
    /// Check this machine, and a program, and say in plain words what to mend
    Doctor(commands::doctor::DoctorArgs),
    /// Write the manual pages of all commands, and what bash, zsh and fish need to complete them
    InstallDocs(commands::install_docs::InstallDocsArgs),
    /// The process that tries to read the memory of `doctor`
    #[command(hide = true)]
    DoctorReader(commands::doctor::ReaderArgs),
    /// One process of a team that `bench` races
    #[command(hide = true)]
    SessionRank(commands::bench::RankArgs),
    /// One replica of `serve --processes`
    #[command(hide = true)]
    ServeReplica,
}

fn main() -> ExitCode {
    let parsed = command().try_get_matches();
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return failure::report_usage(&error),
    };
    match run(&cli) {
        Ok(code) => code,
        // What has failed may be for lack of time.
        Err(error) if interrupt::happened() => {
            let code = failure::report(&error.context("interrupted before there was a result"));
            interrupt::code().unwrap_or(code)
        }
        Err(error) => failure::report(&error),
    }
}

/// The command line, in which every option takes a negative number, so that its own check can refuse and name it.
fn command() -> clap::Command {
    fn with_negatives(command: clap::Command) -> clap::Command {
        let takes_one = |arg: &clap::Arg| {
            let least = arg.get_num_args().map_or(1, |range| range.min_values());
            arg.get_action().takes_values() && !arg.is_positional() && least > 0
        };
        command
            .mut_args(|arg| match takes_one(&arg) {
                true => arg.allow_negative_numbers(true),
                false => arg,
            })
            .mut_subcommands(with_negatives)
    }
    with_negatives(Cli::command())
}

/// Runs the command.
fn run(cli: &Cli) -> anyhow::Result<ExitCode> {
    if let None
    | Some(Command::Explain(_) | Command::Bench(_) | Command::Tune(_) | Command::Report(_)) =
        &cli.command
    {
        // Teams read it, and what they would refuse must not be explained or raced as if it were not there.
        corecast::rules::environment()?;
    }
    if let None
    | Some(
        Command::Probe(_)
        | Command::Bench(_)
        | Command::Tune(_)
        | Command::Report(_)
        | Command::Serve(_)
        | Command::ServeReplica,
    ) = &cli.command
    {
        interrupt::listen();
    }
    match &cli.command {
        None => commands::all::run(&cli.global, cli.quick),
        Some(_) if cli.quick => Err(anyhow::anyhow!(
            "--quick before a command: only the whole job knows it there, and bench behind its name"
        )),
        Some(Command::Topo(args)) => commands::topo::run(&cli.global, args),
        Some(Command::Probe(args)) => commands::probe::run(&cli.global, args),
        Some(Command::Plan(args)) => commands::plan::run(&cli.global, args),
        Some(Command::Explain(args)) => commands::explain::run(&cli.global, args),
        Some(Command::Graph(args)) => commands::graph::run(&cli.global, args),
        Some(Command::Sim(args)) => commands::sim::run(&cli.global, args),
        Some(Command::Bench(args)) => commands::bench::run(&cli.global, args),
        Some(Command::Tune(args)) => commands::tune::run(&cli.global, args),
        Some(Command::Report(args)) => commands::report::run(&cli.global, args),
        Some(Command::Run(args)) => commands::run::run(&cli.global, args),
        Some(Command::Serve(args)) => commands::serve::run(&cli.global, args),
        Some(Command::Doctor(args)) => commands::doctor::run(&cli.global, args),
        Some(Command::InstallDocs(args)) => {
            commands::install_docs::run(&cli.global, args, command())
        }
        Some(Command::DoctorReader(args)) => commands::doctor::reader(args),
        Some(Command::SessionRank(args)) => commands::bench::rank(&cli.global, args),
        Some(Command::ServeReplica) => commands::serve::replica(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_consistent() {
        super::command().debug_assert();
    }
}
