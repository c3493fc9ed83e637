//! A short key by which a saved profile knows the machine it was measured on.

use std::collections::BTreeSet;
use std::fmt::Write;

use corecast_model::{CacheKind, Machine};

/// A key such as `p2n2c16t32-8f3a90c1d24e77b6`: packages, NUMA nodes, cores, hardware threads,
/// and 64 bits over everything that measured costs depend on.
///
/// Equal for two machines with the same processor name, the same PUs by operating-system number
/// in the same packages, NUMA nodes and cores, and the same caches. So it changes with the cpuset
/// and with offline PUs, and not with host name, assumptions, order of caches, or the version of
/// Corecast. Only `a-z0-9-`: fit for a file name. The hash (FNV-1a) guards against mistakes, not
/// against malice.
///
/// # Examples
///
/// ```
/// let mut machine = corecast_machine::discover().machine;
/// let key = corecast_machine::fingerprint(&machine);
/// machine.name = "renamed".into();
/// assert_eq!(corecast_machine::fingerprint(&machine), key);
/// ```
pub fn fingerprint(machine: &Machine) -> String {
    let count = |value: fn(&corecast_model::Pu) -> u32| {
        machine.pus.iter().map(value).collect::<BTreeSet<_>>().len()
    };
    format!(
        "p{}n{}c{}t{}-{:016x}",
        count(|pu| pu.package),
        count(|pu| pu.numa_node),
        count(|pu| pu.core),
        machine.pus.len(),
        fnv1a(canonical(machine).as_bytes())
    )
}

/// One line per fact, in an order that does not depend on the machine's own.
fn canonical(machine: &Machine) -> String {
    let mut lines: Vec<String> = Vec::new();
    for pu in &machine.pus {
        lines.push(format!(
            "pu {} package {} node {} {} core {}",
            pu.os_index, pu.package, pu.numa_node, pu.numa_os_index, pu.core
        ));
    }
    for cache in &machine.caches {
        let kind = match cache.kind {
            CacheKind::Data => "data",
            CacheKind::Instruction => "instruction",
            CacheKind::Unified => "unified",
        };
        let (size, line) = (cache.size_bytes.unwrap_or(0), cache.line_bytes.unwrap_or(0));
        let mut text = format!(
            "cache {} {kind} size {size} line {line} shared",
            cache.level
        );
        for pu in &cache.shared_by {
            let _ = write!(text, " {pu}");
        }
        lines.push(text);
    }
    lines.sort();
    let cpu = machine.cpu.as_deref().unwrap_or_default();
    // The first line names this layout: a change to it changes every key.
    format!("fingerprint 1\ncpu {cpu}\n{}", lines.join("\n"))
}

/// FNV-1a: std's hashers promise no stability over releases.
fn fnv1a(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_model::{Cache, Pu};

    fn machine() -> Machine {
        let pu = |n: u32| Pu {
            os_index: n,
            package: n / 4,
            numa_node: n / 4,
            numa_os_index: n / 4,
            core: n / 2,
        };
        let cache = |package: u32| Cache {
            level: 3,
            kind: CacheKind::Unified,
            size_bytes: Some(32 << 20),
            line_bytes: Some(64),
            shared_by: (package * 4..package * 4 + 4).collect(),
        };
        Machine {
            name: "a".into(),
            cpu: Some("some processor".into()),
            pus: (0..8).map(pu).collect(),
            caches: vec![cache(0), cache(1)],
            assumptions: Vec::new(),
        }
    }

    #[test]
    fn the_key_stays_the_same_over_releases() {
        // Profiles on disk carry this key: a change here makes them all stale.
        assert_eq!(fingerprint(&machine()), "p2n2c4t8-8ac2de4facab3710");
        assert_eq!(fnv1a(b"foobar"), 0x85944171f73967e8);
    }

    #[test]
    fn what_costs_depend_on_changes_the_key_and_nothing_else_does() {
        let key = fingerprint(&machine());
        type Change = fn(&mut Machine);
        let harmless: [Change; 3] = [
            |m| m.name = "b".into(),
            |m| m.assumptions.push("none".into()),
            |m| m.caches.reverse(),
        ];
        let telling: [Change; 6] = [
            |m| m.cpu = None,
            |m| _ = m.pus.pop(),
            |m| m.pus[0].os_index = 100,
            |m| m.pus[3].core = 3,
            |m| m.caches[0].size_bytes = None,
            |m| m.caches[0].shared_by = vec![0],
        ];
        let changed = |change: Change| {
            let mut machine = machine();
            change(&mut machine);
            fingerprint(&machine)
        };
        assert!(harmless.map(changed).iter().all(|other| *other == key));
        assert!(telling.map(changed).iter().all(|other| *other != key));
    }
}
