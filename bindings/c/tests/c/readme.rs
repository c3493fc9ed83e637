//! Tests that the C program of the repository's README compiles without a warning and prints what it should.

use crate::common::{C, CPP, corecast, run, skipped, there_is};
use std::path::Path;

/// The first block of a language in the README.
fn program(language: &str) -> String {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let fence = format!("```{language}\n");
    let begin = readme.find(&fence).expect("a program") + fence.len();
    let length = readme[begin..].find("```").expect("its end");
    readme[begin..begin + length].to_owned()
}

#[test]
fn the_program_of_the_readme_runs() {
    let text = program("c");
    for compiler in C {
        if !there_is(compiler.name) {
            skipped(compiler.name, "the README's program is not compiled");
            continue;
        }
        let program = compiler.build_text(&text);
        assert_eq!(run(&mut corecast(&program)), "the ranks' sum is 3\n");
    }
    // The header serves C++ too.
    for compiler in CPP.iter().filter(|compiler| there_is(compiler.name)) {
        compiler.check("#include <corecast.h>\nint main() { return CORECAST_STATUS_OK; }\n");
    }
}
