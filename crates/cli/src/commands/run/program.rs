//! Starts an unmodified program with Corecast's adapters preloaded, so that OpenMP uses Corecast's barrier and MPI its
//! collectives.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail, ensure};
use corecast::debug::{Level, say};
use corecast::interception::{DISABLE, is_disabled};

use super::launcher::{Launcher, PRELOAD};
use super::{explain, pin};
use crate::failure;
use crate::options::Global;
use corecast_doctor::Program;

/// A library that is loaded before a program.
struct Adapter {
    file: &'static str,
    package: &'static str,
    /// The environment variable that names the library's path, if it is not where this command looks.
    place: &'static str,
}

const ADAPTERS: [Adapter; 2] = [
    Adapter {
        file: "libcorecast_openmp.so",
        package: "corecast-openmp",
        place: "CORECAST_OPENMP",
    },
    Adapter {
        file: "libcorecast_mpi.so",
        package: "corecast-mpi",
        place: "CORECAST_MPI",
    },
];

/// Starts the program. Without `explain` it takes the place of this command.
pub(super) fn run(
    global: &Global,
    program: &[OsString],
    pin: bool,
    explain: bool,
) -> Result<ExitCode> {
    let (name, arguments) = program.split_first().expect("clap requires one");
    let mut command = Command::new(name);
    if pin {
        pin::pin(&mut command)?;
    }
    let is_off = is_disabled();
    if is_off {
        say(Level::Info, || {
            format!("{DISABLE} is set, and nothing is loaded before the program")
        });
        command.args(arguments);
    } else {
        let libraries = preloaded()?;
        match Launcher::of(name) {
            Some(launcher) => launcher.pass_on(&mut command, &libraries, arguments),
            None => {
                command.env(PRELOAD, &libraries).args(arguments);
                say_what_cannot_be_reached(name);
            }
        }
    }
    if !explain {
        return Ok(not_started(name, &command.exec()));
    }
    ensure!(
        !is_off,
        "--explain: with {DISABLE} set nothing can be seen, unset it"
    );
    Ok(match explain::run(global, command)? {
        Ok(code) => code,
        Err(error) => not_started(name, &error),
    })
}

/// Warns that the program cannot be started, and returns the exit code that `env` and `nohup` use.
fn not_started(name: &OsStr, error: &std::io::Error) -> ExitCode {
    failure::warn(&format!("cannot start {:?}: {error}", name.display()));
    ExitCode::from(match error.kind() {
        ErrorKind::NotFound => 127,
        _ => 126,
    })
}

impl Adapter {
    /// The path of the library: the one named in the environment, beside this command, or installed.
    fn path(&self) -> Result<PathBuf> {
        let Self {
            file,
            package,
            place,
        } = self;
        if let Some(path) = env::var_os(place) {
            let path = PathBuf::from(path);
            ensure!(
                path.is_file(),
                "{place}={}: no such file: name {file}",
                path.display()
            );
            return Ok(path);
        }
        let command = env::current_exe().context("cannot find this command's own file")?;
        let beside = command.parent().unwrap_or(Path::new("."));
        // Cargo builds into deps/, and may leave an older copy beside the command: the newest is taken.
        let built = [beside.join("deps"), beside.to_owned()]
            .map(|folder| folder.join(file))
            .into_iter()
            .filter_map(|path| Some((path.metadata().ok()?.modified().ok()?, path)))
            .max();
        if let Some((_, path)) = built {
            return Ok(path);
        }
        let installed = ["../lib", "../lib/corecast"].map(|folder| beside.join(folder).join(file));
        match installed.into_iter().find(|path| path.is_file()) {
            Some(path) => Ok(path),
            None => bail!(
                "{file} is neither beside {} nor in ../lib: build it by cargo build --release -p {package}, and name \
                 it in {place}",
                command.display()
            ),
        }
    }
}

/// The value of `LD_PRELOAD`: the adapters' libraries, and those that the user has set.
fn preloaded() -> Result<OsString> {
    let mut list = OsString::new();
    for adapter in &ADAPTERS {
        let library = adapter.path()?;
        ensure!(
            !library.to_string_lossy().contains([' ', ':']),
            "{} has a space or colon in its path, where the loader ends a name: copy it elsewhere, and name it in {}",
            library.display(),
            adapter.place
        );
        if !list.is_empty() {
            list.push(":");
        }
        list.push(library);
    }
    if let Some(others) = env::var_os(PRELOAD).filter(|others| !others.is_empty()) {
        list.push(":");
        list.push(others);
    }
    Ok(list)
}

/// Says at `INFO` why the program's barriers may stay as they are, if its file shows that.
fn say_what_cannot_be_reached(name: &OsStr) {
    say(Level::Info, || match Program::look(name) {
        Ok(program) if program.r#static => format!(
            "OpenMP: {} is linked statically, and nothing can be loaded before it: its barriers stay as they are",
            program.binary
        ),
        Ok(program) if program.foreign => format!(
            "OpenMP: {} is for another architecture, and nothing is intercepted",
            program.binary
        ),
        Ok(program)
            if program
                .runtimes
                .iter()
                .any(|found| found.runtime.is_openmp()) =>
        {
            String::new()
        }
        Ok(program) if !program.dlopen && program.scripts.is_empty() => format!(
            "OpenMP: no runtime was found in {}; libraries that it opens are seen when it does",
            program.binary
        ),
        // For other problems the attempt to start the program gives a better message.
        _ => String::new(),
    });
}
