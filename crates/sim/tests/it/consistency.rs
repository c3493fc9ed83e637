//! Random programs read what some order of their operations on a plain memory gives.
//!
//! The oracle knows nothing of caches: it searches for an order. Without store buffers, or with a fence after
//! each store, that is an interleaving of the programs (sequential consistency); with buffers in order, stores
//! may come to memory late, but in their order (TSO).

use corecast_sim::engine::{RunOptions, run};
use corecast_sim::machine::{Protocol, SimMachine, known};
use std::collections::HashSet;

#[derive(Clone, Copy, Debug)]
enum Op {
    Load(usize),
    Store(usize, u64),
    Add(usize, u64),
    Fence,
}

/// The operations of each rank, each with the word that it read.
type History = Vec<Vec<(Op, u64)>>;

const LINES: usize = 2;

fn machines() -> Vec<SimMachine> {
    let mut all = vec![
        known::mesh(3, 1),
        known::ring(3),
        known::bus(3),
        known::packages(2, 2),
    ];
    let with = |mut machine: SimMachine, protocol| {
        machine.protocol = protocol;
        machine
    };
    for protocol in [Protocol::Mesi, Protocol::Mesif, Protocol::Moesi] {
        for base in [known::mesh(2, 2), known::packages(2, 2), known::bus(4)] {
            all.push(with(base, protocol));
        }
    }
    let mut victims = with(known::packages(2, 2), Protocol::Moesi);
    victims.sizes.inclusive = false;
    all.push(victims);
    all.push(known::tilepro64());
    // Stores one after the other, and stores that fetch their lines early.
    for draining in [1, 8] {
        for base in [known::mesh(2, 2), known::packages(2, 2)] {
            let mut machine = base;
            machine.sizes.pipelined = false;
            machine.sizes.draining = draining;
            all.push(machine);
        }
    }
    // With room for one line, lines are evicted all the time.
    for mut machine in all.clone() {
        machine.sizes.l1 = 1;
        machine.sizes.l2 = 1;
        machine.sizes.shared = 1;
        all.push(machine);
    }
    all
}

fn random_programs(random: &mut fastrand::Rng, fences: bool) -> Vec<Vec<Op>> {
    let mut value = 0;
    let mut program = || {
        let mut ops = Vec::new();
        for _ in 0..random.usize(2..6) {
            value += 1;
            let line = random.usize(0..LINES);
            match random.u32(0..10) {
                0..4 => ops.push(Op::Load(line)),
                4..8 => ops.push(Op::Store(line, value)),
                8 => ops.push(Op::Add(line, value << 16)),
                _ => ops.push(Op::Fence),
            }
            if fences && matches!(ops.last(), Some(Op::Store(..))) {
                ops.push(Op::Fence);
            }
        }
        ops
    };
    (0..3).map(|_| program()).collect()
}

fn simulate(machine: &SimMachine, programs: &[Vec<Op>], seed: u64) -> History {
    let programs = programs.to_vec();
    let options = RunOptions {
        seed,
        jitter: 200.0,
        checking: true,
        ..RunOptions::default()
    };
    let cores = [0, 1, machine.cores.len() - 1];
    let outcome = run(
        machine,
        &cores,
        &options,
        |setup| [setup.allocate(0, 1), setup.allocate(1, 1)],
        move |cpu, lines| {
            let mut seen = Vec::new();
            for &op in &programs[cpu.rank()] {
                let read = match op {
                    Op::Load(line) => cpu.load(lines[line]),
                    Op::Store(line, word) => {
                        cpu.store(lines[line], word);
                        0
                    }
                    Op::Add(line, word) => cpu.add(lines[line], word),
                    Op::Fence => {
                        cpu.fence();
                        0
                    }
                };
                seen.push((op, read));
            }
            seen
        },
    );
    outcome.unwrap().results
}

/// Whether some order explains the history; with `buffers`, stores may be late.
fn explained(history: &History, buffers: bool) -> bool {
    /// How far each program is, and how many of its operations have reached memory.
    type Place = ([usize; 3], [usize; 3], [u64; LINES]);
    let mut seen: HashSet<Place> = HashSet::new();
    let mut open: Vec<Place> = vec![([0; 3], [0; 3], [0; LINES])];
    while let Some(place) = open.pop() {
        if !seen.insert(place) {
            continue;
        }
        let (at, flushed, memory) = place;
        if (0..3).all(|rank| at[rank] == history[rank].len() && flushed[rank] == at[rank]) {
            return true;
        }
        for rank in 0..3 {
            let program = &history[rank];
            // The oldest operation that has not reached memory reaches it now.
            if flushed[rank] < at[rank] {
                let (mut flushed, mut memory) = (flushed, memory);
                if let (Op::Store(line, word), _) = program[flushed[rank]] {
                    memory[line] = word;
                }
                flushed[rank] += 1;
                open.push((at, flushed, memory));
            }
            let Some(&(op, read)) = program.get(at[rank]) else {
                continue;
            };
            let empty = flushed[rank] == at[rank];
            let mut next = at;
            next[rank] += 1;
            match op {
                Op::Load(line) => {
                    let mut pending = program[flushed[rank]..at[rank]].iter().rev();
                    let own = pending.find_map(|(op, _)| match op {
                        Op::Store(l, word) if *l == line => Some(*word),
                        _ => None,
                    });
                    let sees = own.unwrap_or(memory[line]);
                    if sees == read {
                        let mut flushed = flushed;
                        if empty {
                            flushed[rank] += 1;
                        }
                        open.push((next, flushed, memory));
                    }
                }
                Op::Store(line, word) if !buffers => {
                    let (mut flushed, mut memory) = (flushed, memory);
                    memory[line] = word;
                    flushed[rank] += 1;
                    open.push((next, flushed, memory));
                }
                Op::Store(..) => open.push((next, flushed, memory)),
                Op::Add(line, word) if empty && memory[line] == read => {
                    let (mut flushed, mut memory) = (flushed, memory);
                    memory[line] = memory[line].wrapping_add(word);
                    flushed[rank] += 1;
                    open.push((next, flushed, memory));
                }
                Op::Fence if empty => {
                    let mut flushed = flushed;
                    flushed[rank] += 1;
                    open.push((next, flushed, memory));
                }
                Op::Add(..) | Op::Fence => {}
            }
        }
    }
    false
}

#[test]
fn without_buffers_an_interleaving_explains_all_reads() {
    let mut random = fastrand::Rng::with_seed(1);
    for mut machine in machines() {
        machine.sizes.stores = 0;
        for seed in 0..60 {
            let programs = random_programs(&mut random, false);
            let history = simulate(&machine, &programs, seed);
            assert!(
                explained(&history, false),
                "{}, seed {seed}: {history:?}",
                machine.name
            );
        }
    }
}

#[test]
fn with_a_fence_after_each_store_buffers_are_not_seen() {
    let mut random = fastrand::Rng::with_seed(2);
    for machine in machines() {
        for seed in 0..60 {
            let programs = random_programs(&mut random, true);
            let history = simulate(&machine, &programs, seed);
            assert!(
                explained(&history, false),
                "{}, seed {seed}: {history:?}",
                machine.name
            );
        }
    }
}

#[test]
fn buffers_in_order_are_tso_and_no_less() {
    let mut random = fastrand::Rng::with_seed(3);
    let (mut tso, mut weaker) = (0, 0);
    for machine in machines() {
        if !machine.sizes.ordered {
            continue;
        }
        for seed in 0..100 {
            let programs = random_programs(&mut random, false);
            let history = simulate(&machine, &programs, seed);
            assert!(
                explained(&history, true),
                "{}, seed {seed}: {history:?}",
                machine.name
            );
            tso += 1;
            weaker += u32::from(!explained(&history, false));
        }
    }
    assert!(weaker > 0, "none of {tso} runs shows a buffer");
}

/// The oracle itself: it accepts what each model allows, and nothing else.
#[test]
fn the_oracle_knows_store_buffering_and_message_passing() {
    use Op::{Load, Store};
    let buffering = vec![
        vec![(Store(0, 1), 0), (Load(1), 0)],
        vec![(Store(1, 1), 0), (Load(0), 0)],
        vec![],
    ];
    assert!(!explained(&buffering, false) && explained(&buffering, true));
    let passing = |flag, data| {
        vec![
            vec![(Store(0, 1), 0), (Store(1, 1), 0)],
            vec![(Load(1), flag), (Load(0), data)],
            vec![],
        ]
    };
    assert!(explained(&passing(1, 1), false) && explained(&passing(0, 0), false));
    assert!(!explained(&passing(1, 0), true));
}
