//! Teams of processes: the same operations with the same results, and peers that are killed,
//! stopped or gone, at random points. Each process is this test program again, and a variable says
//! which part it plays.

use crate::common::binomial;
use crate::own_process::{Kept, WATCHDOG};
use corecast_collectives::operator::Sum;
use corecast_process::ProcessGroup;
use corecast_process::{Address, EnterError};
use corecast_team::{Failure, Loss, Member, Options};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PART: &str = "CORECAST_TEST_PART";

/// Starts this program as another process that plays `part` and nothing else.
fn start(part: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "processes::part",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(PART, part)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

impl Kept {
    /// Waits for the end of the process, and returns what it printed.
    #[track_caller]
    fn ends_well(mut self, limit: Duration) -> String {
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                break status;
            }
            assert!(begin.elapsed() < limit, "no end after {limit:?}");
            std::thread::sleep(Duration::from_millis(5));
        };
        let (mut said, mut complained) = (String::new(), String::new());
        self.0
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        self.0
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut complained)
            .unwrap();
        assert!(status.success(), "{status}: {said}{complained}");
        said
    }
}

fn address(name: &str) -> Address {
    Address::Name(name.to_owned())
}

fn name(test: &str, round: usize) -> String {
    format!("processes-{test}-{round}-{}", std::process::id())
}

/// Runs every operation, short and long, and checks its result.
fn all_operations(member: &mut Member, salt: u64) -> Result<(), Failure> {
    let (n, me) = (member.size(), member.rank());
    for (round, len) in [1usize, 8, 57, 600, 5_000, 70_000].into_iter().enumerate() {
        let root = (round + salt as usize) % n;
        let given = |rank: usize| -> Vec<u64> {
            (0..len as u64)
                .map(|i| salt + i * 3 + rank as u64 * 17)
                .collect()
        };
        let sum: Vec<u64> = (0..len as u64)
            .map(|i| (0..n as u64).map(|rank| salt + i * 3 + rank * 17).sum())
            .collect();
        member.barrier()?;
        let mut data = given(me);
        member.broadcast(root, &mut data)?;
        assert_eq!(data, given(root), "broadcast of {len} from {root}");
        let mut data = given(me);
        member.reduce(root, &mut data, Sum)?;
        assert_eq!(
            data,
            if me == root { sum.clone() } else { given(me) },
            "reduce of {len}"
        );
        let mut data = given(me);
        member.allreduce(&mut data, Sum)?;
        assert_eq!(data, sum, "allreduce of {len}");
        let (mut one, mut two) = (given(me), given(me));
        member
            .overlap(|flight| {
                let first = flight.allreduce(&mut one, &Sum)?;
                flight.broadcast(root, &mut two)?.wait()?;
                first.wait()
            })
            .unwrap()?;
        assert!(one == sum && two == given(root), "in flight, {len}");
    }
    Ok(())
}

/// Plays the part that a variable names, in another process of this program.
#[test]
fn part() {
    let Ok(part) = std::env::var(PART) else {
        return;
    };
    let words: Vec<&str> = part.split(' ').collect();
    let [kind, name, size, ranks] = words[..] else {
        panic!("{part}");
    };
    if kind == "clean" {
        return clean(name);
    }
    let size: usize = size.parse().unwrap();
    let options = Options {
        patience: (kind == "impatient").then_some(Duration::from_millis(300)),
        join_limit: WATCHDOG,
        ..Options::default()
    };
    let requests: Vec<Option<usize>> = ranks.split(',').map(|rank| rank.parse().ok()).collect();
    let team =
        ProcessGroup::enter(&address(name), size, &requests, || binomial(size), &options).unwrap();
    match kind {
        "whole" => {
            team.run(|member| {
                for salt in 0..10 {
                    all_operations(member, salt).unwrap();
                }
            });
        }
        // Runs operations until the others are gone, and prints how that ended.
        "forever" | "impatient" => {
            println!("\nstarted");
            let ended = team.run(|member| -> Failure {
                let mut salt = 0;
                loop {
                    salt += 1;
                    if let Err(failure) = all_operations(member, salt) {
                        return failure;
                    }
                }
            });
            println!("\nended {} ns", clock());
            assert!(
                ended.iter().all(|failure| *failure == ended[0]),
                "{ended:?}"
            );
            println!("\nfailure {}", ended[0]);
            println!(
                "\nlost {}",
                matches!(
                    ended[0],
                    Failure::PeerLost {
                        how: Loss::Died,
                        ..
                    }
                )
            );
        }
        _ => panic!("{part}"),
    }
}

fn clock() -> u128 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_nanos()
}

#[test]
fn processes_and_threads_are_one_team() {
    for (round, ranks) in [
        vec!["0", "1"],
        vec!["any", "any", "any"],
        vec!["2,0", "1"],
        vec!["any,any", "any,any", "any"],
    ]
    .into_iter()
    .enumerate()
    {
        let size: usize = ranks.iter().map(|ranks| ranks.split(',').count()).sum();
        let name = name("whole", round);
        let children: Vec<Kept> = ranks
            .iter()
            .map(|ranks| Kept(start(&format!("whole {name} {size} {ranks}"))))
            .collect();
        for child in children {
            child.ends_well(WATCHDOG);
        }
    }
}

#[test]
fn whoever_is_killed_is_told_to_all_within_a_tenth_of_a_second() {
    let mut rng = fastrand::Rng::with_seed(7);
    let mut waits = Vec::new();
    for round in 0..40 {
        let size = rng.usize(2..5);
        let name = name("killed", round);
        let mut children: Vec<Kept> = (0..size)
            .map(|_| Kept(start(&format!("forever {name} {size} any"))))
            .collect();
        // Wait until all are amid operations.
        for child in &mut children {
            let mut lines = BufReader::new(child.0.stdout.as_mut().unwrap()).lines();
            assert!(
                lines.any(|line| line.unwrap() == "started"),
                "round {round}"
            );
        }
        std::thread::sleep(Duration::from_micros(rng.u64(0..30_000)));
        let mut victim = children.swap_remove(rng.usize(0..size));
        let killed = clock();
        victim.0.kill().unwrap();
        for child in children {
            let said = child.ends_well(WATCHDOG);
            assert!(said.contains("lost true"), "round {round}: {said}");
            let at = said
                .lines()
                .find_map(|line| line.strip_prefix("ended ")?.strip_suffix(" ns"));
            waits.push(Duration::from_nanos(
                (at.unwrap().parse::<u128>().unwrap().saturating_sub(killed)) as u64,
            ));
        }
    }
    waits.sort();
    // Not asserted: the machine may be busy. The median is far below a tenth of a second.
    println!(
        "median {:?}, longest {:?}",
        waits[waits.len() / 2],
        waits.last().unwrap()
    );
}

#[test]
fn whoever_is_stopped_is_told_if_a_limit_was_set() {
    let name = name("stopped", 0);
    let mut children: Vec<Kept> = (0..2)
        .map(|_| Kept(start(&format!("impatient {name} 2 any"))))
        .collect();
    for child in &mut children {
        let mut lines = BufReader::new(child.0.stdout.as_mut().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "started"));
    }
    let stopped = children.pop().unwrap();
    let pid = rustix::process::Pid::from_child(&stopped.0);
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    let said = children.pop().unwrap().ends_well(WATCHDOG);
    assert!(said.contains("longer than the limit"), "{said}");
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
    let said = stopped.ends_well(WATCHDOG);
    assert!(said.contains("longer than the limit"), "{said}");
}

#[test]
fn whoever_does_not_come_is_told() {
    let options = Options {
        join_limit: Duration::from_millis(200),
        ..Options::default()
    };
    let team = ProcessGroup::enter(
        &address(&name("missing", 0)),
        2,
        &[Some(1)],
        || binomial(2),
        &options,
    );
    let error = team.unwrap_err();
    assert!(
        matches!(
            error,
            EnterError::Missing {
                rank: 0,
                size: 2,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn nothing_stays_behind() {
    // Runs in a process of its own, because other tests open and close what is counted.
    let alone = Kept(start(&format!("clean {} 2 any", name("clean", 0))));
    alone.ends_well(WATCHDOG);
}

/// Makes some teams, one after another; afterwards this process has as many resources as before.
fn clean(name: &str) {
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let shared = || std::fs::read_dir("/dev/shm").map_or(0, Iterator::count);
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    let maps = || {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        maps.lines()
            .filter(|line| line.contains("memfd:corecast"))
            .count()
    };
    let all = || (descriptors(), shared(), threads(), maps());
    let before = all();
    for round in 0..5 {
        let name = format!("{name}-{round}");
        let other = Kept(start(&format!("whole {name} 2 any")));
        let options = Options::default();
        let team =
            ProcessGroup::enter(&address(&name), 2, &[None], || binomial(2), &options).unwrap();
        team.run(|member| {
            for salt in 0..10 {
                all_operations(member, salt).unwrap();
            }
        });
        drop(team);
        other.ends_well(WATCHDOG);
    }
    // The peer monitor and the rendezvous server end by themselves, soon.
    let begin = Instant::now();
    while all() != before && begin.elapsed() < WATCHDOG {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(all(), before, "descriptors, /dev/shm, threads, mappings");
}
