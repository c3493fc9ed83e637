//! Measures what an environment variable does to long data: how long an operation takes with each setting of it.
//!
//! `cargo run --release -p corecast-process --example settings -- OPERATION RANKS threads|processes|symmetric VARIABLE
//! A,B,… BYTES,BYTES,… [ROUNDS]`, for instance `allgather 2 threads CORECAST_STREAM 0,1000000000 8388608`. The word
//! `symmetric` stands for processes with symmetric buffers. The variable `RANKS_ARE` is the kind of ranks itself: `allgather 2
//! any RANKS_ARE threads,processes,symmetric 1048576`.
//!
//! A size is the number of bytes that one rank brings. Each round runs one team after another, each with one of the
//! settings. `CORECAST_ALGO` asks for algorithms, as it does elsewhere. Ranks are pinned to the hardware threads in turn,
//! and write their data before each operation. The first column is the median in nanoseconds with the first setting, the
//! others are the medians of the ratios to it.

use corecast_collectives::operator::Sum;
use corecast_collectives::{Plans, PlansError};
use corecast_plan::Pattern;
use corecast_process::Address;
use corecast_process::ProcessGroup;
use corecast_team::{Failure, Member, Options, Team};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::ops::DerefMut;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The variable that stands for the kind of ranks.
const KIND: &str = "RANKS_ARE";
const PART: &str = "CORECAST_EXAMPLE_PART";

fn plans(n: usize) -> Result<Plans, PlansError> {
    let machine = corecast_model::synthetic(&format!("core:{n}")).unwrap();
    Plans::of_pattern(machine.costs(), Pattern::Binomial, None)
}

fn pin(rank: usize) {
    let usable = sched_getaffinity(None).unwrap();
    let usable: Vec<usize> = (0..CpuSet::MAX_CPU)
        .filter(|&cpu| usable.is_set(cpu))
        .collect();
    let mut one = CpuSet::new();
    one.set(usable[rank % usable.len()]);
    sched_setaffinity(None, &one).unwrap();
}

fn once(
    member: &mut Member,
    operation: &str,
    [mine, given, all]: [&mut [u64]; 3],
) -> Result<(), Failure> {
    let root = member.rank() == 0;
    match operation {
        "broadcast" => member.broadcast(0, mine),
        "reduce" => member.reduce(0, mine, Sum),
        "allreduce" => member.allreduce(mine, Sum),
        "gather" => member.gather(0, mine, root.then_some(all)),
        "scatter" => member.scatter(0, root.then_some(&*given), mine),
        "alltoall" => member.alltoall(given, all),
        "scan" => member.scan(mine, Sum),
        "allgather" => member.allgather(mine, all),
        other => panic!("no operation {other:?} here"),
    }
}

/// Nanoseconds of an operation on this rank: the lower quartile.
fn time(member: &mut Member, operation: &str, bytes: usize, symmetric: bool) -> u128 {
    pin(member.rank());
    let (mine, all) = (bytes / 8, bytes / 8 * member.size());
    if symmetric {
        let buffers = [mine, all, all].map(|len| member.alloc(len).unwrap());
        return time_with(member, operation, buffers);
    }
    time_with(member, operation, [mine, all, all].map(|len| vec![0; len]))
}

/// The buffers are what a rank brings for itself, what it brings for each rank, and room for what all bring.
fn time_with(
    member: &mut Member,
    operation: &str,
    mut buffers: [impl DerefMut<Target = [u64]>; 3],
) -> u128 {
    let bytes = size_of_val(&*buffers[0]);
    buffers.iter_mut().for_each(|buffer| buffer.fill(1));
    let times = if bytes < 1 << 22 { 60 } else { 8 };
    let mut taken: Vec<u128> = (0..times)
        .map(|_| {
            let brought = buffers[..2].iter_mut().flat_map(|buffer| buffer.iter_mut());
            brought
                .step_by(8)
                .for_each(|word| *word = word.wrapping_add(1));
            member.barrier().unwrap();
            let begin = Instant::now();
            let buffers = buffers.each_mut().map(|buffer| &mut **buffer);
            once(member, operation, buffers).unwrap();
            member.barrier().unwrap();
            begin.elapsed().as_nanos()
        })
        .collect();
    taken.sort_unstable();
    taken[times / 4]
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [operation, ranks, kind, variable, settings, sizes, rest @ ..] = &words[..] else {
        panic!("OPERATION RANKS threads|processes|symmetric VARIABLE A,B,… BYTES,BYTES,… [ROUNDS]");
    };
    let ranks: usize = ranks.parse().unwrap();
    if let Ok(part) = std::env::var(PART) {
        let (name, bytes) = part.split_once(' ').unwrap();
        let kind = &std::env::var(KIND).unwrap_or_else(|_| kind.clone())[..];
        let options = Options {
            algorithms: std::env::var("CORECAST_ALGO")
                .map_or_else(|_| Default::default(), |asked| asked.parse().unwrap()),
            ..Options::default()
        };
        let team = match kind {
            "threads" => Team::with_options(plans(ranks).unwrap(), &options).unwrap(),
            _ => {
                let address = Address::Name(name.to_owned());
                ProcessGroup::enter(&address, ranks, &[None], || plans(ranks), &options).unwrap()
            }
        };
        let bytes = bytes.parse().unwrap();
        let first = team.run(|member| {
            (
                member.rank(),
                time(member, operation, bytes, kind == "symmetric"),
            )
        });
        if let Some((_, time)) = first.into_iter().find(|(rank, _)| *rank == 0) {
            println!("{time}");
        }
        return;
    }
    let settings: Vec<&str> = settings.split(',').collect();
    let rounds: usize = rest.first().map_or(9, |rounds| rounds.parse().unwrap());
    println!("{:>10} {:>12} {settings:?}", "bytes", "ns");
    for bytes in sizes.split(',') {
        let mut ratios = vec![Vec::new(); settings.len()];
        let mut first = Vec::new();
        for round in 0..rounds {
            let mut base = 0.0;
            for (index, setting) in settings.iter().enumerate() {
                let name = format!("settings-{}-{round}-{index}", std::process::id());
                let kind = if variable == KIND { setting } else { &kind[..] };
                let processes = if kind == "threads" { 1 } else { ranks };
                let start = || {
                    let mut command = Command::new(std::env::current_exe().unwrap());
                    command.args(&words).stdout(Stdio::piped());
                    command.env(PART, format!("{name} {bytes}"));
                    command.env(variable, setting).spawn().unwrap()
                };
                let children: Vec<_> = (0..processes).map(|_| start()).collect();
                let said: String = children
                    .into_iter()
                    .map(|child| {
                        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
                    })
                    .collect();
                let time: f64 = said.trim().parse().unwrap();
                if index == 0 {
                    base = time;
                    first.push(time);
                }
                ratios[index].push(time / base);
            }
        }
        let median = |list: &mut Vec<f64>| {
            list.sort_by(f64::total_cmp);
            list[list.len() / 2]
        };
        print!("{bytes:>10} {:>12.0}", median(&mut first));
        for ratio in &mut ratios {
            print!(" {:>6.2}", median(ratio));
        }
        println!();
    }
}
