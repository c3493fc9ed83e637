//! Fake `/sys` and `/proc` trees in a temporary directory.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use corecast_machine::{CpuList, Discovery, Options, Scope, discover_at};
use corecast_model::Pu;
use tempfile::TempDir;

pub(crate) const CPUS: &str = "/sys/devices/system/cpu";
pub(crate) const NODES: &str = "/sys/devices/system/node";

/// One PU of a fixture, by the groups that it is in; equal numbers mean the same group.
#[derive(Clone, Copy)]
pub(crate) struct Spec {
    pub(crate) os_index: u32,
    pub(crate) package: u32,
    pub(crate) node: u32,
    pub(crate) core: u32,
    pub(crate) l3: u32,
}

pub(crate) struct Fixture {
    dir: TempDir,
    pub(crate) specs: Vec<Spec>,
}

impl Fixture {
    /// An empty root.
    pub(crate) fn empty() -> Self {
        // Thousands of small files: in memory where possible, as disks take their time.
        let dir = tempfile::tempdir_in("/dev/shm")
            .or_else(|_| tempfile::tempdir())
            .unwrap();
        Self {
            dir,
            specs: Vec::new(),
        }
    }

    /// A machine that has all files about these PUs.
    pub(crate) fn of(specs: &[Spec]) -> Self {
        let fixture = Self {
            specs: specs.to_vec(),
            ..Self::empty()
        };
        let all = list(specs, |_| true);
        for file in ["online", "present", "possible"] {
            fixture.write(&format!("{CPUS}/{file}"), &all);
        }
        for spec in specs {
            fixture.write_pu(spec);
        }
        let nodes: BTreeMap<u32, String> = (specs.iter())
            .map(|spec| (spec.node, list(specs, |other| other.node == spec.node)))
            .collect();
        for (at, (node, pus)) in nodes.iter().enumerate() {
            let distance = |to| if to == at { "10" } else { "21" };
            let row: Vec<&str> = (0..nodes.len()).map(distance).collect();
            fixture.write_node(*node, pus, 1 << 20, &row.join(" "));
        }
        let numbers: CpuList = nodes.keys().copied().collect();
        fixture.write(&format!("{NODES}/online"), &numbers.to_string());
        fixture.write(&format!("{NODES}/has_memory"), &numbers.to_string());
        fixture.write("/proc/cpuinfo", &cpuinfo(specs));
        fixture.write("/proc/sys/kernel/hostname", "fixture");
        fixture
    }

    /// `packages` of `nodes` of `cores` of `smt` PUs. Siblings are numbered as Linux does on
    /// servers: first all first threads, then all second ones.
    pub(crate) fn grid(packages: u32, nodes: u32, cores: u32, smt: u32) -> Self {
        let total = packages * nodes * cores;
        let spec = |os_index: u32| {
            let core = os_index % total;
            let node = core / cores;
            Spec {
                os_index,
                package: node / nodes,
                node,
                core,
                l3: node,
            }
        };
        Self::of(&(0..total * smt).map(spec).collect::<Vec<_>>())
    }

    fn write_pu(&self, spec: &Spec) {
        let same = |group: fn(&Spec) -> u32| list(&self.specs, |o| group(o) == group(spec));
        let (core, package, l3) = (same(|o| o.core), same(|o| o.package), same(|o| o.l3));
        let pu = format!("{CPUS}/cpu{}", spec.os_index);
        let topology = |name: &str, text: &str| self.write(&format!("{pu}/topology/{name}"), text);
        topology("physical_package_id", &spec.package.to_string());
        topology("core_id", &spec.core.to_string());
        topology("die_id", "0");
        topology("core_cpus_list", &core);
        topology("thread_siblings_list", &core);
        topology("package_cpus_list", &package);
        topology("core_siblings_list", &package);
        topology("die_cpus_list", &package);
        for (index, (level, kind, size, shared)) in [
            ("1", "Data", "32K", &core),
            ("1", "Instruction", "32K", &core),
            ("2", "Unified", "1024K", &core),
            ("3", "Unified", "32768K", &l3),
        ]
        .into_iter()
        .enumerate()
        {
            let cache = |name: &str, text: &str| {
                self.write(&format!("{pu}/cache/index{index}/{name}"), text);
            };
            cache("level", level);
            cache("type", kind);
            cache("size", size);
            cache("coherency_line_size", "64");
            cache("shared_cpu_list", shared);
        }
        fs::create_dir_all(self.path(&format!("{pu}/node{}", spec.node))).unwrap();
    }

    /// A NUMA node with its memory in KiB.
    pub(crate) fn write_node(&self, node: u32, pus: &str, kib: u64, distances: &str) {
        let directory = format!("{NODES}/node{node}");
        self.write(&format!("{directory}/cpulist"), pus);
        self.write(&format!("{directory}/distance"), distances);
        let meminfo = format!("Node {node} MemTotal:       {kib} kB\nNode {node} MemFree: 1 kB");
        self.write(&format!("{directory}/meminfo"), &meminfo);
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root().join(path.trim_start_matches('/'))
    }

    /// Writes a file as the kernel does, with a line feed at the end.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    }

    /// Removes a file, or a directory with all it holds.
    pub(crate) fn remove(&self, path: &str) {
        let path = self.path(path);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }

    /// Removes a file or directory of each PU, if it has it.
    pub(crate) fn remove_of_each_pu(&self, name: &str) {
        for spec in &self.specs {
            let path = format!("{CPUS}/cpu{}/{name}", spec.os_index);
            if self.path(&path).exists() {
                self.remove(&path);
            }
        }
    }

    pub(crate) fn discover(&self) -> Discovery {
        self.discover_as(None, Scope::Usable)
    }

    pub(crate) fn discover_masked(&self, mask: &str) -> Discovery {
        self.discover_as(Some(mask), Scope::Usable)
    }

    /// Discovers the machine, and checks what holds for every discovery.
    pub(crate) fn discover_as(&self, mask: Option<&str>, scope: Scope) -> Discovery {
        let mask = mask.map(|mask| mask.parse().unwrap());
        let found = discover_at(self.root(), &Options { scope, mask });
        check_invariants(&found, scope);
        found
    }
}

/// Checks the properties of every discovery, however odd the machine.
pub(crate) fn check_invariants(found: &Discovery, scope: Scope) {
    let machine = &found.machine;
    let pus: CpuList = machine.pus.iter().map(|pu| pu.os_index).collect();
    assert!(!pus.is_empty());
    assert!(machine.pus.is_sorted_by(|a, b| a.os_index < b.os_index));
    assert_eq!(
        &pus,
        if scope == Scope::Usable {
            &found.usable
        } else {
            &found.online
        }
    );
    assert!(found.usable.is_subset(&found.online) && found.online.is_subset(&found.present));
    let partition = [&found.usable, &found.outside_cpuset, &found.outside_mask];
    assert_eq!(
        partition.iter().map(|list| list.len()).sum::<usize>(),
        found.online.len()
    );
    type Column = fn(&Pu) -> u32;
    let columns: [Column; 3] = [|pu| pu.package, |pu| pu.numa_node, |pu| pu.core];
    for column in columns {
        let numbers: CpuList = machine.pus.iter().map(column).collect();
        assert_eq!(
            numbers.last().map(|last| last as usize + 1),
            Some(numbers.len()),
            "not dense"
        );
    }
    for (i, a) in machine.pus.iter().enumerate() {
        assert_eq!(found.node_of_pu(a.os_index), Some(a.numa_os_index));
        // The next PUs are enough, because garbage can make tens of thousands of them.
        for b in machine.pus[i + 1..].iter().take(64) {
            assert_eq!(
                a.numa_node == b.numa_node,
                a.numa_os_index == b.numa_os_index
            );
            assert!(
                a.core != b.core || a.package == b.package,
                "a core in two packages"
            );
        }
    }
    for cache in &machine.caches {
        assert!(!cache.shared_by.is_empty() && cache.shared_by.is_sorted_by(|a, b| a < b));
        assert!(cache.shared_by.iter().all(|&pu| pus.contains(pu)));
        assert!(cache.level > 0 && cache.size_bytes != Some(0) && cache.line_bytes != Some(0));
    }
    assert!((1..=found.usable.len()).contains(&found.usable_parallelism()));
    for sentence in &machine.assumptions {
        assert!(
            sentence.contains("assumed") && !sentence.contains('\n'),
            "{sentence:?}"
        );
    }
    machine.validate().unwrap();
}

/// The PUs of each value of a column, in the order of the values.
pub(crate) fn grouped(found: &Discovery, column: fn(&Pu) -> u32) -> Vec<String> {
    let mut groups = BTreeMap::<u32, CpuList>::new();
    for pu in &found.machine.pus {
        groups.entry(column(pu)).or_default().insert(pu.os_index);
    }
    groups.values().map(CpuList::to_string).collect()
}

/// The sharers of all caches of a level.
pub(crate) fn sharers(found: &Discovery, level: u8) -> Vec<String> {
    let caches = found
        .machine
        .caches
        .iter()
        .filter(|cache| cache.level == level);
    let list = |pus: &[u32]| pus.iter().copied().collect::<CpuList>().to_string();
    caches.map(|cache| list(&cache.shared_by)).collect()
}

/// Asserts that exactly these assumptions were made, each given by a part of its sentence.
#[track_caller]
pub(crate) fn assert_assumed(found: &Discovery, parts: &[&str]) {
    let sentences = &found.machine.assumptions;
    let all = parts
        .iter()
        .all(|part| sentences.iter().any(|sentence| sentence.contains(part)));
    assert!(
        all && sentences.len() == parts.len(),
        "expected {parts:?}, found {sentences:#?}"
    );
}

fn list(specs: &[Spec], keep: impl Fn(&Spec) -> bool) -> String {
    let pus: CpuList = specs
        .iter()
        .filter(|spec| keep(spec))
        .map(|spec| spec.os_index)
        .collect();
    pus.to_string()
}

fn cpuinfo(specs: &[Spec]) -> String {
    let block = |spec: &Spec| {
        format!(
            "processor\t: {}\nmodel name\t: Fixture  CPU @ 1.00GHz\nflags\t\t: fpu sse2\n\n",
            spec.os_index
        )
    };
    specs.iter().map(block).collect()
}
