//! Signals: the first one ends a command with what it has, the second one at once, and nothing that `bench` has
//! started outlives it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Longest time of one command after a signal, on a machine that is busy with other things. All of them would run for
/// longer without one.
const WATCHDOG: Duration = Duration::from_secs(200);

/// Time without a new rank after which all are taken to have started.
const QUIET: Duration = Duration::from_secs(5);

/// A running command, with an empty cache of its own.
struct Running {
    child: Child,
    _cache: tempfile::TempDir,
}

impl Running {
    fn start(line: &str) -> Self {
        let cache = tempfile::tempdir().unwrap();
        // A machine has spaces in its name, written as underscores here.
        let words = line.split(' ').filter(|word| !word.is_empty());
        let words = words.map(|word| word.replace("_core", " core"));
        let child = Command::new(env!("CARGO_BIN_EXE_corecast"))
            .args(words)
            .env("XDG_CACHE_HOME", cache.path())
            .env("TMPDIR", cache.path())
            .current_dir(cache.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            child,
            _cache: cache,
        }
    }

    /// Waits until the command handles `signal` itself.
    fn listens(&mut self, signal: Signal) {
        let path = format!("/proc/{}/status", self.child.id());
        let caught = || {
            let status = fs::read_to_string(&path).unwrap_or_default();
            let mut lines = status.lines();
            let mask = lines.find_map(|line| line.strip_prefix("SigCgt:"));
            let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
            mask.is_some_and(|mask| mask >> (signal.as_raw() - 1) & 1 == 1)
        };
        within(WATCHDOG, "the command listens to signals", caught);
    }

    fn send(&self, signal: Signal) {
        // Fails only if the command has ended.
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }

    /// Waits for the end, and returns what was printed.
    fn end(mut self) -> Output {
        let stdout = collect(self.child.stdout.take().unwrap());
        let stderr = collect(self.child.stderr.take().unwrap());
        let begin = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            if begin.elapsed() > WATCHDOG {
                self.child.kill().unwrap();
                panic!("the command goes on after a signal");
            }
            thread::sleep(Duration::from_millis(5));
        }
        let status = self.child.wait().unwrap();
        Output {
            status,
            stdout: stdout.join().unwrap(),
            stderr: stderr.join().unwrap(),
        }
    }
}

/// Reads a stream to its end on a thread of its own.
fn collect(mut stream: impl std::io::Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

fn within(limit: Duration, what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < limit, "not in {limit:?}: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// The processes that descend from `ancestor`.
fn descendants(ancestor: u32) -> BTreeSet<u32> {
    let mut parents = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let pid = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| {
            let parent = rest.split_ascii_whitespace().nth(1)?;
            parent.parse::<u32>().ok()
        });
        if let (Some(pid), Some(parent)) = (pid, parent) {
            parents.push((pid, parent));
        }
    }
    let mut found = BTreeSet::from([ancestor]);
    loop {
        let more = parents.iter().filter(|(_, parent)| found.contains(parent));
        let more: BTreeSet<u32> = more.map(|(pid, _)| *pid).collect();
        let before = found.len();
        found.extend(more);
        if found.len() == before {
            found.remove(&ancestor);
            return found;
        }
    }
}

/// Files of shared memory that a process has mapped.
fn shared_files(pid: u32) -> BTreeSet<PathBuf> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let paths = maps
        .lines()
        .filter_map(|line| line.find("/dev/shm/").map(|at| &line[at..]));
    let there = paths.filter(|path| !path.ends_with("(deleted)"));
    there.map(PathBuf::from).collect()
}

/// When a process began, in ticks since the machine did; `None` if there is no such process, or it has ended.
fn began(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let words: Vec<&str> = rest.split_ascii_whitespace().collect();
    (words.first() != Some(&"Z")).then(|| words.get(19).map(ToString::to_string))?
}

/// The first signal ends what measures and races, with a result that says so, or the exit code of the signal.
#[test]
fn the_first_signal_ends_a_command_with_what_it_has() {
    at_once(
        6,
        &[
            ("", Signal::INT, 300),
            ("", Signal::TERM, 4000),
            ("probe", Signal::INT, 300),
            ("probe --deep", Signal::INT, 1500),
            (
                "bench --no-peers --ranks 2 --seconds 3600 --precision 0.01",
                Signal::TERM,
                3000,
            ),
            (
                "bench --ranks 2 --seconds 3600 --precision 0.01 --op fork_join",
                Signal::INT,
                1000,
            ),
            (
                "bench --no-peers --ranks 2 --seconds 3600 --precision 0.01 --overheads",
                Signal::INT,
                4000,
            ),
            (
                "bench --no-peers --ranks 2 --seconds 3600 --precision 0.01 --app streamcluster",
                Signal::INT,
                4000,
            ),
            (
                "bench --no-peers --ranks 2 --app streamcluster --points 200000 --chunk 200000",
                Signal::TERM,
                1000,
            ),
            ("tune --budget 3600 --no-save", Signal::TERM, 2000),
            ("report --no-peers --output page", Signal::INT, 2000),
            (
                "plan -i package:2_core:8 --pattern best --budget 60min",
                Signal::INT,
                300,
            ),
            (
                "plan -i package:2_core:512 --compare --budget 60min",
                Signal::INT,
                300,
            ),
        ],
        |&(line, signal, pause_ms)| {
            let mut running = Running::start(line);
            running.listens(signal);
            thread::sleep(Duration::from_millis(pause_ms));
            running.send(signal);
            ends_with_what_it_has(line, &running.end());
        },
    );
}

fn ends_with_what_it_has(line: &str, output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    let shown = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(0) if line == "probe" || line.starts_with("report") => {}
        Some(0) if line.contains("--compare") => {
            assert!(
                shown.contains("best") && shown.contains("binomial"),
                "{shown}"
            );
        }
        Some(0) => assert!(
            ["interrupted", "parts are left", "ended with the proof"]
                .iter()
                .any(|part| shown.contains(part)),
            "corecast {line}: {shown}{said}"
        ),
        Some(130 | 143) => assert!(said.contains("interrupted"), "corecast {line}: {said}"),
        _ => panic!("corecast {line}: {:?}: {said}", output.status),
    }
}

/// Tries this many commands at the same time: they wait more than they compute, for signals and for peers.
fn at_once<T: Sync>(width: usize, all: &[T], body: impl Fn(&T) + Sync) {
    for some in all.chunks(width) {
        thread::scope(|scope| {
            for one in some {
                scope.spawn(|| body(one));
            }
        });
    }
}

#[test]
fn the_second_signal_ends_a_command_at_once() {
    let mut running =
        Running::start("bench --ranks 2 --seconds 3600 --precision 0.01 --op broadcast");
    running.listens(Signal::INT);
    thread::sleep(Duration::from_millis(1500));
    let pid = Pid::from_child(&running.child);
    let folders = folders_of(running.child.id());
    for _ in 0..2 {
        let _ = kill_process(pid, Signal::INT);
        thread::sleep(Duration::from_millis(20));
    }
    let output = running.end();
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 130)), "{:?}", output.status);
    for folder in folders {
        within(WATCHDOG, "temporary folders are removed", || {
            !folder.exists()
        });
    }
}

/// Temporary folders of Corecast that a process, or one that it has started, works with.
fn folders_of(pid: u32) -> Vec<PathBuf> {
    let mut found = BTreeSet::new();
    for pid in descendants(pid) {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        for word in line.split(|byte| *byte == 0) {
            let path = Path::new(std::str::from_utf8(word).unwrap_or_default());
            let name = path.file_name().and_then(|name| name.to_str());
            if name.is_some_and(|name| name.starts_with("corecast-session-")) {
                found.insert(path.to_owned());
            }
        }
    }
    found.into_iter().collect()
}

/// A simulation has nothing to show before its end, and ends by the signal itself.
#[test]
fn a_command_without_results_so_far_ends_by_the_signal() {
    use std::os::unix::process::ExitStatusExt;
    let line = "sim -i parts:mesh:32x32 --pattern binomial --warm-up 1000 --size 4K";
    let running = Running::start(line);
    running.send(Signal::TERM);
    let status = running.end().status;
    assert_eq!(status.signal(), Some(Signal::TERM.as_raw()), "{status:?}");
}

/// However `bench` ends, its peers and its own processes end too, and take along what they have in /dev/shm.
#[test]
fn nothing_outlives_a_killed_bench() {
    at_once(
        2,
        &[
            (
                "bench --ranks 2 --seconds 3600 --precision 0.01 --op broadcast",
                Signal::KILL,
            ),
            (
                "bench --ranks 2 --seconds 3600 --precision 0.01 --op broadcast",
                Signal::TERM,
            ),
            (
                "bench --ranks 2 --seconds 3600 --precision 0.01",
                Signal::KILL,
            ),
            (
                "bench --ranks 2 --seconds 3600 --precision 0.01 --op fork_join",
                Signal::KILL,
            ),
        ],
        |&(line, signal)| {
            let running = Running::start(line);
            let bench = running.child.id();
            let (mut seen, mut files) = (BTreeSet::new(), BTreeSet::new());
            let begin = Instant::now();
            // Peers are built first, and come one after the other; a library that is yet to start has no guard.
            let (mut ranks, mut since) = (0, begin);
            while since.elapsed() < QUIET || seen.is_empty() {
                let now = descendants(bench);
                let is_rank = |pid: &&u32| {
                    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
                    ["open-mpi", "mpich"].contains(&name.trim())
                };
                let count = now.iter().filter(is_rank).count();
                if count != ranks {
                    (ranks, since) = (count, Instant::now());
                }
                seen = now.iter().map(|&pid| (pid, began(pid))).collect();
                assert!(begin.elapsed() < WATCHDOG, "{line} starts no peer");
                // To look takes time, too.
                thread::sleep(Duration::from_millis(50));
            }
            for (pid, _) in &seen {
                files.extend(shared_files(*pid));
            }
            running.send(signal);
            drop(running.end());
            for (pid, start) in seen {
                let gone = || start.is_none() || began(pid) != start;
                let what = format!("{line}, {signal:?}: process {pid} ends");
                within(WATCHDOG, &what, gone);
            }
            for file in files {
                let what = format!("{line}, {signal:?}: {} is removed", file.display());
                within(Duration::from_secs(20), &what, || !file.exists());
            }
        },
    );
}

/// The processes of a team, and a program whose waits are explained, end with the command that has started them.
#[test]
fn no_program_outlives_a_killed_run() {
    for (line, wanted) in [
        ("run -n 3 -- sleep 1000", 3),
        ("run --explain -- sleep 1000", 1),
    ] {
        let running = Running::start(line);
        let run = running.child.id();
        let are_started = || {
            let now = descendants(run);
            let name =
                |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            now.len() == wanted && now.iter().all(|pid| name(pid).trim() == "sleep")
        };
        within(WATCHDOG, "the programs start", are_started);
        let seen: Vec<(u32, Option<String>)> = descendants(run)
            .into_iter()
            .map(|pid| (pid, began(pid)))
            .collect();
        running.send(Signal::KILL);
        drop(running.end());
        for (pid, start) in seen {
            within(WATCHDOG, "a program ends", || began(pid) != start);
        }
    }
}
