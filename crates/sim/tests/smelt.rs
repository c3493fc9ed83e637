//! Broadcasts over trees on the machines that the authors of Smelt measured: the order of the trees, and how
//! many times as long as the cluster tree they take.

use corecast_coll::{Groups, Plans};
use corecast_model::{CostModel, MachineFile};
use corecast_plan::Pattern;
use corecast_sim::drive::{Call, Collective, Job};
use corecast_sim::engine::{Cpu, Options, run};
use corecast_sim::fabric::{Setting, SimFabric, Team, predict};
use corecast_sim::machine::{Machine, pairs};
use corecast_wire::Fabric;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The folder of measurements, where this checkout has one beside it.
fn folder() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/machinedb");
    if !path.exists() {
        println!("SKIPPED: no machine database beside the workspace");
        return None;
    }
    Some(path)
}

/// As it was measured: a broadcast from rank 0, and a message back from who gets it last.
fn measure(machine: &Machine, costs: &CostModel, pattern: Pattern, seed: u64, jitter: f64) -> f64 {
    let n = costs.n();
    let cores: Vec<usize> = (0..n).collect();
    let tree = pattern.tree(costs, 0).unwrap();
    let call = Call::new(Collective::Broadcast, "messages", 0, 8).unwrap();
    let job = Rc::new(Job::new(&call, &Plans::of_tree(&tree)).unwrap());
    let once = predict(machine, &cores, &job, &Setting::default()).unwrap();
    let end = |rank: &usize| once.ends[*rank];
    let last = (0..n).max_by(|a, b| end(a).total_cmp(&end(b))).unwrap();
    let combine = machine.costs.combine_bytes;
    let team = Team::new(&cores, &Groups::new(n));
    let body = move |cpu: &mut Cpu<'_>, team: &Team| {
        let mut fabric = SimFabric::new(cpu, team, combine);
        let operator = fabric.combine();
        let mut took = 0.0;
        for _ in 0..3 {
            fabric.begin_measure(n);
            let start = fabric.cpu().now();
            let Ok(_) = job.run(&mut fabric, &operator);
            let Ok(()) = match fabric.rank() {
                0 => fabric.receive(last, &mut [0; 8]),
                rank if rank == last => fabric.send(0, &[0; 8]),
                _ => Ok(()),
            };
            took = fabric.cpu().now() - start;
        }
        took
    };
    let options = Options {
        seed,
        jitter,
        ..Options::default()
    };
    let outcome = run(machine, &cores, &options, |_| team, body).unwrap();
    outcome.results[0]
}

/// The ratios of `binary` and `sequential` to `cluster`, simulated and measured.
fn ratios(
    costs: &CostModel,
    measured: &serde_json::Value,
    seed: u64,
    jitter: f64,
) -> [[f64; 2]; 2] {
    let machine = pairs::machine("measured", costs);
    let cluster = measure(&machine, costs, Pattern::Cluster, seed, jitter);
    let then = |name: &str| measured[name].as_f64().unwrap();
    [
        (Pattern::Binary, "bintree"),
        (Pattern::Sequential, "sequential"),
    ]
    .map(|(pattern, name)| {
        let found = measure(&machine, costs, pattern, seed, jitter) / cluster;
        [found, then(name) / then("cluster")]
    })
}

#[test]
fn trees_are_in_the_order_that_was_measured() {
    let Some(folder) = folder() else { return };
    let text = std::fs::read_to_string(folder.join("measured-trees.json")).unwrap();
    let measured: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut machines = 0;
    for (name, times) in measured.as_object().unwrap() {
        let Ok(text) = std::fs::read_to_string(folder.join(format!("{name}.json"))) else {
            continue;
        };
        let file = MachineFile::from_json(&text).unwrap();
        machines += 1;
        for (seed, jitter) in [(0, 0.0), (1, 60.0), (2, 60.0), (3, 60.0)] {
            let [binary, sequential] = ratios(file.costs(), times, seed, jitter);
            println!(
                "{name}, jitter {jitter}: binary {binary:.2?}, sequential {sequential:.2?} (measured)"
            );
            for [found, then] in [binary, sequential] {
                assert!(
                    (found / then - 1.0).abs() < 0.25,
                    "{name}: {found} against {then}"
                );
            }
            assert!(
                1.0 < binary[0] && binary[0] < sequential[0],
                "{name}: {binary:?}"
            );
        }
    }
    assert_eq!(machines, 4, "machines with costs and times");
}
