//! Unmodified programs under the adapter: each construct of GNU's and of LLVM's runtime, tasks, cancellation,
//! teams of any size and number, libraries that are opened later, and runtimes under another name.
//!
//! The programs in `programs/` check their own results, and do not use Corecast.

#[path = "programs/meetings.rs"]
mod meetings;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const COMPILERS: [&str; 2] = ["gcc", "clang"];

/// The library in the folder where cargo leaves it for tests; a copy in the parent folder may be of an earlier
/// build.
fn adapter() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let library = test.with_file_name("libcorecast_openmp.so");
    assert!(library.exists(), "{} is missing", library.display());
    library
}

fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("openmp");
        std::fs::create_dir_all(&folder).unwrap();
        folder
    })
}

fn source(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    folder.join(name).with_extension("c")
}

/// Whether a compiler can make OpenMP programs. Where all compilers are required, one that cannot fails the
/// test.
fn can_compile(compiler: &str) -> bool {
    let probe = folder().join(format!("probe-{compiler}-{}.c", test_name()));
    std::fs::write(
        &probe,
        "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n",
    )
    .unwrap();
    let made = Command::new(compiler)
        .arg("-fopenmp")
        .arg(&probe)
        .arg("-o")
        .arg(probe.with_extension(""))
        .output();
    let can = made.is_ok_and(|output| output.status.success());
    if !can {
        assert!(
            std::env::var_os("CORECAST_REQUIRE_PEERS").is_none(),
            "{compiler} cannot compile OpenMP programs"
        );
        eprintln!("SKIPPED: {compiler} cannot compile OpenMP programs; install it and its omp.h");
    }
    can
}

/// The name of the test, for its files: tests run at the same time.
fn test_name() -> String {
    std::thread::current().name().unwrap_or("main").to_owned()
}

#[track_caller]
fn good(command: &mut Command) -> Output {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

#[track_caller]
fn build(compiler: &str, name: &str, options: &[&str]) -> PathBuf {
    let program = folder().join(format!("{name}-{compiler}-{}", test_name()));
    let mut command = Command::new(compiler);
    command
        .args(["-O2", "-g", "-Wall", "-Wextra", "-Werror"])
        .arg(source(name));
    good(command.arg("-o").arg(&program).args(options));
    program
}

/// A command that runs the program under `library` and ends it if it hangs. It reads no settings or profiles of
/// the user.
fn under(library: &Path, program: &Path) -> Command {
    let mut command = Command::new("timeout");
    command.arg("120").arg(program).env("LD_PRELOAD", library);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if ["OMP_", "GOMP_", "KMP_", "CORECAST_"]
            .iter()
            .any(|start| text.starts_with(start))
        {
            command.env_remove(&name);
        }
    }
    command.env("XDG_CACHE_HOME", folder().join("no-profiles"));
    command
}

/// Checks that a run succeeds and prints `right`; returns its standard error.
#[track_caller]
fn right(command: &mut Command) -> String {
    let output = good(command);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(said, "right\n", "{command:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn run_with_all(name: &str, sizes: &[&str], settings: &[(&str, &str)]) {
    for compiler in COMPILERS
        .into_iter()
        .filter(|compiler| can_compile(compiler))
    {
        let program = build(compiler, name, &["-fopenmp", "-pthread"]);
        for size in sizes {
            let mut command = under(&adapter(), &program);
            command
                .env("CORECAST_DEBUG", "INFO")
                .envs(settings.iter().copied());
            let said = right(command.arg(size));
            assert!(
                *size == "1" || said.contains("run here"),
                "{compiler}, {size} threads: nothing was intercepted: {said}"
            );
            assert!(
                !said.contains("stay with"),
                "{compiler}, {size} threads: {said}"
            );
        }
    }
}

#[test]
fn every_construct() {
    run_with_all("constructs", &["1", "2", "3", "8"], &[]);
}

#[test]
fn bound_and_placed_and_waiting_as_asked() {
    let settings: [&[(&str, &str)]; 5] = [
        &[("OMP_PROC_BIND", "true")],
        &[("OMP_PROC_BIND", "spread"), ("OMP_PLACES", "cores")],
        &[("OMP_WAIT_POLICY", "active")],
        &[("OMP_WAIT_POLICY", "passive"), ("OMP_PROC_BIND", "close")],
        &[("CORECAST_WAIT", "20us"), ("OMP_SCHEDULE", "dynamic,2")],
    ];
    for settings in settings {
        run_with_all("constructs", &["2", "5"], settings);
    }
}

#[test]
fn tasks_are_done_at_barriers() {
    run_with_all("tasks", &["1", "2", "3", "8"], &[]);
}

/// The threads of such a region wait for the tasks of `target nowait` and run them.
#[test]
fn a_region_that_the_runtime_starts_for_itself_stays_with_it() {
    if can_compile("clang") {
        let program = build("clang", "placeless", &["-fopenmp"]);
        let said = right(under(&adapter(), &program).env("CORECAST_DEBUG", "INFO"));
        assert!(said.contains("nothing was intercepted"), "{said}");
    }
}

/// More arguments than can be passed on: the region keeps the runtime's barriers, the next one does not.
#[test]
fn a_region_of_very_many_variables() {
    for compiler in COMPILERS {
        if can_compile(compiler) {
            let program = build(compiler, "many", &["-fopenmp"]);
            let said = right(under(&adapter(), &program).env("CORECAST_DEBUG", "INFO"));
            assert_eq!(said.matches("run here").count(), 1, "{said}");
        }
    }
}

#[test]
fn cancelled_constructs_end() {
    run_with_all("cancel", &["2", "3", "8"], &[("OMP_CANCELLATION", "true")]);
    run_with_all("cancel", &["2"], &[]);
}

#[test]
fn several_masters_at_once_and_a_child() {
    run_with_all("masters", &["2", "3", "8"], &[]);
}

/// The programs above fail under a library whose barriers do not wait.
#[test]
fn the_programs_find_broken_barriers() {
    for compiler in COMPILERS
        .into_iter()
        .filter(|compiler| can_compile(compiler))
    {
        let broken = build(compiler, "broken", &["-shared", "-fPIC"]);
        for name in ["constructs", "tasks", "masters"] {
            let program = build(compiler, name, &["-fopenmp", "-pthread"]);
            let wrong = (0..10).any(|_| {
                let output = under(&broken, &program).arg("4").output().unwrap();
                !output.status.success()
            });
            assert!(wrong, "{name} of {compiler} finds nothing wrong");
        }
    }
}

#[test]
fn the_off_switch_leaves_everything_as_it_was() {
    for compiler in COMPILERS
        .into_iter()
        .filter(|compiler| can_compile(compiler))
    {
        for name in ["constructs", "tasks", "masters"] {
            let program = build(compiler, name, &["-fopenmp", "-pthread"]);
            let mut command = under(&adapter(), &program);
            command.envs([("CORECAST_DISABLE", "1"), ("CORECAST_DEBUG", "INFO")]);
            assert_eq!(right(command.arg("3")), "", "{compiler}: {name}");
        }
    }
}

#[test]
fn a_program_without_barriers_is_told_so() {
    let mut command = under(&adapter(), Path::new("true"));
    let output = good(command.env("CORECAST_DEBUG", "INFO"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("nothing was intercepted") && said.lines().count() == 1,
        "{said}"
    );
    let silent = good(&mut under(&adapter(), Path::new("true")));
    assert!(silent.stderr.is_empty());
}

/// A program without OpenMP opens libraries, each of which has a runtime of its own.
#[test]
fn runtimes_that_are_opened_later_and_under_other_names() {
    if !can_compile("gcc") {
        return;
    }
    let program = build("gcc", "opened", &["-ldl"]);
    let module = build("gcc", "module", &["-fopenmp", "-shared", "-fPIC"]);
    let both = [module.clone(), renamed(&module)];
    for libraries in [&both[..1], &both[1..], &both[..]] {
        let mut command = under(&adapter(), &program);
        let said = right(command.args(libraries).env("CORECAST_DEBUG", "INFO"));
        let expected = 2 * libraries.len();
        assert_eq!(said.matches("run here").count(), expected, "{said}");
        assert_eq!(
            said.matches("libgxyz").count(),
            2 * usize::from(libraries.contains(&both[1])),
            "{said}"
        );
    }
}

/// The first two calls that close a library, of which one waits for the loader's lock while the other one's thread has it.
#[test]
fn libraries_are_closed_while_the_loader_runs_a_constructor() {
    if !can_compile("gcc") {
        return;
    }
    let program = build("gcc", "closed", &["-pthread", "-rdynamic", "-ldl"]);
    let plugin = folder().join("closed-plugin.so");
    let mut command = Command::new("gcc");
    command.args(["-DPLUGIN", "-shared", "-fPIC", "-o"]);
    good(command.arg(&plugin).arg(source("closed")));
    right(under(&adapter(), &program).arg(&plugin));
}

/// Builds the module against a copy of the runtime under another name of the same length.
fn renamed(module: &Path) -> PathBuf {
    let printed = good(Command::new("gcc").arg("-print-file-name=libgomp.so.1"));
    let runtime = String::from_utf8(printed.stdout).unwrap();
    let place = folder().join("renamed");
    std::fs::create_dir_all(&place).unwrap();
    let with_other_name = |from: &Path, to: &Path| {
        let mut bytes = std::fs::read(from).unwrap();
        let (old, new) = (b"libgomp.so.1", b"libgxyz.so.1");
        let found: Vec<usize> = (0..bytes.len() - old.len())
            .filter(|&at| bytes[at..].starts_with(old))
            .collect();
        assert!(
            !found.is_empty(),
            "{} does not name its runtime",
            from.display()
        );
        for at in found {
            bytes[at..at + new.len()].copy_from_slice(new);
        }
        std::fs::write(to, bytes).unwrap();
    };
    with_other_name(Path::new(runtime.trim()), &place.join("libgxyz.so.1"));
    let copy = place.join("module.so");
    // The loader looks for the runtime in the module's folder.
    let linked = build(
        "gcc",
        "module",
        &["-fopenmp", "-shared", "-fPIC", "-Wl,-rpath,$ORIGIN"],
    );
    with_other_name(&linked, &copy);
    assert_ne!(copy, module);
    copy
}
