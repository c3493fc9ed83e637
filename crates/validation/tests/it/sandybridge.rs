//! Single loads and stores on the Intel machine of Mencagli and others take the times of Tables 1
//! and 3.

use corecast_sim::engine::{Cpu, RunOptions, Setup, run};
use corecast_sim::machine::mencagli;
use corecast_sim::memory::LineId;

/// The cores that have the line before core 0 asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// No core has it; it is at home with this one.
    Nobody(usize),
    /// This core has written it.
    Modified(usize),
    /// Core 0 and this one have read it.
    Both(usize),
    /// These two have read it.
    Others(usize, usize),
}

/// Cycles of a load or a store of core 0, until it is done.
fn cycles(before: Before, store: bool) -> f64 {
    let setup = move |setup: &mut Setup<'_>| {
        let line = match before {
            Before::Nobody(home) | Before::Modified(home) => setup.allocate(home, 1),
            Before::Both(other) | Before::Others(other, _) => setup.allocate(other, 1),
        };
        match before {
            Before::Nobody(_) => {}
            Before::Modified(core) => setup.write(core, line, 1),
            Before::Both(other) => [other, 0]
                .into_iter()
                .for_each(|core| setup.read(core, line)),
            Before::Others(a, b) => [a, b].into_iter().for_each(|core| setup.read(core, line)),
        }
        line
    };
    let body = move |cpu: &mut Cpu<'_>, &line: &LineId| {
        match store {
            true => cpu.store(line, 2),
            false => drop(cpu.load(line)),
        }
        cpu.fence();
        cpu.now()
    };
    let machine = mencagli::sandy_bridge();
    run(&machine, &[0], &RunOptions::default(), setup, body)
        .unwrap()
        .results[0]
}

/// Cores 1 and 2 are on the chip of core 0, cores 8 and 9 on the other one.
#[test]
fn loads_and_stores_take_as_long_as_in_tables_1_and_3() {
    let load = false;
    let store = true;
    for (before, what, least, most) in [
        (Before::Modified(0), load, 6.0, 6.0),
        (Before::Others(1, 2), load, 39.0, 39.0),
        (Before::Modified(1), load, 90.0, 108.0),
        (Before::Nobody(0), load, 185.0, 185.0),
        (Before::Others(8, 9), load, 195.0, 195.0),
        (Before::Nobody(8), load, 280.0, 280.0),
        (Before::Modified(0), store, 9.0, 9.0),
        (Before::Both(1), store, 80.0, 83.0),
        (Before::Modified(1), store, 86.0, 102.0),
        (Before::Others(1, 2), store, 83.0, 95.0),
        (Before::Nobody(0), store, 185.0, 185.0),
        (Before::Modified(8), store, 213.0, 228.0),
        (Before::Others(8, 9), store, 233.0, 285.0),
        (Before::Nobody(8), store, 280.0, 280.0),
    ] {
        let found = cycles(before, what);
        let kind = if what { "store" } else { "load" };
        println!("{kind}, {before:?}: {found}, measured {least} to {most}");
        let inside = (0.85 * least..=1.15 * most).contains(&found);
        assert!(
            inside,
            "{kind}, {before:?}: {found} is not {least} to {most}"
        );
    }
    // The parts do not tell an exclusive line, measured 195 to 205, from a modified one, measured
    // 304 to 312.
    let far = cycles(Before::Modified(8), load);
    assert!((195.0..=312.0).contains(&far), "{far}");
}
