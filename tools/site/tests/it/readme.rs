//! The README is short, and its programs and those of the guide are parts of programs that other tests run.

use super::{root, text};

/// The code blocks of a language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let rest = text.split(fence.as_str()).skip(1);
    rest.map(|block| block.split("```").next().unwrap().to_owned())
        .collect()
}

#[test]
fn it_is_short() {
    let lines = text("README.md").lines().count();
    assert!(
        lines <= 150,
        "README.md has {lines} lines, at most 150 are read"
    );
}

/// The program of the README is that of the façade crate's readme, which runs as a documentation test.
#[test]
fn its_rust_program_is_that_of_the_facade() {
    let of_the_project = blocks(&text("README.md"), "rust");
    let of_the_facade = blocks(&text("crates/corecast/README.md"), "rust");
    assert_eq!(of_the_project.len(), 1);
    assert_eq!(of_the_project, of_the_facade);
}

#[test]
fn it_has_a_program_in_each_language() {
    let readme = text("README.md");
    // The second C program is the one for OpenMP.
    let c = blocks(&readme, "c");
    assert_eq!(c.len(), 2);
    assert!(c[0].contains("corecast.h") && c[1].contains("#pragma omp"));
    for command in ["cargo run --release", "cargo test"] {
        assert!(readme.contains(command), "{command}");
    }
}

/// Each program in the guide is a part of an example or of the README, which tests run.
#[test]
fn programs_of_the_guide_are_those_that_run() {
    let mut running = vec![text("README.md")];
    for entry in std::fs::read_dir(root().join("crates/corecast/examples")).unwrap() {
        running.push(std::fs::read_to_string(entry.unwrap().path()).unwrap());
    }
    let mut seen = 0;
    for entry in std::fs::read_dir(root().join("docs/guide")).unwrap() {
        let path = entry.unwrap().path();
        let page = std::fs::read_to_string(&path).unwrap();
        for program in ["rust", "c"].iter().flat_map(|name| blocks(&page, name)) {
            seen += 1;
            assert!(
                running.iter().any(|text| text.contains(&program)),
                "{}: not a part of any example:\n{program}",
                path.display()
            );
        }
    }
    assert!(seen >= 4, "{seen} programs");
}
