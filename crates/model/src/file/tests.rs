use proptest::prelude::*;

use super::*;
use crate::pairwise::{CostModel, Unit};
use crate::synthetic::synthetic;

const OWN: &str = r#"{"schema":1,"machine":{"name":"m","pus":[
  {"os_index":2,"package":0,"numa_node":0,"numa_os_index":0,"core":0},
  {"os_index":5,"package":0,"numa_node":1,"numa_os_index":3,"core":1}]},
  "threads":[5,2],"unit":"ns","send":[[0,60],[55,0]],"receive":[[0,220],[210,0]]}"#;

const DATABASE: &str = r#"{"name":"d","cpu":"c","sockets":1,"threads_per_core":2,
  "numa_nodes":[[0,2],[1,3]],"unit":"cycles",
  "send":[[0,1,2,3],[1,0,2,3],[1,2,0,3],[1,2,3,0]],
  "receive":[[0,9,9,9],[9,0,9,9],[9,9,0,9],[9,9,9,0]]}"#;

fn refused(text: &str, part: &str) {
    let error = MachineFile::from_json(text).expect_err(text).to_string();
    assert!(error.contains(part), "{error:?} lacks {part:?}");
    assert!(!error.contains('\n'), "{error:?} is more than a line");
}

#[test]
fn own_format_is_read_and_written() {
    let file = MachineFile::from_json(OWN).unwrap();
    assert_eq!(file.threads(), [5, 2]);
    assert_eq!(file.costs().numa_nodes(), [1, 0]);
    assert_eq!(file.costs().send(0, 1), 60.0);
    assert_eq!(file.position(2), Some(1));
    let full = file
        .with_intervals(
            vec![vec![0.0, 1.5], vec![0.1, 0.0]],
            vec![vec![0.0, 0.3], vec![7.0, 0.0]],
        )
        .unwrap()
        .with_measured(Measured {
            when: "now".into(),
            samples: 3,
            tool: "t 1".into(),
        });
    assert_eq!(MachineFile::from_json(&full.to_json()).unwrap(), full);
}

#[test]
fn own_format_refuses_bad_input() {
    for (from, to, part) in [
        ("\"schema\":1", "\"schema\":2", "schema 2 is unknown"),
        (
            "\"schema\":1",
            "\"schema\":\"1\"",
            "schema \"1\" is unknown",
        ),
        ("\"ns\"", "\"ms\"", "unit \"ms\" is unknown"),
        ("[55,0]", "[\"NaN\",0]", "send[1][0] is \"NaN\""),
        ("[55,0]", "[-55,0]", "send[1][0] is -55"),
        ("[55,0]", "[null,0]", "send[1][0] is missing"),
        ("[55,0]", "[1e999,0]", "number out of range"),
        ("[55,0]", "[55]", "send[1] has 1 entries"),
        ("[55,0]", "[true,0]", "a cost, a number"),
        ("[55,0]", "[NaN,0]", "line 4"),
        (",[210,0]]", "]", "receive has 1 entries, expected 2"),
        ("[5,2]", "[5,3]", "hardware thread 3"),
        ("[5,2]", "[5,5]", "hardware thread 5 twice"),
        ("[5,2]", "[5]", "threads has 1 entries, expected 2"),
        ("\"os_index\":5", "\"os_index\":2", "thread 2 after 2"),
    ] {
        assert!(OWN.contains(from), "{from}");
        refused(&OWN.replace(from, to), part);
    }
    refused("", "EOF");
    refused("[]", "expected a machine as a JSON object");
    refused("{}", "missing field");
}

const LINES: &str = r#","lines":{"write":70,"invalidate":[0,1,2,3],
  "transfer":[2.3,35,35,94],"base":[4,5,6,7],"slope":[0,0,0.5,1]}}"#;

fn own_with_lines() -> String {
    format!("{}{LINES}", OWN.strip_suffix('}').unwrap())
}

#[test]
fn line_costs_are_read_and_written() {
    let file = MachineFile::from_json(&own_with_lines()).unwrap();
    let lines = file.costs().lines().unwrap();
    assert_eq!(lines.costs().slope, [0.0, 0.0, 0.5, 1.0]);
    // The two threads are on different NUMA nodes of one package.
    assert_eq!(lines.fetch(0, 1, 2), 7.0);
    assert_eq!(MachineFile::from_json(&file.to_json()).unwrap(), file);
    let bare = MachineFile::from_json(OWN).unwrap();
    assert!(bare.costs().lines().is_none());
    assert!(!bare.to_json().contains("lines"));
    let null = OWN.replace("\"unit\"", "\"lines\":null,\"unit\"");
    assert_eq!(MachineFile::from_json(&null).unwrap(), bare);
}

#[test]
fn bad_line_costs_are_refused() {
    let text = own_with_lines();
    for (from, to, part) in [
        ("\"write\":70,", "", "missing field `write`"),
        ("\"write\":70", "\"write\":-70", "lines.write is -70"),
        ("\"write\":70", "\"write\":\"70\"", "lines.write is \"70\""),
        ("\"write\":70", "\"write\":NaN", "line 4"),
        ("\"write\":70", "\"write\":70,\"wrote\":1", "`wrote`"),
        ("[4,5,6,7]", "[4,5,6]", "lines.base has 3 entries"),
        ("[4,5,6,7]", "[4,null,6,7]", "lines.base[1] is null"),
        ("[0,0,0.5,1]", "[0,0,0.5,1e16]", "lines.slope[3] is 1000"),
        ("[0,1,2,3]", "7", "expected a sequence"),
    ] {
        assert!(text.contains(from), "{from}");
        refused(&text.replace(from, to), part);
    }
}

#[test]
fn every_truncation_is_refused() {
    for text in [OWN, DATABASE, &own_with_lines()] {
        for end in 0..text.len() {
            assert!(
                MachineFile::from_json(&text[..end]).is_err(),
                "cut at {end}"
            );
        }
    }
}

#[test]
fn database_format_is_read() {
    let file = MachineFile::from_json(DATABASE).unwrap();
    assert_eq!(file.threads(), [0, 1, 2, 3]);
    assert_eq!(file.costs().numa_nodes(), [0, 1, 0, 1]);
    assert_eq!(file.costs().unit(), Unit::Cycles);
    let cores: Vec<u32> = file.machine().pus.iter().map(|pu| pu.core).collect();
    assert_eq!(cores, [0, 1, 0, 1]);
    assert_eq!(file.machine().package_count(), 1);
    assert_eq!(MachineFile::from_json(&file.to_json()).unwrap(), file);
}

#[test]
fn database_format_refuses_bad_input() {
    for (from, to, part) in [
        ("[1,3]]", "[1,2,3]]", "thread 2 is in NUMA nodes 0 and 1"),
        ("[1,3]]", "[1]]", "thread 3 is in no NUMA node"),
        ("[1,3]]", "[1,3,4]]", "NUMA node 1 lists thread 4"),
        ("[1,3]]", "[1,3,99999999999]]", "lists thread 99999999999"),
        ("[9,0,9,9]", "[9,0,null,9]", "receive[1][2] is missing"),
        ("[9,0,9,9]", "[9,0,\"inf\",9]", "receive[1][2] is \"inf\""),
        ("\"cycles\"", "\"seconds\"", "unit \"seconds\""),
    ] {
        assert!(DATABASE.contains(from), "{from}");
        refused(&DATABASE.replace(from, to), part);
    }
    refused(
        r#"{"name":"x","numa_nodes":[],"send":[],"receive":[]}"#,
        "no threads",
    );
}

#[test]
fn a_large_machine_survives_a_round_trip() {
    let file = synthetic("package:4 numa:2 core:16 pu:2").unwrap();
    assert_eq!(MachineFile::from_json(&file.to_json()).unwrap(), file);
}

proptest! {
    /// Costs keep every bit on their way through a file.
    #[test]
    fn any_cost_survives_a_round_trip(bits in prop::collection::vec(0.0..1e15_f64, 9)) {
        let at = |i: usize, j: usize| bits[i * 3 + j];
        let machine = synthetic("core:3").unwrap().machine().clone();
        let costs = CostModel::from_fn(Unit::Nanoseconds, vec![0; 3], at, |i, j| at(j, i)).unwrap();
        let file = MachineFile::of_whole(machine, costs).unwrap();
        prop_assert_eq!(MachineFile::from_json(&file.to_json()).unwrap(), file);
    }

    /// No text makes the reader panic.
    #[test]
    fn any_text_is_answered(text in ".{0,200}") {
        let _ = MachineFile::from_json(&text);
        let _ = synthetic(&text);
    }
}

#[test]
fn hosts_whose_cards_are_slower_than_their_network_make_a_machine() {
    let network = crate::cluster::Network {
        latency_ns: 100.0,
        overhead_ns: 50.0,
        gap_ns: 900.0,
        byte_ns: 1.0,
    };
    let host = crate::synthetic("core:2").unwrap();
    let hosts = ["a", "b"].map(|name| (name.to_owned(), host.clone(), vec![0]));
    let file = MachineFile::of_hosts("a b", hosts.into(), network).unwrap();
    let costs = file.costs();
    assert_eq!((costs.send(0, 2), costs.receive(0, 2)), (963.0, 0.0));
}

#[test]
fn what_was_measured_of_a_network_is_kept_and_checked() {
    use crate::cluster::{Cluster, Interval, MessageTimes, Network, NetworkMeasurement};
    let time = Interval {
        median: 2.0,
        low: 1.0,
        high: 3.0,
    };
    let measured = NetworkMeasurement {
        library: "one".into(),
        created: "2026-11-27T03:00:00Z".into(),
        pairs: 1,
        latency_ns: time,
        send_overhead_ns: time,
        receive_overhead_ns: time,
        gap_ns: time,
        byte_ns: time,
        empty_ns: time,
        rendezvous_bytes: Some(65536),
        sizes: vec![MessageTimes {
            bytes: 8,
            one_way: time,
            in_a_row: time,
        }],
    };
    let host = crate::synthetic("core:2").unwrap();
    let hosts = ["a", "b"].map(|name| (name.to_owned(), host.clone(), vec![0]));
    let file = MachineFile::of_hosts("a b", hosts.into(), Network::ASSUMED).unwrap();
    let mut cluster = Cluster::new(file.cluster().unwrap().hosts.clone(), Network::ASSUMED);
    cluster.measured = Some(measured);
    let kept = file.clone().with_cluster(cluster.clone()).unwrap();
    let read = MachineFile::from_json(&kept.to_json()).unwrap();
    assert_eq!(read.cluster(), Some(&cluster));
    cluster.measured.as_mut().unwrap().sizes[0].in_a_row.high = f64::NAN;
    let refused = file.with_cluster(cluster).unwrap_err().to_string();
    assert!(refused.contains("in_a_row"), "{refused}");
}
