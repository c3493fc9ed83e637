//! The C and C++ programs in this folder, compiled without a warning against an installed library and run.

mod common;
mod header;
mod install;

use common::{C, CPP, Compiler, corecast, run, skipped, there_is};
use std::path::Path;

const PROGRAMS: &[&str] = &["collectives", "misuse", "barrier", "flight", "processes"];

fn programs(compilers: &[Compiler], names: &[&str]) {
    for compiler in compilers {
        if !there_is(compiler.name) {
            skipped(compiler.name, "its programs are not compiled");
            continue;
        }
        for name in names {
            let program = compiler.build(name);
            run(&mut corecast(&program));
        }
    }
}

#[test]
fn programs_in_c() {
    programs(C, PROGRAMS);
}

#[test]
fn programs_in_cpp() {
    programs(CPP, &["teams", "barrier"]);
}

/// The program on docs/c.md in a language.
fn on_the_page(language: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/c.md");
    let page = std::fs::read_to_string(page).unwrap();
    let fence = format!("```{language}\n");
    let begin = page.find(&fence).expect("a program") + fence.len();
    let length = page[begin..].find("```").expect("its end");
    page[begin..begin + length].to_owned()
}

#[test]
fn the_page_is_right() {
    for (compilers, language, said) in [
        (C, "c", "the ranks' sum is 6\n"),
        (CPP, "cpp", "2 3 2\n2 phases\n"),
    ] {
        for compiler in compilers {
            if there_is(compiler.name) {
                let program = compiler.build_text(&on_the_page(language));
                assert_eq!(run(&mut corecast(&program)), said);
            }
        }
    }
}

#[test]
fn programs_in_c_under_valgrind() {
    if !there_is("valgrind") || !there_is(C[0].name) {
        return skipped("valgrind", "nothing is run under it");
    }
    for name in PROGRAMS {
        let program = C[0].build(name);
        let mut valgrind = corecast("valgrind");
        valgrind.args(["-q", "--error-exitcode=9", "--fair-sched=yes"]);
        valgrind.args(["--leak-check=full", "--errors-for-leak-kinds=definite"]);
        valgrind.arg(program);
        if *name == "collectives" {
            valgrind.arg("3");
        }
        run(&mut valgrind);
    }
}

#[test]
fn the_headers_alone_are_enough() {
    for compiler in C
        .iter()
        .chain(CPP)
        .filter(|compiler| there_is(compiler.name))
    {
        compiler.check("#include <corecast.h>\nint main(void) { return 0; }\n");
    }
    for compiler in CPP.iter().filter(|compiler| there_is(compiler.name)) {
        compiler.check("#include <corecast.hpp>\nint main() { return 0; }\n");
    }
}
