//! Strangers that talk to a rendezvous server: it gives each rank to one of them, and goes on to answer.

use super::messages::{address, message, socket};
use arbitrary::{Result, Unstructured};
use corecast_process::{Hello, enter};
use corecast_wire::Segment;
use rustix::io::retry_on_intr;
use rustix::net::{RecvFlags, SendFlags, SocketAddrUnix, sockopt};
use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// Longer than any answer takes on a busy machine, and shorter than what the fuzzer waits.
const LIMIT: Duration = Duration::from_secs(10);

/// A stranger's connection, and the ranks that it has.
struct Client {
    socket: OwnedFd,
    ranks: Vec<u32>,
}

pub(super) fn run(u: &mut Unstructured) -> Result<()> {
    let (address, to) = address();
    let make = |_: &Hello| Segment::shared(4096).map(|(_, fd)| fd);
    let size = u.int_in_range(2..=5)?;
    let first = Hello::new(size, vec![Some(u.int_in_range(0..=size - 1)?)]);
    let server = enter(&address, &first, LIMIT, make).expect("nobody else is there");
    let mut confirmed: BTreeSet<u32> = server.ranks.iter().copied().collect();
    let mut clients: Vec<Client> = Vec::new();
    let others = size as usize - 1;
    for _ in 0..12 {
        if u.is_empty() || confirmed.len() > others {
            break;
        }
        match u.int_in_range(0..=5)? {
            0..=2 => {
                let count = u.int_in_range(0..=size + 1)?;
                let any = |_| Ok([u32::MAX, u.int_in_range(0..=size)?][u.choose_index(2)?]);
                let ranks = (0..count).map(any).collect::<Result<Vec<u32>>>()?;
                let words = [vec![size, 7, count], ranks].concat();
                let taken = clients.iter().flat_map(|client| &client.ranks);
                let taken: BTreeSet<u32> = taken.chain(&confirmed).copied().collect();
                clients.extend(ask(&to, &message(u, &words)?, size, &taken));
            }
            // It goes again.
            3 if !clients.is_empty() => {
                clients.swap_remove(u.choose_index(clients.len())?);
            }
            // Whatever it says now confirms its ranks.
            4 if !clients.is_empty() => {
                let client = clients.swap_remove(u.choose_index(clients.len())?);
                let said = message(u, &[])?;
                if !said.is_empty() {
                    let sent = rustix::net::send(&client.socket, &said, SendFlags::NOSIGNAL);
                    assert_eq!(sent, Ok(said.len()));
                    confirmed.extend(client.ranks);
                }
            }
            // It comes and says nothing.
            _ => rustix::net::connect(socket(), &to).expect("the server is there"),
        }
    }
    drop(clients);
    let free: Vec<u32> = (0..size).filter(|rank| !confirmed.contains(rank)).collect();
    if !free.is_empty() {
        let last = Hello::new(size, vec![None; free.len()]);
        let mut entered = enter(&address, &last, LIMIT, make).expect("the server answers");
        assert_eq!(entered.ranks, free);
        entered.confirm().expect("the server is there");
    }
    Ok(())
}

/// Sends a request and reads the answer. Returns the client if it has got ranks.
fn ask(to: &SocketAddrUnix, said: &[u8], size: u32, taken: &BTreeSet<u32>) -> Option<Client> {
    let socket = socket();
    rustix::net::connect(&socket, to).expect("the server is there");
    let timeout = sockopt::Timeout::Recv;
    sockopt::set_socket_timeout(&socket, timeout, Some(LIMIT)).expect("a socket");
    rustix::net::send(&socket, said, SendFlags::NOSIGNAL).expect("the server is there");
    let mut answer = [0; 256];
    let recv = || rustix::net::recv(&socket, &mut answer[..], RecvFlags::empty());
    // The fuzzer's clock interrupts calls.
    let (_, len) = retry_on_intr(recv).expect("an answer");
    let (words, rest) = answer[..len].as_chunks();
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    // Nothing was asked, so there is no answer.
    let [_, _, _, what, count, ref ranks @ ..] = words[..] else {
        assert!(len == 0 && said.is_empty(), "{said:?}: {words:?}");
        return None;
    };
    assert!(rest.is_empty() && what <= 6, "{said:?}: {words:?}");
    if what != 0 {
        return None;
    }
    let distinct: BTreeSet<u32> = ranks.iter().copied().collect();
    let sound = distinct.len() == ranks.len() && ranks.len() == count as usize && count > 0;
    let free = ranks
        .iter()
        .all(|rank| *rank < size && !taken.contains(rank));
    assert!(sound && free, "{said:?}: {words:?}, {taken:?} are taken");
    let ranks = ranks.to_vec();
    Some(Client { socket, ranks })
}
