//! The CPU placement of a team: the PU on which each rank runs.

use std::collections::BTreeMap;
use std::collections::HashSet;

use corecast_machine::{CpuList, Discovery};
use corecast_model::Machine;

use crate::error::Error;

/// The PUs of a team of `ranks`, by rank.
///
/// A team with a rank for each PU takes them in the order of their numbers. A smaller team takes the
/// first by [`packed`]. In a larger one rank r has PU r modulo the number of PUs.
pub(crate) fn of_count(machine: &Machine, ranks: usize) -> Vec<u32> {
    let all: Vec<u32> = machine.pus.iter().map(|pu| pu.os_index).collect();
    if ranks < all.len() {
        return packed(machine, ranks);
    }
    (0..ranks).map(|rank| all[rank % all.len()]).collect()
}

/// The first `ranks` PUs when one NUMA node is filled after the other, and in each node every core
/// gives one PU before any gives a second, since SMT siblings share the units of their core.
fn packed(machine: &Machine, ranks: usize) -> Vec<u32> {
    let mut siblings_before: BTreeMap<u32, usize> = BTreeMap::new();
    let key = |pu: &corecast_model::Pu| {
        let sibling = siblings_before.entry(pu.core).or_insert(0);
        *sibling += 1;
        (pu.package, pu.numa_node, *sibling, pu.core, pu.os_index)
    };
    let mut keyed: Vec<_> = machine.pus.iter().map(key).collect();
    keyed.sort_unstable();
    keyed.truncate(ranks);
    keyed.into_iter().map(|(.., os_index)| os_index).collect()
}

/// The PUs of a list such as `0-3,8` in its order: rank r runs on the r-th.
///
/// # Errors
///
/// A list that cannot be read or is empty; a PU that is listed twice, does not exist or run, or is
/// withheld from this process.
pub(crate) fn of_list(list: &str, here: &Discovery) -> Result<Vec<u32>, Error> {
    let pus = CpuList::in_order(list)?;
    let mut seen = HashSet::new();
    for &pu in &pus {
        let list = list.to_owned();
        if !here.online.contains(pu) {
            let online = here.online.clone();
            return Err(Error::UnknownPu { list, pu, online });
        }
        if !here.usable.contains(pu) {
            let by = if here.outside_cpuset.contains(pu) {
                "cpuset"
            } else {
                "affinity mask"
            };
            let usable = here.usable.clone();
            return Err(Error::NotPermitted {
                list,
                pu,
                by,
                usable,
            });
        }
        if !seen.insert(pu) {
            return Err(Error::RepeatedPu { list, pu });
        }
    }
    Ok(pus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_spread_over_cores_and_go_around() {
        // PUs 2c and 2c + 1 share core c; cores 0 to 3 are in NUMA node 0.
        let file = corecast_model::synthetic("package:2 core:4 pu:2").unwrap();
        let machine = file.machine();
        assert_eq!(of_count(machine, 6), [0, 2, 4, 6, 1, 3]);
        assert_eq!(of_count(machine, 16), file.threads());
        assert_eq!(of_count(machine, 18)[14..], [14, 15, 0, 1]);
    }

    #[test]
    fn withheld_pus_are_told_from_unknown_ones() {
        use corecast_machine::{Options, discover_at};
        let everything = corecast_machine::discover().online;
        let [kept, withheld, ..] = *everything.as_slice() else {
            return;
        };
        let options = Options {
            mask: Some([kept].into()),
            ..Options::default()
        };
        let here = discover_at(std::path::Path::new("/"), &options);
        let refusal = |list: &str| of_list(list, &here).unwrap_err().to_string();
        let text = refusal(&format!("{kept},{withheld}"));
        assert!(text.contains(&format!("withholds PU {withheld}")), "{text}");
        assert!(refusal("65535").contains("no PU 65535 runs on this machine"));
        assert_eq!(of_list(&kept.to_string(), &here).unwrap(), [kept]);
    }
}
