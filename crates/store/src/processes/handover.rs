//! What a replica is given by its parent, over a socket that is its standard input: options, and descriptors.

use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::bytes::{ByteReader, ByteWriter};
use crate::durability::AppendFsync;
use crate::server::ServerOptions;

/// Most descriptors of a message: the memory, the listening socket, the own bell, and those of all.
const DESCRIPTORS_MAX: usize = 3 + super::limits::REPLICAS_MAX;

/// Longest message in bytes.
const BYTES_MAX: usize = 64 << 10;

/// What a replica is given.
#[derive(Debug)]
pub(super) struct Handover {
    pub(super) member: usize,
    pub(super) hash_numbers: (u64, u64),
    pub(super) options: ServerOptions,
    pub(super) memory: OwnedFd,
    pub(super) listener: OwnedFd,
    /// The end of its bell that it listens to, and the other ends of all.
    pub(super) bell: OwnedFd,
    pub(super) bells: Vec<OwnedFd>,
}

/// The descriptors of a handover, as the parent has them.
pub(super) struct Descriptors<'a> {
    pub(super) memory: BorrowedFd<'a>,
    pub(super) listener: BorrowedFd<'a>,
    pub(super) bell: BorrowedFd<'a>,
    pub(super) bells: Vec<BorrowedFd<'a>>,
}

/// Sends what replica `member` needs.
pub(super) fn give(
    to: &UnixDatagram,
    member: usize,
    hash_numbers: (u64, u64),
    options: &ServerOptions,
    descriptors: &Descriptors<'_>,
) -> io::Result<()> {
    let mut message = ByteWriter::default();
    for word in [
        member as u64,
        hash_numbers.0,
        hash_numbers.1,
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
    let mut all = vec![descriptors.memory, descriptors.listener, descriptors.bell];
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
    let mut descriptors = control.drain().flat_map(|extra| match extra {
        RecvAncillaryMessage::ScmRights(fds) => fds.collect::<Vec<_>>(),
        _ => Vec::new(),
    });
    let wrong = || io::Error::new(ErrorKind::InvalidData, "its parent is no corecast serve");
    let (memory, listener) = descriptors
        .next()
        .zip(descriptors.next())
        .ok_or_else(wrong)?;
    let bell = descriptors.next().ok_or_else(wrong)?;
    let bells: Vec<_> = descriptors.collect();
    let (member, hash_numbers, options) = read(&message[..came.bytes]).ok_or_else(wrong)?;
    if bells.len() != options.replicas || member >= bells.len() {
        return Err(wrong());
    }
    Ok(Handover {
        member,
        hash_numbers,
        options,
        memory,
        listener,
        bell,
        bells,
    })
}

fn read(message: &[u8]) -> Option<(usize, (u64, u64), ServerOptions)> {
    let mut from = ByteReader(message);
    let mut word = || from.word();
    let member = usize::try_from(word()?).ok()?;
    let hash_numbers = (word()?, word()?);
    let (port, replicas, protected) = (word()?, word()?, word()?);
    let (clients_max, idle_ms, buffers_bytes_max, has_password) =
        (word()?, word()?, word()?, word()?);
    let password = String::from_utf8(from.bytes()?.to_vec()).ok()?;
    let bind: IpAddr = std::str::from_utf8(from.bytes()?).ok()?.parse().ok()?;
    let options = ServerOptions {
        bind,
        port: u16::try_from(port).ok()?,
        replicas: usize::try_from(replicas).ok()?,
        password: (has_password == 1).then_some(password),
        protected: protected == 1,
        clients_max: usize::try_from(clients_max).ok()?,
        idle_max: Some(Duration::from_millis(idle_ms)).filter(|it| !it.is_zero()),
        buffers_bytes_max: usize::try_from(buffers_bytes_max).ok()?,
        dir: None,
        append_fsync: AppendFsync::default(),
    };
    Some((member, hash_numbers, options))
}
