//! The output of `corecast sim --json`, its pictures, and the input that it refuses.

use crate::common::{Run, corecast};
use serde_json::Value;

/// `corecast sim` on a machine, with flags that hold no spaces.
fn sim(machine: &str, flags: &str) -> Run {
    let flags: Vec<&str> = flags.split_whitespace().collect();
    corecast(&[&["sim", "--machine", machine], &flags[..]].concat())
}

#[test]
fn the_contract_of_json() {
    let found = sim(
        "builtin:sandybridge-2x8",
        "--op broadcast --pattern binary --threads 0-7 --size 8 --json",
    )
    .json();
    assert!(found["latency"].as_f64().unwrap() > 0.0);
    assert_eq!(found["unit"], "ns");
    // Each of seven messages is a line that its sender takes back and its receiver gets.
    assert_eq!(found["transfers"]["modified"], 7);
    assert_eq!(found["transfers"]["upgrade"], 7);
    assert_eq!(found["invalidations"], 7);
    let bound = |name: &str| found[name].as_f64().unwrap();
    assert!(0.0 < bound("t_min") && bound("t_min") <= bound("t_max"));
    assert_eq!(found["ends"].as_array().unwrap().len(), 8);
}

#[test]
fn all_operations_on_machines_of_parts() {
    let operations = [
        "barrier",
        "broadcast",
        "reduce",
        "allreduce",
        "scatter",
        "gather",
        "allgather",
        "alltoall",
        "reduce_scatter",
        "scan",
    ];
    for op in operations {
        for machine in ["parts:packages:2x3", "parts:mesh:3x2"] {
            let found = sim(machine, &format!("--op {op} --size 64 --json")).json();
            assert!(
                found["latency"].as_f64().unwrap() > 0.0,
                "{op} on {machine}"
            );
        }
    }
    let barrier = sim(
        "parts:ring:8",
        "--op barrier --pattern dissemination:2 --json",
    )
    .json();
    assert_eq!(barrier["algorithm"], "dissemination");
}

#[test]
fn machines_of_several_hosts_are_simulated_by_level() {
    // A call of 20 ns, o, 7 more bytes of G, L, and o.
    let two = "cluster:2 core:1 L=1000 o=100 g=0 G=1";
    let found = sim(two, "--size 8 --json").json();
    assert_eq!(
        (found["latency"].as_f64(), found["unit"].as_str()),
        (Some(1227.0), Some("ns"))
    );
    assert!(found["t_min"].is_null());

    let text = sim("cluster:3 package:2 core:2", "--pattern levels").text();
    assert!(text.contains("between hosts: 2 messages"), "{text}");
    for op in [
        "barrier",
        "allreduce",
        "scatter",
        "gather",
        "allgather",
        "alltoall",
        "scan",
    ] {
        let found = sim(
            "cluster:2 package:2 core:2",
            &format!("--op {op} --size 20K --json"),
        );
        let latency = found.json()["latency"].as_f64().unwrap();
        assert!(latency > 2000.0, "{op} in {latency} ns");
    }
    // No line is simulated there, of which there could be a timeline.
    let refusal = sim(two, "--timeline -").refusal();
    assert!(
        refusal.contains("--timeline") && refusal.contains("several hosts"),
        "{refusal}"
    );
}

/// Of three hosts with two NUMA nodes the first one sends to the others, and its own levels are drawn as well.
#[test]
fn the_levels_of_several_hosts_are_drawn() {
    let machine = "cluster:3 package:2 core:2";
    let text = sim(machine, "--pattern levels --size 64K").text();
    let row = |begin: &str| {
        let found = text.lines().find(|line| line.starts_with(begin));
        found.unwrap_or_else(|| panic!("no {begin:?} in {text}"))
    };
    // Whoever sends has a sign that is no dot; a host's signs stand together.
    let out = row("between hosts       cards, out  █ ");
    assert!(out.contains("%: card 0 of host 0, out"), "{text}");
    let into = row("between hosts       cards, in   ");
    assert!(
        into.contains("of host 1, in") || into.contains("of host 2, in"),
        "{text}"
    );
    for level in [
        "between NUMA nodes  ports",
        "inside NUMA nodes   memories",
        "inside NUMA nodes   cores",
    ] {
        assert!(row(level).contains("busiest "), "{text}");
    }
    let svg = sim(machine, "--pattern levels --size 64K --svg -").text();
    assert!(svg.starts_with("<svg"), "{svg}");
    for part in [
        "card 0 of host 2, in: ",
        "port of region 5: ",
        "memory of region 0: ",
        "processor of rank 11: ",
    ] {
        assert!(svg.contains(part), "{part} in {svg}");
    }
}

#[test]
fn the_replay_gives_the_same() {
    let first = sim(
        "parts:tilepro64",
        "--threads 0-20 --seed 5 --jitter 9 --skew 40 --json",
    )
    .json();
    let replay = first["replay"].as_str().unwrap();
    let words: Vec<&str> = replay
        .split_whitespace()
        .skip(1)
        .chain(["--json"])
        .collect();
    assert_eq!(corecast(&words).json(), first);
    let other = sim(
        "parts:tilepro64",
        "--threads 0-20 --seed 6 --jitter 9 --skew 40 --json",
    )
    .json();
    assert_ne!(other["ends"], first["ends"]);
}

#[test]
fn four_thousand_cores() {
    let found = sim("parts:mesh:64x64", "--pattern binomial --size 8 --json").json();
    assert_eq!(found["ends"].as_array().unwrap().len(), 4096);
    // The costs of so many pairs are not measured.
    assert!(found["t_min"].is_null() && found["t_max"].is_null());
}

#[test]
fn trees_are_compared_over_machines() {
    let flags =
        "--compare --machines parts:mesh:4x4,builtin:sandybridge-2x8 --patterns binary,sequential";
    let flags: Vec<&str> = flags.split_whitespace().collect();
    let found = corecast(&[&["sim", "--json"], &flags[..]].concat()).json();
    let rows = found["machines"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        let of = |name: &str| row["latency"][name].as_f64().unwrap();
        assert!(of("binary") < of("sequential"), "{row}");
        assert_eq!(row["winner"], "binary");
    }
    let text = corecast(&[&["sim"], &flags[..]].concat()).text();
    assert!(text.contains("mesh-4x4") && text.contains("1.00"), "{text}");
}

#[test]
fn pictures_are_well_formed() {
    let svg = sim("parts:mesh:2x2", "--svg -").text();
    roxmltree::Document::parse(&svg).expect("SVG is XML");
    assert!(svg.matches("<rect").count() >= 6, "{svg}");
    let json = sim("parts:mesh:2x2", "--timeline -").text();
    let timeline: Value = serde_json::from_str(&json).unwrap();
    let events = timeline["traceEvents"].as_array().unwrap();
    let of = |phase: &str| events.iter().filter(|event| event["ph"] == phase).count();
    // There are four ranks and three messages, each sent and received.
    assert_eq!((of("M"), of("X"), of("s"), of("f")), (4, 6, 3, 3));
    let negative = |event: &Value| event["dur"].as_f64().is_some_and(|dur| dur < 0.0);
    assert!(!events.iter().any(negative));
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    for (machine, flags, part) in [
        ("parts:cube:3", "", "\"cube:3\""),
        ("parts:mesh:0x4", "", "\"mesh:0x4\""),
        ("parts:mesh:2x2", "--threads 0,9", "\"0,9\""),
        ("parts:mesh:2x2", "--op sing", "\"sing\""),
        ("parts:mesh:2x2", "--algorithm pigeons", "\"pigeons\""),
        (
            "parts:mesh:3x1",
            "--op allreduce --algorithm rabenseifner",
            "a power of two",
        ),
        ("parts:mesh:2x2", "--root 4", "\"4\""),
        ("parts:mesh:2x2", "--size 8,16", "\"8,16\""),
        ("parts:mesh:2x2", "--op alltoall --size 1G", "beyond"),
        ("parts:mesh:2x2", "--jitter=-1", "-1"),
        ("parts:mesh:64x64", "--pattern mst", "\"mst\""),
        (
            "parts:mesh:2x2",
            "--svg - --timeline -",
            "takes one of them",
        ),
        (
            "parts:mesh:2x2",
            "--compare --patterns binary,oak",
            "\"oak\"",
        ),
        (
            "parts:mesh:2x2",
            "--compare --machines parts:ring:3",
            "--machines",
        ),
    ] {
        let refusal = sim(machine, flags).refusal();
        assert!(refusal.contains(part), "{machine} {flags}: {refusal}");
    }
}
