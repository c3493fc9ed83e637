//! One line, step by step: the states of its copies, the transfers by source, and the time of each step. All
//! expectations were worked out by hand from the protocols.

use corecast_sim::engine::{Cpu, RunOptions, run};
use corecast_sim::machine::{Protocol, SimMachine, known};
use corecast_sim::memory::CopyState::{self, Exclusive, Forward, Modified, Owned, Shared};
use corecast_sim::memory::{Counts, LineId, LineSource};

/// What a core does with the line.
#[derive(Clone, Copy, Debug)]
enum Act {
    Load,
    Store,
    NoFetch,
    Push,
    Add,
    Drop,
}
use Act::{Add, Drop, Load, NoFetch, Push, Store};

/// After a step: the states of all cores, all counts so far, and how long the step took.
struct Step {
    states: Vec<Option<CopyState>>,
    counts: Counts,
    took: f64,
}

/// The time between two steps: far more than any operation takes.
const APART: f64 = 10_000.0;

/// Runs the steps one after another, on a line at home with core 0.
fn play(machine: &SimMachine, steps: &'static [(usize, Act)]) -> Vec<Step> {
    let cores = machine.cores.len();
    let options = RunOptions {
        checking: true,
        ..RunOptions::default()
    };
    let all: Vec<usize> = (0..cores).collect();
    let body = move |cpu: &mut Cpu<'_>, &line: &LineId| {
        let mut mine = Vec::new();
        for (index, &(core, act)) in steps.iter().enumerate() {
            let start = APART * (index + 1) as f64;
            if core != cpu.core() {
                continue;
            }
            cpu.compute(start - cpu.now());
            match act {
                Load => _ = cpu.load(line),
                Store => cpu.store(line, index as u64),
                NoFetch => cpu.store_no_fetch(line, index as u64),
                Push => cpu.store_home_forward(line, index as u64),
                Add => _ = cpu.add(line, 1),
                Drop => cpu.self_invalidate(line),
            }
            cpu.fence();
            let took = cpu.now() - start;
            // The state is read when everything has settled.
            cpu.compute(APART / 2.0);
            let step = Step {
                states: (0..cores).map(|core| cpu.state(core, line)).collect(),
                counts: cpu.counts(),
                took,
            };
            mine.push((index, step));
        }
        mine
    };
    let outcome = run(machine, &all, &options, |setup| setup.allocate(0, 1), body).unwrap();
    let mut steps: Vec<(usize, Step)> = outcome.results.into_iter().flatten().collect();
    steps.sort_by_key(|(index, _)| *index);
    steps.into_iter().map(|(_, step)| step).collect()
}

const S: Option<CopyState> = Some(Shared);
const E: Option<CopyState> = Some(Exclusive);
const M: Option<CopyState> = Some(Modified);
const O: Option<CopyState> = Some(Owned);
const F: Option<CopyState> = Some(Forward);
const I: Option<CopyState> = None;

fn with(mut machine: SimMachine, protocol: Protocol) -> SimMachine {
    machine.protocol = protocol;
    machine
}

/// Checks the states after each step, and in the end the transfers by source, the invalidations and the write-backs.
#[track_caller]
fn expect(
    machine: &SimMachine,
    steps: &'static [(usize, Act)],
    states: &[&[Option<CopyState>]],
    transfers: &[(LineSource, u64)],
    (invalidations, write_backs): (u64, u64),
) {
    let played = play(machine, steps);
    for (index, (step, expected)) in played.iter().zip(states).enumerate() {
        let act = steps[index];
        assert_eq!(
            &step.states, expected,
            "{}: step {index} {act:?}",
            machine.name
        );
    }
    let counts = &played.last().unwrap().counts;
    let found = counts.transfers.values().sum::<u64>();
    let expected: u64 = transfers.iter().map(|(_, count)| count).sum();
    assert_eq!(found, expected, "{:?}", counts.transfers);
    for &(source, count) in transfers {
        assert_eq!(
            counts.from(source),
            count,
            "{source:?} of {:?}",
            counts.transfers
        );
    }
    assert_eq!(
        (counts.invalidations, counts.write_backs),
        (invalidations, write_backs)
    );
}

const ROUND: &[(usize, Act)] = &[(0, Store), (1, Load), (2, Load), (1, Store), (0, Load)];

#[test]
fn mesi_writes_back_what_others_read() {
    expect(
        &with(known::mesh(3, 1), Protocol::Mesi),
        ROUND,
        &[&[M, I, I], &[S, S, I], &[S, S, S], &[I, M, I], &[S, S, I]],
        &[
            (LineSource::Memory, 2),
            (LineSource::Modified, 2),
            (LineSource::Upgrade, 1),
        ],
        (2, 2),
    );
}

#[test]
fn mesif_forwards_from_who_read_last() {
    expect(
        &with(known::mesh(3, 1), Protocol::Mesif),
        ROUND,
        &[&[M, I, I], &[S, F, I], &[S, S, F], &[I, M, I], &[F, S, I]],
        &[
            (LineSource::Memory, 1),
            (LineSource::Modified, 2),
            (LineSource::Forward, 1),
            (LineSource::Upgrade, 1),
        ],
        (2, 2),
    );
}

#[test]
fn moesi_keeps_an_owner_and_writes_nothing_back() {
    expect(
        &with(known::mesh(3, 1), Protocol::Moesi),
        ROUND,
        &[&[M, I, I], &[O, S, I], &[O, S, S], &[I, M, I], &[S, O, I]],
        &[
            (LineSource::Memory, 1),
            (LineSource::Modified, 2),
            (LineSource::Owned, 1),
            (LineSource::Upgrade, 1),
        ],
        (2, 0),
    );
}

#[test]
fn a_bus_gives_the_same_states() {
    for protocol in [Protocol::Mesi, Protocol::Mesif, Protocol::Moesi] {
        let mesh = play(&with(known::mesh(3, 1), protocol), ROUND);
        let bus = play(&with(known::bus(3), protocol), ROUND);
        for (a, b) in mesh.iter().zip(&bus) {
            assert_eq!(a.states, b.states, "{protocol}");
            assert_eq!(a.counts.invalidations, b.counts.invalidations);
        }
        // Every core except the one that asks and the one that answers looks whether it has the line.
        let probes: Vec<u64> = bus.iter().map(|step| step.counts.probes).collect();
        assert!(probes.windows(2).all(|two| two[0] < two[1]), "{probes:?}");
        assert_eq!(mesh.last().unwrap().counts.probes, 0);
    }
}

#[test]
fn a_line_that_nobody_else_has_is_exclusive() {
    for protocol in [Protocol::Mesi, Protocol::Mesif, Protocol::Moesi] {
        let reader = match protocol {
            Protocol::Mesif => F,
            _ => S,
        };
        expect(
            &with(known::mesh(3, 1), protocol),
            // The last store hits.
            &[(1, Load), (2, Load), (0, Add), (0, Store)],
            &[&[I, E, I], &[I, S, reader], &[M, I, I], &[M, I, I]],
            &match protocol {
                Protocol::Mesif => [
                    (LineSource::Memory, 1),
                    (LineSource::Exclusive, 1),
                    (LineSource::Forward, 1),
                ],
                _ => [
                    (LineSource::Memory, 2),
                    (LineSource::Exclusive, 1),
                    (LineSource::Forward, 0),
                ],
            },
            (2, 0),
        );
    }
}

/// Cores 0 and 1 share a cache, 2 and 3 another one.
#[test]
fn shared_caches_answer_for_their_cores() {
    expect(
        &known::packages(2, 2),
        &[(0, Store), (1, Load), (2, Load), (3, Store), (2, Load)],
        &[
            &[M, I, I, I],
            &[S, F, I, I],
            &[S, S, F, I],
            &[I, I, I, M],
            &[I, I, F, S],
        ],
        &[
            (LineSource::Memory, 1),
            // Core 1 from core 0, core 2 from core 3.
            (LineSource::Modified, 2),
            // Core 2 from the other package, core 3 from its own one.
            (LineSource::SharedCache, 2),
        ],
        // Three cores and a shared cache lose it; written back when the other package reads it.
        (4, 1),
    );
}

#[test]
fn stores_that_write_all_of_a_line_need_not_read_it() {
    expect(
        &known::mesh(3, 1),
        &[(1, NoFetch), (2, NoFetch), (2, NoFetch)],
        &[&[I, M, I], &[I, I, M], &[I, I, M]],
        &[(LineSource::NotRead, 2)],
        (1, 0),
    );
}

#[test]
fn what_is_pushed_home_is_there_and_nowhere_else() {
    let steps: &[(usize, Act)] = &[(0, Store), (2, Load), (2, Push), (0, Load), (0, Store)];
    expect(
        &known::mesh(3, 1),
        steps,
        &[&[M, I, I], &[S, I, S], &[M, I, I], &[M, I, I], &[M, I, I]],
        &[
            (LineSource::Memory, 1),
            (LineSource::Modified, 1),
            (LineSource::Upgrade, 1),
            (LineSource::Pushed, 1),
        ],
        (0, 1),
    );
}

#[test]
fn a_copy_that_was_given_up_need_not_be_invalidated() {
    let steps: &[(usize, Act)] = &[(0, Store), (1, Load), (1, Drop), (0, Store)];
    expect(
        &known::mesh(3, 1),
        steps,
        &[&[M, I, I], &[S, S, I], &[S, I, I], &[M, I, I]],
        &[
            (LineSource::Memory, 1),
            (LineSource::Modified, 1),
            (LineSource::Upgrade, 1),
        ],
        (0, 1),
    );
    let mut dirty = play(&known::mesh(3, 1), &[(0, Store), (0, Drop), (1, Load)]);
    let last = dirty.pop().unwrap();
    assert_eq!(
        (
            last.counts.write_backs,
            last.counts.from(LineSource::Memory)
        ),
        (1, 2)
    );
}

/// TILEPro64: every store goes to tile 0, copies elsewhere are shared or not there.
#[test]
fn homes_get_every_store() {
    let states = |shared: &[usize]| -> Vec<Option<CopyState>> {
        let has = |tile: usize| if shared.contains(&tile) { S } else { I };
        (0..64).map(has).collect()
    };
    let expected = [
        states(&[0]),
        states(&[0, 9]),
        states(&[0, 9, 63]),
        // The copy of the core that stores stays, the other one goes.
        states(&[0, 9]),
        // The home's store takes the last one away.
        states(&[0]),
        states(&[0]),
    ];
    let expected: Vec<&[Option<CopyState>]> = expected.iter().map(|states| &states[..]).collect();
    expect(
        &known::tilepro64(),
        &[
            (0, Store),
            (9, Load),
            (63, Load),
            (9, Store),
            (0, Store),
            (63, Push),
        ],
        &expected,
        &[
            (LineSource::Memory, 1),
            (LineSource::HomeCache, 2),
            (LineSource::Pushed, 1),
        ],
        (2, 0),
    );
}

/// Each time is the sum of its parts, from the costs of `known::mesh`: miss known after 14, 2 for each hop,
/// home 10, another cache 10, memory 150.
#[test]
fn a_transfer_takes_the_sum_of_its_parts() {
    let steps: &[(usize, Act)] = &[
        (0, Store), // 14 + home 10 + memory 150
        (2, Load),  // 14 + 2 hops + home 10 + cache 10 + 2 hops
        (2, Store), // 14 + 2 hops + home 10 + cache 10 + 2 hops: 0 loses it
        (1, Load),  // 14 + 1 hop + home 10 + 2 hops + cache 10 + 1 hop
        (0, Store), // 14 + home 10 + memory 150: sharers do not answer
        (0, Load),  // hits
        (2, Push),  // 14 + 2 hops + home 10 + cache 10 + 2 hops
    ];
    let expected = [174.0, 42.0, 42.0, 42.0, 174.0, 4.0, 42.0];
    let took: Vec<f64> = play(&known::mesh(3, 1), steps)
        .iter()
        .map(|step| step.took)
        .collect();
    assert_eq!(took, expected);
}
