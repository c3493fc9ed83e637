//! Finds the libraries and runtimes of a program from its files, without running it.
//!
//! ```text
//! name ──► file ──► scripts' interpreters ──► elf ──► loader: libraries ──► runtime: which are runtimes
//! ```

mod elf;
mod error;
mod loader;
mod runtime;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use elf::Unreadable;
pub use error::ProgramError;
use loader::Folders;
pub use loader::Missing;
pub use runtime::Runtime;

/// The depth to which interpreters may be scripts, as in Linux.
const SCRIPTS_MAX: usize = 5;
/// Bytes of a script's first line that Linux reads.
const FIRST_LINE_MAX: u64 = 256;
/// Environment variables that set how OpenMP runtimes wait, and how many threads they start.
const SETTINGS: [&str; 7] = [
    "OMP_NUM_THREADS",
    "OMP_WAIT_POLICY",
    "OMP_PROC_BIND",
    "OMP_PLACES",
    "GOMP_SPINCOUNT",
    "GOMP_CPU_AFFINITY",
    "KMP_BLOCKTIME",
];

/// The facts of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Program {
    /// The path of the program that was asked for.
    pub path: String,
    /// Scripts on the way to the binary, each followed by its interpreter.
    pub scripts: Vec<String>,
    /// The file that is run: the program, or the interpreter of its script.
    pub binary: String,
    /// The architecture for which it is.
    pub architecture: String,
    /// Whether it is for another architecture than this machine's; its libraries were then not looked for.
    pub foreign: bool,
    /// Whether it is linked statically, and needs no libraries.
    pub r#static: bool,
    /// Whether it has no table of its symbols, so that runtimes linked into it cannot be seen.
    pub stripped: bool,
    /// Whether it loads libraries while it runs.
    pub dlopen: bool,
    /// The files of its libraries, in the order of loading.
    pub libraries: Vec<String>,
    /// Libraries that were not found.
    pub missing: Vec<Missing>,
    /// The OpenMP, MPI and Corecast runtimes in it.
    pub runtimes: Vec<Found>,
    /// Variables of this environment that OpenMP runtimes obey.
    pub settings: BTreeMap<String, String>,
}

/// A runtime, and the file that holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The runtime.
    pub runtime: Runtime,
    /// The file that holds it.
    pub file: String,
}

impl Program {
    /// Looks for `name` as a shell does, and reads what is found.
    ///
    /// # Errors
    ///
    /// The file is not there, cannot be read, or is no program.
    pub fn look(name: &OsStr) -> Result<Self, ProgramError> {
        let path = on_path(name)?;
        let (scripts, binary) = interpreters(&path)?;
        let quoted = binary.display().to_string();
        let elf = match elf::read(&binary) {
            Ok(elf) => elf,
            Err(Unreadable::NoElf) => return Err(ProgramError::NoProgram(quoted)),
            Err(Unreadable::Because(why)) => {
                return Err(ProgramError::Malformed { path: quoted, why });
            }
        };
        if !elf.loadable {
            return Err(ProgramError::NotLinked(quoted));
        }
        let architecture = elf.architecture;
        let foreign = !architecture.runs_on(std::env::consts::ARCH);
        let folders = Folders::here(architecture);
        let mut program = Self {
            path: path.display().to_string(),
            scripts,
            binary: quoted,
            architecture: architecture.describe(),
            foreign,
            r#static: elf.interpreter.is_none() && elf.needed.is_empty(),
            stripped: !elf.symbols,
            dlopen: elf.dlopen,
            libraries: Vec::new(),
            missing: Vec::new(),
            runtimes: Vec::new(),
            settings: SETTINGS
                .iter()
                .filter_map(|&name| Some((name.to_owned(), std::env::var(name).ok()?)))
                .collect(),
        };
        if foreign {
            for name in &elf.needed {
                program.note(Runtime::of_name(name).into_iter().collect(), name);
            }
            program.note(elf.within, &program.binary.clone());
            return Ok(program);
        }
        let origin = fs::canonicalize(&binary).unwrap_or(binary);
        let (loaded, missing) = loader::load(&origin, elf, &folders);
        program.missing = missing;
        for (k, file) in loaded.into_iter().enumerate() {
            let path = file.path.display().to_string();
            let named = Runtime::of_name(&path)
                .or_else(|| Runtime::of_name(file.elf.soname.as_deref().unwrap_or_default()));
            let found = named.map_or(file.elf.within, |runtime| vec![runtime]);
            program.note(found, &path);
            if k > 0 {
                program.libraries.push(path);
            }
        }
        Ok(program)
    }

    fn note(&mut self, runtimes: Vec<Runtime>, file: &str) {
        self.runtimes
            .extend(runtimes.into_iter().map(|runtime| Found {
                runtime,
                file: file.to_owned(),
            }));
    }
}

/// The file that `name` means: it is a path if it has a slash, and is looked up in `PATH` if not.
fn on_path(name: &OsStr) -> Result<PathBuf, ProgramError> {
    let quoted = name.to_string_lossy().into_owned();
    if name.is_empty() {
        return Err(ProgramError::Nameless);
    }
    if name.as_bytes().contains(&b'/') {
        let path = PathBuf::from(name);
        return match path.metadata() {
            Err(source) => Err(ProgramError::Missing {
                path: quoted,
                source,
            }),
            Ok(there) if there.is_dir() => Err(ProgramError::Folder(quoted)),
            Ok(there) if !there.is_file() => Err(ProgramError::NoFile(quoted)),
            Ok(_) => Ok(path),
        };
    }
    let runs = |path: &PathBuf| {
        let there = path.metadata();
        there.is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders)
        .map(|folder| folder.join(name))
        .find(runs);
    let hint = match Path::new(name).is_file() {
        true => format!("; for the file in this folder give \"./{quoted}\""),
        false => String::new(),
    };
    found.ok_or(ProgramError::NotInPath { name: quoted, hint })
}

/// The scripts from `path` on, each followed by its interpreter, and the binary that interprets the last.
fn interpreters(path: &Path) -> Result<(Vec<String>, PathBuf), ProgramError> {
    let mut scripts = Vec::new();
    let mut path = path.to_owned();
    while let Some(line) = first_line(&path)? {
        let script = path.display().to_string();
        if scripts.len() == SCRIPTS_MAX {
            return Err(ProgramError::TooDeep(script));
        }
        let Some(interpreter) = interpreter(&line) else {
            return Err(ProgramError::NoInterpreter { script, line });
        };
        path = match on_path(OsStr::new(interpreter)) {
            Ok(path) => path,
            Err(source) => {
                let source = Box::new(source);
                return Err(ProgramError::InterpreterMissing { script, source });
            }
        };
        scripts.push(script);
    }
    Ok((scripts, path))
}

/// The line behind the `#!` of a script; `None` for other files.
fn first_line(path: &Path) -> Result<Option<String>, ProgramError> {
    let unreadable = |source| ProgramError::Unreadable {
        path: path.display().to_string(),
        source,
    };
    let file = fs::File::open(path).map_err(unreadable)?;
    let mut head = Vec::new();
    let mut file = file.take(FIRST_LINE_MAX);
    file.read_to_end(&mut head).map_err(unreadable)?;
    let Some(line) = head.strip_prefix(b"#!") else {
        return Ok(None);
    };
    let line = line.split(|&b| b == b'\n').next().unwrap_or_default();
    Ok(Some(String::from_utf8_lossy(line).trim().to_owned()))
}

/// The program that a script's first line names; if that is `env`, the program that it starts.
fn interpreter(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let first = words.next()?;
    if first.rsplit('/').next() != Some("env") {
        return Some(first);
    }
    let mut started = words.filter(|word| !word.starts_with('-') && !word.contains('='));
    Some(started.next().unwrap_or(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines_of_scripts_name_interpreters() {
        for (line, program) in [
            ("/bin/sh", Some("/bin/sh")),
            ("/bin/sh -e", Some("/bin/sh")),
            ("/usr/bin/env python3", Some("python3")),
            (
                "/usr/bin/env -S OMP_NUM_THREADS=2 python3 -u",
                Some("python3"),
            ),
            ("/usr/bin/env", Some("/usr/bin/env")),
            ("", None),
        ] {
            assert_eq!(interpreter(line), program, "{line:?}");
        }
    }

    #[test]
    fn this_very_program_is_read() {
        let here = std::env::current_exe().unwrap();
        let program = Program::look(here.as_os_str()).unwrap();
        assert_eq!((program.foreign, &program.missing[..]), (false, &[][..]));
        assert_eq!(program.scripts, [""; 0]);
        assert!(!program.stripped);
    }
}
