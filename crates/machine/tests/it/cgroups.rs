//! Quotas and cpusets of control groups, versions 1 and 2, on hosts and in containers.

use crate::fixture::{Fixture, assert_assumed};

const V2_MOUNT: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw";

/// A machine of eight PUs with the process in these groups.
fn fixture(cgroup: &str, mountinfo: &str) -> Fixture {
    let fixture = Fixture::grid(2, 1, 4, 1);
    fixture.write("/proc/self/cgroup", cgroup);
    fixture.write("/proc/self/mountinfo", mountinfo);
    fixture
}

/// The quota in processors, and the file that sets it.
fn quota(fixture: &Fixture) -> Option<(f64, String)> {
    let quota = fixture.discover().quota?;
    let file = quota.source.split(':').next().unwrap().to_owned();
    Some((quota.cpus, file))
}

#[test]
fn no_control_groups_no_quota() {
    let found = Fixture::grid(1, 1, 4, 1).discover();
    assert_assumed(&found, &[]);
    assert_eq!(
        (found.quota.clone(), found.cpuset_source.clone()),
        (None, None)
    );
    assert_eq!(found.usable_parallelism(), 4);
}

#[test]
fn version_2_smallest_of_all_ancestors_wins() {
    let fixture = fixture("0::/a/b/c", V2_MOUNT);
    fixture.write("/sys/fs/cgroup/a/cpu.max", "150000 100000");
    fixture.write("/sys/fs/cgroup/a/b/cpu.max", "max 100000");
    fixture.write("/sys/fs/cgroup/a/b/c/cpu.max", "400000 100000");
    assert_eq!(
        quota(&fixture),
        Some((1.5, "/sys/fs/cgroup/a/cpu.max".into()))
    );
    let found = fixture.discover();
    assert_assumed(&found, &[]);
    assert_eq!(found.usable_parallelism(), 2);
    assert_eq!(
        found.quota.unwrap().source,
        "/sys/fs/cgroup/a/cpu.max: 150000 100000"
    );
    fixture.write("/sys/fs/cgroup/a/b/c/cpu.max", "20000 100000");
    assert_eq!(quota(&fixture).unwrap().0, 0.2);
    assert_eq!(fixture.discover().usable_parallelism(), 1);
}

#[test]
fn version_2_without_limits() {
    let fixture = fixture("0::/a", V2_MOUNT);
    fixture.write("/sys/fs/cgroup/a/cpu.max", "max 100000");
    assert_eq!(quota(&fixture), None);
    fixture.write("/sys/fs/cgroup/a/cpu.max", "max");
    assert_eq!(quota(&fixture), None);
    assert_assumed(&fixture.discover(), &[]);
}

#[test]
fn version_2_in_a_namespace_reads_the_mount_itself() {
    let fixture = fixture("0::/", V2_MOUNT);
    fixture.write("/sys/fs/cgroup/cpu.max", "200000 100000");
    assert_eq!(
        quota(&fixture),
        Some((2.0, "/sys/fs/cgroup/cpu.max".into()))
    );
}

#[test]
fn version_1_with_the_controller_list_and_an_odd_mount_point() {
    let fixture = fixture(
        "4:memory:/x\n3:cpu,cpuacct:/docker/abc\n2:cpuset:/",
        r"31 30 0:28 / /cgroups/cpu\040and\040acct rw - cgroup cgroup rw,cpu,cpuacct",
    );
    let group = "/cgroups/cpu and acct/docker/abc";
    fixture.write(&format!("{group}/cpu.cfs_quota_us"), "-1");
    fixture.write(&format!("{group}/cpu.cfs_period_us"), "100000");
    assert_eq!(quota(&fixture), None);
    fixture.write("/cgroups/cpu and acct/docker/cpu.cfs_quota_us", "125000");
    fixture.write("/cgroups/cpu and acct/docker/cpu.cfs_period_us", "50000");
    assert_eq!(quota(&fixture).unwrap().0, 2.5);
    fixture.write(&format!("{group}/cpu.cfs_quota_us"), "30000");
    assert_eq!(
        quota(&fixture),
        Some((0.3, format!("{group}/cpu.cfs_quota_us")))
    );
    assert_assumed(&fixture.discover(), &[]);
}

#[test]
fn version_1_container_that_sees_only_its_own_group() {
    let fixture = fixture(
        "3:cpu,cpuacct:/docker/abc",
        "31 30 0:28 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct",
    );
    fixture.write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000");
    fixture.write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
    assert_eq!(quota(&fixture).unwrap().0, 3.0);
    assert_assumed(&fixture.discover(), &[]);
    // A group inside the container's own.
    fixture.write("/proc/self/cgroup", "3:cpu,cpuacct:/docker/abc/inner");
    fixture.write(
        "/sys/fs/cgroup/cpu,cpuacct/inner/cpu.cfs_quota_us",
        "100000",
    );
    assert_eq!(quota(&fixture).unwrap().0, 1.0);
    // A group whose name merely starts like the mounted one.
    fixture.write("/proc/self/cgroup", "3:cpu,cpuacct:/docker/abcdef");
    assert_eq!(quota(&fixture).unwrap().0, 3.0);
    assert_assumed(&fixture.discover(), &["\"/docker/abcdef\" is not visible"]);
}

#[test]
fn hybrid_systems_obey_both_versions() {
    let fixture = fixture(
        "8:cpuset:/\n1:cpu:/job\n9:name=systemd:/\n0::/job",
        "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n\
         32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
         34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n\
         40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n\
         41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw",
    );
    fixture.write("/sys/fs/cgroup/unified/job/cgroup.procs", "1");
    fixture.write("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "400000");
    fixture.write("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000");
    fixture.write("/sys/fs/cgroup/cpuset/cpuset.cpus", "0-7");
    fixture.write("/sys/fs/cgroup/cpuset/cpuset.effective_cpus", "0-5");
    let found = fixture.discover();
    assert_assumed(&found, &[]);
    assert_eq!(found.quota.as_ref().unwrap().cpus, 4.0);
    assert_eq!(found.usable.to_string(), "0-5");
    fixture.write("/sys/fs/cgroup/unified/job/cpu.max", "100000 100000");
    assert_eq!(
        quota(&fixture),
        Some((1.0, "/sys/fs/cgroup/unified/job/cpu.max".into()))
    );
}

#[test]
fn groups_outside_the_namespace_fall_back_to_the_mount() {
    for (path, root) in [("/../other", "/"), ("/", "/.."), ("/../x", "/../..")] {
        let mount = format!("30 23 0:26 {root} /sys/fs/cgroup rw - cgroup2 cgroup2 rw");
        let fixture = fixture(&format!("0::{path}"), &mount);
        fixture.write("/sys/fs/cgroup/cpu.max", "100000 100000");
        // This file must not be taken for the group's own one.
        fixture.write("/sys/other/cpu.max", "1000 100000");
        assert_eq!(quota(&fixture).unwrap().0, 1.0, "{path} {root}");
        assert_assumed(
            &fixture.discover(),
            &["is not visible below /sys/fs/cgroup"],
        );
    }
    let mount = "30 23 0:26 /.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
    let fixture = fixture("0::/../x", mount);
    fixture.write("/sys/fs/cgroup/x/cpu.max", "200000 100000");
    assert_eq!(quota(&fixture).unwrap().0, 2.0);
}

#[test]
fn the_mount_that_shows_the_group_is_taken() {
    let mounts = format!("29 23 0:26 /elsewhere /mnt/c rw - cgroup2 cgroup2 rw\n{V2_MOUNT}");
    let fixture = fixture("0::/a", &mounts);
    fixture.write("/mnt/c/cpu.max", "100000 100000");
    fixture.write("/sys/fs/cgroup/a/cpu.max", "500000 100000");
    assert_eq!(quota(&fixture).unwrap().0, 5.0);
}

#[test]
fn hidden_proc_files_fall_back_to_the_usual_places() {
    let fixture = Fixture::grid(1, 1, 8, 1);
    fixture.write("/sys/fs/cgroup/cpu.max", "300000 100000");
    assert_eq!(quota(&fixture).unwrap().0, 3.0);
    fixture.write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000");
    fixture.write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
    assert_eq!(quota(&fixture).unwrap().0, 2.0);
    assert_assumed(&fixture.discover(), &[]);
}

#[test]
fn garbage_is_reported_and_means_no_quota() {
    let fixture = fixture(
        "0::/a\nodd line\n7:cpu\n::::",
        &format!("garbage\n{V2_MOUNT}\n- - -"),
    );
    fixture.write("/sys/fs/cgroup/cpu.max", "600000 100000");
    for garbage in ["lots of it", "100000 0", "0 100000", "-", "1e5 100000"] {
        fixture.write("/sys/fs/cgroup/a/cpu.max", garbage);
        assert_eq!(quota(&fixture).unwrap().0, 6.0, "{garbage:?}");
        let sentence = format!("/sys/fs/cgroup/a/cpu.max reads {garbage:?}: assumed no quota");
        assert_assumed(&fixture.discover(), &[&sentence]);
    }
}

#[test]
fn a_cpuset_restricts_to_one_node() {
    let fixture = fixture("0::/pod/c1", V2_MOUNT);
    fixture.write("/sys/fs/cgroup/cpuset.cpus.effective", "0-7");
    fixture.write("/sys/fs/cgroup/pod/cpuset.cpus.effective", "4-7");
    fixture.write("/sys/fs/cgroup/pod/c1/cpu.max", "max 100000");
    let found = fixture.discover();
    assert_assumed(&found, &[]);
    assert_eq!(found.usable.to_string(), "4-7");
    assert_eq!(found.outside_cpuset.to_string(), "0-3");
    assert!(found.outside_mask.is_empty());
    assert_eq!(
        found.cpuset_source.as_deref(),
        Some("/sys/fs/cgroup/pod/cpuset.cpus.effective"),
        "the nearest ancestor with the controller"
    );
    let pu = found.machine.pus[0];
    assert_eq!(
        (pu.package, pu.numa_node, pu.numa_os_index, pu.core),
        (0, 0, 1, 0)
    );
    // The affinity mask restricts the cpuset further.
    let found = fixture.discover_masked("0,5-6");
    assert_eq!(found.usable.to_string(), "5-6");
    assert_eq!(found.outside_mask.to_string(), "4,7");
}

#[test]
fn impossible_cpusets_are_reported_and_ignored() {
    let fixture = fixture("0::/", V2_MOUNT);
    for (text, sentence) in [
        ("100-120", "reads 100-120, none of PU 0-7"),
        ("0-x", "reads \"0-x\": assumed no restriction"),
    ] {
        fixture.write("/sys/fs/cgroup/cpuset.cpus.effective", text);
        let found = fixture.discover();
        assert_assumed(&found, &[sentence]);
        assert_eq!(found.usable.len(), 8);
        assert_eq!(found.cpuset_source, None);
    }
    // Version 1 leaves the file empty until somebody configures it.
    fixture.write("/sys/fs/cgroup/cpuset.cpus.effective", "");
    assert_assumed(&fixture.discover(), &[]);
}
