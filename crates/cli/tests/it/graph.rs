//! The output of `corecast graph`, its pictures, and the input that it refuses.

use crate::common::{Run, corecast};
use serde_json::Value;

/// `corecast graph` on a machine, with flags that hold no spaces.
fn graph(machine: &str, flags: &str) -> Run {
    let flags: Vec<&str> = flags.split_whitespace().collect();
    corecast(&[&["graph", "-i", machine], &flags[..]].concat())
}

const SANDY_BRIDGE: &str = "builtin:sandybridge-2x8";

#[test]
fn t_min_of_messages_is_what_the_planner_predicts() {
    let found = graph(
        SANDY_BRIDGE,
        "--threads 0-7 --root 0 --pattern smelt --algorithm messages --size 0 --json",
    );
    let plan = [
        "plan",
        "-i",
        SANDY_BRIDGE,
        "--threads",
        "0-7",
        "--root",
        "0",
        "--pattern",
        "smelt",
        "--json",
    ];
    let planned = corecast(&plan).json()["latency"].as_f64().unwrap();
    let t_min = found.json()["t_min"].as_f64().unwrap();
    assert!((t_min - planned).abs() < 1e-6, "{t_min} and {planned}");
}

#[test]
fn paths_lead_along_edges_to_the_bounds() {
    for op in ["barrier", "reduce", "allreduce", "alltoall", "scan"] {
        let found = graph(SANDY_BRIDGE, &format!("--op {op} --subset 6 --json")).json();
        let acts = found["acts"].as_array().unwrap();
        let end = |act: &Value, name: &str| acts[act.as_u64().unwrap() as usize][name].as_f64();
        for (path, bound, ends) in [
            ("critical_path", "t_min", "end"),
            ("longest_path", "t_max", "end_at_most"),
        ] {
            let path = found[path].as_array().unwrap();
            assert_eq!(
                end(path.last().unwrap(), ends),
                found[bound].as_f64(),
                "{op}"
            );
            let times: Vec<_> = path.iter().map(|act| end(act, ends)).collect();
            assert!(times.is_sorted(), "{op}: {times:?}");
        }
        // No act comes before one that it needs.
        for (index, act) in acts.iter().enumerate() {
            let after = act["after"].as_array().unwrap().iter();
            let before = after.chain([&act["before"]]).filter_map(Value::as_u64);
            assert!(before.into_iter().all(|other| other < index as u64), "{op}");
        }
        let text = graph(SANDY_BRIDGE, &format!("--op {op} --subset 6")).text();
        for part in ["T_min", "T_max", "critical path", "longest path", "(E4)"] {
            assert!(text.contains(part), "{text}");
        }
    }
}

#[test]
fn pictures_show_every_act() {
    let flags = "--op reduce --threads 0-5";
    let found = graph(SANDY_BRIDGE, &format!("{flags} --json")).json();
    let acts = found["acts"].as_array().unwrap().len();
    let dot = graph(SANDY_BRIDGE, &format!("{flags} --dot -")).text();
    assert_eq!(dot.matches(" [label=").count(), acts);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.svg");
    let path = path.to_str().unwrap();
    let text = graph(SANDY_BRIDGE, &format!("{flags} --svg {path}")).text();
    assert!(text.contains("critical path"), "{text}");
    let svg = std::fs::read_to_string(path).unwrap();
    // One for the ground, one for each rank, one for each act.
    assert_eq!(svg.matches("<rect ").count(), 1 + 6 + acts);
}

/// The page shows what the command prints, but for spaces at the ends of lines.
#[test]
fn the_page_is_right() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/symbolic.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (_, from_command) = page.split_once("$ corecast graph -i ").unwrap();
    let (command, rest) = from_command.split_once('\n').unwrap();
    let (shown, _) = rest.split_once("\n```").unwrap();
    let (machine, flags) = command.split_once(' ').unwrap();
    let text = graph(machine, flags).text();
    let lines: Vec<&str> = text.trim_end().lines().map(str::trim_end).collect();
    assert_eq!(shown.lines().collect::<Vec<_>>(), lines);
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    for (machine, flags, quoted) in [
        ("core:65", "", "65 ranks"),
        ("core:4", "--root 4", "\"4\""),
        ("core:4", "--op gossip", "gossip"),
        ("core:4", "--algorithm gossip", "gossip"),
        ("core:4", "--size 1,2", "1,2"),
        ("core:4", "--svg - --dot -", "--svg - and --dot -"),
        ("core:4", "--svg /nowhere/graph.svg", "/nowhere/graph.svg"),
    ] {
        let line = graph(machine, flags).refusal();
        assert!(line.contains(quoted), "{line}");
    }
}
