//! Programs that start others on their own terms: those of MPI. Nothing is loaded before them, but they are asked to load it
//! before what they start.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::failure;

/// The environment variable by which the loader loads libraries before a program's own.
pub(super) const PRELOAD: &str = "LD_PRELOAD";

/// How a launcher is told what the programs that it starts find in their environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Launcher {
    /// `-x NAME=VALUE`, and `-x NAME` for what this process has. So it is for Open MPI.
    Export,
    /// `-genv NAME VALUE`, and all else is passed on. So it is for MPICH's hydra and its descendants.
    Given,
    /// A batch system's own, which the user has to tell.
    Unknown,
}

/// Names of launchers, without what distributions append.
const NAMES: [&str; 6] = ["mpirun", "mpiexec", "orterun", "prterun", "srun", "aprun"];

impl Launcher {
    /// The kind of launcher that a program is; `None` if it is none.
    pub(super) fn of(program: &OsStr) -> Option<Self> {
        let name = Path::new(program).file_name()?.to_str()?;
        let begin = name.split(['.', '-']).next()?;
        if !NAMES.contains(&begin) {
            return None;
        }
        let version = Command::new(program)
            .arg("--version")
            .stdin(Stdio::null())
            .output();
        let text = version.map(|output| {
            let both = [output.stdout, output.stderr].concat();
            String::from_utf8_lossy(&both).into_owned()
        });
        // One that cannot be started is told apart where it is started.
        Some(Self::of_version(&text.unwrap_or_default()))
    }

    fn of_version(text: &str) -> Self {
        let text = text.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if has(&["open mpi", "openrte", "prrte", "open-mpi"]) {
            Self::Export
        } else if has(&["hydra", "mpich", "intel(r) mpi", "mvapich"]) {
            Self::Given
        } else {
            Self::Unknown
        }
    }

    /// Has the launcher load `libraries` before what it starts.
    pub(super) fn pass_on(self, command: &mut Command, libraries: &OsStr) {
        match self {
            Self::Export => {
                let mut value = OsString::from(PRELOAD);
                value.push("=");
                value.push(libraries);
                command.arg("-x").arg(value);
                let own = |name: &OsString| name.to_string_lossy().starts_with("CORECAST_");
                for name in env::vars_os().map(|(name, _)| name).filter(own) {
                    command.arg("-x").arg(name);
                }
            }
            Self::Given => {
                command.arg("-genv").arg(PRELOAD).arg(libraries);
            }
            Self::Unknown => failure::warn(&format!(
                "cannot tell {:?} what to load before the program, and nothing is intercepted; give it in its own way: \
                 {PRELOAD}={}",
                command.get_program().display(),
                libraries.display()
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_told_apart_by_what_they_say_of_themselves() {
        for (text, expected) in [
            (
                "mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org",
                Launcher::Export,
            ),
            ("mpirun (PRRTE) 3.0", Launcher::Export),
            ("HYDRA build details:\n    Version: 4.0.2", Launcher::Given),
            (
                "Intel(R) MPI Library for Linux* OS, Version 2021.10",
                Launcher::Given,
            ),
            ("slurm 22.05", Launcher::Unknown),
            ("", Launcher::Unknown),
        ] {
            assert_eq!(Launcher::of_version(text), expected, "{text}");
        }
        assert_eq!(Launcher::of(OsStr::new("/bin/true")), None);
        assert_eq!(Launcher::of(OsStr::new("./mpirun_like")), None);
    }

    #[test]
    fn each_is_told_in_its_own_way() {
        let told = |launcher: Launcher| {
            let mut command = Command::new("mpirun");
            launcher.pass_on(&mut command, OsStr::new("a.so:b.so"));
            let text: Vec<String> = command
                .get_args()
                .map(|argument| argument.to_string_lossy().into_owned())
                .collect();
            text.join(" ")
        };
        assert!(told(Launcher::Export).starts_with("-x LD_PRELOAD=a.so:b.so"));
        assert_eq!(told(Launcher::Given), "-genv LD_PRELOAD a.so:b.so");
        assert_eq!(told(Launcher::Unknown), "");
    }
}
