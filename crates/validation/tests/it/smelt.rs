//! Broadcasts over trees on the machines that the authors of Smelt measured: the order of the trees, and how
//! many times as long as the cluster tree they take.

use crate::references::machine_database;
use corecast_plan::Pattern;
use corecast_validation::sections::smelt::{MeasuredTrees, machines, simulate};

/// The ratios of `binary` and `sequential` to `cluster`, simulated and measured.
fn ratios(machine: &MeasuredTrees, seed: u64, jitter: f64) -> [[f64; 2]; 2] {
    let cluster = simulate(&machine.costs, Pattern::Cluster, seed, jitter);
    [
        (Pattern::Binary, "bintree"),
        (Pattern::Sequential, "sequential"),
    ]
    .map(|(pattern, name)| {
        let found = simulate(&machine.costs, pattern, seed, jitter) / cluster;
        [found, machine.time(name) / machine.time("cluster")]
    })
}

#[test]
fn trees_are_in_the_order_that_was_measured() {
    if machine_database().is_none() {
        return;
    }
    let machines = machines().expect("the database has the measured trees");
    for machine in &machines {
        let name = &machine.name;
        for (seed, jitter) in [(0, 0.0), (1, 60.0), (2, 60.0), (3, 60.0)] {
            let [binary, sequential] = ratios(machine, seed, jitter);
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
    assert_eq!(machines.len(), 4, "machines with costs and times");
}
