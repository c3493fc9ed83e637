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

/// Says that something is not tested here; where everything is to be, that is a failure.
#[track_caller]
pub(crate) fn skipped(tool: &str, what: &str) {
    assert!(
        std::env::var_os("CORECAST_REQUIRE_PEERS").is_none(),
        "{tool} is missing"
    );
    eprintln!("SKIPPED: {tool} is missing; {what}");
}

/// Runs a command to its end, which must be a good one; gives what it said.
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

/// A folder of this test's own.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
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

/// A program, found with the library that it was linked against. Nothing of the user's is read.
pub(crate) fn corecast(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", prefix().join("lib"));
    command.env("XDG_CACHE_HOME", folder("no-profiles"));
    command
}

impl Compiler {
    fn command(&self) -> Command {
        let mut command = Command::new(self.name);
        command.args([self.standard, "-O2", "-g", "-pthread"]);
        command.args(["-Wall", "-Wextra", "-Werror", "-pedantic"]);
        command.arg("-I").arg(prefix().join("include"));
        command
    }

    /// Compiles a program of this folder, against the shared library.
    #[track_caller]
    pub(crate) fn build(&self, name: &str) -> PathBuf {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        self.build_from(&sources.join(name).with_extension(self.ending))
    }

    /// Compiles a program that is no file.
    #[track_caller]
    pub(crate) fn build_text(&self, text: &str) -> PathBuf {
        let source = prefix().join(format!("page-{}.{}", self.name, self.ending));
        std::fs::write(&source, text).unwrap();
        self.build_from(&source)
    }

    #[track_caller]
    fn build_from(&self, source: &Path) -> PathBuf {
        // Tests run at once, and each has its own.
        let test = std::thread::current();
        let test = test.name().unwrap_or("main").to_owned();
        let name = source.file_stem().unwrap().to_string_lossy();
        let program = prefix().join(format!("{name}-{}-{test}", self.name));
        let mut command = self.command();
        command.arg(source).arg("-o").arg(&program);
        run(command
            .arg("-L")
            .arg(prefix().join("lib"))
            .arg("-lcorecast"));
        program
    }

    /// Compiles a text that is no file.
    #[track_caller]
    pub(crate) fn check(&self, text: &str) {
        let source = prefix().join(format!("{}.{}", self.name, self.ending));
        std::fs::write(&source, text).unwrap();
        run(self.command().arg("-fsyntax-only").arg(source));
    }
}
