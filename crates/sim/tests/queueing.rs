//! Contention at one server, against queueing theory: M/D/1 (Mencagli and others, §5 and Fig. 3).
//!
//! Clients ask for lines of one memory at random times, however long the last answer takes. All else on the
//! way has room, so what is waited for is the memory.

use corecast_sim::engine::{Cpu, Options, Setup, run};
use corecast_sim::machine::{Machine, known};
use corecast_sim::memory::LineId;

/// A machine on which only the memory makes anybody wait.
fn machine(clients: usize, service: f64) -> Machine {
    let mut machine = known::packages(1, clients);
    machine.costs.shared = 0.0;
    machine.costs.home = 0.0;
    machine.costs.memory_service = service;
    machine
}

/// The mean wait at the memory, for clients each of which asks every `interval` on average.
fn wait(clients: usize, service: f64, interval: f64) -> f64 {
    let requests = 120_000 / clients;
    let setup = |setup: &mut Setup<'_>| setup.allocate(0, requests * clients);
    let body = move |cpu: &mut Cpu<'_>, &first: &LineId| {
        let mut draw = fastrand::Rng::with_seed(cpu.rank() as u64 + 1);
        for request in 0..requests {
            cpu.compute(-(1.0 - draw.f64()).ln() * interval);
            cpu.prefetch(first.offset(cpu.rank() * requests + request));
        }
        cpu.settle();
    };
    let cores: Vec<usize> = (0..clients).collect();
    let options = Options::default();
    let outcome = run(&machine(clients, service), &cores, &options, setup, body).unwrap();
    let memory = outcome
        .servers
        .iter()
        .find(|server| server.name == "memory 0");
    let memory = memory.expect("it was asked");
    assert_eq!(memory.served as usize, requests * clients);
    let load = clients as f64 * service / interval;
    assert!(
        (memory.utilisation / load - 1.0).abs() < 0.05,
        "{} for {load}",
        memory.utilisation
    );
    memory.wait_mean
}

/// ρ T / 2 (1 − ρ).
fn in_theory(clients: usize, service: f64, interval: f64) -> f64 {
    let load = clients as f64 * service / interval;
    load * service / (2.0 * (1.0 - load))
}

#[test]
fn latency_under_load_is_that_of_m_d_1() {
    // The latency without load, of `machine`: 14 to know that it is a miss, 10 there and back, 150.
    let base = 14.0 + 20.0 + 150.0;
    for (service, interval) in [(10.0, 200.0), (20.0, 400.0), (50.0, 2000.0)] {
        for load in [0.2, 0.5, 0.8] {
            let clients = (load * interval / service) as usize;
            let found = base + wait(clients, service, interval);
            let theory = base + in_theory(clients, service, interval);
            let error = (found / theory - 1.0).abs();
            println!(
                "{clients} clients, service {service}, every {interval}: {found:.1}, in theory {theory:.1}"
            );
            assert!(error < 0.05, "{clients} clients: {found} against {theory}");
            let (queue, expected) = (found - base, theory - base);
            assert!(
                (queue / expected - 1.0).abs() < 0.08,
                "{clients} clients wait {queue}, not {expected}"
            );
        }
    }
}
