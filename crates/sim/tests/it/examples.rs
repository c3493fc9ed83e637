//! The example that runs one source in three places, as `cargo test` has built it.

use std::process::Command;

#[test]
fn one_source_runs_in_three_places() {
    let own = std::env::current_exe().unwrap();
    let built = own.parent().unwrap().with_file_name("examples");
    let program = built.join("one_line");
    assert!(
        program.exists(),
        "{program:?} is not built: `cargo test -p corecast-sim` builds it, `--test` alone does not"
    );
    let output = Command::new(&program).args(["2", "20"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{complained}");
    // Simulated times of five algorithms on the paper's machine are between their bounds.
    let mut rows = 0;
    for line in said.lines() {
        let columns: Vec<f64> = line
            .split_whitespace()
            .filter_map(|it| it.parse().ok())
            .collect();
        if let [.., simulated, least, most] = columns[..]
            && columns.len() == 8
        {
            assert!(least <= simulated && simulated <= most, "{said}");
            rows += 1;
        }
    }
    assert_eq!(rows, 5, "{said}");
}
