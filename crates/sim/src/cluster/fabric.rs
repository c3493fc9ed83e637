//! The operations of a rank on a machine of several hosts.

use super::world::{Given, Kind, Loan, RankWait, World, bytes_ticks};
use crate::VirtualTime;
use crate::drive::Bytes;
use crate::fabric::OpenLoan;
use crate::units;
use corecast_wire::Fabric;
use corosensei::Yielder;
use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::ops::Range;
use std::rc::Rc;

/// Loans that one rank may have from another at the same time, as on hardware.
const LOANS_MAX: u64 = 8;

/// An open buffer.
#[derive(Debug)]
pub struct HostWindow<'w> {
    bytes: &'w mut [u8],
    /// The number of the window among those of the rank.
    number: usize,
}

/// One rank's end of a team on a machine of several hosts.
pub struct HostFabric<'y> {
    world: Rc<RefCell<World>>,
    yielder: &'y Yielder<(), ()>,
    rank: usize,
    size: usize,
    time: VirtualTime,
    out: Vec<OpenLoan>,
    opened: usize,
    /// Bytes that were combined and whose time has not passed yet.
    combined: Rc<Cell<usize>>,
    /// For how many bytes each byte of the program stands.
    grain: usize,
}

impl<'y> HostFabric<'y> {
    pub(super) fn new(
        world: Rc<RefCell<World>>,
        yielder: &'y Yielder<(), ()>,
        rank: usize,
        grain: usize,
    ) -> Self {
        let (size, time) = {
            let world = world.borrow();
            (world.cores.len(), world.now)
        };
        Self {
            world,
            yielder,
            rank,
            size,
            time,
            out: Vec::new(),
            opened: 0,
            combined: Rc::default(),
            grain,
        }
    }

    /// The time of this rank, in nanoseconds.
    pub fn now(&self) -> f64 {
        units(self.time)
    }

    /// Lets the rank compute for so many nanoseconds.
    pub fn compute(&mut self, ns: f64) {
        self.time += crate::ticks(ns);
    }

    /// An operator that adds bytes; the core takes time for them at its next operation.
    pub fn combine(&self) -> Bytes<impl Fn(usize) + use<>> {
        let combined = self.combined.clone();
        Bytes::new(move |bytes| combined.set(combined.get() + bytes))
    }

    /// Waits until all ranks are here, without a message. All continue at the time of the last one, which is returned in
    /// nanoseconds.
    pub fn begin_measure(&mut self) -> f64 {
        self.catch_up();
        {
            let world = &mut *self.world.borrow_mut();
            world.met.push((self.rank as u32, self.time));
            if world.met.len() == self.size {
                let mut all = std::mem::take(&mut world.met);
                all.sort_unstable();
                let last = all.iter().map(|one| one.1).max().unwrap_or(0);
                all.into_iter()
                    .for_each(|one| world.push(last, one.0 as usize));
            }
        }
        self.suspend(RankWait::All);
        self.now()
    }

    /// Lets the time pass that combining has taken.
    pub(super) fn catch_up(&mut self) {
        let bytes = self.combined.take() * self.grain;
        let byte_ns = self.world.borrow().machine.parts.combine_byte_ns;
        self.time += bytes_ticks(bytes, byte_ns);
    }

    /// Suspends the rank until its next event; without a switch if no other rank continues before.
    fn suspend(&mut self, wait: RankWait) {
        let mine = {
            let mut world = self.world.borrow_mut();
            world.waits[self.rank] = wait;
            world.next_is(self.rank)
        };
        if !mine {
            self.yielder.suspend(());
        }
        self.time = self.time.max(self.world.borrow().now);
    }

    /// Suspends the rank until all earlier events have happened.
    fn turn(&mut self) {
        let mut world = self.world.borrow_mut();
        match world.due() {
            Some(due) if due <= self.time => {
                world.push(self.time, self.rank);
                drop(world);
                self.suspend(RankWait::Turn);
            }
            _ => world.now = self.time,
        }
    }

    /// Begins an operation.
    fn enter(&mut self) {
        self.catch_up();
        self.time += self.world.borrow().ticks.call;
        self.turn();
    }

    /// Gives `peer` something of `bytes`.
    fn give(&mut self, peer: usize, what: Given, bytes: usize) {
        let at = self.time;
        let mut world = self.world.borrow_mut();
        self.time = world.give((self.rank, peer), what, at, bytes * self.grain);
    }

    /// Waits until the first of a kind is there on the link from `from` to `to`, and returns the link.
    fn await_first(&mut self, (from, to): (usize, usize), kind: Kind) -> u32 {
        let link = self.world.borrow_mut().link(from, to);
        loop {
            let first = self.world.borrow().links[link as usize].first(kind);
            match first {
                Some(at) => {
                    self.time = self.time.max(at);
                    return link;
                }
                None => self.suspend(RankWait::For(link, kind)),
            }
        }
    }

    /// Waits until `peer` has returned the loan of that number.
    fn wait_for_return(&mut self, peer: usize, count: u64) {
        loop {
            let link = self.world.borrow_mut().link(self.rank, peer);
            if self.world.borrow().links[link as usize].returned >= count {
                break;
            }
            self.await_first((self.rank, peer), Kind::Return);
            let link = &mut self.world.borrow_mut().links[link as usize];
            link.returns.pop_front();
            link.returned += 1;
        }
        self.out.retain(|out| out.peer != peer || out.count > count);
    }

    /// Lets the time pass in which `bytes` come from the memory of `peer`; returns whether that is on another host.
    fn transfer(&mut self, peer: usize, bytes: usize) -> bool {
        let (from, to, far, rules, turn) = {
            let world = self.world.borrow();
            let (from, to) = (world.cores[peer], world.cores[self.rank]);
            let far = world.machine.host(from) != world.machine.host(to);
            let rules = world.machine.rules;
            let turn = match far {
                true => rules.turn_bytes,
                false => world.machine.parts.turn_bytes,
            };
            (from, to, far, rules, turn)
        };
        if bytes == 0 {
            return far;
        }
        // Whole turns, the last of which may be shorter.
        let mut rest = bytes;
        if !far {
            while rest > 0 {
                let part = rest.min(turn);
                self.time = self.world.borrow_mut().copy(from, to, part, self.time);
                rest -= part;
                if rest > 0 {
                    self.turn();
                }
            }
            return far;
        }
        let mut at = {
            let world = &mut *self.world.borrow_mut();
            let asked = world.busy(self.rank, self.time);
            let (_, at) = world.cross(to, from, 1, asked);
            match rules.remote_access {
                true => at,
                false => world.busy(peer, at),
            }
        };
        let mut last = at;
        while rest > 0 {
            let part = rest.min(turn);
            if bytes > turn {
                self.time = at;
                self.turn();
            }
            let world = &mut *self.world.borrow_mut();
            let begin = match rules.remote_access {
                true => at,
                false => world.send_itself(peer, part, at),
            };
            (at, last) = world.cross(from, to, part, begin);
            rest -= part;
        }
        self.time = self.world.borrow_mut().busy(self.rank, last);
        far
    }
}

impl Fabric for HostFabric<'_> {
    type Error = Infallible;
    type Window<'w> = HostWindow<'w>;

    corecast_wire::no_shared_lines!();

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn notify(&mut self, peer: usize) -> Result<(), Infallible> {
        self.enter();
        self.give(peer, Given::Notification, 0);
        Ok(())
    }

    fn wait(&mut self, peer: usize) -> Result<(), Infallible> {
        self.enter();
        let link = self.await_first((peer, self.rank), Kind::Notification);
        self.world.borrow_mut().links[link as usize]
            .notifications
            .pop_front();
        Ok(())
    }

    fn send(&mut self, peer: usize, payload: &[u8]) -> Result<(), Infallible> {
        self.enter();
        self.give(peer, Given::Message(payload.into()), payload.len());
        Ok(())
    }

    fn receive(&mut self, peer: usize, payload: &mut [u8]) -> Result<(), Infallible> {
        self.enter();
        let link = self.await_first((peer, self.rank), Kind::Message);
        let mail = self.world.borrow_mut().links[link as usize]
            .mail
            .pop_front();
        let mail = mail.expect("it has come").1;
        assert_eq!(
            mail.len(),
            payload.len(),
            "rank {peer} sends another length"
        );
        payload.copy_from_slice(&mail);
        Ok(())
    }

    fn message_bytes_max(&self) -> usize {
        let bytes = self.world.borrow().machine.rules.message_bytes;
        (bytes / self.grain).max(1)
    }

    fn wrong_length(&self, peer: usize, sent: usize, expected: usize) -> Infallible {
        panic!(
            "rank {peer} gives {sent} bytes where rank {} expects {expected}",
            self.rank
        )
    }

    fn with_window<R>(
        &mut self,
        data: &mut [u8],
        _element: usize,
        _written: bool,
        body: impl FnOnce(&mut Self, &mut Self::Window<'_>) -> R,
    ) -> R {
        let mut window = HostWindow {
            bytes: data,
            number: self.opened,
        };
        self.opened += 1;
        body(self, &mut window)
    }

    fn view<'b>(&self, window: &'b HostWindow<'_>, range: Range<usize>) -> &'b [u8] {
        &window.bytes[range]
    }

    fn view_mut<'b>(
        &mut self,
        window: &'b mut HostWindow<'_>,
        range: Range<usize>,
    ) -> Result<&'b mut [u8], Infallible> {
        while let Some((peer, count)) = OpenLoan::first_of(&self.out, window.number, &range) {
            self.wait_for_return(peer, count);
        }
        Ok(&mut window.bytes[range])
    }

    fn lend(
        &mut self,
        window: &HostWindow<'_>,
        peers: impl IntoIterator<Item = usize>,
        range: Range<usize>,
    ) -> Result<(), Infallible> {
        let mut bytes: Option<Rc<[u8]>> = None;
        for peer in peers {
            self.enter();
            let link = self.world.borrow_mut().link(self.rank, peer);
            let count = self.world.borrow().links[link as usize].lent + 1;
            if count > LOANS_MAX {
                self.wait_for_return(peer, count - LOANS_MAX);
                self.turn();
            }
            self.out.push(OpenLoan {
                peer,
                count,
                window: window.number,
                range: range.clone(),
            });
            let bytes = bytes.get_or_insert_with(|| window.bytes[range.clone()].into());
            let loan = Loan {
                bytes: bytes.clone(),
            };
            self.give(peer, Given::Loan(loan), 0);
        }
        Ok(())
    }

    fn borrow(
        &mut self,
        peer: usize,
        len: usize,
        mut each: impl FnMut(usize, &[u8]),
    ) -> Result<(), Infallible> {
        self.enter();
        let link = self.await_first((peer, self.rank), Kind::Loan);
        let loan = self.world.borrow_mut().links[link as usize]
            .loans
            .pop_front();
        let bytes = loan.expect("it has come").1.bytes;
        assert_eq!(bytes.len(), len, "rank {peer} lends another length");
        self.turn();
        let far = self.transfer(peer, len * self.grain);
        each(0, &bytes);
        self.catch_up();
        if far {
            self.turn();
        }
        let at = self.time;
        self.time = self.world.borrow_mut().give_back(self.rank, peer, at);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        self.enter();
        while let Some((peer, count)) = self.out.last().map(|out| (out.peer, out.count)) {
            self.wait_for_return(peer, count);
        }
        Ok(())
    }
}
