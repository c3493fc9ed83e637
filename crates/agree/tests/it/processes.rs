//! Members of a group as processes that are killed.

use corecast_agree::paxos::Options;
use corecast_agree::paxos::processes::{Delivery, ProcessGroup, ProcessMember};
use corecast_wire::WaitConfig;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// The path of the memory, for a process that is a member; and which.
const MEMORY: &str = "CORECAST_TEST_GROUP";
const MEMBER: &str = "CORECAST_TEST_MEMBER";

/// The member that is never killed, and the word of the group's line that says how many commands it has delivered.
const LAST: usize = 3;
const DELIVERED: usize = 1;

/// Nobody submits who has delivered so many commands more than the last one, so that it never lags, however long it gets no CPU.
const AHEAD_MAX: u64 = 200;

/// The last word of a member that lags.
const LAGS: &str = "lags";

/// A test that hangs fails after this, long after any machine would be done.
const HANGS: Duration = Duration::from_secs(120);

const OPTIONS: Options = Options {
    heartbeat_ns: 5_000_000,
    leader_ns: 100_000_000,
    acceptor_ns: 100_000_000,
    resend_ns: 10_000_000,
    pending_max: 16,
    lag_max: 1024,
};

/// The command of a start with this number: some take several pieces.
fn command(start: u64, number: u64) -> Vec<u8> {
    let len = if number.is_multiple_of(7) { 2500 } else { 8 };
    let mut bytes = vec![start as u8; 16 + len];
    bytes[..8].copy_from_slice(&start.to_ne_bytes());
    bytes[8..16].copy_from_slice(&number.to_ne_bytes());
    bytes
}

fn named(command: &[u8]) -> (u64, u64) {
    let word = |at: usize| u64::from_ne_bytes(command[at..at + 8].try_into().unwrap());
    (word(0), word(8))
}

/// What a member does: it submits one command after another, and tells each that it delivers, until its last words are wanted.
fn be_a_member(memory: &str, me: usize) {
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .open(memory)
        .unwrap();
    let group = ProcessGroup::attach(OwnedFd::from(file).as_fd()).unwrap();
    let config = WaitConfig::OVERSUBSCRIBED;
    let mut member = ProcessMember::new(me, group.clone(), OPTIONS, config).unwrap();
    let mut out = std::io::stdout().lock();
    let line = &group.user_lines().unwrap()[0];
    let (mut number, mut delivered) = (0, 0);
    let mut submits = true;
    writeln!(out).unwrap();
    loop {
        if submits && delivered <= line.get(DELIVERED) + AHEAD_MAX {
            member.submit(&command(member.start(), number));
            submits = false;
        }
        let Some(delivery) = member.poll() else {
            if line.get(0) != 0 && member.is_current() {
                writeln!(out, "end").unwrap();
                return;
            }
            member.pause();
            continue;
        };
        let Delivery::Command {
            own, command: it, ..
        } = delivery
        else {
            assert_ne!(me, LAST, "it lags");
            // As if it were killed now.
            writeln!(out, "{LAGS}").unwrap();
            return;
        };
        let (start, of) = named(&it);
        assert_eq!(it, command(start, of), "a command came whole");
        let told = if own.is_some() { "own" } else { "other" };
        writeln!(out, "{told} {start} {of}").unwrap();
        delivered += 1;
        if me == LAST {
            line.set(DELIVERED, delivered);
        }
        if own.is_some() && line.get(0) == 0 {
            assert_eq!((start, of), (member.start(), number));
            number += 1;
            submits = true;
        }
    }
}

struct Running {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start(group: &ProcessGroup, memory: &OwnedFd, me: usize) -> Running {
    group.starting(me).unwrap();
    let path = format!("/proc/{}/fd/{}", std::process::id(), memory.as_raw_fd());
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::members_that_are_killed_lose_nothing"])
        .args(["--nocapture", "--test-threads=1"])
        .env(MEMORY, path)
        .env(MEMBER, me.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in out.lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    Running { child, lines }
}

/// Lines of what a member delivered, `own` or `other`.
fn deliveries(lines: impl Iterator<Item = String>) -> Vec<(bool, (u64, u64))> {
    let parse = |line: String| {
        let mut words = line.split(' ');
        let own = match words.next()? {
            "own" => true,
            "other" => false,
            _ => return None,
        };
        let mut number = || words.next()?.parse().ok();
        Some((own, (number()?, number()?)))
    };
    lines.filter_map(parse).collect()
}

/// Four members submit. The leader and the acceptor are killed at once, at any moment, and then another one. What is left has all
/// that was delivered anywhere, in one order.
#[test]
fn members_that_are_killed_lose_nothing() {
    if let Ok(memory) = std::env::var(MEMORY) {
        return be_a_member(&memory, std::env::var(MEMBER).unwrap().parse().unwrap());
    }
    for round in 0..4 {
        let (group, memory) = ProcessGroup::create(4, 2048, 1).unwrap();
        let mut members: Vec<Running> = (0..4).map(|me| start(&group, &memory, me)).collect();
        let mut told: Vec<Vec<String>> = vec![Vec::new(); 4];
        let wait_for = |member: &Running, told: &mut Vec<String>, more: usize| {
            for _ in 0..more {
                told.push(member.lines.recv_timeout(HANGS).unwrap());
            }
        };
        // Each has begun before the first one is killed, however late the kernel starts it.
        for (member, told) in members.iter().zip(&mut told) {
            let has_begun = |line: &String| {
                line == LAGS || !deliveries(std::iter::once(line.clone())).is_empty()
            };
            while !told.last().is_some_and(has_begun) {
                told.push(member.lines.recv_timeout(HANGS).unwrap());
            }
        }
        wait_for(&members[3], &mut told[3], 50 + 13 * round);
        // In the beginning these lead and accept.
        for victims in [&[0, 1][..], &[2]] {
            for victim in victims {
                members[*victim].child.kill().unwrap();
            }
            for victim in victims {
                members[*victim].child.wait().unwrap();
                group.ended(*victim);
            }
            let more = told[3].len();
            wait_for(&members[3], &mut told[3], 40 + more % 7);
        }
        group.user_lines().unwrap()[0].set(0, 1);
        loop {
            let line = members[3].lines.recv_timeout(HANGS).unwrap();
            let is_end = line == "end";
            told[3].push(line);
            if is_end {
                break;
            }
        }
        for victim in 0..3 {
            told[victim].extend(members[victim].lines.iter());
        }
        let lagged: Vec<bool> = told
            .iter()
            .map(|lines| lines.iter().any(|line| line == LAGS))
            .collect();
        let orders: Vec<_> = told
            .into_iter()
            .map(|it| deliveries(it.into_iter()))
            .collect();
        let names =
            |order: &[(bool, (u64, u64))]| -> Vec<_> { order.iter().map(|it| it.1).collect() };
        let last = names(&orders[3]);
        for (order, lags) in orders.iter().zip(lagged) {
            assert!(lags || !order.is_empty());
            let order = names(order);
            assert!(
                last.starts_with(&order),
                "round {round}: {order:?} {last:?}"
            );
        }
        assert!(members[3].child.wait().unwrap().success());
    }
}

/// A member whose clock is never due is told who has ended all the same, in whatever phase of a wait it is.
#[test]
fn a_member_that_waits_hears_who_has_ended() {
    const HOUR_NS: u64 = 3_600_000_000_000;
    let options = Options {
        heartbeat_ns: HOUR_NS,
        ..OPTIONS
    };
    let (group, _memory) = ProcessGroup::create(2, 2048, 1).unwrap();
    group.starting(0).unwrap();
    group.starting(1).unwrap();
    let (to, heard) = mpsc::channel();
    let waiting = group.clone();
    std::thread::spawn(move || {
        let config = WaitConfig::OVERSUBSCRIBED;
        let mut member = ProcessMember::new(0, waiting, options, config).unwrap();
        member.receive();
        to.send(()).unwrap();
        member.pause();
        to.send(()).unwrap();
    });
    heard.recv_timeout(HANGS).unwrap();
    // It may sleep by now, or not yet: both are to be woken.
    std::thread::sleep(Duration::from_millis(20));
    group.ended(1);
    heard.recv_timeout(HANGS).expect("it waits for a packet");
}
