//! A stranger that answers at the address: whoever enters believes nothing that makes no sense.

use super::messages::{address, message, socket};
use arbitrary::{Result, Unstructured};
use corecast_process::{Hello, enter};
use corecast_wire::Segment;
use rustix::io::retry_on_intr;
use rustix::net::{
    RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix,
};
use std::collections::BTreeSet;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// For how long a process tries to enter.
const LIMIT: Duration = Duration::from_millis(20);

/// One answer, and the number of descriptors that come with it.
type Answer = (Vec<u8>, usize);

pub(super) fn run(u: &mut Unstructured) -> Result<()> {
    let (address, at) = address();
    let size = u.int_in_range(1..=5)?;
    let requests = u.int_in_range(1..=size)?;
    // Each of them once, or any.
    let request = |rank| Ok(u.arbitrary::<bool>()?.then_some(rank));
    let requests = (0..requests).map(request).collect::<Result<Vec<_>>>()?;
    let mut answers: Vec<Answer> = Vec::new();
    for _ in 0..u.int_in_range(0..=2)? {
        let what = u.int_in_range(0..=7)?;
        let words = match what {
            0 => {
                let given = requests
                    .iter()
                    .map(|request| Ok(request.unwrap_or(u.int_in_range(0..=size)?)));
                let given = given.collect::<Result<Vec<u32>>>()?;
                [vec![0, given.len() as u32], given].concat()
            }
            _ => vec![what, u.arbitrary()?, u.arbitrary()?],
        };
        answers.push((message(u, &words)?, u.int_in_range(0..=2)?));
    }
    let hello = Hello::new(size, requests.clone());
    let make = |_: &Hello| Segment::shared(4096).map(|(_, fd)| fd);
    let entered = std::thread::scope(|scope| {
        let listener = socket();
        rustix::net::bind(&listener, &at).expect("nobody else is there");
        rustix::net::listen(&listener, 4).expect("a socket");
        scope.spawn(move || {
            for answer in &answers {
                say(&listener, answer);
            }
        });
        let entered = enter(&address, &hello, LIMIT, make);
        // A server that is asked no more ends, too.
        wake(&at, 2);
        entered
    });
    match entered {
        Ok(mut entered) => {
            let distinct: BTreeSet<u32> = entered.ranks.iter().copied().collect();
            let agrees = |(request, &rank): (&Option<u32>, &u32)| {
                rank < size && request.is_none_or(|request| request == rank)
            };
            let sound = entered.ranks.len() == requests.len()
                && distinct.len() == requests.len()
                && requests.iter().zip(&entered.ranks).all(agrees);
            assert!(sound, "{requests:?} of {size}: {:?}", entered.ranks);
            let _ = entered.confirm();
        }
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
    }
    Ok(())
}

/// Waits for a process that asks, and answers.
fn say(listener: &impl AsFd, (message, fds): &Answer) {
    let client = retry_on_intr(|| rustix::net::accept(listener)).expect("a socket");
    let mut hello = [0; 64];
    let _ = retry_on_intr(|| rustix::net::recv(&client, &mut hello[..], RecvFlags::empty()));
    let (_, memory) = Segment::shared(4096).expect("there is memory");
    let sent: Vec<BorrowedFd<'_>> = vec![memory.as_fd(); *fds];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !sent.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&sent));
    }
    let _ = rustix::net::sendmsg(
        &client,
        &[IoSlice::new(message)],
        &mut control,
        SendFlags::NOSIGNAL,
    );
}

/// Connects as often as the server may still wait, and goes again.
fn wake(at: &SocketAddrUnix, times: usize) {
    for _ in 0..times {
        let _ = rustix::net::connect(socket(), at);
    }
}
