//! Machines whose costs the literature gives, and default costs for machines that cannot be measured.
//!
//! The papers give costs of cache-line *transfers*; a message is two of them. The mapping is that
//! of the "different lines" notification of Ramos and Hoefler, *Cache Line Aware Algorithm Design
//! for Cache-Coherent Architectures* (TPDS 2016), §3.2 and Table 6, Equation (20): writing n flags
//! that nobody caches costs `n · R_I`, and the last reader pays `R_R` more. So
//!
//! - `send` is the transfer that makes the line writable, *invalid* in every cache: `R_I` in the
//!   own NUMA region, `R_QI` in another one, because a message's line lies on the receiver's node
//!   (Smelt §3.2);
//! - `receive` is the transfer of a line that the sender's cache holds: `R_L` within a core, `R_R`
//!   within a package, `R_Q` across packages.
//!
//! Costs of shared lines ([`LineCosts`]) are the paper's parameters as they stand: `R_I` to write,
//! `R_L`, `R_R`, `R_Q` to fetch, Table 2 for readers that come at once. They are those of the best
//! case `T_min`, which is what the paper minimises and what the message costs above are: nobody
//! polls a line before it is written, so `invalidate` is 0 (§2.3).
//!
//! Machines of which only the structure is published have the costs of [`default_costs_for`], and say so among
//! their assumptions. This file has the machines of CLa and of Mencagli and others, `smelt` and `tuned` have
//! those of these papers, `today` has present-day ones.

mod entry;
mod smelt;
mod today;
mod tuned;

use crate::classes::ClassCosts;
use crate::file::MachineFile;
use crate::levels::Levels;
use crate::lines::LineCosts;
use crate::machine::Machine;
use crate::pairwise::{CostModel, Unit};
use entry::Builtin;

/// Intel Xeon E5-2660, Sandy Bridge, 2.20 GHz, in nanoseconds: CLa Table 1.
///
/// `R_L` 2.3, `R_R` 35.0, `R_Q` 94.0, `R_I` 70.0, `R_QI` 107.0.
const CLA_SANDY_BRIDGE: ClassCosts = ClassCosts {
    unit: Unit::Nanoseconds,
    send: [70.0, 70.0, 107.0, 107.0],
    receive: [2.3, 35.0, 35.0, 94.0],
};

/// Line costs of [`CLA_SANDY_BRIDGE`]: Table 1, and no contention (§2.2.2: a line goes through QPI once, then
/// the last-level cache hands it out; rule 5 of §2.4).
const CLA_SANDY_BRIDGE_LINES: LineCosts = LineCosts {
    write: 70.0,
    invalidate: [0.0; 4],
    transfer: [2.3, 35.0, 35.0, 94.0],
    base: [2.3, 35.0, 35.0, 94.0],
    slope: [0.0; 4],
};

/// Intel Xeon Phi 5110P, Knights Corner, 1.05 GHz, in nanoseconds: CLa Table 1.
///
/// `R_L` 8.6, `R_R` 235.8, `R_I` 277.7; one package and one NUMA node, so the outer classes do not
/// occur.
const CLA_XEON_PHI: ClassCosts = ClassCosts {
    unit: Unit::Nanoseconds,
    send: [277.7; 4],
    receive: [8.6, 235.8, 235.8, 235.8],
};

/// Line costs of [`CLA_XEON_PHI`]: Table 1, and Table 2 for buffers in state E, `T_C(n) = 320.5 + 56.2·n`.
///
/// The paper puts one thread on each core; SMT siblings of the writer are taken to find the line in
/// the cache that they share with it, `R_L`, without contention.
const CLA_XEON_PHI_LINES: LineCosts = LineCosts {
    write: 277.7,
    invalidate: [0.0; 4],
    transfer: [8.6, 235.8, 235.8, 235.8],
    base: [8.6, 320.5, 320.5, 320.5],
    slope: [0.0, 56.2, 56.2, 56.2],
};

/// Intel Xeon E5-2650, Sandy Bridge, 2.00 GHz, in cycles: Mencagli, Vanneschi, Lametti, *The
/// Home-Forwarding Mechanism*, Tables 1 and 3.
///
/// That paper measures a line that the other side still holds, a queue's steady state: `receive`
/// reads a line *modified* in the L1 of a core of the same chip (108) or of the other chip (304 to
/// 312, the middle is taken); `send` writes a line that the receiver read last, *shared* (same
/// chip 83 to 95, other chip 233 to 285, the middles are taken). SMT was off.
const HOME_FORWARDING_SANDY_BRIDGE: ClassCosts = ClassCosts {
    unit: Unit::Cycles,
    send: [89.0, 89.0, 259.0, 259.0],
    receive: [108.0, 108.0, 308.0, 308.0],
};

const BUILTINS: [Builtin; 3] = [
    Builtin {
        name: "sandybridge-2x8",
        cpu: "Intel Xeon E5-2660 (Sandy Bridge), 2.20 GHz",
        levels: Levels {
            package: 2,
            numa: 1,
            core: 8,
            pu: 2,
        },
        costs: Some(CLA_SANDY_BRIDGE),
        lines: Some(CLA_SANDY_BRIDGE_LINES),
        source: "Ramos and Hoefler, Cache Line Aware Algorithm Design for Cache-Coherent \
                 Architectures, TPDS 2016, Table 1",
    },
    Builtin {
        name: "xeonphi-knc-60x4",
        cpu: "Intel Xeon Phi 5110P (Knights Corner), 1.05 GHz",
        levels: Levels {
            package: 1,
            numa: 1,
            core: 60,
            pu: 4,
        },
        costs: Some(CLA_XEON_PHI),
        lines: Some(CLA_XEON_PHI_LINES),
        source: "Ramos and Hoefler, Cache Line Aware Algorithm Design for Cache-Coherent \
                 Architectures, TPDS 2016, Table 1",
    },
    Builtin {
        name: "sandybridge-e5-2650-2x8",
        cpu: "Intel Xeon E5-2650 (Sandy Bridge), 2.00 GHz",
        levels: Levels {
            package: 2,
            numa: 1,
            core: 8,
            pu: 1,
        },
        costs: Some(HOME_FORWARDING_SANDY_BRIDGE),
        lines: None,
        source: "Mencagli, Vanneschi and Lametti, The Home-Forwarding Mechanism to Reduce the \
                 Cache Coherence Overhead in Next-Generation CMPs, Tables 1 and 3",
    },
];

fn all() -> impl Iterator<Item = &'static Builtin> {
    let others = smelt::MACHINES.iter().chain(&tuned::MACHINES);
    BUILTINS.iter().chain(others).chain(&today::MACHINES)
}

/// Returns the names that [`builtin`] knows.
#[must_use]
pub fn builtin_names() -> Vec<&'static str> {
    all().map(|b| b.name).collect()
}

/// Returns a machine of the literature by name; `None` for a name that is not in [`builtin_names`].
///
/// Each machine's `assumptions` quote the paper and table that its costs come from. Threads are
/// numbered core by core, SMT siblings next to each other.
///
/// # Examples
///
/// ```
/// let file = corecast_model::builtin("sandybridge-2x8").unwrap();
/// assert_eq!(file.costs().n(), 32);
/// // Threads 0 and 31 are in different packages: R_QI to send, R_Q to receive.
/// assert_eq!((file.costs().send(0, 31), file.costs().receive(0, 31)), (107.0, 94.0));
/// ```
#[must_use]
pub fn builtin(name: &str) -> Option<MachineFile> {
    let found = all().find(|b| b.name == name)?;
    let mut machine = found.levels.machine(found.name);
    machine.cpu = Some(found.cpu.to_owned());
    machine.assumptions.push(match found.costs {
        Some(_) => format!("Costs by class of proximity: {}.", found.source),
        None => format!(
            "Structure: {}. It gives no costs: those of CLa's Sandy Bridge stand in.",
            found.source
        ),
    });
    let costs = found
        .costs
        .unwrap_or(default_class_costs())
        .model(&machine)
        .expect("the tables hold valid costs");
    let file = MachineFile::of_whole(machine, costs).expect("every thread has its costs");
    Some(match found.lines {
        Some(lines) => file.with_lines(lines).expect("the tables hold valid costs"),
        None => file,
    })
}

/// Returns default costs for a machine that cannot be measured, for example because only one CPU may be used.
/// They are those of CLa's Sandy Bridge (Table 1, nanoseconds), by class of proximity.
///
/// Their absolute values are another machine's; their order and rough ratios hold on most: the
/// core is nearer than the package, the package nearer than the next one.
///
/// # Panics
///
/// When the machine has no hardware threads, which [`Machine::validate`] refuses.
///
/// # Examples
///
/// ```
/// use corecast_model::{builtin, default_costs_for};
///
/// let machine = builtin("xeonphi-knc-60x4").unwrap().machine().clone();
/// assert_eq!(default_costs_for(&machine).receive(0, 4), 35.0);
/// ```
#[must_use]
pub fn default_costs_for(machine: &Machine) -> CostModel {
    assert!(
        !machine.pus.is_empty(),
        "machine {:?} has no hardware threads",
        machine.name
    );
    default_class_costs()
        .model(machine)
        .expect("the table above holds valid costs")
}

/// Returns the class costs from which [`default_costs_for`] makes a model.
#[must_use]
pub fn default_class_costs() -> ClassCosts {
    CLA_SANDY_BRIDGE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_loads_and_survives_a_round_trip() {
        for name in builtin_names() {
            let file = builtin(name).unwrap();
            file.machine().validate().unwrap();
            assert!(file.machine().assumptions[0].contains("Table"));
            assert_eq!(MachineFile::from_json(&file.to_json()).unwrap(), file);
        }
        assert!(builtin("cray").is_none());
    }

    #[test]
    fn papers_have_so_many_threads() {
        // Smelt's Table 1, one thread per core where costs are of that; HotPar's Table 1.
        let threads = [
            ("barcelona-8x4", 32),
            ("bloomfield-2x4x2", 16),
            ("istanbul-4x6", 24),
            ("ivybridge-2x10", 20),
            ("magnycours-4x12", 48),
            ("nehalem-4x8", 32),
            ("shanghai-4x4", 16),
            ("interlagos-4x4x2", 32),
            ("sandybridge-4x8", 64),
            ("sandybridge-2x8", 32),
            ("xeonphi-knc-60x4", 240),
            ("clovertown-2x4", 8),
            ("barcelona-2.3ghz-8x4", 32),
            ("niagara2-4x8x8", 256),
        ];
        for (name, threads) in threads {
            assert_eq!(builtin(name).unwrap().costs().n(), threads, "{name}");
        }
        let names: std::collections::BTreeSet<_> = builtin_names().into_iter().collect();
        assert_eq!(names.len(), builtin_names().len());
    }

    #[test]
    fn who_has_no_costs_says_so() {
        let assumption = |name: &str| builtin(name).unwrap().machine().assumptions[0].clone();
        assert!(assumption("niagara2-4x8x8").contains("It gives no costs"));
        assert!(assumption("epyc-7r13-2x48").starts_with("Costs by class of proximity"));
        let near = builtin("epyc-7r13-2x48").unwrap();
        let costs = near.costs();
        let to = |thread| costs.receive(0, thread);
        assert_eq!((to(7), to(8), to(48)), (23.0, 107.0, 197.0));
    }

    #[test]
    fn xeon_phi_has_240_threads_and_one_distance_between_cores() {
        let file = builtin("xeonphi-knc-60x4").unwrap();
        let costs = file.costs();
        assert_eq!(costs.n(), 240);
        assert_eq!(
            (
                costs.receive(0, 3),
                costs.receive(0, 4),
                costs.receive(0, 239)
            ),
            (8.6, 235.8, 235.8)
        );
    }

    #[test]
    fn lines_cost_what_the_paper_says() {
        let costs = |name: &str| builtin(name).unwrap().costs().clone();
        // Equation 15: R_I + R_Q, however many read.
        let sandy = costs("sandybridge-2x8");
        let lines = sandy.lines().unwrap();
        let readers: Vec<usize> = (1..32).collect();
        assert_eq!(lines.write(0, &readers) + lines.fetch(0, 31, 31), 164.0);
        // Equation 16: R_I + T_C(n).
        let phi = costs("xeonphi-knc-60x4");
        let lines = phi.lines().unwrap();
        let time = lines.write(0, &[4, 8, 12]) + lines.fetch(0, 4, 3);
        assert!((time - (277.7 + 320.5 + 3.0 * 56.2)).abs() < 1e-9);
        assert!(costs("sandybridge-e5-2650-2x8").lines().is_none());
    }

    #[test]
    fn a_single_thread_gets_costs() {
        let one = Levels {
            package: 1,
            numa: 1,
            core: 1,
            pu: 1,
        }
        .machine("one");
        assert_eq!(default_costs_for(&one).n(), 1);
    }
}
