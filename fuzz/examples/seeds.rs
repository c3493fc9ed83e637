//! Writes inputs to start from into the corpus: what Corecast itself writes, whole and damaged.
//!
//! `cargo run --example seeds` in this folder; `fuzz/run TARGET minimise` then keeps what counts.

use std::path::Path;

use corecast_model::profile::{
    Mode, SizeRace, Start, TunedCandidate, TunedOperation, TunedRange, TunedWaits, Tuning,
};
use corecast_model::{
    LineCosts, Measured, Profile, ProfileEntry, RacedCandidate, builtin, synthetic,
};
use corecast_plan::{Operation, Pattern, RootChoice, plan};

/// In the format of Smelt's machine database, which has no schema.
const DATABASE: &str = r#"{"name":"d","cpu":"c","sockets":1,"threads_per_core":2,
 "numa_nodes":[[0,2],[1,3]],"unit":"cycles",
 "send":[[0,1,2,3],[1,0,2,3],[1,2,0,3],[1,2,3,0]],
 "receive":[[0,9,9,9],[9,0,9,9],[9,9,0,9],[9,9,9,0]]}"#;

/// Costs of shared lines as the papers have them.
const LINES: LineCosts = LineCosts {
    write: 70.0,
    invalidate: [0.0, 0.5, 1.0, 2.0],
    transfer: [2.3, 35.0, 35.0, 94.0],
    base: [2.3, 35.0, 35.0, 94.0],
    slope: [0.0, 0.0, 0.25, 4.5],
};

/// What makes such costs no costs.
const LINES_DAMAGE: [(&str, &str); 5] = [
    ("\"write\": 70.0", "\"write\": -1"),
    ("\"slope\"", "\"base\""),
    ("\"transfer\": [2.3,", "\"transfer\": ["),
    ("\"base\": [2.3,", "\"base\": [null,"),
    ("\"invalidate\": [0.0,", "\"invalidate\": [1e16,"),
];

/// A measurement in depth, as a section of a machine file.
const DEEP: &str = include_str!("../../crates/model/src/deep/example.json");

/// What makes it none.
const DEEP_DAMAGE: [(&str, &str); 6] = [
    ("\"schema\":1", "\"schema\":2"),
    ("\"L2\"", "\"L0\""),
    ("\"same L3 cache\"", "\"near\""),
    ("\"x\":8", "\"x\":1"),
    ("61.1", "-61.1"),
    ("\"steady\":true,", ""),
];

const SPECS: [&str; 5] = [
    "core:2",
    "package:2 core:2 send=10,40 receive=30,90 unit=cycles",
    "package:1 numa:2 core:1 pu:2 send=5,6,7,8 receive=1,2,3,4.5",
    "numa:2 pu:2 send=0 receive=1e15",
    "package:1 core:3 pu:1",
];

/// Requests to the store, whole and damaged.
const REQUESTS: [&[u8]; 12] = [
    b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n",
    b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\n\r\n*1$\r\n*1\r\n$4\r\nPING\r\n",
    b"PING \"a b\" 'c'\r\n\r\n*0\r\n*-1\r\n",
    b"*1\r\n$0\r\n\r\n*1\r\n$1\r\n\r\r\n",
    b"*11\r\n$1\r\na\r\n",
    b"*1\r\n$16385\r\n",
    b"*1048577\r\n",
    b"*1048576\r\n$536870912\r\nabc",
    b"*1\r\n$-1\r\n",
    b"*1\r\n:1\r\n",
    b"*1\r\n$007\r\nabcdefg\r\n",
    b"*01\r\n$1\r\na\r\n",
];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let write = |target: &str, name: &str, bytes: &[u8]| {
        let folder = root.join(target);
        std::fs::create_dir_all(&folder).expect("the corpus can be written");
        std::fs::write(folder.join(name), bytes).expect("the corpus can be written");
    };
    for (at, text) in machines().iter().enumerate() {
        write("machine_file", &format!("seed-{at}"), text.as_bytes());
    }
    for (at, text) in words().iter().enumerate() {
        write("words", &format!("seed-{at}"), text.as_bytes());
    }
    for (at, text) in profiles().iter().enumerate() {
        write("profile", &format!("seed-{at}"), text.as_bytes());
    }
    for (at, requests) in REQUESTS.iter().enumerate() {
        // The first byte says which client it is, and how long the pieces are.
        let bytes = [&[2 * at as u8], *requests].concat();
        write("resp", &format!("seed-{at}"), &bytes);
    }
    for seed in 0..60 {
        write("planner", &format!("seed-{seed}"), &noise(seed));
        // The first byte says what is run.
        for (target, kinds) in [("c_interface", 8), ("rendezvous", 3), ("lines", 4)] {
            let kind = (seed % kinds) as u8;
            let bytes = [vec![kind], noise(seed)].concat();
            write(target, &format!("seed-{seed}"), &bytes);
        }
    }
}

fn machines() -> Vec<String> {
    let mut all = vec![DATABASE.to_owned()];
    for spec in SPECS {
        let file = synthetic(spec).expect("a valid machine");
        let n = file.costs().n();
        let rows = || vec![vec![0.5; n]; n];
        all.push(file.to_json());
        let file = file
            .with_intervals(rows(), rows())
            .expect("valid intervals");
        let full = file.with_measured(Measured {
            when: "2026-11-22".into(),
            samples: 3,
            tool: "t".into(),
        });
        all.push(full.to_json());
        all.push(full.with_lines(LINES).expect("valid costs").to_json());
    }
    let lines = all[3].clone();
    all.extend(LINES_DAMAGE.map(|(from, to)| lines.replacen(from, to, 1)));
    let damage = [
        ("\"schema\": 1", "\"schema\": 2"),
        ("\"ns\"", "\"ms\""),
        ("[0.0,", "[0.0,null,"),
        ("[0.0,", "[\"NaN\","),
        ("\"os_index\":1", "\"os_index\":0"),
        ("\"threads\": [0", "\"threads\": [7"),
    ];
    let text = all[1].clone();
    let with_deep =
        |deep: &str| text.replacen("\"unit\"", &format!("\"deep\": {deep},\n \"unit\""), 1);
    all.push(with_deep(DEEP));
    all.extend(DEEP_DAMAGE.map(|(from, to)| with_deep(&DEEP.replacen(from, to, 1))));
    all.extend(damage.map(|(from, to)| text.replacen(from, to, 1)));
    all
}

fn words() -> Vec<String> {
    let mut all: Vec<String> = SPECS.map(str::to_owned).into();
    all.extend(Pattern::names().into_iter().map(|name| {
        name.replace('K', "3")
            .replace("A/B/C", "binomial/flat/planned")
    }));
    all.extend(Operation::ALL.map(|operation| operation.to_string()));
    all
}

/// What makes a tuning none.
const TUNING_DAMAGE: [(&str, &str); 4] = [
    ("\"up_to_bytes\": 4096", "\"up_to_bytes\": null"),
    ("\"strict\"", "\"tight\""),
    ("\"measured_ns\": 900.0", "\"measured_ns\": -900.0"),
    ("\"cpuset\"", "\"set\""),
];

/// One with all that there is.
fn tuning() -> Tuning {
    let mut tuning = Tuning::new(vec![0, 5, 17], true, Mode::Processes, Start::Together);
    tuning.waits = Some(TunedWaits {
        spin_ns: 3000,
        hardware_ns: 2000,
        soon_ns: 0,
        yield_ns: 100_000,
        park: true,
    });
    let candidate = |name: Option<&str>| TunedCandidate {
        predicted_ns: Some(1000.5),
        measured_ns: Some(900.0),
        interval_ns: Some((890.0, 910.0)),
        samples: 40,
        dropped: name.map(|_| "out after round 9".to_owned()),
        ..TunedCandidate::new(name.map(str::to_owned))
    };
    let race = SizeRace {
        bytes: 64,
        candidates: vec![candidate(None), candidate(Some("ring"))],
    };
    let range = TunedRange {
        mended: Some("a reduce and a broadcast were faster".to_owned()),
        races: vec![race],
        ..TunedRange::new(Some(4096), Some("trees".to_owned()))
    };
    tuning.operations = vec![TunedOperation {
        operation: "allreduce".to_owned(),
        ranges: vec![range, TunedRange::new(None, None)],
    }];
    tuning
}

fn profiles() -> Vec<String> {
    let machine = builtin("sandybridge-2x8").expect("a built-in machine");
    let costs = machine.costs().subset(&[0, 5, 17]).expect("a team");
    let mut profile = Profile::new("key".into(), "2026-11-22".into());
    let mut all = vec![profile.to_json()];
    for operation in Operation::ALL {
        let patterns = [Pattern::Smelt, Pattern::Binary];
        let candidates = patterns.map(|pattern| {
            let plan = plan(&costs, pattern, operation, RootChoice::Auto).expect("a plan");
            RacedCandidate {
                pattern: pattern.to_string(),
                root: plan.root,
                children: plan.tree().map(|tree| tree.child_lists().to_vec()),
                fan_in: (operation == Operation::Barrier).then(|| vec![vec![2, 1], vec![], vec![]]),
                predicted_ns: plan.latency,
                measured_ns: 1.25 * plan.latency,
                interval_ns: (plan.latency, 1.5 * plan.latency),
            }
        });
        profile.record(ProfileEntry {
            operation: operation.to_string(),
            threads: vec![0, 5, 17],
            winner: "smelt".into(),
            candidates: candidates.into(),
        });
        all.push(profile.to_json());
    }
    profile.record_tuning(tuning());
    let tuned = profile.to_json();
    for (from, to) in TUNING_DAMAGE {
        all.push(tuned.replacen(from, to, 1));
    }
    all.push(tuned);
    all.push(all[1].replace("\"winner\": \"smelt\"", "\"winner\": \"x\""));
    all.push(all[1].replacen("\"children\"", "\"child\"", 1));
    all
}

/// Bytes for a case: some random, some all alike, so that ties are among them.
fn noise(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let length = 24 + 8 * seed as usize;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    let mut bytes: Vec<u8> = (0..length).map(next).collect();
    if seed.is_multiple_of(3) {
        bytes[12..].fill(seed as u8);
    }
    bytes
}
