//! Ramos and Hoefler's machines in parts: their tables come out of single accesses, and their algorithms take as long
//! as the symbolic model says at least and at most.

#[allow(dead_code)]
#[path = "../examples/validation/curves.rs"]
mod curves;

use corecast_sim::engine::{Cpu, Options, Setup, run};
use corecast_sim::machine::{Machine, cla as machines};
use corecast_sim::memory::LineId;
use curves::{ROUNDING, Which, curves};

fn between_the_bounds(which: Which, algorithms: usize) {
    let curves = curves(which);
    assert_eq!(curves.len(), algorithms);
    for curve in &curves {
        for point in &curve.points {
            let inside = point.least - ROUNDING <= point.simulated && point.simulated <= point.most;
            assert!(inside, "{}, {}: {point:?}", which.name(), curve.algorithm);
        }
    }
}

#[test]
fn times_on_sandy_bridge_are_between_the_bounds() {
    between_the_bounds(Which::SandyBridge, 13);
}

#[test]
fn times_on_xeon_phi_are_between_the_bounds() {
    between_the_bounds(Which::XeonPhi, 11);
}

/// When each of some cores has loaded so many lines that `owner` has, modified; of none in memory next to `home`.
fn loads(
    machine: &Machine,
    cores: &[usize],
    lines: usize,
    owner: Option<usize>,
    home: usize,
) -> Vec<f64> {
    let setup = move |setup: &mut Setup<'_>| {
        let first = setup.allocate(home, lines);
        for line in 0..lines {
            owner.inspect(|&owner| setup.write(owner, first.offset(line), 0));
        }
        first
    };
    let body = move |cpu: &mut Cpu<'_>, &first: &LineId| {
        match lines {
            1 => _ = cpu.load(first),
            _ => cpu.copy(first, lines),
        }
        cpu.now()
    };
    run(machine, cores, &Options::default(), setup, body)
        .unwrap()
        .results
}

#[track_caller]
fn near(found: f64, table: f64, tolerance: f64, what: &str) {
    let error = (found / table - 1.0).abs();
    assert!(error <= tolerance, "{what}: {found} instead of {table}");
}

/// A line that another core has modified takes 7 % more than R_R, which is what the shared cache gives without
/// asking.
#[test]
fn table_1_comes_out() {
    let machine = machines::sandy_bridge();
    let load = |core: usize, owner, home| loads(&machine, &[core], 1, owner, home)[0];
    near(load(0, Some(0), 0), 2.3, 0.0, "R_L");
    near(load(0, Some(1), 0), 35.0, 0.07, "R_R");
    near(
        load(0, Some(8), 0),
        94.0,
        0.005,
        "R_Q, at home with the reader",
    );
    near(
        load(0, Some(8), 8),
        94.0,
        0.005,
        "R_Q, at home with the owner",
    );
    near(load(0, None, 0), 70.0, 0.005, "R_I");
    near(load(0, None, 8), 107.0, 0.005, "R_QI");
    let machine = machines::xeon_phi();
    let load = |core: usize, owner| loads(&machine, &[core], 1, owner, 0)[0];
    near(load(0, Some(0)), 8.6, 0.0, "R_L");
    near(load(0, Some(30)), 235.8, 0.001, "R_R");
    near(load(0, None), 277.7, 0.001, "R_I");
}

/// What each further thread adds that loads the same line: c of Table 2, next to nothing on Sandy Bridge (§2.2.2).
#[test]
fn contention_is_that_of_table_2() {
    let last = |machine: &Machine, cores: &[usize]| {
        let all = loads(machine, cores, 1, Some(0), 0);
        all.into_iter().fold(0.0, f64::max)
    };
    let phi = machines::xeon_phi();
    for n in [2, 10, 59] {
        let cores: Vec<usize> = (1..=n).collect();
        let added = last(&phi, &cores) - last(&phi, &[1]);
        near(added, 56.2 * (n - 1) as f64, 0.01, "c");
    }
    let added = last(&machines::sandy_bridge(), &[1, 2, 3, 4, 5, 6, 7])
        - last(&machines::sandy_bridge(), &[1]);
    assert!((0.0..7.0).contains(&added), "{added}");
}

/// What each further line adds: o of Tables 3 and 4; and between packages each thread, c of Table 3. The intercepts are
/// those of a ping-pong, which has a line more (Equation 1), so they are not those of a copy.
#[test]
fn slopes_of_tables_3_and_4_come_out() {
    let slope = |machine: &Machine, owner| {
        let time = |lines| loads(machine, &[0], lines, Some(owner), 0)[0];
        (time(128) - time(64)) / 64.0
    };
    near(slope(&machines::sandy_bridge(), 1), 11.1, 0.02, "o, near");
    near(
        slope(&machines::sandy_bridge(), 8),
        7.5 + 3.0,
        0.07,
        "o + c, far",
    );
    near(slope(&machines::xeon_phi(), 1), 76.0, 0.02, "o, Xeon Phi");
}
