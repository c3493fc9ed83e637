//! NUMA nodes that do not have both PUs and memory, and PUs that have no node.

use crate::fixture::{Fixture, NODES, assert_assumed, grouped};

#[test]
fn pus_in_no_node_join_the_node_of_their_package() {
    let fixture = Fixture::grid(2, 1, 4, 1);
    fixture.write(&format!("{NODES}/node1/cpulist"), "4-5");
    fixture.remove_of_each_pu("node1");
    let found = fixture.discover();
    assert_assumed(&found, &["PU 6-7: in no NUMA node: assumed node 1"]);
    assert_eq!(grouped(&found, |pu| pu.numa_node), ["0-3", "4-7"]);
    assert_eq!(found.node_of_pu(7), Some(1));
}

#[test]
fn pus_in_no_node_without_neighbours_join_the_first_node_with_memory() {
    let fixture = Fixture::grid(2, 1, 2, 1);
    fixture.write(&format!("{NODES}/node1/cpulist"), "");
    fixture.remove_of_each_pu("node1");
    let found = fixture.discover();
    assert_assumed(&found, &["PU 2-3: in no NUMA node: assumed node 0"]);
    assert_eq!(grouped(&found, |pu| pu.numa_node), ["0-3"]);
}

#[test]
fn a_link_in_sysfs_counts_before_any_guess() {
    let fixture = Fixture::grid(2, 1, 2, 1);
    fixture.remove(&format!("{NODES}/node1/cpulist"));
    let found = fixture.discover();
    assert_assumed(&found, &[]);
    assert_eq!(grouped(&found, |pu| pu.numa_node), ["0-1", "2-3"]);
    // The mask names the PUs of the list.
    fixture.remove_of_each_pu("node1");
    fixture.write(&format!("{NODES}/node1/cpumap"), "c");
    assert_eq!(fixture.discover().machine, found.machine);
}

#[test]
fn a_node_of_memory_alone() {
    let fixture = Fixture::grid(2, 1, 2, 1);
    fixture.write_node(4, "", 1 << 30, "28 28 10");
    fixture.write_node(0, "0-1", 1 << 20, "10 21 28");
    fixture.write_node(1, "2-3", 1 << 20, "21 10 28");
    for file in ["online", "has_memory"] {
        fixture.write(&format!("{NODES}/{file}"), "0-1,4");
    }
    let found = fixture.discover();
    assert_assumed(&found, &[]);
    assert_eq!(grouped(&found, |pu| pu.numa_node), ["0-1", "2-3"]);
    assert_eq!(found.numa_nodes.len(), 3);
    assert_eq!(found.memory_nodes().count(), 3);
    assert_eq!(found.numa_nodes[2].memory_bytes, Some(1 << 40));
    assert_eq!(found.numa_distance(4, 0), Some(28));
    assert_eq!(found.numa_distance(4, 2), None);
}

#[test]
fn nodes_without_memory() {
    for by_list in [true, false] {
        let fixture = Fixture::grid(2, 1, 2, 1);
        if by_list {
            fixture.write(&format!("{NODES}/has_memory"), "1");
        } else {
            fixture.remove(&format!("{NODES}/has_memory"));
            fixture.write_node(0, "0-1", 0, "10 21");
        }
        let found = fixture.discover();
        assert_assumed(&found, &[]);
        assert!(!found.numa_nodes[0].has_memory());
        assert!(!found.has_several_memory_nodes());
        assert_eq!(grouped(&found, |pu| pu.numa_node), ["0-1", "2-3"]);
    }
    assert!(
        Fixture::grid(2, 1, 2, 1)
            .discover()
            .has_several_memory_nodes()
    );
}

#[test]
fn memory_that_the_cpuset_withholds_does_not_count() {
    let fixture = Fixture::grid(2, 1, 2, 1);
    fixture.write(
        "/proc/self/status",
        "Name:\tx\nMems_allowed:\t2\nMems_allowed_list:\t1",
    );
    let found = fixture.discover();
    assert!(!found.numa_nodes[0].allowed && found.numa_nodes[1].allowed);
    assert!(!found.has_several_memory_nodes());
}

#[test]
fn node_numbers_may_have_holes() {
    let fixture = Fixture::grid(2, 1, 2, 1);
    fixture.remove(&format!("{NODES}/node1"));
    fixture.write_node(8, "2-3", 1 << 20, "40 10");
    fixture.write(&format!("{NODES}/online"), "0,8");
    fixture.write(&format!("{NODES}/has_memory"), "0,8");
    let found = fixture.discover();
    assert_assumed(&found, &[]);
    let last = found.machine.pus[3];
    assert_eq!((last.numa_node, last.numa_os_index), (1, 8));
    assert_eq!(found.numa_distance(8, 0), Some(40));
}

#[test]
fn no_node_directory() {
    let fixture = Fixture::grid(2, 1, 2, 1);
    fixture.remove(NODES);
    fixture.write("/proc/meminfo", "MemTotal:        4096 kB\nMemFree: 1 kB");
    let found = fixture.discover();
    assert_assumed(&found, &["no NUMA data in sysfs: assumed one node"]);
    assert_eq!(grouped(&found, |pu| pu.numa_node), ["0-3"]);
    assert_eq!(found.numa_nodes[0].memory_bytes, Some(4 << 20));
}

#[test]
fn a_pu_in_two_nodes_counts_in_the_first() {
    let fixture = Fixture::grid(2, 1, 2, 1);
    fixture.write(&format!("{NODES}/node1/cpulist"), "0-3");
    let found = fixture.discover();
    assert_assumed(&found, &["PU 0-1 is in NUMA node 1 and in another"]);
    assert_eq!(grouped(&found, |pu| pu.numa_node), ["0-1", "2-3"]);
}

#[test]
fn unreadable_distances_are_unknown() {
    let fixture = Fixture::grid(2, 1, 2, 1);
    fixture.write(&format!("{NODES}/node0/distance"), "10");
    fixture.write(&format!("{NODES}/node1/distance"), "21 x");
    let found = fixture.discover();
    assert_assumed(
        &found,
        &[
            "node0/distance reads \"10\"",
            "node1/distance reads \"21 x\"",
        ],
    );
    assert_eq!(found.numa_distance(0, 1), None);
}

#[test]
fn nodes_that_span_packages() {
    let fixture = Fixture::grid(2, 1, 2, 1);
    fixture.remove(&format!("{NODES}/node1"));
    fixture.remove_of_each_pu("node1");
    fixture.write_node(0, "0-3", 1 << 20, "10");
    fixture.write(&format!("{NODES}/online"), "0");
    let found = fixture.discover();
    assert_assumed(&found, &[]);
    assert_eq!(grouped(&found, |pu| pu.numa_node), ["0-3"]);
    assert_eq!(grouped(&found, |pu| pu.package), ["0-1", "2-3"]);
}
