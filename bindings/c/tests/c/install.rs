//! Tests that pkg-config and CMake find an installed library, shared and static.

use crate::common::{C, corecast, folder, prefix, run, skipped, there_is};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = r#"
#include <corecast.h>
#include <stdio.h>

static void body(corecast_member_t *member, void *context) {
  (void)context;
  corecast_barrier(member);
}

int main(void) {
  corecast_team_t *team;
  if (corecast_team_new(2, &team) != CORECAST_STATUS_OK) return 1;
  if (corecast_team_run(team, body, NULL) != CORECAST_STATUS_OK) return 2;
  corecast_team_free(team);
  puts(corecast_version());
  return 0;
}
"#;

#[track_caller]
fn works(program: &Path, libraries: &Path) {
    let mut command = corecast(program);
    let said = run(command.env("LD_LIBRARY_PATH", libraries));
    assert_eq!(said.trim(), env!("CARGO_PKG_VERSION"));
}

#[test]
fn pkg_config_finds_it() {
    if !there_is("pkg-config") || !there_is(C[0].name) {
        return skipped("pkg-config", "it finds nothing");
    }
    let here = folder("pkg-config");
    std::fs::write(here.join("program.c"), PROGRAM).unwrap();
    let libraries = prefix().join("lib");
    for is_static in [false, true] {
        let mut ask = Command::new("pkg-config");
        ask.env("PKG_CONFIG_PATH", libraries.join("pkgconfig"));
        ask.args(["--cflags", "--libs", "corecast >= 0.1"]);
        if is_static {
            ask.arg("--static");
        }
        let flags = run(&mut ask);
        let flags: Vec<&str> = flags.split_whitespace().collect();
        let program = here.join(format!("program-{is_static}"));
        let mut compile = Command::new(C[0].name);
        compile.arg(here.join("program.c")).arg("-o").arg(&program);
        if is_static {
            // The archive is given by name, because a linker prefers the shared library.
            let flag = |flag: &&str| match *flag {
                "-lcorecast" => "-l:libcorecast.a".to_owned(),
                flag => flag.to_owned(),
            };
            compile.args(flags.iter().map(flag));
        } else {
            compile.args(&flags);
        }
        run(&mut compile);
        match is_static {
            true => works(&program, Path::new("/nonexistent")),
            false => works(&program, &libraries),
        }
    }
}

#[test]
fn cmake_finds_it() {
    if !there_is("cmake") || !there_is(C[0].name) {
        return skipped("cmake", "it finds nothing");
    }
    let here = folder("cmake");
    std::fs::write(here.join("program.c"), PROGRAM).unwrap();
    let lists = "cmake_minimum_required(VERSION 3.13)\n\
                 project(program C)\n\
                 find_package(corecast 0.1 REQUIRED)\n\
                 add_executable(program program.c)\n\
                 target_link_libraries(program corecast::corecast)\n\
                 add_executable(program-static program.c)\n\
                 target_link_libraries(program-static corecast::corecast-static)\n";
    std::fs::write(here.join("CMakeLists.txt"), lists).unwrap();
    let build = here.join("build");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(&here).arg("-B").arg(&build);
    run(configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix().display())));
    run(Command::new("cmake").arg("--build").arg(&build));
    works(&build.join("program"), &prefix().join("lib"));
    works(&build.join("program-static"), Path::new("/nonexistent"));
    // CMake refuses a request for another minor version.
    let other = lists.replace("corecast 0.1 REQUIRED", "corecast 0.2 REQUIRED");
    std::fs::write(here.join("CMakeLists.txt"), other).unwrap();
    let mut configure = Command::new("cmake");
    configure
        .arg("-S")
        .arg(&here)
        .arg("-B")
        .arg(here.join("other"));
    configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix().display()));
    let output = configure.output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("0.1.0"));
}

/// The names of the files in a folder and below it, relative to it.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(folder).unwrap().to_owned());
            }
        }
    }
    found
}

#[test]
fn every_header_is_installed() {
    let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    assert_eq!(files(&prefix().join("include")), files(&headers));
}

#[test]
fn packagers_choose_the_folders() {
    let root = folder("destdir");
    let mut install = Command::new(env!("CARGO_BIN_EXE_corecast-c-install"));
    install.arg("--destdir").arg(&root);
    install.args(["--prefix", "/opt/corecast", "--libdir", "lib/somewhere"]);
    let said = run(&mut install);
    assert!(said.contains("opt/corecast"), "{said}");
    let prefix = root.join("opt/corecast");
    let pc = prefix.join("lib/somewhere/pkgconfig/corecast.pc");
    let pc = std::fs::read_to_string(pc).unwrap();
    assert!(pc.contains("prefix=/opt/corecast\n") && pc.contains("lib/somewhere"));
    let cmake = prefix.join("lib/somewhere/cmake/corecast/corecastConfig.cmake");
    let cmake = std::fs::read_to_string(cmake).unwrap();
    assert!(cmake.contains("/../../../..\" ABSOLUTE"), "{cmake}");
    assert!(prefix.join("lib/somewhere/libcorecast.so.0").exists());
    // Installing again replaces what is there.
    run(&mut install);
    let mut refused = Command::new(env!("CARGO_BIN_EXE_corecast-c-install"));
    let output = refused.args(["--libdir", "/lib"]).output().unwrap();
    assert!(!output.status.success());
    std::fs::remove_dir_all(root).unwrap();
}
