//! Races Corecast's collectives against those of the MPI libraries on this machine, and prints the ratios of their times: the
//! figures of `docs/mpi.md` again.
//!
//! ```text
//! cargo build --release -p corecast-mpi
//! cargo run --release -p corecast-mpi --example mpi_figures -- [--ranks 2,4,8] [--libraries openmpi,mpich] [--bytes 2097152]
//!     [--from 8] [--operations all] [--pairs 9] [--batch 2000]
//! ```
//!
//! `race.c` is compiled by `mpicc.openmpi` and `mpicc.mpich`. In one run, batches of calls by the usual names alternate with
//! batches of the library's own functions. Ranks are bound to cores where there is one for each.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "usage: mpi_figures [--ranks N,N,...] [--libraries NAME,...] [--bytes N] [--from N] \
                     [--operations NAME,...] [--pairs N] [--batch MICROSECONDS]";

#[derive(Debug)]
struct Arguments {
    ranks: Vec<usize>,
    libraries: Vec<String>,
    bytes: String,
    from: String,
    operations: String,
    pairs: String,
    batch: String,
}

impl Arguments {
    fn parse(given: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut parsed = Self {
            ranks: vec![2, 4, 8],
            libraries: vec!["openmpi".to_owned(), "mpich".to_owned()],
            bytes: "2097152".to_owned(),
            from: "8".to_owned(),
            operations: "all".to_owned(),
            pairs: "9".to_owned(),
            batch: "2000".to_owned(),
        };
        let mut given = given.into_iter();
        while let Some(name) = given.next() {
            let value = given
                .next()
                .ok_or_else(|| format!("{name:?} needs a value; {USAGE}"))?;
            match name.as_str() {
                "--ranks" => {
                    let numbers: Result<_, _> = value.split(',').map(str::parse).collect();
                    parsed.ranks = numbers
                        .map_err(|_| format!("--ranks takes numbers, not {value:?}; {USAGE}"))?;
                }
                "--libraries" => parsed.libraries = value.split(',').map(String::from).collect(),
                "--bytes" => parsed.bytes = value,
                "--from" => parsed.from = value,
                "--operations" => parsed.operations = value,
                "--pairs" => parsed.pairs = value,
                "--batch" => parsed.batch = value,
                _ => return Err(format!("{name:?} is not an option; {USAGE}")),
            }
        }
        Ok(parsed)
    }
}

fn main() -> ExitCode {
    let asked = Arguments::parse(std::env::args().skip(1));
    match asked.map_err(Into::into).and_then(|asked| run(&asked)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mpi_figures: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(asked: &Arguments) -> Result<(), Box<dyn Error>> {
    let adapter = adapter()?;
    let folder = tempfile::tempdir()?;
    let cores = std::thread::available_parallelism()?.get();
    println!("| library | ranks | operation | bytes | Corecast | library | ratio | from | to |");
    println!("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for library in &asked.libraries {
        let program = compile(library, folder.path())?;
        for &ranks in &asked.ranks {
            let output = launch(library, ranks, ranks <= cores, &adapter)
                .arg(&program)
                .args([
                    &asked.pairs,
                    &asked.batch,
                    &asked.bytes,
                    &asked.operations,
                    &asked.from,
                ])
                .output()?;
            let text = String::from_utf8(output.stdout)?;
            if !output.status.success() {
                let errors = String::from_utf8_lossy(&output.stderr);
                return Err(
                    format!("{library}, {ranks} ranks: {}: {errors}", output.status).into(),
                );
            }
            for line in text.lines() {
                println!("| {library} | {ranks} | {} |", line.replace(' ', " | "));
            }
        }
    }
    Ok(())
}

/// The library beside this program.
fn adapter() -> Result<PathBuf, Box<dyn Error>> {
    let own = std::env::current_exe()?;
    let folder = own
        .parent()
        .and_then(Path::parent)
        .ok_or("this program lies nowhere")?;
    let library = folder.join("libcorecast_mpi.so");
    match library.is_file() {
        true => Ok(library),
        false => Err(format!(
            "{} is missing: cargo build --release -p corecast-mpi",
            library.display()
        )
        .into()),
    }
}

fn compile(library: &str, folder: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/mpi_figures/race.c");
    let program = folder.join(format!("race.{library}"));
    let compiler = format!("mpicc.{library}");
    let status = Command::new(&compiler)
        .args(["-O2", "-o"])
        .arg(&program)
        .arg(source)
        .arg("-ldl")
        .status()
        .map_err(|error| format!("{compiler}: {error}"))?;
    match status.success() {
        true => Ok(program),
        false => Err(format!("{compiler}: {status}").into()),
    }
}

/// The launcher of a library, told to load the adapter before the program, and to bind ranks to cores.
fn launch(library: &str, ranks: usize, bound: bool, adapter: &Path) -> Command {
    let mut command = Command::new(format!("mpirun.{library}"));
    command.args(["-n", &ranks.to_string()]);
    match library {
        "openmpi" => {
            command.args(["--bind-to", if bound { "core" } else { "none" }]);
            command
                .arg("-x")
                .arg(format!("LD_PRELOAD={}", adapter.display()));
            // Open MPI's own conditions for root, and for more processes than cores.
            command.env("OMPI_ALLOW_RUN_AS_ROOT", "1");
            command.env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
            command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
            command.env(
                "OMPI_MCA_mpi_yield_when_idle",
                if bound { "0" } else { "1" },
            );
        }
        _ => {
            command.args(["-bind-to", if bound { "core" } else { "none" }]);
            command.arg("-genv").arg("LD_PRELOAD").arg(adapter);
        }
    }
    command
}
