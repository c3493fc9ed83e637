//! Processes that end in ways that a descriptor of the process does not show: by `exec`, with a forked child that lives
//! on, or in another PID namespace.
//!
//! Each process is this program again, and a variable says which part it plays.

use crate::common::binomial;
use crate::own_process::{Kept, WATCHDOG};
use corecast_process::{Address, ProcessGroup, TEAM_FD, TEAM_RANK, TEAM_SIZE};
use corecast_team::{Failure, Loss, Options, Team};
use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PART: &str = "CORECAST_TEST_END";

/// A pause in which a monitor looks for the end of other processes more than once.
const MANY_LOOKS: Duration = Duration::from_millis(100);

fn options() -> Options {
    Options {
        join_limit: WATCHDOG / 5,
        ..Options::default()
    }
}

fn enter(path: &str, ranks: &[Option<usize>]) -> Team {
    let address = match path.strip_prefix('@') {
        Some(name) => Address::Name(name.into()),
        None => Address::Path(PathBuf::from(path)),
    };
    ProcessGroup::enter(&address, 2, ranks, || binomial(2), &options()).unwrap()
}

impl Kept {
    /// Waits until the process prints a line with `word`, and returns the line.
    #[track_caller]
    fn says(&mut self, word: &str) -> String {
        let mut lines = BufReader::new(self.0.stdout.as_mut().unwrap()).lines();
        let found = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains(word)));
        found.unwrap_or_else(|| panic!("never {word}")).unwrap()
    }
}

/// This program as a process that plays `part` at `path`, by way of `launcher`.
fn player(launcher: &[&str], part: &str, path: &str) -> Command {
    let this = std::env::current_exe().unwrap();
    let mut words: Vec<&str> = launcher.to_vec();
    words.push(this.to_str().unwrap());
    words.extend(["--exact", "ends::part", "--nocapture", "--test-threads=1"]);
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .env(PART, format!("{part} {path}"))
        .stdout(Stdio::piped());
    command
}

/// Starts this program as a process that plays `part` at `path`, by way of `launcher`.
fn start(launcher: &[&str], part: &str, path: &str) -> Kept {
    let mut command = player(launcher, part, path);
    Kept(command.stdin(Stdio::piped()).spawn().unwrap())
}

/// Starts this program as a process that plays `part` and inherits `rank` of the team whose memory is `fd`.
fn start_as(launcher: &[&str], part: &str, fd: &OwnedFd, rank: usize) -> Kept {
    let mut command = player(launcher, part, "inherited");
    // What is passed on without a word to the launchers in between is standard input.
    command.stdin(fd.try_clone().unwrap());
    command.env(TEAM_FD, "0").env(TEAM_SIZE, "2");
    Kept(command.env(TEAM_RANK, rank.to_string()).spawn().unwrap())
}

/// Starts a child that does nothing until the input of this process ends, or an hour has passed.
fn fork_and_leave() {
    // SAFETY: the child reads and ends, and takes no lock.
    if unsafe { libc::fork() } == 0 {
        // SAFETY: ends the child when the test should be forgotten.
        unsafe { libc::alarm(3600) };
        let mut byte = 0_u8;
        // SAFETY: reads to the byte, and ends the child at once.
        unsafe {
            libc::read(0, (&raw mut byte).cast(), 1);
            libc::_exit(0)
        }
    }
}

/// Plays the part that a variable names.
#[test]
fn part() {
    let Ok(told) = std::env::var(PART) else {
        return;
    };
    let (part, path) = told.split_once(' ').unwrap();
    if let Some(how) = part.strip_prefix("host-") {
        return host(path, how);
    }
    let team = match path {
        "inherited" => ProcessGroup::inherited(&options()).unwrap().unwrap(),
        path => enter(path, &[Some(1)]),
    };
    let mut member = team.join(team.ranks()[0]).unwrap();
    member.barrier().unwrap();
    if part.contains("fork") {
        fork_and_leave();
    }
    println!("process {} is there", std::process::id());
    if part.contains("exec") {
        // It ends with its input.
        let error = Command::new("cat").exec();
        panic!("{error}");
    }
    if part == "watch" {
        for round in 0..4 {
            std::thread::sleep(MANY_LOOKS);
            assert_eq!(member.barrier(), Ok(()), "round {round}");
        }
        let failure = member.barrier().unwrap_err();
        assert!(is_death(&failure), "{failure}");
        println!("lost it");
        return;
    }
    if part.contains("stay") {
        for _ in 0..3 {
            member.barrier().unwrap();
        }
        println!("three barriers");
        if part == "stay-abort" {
            member.barrier().unwrap();
            std::process::abort();
        }
        return;
    }
    std::process::abort();
}

/// Is the rendezvous server at `path`, and ends before anybody has come.
fn host(path: &str, how: &str) {
    let at = path.to_owned();
    std::thread::spawn(move || enter(&at, &[None]));
    let begin = Instant::now();
    let listens = || match path.strip_prefix('@') {
        None => std::fs::exists(path).unwrap(),
        Some(name) => std::fs::read_to_string("/proc/net/unix")
            .unwrap()
            .contains(name),
    };
    while !listens() {
        assert!(begin.elapsed() < WATCHDOG);
        std::thread::yield_now();
    }
    if how == "fork" {
        fork_and_leave();
    }
    println!("process {} listens", std::process::id());
    std::process::abort();
}

fn path(test: &str) -> String {
    let folder = std::env::temp_dir();
    format!(
        "{}/corecast-{test}-{}",
        folder.display(),
        std::process::id()
    )
}

/// Enters together with a process that plays `part`, and returns the failure of a barrier after it has gone.
fn lose(launcher: &[&str], part: &str, path: &str) -> Failure {
    let other = start(launcher, part, path);
    loses(other, &enter(path, &[Some(0)]))
}

/// The failure of a barrier after the other process of the team has gone.
fn loses(mut other: Kept, team: &Team) -> Failure {
    let mut member = team.join(0).unwrap();
    member.barrier().unwrap();
    other.says("is there");
    let begin = Instant::now();
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    std::thread::spawn(move || {
        if stopped
            .recv_timeout(WATCHDOG)
            .is_err_and(|e| e == std::sync::mpsc::RecvTimeoutError::Timeout)
        {
            eprintln!("no failure after {:?}", begin.elapsed());
            std::process::abort();
        }
    });
    let failure = member.barrier().unwrap_err();
    drop(stop);
    failure
}

fn is_death(failure: &Failure) -> bool {
    matches!(failure, Failure::PeerLost { remote, how: Loss::Died, .. } if remote.rank == 1)
}

#[test]
fn a_process_that_calls_exec_is_lost() {
    for part in ["exec", "fork-exec", "fork-abort"] {
        let failure = lose(&[], part, &format!("@ends-{part}-{}", std::process::id()));
        assert!(is_death(&failure), "{part}: {failure}");
    }
}

/// The launcher that makes a PID namespace; `None` where that is not allowed.
fn apart() -> Option<&'static [&'static str]> {
    // With `--kill-child` the namespace ends with its launcher, which the tests kill.
    const LAUNCHER: &[&str] = &[
        "unshare",
        "--user",
        "--map-root-user",
        "--pid",
        "--fork",
        "--kill-child",
    ];
    let mut command = Command::new(LAUNCHER[0]);
    command
        .args(&LAUNCHER[1..])
        .arg("true")
        .stderr(Stdio::null());
    let made = command.status().is_ok_and(|status| status.success());
    if !made {
        let required = std::env::var_os("CORECAST_REQUIRE_PEERS").is_some();
        assert!(
            !required,
            "CORECAST_REQUIRE_PEERS is set, and {LAUNCHER:?} does not work here"
        );
        println!("SKIPPED: this system makes no PID namespaces");
    }
    made.then_some(LAUNCHER)
}

/// Rank 0 is in the test's PID namespace, or in a second one, where its number is that of rank 1 in the first.
#[test]
fn processes_of_other_pid_namespaces_live_and_are_lost() {
    let Some(launcher) = apart() else {
        return;
    };
    // The user is another one in the namespace only by name: `--map-root-user`.
    for part in ["exec", "fork-abort", "abort"] {
        let failure = lose(launcher, part, &path(&format!("apart-{part}")));
        assert!(is_death(&failure), "{part}: {failure}");
    }
    let path = path("apart-stay");
    let mut other = start(launcher, "stay", &path);
    let team = enter(&path, &[Some(0)]);
    let mut member = team.join(0).unwrap();
    for round in 0..4 {
        std::thread::sleep(MANY_LOOKS);
        assert_eq!(member.barrier(), Ok(()), "round {round}");
    }
    other.says("three barriers");
}

/// Places that a launcher hands down: rank 1 is in a PID namespace of its own, and rank 0 outside of it or in another
/// one, where both processes have the same number.
#[test]
fn processes_that_inherit_in_other_pid_namespaces_live_and_are_lost() {
    let Some(launcher) = apart() else {
        return;
    };
    let memory = || ProcessGroup::found(&binomial(2).unwrap(), &options()).unwrap();
    let fd = memory();
    let other = start_as(launcher, "abort", &fd, 1);
    let team = ProcessGroup::attach(&fd, &[0], &options()).unwrap();
    let failure = loses(other, &team);
    assert!(is_death(&failure), "{failure}");
    for outer in [&[], launcher] {
        let fd = memory();
        let mut other = start_as(launcher, "stay-abort", &fd, 1);
        let mut watch = start_as(outer, "watch", &fd, 0);
        other.says("three barriers");
        watch.says("lost it");
    }
}

#[test]
fn a_rendezvous_server_that_forked_does_not_block_its_address() {
    for how in ["fork", "plain"] {
        for path in [
            path(&format!("host-{how}")),
            format!("@ends-host-{how}-{}", std::process::id()),
        ] {
            let mut other = start(&[], &format!("host-{how}"), &path);
            other.says("listens");
            // The forked child lives for as long as this end of its input is open.
            let _input = other.0.stdin.take();
            other.0.wait().unwrap();
            let team = enter(&path, &[None, None]);
            let met = team.run(|member| member.barrier());
            assert_eq!(met, [Ok(()), Ok(())], "{path}");
        }
    }
}
