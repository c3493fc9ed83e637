//! A server whose replicas are processes, which are this program again, and clients whose connections end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use corecast_wire::ending::not_outliving;
use rustix::process::{Pid, Signal, kill_process};

use crate::durability::AppendFsync;

/// What this program is started as again: a server, or a replica.
pub(super) const ROLE: &str = "STORE_TEST_ROLE";
pub(super) const FOLDER: &str = "STORE_TEST_FOLDER";
pub(super) const POLICY: &str = "STORE_TEST_FSYNC";
/// A test that hangs fails after this, long after any machine would be done.
pub(super) const HANGS: Duration = Duration::from_secs(120);
pub(super) const REPLICAS: usize = 3;

pub(super) fn again(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "processes::tests::a_process_of_these_tests"])
        .args(["--nocapture", "--test-threads=1"])
        .env(ROLE, role);
    command
}

/// Prints a line at once: several processes print to one pipe, and what runs tests there begins lines of its own.
pub(super) fn tell(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("\n{line}\n").as_bytes()).unwrap();
}

/// A folder that goes with this value, unless the test fails.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        let own = format!("corecast-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(own);
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    /// The names of the files in it that begin like this.
    pub(super) fn files(&self, prefix: &str) -> Vec<String> {
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

/// What a server has told.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) address: Option<SocketAddr>,
    /// The last process of each replica, and whether it serves.
    replicas: [(i32, bool); REPLICAS],
    pub(super) notes: Vec<String>,
    pub(super) refused: Option<String>,
    ended: bool,
    failed: Option<String>,
}

impl Told {
    fn note(&mut self, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let numbers = rest.split_once(' ');
        let replica = numbers.and_then(|(a, b)| Some((a.parse::<usize>().ok()?, b.parse().ok()?)));
        match (word, replica) {
            ("address", _) => self.address = rest.parse().ok(),
            ("started", Some((number, pid))) => {
                let serves = self.replicas[number] == (pid, true);
                self.replicas[number] = (pid, serves);
            }
            ("serving", Some((number, pid))) => self.replicas[number] = (pid, true),
            ("note", _) => self.notes.push(rest.to_owned()),
            ("refused", _) => self.refused = Some(rest.to_owned()),
            ("ended", _) => self.ended = true,
            ("failed", _) => self.failed = Some(rest.to_owned()),
            _ => {}
        }
    }
}

pub(super) struct Processes {
    pub(super) server: Child,
    pub(super) told: Arc<(Mutex<Told>, Condvar)>,
}

impl Processes {
    /// A server; some environment may tell its processes what to do wrong.
    pub(super) fn start(
        folder: &Folder,
        policy: AppendFsync,
        environment: &[(&str, &str)],
    ) -> Self {
        let mut command = again("server");
        command
            .env(FOLDER, &folder.0)
            .env(POLICY, policy.name())
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut server = not_outliving(&mut command, Signal::KILL).spawn().unwrap();
        let out = BufReader::new(server.stdout.take().unwrap());
        let told = Arc::<(Mutex<Told>, Condvar)>::default();
        let noted = Arc::clone(&told);
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                noted.0.lock().unwrap().note(&line);
                noted.1.notify_all();
            }
        });
        let it = Self { server, told };
        it.wait_for(|told| told.refused.is_some() || told.address.is_some());
        if it.told.0.lock().unwrap().refused.is_none() {
            it.wait_for_all();
        }
        it
    }

    pub(super) fn wait_for(&self, holds: impl Fn(&Told) -> bool) {
        let begun = Instant::now();
        let mut told = self.told.0.lock().unwrap();
        while !holds(&told) {
            let goes_on = told.failed.is_none() && begun.elapsed() < HANGS;
            assert!(goes_on, "{told:?}");
            told = self
                .told
                .1
                .wait_timeout(told, Duration::from_millis(5))
                .unwrap()
                .0;
        }
    }

    /// Waits until all replicas serve.
    pub(super) fn wait_for_all(&self) {
        self.wait_for(|told| {
            told.replicas
                .iter()
                .all(|(pid, serves)| *serves && is_there(*pid))
        });
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.told.0.lock().unwrap().address.unwrap()
    }

    fn pid(&self, replica: usize) -> Pid {
        Pid::from_raw(self.told.0.lock().unwrap().replicas[replica].0).unwrap()
    }

    pub(super) fn signal(&self, replica: usize, signal: Signal) {
        // It may have ended before.
        let _ = kill_process(self.pid(replica), signal);
    }

    /// The replica that writes the log, and the one that leads.
    pub(super) fn roles(&self) -> (usize, usize) {
        loop {
            let mut client = Caller::new(self.address());
            // Replies go out again once a replica writes.
            let text = client.call_whole("INFO replication").unwrap_or_default();
            let number = |name: &str| {
                let line = text.lines().find_map(|line| line.strip_prefix(name));
                line.and_then(|it| it.parse::<usize>().ok())
            };
            if let Some(roles) = number("log_writer:").zip(number("leader:")) {
                return roles;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends it as at the end of a service.
    pub(super) fn end(mut self) {
        drop(self.server.stdin.take());
        self.wait_for(|told| told.ended);
    }
}

impl Drop for Processes {
    /// Kills it: it has no time to do anything.
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Whether a process runs. One that has ended and was not waited for does not.
pub(super) fn is_there(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|it| !it.contains(") Z "))
}

/// A client whose connection may end at any time.
pub(super) struct Caller {
    address: SocketAddr,
    stream: Option<BufReader<TcpStream>>,
}

impl Caller {
    pub(super) fn new(address: SocketAddr) -> Self {
        let stream = None;
        Self { address, stream }
    }

    /// The first line of the reply; `None` if the connection ends.
    pub(super) fn call(&mut self, words: &str) -> Option<String> {
        let line = self.sent(words).and_then(|stream| {
            let mut line = String::new();
            let length = stream.read_line(&mut line).ok()?;
            (length > 0 && line.ends_with('\n')).then(|| line.trim_end().to_owned())
        });
        if line.is_none() {
            self.stream = None;
        }
        line
    }

    /// The reply that is one long text.
    pub(super) fn call_whole(&mut self, words: &str) -> Option<String> {
        let length = self.call(words)?.strip_prefix('$')?.parse().ok()?;
        let mut bytes = vec![0; length + 2_usize];
        self.stream.as_mut()?.read_exact(&mut bytes).ok()?;
        bytes.truncate(length);
        String::from_utf8(bytes).ok()
    }

    fn sent(&mut self, words: &str) -> Option<&mut BufReader<TcpStream>> {
        if self.stream.is_none() {
            let stream = TcpStream::connect(self.address).ok()?;
            stream.set_read_timeout(Some(HANGS)).unwrap();
            self.stream = Some(BufReader::new(stream));
        }
        let stream = self.stream.as_mut()?;
        let sent = stream
            .get_mut()
            .write_all(format!("{words}\r\n").as_bytes());
        sent.ok().map(|()| stream)
    }

    /// Asks until it is answered.
    pub(super) fn ask(&mut self, words: &str) -> String {
        let begun = Instant::now();
        loop {
            if let Some(line) = self.call(words) {
                return line;
            }
            assert!(begun.elapsed() < HANGS, "{words} is not answered");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}
