//! The conditions of races: how ranks start an operation with data, and whether caches are warm or cold.

use anyhow::{Result, bail};
use clap::ValueEnum;
use corecast_bench::cpu_placement::CpuPlacement;
use corecast_bench::sized::{self, Conditions, Start};
use corecast_collectives::Plans;
use corecast_model::{CacheKind, Machine};
use corecast_tune::contest::available_bytes;

use crate::sizes;

/// Assumed bytes of a core's private caches where the system does not say: more than any core has today.
const PRIVATE_BYTES: usize = 4 << 20;

/// What `--start` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum StartArg {
    /// An instant of the clock that all cores share, agreed on after a barrier
    Window,
    /// The library's own barrier alone
    Barrier,
    /// Whichever has the ranks begin closer together, measured before the races
    Auto,
}

/// The conditions of all races, and a sentence that says how the start was chosen.
///
/// # Errors
///
/// A window is asked for where ranks share hardware threads, `--cache` is neither a word nor a size, or the ways to
/// start could not be compared.
pub(super) fn find(
    (start, cache): (StartArg, &str),
    oversubscribed: bool,
    placements: &[CpuPlacement],
    machine: &Machine,
    plans: impl FnOnce() -> Result<Plans>,
) -> Result<(Conditions, Option<String>)> {
    let bytes = cold_bytes(cache, machine, placements)?;
    check_walk(cache, bytes, placements.len())?;
    let (start, reason) = match start {
        StartArg::Window if oversubscribed => bail!(
            "--start window: ranks that share hardware threads cannot all watch the clock: use --start barrier, or as many --ranks as threads"
        ),
        StartArg::Window => (Start::Window, None),
        StartArg::Barrier => (Start::Barrier, None),
        StartArg::Auto => {
            let choice = sized::choose(&plans()?, placements)?;
            (choice.start, Some(choice.reason))
        }
    };
    let conditions = Conditions::from(oversubscribed).starting(start);
    Ok(match bytes {
        0 => (conditions, reason),
        bytes => (conditions.cold(bytes), reason),
    })
}

/// Bytes that each rank goes through before an operation, to evict its data; for `cold` twice the private caches of
/// a core.
fn cold_bytes(cache: &str, machine: &Machine, placements: &[CpuPlacement]) -> Result<usize> {
    match cache {
        "warm" => Ok(0),
        "cold" => Ok(2 * private_bytes(machine, placements)),
        size => match sizes::parse(size).as_deref() {
            Ok(&[bytes]) if bytes > 0 => Ok(bytes),
            _ => bail!(
                "--cache {size:?}: warm, cold, or how many bytes to go through before each operation, such as 64M"
            ),
        },
    }
}

/// The most bytes that a rank goes through: several times the largest cache of today.
const WALK_MAX: usize = 4 << 30;

/// Teams of one race that go through memory of their own: pinned threads and others, processes, settings of MPI.
const WALKERS: usize = 8;

/// Checks that `bytes` for each of `ranks` ranks are within reason, and there.
fn check_walk(cache: &str, bytes: usize, ranks: usize) -> Result<()> {
    if bytes > WALK_MAX {
        bail!("--cache {cache:?}: each rank goes through at most {WALK_MAX} bytes");
    }
    let need = bytes.saturating_mul(ranks).saturating_mul(WALKERS);
    if let Some(there) = available_bytes().filter(|there| need > there / 10 * 9) {
        bail!(
            "--cache {cache:?}: the ranks of all entrants would go through {} MiB, and {} MiB are free: name fewer bytes",
            need >> 20,
            there >> 20
        );
    }
    Ok(())
}

/// Bytes of the caches that only one core uses, for the core of `placements` that has the most.
fn private_bytes(machine: &Machine, placements: &[CpuPlacement]) -> usize {
    let core = |pu: u32| machine.pu(pu).map(|pu| (pu.package, pu.core));
    let own = |pu: u32| -> u64 {
        let caches = machine.caches.iter().filter(|cache| {
            let alone = cache.shared_by.iter().all(|&other| core(other) == core(pu));
            cache.kind != CacheKind::Instruction && cache.shared_by.contains(&pu) && alone
        });
        caches.filter_map(|cache| cache.size_bytes).sum()
    };
    let mut most = 0;
    for pu in machine.pus.iter().map(|pu| pu.os_index) {
        if placements.contains(&CpuPlacement::Pu(pu)) || placements.contains(&CpuPlacement::Free) {
            most = most.max(own(pu));
        }
    }
    match usize::try_from(most) {
        Ok(bytes) if bytes > 0 => bytes,
        _ => PRIVATE_BYTES,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_model::Cache;

    fn machine() -> Machine {
        let mut machine = corecast_model::synthetic("core:2 pu:2")
            .unwrap()
            .machine()
            .clone();
        let cache = |level, kind, size, shared_by: &[u32]| Cache {
            level,
            kind,
            size_bytes: Some(size),
            line_bytes: Some(64),
            shared_by: shared_by.to_vec(),
        };
        machine.caches = vec![
            cache(1, CacheKind::Data, 32 << 10, &[0, 1]),
            cache(1, CacheKind::Instruction, 32 << 10, &[0, 1]),
            cache(2, CacheKind::Unified, 1 << 20, &[0, 1]),
            cache(3, CacheKind::Unified, 32 << 20, &[0, 1, 2, 3]),
        ];
        machine
    }

    #[test]
    fn cold_goes_through_twice_what_the_core_has_alone() {
        let (machine, placements) = (machine(), [CpuPlacement::Pu(0), CpuPlacement::Pu(2)]);
        let own = (32 << 10) + (1 << 20);
        assert_eq!(cold_bytes("cold", &machine, &placements).unwrap(), 2 * own);
        assert_eq!(
            cold_bytes("cold", &machine, &[CpuPlacement::Free]).unwrap(),
            2 * own
        );
        assert_eq!(
            cold_bytes("cold", &machine, &[CpuPlacement::Pu(2)]).unwrap(),
            2 * PRIVATE_BYTES
        );
        assert_eq!(cold_bytes("warm", &machine, &placements).unwrap(), 0);
        assert_eq!(cold_bytes("64M", &machine, &placements).unwrap(), 64 << 20);
        for bad in ["hot", "0", "8,16", ""] {
            let error = cold_bytes(bad, &machine, &placements)
                .unwrap_err()
                .to_string();
            assert!(error.contains(&format!("{bad:?}")), "{error}");
        }
    }

    #[test]
    fn windows_need_a_thread_for_each_rank() {
        let none = || unreachable!("no plans are needed");
        let placements = [CpuPlacement::Pu(0), CpuPlacement::Pu(0)];
        let of = |start| find((start, "warm"), true, &placements, &machine(), none);
        let error = of(StartArg::Window).unwrap_err().to_string();
        assert!(error.contains("--start barrier"), "{error}");
        assert_eq!(of(StartArg::Barrier).unwrap().0.start, Start::Barrier);
    }
}
