//! Makes a [`Machine`] from the kernel's files, with every assumption written down.

use std::path::Path;

use corecast_model::{Machine, Pu};

use crate::affinity;
use crate::cache;
use crate::cgroup;
use crate::cpulist::CpuList;
use crate::files::Files;
use crate::numa::{self, NumaNode};
use crate::processor::{self, CoreKind};
use crate::quota::{self, Quota};
use crate::topology::{self, Topology};

const CPUS: &str = "/sys/devices/system/cpu";

/// The PUs that go into [`Discovery::machine`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The PUs that this process may use: online, in its affinity mask, in its cpuset.
    #[default]
    Usable,
    /// All online PUs.
    Online,
}

/// The options of [`discover_at`]; the default is an unrestricted process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The PUs that go into the machine.
    pub scope: Scope,
    /// The affinity mask of the process; `None` for no restriction.
    pub mask: Option<CpuList>,
}

/// A machine with what surrounds it: PUs that are not used and why, CPU quota, memory, kinds of
/// cores.
///
/// Every list of PUs holds the operating system's numbers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Discovery {
    /// The machine as the planner takes it; its `assumptions` say what was guessed.
    pub machine: Machine,
    /// PUs that are plugged in.
    pub present: CpuList,
    /// PUs that run.
    pub online: CpuList,
    /// PUs that this process may use.
    pub usable: CpuList,
    /// PUs that are present and switched off.
    pub offline: CpuList,
    /// Online PUs that the cpuset withholds.
    pub outside_cpuset: CpuList,
    /// Online PUs of the cpuset that the affinity mask withholds.
    pub outside_mask: CpuList,
    /// PUs that the kernel keeps free of ordinary threads (`isolcpus`).
    pub isolated: CpuList,
    /// The file that the cpuset was read from.
    pub cpuset_source: Option<String>,
    /// The CPU time that control groups grant; `None` for no limit.
    pub quota: Option<Quota>,
    /// All NUMA nodes by increasing number, with memory alone or PUs alone too.
    pub numa_nodes: Vec<NumaNode>,
    /// PUs by die, where sysfs tells.
    pub dies: Vec<CpuList>,
    /// PUs by cluster (cores that share an L2 cache or a bus port), where sysfs tells.
    pub clusters: Vec<CpuList>,
    /// Kinds of cores; empty where all are alike.
    pub core_kinds: Vec<CoreKind>,
    /// The hypervisor's name, `"unknown"` where only its presence shows.
    pub hypervisor: Option<String>,
    /// The revision of the processors' microcode, as the kernel writes it; where there are several, all of
    /// them. `None` where the kernel does not tell.
    pub microcode: Option<String>,
}

impl Discovery {
    /// Returns how many busy threads make sense: the usable PUs, or the CPU quota rounded up where that is
    /// less. The result is at least 1.
    ///
    /// A quota of 1.5 gives 2, and two threads that spin all the time are then stopped for a
    /// quarter of each period: compare with [`Quota::cpus`] where that matters.
    pub fn usable_parallelism(&self) -> usize {
        let pus = self.usable.len().max(1);
        self.quota
            .as_ref()
            .map_or(pus, |quota| pus.min(quota.threads()))
    }

    /// Returns how many threads can be busy all the time without being stopped: the usable PUs, or the CPU
    /// quota rounded down where that is less. The result is at least 1.
    pub fn unthrottled_parallelism(&self) -> usize {
        let pus = self.usable.len().max(1);
        // A float cast saturates, and turns NaN into 0.
        self.quota
            .as_ref()
            .map_or(pus, |quota| pus.min(quota.cpus as usize).max(1))
    }

    /// The NUMA node whose memory is nearest to an online PU: its own, or by the firmware's
    /// distances the nearest that has memory this process may use, or the first such; `None` where
    /// there is none.
    pub fn memory_node_of_pu(&self, os_index: u32) -> Option<u32> {
        let own = self.node_of_pu(os_index)?;
        let distance = |node: &&NumaNode| {
            let far = self.numa_distance(own, node.os_index).unwrap_or(u32::MAX);
            (node.os_index != own, far)
        };
        Some(self.memory_nodes().min_by_key(distance)?.os_index)
    }

    /// The operating system's number of the NUMA node of an online PU.
    pub fn node_of_pu(&self, os_index: u32) -> Option<u32> {
        let node = self
            .numa_nodes
            .iter()
            .find(|node| node.pus.contains(os_index))?;
        Some(node.os_index)
    }

    /// The NUMA nodes with memory that the process may use, as far as is known.
    pub fn memory_nodes(&self) -> impl Iterator<Item = &NumaNode> {
        self.numa_nodes
            .iter()
            .filter(|node| node.has_memory() && node.allowed)
    }

    /// Whether several NUMA nodes have memory, so that it matters where memory is placed.
    pub fn has_several_memory_nodes(&self) -> bool {
        self.memory_nodes().nth(1).is_some()
    }

    /// The firmware's relative distance between two NUMA nodes by the operating system's
    /// numbers, 10 being local; `None` where unknown.
    pub fn numa_distance(&self, from: u32, to: u32) -> Option<u32> {
        let place = |number| {
            self.numa_nodes
                .iter()
                .position(|node| node.os_index == number)
        };
        self.numa_nodes[place(from)?]
            .distances
            .get(place(to)?)
            .copied()
    }
}

/// Discovers the machine that this process runs on, as far as it may use it.
///
/// Never fails and never panics: what the system does not tell is assumed, and each assumption is
/// a sentence in `machine.assumptions`. PUs count as usable by the process's affinity mask at the
/// time of [`process_mask`](crate::process_mask), so pinned threads may call it too.
///
/// # Cost
///
/// Reads about thirty small files per PU the first time, and some twenty in all where they are known: see
/// [`KernelTexts`](crate::KernelTexts).
///
/// # Examples
///
/// ```
/// let found = corecast_machine::discover();
/// println!("{} PUs, {} busy threads", found.machine.pus.len(), found.usable_parallelism());
/// for sentence in &found.machine.assumptions {
///     println!("note: {sentence}");
/// }
/// assert!(!found.machine.pus.is_empty());
/// ```
pub fn discover() -> Discovery {
    discover_within(affinity::process_mask().clone())
}

/// Discovers the machine on which this runs, as a process would whose affinity mask is `mask`. An empty one is no
/// restriction.
///
/// # Cost
///
/// That of [`discover`].
///
/// # Examples
///
/// ```
/// let one = corecast_machine::discover().usable.as_slice()[0];
/// let here = corecast_machine::discover_within([one].into());
/// assert_eq!(here.machine.pus.len(), 1);
/// ```
pub fn discover_within(mask: CpuList) -> Discovery {
    let options = Options {
        mask: Some(mask).filter(|mask| !mask.is_empty()),
        ..Options::default()
    };
    discover_at(Path::new("/"), &options)
}

/// Discovers the machine whose `/sys` and `/proc` lie under `root`: a recording of another
/// machine, or a fixture.
///
/// Never fails and never panics, as [`discover`]. An empty `root` yields one PU.
///
/// # Examples
///
/// ```
/// use corecast_machine::{Options, discover_at};
///
/// let nowhere = std::path::Path::new("/nowhere");
/// let found = discover_at(nowhere, &Options { mask: Some("4-7".parse()?), ..Default::default() });
/// assert_eq!(found.usable.to_string(), "4-7");
/// assert!(!found.machine.assumptions.is_empty());
/// # Ok::<(), corecast_machine::CpuListError>(())
/// ```
pub fn discover_at(root: &Path, options: &Options) -> Discovery {
    let files = &mut Files::new(root);
    let online = online(files, options.mask.as_ref());
    files.recall(&online);
    let present = files
        .list(&format!("{CPUS}/present"))
        .unwrap_or_default()
        .union(&online);
    let isolated = files.list(&format!("{CPUS}/isolated")).unwrap_or_default();
    let topology = topology::topology(files, &online);
    let numa_nodes = numa::nodes(files, &online, &topology.package);
    let caches = cache::caches(files, &online);
    let usable = usable(files, &online, options.mask.as_ref());
    let quota = quota::quota(files);
    let hypervisor = processor::hypervisor(files);
    if hypervisor.is_some() {
        files.assume("a hypervisor is present: assumed that what it shows is so");
    }
    let core_kinds = processor::core_kinds(files, &online);
    let whole = Machine {
        name: files
            .text("/proc/sys/kernel/hostname")
            .unwrap_or_else(|| "this machine".into()),
        cpu: processor::name(files),
        pus: pus(&online, &topology, &numa_nodes),
        caches,
        assumptions: files.assumptions(),
    };
    let machine = match options.scope {
        Scope::Online => whole,
        Scope::Usable => restricted(whole, &usable.pus),
    };
    files.keep(&online);
    Discovery {
        machine,
        offline: present.difference(&online),
        present,
        online,
        usable: usable.pus,
        outside_cpuset: usable.outside_cpuset,
        outside_mask: usable.outside_mask,
        isolated,
        cpuset_source: usable.cpuset_source,
        quota,
        numa_nodes,
        dies: topology.dies,
        clusters: topology.clusters,
        core_kinds,
        hypervisor,
        microcode: processor::microcode(files),
    }
}

/// The PUs that run, from the first source that tells; never empty.
fn online(files: &mut Files, mask: Option<&CpuList>) -> CpuList {
    let directories = files.numbered(CPUS, "cpu");
    if let Some(listed) = files.list(&format!("{CPUS}/online")) {
        let mut online = listed.intersection(&directories);
        if online.is_empty() {
            online = listed.clone();
        }
        let unknown = listed.difference(&online);
        if !unknown.is_empty() {
            files.assume(format!(
                "{CPUS}/online lists PU {unknown}, which sysfs does not have: assumed absent"
            ));
        }
        // Containers overlay this file with a count of their own; the mask and the directories
        // still tell the truth.
        let hidden = mask
            .map(|mask| mask.difference(&online))
            .unwrap_or_default();
        // Only online PUs have a topology, apart from kernels without any.
        let runs = |&pu: &u32| {
            files.is_dir(&format!("{CPUS}/cpu{pu}/topology")) && !is_switched_off(files, pu)
        };
        let hidden: CpuList = hidden.iter().filter(runs).collect();
        if !hidden.is_empty() {
            files.assume(format!(
                "{CPUS}/online leaves PU {hidden} out, which the process may use: assumed online"
            ));
        }
        return online.union(&hidden);
    }
    let by_directory: CpuList = directories
        .iter()
        .filter(|&pu| !is_switched_off(files, pu))
        .collect();
    let by_present = || files.list(&format!("{CPUS}/present"));
    let by_cpuinfo = || Some(processor::listed(files));
    let by_mask = || mask.cloned();
    let sources: [(&str, &dyn Fn() -> Option<CpuList>); 4] = [
        ("those with a directory in sysfs", &|| {
            Some(by_directory.clone())
        }),
        ("those present", &by_present),
        ("those in /proc/cpuinfo", &by_cpuinfo),
        ("those in the affinity mask", &by_mask),
    ];
    let found = sources.iter().find_map(|(words, source)| {
        source()
            .filter(|list| !list.is_empty())
            .map(|list| (*words, list))
    });
    let (words, list) = found.unwrap_or(("PU 0 alone", CpuList::from([0])));
    files.assume(format!("no list of online PUs in sysfs: assumed {words}"));
    list
}

fn is_switched_off(files: &Files, pu: u32) -> bool {
    files.text(&format!("{CPUS}/cpu{pu}/online")).as_deref() == Some("0")
}

struct Usable {
    pus: CpuList,
    outside_cpuset: CpuList,
    outside_mask: CpuList,
    cpuset_source: Option<String>,
}

/// Online PUs within cpuset and mask; never empty.
fn usable(files: &mut Files, online: &CpuList, mask: Option<&CpuList>) -> Usable {
    let masked = mask.map(|mask| online.intersection(mask));
    let masked = masked.filter(|masked| {
        if masked.is_empty() {
            files.assume("the affinity mask holds no online PU: assumed no restriction by it");
        }
        !masked.is_empty()
    });
    let allowed = masked.as_ref().unwrap_or(online);
    let cpuset = cgroup::cpuset(files).filter(|(cpus, source)| {
        let possible = !cpus.intersection(allowed).is_empty();
        if !possible {
            files.assume(format!(
                "{source} reads {cpus}, none of PU {allowed}: assumed no restriction by it"
            ));
        }
        possible
    });
    let (in_cpuset, cpuset_source) = match cpuset {
        Some((cpus, source)) => (online.intersection(&cpus), Some(source)),
        None => (online.clone(), None),
    };
    let pus = in_cpuset.intersection(allowed);
    Usable {
        outside_cpuset: online.difference(&in_cpuset),
        outside_mask: in_cpuset.difference(&pus),
        pus,
        cpuset_source,
    }
}

fn pus(online: &CpuList, topology: &Topology, nodes: &[NumaNode]) -> Vec<Pu> {
    let groups = topology.package.iter().zip(&topology.core);
    let pu = |(os_index, (&package, &core)): (u32, (&u32, &u32))| {
        let node = nodes
            .iter()
            .position(|node| node.pus.contains(os_index))
            .unwrap_or(0);
        let numa_os_index = nodes.get(node).map_or(0, |node| node.os_index);
        Pu {
            os_index,
            package,
            numa_node: node as u32,
            numa_os_index,
            core,
        }
    };
    let mut pus: Vec<Pu> = online.iter().zip(groups).map(pu).collect();
    renumber(&mut pus);
    pus
}

/// The machine with only some of its PUs, everything numbered densely again.
fn restricted(mut machine: Machine, usable: &CpuList) -> Machine {
    machine.pus.retain(|pu| usable.contains(pu.os_index));
    renumber(&mut machine.pus);
    for cache in &mut machine.caches {
        cache.shared_by.retain(|&pu| usable.contains(pu));
    }
    machine.caches.retain(|cache| !cache.shared_by.is_empty());
    // Caches that differed only in PUs that are now gone are duplicates.
    machine
        .caches
        .dedup_by(|a, b| (a.level, a.kind, &a.shared_by) == (b.level, b.kind, &b.shared_by));
    machine
}

/// Packages and cores by first appearance, NUMA nodes by the operating system's number.
fn renumber(pus: &mut [Pu]) {
    let packages = topology::dense(pus.iter().map(|pu| pu.package));
    let cores = topology::dense(pus.iter().map(|pu| pu.core));
    let nodes: CpuList = pus.iter().map(|pu| pu.numa_os_index).collect();
    for (pu, (package, core)) in pus.iter_mut().zip(packages.into_iter().zip(cores)) {
        let node = nodes
            .as_slice()
            .binary_search(&pu.numa_os_index)
            .unwrap_or(0);
        (pu.package, pu.core, pu.numa_node) = (package, core, node as u32);
    }
}
