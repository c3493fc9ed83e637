//! `corecast run`: runs an unmodified OpenMP or MPI program over Corecast, or processes that are one team.
//!
//! | file | what |
//! | --- | --- |
//! | `program.rs` | starts a program with the adapters loaded before it |
//! | `launcher.rs` | has `mpirun` and its like load them before what they start |
//! | `pin.rs` | `--pin`: binds the program's threads |
//! | `explain.rs` | `--explain`: runs the program as a child, then shows its waits |
//! | `waits.rs`, `locations.rs` | read the waits that programs recorded, and name lines and functions |
//! | `processes.rs` | `-n`: starts the processes of a team |
//! | `children.rs` | passes signals to child processes, and their exit codes back |

mod children;
mod explain;
mod launcher;
mod locations;
mod pin;
mod processes;
mod program;
mod waits;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::options::Global;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without -n the program runs once, in the place of this command, and its OpenMP runtime's barriers are Corecast's: \
see docs/openmp.md. Of `mpirun` and its like what they start is served, and its MPI library's collectives are \
Corecast's: see docs/mpi.md. CORECAST_DEBUG=INFO says what was intercepted, CORECAST_DISABLE=1 leaves everything as it was.

With -n it runs as a team of processes, of which it becomes a part by `corecast::Builder::inherited`, which finds \
its rank, the size and the team's memory in the environment (CORECAST_TEAM_RANK, _SIZE, _FD).

Exit codes: the program's; 128 and the number of its signal if it was killed; 127 if it is not found, 126 if it \
cannot be started. Of a team that of the first process that fails: the others hear of it at once, and who has not \
ended 10 s later is stopped, unless --keep-going says otherwise.")]
pub(crate) struct RunArgs {
    /// That many processes, one rank each
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "pin")]
    ranks: Option<usize>,

    /// The PU of each rank, for which the team is planned: the processes that `bench` races pin themselves
    #[arg(long, value_name = "LIST", requires = "ranks", hide = true)]
    cores: Option<String>,

    /// Let the other processes run when one fails: for programs whose teams go on without lost ranks
    #[arg(long, requires = "ranks")]
    keep_going: bool,

    /// Bind the threads to PUs in the order that the plans have; OMP_PLACES and OMP_PROC_BIND go before
    #[arg(long)]
    pin: bool,

    /// Say at the end how long threads and ranks waited, and where: for others, and for the operation itself
    #[arg(long)]
    explain: bool,

    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

pub(crate) fn run(global: &Global, args: &RunArgs) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        global.machine.is_none(),
        "run starts programs on this machine: leave out -i"
    );
    anyhow::ensure!(
        !global.json || args.explain,
        "run prints nothing itself: leave out --json, or ask for --explain"
    );
    match args.ranks {
        Some(size) => {
            let choices = processes::Choices {
                explain: args.explain,
                keep_going: args.keep_going,
                cores: args.cores.as_deref(),
            };
            processes::run(global, size, &args.program, choices)
        }
        None => program::run(global, &args.program, args.pin, args.explain),
    }
}
