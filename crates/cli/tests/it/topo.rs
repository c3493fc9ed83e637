//! The output of `corecast topo`, as JSON, CSV, text and pictures.

use crate::common::{TWO_THREADS, corecast, database, file};

#[test]
fn this_machine_is_shown() {
    let text = corecast(&["topo"]).text();
    assert!(text.contains("package 0") && text.contains("PU"), "{text}");
    assert!(text.contains("CPU quota"), "{text}");
    assert!(!text.contains('\u{1b}'), "no colours into a pipe");

    let json = corecast(&["topo", "--json"]).json();
    let pus = json["machine"]["pus"].as_array().unwrap();
    assert_eq!(json["hardware_threads"], pus.len());
    assert!(json["limits"]["usable_parallelism"].as_u64().unwrap() >= 1);
    assert_eq!(json["costs"]["basis"], "assumed");

    let csv = corecast(&["topo", "--csv"]).text();
    assert!(csv.starts_with("schema,pu,core,numa_node,package,l1d_bytes,l2_bytes,l3_bytes\n"));
    assert_eq!(csv.lines().count(), 1 + pus.len());
}

#[test]
fn machines_of_all_sources_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let two = file(folder.path(), "two.json", TWO_THREADS);
    for (machine, threads) in [
        ("builtin:sandybridge-2x8", 32),
        ("synthetic:package:2 numa:2 core:3 pu:2", 24),
        ("package:2 core:3", 6),
        (&two, 2),
    ] {
        let json = corecast(&["topo", "--json", "-i", machine]).json();
        assert_eq!(json["hardware_threads"], threads, "{machine}");
        assert_eq!(json["costs"]["basis"], "given");
        assert_eq!(json["costs"]["send"].as_array().unwrap().len(), threads);
        let text = corecast(&["topo", "--machine", machine]).text();
        assert!(
            text.contains("send, ") && text.contains("minimum"),
            "{text}"
        );
    }
}

#[test]
fn costs_are_written_pair_by_pair() {
    let folder = tempfile::tempdir().unwrap();
    let two = file(folder.path(), "two.json", TWO_THREADS);
    let csv = corecast(&["topo", "-i", &two, "--costs", "--csv"]).text();
    let expected = "schema,from,to,from_numa,to_numa,send,send_half_width,receive,receive_half_width,unit\n\
                    1,5,2,3,0,60,,220,,ns\n1,2,5,0,3,55,,210,,ns\n";
    assert_eq!(csv, expected);
}

#[test]
fn the_machine_database_is_read() {
    let Some(path) = database("magnycours-4x12.json") else {
        return;
    };
    let json = corecast(&["topo", "--json", "-i", path.to_str().unwrap()]).json();
    assert_eq!(json["numa_nodes"], 8);
    assert_eq!(json["costs"]["unit"], "cycles");
}

#[test]
fn pictures_are_well_formed_and_bounded() {
    let folder = tempfile::tempdir().unwrap();
    for machine in [
        "builtin:xeonphi-knc-60x4",
        "core:1",
        "package:8 numa:2 core:32 pu:2",
    ] {
        for more in [&[][..], &["--costs"][..]] {
            let path = folder.path().join("picture.svg");
            let args = [
                &["topo", "-i", machine, "--svg", path.to_str().unwrap()][..],
                more,
            ]
            .concat();
            assert_eq!(corecast(&args).text(), "");
            let picture = std::fs::read_to_string(&path).unwrap();
            let tree = roxmltree::Document::parse(&picture).unwrap();
            for (side, most) in [("width", 1600.0), ("height", 1200.0)] {
                let size: f64 = tree
                    .root_element()
                    .attribute(side)
                    .unwrap()
                    .parse()
                    .unwrap();
                assert!(size > 0.0 && size <= most, "{machine}: {side} {size}");
            }
            assert!(
                picture.len() < 5_000_000,
                "{machine}: {} bytes",
                picture.len()
            );
        }
    }
    let dash = corecast(&["topo", "-i", "core:2", "--svg", "-"]).text();
    assert!(roxmltree::Document::parse(&dash).is_ok());
}

#[test]
fn colours_appear_when_forced_and_never_with_no_color() {
    let run = |name: &str| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_corecast"))
            .args(["topo", "-i", "core:4 pu:2 send=10,20 receive=10,20"])
            .env_remove("NO_COLOR")
            .env(name, "1")
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run("CLICOLOR_FORCE").contains(";48;"));
    assert!(!run("NO_COLOR").contains('\u{1b}'));
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_corecast"))
        .args(["topo", "-i", "core:512", "--costs", "--csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
