//! The server: one event loop for each replica, and the connections that it serves.
//!
//! | file | what |
//! | --- | --- |
//! | `options.rs` | what a server is asked for |
//! | `event_loop.rs` | one thread: which connections are ready, and the clock |
//! | `connection.rs` | a socket with its buffers: what was read, what is to be written, and their limits |
//! | `pipeline.rs` | the requests at hand: runs of reads and of writes, each one operation of the store |
//! | `session.rs` | what a client has chosen, and the commands on it |
//! | `transaction.rs` | `MULTI`, `EXEC` and `WATCH` |
//! | `client.rs`, `config.rs`, `documents.rs`, `info.rs` | the commands `CLIENT`, `CONFIG`, `COMMAND`, `INFO` |
//! | `shared.rs` | what all event loops share |

mod client;
mod config;
mod connection;
mod documents;
mod event_loop;
mod info;
mod options;
mod pipeline;
mod session;
mod shared;
mod surroundings;
mod transaction;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use mio::net::TcpListener;

use crate::store;
use event_loop::EventLoop;
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
    /// If the address cannot be listened on, or the options are out of range.
    pub fn bind(options: ServerOptions) -> io::Result<Self> {
        options.check()?;
        let store = store::new(options.replicas);
        let listener = TcpListener::bind(SocketAddr::new(options.bind, options.port))?;
        let address = listener.local_addr()?;
        let replicas = options.replicas;
        let shared = Arc::new(Shared::new(options, address));
        let mut listener = Some(listener);
        let make = |number| {
            let handle = store.handle(number).map_err(io::Error::other)?;
            EventLoop::new(number, listener.take(), handle, Arc::clone(&shared))
        };
        let loops = (0..replicas).map(make).collect::<io::Result<Vec<_>>>()?;
        Ok(Self {
            address,
            loops,
            shared,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What ends it.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.shared))
    }

    /// Serves until it is asked to stop, with a thread for each replica.
    ///
    /// # Errors
    ///
    /// If a thread cannot be started or the kernel no longer says which connections are ready.
    pub fn run(self) -> io::Result<()> {
        let mut threads = Vec::new();
        for event_loop in self.loops {
            let name = format!("serve-{}", event_loop.number());
            let shared = Arc::clone(&self.shared);
            let run = move || {
                let ended = event_loop.run();
                // One that ends by itself takes the others with it.
                shared.stop();
                ended
            };
            threads.push(std::thread::Builder::new().name(name).spawn(run)?);
        }
        for thread in threads {
            thread.join().expect("event loops do not panic")?;
        }
        Ok(())
    }
}
