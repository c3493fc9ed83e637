//! Lines that a group or an algorithm shares between real processes: a team works, and when one of its processes is
//! killed amid barriers and broadcasts, the others fail with that. Each process is this test
//! program again, and a variable says which part it plays.

use crate::common::plans_of;
use crate::own_process::{Kept, WATCHDOG};
use corecast_collectives::one_line::{FlatBarrier, OneLineReduction, Sharing};
use corecast_collectives::{Collective, barrier, broadcast};
use corecast_plan::{Pattern, Tree};
use corecast_process::Address;
use corecast_process::ProcessGroup;
use corecast_team::{Failure, Loss, Member, Options, Team};
use corecast_wire::cache_lines::{CacheLines, LineSet};
use std::io::{BufRead, BufReader, Read};
use std::process::{ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const PART: &str = "CORECAST_TEST_PART";
const RANKS: usize = 4;

/// Stands in a part for a barrier's algorithm.
const LINES_OF_ITS_OWN: &str = "lines-of-its-own";

fn start(part: &str) -> (Kept, BufReader<ChildStdout>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "lines_killed::part",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(PART, part)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(child.stdout.take().unwrap());
    (Kept(child), said)
}

/// Barriers, and broadcasts from each root in turn, until something fails.
fn work(member: &mut Member) -> Failure {
    for round in 0u64.. {
        if round == 100 {
            println!("begun");
        }
        let root = round as usize % RANKS;
        let mine = round << 8 | member.rank() as u64;
        let ended = member
            .barrier()
            .and_then(|()| member.broadcast_value(root, mine));
        match ended {
            Ok(value) => assert_eq!(value, round << 8 | root as u64),
            Err(failure) => return failure,
        }
    }
    unreachable!("a loop without an end")
}

/// Reductions and barriers over lines of their own, until something fails.
fn work_on_lines(team: &Team) -> Failure {
    let mut set = LineSet::new(RANKS);
    let tree = Tree::from_children(0, vec![vec![2, 1], vec![3], vec![], vec![]]).unwrap();
    let reduction = OneLineReduction::new(&mut set, &tree, None);
    let barrier = FlatBarrier::new(&mut set, Sharing::SameLine, Sharing::DifferentLines);
    let lines = team.lines(&set).unwrap();
    let mut ended = team.run(|member| {
        let own = reduction.data(member.rank());
        for round in 1u64.. {
            if round == 100 {
                println!("begun");
            }
            let ended = member.on_lines(&lines, Collective::Allreduce, 0, |lines, _| {
                lines.set_payload(own, [round << (8 * lines.rank()); 7]);
                reduction.run(lines, round)?;
                let sum = lines.payload(own);
                barrier.run(lines, round)?;
                Ok(sum)
            });
            match ended {
                Ok(sum) if member.rank() == 0 => {
                    let expected: u64 = (0..RANKS).map(|rank| round << (8 * rank)).sum();
                    assert_eq!(sum, [expected; 7]);
                }
                Ok(_) => {}
                Err(failure) => return failure,
            }
        }
        unreachable!("a loop without an end")
    });
    ended.remove(0)
}

/// Plays the part that a variable names, in another process of this program.
#[test]
fn part() {
    let Ok(part) = std::env::var(PART) else {
        return;
    };
    let (choice, name) = part.split_once(' ').unwrap();
    let mut options = Options::default();
    options.algorithms.barrier = choice.parse().ok();
    options.algorithms.broadcast = broadcast::Algorithm::Line.into();
    let plans = || plans_of(RANKS, Pattern::Binomial).with_packages(vec![0, 0, 1, 1]);
    let address = Address::Name(name.to_owned());
    let team = ProcessGroup::enter(&address, RANKS, &[None], plans, &options).unwrap();
    let failure = match choice {
        LINES_OF_ITS_OWN => work_on_lines(&team),
        _ => team.run(work).remove(0),
    };
    let Failure::PeerLost { remote, how, .. } = &failure else {
        panic!("{failure}");
    };
    // A rank that notices late may see that another rank has left because of it.
    assert!(matches!(how, Loss::Died | Loss::Left), "{failure}");
    println!("lost {}", remote.rank);
}

/// The rest of what a process prints until it ends.
fn rest(mut said: BufReader<ChildStdout>) -> String {
    let mut text = String::new();
    said.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_killed_process_is_an_error_for_the_others() {
    use barrier::Algorithm::{Counter, Groups, MWay, MultiM, PackageRoots, PairWise};
    let mut rng = fastrand::Rng::with_seed(5);
    let barriers = [Groups, MWay, MultiM, PairWise, PackageRoots, Counter];
    let all = barriers.map(|choice| choice.name());
    let all = all.into_iter().chain([LINES_OF_ITS_OWN]);
    for (round, choice) in all.cycle().take(14).enumerate() {
        let name = format!("lines-killed-{round}-{}", std::process::id());
        let part = format!("{choice} {name}");
        let mut team: Vec<_> = (0..RANKS).map(|_| start(&part)).collect();
        for (_, said) in &mut team {
            let mut line = String::new();
            while !line.contains("begun") {
                line.clear();
                assert_ne!(
                    said.read_line(&mut line).unwrap(),
                    0,
                    "{choice}: ended early"
                );
            }
        }
        std::thread::sleep(Duration::from_micros(rng.u64(..3000)));
        let (mut victim, _) = team.swap_remove(rng.usize(..RANKS));
        victim.0.kill().unwrap();
        let begin = Instant::now();
        for (mut other, said) in team {
            while other.0.try_wait().unwrap().is_none() {
                // A watchdog, far longer than the time that is promised.
                assert!(begin.elapsed() < WATCHDOG, "{choice}: no end");
                std::thread::sleep(Duration::from_millis(5));
            }
            let text = rest(said);
            assert!(text.contains("lost "), "{choice}: {text}");
        }
    }
}
