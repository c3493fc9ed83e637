//! The address at which the processes of a team find each other.
//!
//! A *name* is an abstract Unix socket: it is per user and network namespace, and goes with the
//! process that holds it. A *path* is a socket file, for processes that share a folder but no
//! network namespace. Sockets keep message boundaries, so there are no half messages.
//!
//! **Invariant:** a socket file is bound, listened at and removed only under the lock of its folder. So a file that
//! refuses a connection under the lock was left by a dead rendezvous server, and exactly one of the processes that
//! come at the same time becomes the rendezvous server.
//!
//! A socket or lock that a forked child had too would outlive the rendezvous server, and nobody could take over. So all
//! descriptors here are [`LocalFd`]s, which children do not keep.

use corecast_wire::fork::{ForkDetector, LocalFd, forked_since};
use rustix::fs::{FileType, FlockOperation, Mode, OFlags, flock, lstat, unlink};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Backlog of the listening socket.
const BACKLOG: i32 = 256;

/// How often a listener tries to get the lock before it leaves its file to the next process at the path, and the pause
/// between two tries. Others have the lock for microseconds, unless they are stopped amid them.
const UNLINK_TRIES: u32 = 100;
const UNLINK_PAUSE: Duration = Duration::from_millis(1);

/// The address at which the processes of a team find each other.
///
/// # Examples
///
/// ```
/// use corecast_process::Address;
/// assert_eq!(Address::Name("solver".into()).to_string(), "name \"solver\"");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A name, up to 80 bytes, that this user's processes share.
    Name(String),
    /// A path, up to 107 bytes, at which a socket stands while the team assembles.
    Path(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "name {name:?}"),
            Self::Path(path) => write!(f, "path {path:?}"),
        }
    }
}

/// A listening socket. Dropping it removes its socket file, unless another process holds the folder's lock for long: then
/// the file refuses connections, and the next process that listens at the path removes it.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) socket: LocalFd,
    file: Option<(PathBuf, u64, u64)>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some((path, device, inode)) = &self.file {
            let Some(_lock) = lock_soon(path) else {
                return;
            };
            // Another process may have put another file there.
            if lstat(path).is_ok_and(|s| (s.st_dev, s.st_ino) == (*device, *inode)) {
                let _ = unlink(path);
            }
        }
    }
}

impl Address {
    fn socket_address(&self) -> rustix::io::Result<SocketAddrUnix> {
        match self {
            Self::Name(name) if name.is_empty() || name.len() > 80 => Err(Errno::NAMETOOLONG),
            Self::Name(name) => {
                let user = rustix::process::geteuid().as_raw();
                SocketAddrUnix::new_abstract_name(format!("corecast-{user}-{name}").as_bytes())
            }
            Self::Path(path) => SocketAddrUnix::new(path),
        }
    }

    /// Connects to the rendezvous server; `None` when there is none, or its backlog is full.
    pub(crate) fn connect(&self) -> rustix::io::Result<Option<LocalFd>> {
        let socket = socket()?;
        match rustix::net::connect(&socket, &self.socket_address()?) {
            Ok(()) => Ok(Some(socket)),
            Err(Errno::CONNREFUSED | Errno::NOENT | Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Listens at the address as its rendezvous server; `None` when another process does, or is about to.
    pub(crate) fn listen(&self) -> rustix::io::Result<Option<Listener>> {
        let address = self.socket_address()?;
        let socket = socket()?;
        let Self::Path(path) = self else {
            return match rustix::net::bind(&socket, &address) {
                Err(Errno::ADDRINUSE) => Ok(None),
                Err(error) => Err(error),
                Ok(()) => {
                    rustix::net::listen(&socket, BACKLOG)?;
                    Ok(Some(Listener { socket, file: None }))
                }
            };
        };
        let Some(_lock) = lock(path)? else {
            return Ok(None);
        };
        if let Ok(there) = lstat(path) {
            if FileType::from_raw_mode(there.st_mode) != FileType::Socket {
                return Err(Errno::EXIST);
            }
            match rustix::net::connect(&self::socket()?, &address) {
                Err(Errno::CONNREFUSED) => unlink(path)?,
                Err(Errno::NOENT) => {}
                _ => return Ok(None),
            }
        }
        // The file gets the mode of the socket from the start, so no other user can connect meanwhile.
        rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
        match rustix::net::bind(&socket, &address) {
            Err(Errno::ADDRINUSE) => return Ok(None),
            done => done?,
        }
        let file = lstat(path).ok().map(|s| (path.clone(), s.st_dev, s.st_ino));
        let listener = Listener { socket, file };
        rustix::net::listen(&listener.socket, BACKLOG).inspect_err(|_| {
            let _ = unlink(path);
        })?;
        Ok(Some(listener))
    }
}

fn socket() -> rustix::io::Result<LocalFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    LocalFd::open(|| {
        rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
    })
}

/// The lock of a folder, until it is dropped.
#[derive(Debug)]
struct FolderLock {
    folder: LocalFd,
    fork_detector: ForkDetector,
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Closing the folder would release the lock too, but not while a child that is about to call `exec` has a copy of
        // the descriptor. A forked child has none, and the lock is its parent's.
        if !forked_since(&self.fork_detector) {
            let _ = flock(&self.folder, FlockOperation::Unlock);
        }
    }
}

/// Locks the folder in which `path` lies, without a lock file; `None` if another process has the lock.
fn lock(path: &Path) -> rustix::io::Result<Option<FolderLock>> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    // A folder of a network may take long to open, and in `LocalFd::open` no other thread could fork meanwhile. A child
    // that is forked before the descriptor is listed has a copy of it. It has the lock for longer only if this process is
    // killed while it has it.
    let folder = rustix::fs::open(folder, flags, Mode::empty())?;
    let folder = LocalFd::open(|| Ok::<_, Errno>(folder))?;
    match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(FolderLock {
            folder,
            fork_detector: ForkDetector::now(),
        })),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Locks the folder in which `path` lies as soon as the lock is free; `None` if it stays taken, or the folder is gone.
fn lock_soon(path: &Path) -> Option<FolderLock> {
    for _ in 0..UNLINK_TRIES {
        match lock(path) {
            Ok(None) => std::thread::sleep(UNLINK_PAUSE),
            Ok(locked) => return locked,
            Err(_) => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_listener_removes_its_file_under_the_lock_alone() {
        let folder = std::env::temp_dir().join(format!("corecast-lock-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let path = folder.join("team");
        let address = Address::Path(path.clone());
        drop(address.listen().unwrap().expect("nobody else listens"));
        assert!(!path.exists(), "the lock was free");

        let listener = address.listen().unwrap().expect("nobody else listens");
        let held = lock(&path).unwrap().expect("nobody else has the lock");
        drop(listener);
        assert!(path.exists(), "another one had the lock");
        assert!(address.connect().unwrap().is_none());
        assert!(address.listen().unwrap().is_none());
        // A child that another test starts may have one until it calls `exec`.
        let copy = held.folder.as_fd().try_clone_to_owned().unwrap();
        drop(held);
        drop(address.listen().unwrap().expect("the file was left"));
        assert!(!path.exists());
        drop(copy);
        std::fs::remove_dir(&folder).unwrap();
    }

    #[test]
    fn addresses_are_shown_as_they_were_given() {
        let name = Address::Name("of this user".into());
        assert_eq!(name.to_string(), r#"name "of this user""#);
        let path = Address::Path("/run/a team".into());
        assert_eq!(path.to_string(), r#"path "/run/a team""#);
    }
}
