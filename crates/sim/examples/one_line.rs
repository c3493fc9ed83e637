//! One source, three places: CLa's one-line algorithms on threads of this machine, on a simulated machine with its costs,
//! and on the symbolic model; then on the paper's Sandy Bridge.
//!
//! ```text
//! cargo run --release -p corecast-sim --example one_line
//! cargo run --release -p corecast-sim --example one_line -- 4 1000
//! ```
//!
//! The arguments are the number of ranks, 2 to 16, and the number of rounds that are timed together. All times are in ns
//! for a round, of many rounds one after another.
//! Predictions are those of measured costs after `corecast probe`, and of costs from the literature before. A flag between
//! two ranks costs in T_min and T_max what these costs say of a message, its send and its receive, of which the simulated
//! machine can hide a part.

use corecast::model::{Collective, MachineFile, Place};
use corecast::{Builder, machine};
use corecast_collectives::one_line::{
    Dissemination, FlatBarrier, OneLineBroadcast, OneLineReduction, Sharing,
};
use corecast_plan::groups::Grouped;
use corecast_plan::{Rounds, Tree};
use corecast_sim::engine::{RunOptions, SimError};
use corecast_sim::lines::run_lines;
use corecast_sim::machine::{SimMachine, cla, pairs};
use corecast_sim::measured::MeasuredMachine;
use corecast_sim::symbolic::{AccessCosts, Analysis, CostRules, Placement, record_lines};
use corecast_team::{Failure, Member};
use corecast_wire::cache_lines::{CacheLines, LineSet};
use std::time::Instant;

type Failed = Box<dyn std::error::Error>;

/// An algorithm: the same code for all three.
trait Program: Clone + Sync + 'static {
    fn run<L: CacheLines>(&self, lines: &mut L, round: u64) -> Result<(), L::Error>;
}

macro_rules! programs {
    ($($name:ty),*) => {$(
        impl Program for $name {
            fn run<L: CacheLines>(&self, lines: &mut L, round: u64) -> Result<(), L::Error> {
                self.run(lines, round)
            }
        }
    )*};
}

programs!(
    FlatBarrier,
    Dissemination,
    OneLineBroadcast,
    OneLineReduction
);

/// A machine to predict for.
struct Predicted {
    machine: SimMachine,
    placement: Placement,
}

impl Predicted {
    /// This machine, for a team on these PUs.
    fn here(file: &MachineFile, pus: &[u32]) -> Result<Self, Failed> {
        let at: Option<Vec<usize>> = pus.iter().map(|&pu| file.position(pu)).collect();
        let at = at.ok_or("the machine file lacks a PU of the team")?;
        let costs = file.costs().subset(&at)?;
        let all = &file.machine().pus;
        let place = |&pu: &u32| all.iter().find(|of| of.os_index == pu).map(Place::from);
        let places: Vec<Place> = pus.iter().filter_map(place).collect();
        let machine = match file.messages() {
            Some(messages) => {
                let messages = messages.subset(&at);
                let measured = MeasuredMachine::new("here", &costs, &messages, places.clone())?;
                measured.machine().clone()
            }
            None => pairs::machine("here", &costs),
        };
        let placement = Placement::of_model(&costs, places);
        Ok(Self { machine, placement })
    }

    fn sandy_bridge(ranks: usize) -> Result<Self, Failed> {
        let file = corecast_model::builtin("sandybridge-2x8").ok_or("a built-in machine")?;
        let costs = file.costs().lines().ok_or("costs of lines")?.costs();
        let packages: Vec<u32> = (0..ranks).map(|rank| u32::from(rank >= 8)).collect();
        Ok(Self {
            machine: cla::sandy_bridge(),
            placement: Placement::of_packages(AccessCosts::of_lines(costs), &packages),
        })
    }

    /// The simulated time of a round when lines are where the round before has left them.
    fn simulated(&self, lines: &LineSet, program: &impl Program) -> Result<f64, SimError> {
        let cores: Vec<usize> = (0..lines.ranks()).collect();
        let end = |rounds: u64| {
            let program = program.clone();
            let options = RunOptions::default();
            let outcome = run_lines(lines, &self.machine, &cores, &options, move |rank| {
                for round in 1..=rounds {
                    let Ok(()) = program.run(rank, round);
                }
            });
            outcome.map(|outcome| outcome.end())
        };
        Ok((end(30)? - end(10)?) / 20.0)
    }

    /// T_min and T_max of a round.
    fn bounds(&self, lines: &LineSet, program: &impl Program) -> Result<[f64; 2], Failed> {
        let graph = record_lines(lines, |rank| program.run(rank, 1))?;
        let bounds = Analysis::new(&graph, &self.placement, &CostRules::repeated()).bounds();
        Ok([bounds.t_min, bounds.t_max])
    }
}

const BLOCKS: usize = 15;

/// The median over blocks of the mean time of a call, as rank 0 sees it.
fn time(
    member: &mut Member,
    rounds: u32,
    mut call: impl FnMut(&mut Member) -> Result<(), Failure>,
) -> Result<f64, Failure> {
    let mut blocks = Vec::with_capacity(BLOCKS);
    for _ in 0..BLOCKS {
        member.barrier()?;
        let begin = Instant::now();
        (0..rounds).try_for_each(|_| call(member))?;
        blocks.push(begin.elapsed().as_nanos() as f64 / f64::from(rounds));
    }
    blocks.sort_by(f64::total_cmp);
    Ok(blocks[BLOCKS / 2])
}

/// Runs an algorithm in all three places and prints a row, with the team's own collective for the same.
fn row<P: Program>(
    name: &str,
    (lines, program): (LineSet, P),
    kind: Collective,
    (rounds, [here, paper]): (u32, [&Predicted; 2]),
) -> Result<(), Failed> {
    let team = Builder::new().threads(lines.ranks()).build()?;
    let on_team = team.lines(&lines)?;
    let found = team.run(|member| {
        let own = time(member, rounds, |member| {
            member.on_lines(&on_team, kind, 0, |lines, round| program.run(lines, round))
        })?;
        let mut data = [0_u64; 7];
        let usual = time(member, rounds, |member| match kind {
            Collective::Broadcast => member.broadcast(0, &mut data),
            Collective::Reduce => member.reduce(0, &mut data, u64::wrapping_add),
            _ => member.barrier(),
        })?;
        Ok::<_, Failure>([own, usual])
    });
    let [own, usual] = found.into_iter().next().ok_or("rank 0")??;
    let mut text = format!("{name:<24} {own:>8.0} {usual:>10.0}");
    for place in [here, paper] {
        let simulated = place.simulated(&lines, &program)?;
        let [least, most] = place.bounds(&lines, &program)?;
        text.push_str(&format!("{simulated:>13.0} {least:>6.0} {most:>6.0}"));
    }
    println!("{text}");
    Ok(())
}

fn main() -> Result<(), Failed> {
    let mut args = std::env::args().skip(1);
    let ranks: usize = args.next().map_or(Ok(2), |text| text.parse())?;
    let rounds: u32 = args.next().map_or(Ok(2000), |text| text.parse())?;
    if !(2..=16).contains(&ranks) {
        return Err(format!("{ranks} ranks: give 2 to 16").into());
    }
    let team = Builder::new().threads(ranks).build()?;
    let discovery = machine::discover();
    let store = corecast::store::Store::standard();
    let (file, source) = corecast::costs::here(&store, &discovery);
    let pus = team.pus();
    // Predictions are for a PU for each rank.
    if (1..ranks).any(|rank| pus[..rank].contains(&pus[rank])) {
        println!(
            "ranks share PUs: the measured times are those of turns, and the predictions those of lines"
        );
    }
    let (here, paper) = (
        Predicted::here(&file, &pus)?,
        Predicted::sandy_bridge(ranks)?,
    );
    println!("costs of this machine {source}");
    println!(
        "{ranks} ranks, ns a round        here   the team's   simulated  T_min  T_max    Sandy Bridge: simulated, T_min, T_max"
    );
    let both = (rounds, [&here, &paper]);
    let tree: Tree = Grouped::flat(ranks, 0).tree().clone();
    for sharing in [Sharing::SameLine, Sharing::DifferentLines] {
        let mut lines = LineSet::new(ranks);
        let program = FlatBarrier::new(&mut lines, sharing, sharing);
        let name = format!("barrier, {sharing:?}");
        row(&name, (lines, program), Collective::Barrier, both)?;
    }
    let mut lines = LineSet::new(ranks);
    let program = Dissemination::new(&mut lines, &Rounds::dissemination(ranks, 2));
    row(
        "barrier, dissemination",
        (lines, program),
        Collective::Barrier,
        both,
    )?;
    let mut lines = LineSet::new(ranks);
    let program = OneLineBroadcast::new(&mut lines, &tree, None);
    row(
        "broadcast of a line",
        (lines, program),
        Collective::Broadcast,
        both,
    )?;
    let mut lines = LineSet::new(ranks);
    let program = OneLineReduction::new(&mut lines, &tree, None);
    row(
        "reduction of a line",
        (lines, program),
        Collective::Reduce,
        both,
    )
}
