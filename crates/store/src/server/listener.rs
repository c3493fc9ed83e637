//! The socket that clients come to.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use rustix::net::sockopt::set_socket_reuseaddr;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with};

/// Connections that may wait to be accepted, as many as in Redis. One that comes when there are more begins again after a second.
pub(super) const BACKLOG: i32 = 511;
/// A peer that says nothing is asked after so long whether it is still there.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(300);

/// Listens at an address without blocking whoever accepts. The kernel may allow fewer connections to wait (`net.core.somaxconn`).
pub(crate) fn listen_at(address: SocketAddr) -> io::Result<TcpListener> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    // A server that is started again finds connections of the one before that have not quite ended.
    set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &address)?;
    listen(&socket, BACKLOG)?;
    Ok(socket.into())
}
