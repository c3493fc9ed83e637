//! The nested view, where machines nest and where they do not.

use corecast_machine::{MachineTree, TreeLevel, describe};
use corecast_model::{Cache, CacheKind};

use crate::fixture::{Fixture, NODES, Spec};

fn count(tree: &MachineTree, level: TreeLevel) -> usize {
    let below: usize = tree.children.iter().map(|child| count(child, level)).sum();
    below + usize::from(tree.level == level)
}

#[test]
fn a_regular_machine_nests() {
    let machine = Fixture::grid(1, 2, 2, 2).discover().machine;
    let tree = describe(&machine);
    let expected = "\
fixture: Fixture CPU @ 1.00GHz, PU 0-7
└─ package 0
   ├─ NUMA node 0
   │  └─ L3 32 MiB
   │     ├─ core 0 (L1 32 KiB, L2 1 MiB)
   │     │  ├─ PU 0
   │     │  └─ PU 4
   │     └─ core 1 (L1 32 KiB, L2 1 MiB)
   │        ├─ PU 1
   │        └─ PU 5
   └─ NUMA node 1
      └─ L3 32 MiB
         ├─ core 2 (L1 32 KiB, L2 1 MiB)
         │  ├─ PU 2
         │  └─ PU 6
         └─ core 3 (L1 32 KiB, L2 1 MiB)
            ├─ PU 3
            └─ PU 7";
    assert_eq!(tree.to_string(), expected);
    assert_eq!(tree.children[0].children[1].pus.to_string(), "2-3,6-7");
}

#[test]
fn shared_caches_nest_in_each_other() {
    let mut machine = Fixture::grid(1, 1, 8, 1).discover().machine;
    let cluster = |first: u32| Cache {
        level: 2,
        kind: CacheKind::Unified,
        size_bytes: Some(1 << 20),
        line_bytes: None,
        shared_by: (first..first + 2).collect(),
    };
    machine.caches.retain(|cache| cache.level != 2);
    machine.caches.extend([cluster(0), cluster(2)]);
    let tree = describe(&machine);
    assert_eq!(count(&tree, TreeLevel::Cache(3)), 1);
    assert_eq!(count(&tree, TreeLevel::Cache(2)), 2);
    // Two clusters, and the cores in none of them beside.
    let l3 = &tree.children[0].children[0].children[0];
    assert_eq!(l3.children.len(), 2 + 4);
}

#[test]
fn caches_that_cut_across_nodes_appear_in_parts() {
    let spec = |os_index: u32| Spec {
        os_index,
        package: 0,
        node: os_index / 4,
        core: os_index,
        l3: u32::from(os_index >= 2),
    };
    let machine = Fixture::of(&(0..8).map(spec).collect::<Vec<_>>())
        .discover()
        .machine;
    let tree = describe(&machine);
    assert_eq!(count(&tree, TreeLevel::Pu), 8);
    assert_eq!(count(&tree, TreeLevel::Cache(3)), 3);
    let labels: Vec<&str> = (tree.children[0]
        .children
        .iter()
        .flat_map(|node| &node.children))
    .map(|cache| cache.label.as_str())
    .collect();
    assert_eq!(
        labels,
        [
            "L3 32 MiB",
            "L3 32 MiB, part of it: PU 2-3 of 2-7",
            "L3 32 MiB, part of it: PU 4-7 of 2-7"
        ]
    );
}

#[test]
fn nodes_that_span_packages_appear_in_parts() {
    let fixture = Fixture::grid(2, 1, 2, 1);
    fixture.remove(&format!("{NODES}/node1"));
    fixture.remove_of_each_pu("node1");
    fixture.write_node(0, "0-3", 1 << 20, "10");
    let tree = describe(&fixture.discover().machine);
    let labels = |at: usize| tree.children[at].children[0].label.clone();
    assert_eq!(labels(0), "NUMA node 0, part of it: PU 0-1 of 0-3");
    assert_eq!(labels(1), "NUMA node 0, part of it: PU 2-3 of 0-3");
}

#[test]
fn nodes_and_cores_without_caches() {
    let fixture = Fixture::grid(2, 1, 2, 1);
    fixture.remove_of_each_pu("cache");
    let tree = describe(&fixture.discover_masked("3").machine);
    assert_eq!(
        tree.to_string(),
        "fixture: Fixture CPU @ 1.00GHz, PU 3\n\
         └─ package 0\n   └─ NUMA node 0 (node1)\n      └─ core 0\n         └─ PU 3"
    );
}
