//! Servers for tests: ours in a thread, Redis as a process.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use corecast_store::{Server, ServerOptions, Stopper};

/// Our server, which ends with this value.
pub(crate) struct Ours {
    pub(crate) address: SocketAddr,
    stopper: Stopper,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

/// Options for tests, with a port that is free.
pub(crate) fn options() -> ServerOptions {
    ServerOptions {
        port: 0,
        ..ServerOptions::default()
    }
}

impl Ours {
    pub(crate) fn start() -> Self {
        Self::with(options())
    }

    pub(crate) fn with(options: ServerOptions) -> Self {
        let server = Server::bind(options).unwrap();
        Self {
            address: server.address(),
            stopper: server.stopper(),
            thread: Some(std::thread::spawn(move || server.run())),
        }
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        self.stopper.stop();
        let ended = self.thread.take().unwrap().join();
        if !std::thread::panicking() {
            ended.unwrap().unwrap();
        }
    }
}

/// Whether a program is there. If it is not, that is said; where all peers are required, it fails the test.
pub(crate) fn is_there(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    let required = std::env::var_os("CORECAST_REQUIRE_PEERS").is_some();
    assert!(found || !required, "there is no {program}");
    if !found {
        eprintln!("SKIPPED: there is no {program}");
    }
    found
}

/// Redis, which ends with this value.
pub(crate) struct Redis {
    pub(crate) address: SocketAddr,
    process: Child,
}

impl Redis {
    pub(crate) fn start() -> Option<Self> {
        if !is_there("redis-server") {
            return None;
        }
        // Another process may take the port that was free; then this one tries the next.
        for _ in 0..20 {
            let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let address = free.local_addr().unwrap();
            drop(free);
            let port = address.port().to_string();
            let mut process = Command::new("redis-server")
                .args(["--port", &port, "--bind", "127.0.0.1", "--save", ""])
                .args(["--appendonly", "no", "--daemonize", "no"])
                .current_dir(env!("CARGO_TARGET_TMPDIR"))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let begun = Instant::now();
            while process.try_wait().unwrap().is_none() {
                if TcpStream::connect(address).is_ok() {
                    return Some(Self { address, process });
                }
                assert!(
                    begun.elapsed() < Duration::from_secs(60),
                    "redis-server does not answer"
                );
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        panic!("redis-server does not start");
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
