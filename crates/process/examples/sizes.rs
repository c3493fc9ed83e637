//! Measures all algorithms of an operation at all sizes, to find out which one to choose for which size.
//!
//! `cargo run --release -p corecast-process --example sizes -- allreduce [RANKS [LONGEST [ROUNDS]]]`
//!
//! A size is the number of bytes that one rank brings; `LONGEST` is the last one. Ranks are pinned to the hardware
//! threads that this process may use, in turn. The algorithms take turns, each with a team of its own, and a figure
//! is the lower quartile over all rounds. The first column is Corecast's own choice in nanoseconds, the others are
//! ratios to it: below 1 where another algorithm would have been faster.

use corecast_collectives::operator::{Ordered, Sum};
use corecast_collectives::{Algorithms, Plans, pipeline};
use corecast_plan::Pattern;
use corecast_team::{Failure, Member, Options, Team};
use corecast_wire::WaitConfig;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::hint::black_box;
use std::sync::Mutex;
use std::time::Instant;

const OPERATIONS: &str = "barrier, broadcast, reduce, allreduce, allreduce-ordered, scatter, gather, allgather, alltoall, reduce_scatter, scan";

/// The operation that is timed, on one rank's buffer and on one for all ranks' parts.
type Body = fn(&mut Member, &mut [u64], &mut [u64]) -> Result<(), Failure>;

/// The names of an operation's algorithms, and how they are asked for.
type Choices = Vec<(&'static str, Algorithms)>;

/// Each algorithm of an operation, with each of its sizes.
fn choices(operation: &str) -> Choices {
    let names = Algorithms::sized_names(operation).expect("an operation's name");
    let asking = |name| {
        let mut algorithms = Algorithms::default();
        let asked = algorithms.ask(operation, &[(usize::MAX, Some(name))]);
        asked.expect("an algorithm's name");
        (name, algorithms)
    };
    names.into_iter().map(asking).collect()
}

/// The operation of that name, on `mine` (which has the size) and `all` (which has the size for each rank).
fn operation(name: &str) -> Option<(Choices, Body)> {
    Some(match name {
        "barrier" => (choices("barrier"), |m, _, _| m.barrier()),
        "broadcast" => (choices("broadcast"), |m, mine, _| m.broadcast(0, mine)),
        "reduce" => (choices("reduce"), |m, mine, _| m.reduce(0, mine, Sum)),
        "allreduce" => (choices("allreduce"), |m, mine, _| m.allreduce(mine, Sum)),
        "allreduce-ordered" => (choices("allreduce"), |m, mine, _| {
            m.allreduce(mine, Ordered(Sum))
        }),
        "scatter" => (choices("scatter"), |m, mine, all| {
            let send = (m.rank() == 0).then_some(&*all);
            m.scatter(0, send, mine)
        }),
        "gather" => (choices("gather"), |m, mine, all| {
            let recv = (m.rank() == 0).then_some(all);
            m.gather(0, mine, recv)
        }),
        "allgather" => (choices("allgather"), |m, mine, all| m.allgather(mine, all)),
        "alltoall" => (choices("alltoall"), |m, mine, all| {
            let len = mine.len() / m.size() * m.size();
            m.alltoall(&mine[..len], &mut all[..len])
        }),
        "reduce_scatter" => (choices("reduce_scatter"), |m, mine, all| {
            let block = pipeline::block(mine.len(), 1, m.size(), m.rank());
            m.reduce_scatter(mine, &mut all[..block.len()], Sum)
        }),
        "scan" => (choices("scan"), |m, mine, _| m.scan(mine, Sum)),
        _ => return None,
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_default();
    let Some((mut choices, body)) = operation(&name) else {
        return Err(format!("operation {name:?} is unknown: use one of {OPERATIONS}").into());
    };
    let ranks: usize = args.next().map_or(Ok(2), |text| text.parse())?;
    let longest: usize = args.next().map_or(Ok(1 << 20), |text| text.parse())?;
    let rounds: usize = args.next().map_or(Ok(15), |text| text.parse())?;

    choices.insert(0, ("chosen", Algorithms::default()));
    let cpus = cpus()?;
    let machine = corecast_model::synthetic(&format!("core:{ranks}"))?;
    let plans = Plans::of_pattern(machine.costs(), Pattern::Smelt, None)?;
    let team = |(_, algorithms): &(_, Algorithms)| {
        let options = Options {
            algorithms: *algorithms,
            wait_config: Some(WaitConfig::for_team(ranks, cpus.len())),
            ..Options::default()
        };
        Team::with_options(plans.clone(), &options)
    };
    let teams: Vec<Team> = choices.iter().map(team).collect::<Result<_, _>>()?;
    print!("{:>9}", "bytes");
    choices.iter().for_each(|(name, _)| print!(" {name:>12}"));
    println!();
    let times = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for rank in 0..ranks {
            let (teams, cpus, times) = (&teams, &cpus, &times);
            scope.spawn(move || {
                let mut set = CpuSet::new();
                set.set(cpus[rank % cpus.len()]);
                sched_setaffinity(None, &set).expect("this CPU is allowed");
                let mut members: Vec<Member> =
                    teams.iter().map(|team| team.join(rank).unwrap()).collect();
                let mut size = 8;
                while size <= longest {
                    let mut mine = vec![1; size / 8];
                    let mut all = vec![0; size / 8 * ranks];
                    let batch = (4_000_000 / (size + 4000) / ranks).clamp(2, 1000);
                    for round in 0..rounds {
                        for (index, member) in members.iter_mut().enumerate() {
                            let ns = time(member, body, (&mut mine, &mut all), batch);
                            // The first round warms up.
                            if rank == 0 && round > 0 {
                                times.lock().unwrap().push((index, ns));
                            }
                        }
                    }
                    if rank == 0 {
                        row(size, std::mem::take(&mut *times.lock().unwrap()));
                    }
                    size *= 2;
                }
            });
        }
    });
    Ok(())
}

/// Nanoseconds of one operation, the mean of `batch` of them.
fn time(
    member: &mut Member,
    body: Body,
    (mine, all): (&mut [u64], &mut [u64]),
    batch: usize,
) -> f64 {
    member.barrier().unwrap();
    let clock = Instant::now();
    for _ in 0..batch {
        body(member, mine, all).unwrap();
        black_box((&*mine, &*all));
    }
    member.barrier().unwrap();
    clock.elapsed().as_secs_f64() * 1e9 / batch as f64
}

fn row(size: usize, times: Vec<(usize, f64)>) {
    let count = times.iter().map(|(index, _)| index + 1).max().unwrap_or(0);
    let quartile = |which: usize| {
        let mut times: Vec<f64> = times
            .iter()
            .filter(|(index, _)| *index == which)
            .map(|(_, ns)| *ns)
            .collect();
        times.sort_unstable_by(f64::total_cmp);
        times[times.len() / 4]
    };
    let chosen = quartile(0);
    print!("{size:>9} {chosen:>12.0}");
    (1..count).for_each(|index| print!(" {:>12.2}", quartile(index) / chosen));
    println!();
}

/// The hardware threads that this process may use.
fn cpus() -> Result<Vec<usize>, Box<dyn std::error::Error>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .collect())
}
