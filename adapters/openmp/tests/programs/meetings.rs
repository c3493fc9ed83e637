//! Where runtimes, threads, processes and libraries begin, meet and end: programs whose parts different compilers made,
//! regions at the end of threads and of the process, and libraries that are unloaded.
//!
//! Each program runs without the adapter first, so that it fails here if it is wrong by itself.

use super::{
    COMPILERS, adapter, build, can_compile, folder, good, right, source, test_name, under,
};
use corecast_openmp::record::Place;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Checks that a program is right without the adapter and under it, and that the adapter has replaced barriers of as many
/// runtimes as are named.
#[track_caller]
fn right_with_and_without(program: &Path, arguments: &[&str], runtimes: &[&str]) {
    let mut alone = Command::new("timeout");
    right(alone.arg("120").arg(program).args(arguments));
    let off = &mut under(&adapter(), program);
    right(off.args(arguments).env("CORECAST_DISABLE", "1"));
    let command = &mut under(&adapter(), program);
    let said = right(command.args(arguments).env("CORECAST_DEBUG", "INFO"));
    for runtime in ["libgomp", "libomp"] {
        let lines = said.lines().filter(|line| line.contains("run here"));
        let replaced = lines.filter(|line| line.contains(runtime)).count();
        assert_eq!(
            replaced > 0,
            runtimes.contains(&runtime),
            "{program:?} {arguments:?}, {runtime}: {said}"
        );
    }
    assert!(!said.contains("stay with"), "{said}");
}

fn can_compile_with_both() -> bool {
    COMPILERS.iter().all(|compiler| can_compile(compiler))
}

/// The file of a runtime, as the compiler that brings it names it; `None` where it has none of that name.
fn runtime(compiler: &str, names: &[&str]) -> Option<PathBuf> {
    let mut places = names.iter().flat_map(|name| {
        let printed = good(Command::new(compiler).arg(format!("-print-file-name={name}")));
        let given = PathBuf::from(String::from_utf8(printed.stdout).unwrap().trim());
        let binary = good(Command::new(compiler).arg("-print-prog-name=clang"));
        let binary = PathBuf::from(String::from_utf8(binary.stdout).unwrap().trim());
        let beside = std::fs::canonicalize(binary).map(|at| at.join("../../lib").join(name));
        [Some(given), beside.ok()]
    });
    let found = places.find_map(|place| {
        place
            .filter(|place| place.is_absolute())?
            .canonicalize()
            .ok()
    });
    if found.is_none() {
        assert!(
            std::env::var_os("CORECAST_REQUIRE_PEERS").is_none(),
            "{compiler} has none of {names:?}"
        );
        eprintln!("SKIPPED: {compiler} has none of {names:?}");
    }
    found
}

/// Constructs of a library in regions of the program, and the other way round, before `main` returns and after.
#[test]
fn a_program_and_its_library_of_another_compiler() {
    if !can_compile_with_both() {
        return;
    }
    for (compiler, other, how, runtimes) in [
        ("gcc", "clang", "apart", &["libgomp", "libomp"][..]),
        // The program's runtime is before the library's in the loader's order, and has GNU's names too.
        ("clang", "gcc", "together", &["libomp"]),
    ] {
        let part = build(other, "part", &["-fopenmp", "-shared", "-fPIC"]);
        let part = part.to_str().unwrap();
        let program = build(compiler, "mixed", &["-fopenmp", part]);
        right_with_and_without(&program, &[how], runtimes);
    }
}

/// Both compilers' code is in one object, so only the names that it calls tell which runtime is meant.
#[test]
fn one_object_of_two_compilers() {
    if !can_compile_with_both() {
        return;
    }
    let gnu = runtime("gcc", &["libgomp.so.1", "libgomp.so"]);
    let llvm = runtime("clang", &["libomp.so", "libomp.so.5"]);
    let (Some(gnu), Some(llvm)) = (gnu, llvm) else {
        return;
    };
    let (gnu, llvm) = (gnu.to_str().unwrap(), llvm.to_str().unwrap());
    for (compiler, other) in [("gcc", "clang"), ("clang", "gcc")] {
        let objects = [(compiler, "mixed"), (other, "part")].map(|(compiler, name)| {
            let object = folder().join(format!("{name}-{compiler}-{}.o", test_name()));
            let mut command = Command::new(compiler);
            command.args(["-O2", "-g", "-fPIC", "-fopenmp", "-c"]);
            good(command.arg(source(name)).arg("-o").arg(&object));
            object
        });
        for (how, order, runtimes) in [
            ("apart", [gnu, llvm], &["libgomp", "libomp"][..]),
            ("together", [llvm, gnu], &["libomp"]),
        ] {
            let program = folder().join(format!("{how}-{compiler}-{}", test_name()));
            let mut command = Command::new("gcc");
            command.args(&objects).args(order).arg("-pthread");
            good(command.arg("-o").arg(&program));
            right_with_and_without(&program, &[how], runtimes);
        }
    }
}

/// An interpreter's modules: the first one's runtime is not that of the second one.
#[test]
fn modules_of_two_compilers() {
    if !can_compile_with_both() {
        return;
    }
    let program = build("gcc", "opened", &["-ldl"]);
    let modules = COMPILERS.map(|compiler| {
        let module = build(compiler, "module", &["-fopenmp", "-shared", "-fPIC"]);
        module.to_str().unwrap().to_owned()
    });
    let [gnu, llvm] = &modules;
    for order in [[gnu.as_str(), llvm], [llvm, gnu]] {
        right_with_and_without(&program, &order, &["libgomp", "libomp"]);
    }
}

#[test]
fn regions_at_the_end_of_threads_and_of_the_process() {
    for (compiler, runtime) in [("gcc", "libgomp"), ("clang", "libomp")] {
        if can_compile(compiler) {
            let program = build(compiler, "ending", &["-fopenmp", "-pthread"]);
            right_with_and_without(&program, &[], &[runtime]);
        }
    }
}

/// Libraries that take turns, so that one comes to lie where another one was. They have regions in their constructors and
/// destructors, which run while the loader holds its lock.
#[test]
fn libraries_are_unloaded() {
    if !can_compile_with_both() {
        return;
    }
    let program = build("gcc", "plugins", &["-fopenmp", "-ldl", "-pthread"]);
    let plugins = COMPILERS.map(|compiler| {
        let plugin = build(compiler, "plugin", &["-fopenmp", "-shared", "-fPIC"]);
        plugin.to_str().unwrap().to_owned()
    });
    let [gnu, llvm] = &plugins;
    right_with_and_without(&program, &[gnu], &["libgomp"]);
    right_with_and_without(&program, &[llvm], &["libomp"]);
    right_with_and_without(&program, &[gnu, llvm], &["libgomp", "libomp"]);
}

/// The waits of a library are told by its own file, also after it was unloaded.
#[test]
fn waits_in_unloaded_libraries_are_told() {
    if !can_compile("gcc") {
        return;
    }
    let program = build("gcc", "plugins", &["-fopenmp", "-ldl", "-pthread"]);
    let plugin = build("gcc", "plugin", &["-fopenmp", "-shared", "-fPIC"]);
    let records = folder().join("records");
    let _ = std::fs::remove_dir_all(&records);
    std::fs::create_dir_all(&records).unwrap();
    let mut command = under(&adapter(), &program);
    right(
        command
            .arg(&plugin)
            .env(corecast_openmp::record::FOLDER, &records),
    );
    let file = std::fs::read_dir(&records).unwrap().next().unwrap();
    let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
    let record: corecast_openmp::record::Record = serde_json::from_str(&text).unwrap();
    let own = |wait: &&corecast_openmp::record::Wait| wait.sums.own > 0;
    let waits: Vec<_> = record.waits.iter().filter(own).collect();
    assert!(!waits.is_empty(), "{text}");
    for wait in waits {
        let Place::Code { object, .. } = wait.place else {
            panic!("{wait:?}");
        };
        let object = &record.objects[object.expect("an object")];
        assert_eq!(Path::new(&object.path), plugin);
    }
}
