//! Runs the acts of a graph on a simulated machine, where the time of an access follows from the machine and not from a
//! formula.
//!
//! | act | on the machine |
//! | --- | --- |
//! | write, add | an atomic addition, as the paper writes flags (§2.4); to data a load and a store |
//! | wait | polls the line until so many writes and additions have come |
//! | copy | loads of all its lines, several at once, and stores; a copy of many lines to the own cache stores nothing |
//!
//! When an operation begins, lines are where the paper has them (§2.5): data are modified in the cache of their owner,
//! flags are in no cache, in the memory next to the rank that polls them first.

use corecast_sim::engine::{Cpu, RunOptions, RunOutcome, Setup, SimError, run};
use corecast_sim::machine::SimMachine;
use corecast_sim::memory::LineId;
use corecast_sim::symbolic::{Act, FoundAt, Graph, LineKind, Op};

/// The lines of a graph on a machine, and what each rank does.
struct ReplayProgram {
    lines: Vec<LineId>,
    kinds: Vec<LineKind>,
    /// For each rank its acts, each with the number of the change of its line that it waits for or makes.
    acts: Vec<Vec<(Act, u64)>>,
}

/// Runs the acts of `graph` with rank r on core `cores[r]` of `machine`, all from time 0 on.
///
/// # Errors
///
/// Those of [`run`].
///
/// # Panics
///
/// If there are not as many cores as ranks.
///
/// # Examples
///
/// ```
/// use corecast_sim::engine::RunOptions;
/// use corecast_sim::machine::cla;
/// use corecast_sim::symbolic::{Analysis, CostRules};
/// use corecast_validation::replay::replay;
/// use corecast_validation::{published, tables};
///
/// // Figure 4a: four threads notify one over one line.
/// let graph = published::many_to_one(4, published::Sharing::SameLine);
/// let bounds = Analysis::new(&graph, &tables::sandy_bridge(5), &CostRules::least()).bounds();
/// let cores: Vec<usize> = (0..5).collect();
/// let simulated = replay(&graph, &cla::sandy_bridge(), &cores, &RunOptions::default())?.end();
/// assert!(bounds.t_min <= simulated && simulated <= bounds.t_max);
/// # Ok::<(), corecast_sim::engine::SimError>(())
/// ```
pub fn replay(
    graph: &Graph,
    machine: &SimMachine,
    cores: &[usize],
    options: &RunOptions,
) -> Result<RunOutcome<()>, SimError> {
    assert_eq!(graph.ranks(), cores.len(), "a core for each rank");
    let setup = |setup: &mut Setup<'_>| lay_out(graph, cores, setup);
    run(
        machine,
        cores,
        options,
        setup,
        |cpu, program: &ReplayProgram| {
            for (act, value) in &program.acts[cpu.rank()] {
                program.play(cpu, act, *value);
            }
        },
    )
}

fn lay_out(graph: &Graph, cores: &[usize], setup: &mut Setup<'_>) -> ReplayProgram {
    let mut sizes = vec![1; graph.lines().len()];
    for act in graph.acts() {
        for touch in [act.load, act.store].into_iter().flatten() {
            sizes[touch.line] = act.lines.max(sizes[touch.line]);
        }
    }
    let lines = graph.lines().iter().zip(&sizes).map(|(line, &count)| {
        let home = cores[line.home];
        let first = setup.allocate(home, count);
        if line.kind == LineKind::Data {
            (0..count).for_each(|index| setup.write(home, first.offset(index), 0));
        }
        first
    });
    let lines = lines.collect();
    let (mut changes, mut number) = (vec![0; graph.lines().len()], vec![0; graph.acts().len()]);
    let mut acts = vec![Vec::new(); graph.ranks()];
    for (index, act) in graph.acts().iter().enumerate() {
        let value = match act.op {
            Op::Wait => act.after.iter().map(|&of| number[of]).max().unwrap_or(0),
            // A copy into a line with a flag keeps the value of the flag.
            Op::Copy => act.store.map_or(0, |touch| changes[touch.line]),
            Op::Write | Op::Add => {
                let line = act.store.map_or(0, |touch| touch.line);
                changes[line] += 1;
                number[index] = changes[line];
                number[index]
            }
        };
        acts[act.rank].push((act.clone(), value));
    }
    ReplayProgram {
        lines,
        kinds: graph.lines().iter().map(|line| line.kind).collect(),
        acts,
    }
}

impl ReplayProgram {
    fn play(&self, cpu: &mut Cpu<'_>, act: &Act, value: u64) {
        let (load, store) = (
            act.load.map(|touch| touch.line),
            act.store.map(|touch| touch.line),
        );
        match (act.op, load, store) {
            (Op::Wait, Some(line), _) => {
                cpu.wait_until(self.lines[line], |word| word >= value);
            }
            (Op::Copy, Some(from), Some(to)) => {
                match act.lines {
                    1 => _ = cpu.load(self.lines[from]),
                    lines => cpu.copy(self.lines[from], lines),
                }
                // The time of a copy of many lines includes their stores to the own cache.
                let found = act.store.map(|touch| touch.found);
                if act.lines == 1 || found != Some(FoundAt::Own) {
                    (0..act.lines).for_each(|line| cpu.store(self.lines[to].offset(line), value));
                }
            }
            (_, load, Some(to)) => {
                if let Some(from) = load {
                    cpu.load(self.lines[from]);
                }
                match self.kinds[to] {
                    LineKind::Data => {
                        cpu.load(self.lines[to]);
                        cpu.store(self.lines[to], value);
                    }
                    LineKind::Flag | LineKind::BroadcastRing | LineKind::ArrivalCounter => {
                        _ = cpu.add(self.lines[to], 1)
                    }
                }
            }
            (_, _, None) => unreachable!("an act that changes nothing waits"),
        }
    }
}
