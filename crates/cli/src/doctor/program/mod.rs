//! What a program is made of, as far as its files tell: nothing of it is run.
//!
//! ```text
//! name ──► file ──► scripts' interpreters ──► elf ──► loader: libraries ──► runtime: which are run-times
//! ```

mod elf;
mod loader;
pub(super) mod runtime;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;

use elf::Unreadable;
use loader::Folders;
pub(crate) use loader::Missing;
pub(crate) use runtime::Runtime;

/// As many scripts may stand for each other as Linux follows.
const SCRIPTS_MAX: usize = 5;
/// How much of a script's first line Linux reads.
const FIRST_LINE_MAX: u64 = 256;
/// What of the environment says how OpenMP run-times wait, and how many threads they start.
const SETTINGS: [&str; 7] = [
    "OMP_NUM_THREADS",
    "OMP_WAIT_POLICY",
    "OMP_PROC_BIND",
    "OMP_PLACES",
    "GOMP_SPINCOUNT",
    "GOMP_CPU_AFFINITY",
    "KMP_BLOCKTIME",
];

/// What was read of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Program {
    pub(crate) path: String,
    /// Scripts on the way to the binary, each followed by its interpreter.
    pub(crate) scripts: Vec<String>,
    /// The file that is run: the program, or the interpreter of its script.
    pub(crate) binary: String,
    pub(crate) architecture: String,
    /// It is for another architecture than this machine's; its libraries were not looked for.
    pub(crate) foreign: bool,
    /// It needs no libraries.
    pub(crate) r#static: bool,
    /// It has no table of its symbols: what lies within cannot be seen.
    pub(crate) stripped: bool,
    /// It loads libraries by itself.
    pub(crate) dlopen: bool,
    pub(crate) libraries: Vec<String>,
    pub(crate) missing: Vec<Missing>,
    pub(crate) runtimes: Vec<Found>,
    /// Variables of this environment that OpenMP run-times obey.
    pub(crate) settings: BTreeMap<String, String>,
}

/// A run-time, and the file that holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Found {
    pub(crate) runtime: Runtime,
    pub(crate) file: String,
}

impl Program {
    /// Looks for `name` as a shell does, and reads what is found.
    ///
    /// # Errors
    ///
    /// When it is not there, cannot be read, or is no program.
    pub(crate) fn look(name: &OsStr) -> Result<Self> {
        let path = on_path(name)?;
        let (scripts, binary) = interpreters(&path)?;
        let quoted = binary.display().to_string();
        let elf = match elf::read(&binary) {
            Ok(elf) => elf,
            Err(Unreadable::NoElf) => bail!(
                "{quoted:?} is no program: it begins neither as an ELF file nor as a script (#!)"
            ),
            Err(Unreadable::Because(why)) => bail!("{quoted:?} cannot be read as a program: {why}"),
        };
        ensure!(
            elf.loadable,
            "{quoted:?} is an object file or a core dump, not a program: give the program that is linked from it"
        );
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

/// The file that `name` means: a path where it has a slash, else looked up in `PATH`.
fn on_path(name: &OsStr) -> Result<PathBuf> {
    let quoted = name.to_string_lossy();
    ensure!(
        !name.is_empty(),
        "a program without a name: give its path, or its name in PATH"
    );
    if name.as_bytes().contains(&b'/') {
        let path = PathBuf::from(name);
        let there = path
            .metadata()
            .with_context(|| format!("{quoted:?} is not there"))?;
        ensure!(
            !there.is_dir(),
            "{quoted:?} is a folder: give a program in it"
        );
        ensure!(
            there.is_file(),
            "{quoted:?} is no plain file: give a program"
        );
        return Ok(path);
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
    found.with_context(|| format!("no program {quoted:?} in PATH{hint}"))
}

/// The scripts on the way from `path` to what interprets them, and that.
fn interpreters(path: &Path) -> Result<(Vec<String>, PathBuf)> {
    let mut scripts = Vec::new();
    let mut path = path.to_owned();
    while let Some(line) = first_line(&path)? {
        let script = path.display().to_string();
        ensure!(
            scripts.len() < SCRIPTS_MAX,
            "{script:?}: scripts stand for scripts, more than {SCRIPTS_MAX} deep"
        );
        let Some(interpreter) = interpreter(&line) else {
            bail!("{script:?} is a script that names no interpreter: {line:?}");
        };
        path = on_path(OsStr::new(interpreter))
            .with_context(|| format!("{script:?} is a script whose interpreter is missing"))?;
        scripts.push(script);
    }
    Ok((scripts, path))
}

/// The line behind the `#!` of a script; `None` for other files.
fn first_line(path: &Path) -> Result<Option<String>> {
    let quoted = path.display().to_string();
    let file = fs::File::open(path).with_context(|| format!("{quoted:?} cannot be read"))?;
    let mut head = Vec::new();
    let read = file.take(FIRST_LINE_MAX).read_to_end(&mut head);
    read.with_context(|| format!("{quoted:?} cannot be read"))?;
    let Some(line) = head.strip_prefix(b"#!") else {
        return Ok(None);
    };
    let line = line.split(|&b| b == b'\n').next().unwrap_or_default();
    Ok(Some(String::from_utf8_lossy(line).trim().to_owned()))
}

/// The program that a script's first line names; behind `env` the one that it starts.
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
