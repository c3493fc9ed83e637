//! Replicas that are processes with a folder: whoever is killed or stopped, nothing that was answered is lost or done twice.

mod harness;
mod pipelines;

use std::io::Read;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use corecast_wire::ending;
use corecast_wire::sync::{AtomicU32, Ordering};
use rustix::process::Signal;

use super::{ProcessServer, Replica};
use crate::durability::{AppendFsync, FAILS, OF_PROCESS};
use crate::server::ServerOptions;
use harness::{Caller, FOLDER, Folder, HANGS, POLICY, Processes, REPLICAS, ROLE, again, tell};

/// Not a test of its own: what the others are started as.
#[test]
fn a_process_of_these_tests() {
    match std::env::var(ROLE).as_deref() {
        Ok("replica") => {
            let replica = Replica::inherited().unwrap();
            let number = replica.number();
            replica
                .run(|| tell(&format!("serving {number} {}", std::process::id())))
                .unwrap();
        }
        Ok(_) => {
            let options = ServerOptions {
                port: 0,
                replicas: REPLICAS,
                dir: Some(PathBuf::from(std::env::var_os(FOLDER).unwrap())),
                append_fsync: std::env::var(POLICY).unwrap().parse().unwrap(),
                ..ServerOptions::default()
            };
            let server = match ProcessServer::bind(options) {
                Ok(server) => server,
                Err(error) => return tell(&format!("refused {error}")),
            };
            server
                .notes()
                .iter()
                .for_each(|it| tell(&format!("note {it}")));
            tell(&format!("address {}", server.address()));
            let started = |number, pid| tell(&format!("started {number} {pid}"));
            // What is said at the end of the input is that of `corecast` at SIGTERM.
            std::thread::spawn(|| {
                let _ = std::io::stdin().read(&mut [0]);
                ending::ask();
            });
            match server.run(|| again("replica"), started) {
                Ok(()) => tell("ended"),
                Err(error) => tell(&format!("failed {error}")),
            }
        }
        Err(_) => {}
    }
}

/// A counter of one client: what it is known to have been, and how often it may have been raised since and nobody was told.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    answered: u64,
    untold: u64,
}

impl Count {
    /// Takes what is found, which is the `raised` that was asked for later.
    fn take(&mut self, found: u64, raised: u64) -> Result<(), String> {
        let least = self.answered + raised;
        if !(least..=least + self.untold).contains(&found) {
            return Err(format!("{found} where {self:?} and {raised} more"));
        }
        *self = Self {
            answered: found,
            untold: 0,
        };
        Ok(())
    }

    /// Raises it until all are to stop, which they are when something is wrong.
    fn raise(&mut self, address: SocketAddr, key: &str, progress: &Progress) -> Result<(), String> {
        let mut caller = Caller::new(address);
        while !progress.has_stopped() {
            let raised = match caller.call(&format!("INCR {key}")) {
                Some(reply) => self.take_reply(&reply, 1),
                None => {
                    self.untold += 1;
                    std::thread::sleep(Duration::from_millis(1));
                    Ok(())
                }
            };
            // Relaxed: a count.
            progress.calls.fetch_add(1, Ordering::Relaxed);
            raised.inspect_err(|_| progress.stop())?;
        }
        Ok(())
    }

    fn take_reply(&mut self, reply: &str, raised: u64) -> Result<(), String> {
        let number = reply.strip_prefix(':').and_then(|it| it.parse().ok());
        self.take(number.ok_or_else(|| reply.to_owned())?, raised)
    }
}

/// How far the clients of a round are. The words order nothing.
#[derive(Debug, Default)]
struct Progress {
    calls: AtomicU32,
    stops: AtomicU32,
}

impl Progress {
    fn stop(&self) {
        self.stops.store(1, Ordering::Relaxed);
    }

    fn has_stopped(&self) -> bool {
        self.stops.load(Ordering::Relaxed) != 0
    }

    /// Waits for so many more calls.
    fn wait_for(&self, more: u32) {
        let (before, begun) = (self.calls.load(Ordering::Relaxed), Instant::now());
        while self.calls.load(Ordering::Relaxed) - before < more && !self.has_stopped() {
            assert!(begun.elapsed() < HANGS, "clients are not answered");
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

/// What happens while clients count.
#[derive(Clone, Copy, Debug)]
enum Blow {
    WriterKilled,
    WriterStopped,
    LeaderAndWriterKilled,
    AllKilled,
    OwnerKilled,
    Ended,
}

/// Clients count, each a key of its own, while replicas and the server are killed. Returns what is wrong.
fn counted(
    name: &str,
    policy: AppendFsync,
    blows: &[Blow],
    environment: &[(&str, &str)],
) -> Result<(), String> {
    let folder = Folder::new(name);
    let mut counts = [Count::default(); 4];
    let mut processes = Processes::start(&folder, policy, environment);
    for (round, blow) in blows.iter().enumerate() {
        let address = processes.address();
        let (writer, leader) = processes.roles();
        let progress = Progress::default();
        let outcome = std::thread::scope(|scope| {
            let clients = counts.iter_mut().enumerate().map(|(number, count)| {
                let (progress, key) = (&progress, format!("own{number}"));
                scope.spawn(move || count.raise(address, &key, progress))
            });
            let clients: Vec<_> = clients.collect();
            progress.wait_for(40);
            if round % 2 == 1 {
                Caller::new(address).ask("BGSAVE SCHEDULE");
            }
            match blow {
                Blow::WriterKilled => processes.signal(writer, Signal::KILL),
                Blow::WriterStopped => processes.signal(writer, Signal::STOP),
                Blow::LeaderAndWriterKilled => {
                    [writer, leader]
                        .iter()
                        .for_each(|it| processes.signal(*it, Signal::KILL));
                }
                Blow::AllKilled => (0..REPLICAS).for_each(|it| processes.signal(it, Signal::KILL)),
                Blow::OwnerKilled => processes.server.kill().unwrap(),
                Blow::Ended => drop(processes.server.stdin.take()),
            }
            if !matches!(blow, Blow::OwnerKilled | Blow::Ended) {
                progress.wait_for(40);
            }
            progress.stop();
            let outcomes = clients.into_iter().map(|it| it.join().unwrap());
            outcomes.collect::<Result<Vec<()>, String>>()
        });
        outcome.map_err(|error| format!("round {round}, {blow:?}: {error}"))?;
        match blow {
            Blow::OwnerKilled | Blow::Ended => {
                let _ = processes.server.wait();
                processes = Processes::start(&folder, policy, environment);
            }
            _ => processes.wait_for_all(),
        }
        for (number, count) in counts.iter_mut().enumerate() {
            let found = Caller::new(processes.address()).ask(&format!("INCRBY own{number} 0"));
            let told = count.take_reply(&found, 0);
            told.map_err(|error| format!("after round {round}, {blow:?}: {error}"))?;
        }
    }
    Ok(())
}

const BLOWS: [Blow; 6] = [
    Blow::WriterKilled,
    Blow::AllKilled,
    Blow::WriterStopped,
    Blow::OwnerKilled,
    Blow::LeaderAndWriterKilled,
    Blow::Ended,
];

#[test]
fn nothing_that_was_answered_is_lost_or_done_twice() {
    assert_eq!(counted("always", AppendFsync::Always, &BLOWS, &[]), Ok(()));
    let policy = AppendFsync::EverySecond;
    assert_eq!(counted("everysec", policy, &[Blow::AllKilled], &[]), Ok(()));
}

#[test]
fn a_reply_before_the_log_has_it_is_found() {
    let environment = [(OF_PROCESS, "ReleasedUnwritten")];
    let found = counted(
        "unwritten",
        AppendFsync::Always,
        &[Blow::AllKilled],
        &environment,
    );
    assert!(found.is_err(), "nobody noticed");
}

/// What was applied and is not in the log has to be there for whoever goes on with the log.
#[test]
fn a_tail_that_is_forgotten_is_found() {
    let environment = [(OF_PROCESS, "TrimmedUnreleased")];
    let blows = [Blow::WriterKilled, Blow::AllKilled].repeat(3);
    let found = counted("trimmed", AppendFsync::Always, &blows, &environment);
    assert!(found.is_err(), "nobody noticed");
}

/// A log that has failed is closed in all replicas, whoever writes, until the server is started again.
#[test]
fn a_sync_that_fails_stops_writes_in_all_replicas() {
    let folder = Folder::new("fails");
    let mut answered = 0_u64;
    {
        let processes = Processes::start(&folder, AppendFsync::Always, &[(FAILS, "30")]);
        let mut client = Caller::new(processes.address());
        while let Some(number) = client
            .call("INCR n")
            .as_deref()
            .and_then(|it| it.strip_prefix(':'))
        {
            answered = number.parse().unwrap();
        }
        assert!(answered > 10, "{answered}");
        let refuses = || {
            // Connections come to any replica.
            for _ in 0..4 * REPLICAS {
                let mut client = Caller::new(processes.address());
                let refused = client.ask("SET n 1");
                assert!(
                    refused.starts_with("-MISCONF Errors writing to the AOF file: ")
                        && refused.contains("a sync that fails"),
                    "{refused}"
                );
                assert!(client.ask("GET n").starts_with('$'));
            }
        };
        refuses();
        let text = Caller::new(processes.address())
            .call_whole("INFO persistence")
            .unwrap();
        assert!(text.contains("aof_last_write_status:err"), "{text}");
        let (writer, _) = processes.roles();
        processes.signal(writer, Signal::KILL);
        processes.wait_for_all();
        refuses();
        let saved = Caller::new(processes.address()).ask("SAVE");
        assert!(saved.starts_with("-ERR"), "{saved}");
    }
    let processes = Processes::start(&folder, AppendFsync::Always, &[]);
    let found = Caller::new(processes.address()).ask("INCRBY n 0");
    let found: u64 = found[1..].parse().unwrap();
    assert!(
        (answered..=answered + 1).contains(&found),
        "{found} of {answered}"
    );
}

/// Snapshots, what is told of them, torn tails, and what two servers do with one folder.
#[test]
fn a_folder_is_saved_and_read_again() {
    let folder = Folder::new("saved");
    let value = "x".repeat(5000);
    {
        let processes = Processes::start(&folder, AppendFsync::No, &[]);
        let mut clients = [0; 2 * REPLICAS].map(|_| Caller::new(processes.address()));
        for (number, client) in clients.iter_mut().enumerate() {
            assert_eq!(client.ask(&format!("SET stays{number} {value}")), "+OK");
            assert_eq!(client.ask(&format!("SET goes{number} 1 PX 1")), "+OK");
        }
        let before = clients[0].ask("LASTSAVE");
        assert!(before[1..].parse::<u64>().unwrap() > 1_700_000_000);
        assert!(folder.files("snapshot-").is_empty());
        for client in &mut clients {
            assert_eq!(client.ask("SAVE"), "+OK");
            assert_eq!(folder.files("snapshot-").len(), 1);
        }
        assert_eq!(clients[0].ask("APPEND stays0 more"), ":5004");
        let refused = Processes::start(&folder, AppendFsync::No, &[]);
        let told = refused.told.0.lock().unwrap().refused.clone();
        assert!(told.is_some_and(|it| it.contains("another server has it")));
        let text = clients[1].call_whole("INFO persistence").unwrap();
        assert!(text.contains("rdb_last_bgsave_status:ok\r\n"), "{text}");
        assert!(text.contains("aof_enabled:1\r\n"), "{text}");
        processes.end();
    }
    // As if it had been killed amid a record.
    let path = folder.0.join(folder.files("log-").pop().unwrap());
    let mut bytes = std::fs::read(&path).unwrap();
    let used = bytes.iter().rposition(|it| *it != 0).unwrap() + 1;
    bytes[used.next_multiple_of(8) + 8] = 1;
    std::fs::write(&path, bytes).unwrap();
    for again in 0..2 {
        let processes = Processes::start(&folder, AppendFsync::No, &[]);
        let mut client = Caller::new(processes.address());
        assert_eq!(client.ask("STRLEN stays0"), ":5004");
        assert_eq!(client.ask("STRLEN stays3"), ":5000");
        assert_eq!(client.ask("EXISTS goes0"), ":0");
        let length = format!(":{}", 4 * (again + 1));
        assert_eq!(client.ask("APPEND last more"), length);
        let notes = processes.told.0.lock().unwrap().notes.clone();
        assert_eq!(notes.len(), 1 - again, "{notes:?}");
    }
}
