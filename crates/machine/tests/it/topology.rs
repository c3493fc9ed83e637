//! Packages, cores, dies, caches, and which PUs count.

use corecast_machine::{CpuList, Scope};

use crate::fixture::{CPUS, Fixture, Spec, assert_assumed, grouped, sharers};

/// PUs with these numbers, each a core of one package.
fn plain(numbers: &[u32]) -> Vec<Spec> {
    let spec = |(at, &os_index): (usize, &u32)| {
        let core = at as u32;
        Spec {
            os_index,
            package: 0,
            node: 0,
            core,
            l3: 0,
        }
    };
    numbers.iter().enumerate().map(spec).collect()
}

#[test]
fn two_packages_two_nodes_four_cores_two_threads() {
    let found = Fixture::grid(2, 2, 4, 2).discover();
    assert_assumed(&found, &[]);
    assert_eq!(
        grouped(&found, |pu| pu.package),
        ["0-7,16-23", "8-15,24-31"]
    );
    assert_eq!(
        grouped(&found, |pu| pu.numa_node),
        ["0-3,16-19", "4-7,20-23", "8-11,24-27", "12-15,28-31"]
    );
    let cores = grouped(&found, |pu| pu.core);
    assert_eq!(cores.len(), 16);
    assert_eq!((cores[0].as_str(), cores[15].as_str()), ("0,16", "15,31"));
    assert_eq!(
        sharers(&found, 3),
        ["0-3,16-19", "4-7,20-23", "8-11,24-27", "12-15,28-31"]
    );
    assert_eq!(
        (sharers(&found, 1).len(), sharers(&found, 2).len()),
        (16, 16)
    );
    let l3 = found.machine.caches.last().unwrap();
    assert_eq!((l3.size_bytes, l3.line_bytes), (Some(32 << 20), Some(64)));
    assert_eq!(found.machine.cpu.as_deref(), Some("Fixture CPU @ 1.00GHz"));
    assert_eq!(found.machine.name, "fixture");
    assert_eq!(found.hypervisor, None);
    assert_eq!(found.dies.len(), 2);
    assert_eq!(found.numa_distance(0, 3), Some(21));
    assert_eq!(found.usable_parallelism(), 32);
}

#[test]
fn sparse_numbers_keep_their_holes() {
    let found = Fixture::of(&plain(&[0, 2, 5, 6, 7])).discover();
    assert_assumed(&found, &[]);
    assert_eq!(found.usable.to_string(), "0,2,5-7");
    assert_eq!(grouped(&found, |pu| pu.core), ["0", "2", "5", "6", "7"]);
}

#[test]
fn offline_pus_are_counted_and_left_out() {
    let fixture = Fixture::grid(1, 1, 4, 2);
    fixture.write(&format!("{CPUS}/online"), "0-2,4-7");
    fixture.remove(&format!("{CPUS}/cpu3/topology"));
    fixture.remove(&format!("{CPUS}/cpu3/cache"));
    fixture.write(&format!("{CPUS}/cpu3/online"), "0");
    for mask in [None, Some("0-7")] {
        let found = fixture.discover_as(mask, Scope::Usable);
        assert_assumed(&found, &[]);
        assert_eq!(found.offline.to_string(), "3");
        assert_eq!(found.usable.to_string(), "0-2,4-7");
        assert_eq!(grouped(&found, |pu| pu.core), ["0,4", "1,5", "2,6", "7"]);
    }
}

#[test]
fn without_the_online_file_directories_tell() {
    let fixture = Fixture::grid(1, 1, 4, 1);
    fixture.remove(&format!("{CPUS}/online"));
    fixture.write(&format!("{CPUS}/cpu2/online"), "0");
    let found = fixture.discover();
    assert_assumed(&found, &["no list of online PUs"]);
    assert_eq!(found.usable.to_string(), "0-1,3");
    assert_eq!(found.offline.to_string(), "2");
}

#[test]
fn an_overlaid_online_file_does_not_hide_pus_of_the_mask() {
    // A container of four PUs whose /sys/…/online claims the first four.
    let fixture = Fixture::grid(1, 1, 16, 1);
    fixture.write(&format!("{CPUS}/online"), "0-3");
    let found = fixture.discover_masked("2-3,8-9");
    assert_eq!(found.usable.to_string(), "2-3,8-9");
    assert_assumed(&found, &["leaves PU 8-9 out, which the process may use"]);
}

#[test]
fn an_online_file_that_counts_pus_without_directories_is_cut() {
    let fixture = Fixture::grid(1, 1, 4, 1);
    fixture.write(&format!("{CPUS}/online"), "2-65535");
    let found = fixture.discover();
    assert_eq!(found.usable.to_string(), "2-3");
    assert_assumed(
        &found,
        &["online lists PU 4-65535, which sysfs does not have"],
    );
    // A sandbox without any directories is believed.
    fixture.remove(CPUS);
    fixture.write(&format!("{CPUS}/online"), "0-2");
    assert_eq!(fixture.discover().usable.to_string(), "0-2");
}

#[test]
fn no_sys_at_all_yields_the_mask_or_cpuinfo_or_one_pu() {
    let fixture = Fixture::empty();
    let nothing = [
        "no list of online PUs",
        "no package data",
        "no core data",
        "no NUMA data",
        "no cache data in sysfs: assumed private caches",
    ];
    let found = fixture.discover();
    assert_assumed(&found, &nothing);
    assert_eq!(found.usable.to_string(), "0");
    assert_eq!(found.machine.name, "this machine");
    assert_eq!(fixture.discover_masked("3,9").usable.to_string(), "3,9");
    fixture.write(
        "/proc/cpuinfo",
        "processor : 0\nprocessor : 1\nmodel name : x",
    );
    let found = fixture.discover();
    assert_assumed(&found, &nothing);
    assert_eq!(found.usable.to_string(), "0-1");
    assert_eq!(grouped(&found, |pu| pu.core), ["0", "1"]);
}

#[test]
fn no_topology_directories() {
    let fixture = Fixture::grid(2, 1, 2, 2);
    fixture.remove_of_each_pu("topology");
    let found = fixture.discover();
    assert_assumed(&found, &["no package data", "no core data"]);
    assert_eq!(grouped(&found, |pu| pu.package), ["0-7"]);
    assert_eq!(grouped(&found, |pu| pu.core).len(), 8);
}

#[test]
fn package_ids_missing_or_minus_one_fall_back_to_sibling_lists() {
    for text in [None, Some("-1"), Some("garbage")] {
        for list in ["package_cpus_list", "core_siblings_list"] {
            let fixture = Fixture::grid(2, 1, 2, 2);
            fixture.remove_of_each_pu("topology/physical_package_id");
            fixture.remove_of_each_pu(&format!("topology/{list}"));
            for pu in 0..8 {
                let path = format!("{CPUS}/cpu{pu}/topology/physical_package_id");
                text.into_iter().for_each(|text| fixture.write(&path, text));
            }
            let found = fixture.discover();
            assert_assumed(&found, &[]);
            assert_eq!(
                grouped(&found, |pu| pu.package),
                ["0-1,4-5", "2-3,6-7"],
                "{text:?}"
            );
        }
    }
}

#[test]
fn package_lists_of_one_pu_each_say_nothing() {
    let fixture = Fixture::of(&plain(&[0, 1, 2, 3]));
    for pu in 0..4 {
        let topology = format!("{CPUS}/cpu{pu}/topology");
        fixture.write(&format!("{topology}/physical_package_id"), "-1");
        fixture.write(&format!("{topology}/package_cpus_list"), &pu.to_string());
    }
    let found = fixture.discover();
    assert_assumed(&found, &["no package data in sysfs: assumed one package"]);
}

#[test]
fn one_pu_without_package_id_joins_its_siblings_or_the_first_package() {
    let fixture = Fixture::grid(2, 1, 2, 1);
    fixture.remove(&format!("{CPUS}/cpu3/topology/physical_package_id"));
    let found = fixture.discover();
    assert_assumed(&found, &[]);
    assert_eq!(grouped(&found, |pu| pu.package), ["0-1", "2-3"]);

    // The PU's own list is missing too, but its neighbour's list has it.
    fixture.remove(&format!("{CPUS}/cpu3/topology/package_cpus_list"));
    fixture.remove(&format!("{CPUS}/cpu3/topology/core_siblings_list"));
    assert_eq!(fixture.discover().machine, found.machine);

    fixture.remove(&format!("{CPUS}/cpu2/topology/package_cpus_list"));
    fixture.remove(&format!("{CPUS}/cpu2/topology/core_siblings_list"));
    let found = fixture.discover();
    assert_assumed(
        &found,
        &["no package data for PU 3: assumed the first package"],
    );
    assert_eq!(grouped(&found, |pu| pu.package), ["0-1,3", "2"]);
}

#[test]
fn package_ids_need_not_be_dense() {
    let fixture = Fixture::grid(2, 1, 2, 1);
    for (pu, id) in [(0, "3180"), (1, "3180"), (2, "36"), (3, "36")] {
        fixture.write(&format!("{CPUS}/cpu{pu}/topology/physical_package_id"), id);
    }
    assert_eq!(
        grouped(&fixture.discover(), |pu| pu.package),
        ["0-1", "2-3"]
    );
}

#[test]
fn cores_fall_back_to_core_ids_which_repeat_in_each_package_and_die() {
    let fixture = Fixture::grid(2, 1, 2, 2);
    fixture.remove_of_each_pu("topology/core_cpus_list");
    fixture.remove_of_each_pu("topology/thread_siblings_list");
    for pu in 0..8 {
        fixture.write(&format!("{CPUS}/cpu{pu}/topology/core_id"), "0");
        let die = if pu % 2 == 0 { "0" } else { "1" };
        fixture.write(&format!("{CPUS}/cpu{pu}/topology/die_id"), die);
    }
    let found = fixture.discover();
    assert_assumed(&found, &[]);
    assert_eq!(grouped(&found, |pu| pu.core), ["0,4", "1,5", "2,6", "3,7"]);
}

#[test]
fn a_core_that_spans_packages_is_split() {
    let fixture = Fixture::grid(2, 1, 1, 1);
    for pu in 0..2 {
        fixture.write(&format!("{CPUS}/cpu{pu}/topology/core_cpus_list"), "0-1");
    }
    let found = fixture.discover();
    assert_assumed(&found, &["PU 0: its core spans packages"]);
    assert_eq!(grouped(&found, |pu| pu.core), ["0", "1"]);
}

#[test]
fn a_sibling_list_without_its_own_pu_is_ignored() {
    let fixture = Fixture::grid(1, 1, 2, 2);
    fixture.write(&format!("{CPUS}/cpu1/topology/core_cpus_list"), "0,2");
    let found = fixture.discover();
    assert_assumed(&found, &["PU 1: core_cpus_list leaves the PU itself out"]);
    // The other thread's list still has both.
    assert_eq!(grouped(&found, |pu| pu.core), ["0,2", "1,3"]);
}

#[test]
fn l3_groups_smaller_than_numa_nodes() {
    let spec = |os_index: u32| {
        let core = os_index % 8;
        Spec {
            os_index,
            package: 0,
            node: 0,
            core,
            l3: core / 4,
        }
    };
    let found = Fixture::of(&(0..16).map(spec).collect::<Vec<_>>()).discover();
    assert_assumed(&found, &[]);
    assert_eq!(sharers(&found, 3), ["0-3,8-11", "4-7,12-15"]);
    assert_eq!(grouped(&found, |pu| pu.numa_node), ["0-15"]);
}

#[test]
fn a_virtual_machine_without_cache_data() {
    let fixture = Fixture::grid(1, 1, 4, 1);
    fixture.remove_of_each_pu("cache");
    fixture.write(
        "/proc/cpuinfo",
        "processor: 0\nflags: fpu hypervisor lahf_lm",
    );
    let found = fixture.discover();
    assert_assumed(
        &found,
        &[
            "no cache data in sysfs: assumed private caches",
            "a hypervisor",
        ],
    );
    assert!(found.machine.caches.is_empty());
    assert_eq!(found.hypervisor.as_deref(), Some("unknown"));
}

#[test]
fn caches_that_tell_a_part_only() {
    let fixture = Fixture::grid(1, 1, 4, 1);
    let cache = |pu: u32, rest: &str| format!("{CPUS}/cpu{pu}/cache/{rest}");
    fixture.remove(&cache(3, "index0"));
    fixture.remove(&cache(3, "index1"));
    fixture.remove(&cache(3, "index2"));
    fixture.remove(&cache(3, "index3"));
    fixture.write(&cache(0, "index0/level"), "zero");
    fixture.write(&cache(1, "index3/shared_cpu_list"), "");
    fixture.write(&cache(1, "index3/shared_cpu_map"), "00000000,0000000f");
    fixture.write(&cache(2, "index2/shared_cpu_list"), "0-1");
    fixture.write(&cache(2, "index2/size"), "big");
    let found = fixture.discover();
    assert_assumed(
        &found,
        &[
            "PU 0: a cache has no level",
            "PU 2: the L2 cache names no sharers",
            "no cache data for PU 3",
        ],
    );
    assert_eq!(sharers(&found, 1), ["1", "2"]);
    assert_eq!(sharers(&found, 2), ["0", "1", "2"]);
    assert_eq!(sharers(&found, 3), ["0-3"]);
    let of_2 = found
        .machine
        .caches
        .iter()
        .find(|c| c.level == 2 && c.shared_by == [2]);
    assert_eq!(of_2.unwrap().size_bytes, None);
}

#[test]
fn contradictory_cache_sharing_is_reported() {
    let fixture = Fixture::grid(1, 1, 4, 1);
    fixture.write(&format!("{CPUS}/cpu0/cache/index3/shared_cpu_list"), "0-1");
    let found = fixture.discover();
    assert_assumed(&found, &["PUs disagree on who shares an L3 cache"]);
    assert_eq!(sharers(&found, 3), ["0-1", "0-3"]);
}

#[test]
fn a_mask_restricts_the_machine_and_renumbers_it() {
    let fixture = Fixture::grid(2, 2, 4, 2);
    let found = fixture.discover_masked("12-15,28-31");
    assert_assumed(&found, &[]);
    assert_eq!(found.usable.to_string(), "12-15,28-31");
    assert_eq!(found.outside_mask.len(), 24);
    assert!(found.outside_cpuset.is_empty());
    let pu = found.machine.pus[0];
    assert_eq!(
        (pu.package, pu.numa_node, pu.numa_os_index, pu.core),
        (0, 0, 3, 0)
    );
    assert_eq!(sharers(&found, 3), ["12-15,28-31"]);
    assert_eq!(found.numa_nodes.len(), 4);

    let whole = fixture.discover_as(Some("12-15,28-31"), Scope::Online);
    assert_eq!(whole.machine.pus.len(), 32);
    assert_eq!(whole.usable, found.usable);
    assert_eq!(whole.machine, fixture.discover().machine);
}

#[test]
fn a_mask_of_other_machines_is_ignored_with_a_sentence() {
    let found = Fixture::grid(1, 1, 4, 1).discover_masked("100-101");
    assert_assumed(&found, &["the affinity mask holds no online PU"]);
    assert_eq!(found.usable.len(), 4);
}

#[test]
fn isolated_pus_are_reported() {
    let fixture = Fixture::grid(1, 1, 4, 1);
    fixture.write(&format!("{CPUS}/isolated"), "2-3");
    assert_eq!(fixture.discover().isolated, CpuList::from([2, 3]));
}

#[test]
fn a_machine_of_hundreds_of_pus() {
    let found = Fixture::grid(4, 4, 18, 2).discover();
    assert_assumed(&found, &[]);
    assert_eq!(found.machine.pus.len(), 576);
    assert_eq!(grouped(&found, |pu| pu.numa_node).len(), 16);
    assert_eq!(grouped(&found, |pu| pu.core).len(), 288);
    assert_eq!(found.numa_distance(15, 0), Some(21));
}
