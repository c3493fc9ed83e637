//! The rendezvous of a simulation: the same answers as those of a [`RendezvousServer`](crate::RendezvousServer), without
//! sockets and threads.
//!
//! What a socket does by itself is done by the scheduler's word: a server whose process has ended answers nobody any more,
//! and whoever has ended before it has confirmed its ranks has none.

use crate::message::{Answer, Hello};
use crate::rendezvous_server::Ranks;
use corecast_wire::simulated::{Point, Scheduler, point, scheduler};
use corecast_wire::sync::{Instant, sleep};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::error::Error;
use std::os::fd::OwnedFd;
use std::time::Duration;

thread_local! {
    /// The servers of all teams of the simulation, by address.
    static SERVERS: RefCell<BTreeMap<String, Server>> = const { RefCell::new(BTreeMap::new()) };
    static NEXT: Cell<u64> = const { Cell::new(0) };
}

struct Server {
    number: u64,
    /// Number of its process.
    process: u32,
    ranks: Ranks,
    /// `None` until it has made the memory; until then it answers nobody.
    memory: Option<OwnedFd>,
}

fn has_ended(process: u32) -> bool {
    scheduler().is_some_and(|scheduler| scheduler.has_ended(process))
}

/// Calls `body` with the server of this number, if it is still there.
fn with_server(address: &str, number: u64, body: impl FnOnce(&mut Server)) {
    SERVERS.with_borrow_mut(|servers| {
        let server = servers.get_mut(address);
        if let Some(server) = server.filter(|server| server.number == number) {
            body(server);
        }
        if servers
            .get(address)
            .is_some_and(|server| server.ranks.complete())
        {
            servers.remove(address);
        }
    });
}

/// A server, which goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Listening {
    address: String,
    number: u64,
}

impl Drop for Listening {
    fn drop(&mut self) {
        SERVERS.with_borrow_mut(|servers| {
            if servers
                .get(&self.address)
                .is_some_and(|it| it.number == self.number)
            {
                servers.remove(&self.address);
            }
        });
    }
}

/// Ranks that a process has until this is dropped, and for good once they are confirmed.
#[derive(Debug)]
pub(crate) struct Places {
    server: (String, u64),
    ranks: Vec<u32>,
}

impl Places {
    pub(crate) fn confirm(mut self) {
        let ranks = std::mem::take(&mut self.ranks);
        let (address, number) = &self.server;
        with_server(address, *number, |server| server.ranks.confirm(&ranks));
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        let (address, number) = &self.server;
        with_server(address, *number, |server| {
            server.ranks.give_back(&self.ranks)
        });
    }
}

/// What a process has found.
pub(crate) struct Found {
    pub(crate) memory: OwnedFd,
    pub(crate) ranks: Vec<u32>,
    /// The ranks of a process that did not come first.
    pub(crate) places: Option<Places>,
    /// The server, of a process that came first.
    pub(crate) server: Option<Listening>,
}

/// Why a process has found nothing.
pub(crate) enum Failed {
    /// The server's answer.
    Refused(Answer),
    /// The memory could not be made.
    Memory(Box<dyn Error + Send + Sync>),
    /// Nobody has answered within the limit.
    Silent,
}

/// Does what [`enter`](crate::enter) does, at the address with this name.
pub(crate) fn enter<E>(
    name: String,
    hello: &Hello,
    limit: Duration,
    make: impl FnOnce(&Hello) -> Result<OwnedFd, E>,
) -> Result<Found, Failed>
where
    E: Into<Box<dyn Error + Send + Sync>>,
{
    let hello = &Hello {
        pid: scheduler().map_or(0, Scheduler::process),
        ..hello.clone()
    };
    let begin = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        point(Point::Access);
        let found = SERVERS.with_borrow_mut(|servers| {
            let server = servers.get_mut(&name);
            let server = server.filter(|it| !has_ended(it.process))?;
            server.ranks.give_back_unless(|process| !has_ended(process));
            Some(server.memory.as_ref().map(|memory| {
                let ranks = server.ranks.take(hello)?;
                let memory = memory.try_clone().expect("a descriptor is free");
                Ok((server.number, memory, ranks))
            }))
        });
        match found {
            None => return serve(name, hello, make),
            Some(None) => {}
            Some(Some(Err(answer))) => return Err(Failed::Refused(answer)),
            Some(Some(Ok((number, memory, ranks)))) => {
                let places = Places {
                    server: (name, number),
                    ranks: ranks.clone(),
                };
                return Ok(Found {
                    memory,
                    ranks,
                    places: Some(places),
                    server: None,
                });
            }
        }
        if begin.elapsed() >= limit {
            return Err(Failed::Silent);
        }
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Comes first: listens, makes the memory, and answers the others from then on.
fn serve<E>(
    name: String,
    hello: &Hello,
    make: impl FnOnce(&Hello) -> Result<OwnedFd, E>,
) -> Result<Found, Failed>
where
    E: Into<Box<dyn Error + Send + Sync>>,
{
    let number = NEXT.replace(NEXT.get() + 1);
    let server = Server {
        number,
        process: hello.pid,
        ranks: Ranks::new(hello.size),
        memory: None,
    };
    SERVERS.with_borrow_mut(|servers| servers.insert(name.clone(), server));
    let listening = Listening {
        address: name.clone(),
        number,
    };
    let memory = make(hello).map_err(|error| Failed::Memory(error.into()))?;
    let copy = memory.try_clone().expect("a descriptor is free");
    let mut ranks = Vec::new();
    with_server(&name, number, |server| {
        ranks = server.ranks.take(hello).expect("the requests were checked");
        server.ranks.confirm(&ranks);
        server.memory = Some(copy);
    });
    Ok(Found {
        memory,
        ranks,
        places: None,
        server: Some(listening),
    })
}
