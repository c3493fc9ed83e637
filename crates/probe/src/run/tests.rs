//! Whole runs with a measurer that makes its numbers up.

use super::*;
use crate::{Basis, Estimate, PairCosts};
use corecast_model::deep::Near;
use corecast_model::{MachineFile, synthetic};

/// Costs by topology class and by pair, without any noise.
struct Fake {
    machine: Machine,
    asked: Vec<(u32, u32)>,
    /// The pair at which it fails.
    fails_at: Option<(u32, u32)>,
    /// The number of pairs after which it is interrupted amid one.
    interrupted_after: usize,
}

impl Fake {
    fn new(machine: &Machine) -> Self {
        Self {
            machine: machine.clone(),
            asked: Vec::new(),
            fails_at: None,
            interrupted_after: usize::MAX,
        }
    }
}

fn exact(ns: f64) -> Estimate {
    Estimate {
        median: ns,
        half_width: ns / 100.0,
        samples: 100,
        discarded: 1,
    }
}

/// The truth about a pair: depends on its class and a little on its members.
fn truth(machine: &Machine, from: &Pu, to: &Pu) -> f64 {
    let class = crate::class::Caches::new(machine).class(from, to);
    let base = match class.near {
        Near::Own => unreachable!("a pair has two threads"),
        Near::SameCore => 10.0,
        Near::SameCache(level) => 20.0 + f64::from(level),
        Near::SameNumaNode => 40.0,
        Near::SamePackage => 80.0,
        Near::OtherPackage => 160.0,
    };
    // Nodes are not alike, and neither are directions.
    let node = f64::from(class.from_node) + 3.0 * f64::from(class.to_node);
    base + node + f64::from(from.os_index % 2) * 0.5
}

impl Measurer for Fake {
    fn measure(&mut self, from: &Pu, to: &Pu, _limit: Duration) -> Result<PairCosts, ProbeError> {
        let pair = (from.os_index, to.os_index);
        if self.asked.len() == self.interrupted_after {
            return Err(ProbeError::INTERRUPTED);
        }
        self.asked.push(pair);
        if self.fails_at == Some(pair) {
            let (from, to) = pair;
            return Err(ProbeError::Broken { from, to });
        }
        let ns = truth(&self.machine, from, to);
        Ok(PairCosts {
            send: exact(ns),
            receive: exact(2.0 * ns),
            send_drained: exact(3.0 * ns),
            receive_alone: exact(4.0 * ns),
            one_way: exact(7.0 * ns),
            one: exact(8.0 * ns),
            long: exact(30.0 * ns),
            crossed: exact(9.0 * ns),
            taken: exact(15.0 * ns),
        })
    }

    fn notes(&mut self) -> Vec<String> {
        vec!["made up".into()]
    }
}

fn measured(spec: &str, change: impl FnOnce(&mut Config)) -> (Measurement, Fake, Vec<Progress>) {
    let machine = synthetic(spec).unwrap().machine().clone();
    let mut config = Config::whole(&machine);
    change(&mut config);
    let mut fake = Fake::new(&machine);
    let mut seen = Vec::new();
    let measurement = pairwise_with(&config, &machine, &mut fake, |p| seen.push(p)).unwrap();
    (measurement, fake, seen)
}

#[test]
fn every_pair_lands_in_its_place() {
    let (m, fake, _) = measured("package:2 core:2 pu:2", |_| ());
    assert!(!m.sampled && m.measured_pairs.iter().filter(|&&x| x).count() == 56);
    assert_eq!(fake.asked.len(), 56);
    for (i, from) in m.machine.pus.iter().enumerate() {
        for (j, to) in m.machine.pus.iter().enumerate() {
            let ns = if i == j {
                0.0
            } else {
                truth(&m.machine, from, to)
            };
            assert_eq!(m.send.ns.get(i, j), ns);
            assert_eq!(m.receive.ns.get(i, j), 2.0 * ns);
            assert_eq!(m.send_drained.ns.get(i, j), 3.0 * ns);
            assert_eq!(m.receive_alone.ns.get(i, j), 4.0 * ns);
            assert_eq!(m.one_way.half_width_ns.get(i, j), 7.0 * ns / 100.0);
            let messages = m.messages();
            let found = messages.matrices().map(|matrix| matrix.get(i, j));
            assert_eq!(found, [8.0, 30.0, 4.0, 15.0, 9.0].map(|times| times * ns));
        }
    }
    assert_eq!((m.samples, m.discarded), (100, 56 * 9));
    assert_eq!(m.notes, ["made up"]);
}

#[test]
fn rows_follow_the_order_asked_for() {
    let (m, _, _) = measured("package:2 core:4 pu:1", |c| c.pus = vec![6, 1, 3]);
    assert_eq!(m.threads, [6, 1, 3]);
    let pu = |n| m.machine.pu(n).unwrap();
    assert_eq!(m.send.ns.get(0, 2), truth(&m.machine, pu(6), pu(3)));
    let file = m.to_machine_file(Basis::Batch).unwrap();
    assert_eq!(file.threads(), [6, 1, 3]);
    assert_eq!(file.costs().numa_nodes(), [1, 0, 0]);
}

#[test]
fn progress_counts_up_and_ends() {
    let (_, _, seen) = measured("package:1 core:3 pu:1", |_| ());
    let counts: Vec<_> = seen.iter().map(|p| (p.done, p.total)).collect();
    assert_eq!(counts, (0..=6).map(|k| (k, 6)).collect::<Vec<_>>());
    assert_eq!(seen[0].eta, Config::PAIR_TIME_MAX * 6);
    assert_eq!(seen[6].eta, Duration::ZERO);
    assert!(seen.windows(2).all(|w| w[0].elapsed <= w[1].elapsed));
}

#[test]
fn the_rest_takes_as_long_as_what_was_done() {
    let p = Progress::new(3, 12, Duration::from_secs(6), Duration::ZERO);
    assert_eq!(p.eta, Duration::from_secs(18));
}

#[test]
fn large_machines_are_sampled_and_filled_by_class() {
    let (m, fake, seen) = measured("package:2 numa:2 core:16 pu:2", |_| ());
    let n = m.threads.len();
    assert!(m.sampled && n == 128);
    // 4 nodes: 16 ordered pairs of nodes, the 4 within a node split in two classes.
    assert!(fake.asked.len() <= 20 * 5 && fake.asked.len() >= 20);
    assert_eq!(seen.last().unwrap().total, fake.asked.len());
    for i in 0..n {
        for j in (0..n).filter(|&j| j != i) {
            let (ns, half) = (m.send.ns.get(i, j), m.send.half_width_ns.get(i, j));
            let real = truth(&m.machine, &m.machine.pus[i], &m.machine.pus[j]);
            assert!(
                (ns - real).abs() <= half,
                "({i}, {j}): {ns} ± {half}, really {real}"
            );
            assert!((ns - real).abs() <= 0.5);
        }
        assert!(!m.is_measured(i, i));
    }
    // The direction between nodes is kept.
    assert_ne!(m.send.ns.get(0, 127), m.send.ns.get(127, 0));
    let file = m.to_machine_file(Basis::Batch).unwrap();
    let said = file.machine().assumptions.last().unwrap();
    assert!(said.contains("of 16256 pairs were measured"), "{said}");
}

#[test]
fn the_limit_for_sampling_is_inclusive() {
    let (m, fake, _) = measured("package:1 core:6 pu:1", |c| c.sample_above_threads = 6);
    assert!(!m.sampled && fake.asked.len() == 30);
    let (m, fake, _) = measured("package:1 core:6 pu:1", |c| c.sample_above_threads = 5);
    assert!(m.sampled && fake.asked.len() == 5);
}

#[test]
fn a_failure_ends_the_run_and_is_passed_on() {
    let machine = synthetic("package:1 core:4 pu:1")
        .unwrap()
        .machine()
        .clone();
    let mut fake = Fake::new(&machine);
    fake.fails_at = Some((2, 1));
    let error = pairwise_with(&Config::whole(&machine), &machine, &mut fake, |_| ()).unwrap_err();
    assert!(matches!(error, ProbeError::Broken { from: 2, to: 1 }));
    assert_eq!(*fake.asked.last().unwrap(), (2, 1));
    assert!(error.is_environment());
}

#[test]
fn a_bad_request_measures_nothing() {
    let machine = synthetic("package:1 core:4 pu:1")
        .unwrap()
        .machine()
        .clone();
    let mut fake = Fake::new(&machine);
    let config = Config::new(vec![1, 9]);
    let error = pairwise_with(&config, &machine, &mut fake, |_| ()).unwrap_err();
    assert!(!error.is_environment() && fake.asked.is_empty());
}

#[test]
fn machine_files_survive_json_on_every_basis() {
    let (m, _, _) = measured("package:2 core:2 pu:1", |_| ());
    for (basis, receive) in [
        (Basis::Batch, 2.0),
        (Basis::Alone, 4.0),
        (Basis::OneWay, 6.0),
    ] {
        let file = m.to_machine_file(basis).unwrap();
        assert_eq!(MachineFile::from_json(&file.to_json()).unwrap(), file);
        let (send, found) = (file.costs().send(0, 3), file.costs().receive(0, 3));
        assert!((found - receive * send).abs() < 1e-9, "{basis:?}");
        assert!(file.receive_interval().unwrap().get(0, 3) > 0.0);
        let note = file.measured().unwrap();
        assert_eq!((note.samples, &note.when), (100, &m.when()));
        assert!(note.tool.starts_with("corecast-probe 0.") && note.tool.contains("ump, 64 slots"));
    }
}

#[test]
fn receive_by_one_way_is_never_below_a_lone_receive() {
    let (mut m, _, _) = measured("package:1 core:2 pu:1", |_| ());
    m.one_way = m.send.clone();
    let receive = m.receive_on(Basis::OneWay);
    assert_eq!(receive.ns, m.receive_alone.ns);
}

/// Stops after some pairs, or amid the one after them: what is missing is filled in once a pair of each class is known.
#[test]
fn an_interrupted_measurement_is_filled_in_or_refused() {
    let machine = synthetic("package:2 core:2 pu:1")
        .unwrap()
        .machine()
        .clone();
    let config = Config::whole(&machine);
    let until = |most: usize| {
        let calls = std::cell::Cell::new(0);
        let stop = || calls.replace(calls.get() + 1) >= most;
        let mut fake = Fake::new(&machine);
        let before = pairwise_until(&config, &machine, &mut fake, |_| (), stop);
        let mut fake = Fake::new(&machine);
        fake.interrupted_after = most;
        let amid = pairwise_until(&config, &machine, &mut fake, |_| (), || false);
        let costs = |found: &Result<Measurement, ProbeError>| match found {
            Ok(found) => Ok((found.one_way.ns.clone(), found.notes.clone())),
            Err(error) => Err(error.to_string()),
        };
        assert_eq!(costs(&amid), costs(&before), "{most} pairs");
        before
    };
    let whole = until(usize::MAX).unwrap();
    assert!(!whole.sampled);
    let error = until(1).unwrap_err().to_string();
    assert!(error.contains("interrupted after 1 of 12 pairs"), "{error}");
    let filled = (2..12).filter_map(|most| Some((most, until(most).ok()?)));
    let filled: Vec<(usize, Measurement)> = filled.collect();
    assert!(filled.iter().any(|(most, _)| *most < 12), "never enough");
    for (most, part) in filled {
        assert!(part.sampled);
        assert_eq!(
            part.measured_pairs.iter().filter(|&&pair| pair).count(),
            most
        );
        assert!(part.notes[1].contains(&format!("interrupted after {most} of 12 pairs")));
        assert_eq!(
            part.to_machine_file(Basis::Batch).unwrap().threads(),
            whole.threads
        );
    }
}
