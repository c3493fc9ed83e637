//! What a server is asked for.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use crate::durability::AppendFsync;

/// Most replicas: one for each NUMA node of the largest machines.
const REPLICAS_MAX: usize = 64;

/// What a server is asked for.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The address that it listens on; that of this machine itself unless told otherwise.
    pub bind: IpAddr,
    /// The port; 0 has the kernel choose one.
    pub port: u16,
    /// Replicas of the store, each with a thread that serves connections.
    pub replicas: usize,
    /// What clients have to give before anything else.
    pub password: Option<String>,
    /// Without a password, whether clients on other machines are turned away.
    pub protected: bool,
    /// Most clients at a time.
    pub clients_max: usize,
    /// Clients that ask for nothing for so long are cut off.
    pub idle_max: Option<Duration>,
    /// Bytes of requests and replies that are held for all clients of a replica together. Above, the client for which most is
    /// held is cut off, unless it is the only one.
    pub buffers_bytes_max: usize,
    /// The folder that what is written is kept in; without one it is in memory only.
    pub dir: Option<PathBuf>,
    /// When what was written there is made durable.
    pub append_fsync: AppendFsync,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            bind: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 6379,
            replicas: 1,
            password: None,
            protected: true,
            clients_max: 10_000,
            idle_max: None,
            buffers_bytes_max: 4 << 30,
            dir: None,
            append_fsync: AppendFsync::default(),
        }
    }
}

impl ServerOptions {
    pub(crate) fn check(&self) -> io::Result<()> {
        let wrong = match () {
            () if !(1..=REPLICAS_MAX).contains(&self.replicas) => {
                format!(
                    "{} replicas: 1 to {REPLICAS_MAX} are possible",
                    self.replicas
                )
            }
            () if self.clients_max == 0 => "0 clients: at least one has to be served".to_owned(),
            () if self.password.as_ref().is_some_and(String::is_empty) => {
                "the password is empty: leave it out, or give one".to_owned()
            }
            () => return Ok(()),
        };
        Err(io::Error::new(io::ErrorKind::InvalidInput, wrong))
    }
}
