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

    /// Gives the launcher its `arguments`, and has it load `libraries` before all that it starts.
    pub(super) fn pass_on(self, command: &mut Command, libraries: &OsStr, arguments: &[OsString]) {
        let mut told = Vec::new();
        match self {
            Self::Export => {
                let mut value = OsString::from(PRELOAD);
                value.push("=");
                value.push(libraries);
                told.extend(["-x".into(), value]);
                let own = |name: &OsString| name.to_string_lossy().starts_with("CORECAST_");
                for name in env::vars_os().map(|(name, _)| name).filter(own) {
                    told.extend(["-x".into(), name]);
                }
            }
            Self::Given => told.extend(["-genv".into(), PRELOAD.into(), libraries.into()]),
            Self::Unknown => failure::warn(&format!(
                "cannot tell {:?} what to load before the program, and nothing is intercepted; give it in its own way: \
                 {PRELOAD}={}",
                command.get_program().display(),
                libraries.display()
            )),
        }
        command.args(&told);
        for argument in arguments {
            command.arg(argument);
            // Another program begins, for which Open MPI forgets what was exported to the one before. A job of which some
            // ranks have loaded the library would wait for ever.
            if self == Self::Export && argument == ":" {
                command.args(&told);
            }
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
            let arguments = ["-n", "2", "a", ":", "-n", "1", "b"].map(OsString::from);
            launcher.pass_on(&mut command, OsStr::new("a.so:b.so"), &arguments);
            let text: Vec<String> = command
                .get_args()
                .map(|argument| argument.to_string_lossy().into_owned())
                .collect();
            text.join(" ")
        };
        let text = told(Launcher::Export);
        assert!(text.starts_with("-x LD_PRELOAD=a.so:b.so"), "{text}");
        assert!(text.contains("-n 2 a : -x LD_PRELOAD=a.so:b.so"), "{text}");
        assert!(text.ends_with("-n 1 b"), "{text}");
        let plain = "-n 2 a : -n 1 b";
        assert_eq!(
            told(Launcher::Given),
            format!("-genv LD_PRELOAD a.so:b.so {plain}")
        );
        assert_eq!(told(Launcher::Unknown), plain);
    }
}
