//! How strangers meet Corecast: an address, a socket and messages.

use arbitrary::{Result, Unstructured};
use corecast_process::{Address, VERSION};
use corecast_wire::sync::{AtomicU64, Ordering};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::os::fd::OwnedFd;

/// A name that nobody else has, as an address and as a socket's.
pub(super) fn address() -> (Address, SocketAddrUnix) {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    // Relaxed: only that each number comes once counts.
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("fuzz-{}-{count}", std::process::id());
    let user = rustix::process::geteuid().as_raw();
    let socket = SocketAddrUnix::new_abstract_name(format!("corecast-{user}-{name}").as_bytes());
    (Address::Name(name), socket.expect("a short name"))
}

pub(super) fn socket() -> OwnedFd {
    let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
    rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None).expect("a socket")
}

/// A message: words behind Corecast's head, with changes, or any bytes.
pub(super) fn message(u: &mut Unstructured, words: &[u32]) -> Result<Vec<u8>> {
    if u.ratio(1, 8)? {
        let len = u.int_in_range(0..=64)?;
        return Ok(u.bytes(len)?.to_vec());
    }
    let head = [
        u32::from_le_bytes(*b"Core"),
        u32::from_le_bytes(*b"cast"),
        VERSION,
    ];
    let mut words: Vec<u32> = head.iter().chain(words).copied().collect();
    for _ in 0..u.int_in_range(0..=2)? {
        let at = u.choose_index(words.len())?;
        words[at] = match u.arbitrary()? {
            true => u.arbitrary()?,
            false => words[at]
                .wrapping_add(u.int_in_range(0..=4)?)
                .wrapping_sub(2),
        };
    }
    let mut bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    match u.int_in_range(0..=15)? {
        0 => bytes.truncate(u.int_in_range(0..=bytes.len())?),
        1 => bytes.resize(bytes.len() + u.int_in_range(0..=40_000)?, 0),
        _ => {}
    }
    Ok(bytes)
}
