//! Symmetric buffers of teams of processes: operations over them, and their memory.

use crate::cma::{assert_died, said, until_one_fails};
use crate::common::binomial;
use corecast_collectives::operator::Sum;
use corecast_process::{Address, ProcessGroup};
use corecast_team::{
    AllocError, Member, Options, SymmetricBuffer, SymmetricBytes, SymmetricHeap, Team,
};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

const PART: &str = "CORECAST_TEST_SYMMETRIC_PART";

/// Enters with one rank, or with all of them.
fn enter(name: &str, n: usize, ranks: usize, options: &Options) -> Team {
    let address = Address::Name(name.to_owned());
    ProcessGroup::enter(&address, n, &vec![None; ranks], || binomial(n), options).unwrap()
}

/// Plays the part that a variable names, in another process of this program.
#[test]
fn part() {
    let Ok(part) = std::env::var(PART) else {
        return;
    };
    let words: Vec<&str> = part.split(' ').collect();
    let n = words[2].parse().unwrap();
    let mut options = Options::default();
    let heap = Arc::new(SymmetricHeap::new(1 << 30).unwrap());
    if words[0] == "heap" {
        options.heap = Some(Arc::clone(&heap));
    }
    let team = enter(words[1], n, 1, &options);
    match words[0] {
        "whole" => _ = team.run(|member| (0..3).for_each(|round| mixed(member, round, None))),
        // The process with the heap that nobody else knows of has what it lends copied.
        "heap" | "hidden" => {
            team.run(|member| (0..3).for_each(|round| mixed(member, round, Some(&heap))));
        }
        "stays" => {
            let failures = team.run(|member| {
                let mut data = member.alloc::<u64>(3 << 18).unwrap();
                until_one_fails(member, &mut data, |round| {
                    if round == 3 {
                        println!("\nstarted");
                    }
                })
            });
            assert_died(&failures[0]);
        }
        _ => panic!("{part}"),
    }
    println!("\nworks");
}

fn start(part: &str, name: &str, n: usize) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let arguments = ["--exact", "symmetric::part", "--nocapture"];
    let command = command.args(arguments).arg("--test-threads=1");
    let command = command.env(PART, format!("{part} {name} {n}"));
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// A buffer of a rank's symmetric memory, or of its process's heap.
enum Buffer {
    Own(SymmetricBuffer<u64>),
    Heap(SymmetricBytes),
}

impl Buffer {
    fn new(member: &Member, heap: Option<&SymmetricHeap>, len: usize) -> Self {
        match heap {
            None => Self::Own(member.alloc(len).unwrap()),
            Some(heap) => Self::Heap(heap.alloc(len * 8, 1).unwrap()),
        }
    }

    fn as_mut(&mut self) -> &mut [u64] {
        match self {
            Self::Own(buffer) => buffer,
            Self::Heap(bytes) => bytemuck::cast_slice_mut(bytes),
        }
    }
}

/// Operations in which some ranks have symmetric buffers and some have not, blocking and in flight.
fn mixed(member: &mut Member, round: usize, heap: Option<&SymmetricHeap>) {
    let (n, me) = (member.size(), member.rank());
    for (number, len) in [1, 100, 5_000, 40_001, 200_000].into_iter().enumerate() {
        let mut symmetric = Buffer::new(member, heap, len + 7);
        let mut all_symmetric = Buffer::new(member, heap, n * len);
        let (mut plain, mut all_plain) = (vec![0; len + 7], vec![0; n * len]);
        let (own, all) = match (me + round + number) % 3 {
            0 => (&mut plain[..], &mut all_plain[..]),
            _ => (symmetric.as_mut(), all_symmetric.as_mut()),
        };
        let own = &mut own[3..3 + len];
        let value = |rank: usize, index: usize| (rank * 1_000_003 + index * 31 + round) as u64;
        let fill = |own: &mut [u64]| (0..len).for_each(|index| own[index] = value(me, index));
        let sum = |index: usize| (0..n).map(|rank| value(rank, index)).sum::<u64>();
        let root = (round + number) % n;

        fill(own);
        member.broadcast(root, own).unwrap();
        assert!((0..len).all(|index| own[index] == value(root, index)));
        fill(own);
        member.allreduce(own, Sum).unwrap();
        assert!((0..len).all(|index| own[index] == sum(index)));
        fill(own);
        member.allgather(own, all).unwrap();
        let gathered = (0..n * len).all(|at| all[at] == value(at / len, at % len));
        assert!(gathered, "allgather of {len}");
        member
            .scatter(root, (me == root).then_some(all), own)
            .unwrap();
        assert!((0..len).all(|index| own[index] == value(me, index)));
        let half = len / 2;
        let (first, second) = own.split_at_mut(half);
        let flown = member.overlap(|flight| {
            let one = flight.allreduce(first, &Sum)?;
            flight.broadcast(root, second)?.wait()?;
            one.wait()
        });
        flown.unwrap().unwrap();
        assert!((0..half).all(|index| own[index] == sum(index)));
        assert!((half..len).all(|index| own[index] == value(root, index)));
    }
}

#[test]
fn operations_over_symmetric_buffers_are_right() {
    for n in [1, 2, 3, 5] {
        let name = format!("symmetric-own-{n}-{}", std::process::id());
        let team = enter(&name, n, n, &Options::default());
        team.run(|member| (0..3).for_each(|round| mixed(member, round, None)));
    }
    Team::new(binomial(3).unwrap())
        .unwrap()
        .run(|member| mixed(member, 0, None));
}

#[test]
fn processes_read_each_others_symmetric_buffers() {
    for n in [2, 4] {
        let name = format!("symmetric-{n}-{}", std::process::id());
        let processes: Vec<Child> = (0..n).map(|_| start("whole", &name, n)).collect();
        processes.into_iter().for_each(|child| _ = said(child));
    }
}

/// Two processes that know each other's heaps, and a third one whose heap nobody knows.
#[test]
fn processes_read_each_others_heaps() {
    let name = format!("symmetric-heaps-{}", std::process::id());
    let kinds = ["heap", "heap", "hidden"];
    let processes = kinds.map(|kind| start(kind, &name, kinds.len()));
    processes.into_iter().for_each(|child| _ = said(child));
}

/// A process that is killed amid its loans takes nobody along.
#[test]
fn a_lender_that_is_killed_is_a_loss() {
    let name = format!("symmetric-killed-{}", std::process::id());
    let mut processes: Vec<Child> = (0..3).map(|_| start("stays", &name, 3)).collect();
    for process in &mut processes {
        let said = process.stdout.as_mut().unwrap();
        let mut lines = BufReader::new(said).lines();
        assert!(lines.any(|line| line.unwrap() == "started"));
    }
    let mut victim = processes.remove(1);
    victim.kill().unwrap();
    victim.wait().unwrap();
    processes.into_iter().for_each(|child| _ = said(child));
}

/// A team without symmetric memory says so, and one with little says how much.
#[test]
fn what_is_not_there_is_an_error() {
    let of = |symmetric: usize| Options {
        symmetric,
        ..Options::default()
    };
    let name = |kind: &str| format!("symmetric-{kind}-{}", std::process::id());
    let team = enter(&name("none"), 2, 2, &of(0));
    let error = team.alloc::<u8>(0, 1).unwrap_err();
    assert!(matches!(error, AllocError::None), "{error}");
    let team = enter(&name("little"), 2, 2, &of(1));
    let buffer = team.alloc::<u64>(1, 8192).unwrap();
    assert!(buffer.iter().all(|&word| word == 0));
    let error = team.alloc::<u8>(1, 1).unwrap_err().to_string();
    assert!(error.contains("of the 65536 that the rank has"), "{error}");
    assert!(
        team.alloc::<u8>(0, 65_536).is_ok(),
        "the other rank's is apart"
    );
    drop(buffer);
    assert!(team.alloc::<u8>(1, 65_536).is_ok());
}
