//! The numbered examples run, as `cargo test` has built them.

use std::path::Path;
use std::process::Command;

#[test]
fn every_numbered_example_runs() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut names: Vec<String> = std::fs::read_dir(sources)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|file| file.strip_suffix(".rs").map(str::to_owned))
        .filter(|name| name.starts_with(|first: char| first.is_ascii_digit()))
        .collect();
    names.sort();
    assert!(names.len() >= 8, "{names:?}");
    let own = std::env::current_exe().unwrap();
    let built = own.parent().unwrap().with_file_name("examples");
    for name in names {
        let program = built.join(&name);
        assert!(
            program.exists(),
            "{program:?} is not built: `cargo test -p corecast` builds it, `--test` alone does not"
        );
        let output = Command::new(&program)
            .env_remove("CORECAST_EXAMPLE_NAME")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {said}");
        assert!(!output.stdout.is_empty(), "{name} says nothing");
    }
}
