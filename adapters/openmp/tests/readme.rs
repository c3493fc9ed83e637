//! The OpenMP program of the repository's README gives the same result with Corecast's barrier and without.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The block of C in the README that has an OpenMP directive.
fn program() -> String {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let mut blocks = readme.split("```c\n").skip(1);
    let block = blocks.find(|block| block.contains("#pragma omp"));
    let block = block.expect("a program for OpenMP");
    block.split("```").next().unwrap().to_owned()
}

/// The library in the folder where cargo leaves it for tests.
fn library() -> PathBuf {
    let library = std::env::current_exe().unwrap();
    let library = library.with_file_name("libcorecast_openmp.so");
    assert!(library.exists(), "{} is missing", library.display());
    library
}

/// The program's standard output and standard error. It reads no profiles of the user.
#[track_caller]
fn said(command: &mut Command) -> (String, String) {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-profiles");
    command.env("XDG_CACHE_HOME", cache);
    command.env_remove("CORECAST_DISABLE");
    let output = command.env("CORECAST_DEBUG", "INFO").output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}: {said:?}");
    said
}

#[test]
fn the_program_of_the_readme_runs() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme");
    std::fs::create_dir_all(&folder).unwrap();
    let source = folder.join("heat.c");
    std::fs::write(&source, program()).unwrap();
    for compiler in ["gcc", "clang"] {
        let heat = folder.join(format!("heat-{compiler}"));
        let mut command = Command::new(compiler);
        command.args(["-O2", "-fopenmp", "-Wall", "-Wextra", "-Werror"]);
        let made = command.arg(&source).arg("-o").arg(&heat).status();
        if !made.is_ok_and(|status| status.success()) {
            assert!(
                std::env::var_os("CORECAST_REQUIRE_PEERS").is_none(),
                "{compiler} cannot compile the README's program"
            );
            eprintln!("SKIPPED: {compiler} cannot compile OpenMP programs");
            continue;
        }
        let (alone, _) = said(&mut Command::new(&heat));
        let mut command = Command::new(&heat);
        let (with, notes) = said(command.env("LD_PRELOAD", library()));
        assert_eq!(alone, "0.200565\n", "{compiler}");
        assert_eq!(with, alone, "{compiler}");
        assert!(
            notes.contains("barriers of 2 threads"),
            "{compiler}: {notes}"
        );
    }
}
