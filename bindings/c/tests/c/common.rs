//! Installs the library once, and compiles and runs programs against it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A compiler and the standard it compiles by.
pub(crate) struct Compiler {
    pub(crate) name: &'static str,
    standard: &'static str,
    ending: &'static str,
}

pub(crate) const C: &[Compiler] = &[
    Compiler {
        name: "cc",
        standard: "-std=c11",
        ending: "c",
    },
    Compiler {
        name: "clang",
        standard: "-std=c11",
        ending: "c",
    },
];

pub(crate) const CPP: &[Compiler] = &[
    Compiler {
        name: "g++",
        standard: "-std=c++20",
        ending: "cpp",
    },
    Compiler {
        name: "clang++",
        standard: "-std=c++20",
        ending: "cpp",
    },
];

/// Whether a tool can be called.
pub(crate) fn there_is(tool: &str) -> bool {
    let version = Command::new(tool).arg("--version").output();
    version.is_ok_and(|output| output.status.success())
}

/// Says that something is not tested, because a tool is missing. With `CORECAST_REQUIRE_PEERS` that is a
/// failure.
#[track_caller]
pub(crate) fn skipped(tool: &str, what: &str) {
    assert!(
        std::env::var_os("CORECAST_REQUIRE_PEERS").is_none(),
        "{tool} is missing"
    );
    eprintln!("SKIPPED: {tool} is missing; {what}");
}

/// Runs a command, which must succeed; returns its standard output.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{said}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    said
}

/// A folder with this name for a test's files.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The folder of the examples.
pub(crate) fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

/// The name of the test that runs, for its files: tests run at the same time.
fn test_name() -> String {
    let name = std::thread::current().name().unwrap_or("main").to_owned();
    name.replace("::", "-")
}

/// Where the library is installed for the tests.
pub(crate) fn prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let prefix = folder(concat!("corecast-c-", env!("CARGO_CRATE_NAME")));
        let mut install = Command::new(env!("CARGO_BIN_EXE_corecast-c-install"));
        run(install.arg("--prefix").arg(&prefix));
        prefix
    })
}

/// A command that runs a program with the installed library. It reads no profiles of the user.
pub(crate) fn corecast(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", prefix().join("lib"));
    command.env("XDG_CACHE_HOME", folder("no-profiles"));
    command
}

impl Compiler {
    fn command(&self) -> Command {
        let mut command = Command::new(self.name);
        command.args([self.standard, "-O2", "-g1", "-pthread"]);
        command.args([
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pedantic",
            "-Wredundant-decls",
        ]);
        command.arg("-I").arg(prefix().join("include"));
        command
    }

    /// Compiles a program of `tests/programs`, against the shared library.
    #[track_caller]
    pub(crate) fn build(&self, name: &str) -> PathBuf {
        self.build_with(name, &[])
    }

    /// Compiles a program of `tests/programs` with flags of its own.
    #[track_caller]
    pub(crate) fn build_with(&self, name: &str, flags: &[&str]) -> PathBuf {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        self.build_from(&sources.join(name).with_extension(self.ending), flags)
    }

    /// Compiles an example.
    #[track_caller]
    pub(crate) fn build_example(&self, name: &str) -> PathBuf {
        self.build_from(&examples().join(name).with_extension(self.ending), &[])
    }

    /// Compiles a program given as text.
    #[track_caller]
    pub(crate) fn build_text(&self, text: &str) -> PathBuf {
        self.build_from(&self.source(text), &[])
    }

    #[track_caller]
    fn build_from(&self, source: &Path, flags: &[&str]) -> PathBuf {
        let stem = source.file_stem().unwrap().to_string_lossy();
        let program = prefix().join(format!("{stem}-{}-{}", self.name, test_name()));
        let mut command = self.command();
        command.args(flags).arg(source).arg("-o").arg(&program);
        run(command
            .arg("-L")
            .arg(prefix().join("lib"))
            .arg("-lcorecast"));
        program
    }

    /// Writes a text to a file for the test that runs.
    fn source(&self, text: &str) -> PathBuf {
        let name = format!("text-{}-{}.{}", self.name, test_name(), self.ending);
        let source = prefix().join(name);
        std::fs::write(&source, text).unwrap();
        source
    }

    /// Checks that a program given as text compiles.
    #[track_caller]
    pub(crate) fn check(&self, text: &str) {
        run(self.command().arg("-fsyntax-only").arg(self.source(text)));
    }

    /// Checks that a program given as text does not compile; returns the compiler's messages.
    #[track_caller]
    pub(crate) fn check_fails(&self, text: &str) -> String {
        let mut command = self.command();
        command.arg("-fsyntax-only").arg(self.source(text));
        let output = command.output().unwrap();
        assert!(!output.status.success(), "this compiles: {text}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }
}
