//! A short probe of this machine: what must hold on any machine, and no absolute times.

use corecast_machine::discover;
use corecast_model::MachineFile;
use corecast_probe::{
    Basis, Config, Costs, Measurement, Outcome, ProbeError, measure_or_builtin, pairwise,
};
use corecast_wire::queue::Backend;
use std::time::Duration;

/// A short probe of the first two usable PUs; `None` where that is impossible, with a line of
/// output that says so.
fn probe(change: impl FnOnce(&mut Config)) -> Option<Measurement> {
    let found = discover();
    let pus: Vec<u32> = found.usable.iter().take(2).collect();
    let mut config = Config::new(pus);
    config.samples_min = 20;
    config.time_limit = Duration::from_millis(300);
    change(&mut config);
    match pairwise(&config, &found.machine, |_| ()) {
        Ok(measurement) => Some(measurement),
        Err(error) if error.is_environment() => {
            println!("SKIPPED: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn check(costs: &Costs) {
    assert_eq!((costs.ns.n(), costs.half_width_ns.n()), (2, 2));
    for i in 0..2 {
        for j in 0..2 {
            let (ns, half) = (costs.ns.get(i, j), costs.half_width_ns.get(i, j));
            assert!(ns.is_finite() && half.is_finite() && half >= 0.0);
            assert_eq!(ns == 0.0, i == j, "({i}, {j}): {ns}");
            assert!(ns >= 0.0);
        }
    }
}

#[test]
fn both_back_ends_give_positive_finite_matrices() {
    for backend in Backend::ALL {
        let Some(m) = probe(|c| c.backend = backend) else {
            return;
        };
        for costs in [
            &m.send,
            &m.receive,
            &m.send_drained,
            &m.receive_alone,
            &m.one_way,
        ] {
            check(costs);
        }
        assert_eq!((m.backend, m.sampled), (backend, false));
        assert!(m.is_measured(0, 1) && m.is_measured(1, 0) && !m.is_measured(0, 0));
        assert!(m.samples > 0 && m.elapsed > Duration::ZERO);
        let file = m.to_machine_file(Basis::Batch).unwrap();
        assert_eq!(MachineFile::from_json(&file.to_json()).unwrap(), file);
    }
}

#[test]
fn shapes_other_than_the_default_work() {
    for (slots, batch) in [(2, 1), (8, 8), (16, 4), (128, 2)] {
        let Some(m) = probe(|c| (c.slots, c.batch) = (slots, batch)) else {
            return;
        };
        assert_eq!((m.slots, m.batch), (slots, batch));
        check(&m.receive);
    }
}

#[test]
fn one_pu_is_explained_and_gets_built_in_costs() {
    let machine = discover().machine;
    let config = Config::new(vec![machine.pus[0].os_index]);
    let error = pairwise(&config, &machine, |_| ()).unwrap_err();
    assert!(matches!(error, ProbeError::OnePu { .. }));
    match measure_or_builtin(&config, &machine, |_| ()).unwrap() {
        Outcome::BuiltIn { why, file } => {
            assert_eq!(why, error.to_string());
            assert_eq!(file.threads(), config.pus);
            assert!(file.measured().is_none());
        }
        Outcome::Measured(_) => panic!("one PU makes no pair"),
    }
}

#[test]
fn a_pu_that_cannot_be_pinned_to_ends_in_built_in_costs_before_the_first_pair() {
    // A machine file of another machine: its PUs exist there and not here.
    let file = corecast_model::synthetic("package:4 core:250 pu:1").unwrap();
    let config = Config::new(vec![0, 998, 999]);
    let mut calls = 0;
    let outcome = measure_or_builtin(&config, file.machine(), |_| calls += 1).unwrap();
    match outcome {
        Outcome::BuiltIn { why, file } => {
            assert!(why.contains("cannot pin to PU 998"), "{why}");
            assert_eq!((file.threads().len(), calls), (3, 0));
            assert!(file.costs().receive(0, 1) > file.costs().receive(1, 2));
        }
        Outcome::Measured(_) => println!("SKIPPED: this machine has a PU 999"),
    }
}

#[test]
fn the_callers_own_affinity_is_left_alone() {
    let before = corecast_machine::current_mask().unwrap_or_default();
    if probe(|_| ()).is_some() {
        assert_eq!(corecast_machine::current_mask().unwrap_or_default(), before);
    }
}
