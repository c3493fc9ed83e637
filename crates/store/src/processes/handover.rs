//! What a replica is given by its parent, over a socket that is its standard input: options, and descriptors.

use std::ffi::OsStr;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::bytes::{ByteReader, ByteWriter};
use crate::durability::AppendFsync;
use crate::server::ServerOptions;

/// Most descriptors of a message: the memory, the listening socket, the own bell, the lock of the folder, what it begins with, and the
/// bells of all.
const DESCRIPTORS_MAX: usize = 5 + super::limits::REPLICAS_MAX;

/// Longest message in bytes.
const BYTES_MAX: usize = 64 << 10;

/// What a replica is given.
#[derive(Debug)]
pub(super) struct Handover {
    pub(super) member: usize,
    pub(super) hash_numbers: (u64, u64),
    pub(super) options: ServerOptions,
    /// The index in the log of the order's first entry.
    pub(super) base: u64,
    pub(super) memory: OwnedFd,
    pub(super) listener: OwnedFd,
    /// The lock of the folder, if there is one.
    pub(super) lock: Option<OwnedFd>,
    /// What it begins with; a replica that is started again takes the state of another one.
    pub(super) first: Option<OwnedFd>,
    /// The end of its bell that it listens to, and the other ends of all.
    pub(super) bell: OwnedFd,
    pub(super) bells: Vec<OwnedFd>,
}

/// The descriptors of a handover, as the parent has them.
pub(super) struct Descriptors<'a> {
    pub(super) memory: BorrowedFd<'a>,
    pub(super) listener: BorrowedFd<'a>,
    pub(super) bell: BorrowedFd<'a>,
    pub(super) lock: Option<BorrowedFd<'a>>,
    pub(super) first: Option<BorrowedFd<'a>>,
    pub(super) bells: Vec<BorrowedFd<'a>>,
}

/// What the process of a replica is told.
pub(super) struct Handing<'a> {
    pub(super) member: usize,
    pub(super) hash_numbers: (u64, u64),
    pub(super) options: &'a ServerOptions,
}

/// Sends what a replica needs. The index in the log of the order's first entry is `base`.
pub(super) fn give(
    to: &UnixDatagram,
    handing: &Handing<'_>,
    base: u64,
    descriptors: &Descriptors<'_>,
) -> io::Result<()> {
    let Handing {
        member,
        hash_numbers,
        options,
    } = *handing;
    let mut message = ByteWriter::default();
    let policy = AppendFsync::ALL
        .iter()
        .position(|it| *it == options.append_fsync);
    for word in [
        member as u64,
        hash_numbers.0,
        hash_numbers.1,
        base,
        u64::from(descriptors.lock.is_some()),
        u64::from(descriptors.first.is_some()),
        policy.expect("all policies are there") as u64,
        u64::from(options.port),
        options.replicas as u64,
        u64::from(options.protected),
        options.clients_max as u64,
        options.idle_max.map_or(0, |it| it.as_millis() as u64),
        options.buffers_bytes_max as u64,
        u64::from(options.password.is_some()),
    ] {
        message.word(word);
    }
    message.bytes(options.password.as_deref().unwrap_or_default().as_bytes());
    message.bytes(options.bind.to_string().as_bytes());
    let dir = options.dir.as_deref().unwrap_or(Path::new(""));
    message.bytes(dir.as_os_str().as_bytes());
    let mut all = vec![descriptors.memory, descriptors.listener, descriptors.bell];
    all.extend(descriptors.lock);
    all.extend(descriptors.first);
    all.extend(&descriptors.bells);
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&all)) {
        return Err(ErrorKind::InvalidInput.into());
    }
    let bytes = [IoSlice::new(&message.0)];
    sendmsg(to, &bytes, &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Takes what the parent has sent to this process's standard input.
pub(super) fn take() -> io::Result<Handover> {
    let mut message = vec![0; BYTES_MAX];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC;
    let input = io::stdin();
    let came = recvmsg(
        input.as_fd(),
        &mut [IoSliceMut::new(&mut message)],
        &mut control,
        flags,
    )?;
    let descriptors = control.drain().flat_map(|extra| match extra {
        RecvAncillaryMessage::ScmRights(fds) => fds.collect::<Vec<_>>(),
        _ => Vec::new(),
    });
    let mut descriptors = descriptors.peekable();
    let wrong = || io::Error::new(ErrorKind::InvalidData, "its parent is no corecast serve");
    let (memory, listener) = descriptors
        .next()
        .zip(descriptors.next())
        .ok_or_else(wrong)?;
    let bell = descriptors.next().ok_or_else(wrong)?;
    let Read {
        member,
        hash_numbers,
        base,
        has_lock,
        has_first,
        options,
    } = read(&message[..came.bytes]).ok_or_else(wrong)?;
    let lock = descriptors.next_if(|_| has_lock);
    let first = descriptors.next_if(|_| has_first);
    let bells: Vec<_> = descriptors.collect();
    if bells.len() != options.replicas || member >= bells.len() {
        return Err(wrong());
    }
    Ok(Handover {
        member,
        hash_numbers,
        options,
        base,
        memory,
        listener,
        lock,
        first,
        bell,
        bells,
    })
}

/// What a message says.
struct Read {
    member: usize,
    hash_numbers: (u64, u64),
    base: u64,
    has_lock: bool,
    has_first: bool,
    options: ServerOptions,
}

fn read(message: &[u8]) -> Option<Read> {
    let mut from = ByteReader(message);
    let mut word = || from.word();
    let member = usize::try_from(word()?).ok()?;
    let hash_numbers = (word()?, word()?);
    let (base, has_lock, has_first) = (word()?, word()? == 1, word()? == 1);
    let append_fsync = *AppendFsync::ALL.get(usize::try_from(word()?).ok()?)?;
    let (port, replicas, protected) = (word()?, word()?, word()?);
    let (clients_max, idle_ms, buffers_bytes_max, has_password) =
        (word()?, word()?, word()?, word()?);
    let password = String::from_utf8(from.bytes()?.to_vec()).ok()?;
    let bind: IpAddr = std::str::from_utf8(from.bytes()?).ok()?.parse().ok()?;
    let dir = Path::new(OsStr::from_bytes(from.bytes()?));
    let options = ServerOptions {
        bind,
        port: u16::try_from(port).ok()?,
        replicas: usize::try_from(replicas).ok()?,
        password: (has_password == 1).then_some(password),
        protected: protected == 1,
        clients_max: usize::try_from(clients_max).ok()?,
        idle_max: Some(Duration::from_millis(idle_ms)).filter(|it| !it.is_zero()),
        buffers_bytes_max: usize::try_from(buffers_bytes_max).ok()?,
        dir: has_lock.then(|| dir.to_owned()),
        append_fsync,
    };
    Some(Read {
        member,
        hash_numbers,
        base,
        has_lock,
        has_first,
        options,
    })
}
