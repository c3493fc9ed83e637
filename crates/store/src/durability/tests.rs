//! Readers on any bytes, what is written against what is read, and a server on a disk that fails.

use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use corecast_agree::Dispatch;
use fastrand::Rng;

use super::disk::Disk;
use super::entry::{self, Entry};
use super::record::{Entries, Record};
use super::recovery::Restore;
use super::simulated::SimulatedDisk;
use super::{AppendFsync, dump, header};
use crate::arguments::Span;
use crate::commands::TABLE;
use crate::keyspace::{Call, Keyspace, OwnedRun, Run, Write};
use crate::server::{Server, ServerOptions, Stopper};

/// Bytes that look like `good` ones, or do not.
fn corrupted(random: &mut Rng, good: &[u8]) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for _ in 0..random.u8(..4) {
        let at = random.usize(..=bytes.len());
        match random.u8(..4) {
            0 => bytes.truncate(at),
            1 => bytes.extend((0..random.u8(..20)).map(|_| random.u8(..))),
            2 => drop(bytes.splice(at..at, [0xff; 3])),
            _ if at < bytes.len() => bytes[at] = random.u8(..),
            _ => {}
        }
    }
    bytes
}

/// Any command on the databases, with words that make some sense.
fn run(random: &mut Rng, now: i64) -> OwnedRun {
    let (mut bytes, mut spans, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..random.u8(1..5) {
        let command = &TABLE[random.usize(..TABLE.len())];
        let empties = command.name.starts_with("flush") && random.u8(..8) > 0;
        if !command.runs_on_databases() || empties {
            continue;
        }
        let first = spans.len();
        let least = usize::from(command.arity.unsigned_abs());
        let more = if command.arity < 0 {
            random.usize(..3)
        } else {
            0
        };
        for place in 0..least + more {
            let word = match (place, random.u8(..8)) {
                (0, _) => command.name.to_uppercase(),
                (1, 0..6) => format!("key{}", random.u8(..30)),
                (_, 0) => ["PX", "EX", "NX", "GET", "*"][random.usize(..5)].to_owned(),
                (_, 1) => now.to_string(),
                _ => random.i32(..4000).to_string(),
            };
            let start = bytes.len();
            bytes.extend(word.into_bytes());
            spans.push(Span::new(start, bytes.len()));
        }
        calls.push(Call {
            command,
            first: first as u32,
            end: spans.len() as u32,
            database: random.u8(..3),
            resp3: random.bool(),
        });
    }
    OwnedRun::of(&Run {
        bytes: &bytes,
        spans: &spans,
        calls: &calls,
        now,
        seed: random.u64(..),
    })
}

/// All that clients can see of a store, in its order.
fn contents(keyspace: &Keyspace) -> Vec<Vec<u8>> {
    let mut chunks = Vec::new();
    let put = |chunk: &[u8]| {
        chunks.push(chunk.to_vec());
        Ok::<_, ()>(())
    };
    dump::write(&keyspace.snapshot(), put).unwrap();
    chunks
}

/// A store that is read from snapshot and entries is that which wrote them, whatever was written and had expired.
#[test]
fn entries_and_snapshots_give_the_same_store() {
    let mut bytes = 0;
    for seed in 0..60 {
        let mut random = Rng::with_seed(seed);
        let (mut first, mut second) = (Keyspace::default(), Keyspace::default());
        let mut now = 1_800_000_000_000;
        for _ in 0..150 {
            now += random.i64(0..1500);
            let write = match random.u8(..6) {
                0 => Write::RemoveDue {
                    now,
                    removed: Some(std::sync::OnceLock::new()),
                },
                // Clocks of threads differ.
                _ => Write::Run(Box::new(run(&mut random, now - 700))),
            };
            first.write(&write);
            let mut entry = Vec::new();
            Entry::of(&write).write(&mut entry);
            if !entry.is_empty() {
                second.entry(&entry).unwrap();
            }
            if random.u8(..40) == 0 {
                let mut restored = Keyspace::default();
                contents(&second)
                    .iter()
                    .for_each(|it| restored.chunk(it).unwrap());
                second = restored;
            }
        }
        assert_eq!(contents(&second), contents(&first), "seed {seed}");
        bytes += contents(&first).concat().len();
    }
    assert!(bytes > 10_000);
}

/// A transaction whose watched keys have changed leaves nothing, and one that no replica has applied is waited for.
#[test]
fn what_was_not_run_is_not_written() {
    let mut random = Rng::with_seed(1);
    let mut keyspace = Keyspace::default();
    for look in [0, 77] {
        let mut run = run(&mut random, 0);
        run.watched.push(crate::keyspace::Watched {
            database: 0,
            key: b"watched"[..].into(),
            look,
        });
        let write = Write::Run(Box::new(run));
        assert!(matches!(Entry::of(&write), Entry::Undecided));
        keyspace.write(&write);
        assert_eq!(matches!(Entry::of(&write), Entry::Run(_)), look == 0);
        assert_eq!(matches!(Entry::of(&write), Entry::Nothing), look == 77);
    }
}

/// Whatever bytes say, readers give what was written or refuse it.
#[test]
fn readers_take_any_bytes() {
    let mut random = Rng::with_seed(7);
    let (mut records_read, mut entries_read) = (0, 0);
    for _ in 0..4000 {
        let mut entries = Entries::default();
        let bits = random.u8(..60);
        let first = random.u64(..1 << bits);
        entries.begin(first);
        let count = random.u64(1..4);
        for index in first..first + count {
            let run = run(&mut random, 5);
            assert!(entries.add(index, |out| Entry::Run(&run).write(out)));
        }
        let mut good = Vec::new();
        entries.write(first + count, random.u64(..=first), &mut good);
        assert!(good.len().is_multiple_of(8));
        let record = Record::read(&good).unwrap();
        assert_eq!(
            (record.first, record.end, record.bytes),
            (first, first + count, good.len())
        );
        for (index, entry) in record.entries().enumerate() {
            let (at, bytes) = entry.unwrap();
            assert_eq!(at, first + index as u64);
            assert!(entry::read(bytes).is_ok());
            let _ = Keyspace::default().chunk(&corrupted(&mut random, bytes));
            entries_read += u32::from(entry::read(&corrupted(&mut random, bytes)).is_ok());
        }
        let mut bytes = corrupted(&mut random, &good);
        if let Some(record) = Record::read(&bytes) {
            // Zeros behind it do not count.
            assert_eq!(bytes[..32], good[..32]);
            assert_eq!(record.entries().count() as u64, count);
            records_read += 1;
        }
        // A checksum that happens to be right does not make an entry of what is none.
        if let Some(body) = bytes.get(4..) {
            let length =
                u32::from_le_bytes(body.get(..4).map_or([0; 4], |it| it.try_into().unwrap()));
            let end = (28_usize).saturating_add(length as usize);
            if let Some(body) = body.get(..end) {
                let sum = crc32fast::hash(body).to_le_bytes();
                bytes[..4].copy_from_slice(&sum);
                if let Some(record) = Record::read(&bytes) {
                    for (_, entry) in record.entries().flatten() {
                        let _ = entry::read(entry);
                    }
                }
            }
        }
        let _ = header::check(&bytes, header::Kind::Snapshot, first);
    }
    assert!(records_read > 100 && entries_read > 100);
}

struct Serving {
    address: SocketAddr,
    stopper: Stopper,
    thread: Option<std::thread::JoinHandle<std::io::Result<()>>>,
}

impl Serving {
    fn start(disk: &SimulatedDisk, append_fsync: AppendFsync, replicas: usize) -> Self {
        Self::try_start(disk, append_fsync, replicas).unwrap()
    }

    fn try_start(
        disk: &SimulatedDisk,
        append_fsync: AppendFsync,
        replicas: usize,
    ) -> std::io::Result<Self> {
        let options = ServerOptions {
            port: 0,
            replicas,
            append_fsync,
            ..ServerOptions::default()
        };
        let disk: Arc<dyn Disk> = Arc::new(disk.clone());
        let server = Server::bind_on(options, Some(disk), 4096)?;
        Ok(Self {
            address: server.address(),
            stopper: server.stopper(),
            thread: Some(std::thread::spawn(move || server.run())),
        })
    }

    fn client(&self) -> BufReader<TcpStream> {
        let stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(120)))
            .unwrap();
        BufReader::new(stream)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stopper.stop();
        let ended = self.thread.take().unwrap().join();
        if !std::thread::panicking() {
            ended.unwrap().unwrap();
        }
    }
}

/// The first line of what a client is answered; empty where it was cut off.
fn say(client: &mut BufReader<TcpStream>, words: &str) -> String {
    let mut line = String::new();
    // A connection that was cut off may say so in several ways.
    if client
        .get_mut()
        .write_all(format!("{words}\r\n").as_bytes())
        .is_ok()
    {
        let _ = client.read_line(&mut line);
    }
    line.trim_end().to_owned()
}

/// Whatever the disk does: clients whose writes may be lost are cut off or told, later writes are refused, reads go on, and
/// what was answered is there afterwards.
#[test]
fn a_disk_that_fails_stops_writes() {
    for (seed, policy) in (0..24).zip(AppendFsync::ALL.into_iter().cycle()) {
        let disk = SimulatedDisk::new(seed);
        let mut answered = 0;
        {
            let serving = Serving::start(&disk, policy, 1 + (seed as usize % 2));
            let mut clients = [serving.client(), serving.client()];
            assert_eq!(say(&mut clients[1], "SET n 0"), "+OK");
            disk.fail_in(seed);
            let mut last = String::new();
            // `everysec` may have a sync fail, a second later.
            for _ in 0..20_000 {
                last = say(&mut clients[0], "INCR n");
                match last.strip_prefix(':') {
                    Some(number) => answered = number.parse().unwrap(),
                    None => break,
                }
                if policy == AppendFsync::EverySecond {
                    std::thread::sleep(Duration::from_millis(1));
                }
                if policy == AppendFsync::No && answered > 50 {
                    break;
                }
            }
            if policy != AppendFsync::No || seed < 50 {
                let is_told = last.is_empty() || last.starts_with("-MISCONF");
                assert!(is_told, "{policy:?} {seed}: {last}");
            }
            let mut other = serving.client();
            let refused = say(&mut other, "SET n 1");
            assert!(
                refused.starts_with("-MISCONF Errors writing to the AOF file: /simulated/"),
                "{refused}"
            );
            assert!(say(&mut other, "GET n").starts_with('$'));
            let mut value = String::new();
            other.read_line(&mut value).unwrap();
            assert!(value.trim_end().parse::<u32>().unwrap() >= answered);
            assert_eq!(say(&mut other, "MULTI"), "+OK");
            assert!(say(&mut other, "INCR n").starts_with("-MISCONF"));
            assert!(say(&mut other, "EXEC").starts_with("-EXECABORT"));
            assert!(say(&mut other, "INFO persistence").starts_with('$'));
            let mut info = vec![0; 200];
            other.read_exact(&mut info).unwrap();
            assert!(String::from_utf8_lossy(&info).contains("loading:0"));
        }
        // Under `always` all is there after a crash, otherwise after the end of the process.
        match policy {
            AppendFsync::Always => disk.crash(),
            _ => disk.restart(),
        }
        let serving = Serving::start(&disk, policy, 1);
        let mut client = serving.client();
        let found = say(&mut client, "INCRBY n 0");
        let found: u32 = found[1..].parse().unwrap();
        assert!(
            found >= answered,
            "{policy:?} {seed}: {found} of {answered}"
        );
    }
}

/// A disk that is full stays so over a start, which changes nothing. Once there is room all that was answered is there, and whole.
#[test]
fn a_disk_that_is_full_loses_nothing() {
    for (seed, policy) in (0..12).zip(AppendFsync::ALL.into_iter().cycle()) {
        let disk = SimulatedDisk::new(seed);
        let mut random = Rng::with_seed(seed);
        // Neither a whole number of segments nor enough for a snapshot.
        disk.set_room(Some(random.usize(9_000..16_000)));
        let value = |key: u32| format!("{key}-").repeat(1 + key as usize % 40);
        let replicas = 1 + 2 * (seed as usize % 2);
        let mut answered = Vec::new();
        {
            let serving = Serving::start(&disk, policy, replicas);
            let mut clients = [serving.client(), serving.client(), serving.client()];
            for key in 0..10_000 {
                let client = &mut clients[key as usize % 3];
                match &say(client, &format!("SET {key} {}", value(key)))[..] {
                    "+OK" => answered.push(key),
                    told => {
                        assert!(told.is_empty() || told.starts_with("-MISCONF"), "{told}");
                        break;
                    }
                }
            }
            let mut client = serving.client();
            let refused = say(&mut client, "DEL 0");
            let why = "-MISCONF Errors writing to the AOF file: /simulated/log-";
            assert!(refused.starts_with(why), "{refused}");
            assert!(refused.ends_with("no storage space"), "{refused}");
            for key in &answered {
                assert_eq!(say(&mut client, &format!("EXISTS {key}")), ":1");
            }
        }
        assert!(answered.len() > 50);
        match policy {
            AppendFsync::Always => disk.crash(),
            _ => disk.restart(),
        }
        // A file of others.
        disk.set_room(Some(disk.used() + random.usize(..4096)));
        // After a crash the segment that could not be made may be there again.
        let named = || {
            let mut files = disk.contents();
            files.remove("log.new");
            files
        };
        let before = named();
        let told = Serving::try_start(&disk, policy, replicas).err();
        let told = told.expect("there is no room for a segment").to_string();
        let why = "/simulated/log.new: a segment of 1 MiB cannot be made: no storage space";
        assert_eq!(told, why);
        assert!(
            named() == before,
            "{policy:?} {seed}: the start has changed files"
        );
        disk.set_room(None);
        let serving = Serving::start(&disk, policy, replicas);
        let mut client = serving.client();
        let mut found = 0;
        for key in 0..answered.len() as u32 + 3 {
            let length = say(&mut client, &format!("GET {key}"));
            if length == "$-1" {
                continue;
            }
            let mut text = String::new();
            client.read_line(&mut text).unwrap();
            assert_eq!(text.trim_end(), value(key), "{policy:?} {seed}");
            found += usize::from(answered.contains(&key));
        }
        assert_eq!(found, answered.len(), "{policy:?} {seed}");
        assert_eq!(say(&mut client, "SET 0 0"), "+OK");
    }
}
