//! The server: one event loop for each replica, and the connections that it serves.
//!
//! | file | what |
//! | --- | --- |
//! | `options.rs` | what a server is asked for |
//! | `listener.rs` | the socket that clients come to |
//! | `event_loop.rs` | one thread: which connections are ready, and the clock |
//! | `soon.rs` | looks that it takes before it sleeps |
//! | `connection.rs` | a socket with its buffers: what was read, what is to be written, and their limits |
//! | `pipeline.rs` | the requests at hand: runs of reads and of writes, each one operation of the store |
//! | `batch.rs` | where replicas are processes: the writes of one turn, which are one command of theirs |
//! | `session.rs`, `transaction_queue.rs` | what a client has chosen, and what waits for `EXEC` |
//! | `session_commands.rs` | the commands on it, but for these: |
//! | `hello.rs` | `HELLO` and `AUTH` |
//! | `transaction.rs` | `WATCH` and `EXEC` |
//! | `client.rs`, `config.rs`, `documents.rs`, `info.rs` | the commands `CLIENT`, `CONFIG`, `COMMAND`, `INFO` |
//! | `observing.rs` | `TIME`, `ROLE` and what else programs ask for that watch servers |
//! | `pause.rs` | `CLIENT PAUSE` |
//! | `saving.rs` | `SAVE` and its like |
//! | `shared.rs`, `surroundings.rs` | what all event loops share; what commands see of it |
//! | `clock.rs` | the time |

mod batch;
mod client;
mod client_list;
mod clock;
mod config;
mod connection;
mod documents;
mod event_loop;
mod hello;
mod info;
mod listener;
mod observing;
mod options;
mod pause;
mod pipeline;
mod saving;
mod session;
mod session_commands;
mod shared;
mod soon;
mod surroundings;
mod transaction;
mod transaction_queue;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use corecast_agree::Handle;
use mio::net::TcpListener;

use crate::durability::{Directory, Disk, Durability, Persistence, SEGMENT_BYTES};
use crate::keyspace::Keyspace;
use crate::store::{self, StoreHandle};
use event_loop::EventLoop;
pub(crate) use listener::listen_at;
pub use options::ServerOptions;
use shared::Shared;

/// A server that listens.
///
/// # Examples
///
/// ```
/// use std::io::{Read, Write};
/// use corecast_store::{Server, ServerOptions};
///
/// let options = ServerOptions { port: 0, ..ServerOptions::default() };
/// let server = Server::bind(options)?;
/// let stopper = server.stopper();
/// let mut client = std::net::TcpStream::connect(server.address())?;
/// let thread = std::thread::spawn(move || server.run());
/// client.write_all(b"SET answer 42\r\nGET answer\r\n")?;
/// let mut replies = [0; 13];
/// client.read_exact(&mut replies)?;
/// assert_eq!(&replies, b"+OK\r\n$2\r\n42\r\n");
/// stopper.stop();
/// thread.join().unwrap()?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    loops: Vec<EventLoop>,
    shared: Arc<Shared>,
    /// What snapshots are taken by.
    saves: Option<Handle<Keyspace>>,
    notes: Vec<String>,
}

/// Ends a server from another thread.
#[derive(Clone, Debug)]
pub struct Stopper(Arc<Shared>);

impl Stopper {
    /// Asks the server to end: connections are closed, and [`Server::run`] returns within a tenth of a second or so.
    pub fn stop(&self) {
        self.0.stop();
    }
}

impl Server {
    /// Listens where the options say. Clients can connect from now on, and are served once the server runs.
    ///
    /// # Errors
    ///
    /// If the address cannot be listened on, the options are out of range, another server has the folder, or what is in it
    /// cannot be read.
    pub fn bind(options: ServerOptions) -> io::Result<Self> {
        options.check()?;
        let disk = options.dir.as_deref().map(Directory::open).transpose()?;
        let disk = disk.map(|it| Arc::new(it) as Arc<dyn Disk>);
        Self::bind_on(options, disk, SEGMENT_BYTES)
    }

    /// The same with a disk in the place of the folder.
    pub(crate) fn bind_on(
        options: ServerOptions,
        disk: Option<Arc<dyn Disk>>,
        segment_bytes: u64,
    ) -> io::Result<Self> {
        let opened = disk.map(|it| Persistence::open(it, segment_bytes));
        let opened = opened.transpose()?;
        let (first, opened) = opened.unzip();
        let store = store::new(options.replicas, first.unwrap_or_default());
        let notes = opened.as_ref().map_or(Vec::new(), |it| it.notes().to_vec());
        let persistence = opened.map(|it| it.follow(&store, options.append_fsync));
        let durability = persistence.map(|it| Durability::Own(Box::new(it)));
        let is_followed = durability.is_some();
        let listener = listen_at(SocketAddr::new(options.bind, options.port))?;
        let address = listener.local_addr()?;
        let replicas = options.replicas;
        let shared = Arc::new(Shared::new(options, address, durability));
        let mut listener = Some(TcpListener::from_std(listener));
        let make = |number| {
            let handle = store.handle(number).map_err(io::Error::other)?;
            let handle = StoreHandle::new(handle, is_followed);
            EventLoop::new(number, listener.take(), handle, Arc::clone(&shared))
        };
        let loops = (0..replicas).map(make).collect::<io::Result<Vec<_>>>()?;
        let saves = is_followed.then(|| store.handle(0)).transpose();
        Ok(Self {
            address,
            loops,
            shared,
            saves: saves.map_err(io::Error::other)?,
            notes,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What reading the folder has shown that whoever runs the server should know: a record that was not written to its
    /// end, for instance.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What ends it.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.shared))
    }

    /// Serves until it is asked to stop, or the process to end ([`corecast_wire::ending`]), with a thread for each replica.
    ///
    /// # Errors
    ///
    /// If a thread cannot be started or the kernel no longer says which connections are ready.
    pub fn run(self) -> io::Result<()> {
        self.run_on(|_| ())
    }

    /// As [`run`](Self::run), but each thread calls `begin` first, with the number of its replica: to bind itself to a NUMA
    /// node for instance.
    ///
    /// # Errors
    ///
    /// As `run`.
    pub fn run_on(self, begin: impl Fn(usize) + Sync) -> io::Result<()> {
        let (shared, begin) = (&*self.shared, &begin);
        let is_stopped = || shared.is_stopped();
        let mut copy = self.saves.map(|mut it| move || Some(it.snapshot()));
        let ended = std::thread::scope(|scope| {
            if let (Some(Durability::Own(persistence)), Some(copy)) =
                (&shared.durability, &mut copy)
                && let Err(error) = persistence.spawn(scope, copy, &is_stopped)
            {
                shared.stop();
                return Err(error);
            }
            let mut threads = Vec::new();
            for event_loop in self.loops {
                let number = event_loop.number();
                let run = move || {
                    let _last = StopsOthers(shared);
                    begin(number);
                    event_loop.run()
                };
                let named = std::thread::Builder::new().name(format!("serve-{number}"));
                match named.spawn_scoped(scope, run) {
                    Ok(thread) => threads.push(thread),
                    Err(error) => {
                        shared.stop();
                        return Err(error);
                    }
                }
            }
            let ends = threads.into_iter().map(|it| it.join());
            let ends = ends.map(|it| it.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            ends.collect::<io::Result<Vec<()>>>().map(|_| ())
        });
        if let Some(Durability::Own(persistence)) = &shared.durability {
            persistence.journal.close();
        }
        ended
    }
}

/// Serves with one event loop the clients that come to a listener, as a replica that is a process. Numbers of clients come
/// after `clients_before`.
pub(crate) fn serve_replica(
    listener: std::net::TcpListener,
    address: SocketAddr,
    options: ServerOptions,
    mut store: StoreHandle,
    clients_before: u64,
) -> io::Result<()> {
    let log = store.replica().and_then(|it| it.group_log());
    let shared = Arc::new(Shared::new(options, address, log.map(Durability::Group)));
    shared.number_clients_after(clients_before);
    let listener = TcpListener::from_std(listener);
    EventLoop::new(0, Some(listener), store, shared)?.run()
}

/// An event loop that ends, and be it by a panic, takes the others with it.
struct StopsOthers<'a>(&'a Shared);

impl Drop for StopsOthers<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}
