//! The hardware threads that take part, in order: the position in the list is the rank.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use corecast_machine::CpuList;
use corecast_model::{Machine, MachineFile};
use corecast_plan::placement;

use corecast_model::words::ranges;

/// The most ranks of a team that is run or explained here: as many as a machine may have hardware threads.
pub(crate) const RANKS_MAX: usize = 4096;

/// Checks the number of ranks that `option` asks for.
///
/// # Errors
///
/// The number is 0 or beyond [`RANKS_MAX`]; the message quotes it.
pub(crate) fn check_ranks(option: &str, ranks: usize) -> Result<()> {
    if !(1..=RANKS_MAX).contains(&ranks) {
        bail!("{option} {ranks}: a team has from 1 to {RANKS_MAX} ranks");
    }
    Ok(())
}

/// The rank among `n` that `--root` names; `None` for the plan's choice.
///
/// # Errors
///
/// `text` is neither a rank nor auto.
pub(crate) fn rank_or_auto(text: &str, n: usize) -> Result<Option<usize>> {
    if text == "auto" {
        return Ok(None);
    }
    let rank = text.parse().ok().filter(|&rank: &usize| rank < n);
    let refused = || format!("--root {text:?}: a rank below {n} or auto is needed");
    Ok(Some(rank.with_context(refused)?))
}

/// The options that name a team.
#[derive(Debug, Args)]
pub(crate) struct TeamArgs {
    /// Hardware threads by operating-system number; rank r is the r-th of them [default: all]
    #[arg(long, visible_alias = "cores", value_name = "LIST")]
    pub(crate) threads: Option<String>,

    /// Only K of them, chosen by --placement
    #[arg(long, value_name = "K")]
    pub(crate) subset: Option<usize>,

    /// How --subset chooses
    #[arg(long, value_enum, default_value_t = Placement::Packed, requires = "subset")]
    pub(crate) placement: Placement,
}

/// In which order NUMA nodes are filled (Smelt §5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Placement {
    /// One NUMA node after the other, a thread of each core before any SMT sibling.
    Packed,
    /// One thread of each NUMA node in turn.
    RoundRobin,
}

/// The members' operating-system numbers, by rank.
///
/// # Errors
///
/// The list cannot be read, is empty, names a thread twice or one without costs, or the subset has no
/// member or more than there are.
pub(crate) fn members(args: &TeamArgs, file: &MachineFile) -> Result<Vec<u32>> {
    let all = match &args.threads {
        Some(list) => checked(list, file)?,
        None => file.threads().to_vec(),
    };
    let Some(k) = args.subset else {
        return Ok(all);
    };
    if k == 0 || k > all.len() {
        bail!(
            "--subset {k}: the team has {} threads, choose from 1 to {0}",
            all.len()
        );
    }
    placed(file.machine(), &all, args.placement, k)
}

/// Parses a list of threads, and checks that the machine has costs for each and that none is listed twice.
fn checked(list: &str, file: &MachineFile) -> Result<Vec<u32>> {
    let threads = CpuList::in_order(list).with_context(|| format!("--threads {list:?}"))?;
    let mut seen = std::collections::HashSet::new();
    for &t in &threads {
        if file.position(t).is_none() {
            bail!(
                "--threads {list:?}: machine {:?} has no costs for thread {t}, it has {}",
                file.machine().name,
                ranges(file.threads().to_vec())
            );
        }
        if !seen.insert(t) {
            bail!("--threads {list:?}: thread {t} is listed twice");
        }
    }
    Ok(threads)
}

/// The first `k` of `threads` in the order of `placement`.
///
/// Within a NUMA node each core gives one thread before any gives a second, since SMT siblings share
/// the resources of their core.
fn placed(machine: &Machine, threads: &[u32], placement: Placement, k: usize) -> Result<Vec<u32>> {
    let mut siblings_before: BTreeMap<u32, usize> = BTreeMap::new();
    let mut keyed = Vec::new();
    for pu in threads.iter().filter_map(|&t| machine.pu(t)) {
        let sibling = siblings_before.entry(pu.core).or_insert(0);
        keyed.push((pu.package, pu.numa_node, *sibling, pu.core, pu.os_index));
        *sibling += 1;
    }
    keyed.sort_unstable();
    let numa: Vec<u32> = keyed.iter().map(|key| key.1).collect();
    let chosen = match placement {
        Placement::Packed => placement::packed(&numa, k)?,
        Placement::RoundRobin => placement::round_robin(&numa, k)?,
    };
    Ok(chosen.into_iter().map(|at| keyed[at].4).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_fill_or_alternate() {
        // Threads 2c and 2c + 1 share core c; cores 0 to 3 are in NUMA node 0.
        let file = corecast_model::synthetic("package:2 core:4 pu:2").unwrap();
        let all = file.threads();
        let first = |p, k| placed(file.machine(), all, p, k).unwrap();
        assert_eq!(first(Placement::Packed, 6), [0, 2, 4, 6, 1, 3]);
        assert_eq!(first(Placement::RoundRobin, 4), [0, 8, 2, 10]);
        let mut sorted = first(Placement::RoundRobin, 16);
        sorted.sort_unstable();
        assert_eq!(sorted, all);
    }
}
