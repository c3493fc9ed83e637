//! Servers with a folder: killed under load, and started again.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{SystemTime, UNIX_EPOCH};

use corecast_store::{AppendFsync, Server, ServerOptions};

use crate::client::Client;
use crate::servers::{Ours, options};

/// What says that this program is to be the server, and of which folder.
const FOLDER: &str = "CORECAST_STORE_FOLDER";

/// A folder that goes with this value.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    fn options(&self, append_fsync: AppendFsync) -> ServerOptions {
        ServerOptions {
            dir: Some(self.0.clone()),
            append_fsync,
            ..options()
        }
    }

    /// The names of the files in it that begin like this.
    fn files(&self, prefix: &str) -> Vec<String> {
        let names = std::fs::read_dir(&self.0).unwrap();
        let names = names.map(|it| it.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|it| it.starts_with(prefix)).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

/// The server, where this program is started again as one.
#[test]
fn server_of_another_test() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let (folder, policy) = (PathBuf::from(folder), std::env::var("CORECAST_STORE_FSYNC"));
    let server = Server::bind(ServerOptions {
        dir: Some(folder),
        append_fsync: policy.unwrap().parse().unwrap(),
        replicas: 2,
        ..options()
    });
    let server = server.unwrap();
    println!("address {}", server.address());
    server.run().unwrap();
}

struct Process {
    child: Child,
    address: SocketAddr,
}

impl Process {
    fn start(folder: &Folder, policy: AppendFsync) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "durable::server_of_another_test", "--nocapture"])
            .env(FOLDER, &folder.0)
            .env("CORECAST_STORE_FSYNC", policy.name())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut lines = lines.map(Result::unwrap);
        let told = lines.find_map(|it| it.split_once("address ").map(|it| it.1.to_owned()));
        let address = told.expect("it starts").parse().unwrap();
        Self { child, address }
    }
}

impl Drop for Process {
    /// Kills it: it has no time to do anything.
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Clients count, each a key of its own and all together one, until the server is killed.
fn killed_under_load(policy: AppendFsync, rounds: u64) {
    const CLIENTS: usize = 4;
    let folder = Folder::new(&format!("killed-{}", policy.name()));
    let mut own = [0_u64; CLIENTS];
    let all = Arc::new(AtomicU64::new(0));
    for round in 0..=rounds {
        let mut process = Process::start(&folder, policy);
        let mut client = Client::new(process.address);
        let count = |client: &mut Client, key: &str| {
            let reply = client.say(&format!("INCRBY {key} 0"));
            reply[1..].trim_end().parse::<u64>().unwrap()
        };
        for (number, answered) in own.iter_mut().enumerate() {
            let found = count(&mut client, &format!("own{number}"));
            // The last one may have been run and not answered.
            assert!(
                (*answered..=*answered + 1).contains(&found),
                "{found} of {answered}"
            );
            *answered = found;
        }
        let found = count(&mut client, "all");
        assert!(found >= all.load(Ordering::Relaxed) && found == own.iter().sum::<u64>());
        if round == rounds {
            return;
        }
        let begun = Barrier::new(CLIENTS + 1);
        std::thread::scope(|scope| {
            for (number, answered) in own.iter_mut().enumerate() {
                let (begun, address, all) = (&begun, process.address, Arc::clone(&all));
                scope.spawn(move || {
                    let mut client = Client::new(address);
                    let calls = 0_u64..;
                    for call in calls {
                        if call == 20 {
                            begun.wait();
                        }
                        let words = format!("own{number}");
                        let request = [
                            crate::client::request(&["MULTI"]),
                            crate::client::request(&["INCR", &words]),
                            crate::client::request(&["INCR", "all"]),
                            crate::client::request(&["EXEC"]),
                        ];
                        // The server may be gone at any time.
                        use std::io::Write;
                        if client.stream.write_all(&request.concat()).is_err() {
                            return;
                        }
                        let replies = [0; 4].map(|_| client.try_reply());
                        let [_, _, _, Some(last)] = replies else {
                            return;
                        };
                        let text = String::from_utf8(last).unwrap();
                        let numbers: Vec<u64> = text
                            .lines()
                            .filter_map(|it| it.strip_prefix(':'))
                            .map(|it| it.parse().unwrap())
                            .collect();
                        *answered = numbers[0];
                        all.fetch_max(numbers[1], Ordering::Relaxed);
                    }
                });
            }
            begun.wait();
            if round % 2 == 1 {
                client.say("BGSAVE");
            }
            process.child.kill().unwrap();
        });
    }
}

#[test]
fn nothing_that_was_answered_is_lost_when_it_is_killed() {
    killed_under_load(AppendFsync::Always, 3);
    killed_under_load(AppendFsync::EverySecond, 2);
    killed_under_load(AppendFsync::No, 1);
}

#[test]
fn a_store_goes_on_where_it_was() {
    let folder = Folder::new("goes-on");
    {
        let ours = Ours::with(folder.options(AppendFsync::Always));
        let mut client = Client::new(ours.address);
        assert_eq!(client.say("SET stays 1"), "+OK\r\n");
        assert_eq!(client.say("SET goes 1 PX 1"), "+OK\r\n");
        assert_eq!(client.say("SET later 1 EXAT 4000000000"), "+OK\r\n");
        assert_eq!(client.say("SELECT 3"), "+OK\r\n");
        assert_eq!(client.say("APPEND other text"), ":4\r\n");
        assert_eq!(client.say("SAVE"), "+OK\r\n");
        assert_eq!(client.say("APPEND other more"), ":8\r\n");
        assert_eq!(client.say("MULTI"), "+OK\r\n");
        assert_eq!(
            client.say("SAVE"),
            "-ERR Command not allowed inside a transaction\r\n"
        );
        assert!(client.say("EXEC").starts_with("-EXECABORT"));
    }
    for _ in 0..2 {
        let ours = Ours::with(folder.options(AppendFsync::EverySecond));
        let mut client = Client::new(ours.address);
        assert_eq!(client.say("MGET stays goes"), "*2\r\n$1\r\n1\r\n$-1\r\n");
        assert_eq!(client.say("EXPIRETIME later"), ":4000000000\r\n");
        assert_eq!(client.say("SELECT 3"), "+OK\r\n");
        assert_eq!(client.say("GET other"), "$8\r\ntextmore\r\n");
        assert_eq!(
            client.say("CONFIG GET appendonly"),
            "*2\r\n$10\r\nappendonly\r\n$3\r\nyes\r\n"
        );
        assert!(
            client
                .say("CONFIG GET appendfsync")
                .ends_with("$8\r\neverysec\r\n")
        );
        assert!(client.say("CONFIG GET dir").contains("goes-on"));
        assert!(
            client
                .say("INFO persistence")
                .contains("aof_last_write_status:ok")
        );
        assert!(
            client.say("LASTSAVE")[1..]
                .trim_end()
                .parse::<u64>()
                .unwrap()
                > 1_700_000_000
        );
    }
}

/// Snapshots take the place of the log.
#[test]
fn snapshots_shorten_the_log() {
    let folder = Folder::new("shortened");
    let value = "x".repeat(1 << 20);
    {
        let ours = Ours::with(folder.options(AppendFsync::No));
        let mut client = Client::new(ours.address);
        for number in 0..70 {
            client.call(&["SET", &format!("key{}", number % 3), &value]);
        }
        assert_eq!(client.say("SAVE"), "+OK\r\n");
        assert_eq!(folder.files("log-").len(), 1, "{:?}", folder.files(""));
        assert_eq!(folder.files("snapshot").len(), 1);
        assert_eq!(client.say("SAVE"), "+OK\r\n");
        assert_eq!(folder.files("snapshot").len(), 1);
    }
    let ours = Ours::with(folder.options(AppendFsync::No));
    let mut client = Client::new(ours.address);
    assert_eq!(client.say("DBSIZE"), ":3\r\n");
    assert_eq!(client.say("STRLEN key2"), ":1048576\r\n");
}

#[test]
fn a_folder_is_one_servers_own() {
    let folder = Folder::new("own");
    let _ours = Ours::with(folder.options(AppendFsync::No));
    let error = Server::bind(folder.options(AppendFsync::No))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("another server has it") && error.contains("own"),
        "{error}"
    );
}

/// A torn tail is cut off and told; damage before what is whole is refused, with the place and the way out.
#[test]
fn a_segment_that_cannot_be_made_is_named() {
    let folder = Folder::new("blocked");
    // As where the disk is full, nothing can be written under the name that new segments have.
    std::fs::create_dir_all(folder.0.join("log.new")).unwrap();
    let told = Server::bind(folder.options(AppendFsync::Always)).unwrap_err();
    let told = told.to_string();
    let named = told.contains("log.new: a segment of 64 MiB cannot be made: ");
    assert!(named, "{told}");
}

#[test]
fn damage_is_told() {
    let folder = Folder::new("damaged");
    {
        let ours = Ours::with(folder.options(AppendFsync::Always));
        let mut client = Client::new(ours.address);
        for number in 0..5 {
            client.say(&format!("SET key{number} value"));
        }
    }
    let path = folder.0.join(&folder.files("log-")[0]);
    let whole = std::fs::read(&path).unwrap();
    let used = whole.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    let changed = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        std::fs::write(&path, bytes).unwrap();
    };
    changed(100);
    let error = Server::bind(folder.options(AppendFsync::Always))
        .unwrap_err()
        .to_string();
    let shown = path.display().to_string();
    assert!(
        error.contains(&format!("truncate -s 32 {shown}")),
        "{error}"
    );
    // The last record is broken: it could be one that was being written.
    changed(used - 1);
    let server = Server::bind(folder.options(AppendFsync::Always)).unwrap();
    assert!(
        matches!(server.notes(), [note] if note.contains("cut off at byte")),
        "{:?}",
        server.notes()
    );
}

#[test]
fn without_a_folder_there_is_nothing_to_save() {
    let seconds = || {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        i64::try_from(since.as_secs()).unwrap()
    };
    let before = seconds();
    let ours = Ours::start();
    let after = seconds();
    let mut client = Client::new(ours.address);
    for command in ["SAVE", "BGSAVE", "BGREWRITEAOF"] {
        assert!(client.say(command).contains("--dir"));
    }
    assert_eq!(client.say("BGSAVE ODD"), "-ERR syntax error\r\n");
    // As where no snapshot was taken yet: when the server began.
    let saved = client.say("LASTSAVE");
    let saved: i64 = saved[1..].trim_end().parse().unwrap();
    assert!(
        (before..=after).contains(&saved),
        "{before} {saved} {after}"
    );
    let told = format!("rdb_last_save_time:{saved}");
    assert!(client.say("INFO persistence").contains(&told));
    assert!(client.say("CONFIG GET appendonly").contains("no"));
}
