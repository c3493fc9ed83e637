//! Long data between processes: elements of any length, and errors when memory is short. Most teams
//! of processes here have all their ranks in one process, because ranks are joined by the same
//! means.

use crate::common::binomial;
use crate::periodic::{PERIOD, joined, repeated};
use corecast_collectives::operator::Sum;
use corecast_process::ProcessGroup;
use corecast_process::{Address, EnterError};
use corecast_team::{Failure, Loss, Member, Options, Team};
use corecast_transfer::Process;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

fn enter(test: &str, n: usize, options: &Options) -> Result<Team, EnterError> {
    let address = Address::Name(format!("far-{test}-{n}-{}", std::process::id()));
    ProcessGroup::enter(&address, n, &vec![None; n], || binomial(n), options)
}

/// 40 KiB, which is more than one chunk of a bounce buffer, but less than two.
type Matrix = [[u64; 1024]; 5];

fn matrix(seed: u64) -> Matrix {
    std::array::from_fn(|row| std::array::from_fn(|at| seed * 1000 + (row * 1024 + at) as u64))
}

fn add(a: Matrix, b: Matrix) -> Matrix {
    std::array::from_fn(|row| std::array::from_fn(|at| a[row][at] + b[row][at]))
}

fn with_long_elements(member: &mut Member) {
    let (n, me) = (member.size() as u64, member.rank() as u64);
    for count in [1, 3] {
        let given = |rank: u64| -> Vec<Matrix> { (0..count).map(|i| matrix(rank + i)).collect() };
        let sum: Vec<Matrix> = (0..count)
            .map(|i| (0..n).map(|rank| matrix(rank + i)).reduce(add).unwrap())
            .collect();
        let mut data = given(me);
        member.broadcast(1, &mut data).unwrap();
        assert!(data == given(1), "broadcast of {count}");
        let mut data = given(me);
        member.reduce(0, &mut data, add).unwrap();
        assert!(me != 0 || data == sum, "reduce of {count}");
        let mut data = given(me);
        member.allreduce(&mut data, add).unwrap();
        assert!(data == sum, "allreduce of {count}");
        let mut all = vec![matrix(0); (count * n) as usize];
        member.allgather(&given(me), &mut all).unwrap();
        assert!(
            all == (0..n).flat_map(given).collect::<Vec<_>>(),
            "allgather of {count}"
        );
    }
}

#[test]
fn elements_may_be_longer_than_chunks() {
    for n in [2, 3, 5] {
        for deterministic in [false, true] {
            let options = Options {
                deterministic,
                ..Options::default()
            };
            enter("elements", n, &options)
                .unwrap()
                .run(with_long_elements);
        }
    }
}

/// Elements of which the peer's pieces do not hold a whole number are an error.
#[test]
fn pieces_without_whole_elements_are_an_error() {
    let team = enter("parts", 2, &Options::default()).unwrap();
    let ended = team.run(|member| {
        let sum = |a: u64, b: u64| a + b;
        let three = |a: [u64; 3], b: [u64; 3]| [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
        match member.rank() {
            0 => member.allreduce(&mut vec![1u64; 60_000], sum),
            _ => member.allreduce(&mut vec![[1u64; 3]; 20_000], three),
        }
    });
    for failure in ended {
        let failure = failure.unwrap_err();
        assert!(matches!(failure, Failure::Corrupt { .. }), "{failure}");
    }
}

/// Plays the part that a variable names, in another process of this program.
#[test]
fn part() {
    let Ok(part) = std::env::var(PART) else {
        return;
    };
    match part.split_once(' ') {
        // Memory is short: prints the error, or that the team works.
        Some(("short", slots)) => match enter("short", 2, &options(slots.parse().unwrap())) {
            Ok(team) => {
                team.run(with_long_elements);
                println!("\nworks");
            }
            Err(error) => println!("\nrefused: {error}"),
        },
        Some(("odd", n)) => {
            let n = n.parse().unwrap();
            Team::new(binomial(n).unwrap()).unwrap().run(at_odd_places);
            let team = enter("odd", n, &Options::default()).unwrap();
            team.run(at_odd_places);
            println!("\nworks");
        }
        Some(("far", requested)) => kernel_copy(requested),
        _ => panic!("{part}"),
    }
}

/// One process of several, which brings one rank and prints the transfer paths from the others.
fn kernel_copy(requested: &str) {
    let words: Vec<&str> = requested.split(' ').collect();
    let [name, n, kind] = words[..] else {
        panic!("{requested}");
    };
    let n: usize = n.parse().unwrap();
    let address = Address::Name(name.to_owned());
    let mut options = Options::default();
    if let "bound" | "shared" = kind {
        bind_to_one_cpu();
        options.parallelism = Some(if kind == "bound" { n } else { 1 });
    }
    let team = ProcessGroup::enter(&address, n, &[None], || binomial(n), &options).unwrap();
    let own = team.ranks()[0];
    for rank in (0..n).filter(|&rank| rank != own) {
        println!("\nreach {}", team.transfer_path(rank).unwrap());
    }
    assert_eq!(team.transfer_path(own), None);
    println!("\nfrom {:?}", team.lends_direct_from());
    match kind {
        "bound" | "shared" => println!("\nworks"),
        "whole" => {
            team.run(|member| {
                for _ in 0..3 {
                    at_odd_places(member);
                    with_long_elements(member);
                    in_flight(member);
                }
            });
            println!("\nworks");
        }
        _ => {
            println!("\nstarted");
            let ended = team.run(|member| until_one_fails(member, &mut vec![0; 3 << 20], |_| ()));
            assert_died(&ended[0]);
            println!("\nworks");
        }
    }
}

/// Confines this thread, and those that it starts, to one of its CPUs.
fn bind_to_one_cpu() {
    let allowed = rustix::thread::sched_getaffinity(None).unwrap();
    let first = (0..rustix::thread::CpuSet::MAX_CPU).find(|&cpu| allowed.is_set(cpu));
    let mut one = rustix::thread::CpuSet::new();
    one.set(first.unwrap());
    rustix::thread::sched_setaffinity(None, &one).unwrap();
}

/// Combines and broadcasts ones until an operation fails. `done` is told the number of each round.
pub(crate) fn until_one_fails(
    member: &mut Member,
    data: &mut [u64],
    mut done: impl FnMut(usize),
) -> Failure {
    data.fill(1);
    for round in 1.. {
        let both = member.allreduce(data, |a: u64, b: u64| a.min(b));
        if let Err(failure) = both.and_then(|()| member.broadcast(0, data)) {
            return failure;
        }
        assert!(data.iter().all(|&one| one == 1), "torn");
        done(round);
    }
    unreachable!("rounds end by a failure")
}

#[track_caller]
pub(crate) fn assert_died(failure: &Failure) {
    let died = matches!(
        failure,
        Failure::PeerLost {
            how: Loss::Died,
            ..
        }
    );
    assert!(died, "{failure}");
}

/// Two long reductions in flight at the same time.
fn in_flight(member: &mut Member) {
    let n = member.size() as u64;
    let mut data = [vec![1_u64; 30_000], vec![2; 30_000]];
    let [one, two] = &mut data;
    let flown = member.overlap(|flight| {
        let first = flight.allreduce(one, &Sum)?;
        flight.allreduce(two, &Sum)?.wait()?;
        first.wait()
    });
    flown.unwrap().unwrap();
    assert!(data[0].iter().all(|&sum| sum == n) && data[1].iter().all(|&sum| sum == 2 * n));
}

/// All collectives on long data that begin and end at odd places.
fn at_odd_places(member: &mut Member) {
    let (n, me) = (member.size(), member.rank());
    for (len, start) in [(5_000, 1), (40_001, 63), (100_003, 17)] {
        let given = |rank: usize| {
            let period = (0..PERIOD).map(|i| (i * 31 + i / 251 + rank * 7) as u8);
            repeated(period.collect(), len)
        };
        let whole = |ranks: std::ops::Range<usize>| joined(ranks.map(given));
        let mut room = vec![0xEE; start + n * len + 9];
        let into = start..start + len;
        let all = start..start + n * len;
        room[into.clone()].copy_from_slice(&given(me));
        member.broadcast(1, &mut room[into.clone()]).unwrap();
        assert!(room[into.clone()] == given(1), "broadcast of {len}");
        member
            .allgather(&given(me), &mut room[all.clone()])
            .unwrap();
        assert!(room[all.clone()] == whole(0..n), "allgather of {len}");
        room.fill(0xEE);
        let recv = (me == 1).then_some(&mut room[all.clone()]);
        member.gather(1, &given(me), recv).unwrap();
        assert!(
            me != 1 || room[all.clone()] == whole(0..n),
            "gather of {len}"
        );
        let sent = whole(0..n);
        room.fill(0xEE);
        let recv = &mut room[into.clone()];
        member.scatter(0, (me == 0).then_some(&sent), recv).unwrap();
        assert!(room[into.clone()] == given(me), "scatter of {len}");
        assert!(room[into.end..].iter().all(|&byte| byte == 0xEE));
        member.alltoall(&sent, &mut room[all.clone()]).unwrap();
        let mine = given(me).repeat(n);
        assert!(room[all.clone()] == mine, "alltoall of {len}");
        let around = room[..start].iter().chain(&room[all.end..]);
        assert!(around.into_iter().all(|&byte| byte == 0xEE));
        let mut sums = vec![me as u64; len];
        member.allreduce(&mut sums, |a: u64, b: u64| a + b).unwrap();
        assert!(sums == vec![(n * (n - 1) / 2) as u64; len]);
    }
}

#[test]
fn streamed_results_are_the_same() {
    for n in 2..6 {
        for above in ["0", "50000", "no number"] {
            let said = told(
                &["-c", "exec \"$0\" \"$@\""],
                &format!("odd {n}"),
                &[("CORECAST_STREAM", above)],
            );
            assert_eq!(said, "works", "{n} ranks, above {above}");
        }
    }
}

const PART: &str = "CORECAST_TEST_PART";

fn options(slots: usize) -> Options {
    Options {
        slots: Some(slots),
        ..Options::default()
    }
}

/// Starts this program by a shell as another process that plays `part`, and returns what it prints.
/// It must end by itself.
#[track_caller]
fn told(shell: &[&str], part: &str, variables: &[(&str, &str)]) -> String {
    let ended = Command::new("sh")
        .args(shell)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "cma::part", "--nocapture", "--test-threads=1"])
        .env(PART, part)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    let mut lines = said.lines();
    let told = lines.find(|line| line.starts_with("refused: ") || *line == "works");
    let told = told.map(str::to_owned);
    told.unwrap_or_else(|| panic!("{shell:?}, {part}, {variables:?}: {ended:?}"))
}

#[track_caller]
fn limited(limit: &str, slots: usize) -> String {
    let command = format!("ulimit {limit} && exec \"$0\" \"$@\"");
    told(&["-c", &command], &format!("short {slots}"), &[])
}

/// Starts the processes of a team, each with a value of `CORECAST_CMA` of its own.
fn start(name: &str, kind: &str, cma: &[Option<&str>]) -> Vec<Child> {
    let n = cma.len();
    let one = |cma: &Option<&str>| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "cma::part", "--nocapture", "--test-threads=1"])
            .env(PART, format!("far {name} {n} {kind}"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        match cma {
            Some(bytes) => command.env("CORECAST_CMA", bytes),
            None => command.env_remove("CORECAST_CMA"),
        };
        command.spawn().unwrap()
    };
    cma.iter().map(one).collect()
}

#[test]
fn short_memory_is_an_error_that_says_so() {
    assert_eq!(limited("-n 500", 16), "works");
    // `ulimit` counts sizes of files in blocks of 512 bytes, those of memory in KiB.
    let said = limited("-f 100", 16);
    assert!(
        said.contains("51200 are left by the limit on file sizes"),
        "{said}"
    );
    let said = limited("-v 400000", 1 << 22);
    assert!(
        said.contains("cannot map") && said.contains("memory limit"),
        "{said}"
    );
    for slots in [1 << 40, 1 << 58, 1 << 63] {
        let said = limited("-v 400000", slots);
        assert!(said.contains(" bytes of "), "{said}");
    }
}

/// Returns what a process printed, which must have ended well.
#[track_caller]
pub(crate) fn said(child: Child) -> String {
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(said.lines().any(|line| line == "works"), "{ended:?}");
    said
}

/// Results are right with kernel copies, without them, and with them in some processes only, and
/// each process reports its transfer paths.
#[test]
fn memory_is_read_where_it_is_allowed_and_wished_for() {
    let (all, none, bytes) = (Some("1"), Some("0"), Some("100000"));
    let word = Box::new(3_u64);
    let address = (&raw const *word).addr() as u64;
    let allowed = Process::open(std::process::id(), (address, 3)).is_ok();
    for (round, requests) in [
        vec![all; 2],
        vec![none; 2],
        vec![None, None],
        vec![bytes; 3],
        vec![all, none],
        vec![all, None, none, bytes],
        vec![all; 5],
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("far-{round}-{}", std::process::id());
        for (child, requested) in start(&name, "whole", &requests).into_iter().zip(&requests) {
            let said = said(child);
            if *requested == none {
                assert!(
                    said.contains("through its bounce buffer (CORECAST_CMA is 0)"),
                    "{said}"
                );
                assert!(said.contains("from None"), "{said}");
            } else if allowed {
                assert!(said.contains("reach read from its memory"), "{said}");
            }
            if *requested == bytes {
                assert!(said.contains("from Some(100000)"), "{said}");
            }
        }
    }
}

/// Whether ranks share cores is what the team's creator found, not how many CPUs a process is bound to.
#[test]
fn a_process_that_is_bound_to_a_cpu_shares_it_with_nobody() {
    for (kind, from) in [("bound", "from None"), ("shared", "from Some(")] {
        let name = format!("{kind}-{}", std::process::id());
        for child in start(&name, kind, &[None; 2]) {
            let said = said(child);
            assert!(said.contains(from), "{kind}: {said}");
        }
    }
}

#[test]
fn whoever_dies_while_others_read_is_told() {
    let mut rng = fastrand::Rng::with_seed(5);
    for round in 0..30 {
        let n = rng.usize(2..5);
        let name = format!("dies-{round}-{}", std::process::id());
        let mut children = start(&name, "forever", &vec![Some("1"); n]);
        for child in &mut children {
            let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
            assert!(
                lines.any(|line| line.unwrap() == "started"),
                "round {round}"
            );
        }
        std::thread::sleep(Duration::from_micros(rng.u64(0..100_000)));
        let mut victim = children.swap_remove(rng.usize(0..n));
        victim.kill().unwrap();
        victim.wait().unwrap();
        for child in children {
            said(child);
        }
    }
}
