//! Replicas that are processes: they answer as threads do, and may be killed and stopped.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use corecast_agree::linearizability::{Recorder, Registers, Request, check};
use corecast_store::{AppendFsync, ProcessServer, Replica, ServerOptions};
use corecast_wire::ending::not_outliving;
use rustix::process::{Pid, Signal, kill_process};

use crate::client::{Client, request};
use crate::durable::Folder;
use crate::servers::{Ours, options};

/// What a process is that this program is started as again: a server of so many replicas, or a replica.
const ROLE: &str = "CORECAST_TEST_SERVE";
/// The folder of the server, if it has one.
const FOLDER: &str = "CORECAST_TEST_SERVE_FOLDER";

/// A test that hangs fails after this, long after any machine would be done.
const HANGS: Duration = Duration::from_secs(120);

/// This program again, to be a server or a replica.
fn again(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "processes::a_process_of_these_tests"])
        .args(["--nocapture", "--test-threads=1"])
        .env(ROLE, role);
    command
}

/// Not a test of its own: what the others are started as.
#[test]
fn a_process_of_these_tests() {
    match std::env::var(ROLE).as_deref() {
        Ok("replica") => {
            let replica = Replica::inherited().unwrap();
            let number = replica.number();
            let told = || tell(&format!("serving {number} {}", std::process::id()));
            replica.run(told).unwrap();
        }
        Ok(replicas) => {
            let options = ServerOptions {
                replicas: replicas.parse().unwrap(),
                dir: std::env::var_os(FOLDER).map(PathBuf::from),
                append_fsync: AppendFsync::Always,
                ..options()
            };
            let server = ProcessServer::bind(options).unwrap();
            tell(&format!("address {}", server.address()));
            let started = |number, pid| tell(&format!("started {number} {pid}"));
            if let Err(error) = server.run(|| again("replica"), started) {
                tell(&format!("ended {error}"));
            }
        }
        Err(_) => {}
    }
}

/// Prints a line at once: several processes print to one pipe, and what runs tests there begins lines of its own.
fn tell(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("\n{line}\n").as_bytes()).unwrap();
}

/// What a server has told.
#[derive(Debug, Default)]
struct Told {
    address: Option<SocketAddr>,
    /// The last process of each replica, and whether it serves.
    replicas: BTreeMap<usize, (u32, bool)>,
    ended: Option<String>,
}

struct Processes {
    server: Child,
    told: Arc<Mutex<Told>>,
}

impl Processes {
    fn start(replicas: usize) -> Self {
        Self::of(&mut again(&replicas.to_string()), replicas)
    }

    fn of(command: &mut Command, replicas: usize) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = not_outliving(command, Signal::KILL).spawn().unwrap();
        let out = BufReader::new(server.stdout.take().unwrap());
        let told = Arc::new(Mutex::new(Told::default()));
        let noted = Arc::clone(&told);
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
                let mut told = noted.lock().unwrap();
                let numbers = rest.split_once(' ');
                let replica = numbers.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
                match (word, replica) {
                    ("address", _) => told.address = rest.parse().ok(),
                    ("started", Some((number, pid))) => {
                        let known = told.replicas.get(&number).copied();
                        let serves = known == Some((pid, true));
                        told.replicas.insert(number, (pid, serves));
                    }
                    ("serving", Some((number, pid))) => {
                        told.replicas.insert(number, (pid, true));
                    }
                    ("ended", _) => told.ended = Some(rest.to_owned()),
                    _ => {}
                }
            }
        });
        let it = Self { server, told };
        it.wait_for(|told| told.address.is_some());
        it.wait_for_all(replicas);
        it
    }

    fn wait_for(&self, holds: impl Fn(&Told) -> bool) {
        let begun = Instant::now();
        while !holds(&self.told.lock().unwrap()) {
            let told = self.told.lock().unwrap();
            assert!(begun.elapsed() < HANGS, "{told:?}");
            drop(told);
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// A client of a replica whose number this holds of.
    fn client_of(&self, holds: impl Fn(usize) -> bool) -> Client {
        let begun = Instant::now();
        loop {
            let mut client = Client::new(self.address());
            let text = client.say("INFO replication");
            let line = text.lines().find_map(|it| it.strip_prefix("replica:"));
            if holds(line.expect(&text).parse().unwrap()) {
                return client;
            }
            assert!(begun.elapsed() < HANGS, "a replica takes no client");
        }
    }

    /// Waits until all replicas serve.
    fn wait_for_all(&self, replicas: usize) {
        self.wait_for(|told| {
            let lives = |(pid, serves): &(u32, bool)| *serves && is_there(*pid);
            told.replicas.len() == replicas && told.replicas.values().all(lives)
        });
    }

    fn address(&self) -> SocketAddr {
        self.told.lock().unwrap().address.unwrap()
    }

    fn pid(&self, replica: usize) -> Pid {
        let pid = self.told.lock().unwrap().replicas[&replica].0;
        Pid::from_raw(pid as i32).unwrap()
    }

    /// The leader and the acceptor, as some replica knows them.
    fn roles(&self) -> (usize, usize) {
        let text = Client::new(self.address()).say("INFO replication");
        let number = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|it| it.parse().ok()).expect(&text)
        };
        (number("leader:"), number("acceptor:"))
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Whether a process runs. One that has ended and was not waited for does not.
fn is_there(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|it| !it.contains(") Z "))
}

/// A client whose connection may end at any time.
struct Caller {
    address: SocketAddr,
    client: Option<Client>,
}

impl Caller {
    fn try_call(&mut self, words: &[&[u8]]) -> Option<Vec<u8>> {
        let client = self.client.get_or_insert_with(|| Client::new(self.address));
        let sent = client.stream.write_all(&request(words));
        let reply = sent.ok().and_then(|()| client.try_reply());
        if reply.is_none() {
            self.client = None;
        }
        reply
    }

    /// Records a call, which does not return if the connection ends.
    fn record(
        &mut self,
        recorder: &mut Recorder<Request, Option<Vec<u8>>>,
        asked: Request,
        words: &[&[u8]],
        answer: impl Fn(&[u8]) -> Option<Vec<u8>>,
    ) {
        let call = || match self.try_call(words) {
            Some(reply) => answer(&reply),
            None => resume_unwind(Box::new(())),
        };
        let _ = catch_unwind(AssertUnwindSafe(|| recorder.call(asked, call)));
    }
}

/// A value as `GET` and its like answer it.
fn value(reply: &[u8]) -> Option<Vec<u8>> {
    let text = reply.strip_prefix(b"$").expect("a value or none");
    let (_, value) = text.split_at(text.windows(2).position(|it| it == b"\r\n")?);
    let value = value.strip_prefix(b"\r\n")?.strip_suffix(b"\r\n")?;
    Some(value.to_vec())
}

/// How far the clients of a round are.
#[derive(Default)]
struct Progress {
    calls: AtomicU32,
    stops: AtomicBool,
}

impl Progress {
    /// Waits for so many more calls, but not for long: clients of a stopped replica wait as well.
    fn wait_for(&self, calls: u32) {
        let (before, begun) = (self.calls.load(Ordering::Relaxed), Instant::now());
        while self.calls.load(Ordering::Relaxed) - before < calls
            && begun.elapsed() < Duration::from_millis(150)
        {
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

/// Calls of one client with some keys of a round until it is to stop.
fn act(
    address: SocketAddr,
    round: u32,
    mut recorder: Recorder<Request, Option<Vec<u8>>>,
    client: u64,
    progress: &Progress,
) -> Vec<corecast_agree::linearizability::Call<Request, Option<Vec<u8>>>> {
    let mut random = fastrand::Rng::with_seed(u64::from(round) << 8 | client);
    let mut caller = Caller {
        address,
        client: None,
    };
    let mut number = 0;
    while !progress.stops.load(Ordering::Relaxed) {
        progress.calls.fetch_add(1, Ordering::Relaxed);
        let key = format!("{round}:{}", random.u8(..4)).into_bytes();
        number += 1;
        let mut new = format!("{client}.{number}").into_bytes();
        // Some take several pieces.
        if random.u8(..16) == 0 {
            new.resize(2500, b'x');
        }
        match random.u8(..5) {
            0 => caller.record(
                &mut recorder,
                Request::set(&key, &new),
                &[b"SET", &key, &new],
                |reply| {
                    assert_eq!(reply, b"+OK\r\n");
                    None
                },
            ),
            1 => {
                let asked = Request::Swap {
                    key: key.clone(),
                    value: Some(new.clone()),
                };
                caller.record(&mut recorder, asked, &[b"GETSET", &key, &new], value);
            }
            2 => {
                let asked = Request::Swap {
                    key: key.clone(),
                    value: None,
                };
                caller.record(&mut recorder, asked, &[b"GETDEL", &key], value);
            }
            _ => caller.record(&mut recorder, Request::get(&key), &[b"GET", &key], value),
        }
    }
    recorder.into_calls()
}

/// What happens to replicas in a round.
#[derive(Clone, Copy, Debug)]
enum Blow {
    Killed,
    Stopped,
}

/// Clients act, and some replicas are killed or stopped meanwhile: the leader, the acceptor, both, another one, all but one. All
/// that is answered can be explained by one order, and nothing that was answered is gone later.
fn rounds(count: u32, folder: Option<&Folder>) {
    const REPLICAS: usize = 3;
    let mut command = again(&REPLICAS.to_string());
    if let Some(folder) = folder {
        command.env(FOLDER, &folder.0);
    }
    let processes = Processes::of(&mut command, REPLICAS);
    let address = processes.address();
    let mut random = fastrand::Rng::with_seed(1);
    let (mut calls, mut pending) = (0, 0);
    for round in 0..count {
        let (leader, acceptor) = processes.roles();
        let other = (0..REPLICAS).find(|it| *it != leader && *it != acceptor);
        let other = other.unwrap_or(leader);
        let (victims, blow) = match round % 7 {
            0 => (vec![leader], Blow::Killed),
            1 => (vec![acceptor], Blow::Killed),
            2 => (vec![leader, acceptor], Blow::Killed),
            3 => (vec![other], Blow::Killed),
            4 => (vec![leader], Blow::Stopped),
            5 => (vec![acceptor, other], Blow::Killed),
            _ => (vec![acceptor], Blow::Stopped),
        };
        let kept = format!("kept:{round}");
        let progress = Progress::default();
        let clock = Recorder::new();
        let history = std::thread::scope(|scope| {
            let clients = (0..4).map(|client| {
                let (recorder, progress) = (clock.for_client(client), &progress);
                scope.spawn(move || act(address, round, recorder, client, progress))
            });
            let clients: Vec<_> = clients.collect();
            let mut caller = Caller {
                address,
                client: None,
            };
            progress.wait_for(random.u32(10..100));
            // Of this nothing is known if it was not answered, so it is said again.
            while caller.try_call(&[b"SET", kept.as_bytes(), b"1"]).is_none() {}
            for victim in &victims {
                let signal = match blow {
                    Blow::Killed => Signal::KILL,
                    Blow::Stopped => Signal::STOP,
                };
                kill_process(processes.pid(*victim), signal).unwrap();
            }
            progress.wait_for(random.u32(50..150));
            if let Blow::Stopped = blow {
                // Long enough to be replaced, or not.
                std::thread::sleep(Duration::from_millis(random.u64(..250)));
                for victim in &victims {
                    kill_process(processes.pid(*victim), Signal::CONT).unwrap();
                }
            }
            progress.stops.store(true, Ordering::Relaxed);
            let histories = clients.into_iter().map(|it| it.join().unwrap());
            histories.collect::<Vec<_>>().concat()
        });
        calls += history.len();
        pending += history.iter().filter(|it| it.returned.is_none()).count();
        if let Err(error) = check::<Registers>(&history) {
            panic!("round {round}, {victims:?} {blow:?}: {error}");
        }
        // All are back before the next ones are killed, or there would be none to take the state from.
        processes.wait_for_all(REPLICAS);
    }
    for _ in 0..2 * REPLICAS {
        let mut client = Client::new(address);
        for round in 0..count {
            assert_eq!(
                client.say(&format!("GET kept:{round}")),
                "$1\r\n1\r\n",
                "{round}"
            );
        }
    }
    println!("{count} rounds, {calls} calls, {pending} of which never returned");
    assert!(pending > 0 || count < 7, "nobody noticed");
}

/// `CORECAST_TEST_ROUNDS` says how many.
#[test]
fn replicas_that_are_killed_or_stopped_lose_nothing() {
    let asked = std::env::var("CORECAST_TEST_ROUNDS").ok();
    let count = asked.and_then(|it| it.parse().ok()).unwrap_or(14);
    rounds(count, None);
    rounds(count.div_ceil(2), Some(&Folder::new("rounds")));
}

/// Random commands are answered as by replicas that are threads.
#[test]
fn they_answer_as_threads_do() {
    let processes = Processes::start(2);
    let threads = Ours::with(ServerOptions {
        replicas: 2,
        ..options()
    });
    let mut clients =
        [processes.address(), threads.address].map(|it| [0, 1].map(|_| Client::new(it)));
    // But for a pause, which the clients of one process alone would keep.
    let paused = clients.each_mut().map(|it| it[0].say("CLIENT PAUSE 0"));
    let refused = "-ERR CLIENT PAUSE is not served by replicas that are processes\r\n";
    assert_eq!(paused, [refused, "+OK\r\n"]);
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..1500 {
        let key = format!("k{}", random.u8(..20));
        let other = format!("k{}", random.u8(..20));
        let number = random.u8(..).to_string();
        let long = "v".repeat(random.usize(..6000));
        let words: Vec<&str> = match random.u8(..22) {
            0 => vec!["SET", &key, &number],
            1 => vec!["SET", &key, &long],
            2 => vec!["GET", &key],
            3 => vec!["APPEND", &key, &number],
            4 => vec!["DEL", &key, &other],
            5 => vec!["INCRBY", &key, &number],
            6 => vec!["RENAME", &key, &other],
            7 => vec!["MGET", &key, &other],
            8 => vec!["MSET", &key, &number, &other, &long],
            9 => vec!["GETRANGE", &key, "1", &number],
            10 => vec!["SCAN", "0", "COUNT", &number],
            11 => vec!["KEYS", "k1*"],
            12 => vec!["DBSIZE"],
            13 => vec!["MULTI"],
            14 => vec!["EXEC"],
            15 => vec!["WATCH", &key],
            16 => vec!["EXISTS", &key, &other],
            17 => vec!["SELECT", if random.bool() { "0" } else { "1" }],
            18 => vec!["EXPIREAT", &key, "4000000000"],
            19 => vec!["EXPIRETIME", &key],
            20 => vec!["COPY", &key, &other],
            _ => vec!["GETDEL", &key],
        };
        let who = random.usize(..2);
        let [found, expected] = clients.each_mut().map(|it| it[who].call(&words));
        let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
        assert_eq!(text(&found), text(&expected), "{words:?}");
    }
}

/// Writes of connections that are ready in one turn of the event loop are agreed on together.
#[test]
fn writes_of_one_turn_are_one_agreement() {
    const CLIENTS: usize = 30;
    let processes = Processes::start(1);
    let mut clients = [(); CLIENTS].map(|()| Client::new(processes.address()));
    let agreements = |client: &mut Client| {
        let text = client.say("INFO replication");
        let mut lines = text.lines();
        let line = lines.find_map(|it| it.strip_prefix("agreements:"));
        line.expect(&text).parse::<u64>().unwrap()
    };
    for client in &mut clients {
        assert_eq!(client.say("PING"), "+PONG\r\n");
    }
    let before = agreements(&mut clients[0]);
    let pid = processes.pid(0);
    kill_process(pid, Signal::STOP).unwrap();
    let path = format!("/proc/{}/stat", pid.as_raw_nonzero());
    let begun = Instant::now();
    while !std::fs::read_to_string(&path).unwrap().contains(") T ") {
        assert!(begun.elapsed() < HANGS);
        std::thread::yield_now();
    }
    for client in &mut clients {
        client.send(&request(&["INCR", "n"]));
    }
    kill_process(pid, Signal::CONT).unwrap();
    let mut found: Vec<String> = clients
        .each_mut()
        .map(|it| String::from_utf8(it.reply()).unwrap())
        .to_vec();
    found.sort_by_key(|it| (it.len(), it.clone()));
    let expected: Vec<String> = (1..=CLIENTS).map(|it| format!(":{it}\r\n")).collect();
    assert_eq!(found, expected);
    let more = agreements(&mut clients[0]) - before;
    assert!(
        (1..=3).contains(&more),
        "{more} agreements on {CLIENTS} writes"
    );
}

/// A replica that is stopped while its client waits for a write goes on from a snapshot that has the write, and knows the answer.
#[test]
fn a_replica_that_lags_answers_its_own_clients() {
    let processes = Processes::start(3);
    let (leader, acceptor) = processes.roles();
    let lags = (0..3).find(|it| ![leader, acceptor].contains(it)).unwrap();
    let mut counts = processes.client_of(|it| it == lags);
    let mut fills = processes.client_of(|it| it != lags);
    // More than entries by which a replica may lag.
    let long = vec![b'x'; 1 << 20];
    let stops = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let counted = scope.spawn(|| {
            let mut count = 0;
            while !stops.load(Ordering::Relaxed) {
                count += 1;
                let reply = counts.say("INCR n");
                assert_eq!(
                    reply,
                    format!(":{count}\r\n"),
                    "a write was done twice, or not"
                );
            }
        });
        for _ in 0..12 {
            std::thread::sleep(Duration::from_millis(3));
            kill_process(processes.pid(lags), Signal::STOP).unwrap();
            for key in ["a", "b"] {
                assert_eq!(fills.call(&[b"SET", key.as_bytes(), &long]), b"+OK\r\n");
            }
            kill_process(processes.pid(lags), Signal::CONT).unwrap();
        }
        stops.store(true, Ordering::Relaxed);
        counted.join().unwrap();
    });
}

/// A replica that is started again takes a store that is long to read, and all that others write meanwhile.
#[test]
fn a_replica_takes_a_long_snapshot_while_others_write() {
    const KEYS: usize = 20_000;
    let processes = Processes::start(3);
    let (leader, acceptor) = processes.roles();
    let ends = (0..3).find(|it| ![leader, acceptor].contains(it)).unwrap();
    let mut client = processes.client_of(|it| it != ends);
    let keys: Vec<String> = (0..KEYS).map(|it| format!("key:{it}")).collect();
    let value = "x".repeat(100);
    for keys in keys.chunks(500) {
        let pairs = keys.iter().flat_map(|it| [it, &value]);
        let words: Vec<&str> = ["MSET"]
            .into_iter()
            .chain(pairs.map(|it| &it[..]))
            .collect();
        assert_eq!(client.call(&words), b"+OK\r\n");
    }
    let pid = processes.pid(ends);
    let mut count = 0;
    kill_process(pid, Signal::KILL).unwrap();
    let serves = |pid: Pid| {
        let told = processes.told.lock().unwrap();
        let (last, serves) = told.replicas[&ends];
        serves && last != pid.as_raw_nonzero().get() as u32
    };
    let begun = Instant::now();
    while !serves(pid) {
        assert!(begun.elapsed() < HANGS, "it does not come back");
        count += 1;
        assert_eq!(client.say("INCR n"), format!(":{count}\r\n"));
    }
    let mut found = processes.client_of(|it| it == ends);
    assert_eq!(found.say("INCR n"), format!(":{}\r\n", count + 1));
    assert_eq!(found.say("DBSIZE"), format!(":{}\r\n", KEYS + 1));
    let (first, last) = (&keys[0], &keys[KEYS - 1]);
    let reply = found.say(&format!("MGET {first} {last}"));
    assert_eq!(
        reply,
        format!("*2\r\n$100\r\n{value}\r\n$100\r\n{value}\r\n")
    );
}

/// What only one replica had is lost with it, and then the server says so.
#[test]
fn a_server_that_has_lost_all_its_replicas_ends_and_says_so() {
    let processes = Processes::start(2);
    let mut client = Client::new(processes.address());
    assert_eq!(client.say("SET a 1"), "+OK\r\n");
    for replica in 0..2 {
        kill_process(processes.pid(replica), Signal::KILL).unwrap();
    }
    processes.wait_for(|told| told.ended.is_some());
    let told = processes.told.lock().unwrap();
    let ended = told.ended.as_deref().unwrap();
    assert!(
        ended.contains("no replica is left that has the data"),
        "{ended}"
    );
}

/// Replicas end with the process that started them, however it ends.
#[test]
fn replicas_end_with_their_server() {
    let mut processes = Processes::start(2);
    let pids = [0, 1].map(|it| processes.pid(it).as_raw_nonzero().get() as u32);
    assert!(pids.iter().all(|it| is_there(*it)));
    processes.server.kill().unwrap();
    let begun = Instant::now();
    while pids.iter().any(|it| is_there(*it)) {
        assert!(begun.elapsed() < HANGS);
        std::thread::sleep(Duration::from_millis(1));
    }
}
