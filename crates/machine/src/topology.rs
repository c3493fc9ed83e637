//! Finds the PUs that form a core, a cluster, a die, a package.
//!
//! Each fact comes in two forms: a number (`physical_package_id`, `core_id`), which may be missing
//! or -1 and is unique only within the enclosing group, and a list of siblings, which older
//! kernels spell differently. Cores trust the lists first, packages the numbers first: the list
//! of a package is only as wide as a NUMA node on some architectures.

use std::collections::BTreeMap;

use crate::cpulist::CpuList;
use crate::files::Files;

/// The groups of all online PUs; vectors run parallel to the list of PUs.
pub(crate) struct Topology {
    /// The package of each PU, numbered densely by first appearance.
    pub(crate) package: Vec<u32>,
    /// The core of each PU, numbered densely by first appearance.
    pub(crate) core: Vec<u32>,
    /// The PUs of each die; empty where sysfs does not tell.
    pub(crate) dies: Vec<CpuList>,
    /// The PUs of each cluster; empty where sysfs does not tell.
    pub(crate) clusters: Vec<CpuList>,
}

/// The facts that sysfs has about one PU, without values that make no sense.
struct PuFacts {
    package_id: Option<u32>,
    die_id: Option<u32>,
    core_id: Option<u32>,
    package: Option<CpuList>,
    die: Option<CpuList>,
    cluster: Option<CpuList>,
    core: Option<CpuList>,
}

pub(crate) fn topology(files: &mut Files, online: &CpuList) -> Topology {
    let facts: Vec<PuFacts> = online.iter().map(|pu| facts(files, pu, online)).collect();
    let package = packages(files, online, &facts);
    let core = cores(files, online, &facts, &package);
    Topology {
        package,
        core,
        dies: distinct(facts.iter().map(|facts| &facts.die)),
        clusters: distinct(facts.iter().map(|facts| &facts.cluster)),
    }
}

fn facts(files: &mut Files, pu: u32, online: &CpuList) -> PuFacts {
    let directory = format!("/sys/devices/system/cpu/cpu{pu}/topology");
    // -1 stands for "unknown" and does not parse.
    let id = |files: &Files, name: &str| files.value(&format!("{directory}/{name}"));
    let mut list = |names: &[&str]| {
        let list = files.first_list(&directory, names)?.intersection(online);
        if !list.contains(pu) {
            let name = names[0];
            files.assume_of(
                pu,
                format!("{name} leaves the PU itself out: assumed it is wrong"),
            );
            return None;
        }
        Some(list)
    };
    PuFacts {
        package: list(&["package_cpus_list", "core_siblings_list"]),
        die: list(&["die_cpus_list"]),
        cluster: list(&["cluster_cpus_list"]),
        core: list(&["core_cpus_list", "thread_siblings_list"]),
        package_id: id(files, "physical_package_id"),
        die_id: id(files, "die_id"),
        core_id: id(files, "core_id"),
    }
}

fn packages(files: &mut Files, online: &CpuList, facts: &[PuFacts]) -> Vec<u32> {
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    enum Key {
        Id(u32),
        Smallest(u32),
    }
    let lists: Vec<_> = facts.iter().map(|facts| facts.package.as_ref()).collect();
    // On architectures without packages, kernels list each PU as its own sibling only.
    let telling = lists.iter().flatten().any(|list| list.len() > 1);
    let smallest = smallest_members(online, &lists);
    // One member's number stands for its whole list.
    let mut id_of_group = BTreeMap::new();
    for (pu, facts) in online.iter().zip(facts) {
        if let (Some(id), Some(&group)) = (facts.package_id, smallest.get(&pu)) {
            id_of_group.entry(group).or_insert(id);
        }
    }
    let key = |(pu, facts): (u32, &PuFacts)| {
        let group = smallest.get(&pu);
        let id = facts
            .package_id
            .or_else(|| id_of_group.get(group?).copied());
        id.map(Key::Id)
            .or_else(|| group.filter(|_| telling).map(|&group| Key::Smallest(group)))
    };
    let keys: Vec<Option<Key>> = online.iter().zip(facts).map(key).collect();
    let unknown = listed(online, &keys);
    if unknown.len() == online.len() {
        files.assume("no package data in sysfs: assumed one package");
    } else if !unknown.is_empty() {
        files.assume(format!(
            "no package data for PU {unknown}: assumed the first package"
        ));
    }
    let first = keys.iter().flatten().next().copied();
    dense(keys.into_iter().map(|key| key.or(first)))
}

fn cores(files: &mut Files, online: &CpuList, facts: &[PuFacts], package: &[u32]) -> Vec<u32> {
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    enum Key {
        Smallest(u32),
        Id(Option<u32>, u32),
        Alone(u32),
    }
    let lists: Vec<_> = facts.iter().map(|facts| facts.core.as_ref()).collect();
    let smallest = smallest_members(online, &lists);
    let known = |(pu, facts): (u32, &PuFacts)| {
        let by_list = smallest.get(&pu).map(|&n| Key::Smallest(n));
        by_list.or_else(|| Some(Key::Id(facts.die_id, facts.core_id?)))
    };
    let keys: Vec<Option<Key>> = online.iter().zip(facts).map(known).collect();
    let unknown = listed(online, &keys);
    if unknown.len() == online.len() {
        files.assume("no core data in sysfs: assumed one PU per core");
    } else if !unknown.is_empty() {
        files.assume(format!(
            "no core data for PU {unknown}: assumed a core of its own for each"
        ));
    }
    let mut package_of = BTreeMap::new();
    for (key, &package) in keys.iter().zip(package) {
        if let Some(Key::Smallest(first)) = key
            && *package_of.entry(*first).or_insert(package) != package
        {
            files.assume_of(*first, "its core spans packages: assumed a core in each");
        }
    }
    let alone = |(pu, key): (u32, Option<Key>)| key.unwrap_or(Key::Alone(pu));
    dense(package.iter().zip(online.iter().zip(keys).map(alone)))
}

/// For each PU that some list holds, the smallest member of the first such list.
fn smallest_members(online: &CpuList, lists: &[Option<&CpuList>]) -> BTreeMap<u32, u32> {
    let mut smallest = BTreeMap::new();
    for list in lists.iter().flatten() {
        let members = || list.iter().filter(|&pu| online.contains(pu));
        // A list that adds nobody is a repeat or contradicts an earlier one.
        let group = members().next().unwrap_or_default();
        members().for_each(|pu| _ = smallest.entry(pu).or_insert(group));
    }
    smallest
}

/// The PUs whose key is missing.
fn listed<K>(online: &CpuList, keys: &[Option<K>]) -> CpuList {
    online
        .iter()
        .zip(keys)
        .filter(|(_, key)| key.is_none())
        .map(|(pu, _)| pu)
        .collect()
}

/// Numbers the distinct keys from 0 in the order of their first appearance.
pub(crate) fn dense<K: Ord>(keys: impl IntoIterator<Item = K>) -> Vec<u32> {
    let mut numbers = BTreeMap::new();
    let mut number = |key| {
        let next = numbers.len() as u32;
        *numbers.entry(key).or_insert(next)
    };
    keys.into_iter().map(&mut number).collect()
}

fn distinct<'a>(lists: impl Iterator<Item = &'a Option<CpuList>>) -> Vec<CpuList> {
    let mut lists: Vec<CpuList> = lists.flatten().cloned().collect();
    lists.sort();
    lists.dedup();
    lists
}
