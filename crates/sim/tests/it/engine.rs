//! Errors of programs on simulated cores, store buffers and polling.

use corecast_sim::engine::{Cpu, RunOptions, SimError, run};
use corecast_sim::machine::{SimMachine, known};
use corecast_sim::memory::LineId;

/// Runs `body` on `cores`, with one line.
fn go<R: 'static>(
    machine: &SimMachine,
    cores: &[usize],
    limit: f64,
    body: impl Fn(&mut Cpu<'_>, &LineId) -> R + 'static,
) -> Result<Vec<R>, SimError> {
    let options = RunOptions {
        limit,
        ..RunOptions::default()
    };
    let outcome = run(machine, cores, &options, |setup| setup.allocate(0, 1), body)?;
    Ok(outcome.results)
}

#[test]
fn ranks_that_wait_for_ever_are_named() {
    let error = go(&known::mesh(3, 1), &[0, 1, 2], 1e6, |cpu, &line| {
        match cpu.rank() {
            0 => _ = cpu.wait_until(line, |word| word == 7),
            1 => cpu.await_signal(5),
            _ => cpu.store(line, 6),
        };
    });
    let text = error.unwrap_err().to_string();
    assert!(
        text.contains("rank 0 for line 0 to change, rank 1 for notification 5"),
        "{text}"
    );
    assert!(!text.contains("rank 2"), "{text}");
}

#[test]
fn a_rank_that_asks_again_and_again_is_stopped() {
    let error = go(&known::tilepro64(), &[0, 9], 10_000.0, |cpu, &line| {
        while cpu.rank() == 1 && cpu.load(line) == 0 {
            cpu.self_invalidate(line);
        }
    });
    let text = error.unwrap_err().to_string();
    assert!(text.starts_with("not done at 100"), "{text}");
}

#[test]
fn cores_serve_one_rank_each() {
    for cores in [&[0, 3][..], &[1, 1]] {
        let text = go(&known::ring(3), cores, 1e6, |_, _| ())
            .unwrap_err()
            .to_string();
        assert!(text.contains("\"ring-3\": it has 3 cores"), "{text}");
    }
}

#[test]
fn machines_without_their_parts_are_refused() {
    let mut machine = known::packages(2, 2);
    machine.cores[3].group = Some(9);
    let text = go(&machine, &[0], 1e6, |_, _| ()).unwrap_err().to_string();
    assert!(
        text.contains("core 3 has a group or a home that is not there"),
        "{text}"
    );
    let mut machine = known::mesh(2, 2);
    machine.costs.l1 = f64::NAN;
    assert!(go(&machine, &[0], 1e6, |_, _| ()).is_err());
}

#[test]
#[should_panic(expected = "rank 1 has had enough")]
fn a_panic_of_a_rank_is_that_of_the_run() {
    let _ = go(&known::mesh(2, 1), &[0, 1], 1e6, |cpu, &line| {
        cpu.load(line);
        assert!(cpu.rank() == 0, "rank {} has had enough", cpu.rank());
        cpu.wait_until(line, |word| word == 1);
    });
}

/// Store buffers: a core goes on at once, and a fence waits.
#[test]
fn stores_are_hidden_until_a_fence() {
    let took = go(&known::mesh(3, 1), &[2], 1e6, |cpu, &line| {
        cpu.store(line, 1);
        let stored = cpu.now();
        assert_eq!(cpu.load(line), 1, "its own store");
        cpu.fence();
        (stored, cpu.now())
    });
    // 14 to know the miss, 2 hops, home 10, memory 150, 2 hops back.
    assert_eq!(took.unwrap(), [(1.0, 182.0)]);
}

/// A poller is woken for every store, sees all of them in order, and loads no more often than the line changes and a
/// wait begins.
#[test]
fn pollers_look_once_for_each_change() {
    let seen = go(&known::mesh(2, 1), &[0, 1], 1e6, |cpu, &line| {
        let mut seen = Vec::new();
        for word in 1..=5 {
            if cpu.rank() == 0 {
                cpu.compute(1000.0);
                cpu.store(line, word);
            } else {
                seen.push(cpu.wait_until(line, |found| found >= word));
            }
        }
        (seen, cpu.counts().operations())
    });
    let seen = seen.unwrap();
    assert_eq!(seen[1].0, [1, 2, 3, 4, 5]);
    // Five stores; a first load, one after each store, and one at the start of each wait.
    assert!(seen[1].1 <= 5 + 1 + 5 + 5, "{}", seen[1].1);
}
