//! Where the ranks of a race run.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::fmt;

/// Place of one rank. Several ranks may share a PU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CpuPlacement {
    /// On this PU and no other, by the operating system's number.
    Pu(u32),
    /// Wherever the operating system puts it.
    Free,
}

impl fmt::Display for CpuPlacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CpuPlacement::Pu(pu) => write!(f, "{pu}"),
            CpuPlacement::Free => f.write_str("any"),
        }
    }
}

/// PUs that this process may use, ascending; empty if the system does not say.
pub fn allowed_pus() -> Vec<u32> {
    match sched_getaffinity(None) {
        Ok(set) => (0..CpuSet::MAX_CPU)
            .filter(|&pu| set.is_set(pu))
            .map(|pu| pu as u32)
            .collect(),
        Err(_) => Vec::new(),
    }
}

/// `ranks` pinned placements, dealt to the given PUs round-robin.
///
/// # Panics
///
/// If `pus` is empty.
pub fn pinned(ranks: usize, pus: &[u32]) -> Vec<CpuPlacement> {
    assert!(!pus.is_empty(), "no PU to pin {ranks} ranks to");
    (0..ranks)
        .map(|r| CpuPlacement::Pu(pus[r % pus.len()]))
        .collect()
}

/// `ranks` placements that the operating system chooses.
pub fn free(ranks: usize) -> Vec<CpuPlacement> {
    vec![CpuPlacement::Free; ranks]
}

/// Whether ranks must share a PU, so that a rank that waits for another has to
/// give its PU away.
pub fn oversubscribed(placements: &[CpuPlacement]) -> bool {
    let shared = placements.iter().enumerate().any(|(rank, placement)| {
        *placement != CpuPlacement::Free && placements[..rank].contains(placement)
    });
    shared || placements.len() > allowed_pus().len().max(1)
}

/// The PUs of `placements`, each once, as a list such as `0,1`; `any` if none is pinned.
pub fn describe(placements: &[CpuPlacement]) -> String {
    let mut distinct: Vec<CpuPlacement> = Vec::new();
    for placement in placements {
        if !distinct.contains(placement) {
            distinct.push(*placement);
        }
    }
    let places: Vec<String> = distinct.iter().map(CpuPlacement::to_string).collect();
    places.join(",")
}

/// Moves the calling thread to `placement`.
///
/// # Errors
///
/// One line that names the PU and the system's reason. The thread keeps running
/// where it was: a container that refuses pinning must not end a measurement.
pub fn take(placement: CpuPlacement) -> Result<(), String> {
    let CpuPlacement::Pu(pu) = placement else {
        return Ok(());
    };
    if pu as usize >= CpuSet::MAX_CPU {
        return Err(format!("PU {pu} is beyond what affinity masks here hold"));
    }
    let mut set = CpuSet::new();
    set.set(pu as usize);
    sched_setaffinity(None, &set).map_err(|e| format!("pinning to PU {pu} refused: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_are_dealt_round() {
        assert_eq!(
            pinned(3, &[3, 7]),
            [
                CpuPlacement::Pu(3),
                CpuPlacement::Pu(7),
                CpuPlacement::Pu(3)
            ]
        );
        assert_eq!(describe(&pinned(5, &[3, 7])), "3,7");
        assert_eq!(describe(&free(2)), "any");
        assert!(oversubscribed(&pinned(3, &[0, 1])));
        assert!(!oversubscribed(&pinned(1, &[0])));
        assert!(oversubscribed(&free(100_000)));
    }

    #[test]
    fn a_refused_pin_is_an_error_that_names_the_pu() {
        assert!(
            take(CpuPlacement::Pu(1_000_000))
                .unwrap_err()
                .contains("1000000")
        );
        assert!(take(CpuPlacement::Pu(1023)).unwrap_err().contains("1023"));
        assert_eq!(take(CpuPlacement::Free), Ok(()));
    }
}
