//! Races the store against Redis by Redis's own benchmark, in turn: throughput, 99th percentile, and the servers' CPU time.
//!
//! `cargo run --release -p corecast-store --example against_redis -- [--rounds N] [--replicas N] [--clients N]`; it needs
//! `redis-server` and `redis-benchmark`. Each number is the median of the ratios of neighbouring runs.
//!
//! With `--appendfsync always`, `everysec` or `no` both keep what is written in a folder, which `--dir` names, and one and
//! 64 clients write.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use corecast_store::{AppendFsync, Server, ServerOptions};
use corecast_wire::ending::not_outliving;
use rustix::process::Signal;

/// Commands before the next request is sent, and the requests of a run.
const PIPELINES: [(u32, u32); 3] = [(1, 60_000), (16, 500_000), (64, 1_000_000)];
const TESTS: [&str; 2] = ["set", "get"];
const KEYS: u32 = 65_536;
const VALUE_BYTES: u32 = 16;

/// What one run of the benchmark has shown.
#[derive(Clone, Copy)]
struct Figures {
    per_second: f64,
    p99_ms: f64,
    /// The server's CPU time for a command.
    cpu_us: f64,
}

/// Where a server keeps what is written, and when that is made durable.
#[derive(Clone)]
struct Folder {
    path: PathBuf,
    append_fsync: String,
}

/// A server, which ends with this value.
struct Running {
    process: Child,
    port: u16,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Running {
    /// This program as a server.
    fn ours(replicas: usize, folder: Option<&Folder>) -> Self {
        let own = std::env::current_exe().expect("this program has a path");
        let mut command = Command::new(own);
        let mut process = not_outliving(&mut command, Signal::KILL)
            .args(["--serve", &replicas.to_string()])
            .args(folder.iter().flat_map(|it| {
                let path = it.path.join("ours").display().to_string();
                [
                    "--dir".to_owned(),
                    path,
                    "--appendfsync".to_owned(),
                    it.append_fsync.clone(),
                ]
            }))
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program starts again");
        let out = process.stdout.take().expect("its output is a pipe");
        let line = BufReader::new(out).lines().next();
        let line = line.expect("it prints its port").expect("a line of text");
        Self {
            process,
            port: line.parse().expect("it prints its port"),
        }
    }

    fn redis(folder: Option<&Folder>) -> Self {
        let free = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
        let port = free.local_addr().expect("it has an address").port();
        drop(free);
        let mut command = Command::new("redis-server");
        let process = not_outliving(&mut command, Signal::KILL)
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
            .args(["--save", "", "--appendonly"])
            .args(folder.map_or(vec!["no"], |it| {
                let path = it.path.to_str().expect("a path that is text");
                vec!["yes", "--appendfsync", &it.append_fsync, "--dir", path]
            }))
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server starts");
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(Duration::from_millis(10));
        }
        Self { process, port }
    }

    /// The CPU time that it has used, in microseconds.
    fn cpu_us(&self) -> f64 {
        let path = format!("/proc/{}/stat", self.process.id());
        let text = std::fs::read_to_string(path).expect("the server runs");
        let (_, numbers) = text.rsplit_once(')').expect("its name is in brackets");
        let ticks = numbers.split(' ').skip(12).take(2);
        let ticks: f64 = ticks.map(|it| it.parse::<f64>().expect("ticks")).sum();
        ticks * 1e6 / rustix::param::clock_ticks_per_second() as f64
    }

    fn bench(&self, test: &str, (pipeline, requests): (u32, u32), clients: u32) -> Figures {
        let before = self.cpu_us();
        let number = |value: u32| value.to_string();
        let output = Command::new("redis-benchmark")
            .args(["-p", &self.port.to_string(), "-t", test, "--csv"])
            .args(["-P", &number(pipeline), "-n", &number(requests)])
            .args(["-c", &number(clients), "-r", &number(KEYS)])
            .args(["-d", &number(VALUE_BYTES)])
            .output()
            .expect("redis-benchmark runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let row = text.lines().nth(1).expect("a row of figures");
        let field = |at: usize| {
            let word = row.split(',').nth(at).expect("eight figures");
            word.trim_matches('"').parse::<f64>().expect("a figure")
        };
        Figures {
            per_second: field(1),
            p99_ms: field(6),
            cpu_us: (self.cpu_us() - before) / f64::from(requests),
        }
    }
}

fn serve(replicas: usize, folder: Option<Folder>) -> std::io::Result<()> {
    let append_fsync = folder
        .as_ref()
        .map_or(Ok(AppendFsync::default()), |it| it.append_fsync.parse());
    let options = ServerOptions {
        port: 0,
        replicas,
        append_fsync: append_fsync.map_err(std::io::Error::other)?,
        dir: folder.map(|it| it.path),
        ..ServerOptions::default()
    };
    let server = Server::bind(options)?;
    println!("{}", server.address().port());
    server.run()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Runs of both servers in turn.
fn pairs(
    ours: &Running,
    redis: &Running,
    rounds: usize,
    run: impl Fn(&Running) -> Figures,
) -> Vec<(Figures, Figures)> {
    // Who comes first changes.
    let pair = |round| match round % 2 {
        0 => (run(ours), run(redis)),
        _ => {
            let theirs = run(redis);
            (run(ours), theirs)
        }
    };
    (0..rounds).map(pair).collect()
}

/// Writes that are kept, by one client and by many.
fn durable(folder: &Folder, rounds: usize, replicas: usize) -> std::io::Result<()> {
    /// Clients, and the requests of a run.
    const RUNS: [(u32, u32); 2] = [(1, 2_000), (64, 60_000)];
    let path = folder
        .path
        .join(format!("corecast-against-redis-{}", std::process::id()));
    std::fs::create_dir_all(&path)?;
    let folder = Folder {
        path: path.clone(),
        ..folder.clone()
    };
    let (ours, redis) = (
        Running::ours(replicas, Some(&folder)),
        Running::redis(Some(&folder)),
    );
    println!("| clients | throughput | p99 | CPU | ours, per second | Redis |");
    println!("| ---: | ---: | ---: | ---: | ---: | ---: |");
    let mut most = Vec::new();
    for (clients, requests) in RUNS {
        let run = |server: &Running| server.bench("set", (1, requests), clients);
        let pairs = pairs(&ours, &redis, rounds, run);
        let ratio = |of: fn(&Figures) -> f64| median(pairs.iter().map(|(a, b)| of(a) / of(b)));
        let (own, theirs) = (
            median(pairs.iter().map(|(ours, _)| ours.per_second)),
            median(pairs.iter().map(|(_, redis)| redis.per_second)),
        );
        println!(
            "| {clients} | {:.2} | {:.2} | {:.2} | {own:.0} | {theirs:.0} |",
            ratio(|it| it.per_second),
            ratio(|it| it.p99_ms),
            ratio(|it| it.cpu_us),
        );
        most.push((own, theirs));
    }
    let times = |of: fn(&(f64, f64)) -> f64| of(&most[1]) / of(&most[0]);
    println!(
        "64 clients write {:.1} times as much as one, in Redis {:.1} times",
        times(|it| it.0),
        times(|it| it.1)
    );
    drop((ours, redis));
    std::fs::remove_dir_all(path)
}

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().collect();
    let option = |name: &str, otherwise: usize| {
        let at = words.iter().position(|it| it == name);
        let word = at.and_then(|at| words.get(at + 1));
        word.map_or(otherwise, |it| it.parse().expect("a number"))
    };
    let text = |name: &str| {
        let at = words.iter().position(|it| it == name)?;
        words.get(at + 1).cloned()
    };
    let folder = text("--appendfsync").map(|append_fsync| Folder {
        path: text("--dir").map_or_else(std::env::temp_dir, PathBuf::from),
        append_fsync,
    });
    if let replicas @ 1.. = option("--serve", 0) {
        return serve(replicas, folder);
    }
    let (rounds, replicas) = (option("--rounds", 9), option("--replicas", 1));
    if let Some(folder) = folder {
        return durable(&folder, rounds, replicas);
    }
    let clients = option("--clients", 50) as u32;
    let (ours, redis) = (Running::ours(replicas, None), Running::redis(None));
    println!("| pipeline | command | throughput | p99 | CPU | ours, per second | Redis |");
    println!("| ---: | --- | ---: | ---: | ---: | ---: | ---: |");
    for pipeline in PIPELINES {
        for test in TESTS {
            let pairs = pairs(&ours, &redis, rounds, |it| {
                it.bench(test, pipeline, clients)
            });
            let ratio = |of: fn(&Figures) -> f64| median(pairs.iter().map(|(a, b)| of(a) / of(b)));
            println!(
                "| {} | {test} | {:.2} | {:.2} | {:.2} | {:.0} k | {:.0} k |",
                pipeline.0,
                ratio(|it| it.per_second),
                ratio(|it| it.p99_ms),
                ratio(|it| it.cpu_us),
                median(pairs.iter().map(|(ours, _)| ours.per_second / 1e3)),
                median(pairs.iter().map(|(_, redis)| redis.per_second / 1e3)),
            );
        }
    }
    Ok(())
}
