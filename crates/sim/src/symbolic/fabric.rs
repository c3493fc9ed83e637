//! The fabric that takes down instead of doing: CLa's primitives behind [`Fabric`].
//!
//! | operation | primitives |
//! | --- | --- |
//! | `notify`, `wait` | write of a flag; wait for it |
//! | `send` | copy of the data into a line of the queue, write of the flag in that line |
//! | `receive` | wait for that line, copy of the data out of it |
//! | `post`, `read` | the same with a line that several wait for; without data no copy |
//! | `add`, `collect` | add to a tally; wait for it |
//! | `lend` | write of a flag that names the data |
//! | `borrow`, `fetch` | wait for it, copy of the data from where they lie, write of another flag back |
//! | `own`, `settle` | wait for that one |
//!
//! Each message, post and loan has lines of its own (*single-use lines*), as queues, notices and desks
//! have within a lap; notifications between two ranks share one flag, tallies are one line each. A rank's
//! buffers are one set of lines, in its own cache. Combining costs what reading costs, as the paper has it
//! (§5.2). Flow control that an operation does not wait for by itself is not taken down: that of queues,
//! and that of notices, whose readers give lines back twice a lap.

use super::graph::{Graph, Kind};
use super::run::{Stuck, World, run};
use crate::drive::{Bytes, Job, Open};
use corecast_coll::groups::{Group, Groups};
use corecast_wire::Fabric;
use corecast_wire::notice::NOTICE_PAYLOAD_BYTES as LINE_BYTES;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// Bytes of a whole line: what data take that lie in a rank's own buffers.
const DATA_LINE_BYTES: usize = 64;

/// What is on its way between ranks, and its line.
type Parcels = VecDeque<(usize, Vec<u8>)>;

/// What all ranks of a fabric share besides the ledger.
#[derive(Debug, Default)]
struct Traffic {
    messages: HashMap<(usize, usize), Parcels>,
    loans: HashMap<(usize, usize), Parcels>,
    /// By notice and reader.
    posts: HashMap<(usize, usize), Parcels>,
    /// How many lines of each kind each pair, or notice, has used.
    used: HashMap<(&'static str, usize, usize), usize>,
    failure: Option<Stuck>,
}

/// The lines that a rank shares with others: their numbers among all of the team.
#[derive(Debug, Default)]
struct Shared {
    posts: Vec<usize>,
    reads: Vec<usize>,
    adds: Vec<usize>,
    collects: Vec<usize>,
}

/// A part of a buffer that is lent.
#[derive(Debug)]
struct Out {
    /// Its addresses, only ever compared.
    bytes: Range<usize>,
    /// The line by which it comes back.
    back: usize,
}

/// One rank of a team whose operations are taken down; see [`record`].
#[derive(Debug)]
pub struct Symbolic<'w> {
    rank: usize,
    size: usize,
    world: &'w RefCell<World>,
    traffic: &'w RefCell<Traffic>,
    groups: &'w Groups,
    shared: Shared,
    lent: Vec<Out>,
    /// How often each tally was collected, and each flag waited for.
    heard: HashMap<usize, usize>,
}

impl Symbolic<'_> {
    fn line(&self, name: String, kind: Kind, home: usize) -> usize {
        self.world.borrow_mut().ledger.line(name, kind, home)
    }

    /// The lines of a rank's buffers.
    fn data(&self, rank: usize) -> usize {
        self.line(format!("data {rank}"), Kind::Data, rank)
    }

    /// How many of these were used before.
    fn number(&self, what: &'static str, a: usize, b: usize) -> usize {
        let mut traffic = self.traffic.borrow_mut();
        let used = traffic.used.entry((what, a, b)).or_insert(0);
        *used += 1;
        *used - 1
    }

    fn await_value(&self, line: usize, value: usize) {
        World::wait(self.world, self.rank, line, value);
    }

    /// Waits until something lies in these parcels, and takes it.
    fn take(
        &self,
        parcels: impl Fn(&mut Traffic) -> &mut Parcels,
        expected: usize,
        awaited: impl Fn() -> usize,
    ) -> Result<(usize, Vec<u8>), Stuck> {
        let empty = parcels(&mut self.traffic.borrow_mut()).is_empty();
        if empty {
            // Its line exists by name alone until somebody writes it.
            World::suspend(self.world, self.rank, (awaited(), 1), || {
                !parcels(&mut self.traffic.borrow_mut()).is_empty()
            });
        }
        let parcel = parcels(&mut self.traffic.borrow_mut()).pop_front();
        let (line, bytes) = parcel.expect("a rank goes on when something has come");
        self.await_value(line, 1);
        self.check(line, bytes.len(), expected)?;
        Ok((line, bytes))
    }

    fn check(&self, line: usize, came: usize, expected: usize) -> Result<(), Stuck> {
        if came == expected {
            return Ok(());
        }
        let failure = Stuck::Length {
            rank: self.rank,
            line: self.world.borrow().ledger.name(line).to_owned(),
            came,
            expected,
        };
        self.traffic.borrow_mut().failure = Some(failure.clone());
        Err(failure)
    }

    fn write(&self, line: usize) {
        self.world.borrow_mut().ledger.write(self.rank, line);
    }

    fn copy(&self, from: usize, to: usize, lines: usize) {
        let mut world = self.world.borrow_mut();
        world.ledger.copy(self.rank, from, to, lines);
    }

    /// Copies a payload of so many bytes into or out of lines that also hold a flag each.
    fn carry(&self, from: usize, to: usize, bytes: usize) {
        if bytes > 0 {
            self.copy(from, to, bytes.div_ceil(LINE_BYTES));
        }
    }

    /// Waits for all that is lent of these addresses.
    fn get_back(&mut self, bytes: &Range<usize>) {
        let overlaps = |out: &Out| out.bytes.start < bytes.end && bytes.start < out.bytes.end;
        let (wanted, lent) = std::mem::take(&mut self.lent)
            .into_iter()
            .partition(overlaps);
        self.lent = lent;
        let wanted: Vec<Out> = wanted;
        wanted.iter().for_each(|out| self.await_value(out.back, 1));
    }
}

fn addresses(bytes: &[u8]) -> Range<usize> {
    let first = bytes.as_ptr() as usize;
    first..first + bytes.len()
}

impl Fabric for Symbolic<'_> {
    type Error = Stuck;
    type Window<'w> = &'w mut [u8];

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn notify(&mut self, peer: usize) -> Result<(), Stuck> {
        let name = format!("flag {} → {peer}", self.rank);
        self.write(self.line(name, Kind::Flag, peer));
        Ok(())
    }

    fn wait(&mut self, peer: usize) -> Result<(), Stuck> {
        let name = format!("flag {peer} → {}", self.rank);
        let line = self.line(name, Kind::Flag, self.rank);
        let heard = self.heard.entry(line).or_insert(0);
        *heard += 1;
        let heard = *heard;
        self.await_value(line, heard);
        Ok(())
    }

    fn send(&mut self, peer: usize, payload: &[u8]) -> Result<(), Stuck> {
        let number = self.number("message", self.rank, peer);
        let name = format!("slot {} → {peer} #{number}", self.rank);
        let line = self.line(name, Kind::Flag, peer);
        self.carry(self.data(self.rank), line, payload.len());
        self.write(line);
        let mut traffic = self.traffic.borrow_mut();
        let parcels = traffic.messages.entry((self.rank, peer)).or_default();
        parcels.push_back((line, payload.to_vec()));
        Ok(())
    }

    fn receive(&mut self, peer: usize, payload: &mut [u8]) -> Result<(), Stuck> {
        let pair = (peer, self.rank);
        let (line, bytes) = self.take(
            |traffic| traffic.messages.entry(pair).or_default(),
            payload.len(),
            || {
                self.line(
                    format!("slot {peer} → {}", self.rank),
                    Kind::Flag,
                    self.rank,
                )
            },
        )?;
        self.carry(line, self.data(self.rank), bytes.len());
        payload.copy_from_slice(&bytes);
        Ok(())
    }

    fn post(&mut self, line: usize, payload: &[u8]) -> Result<(), Stuck> {
        let notice = self.shared.posts[line];
        let Group { one, others } = &self.groups.notices()[notice];
        let number = self.number("post", notice, 0);
        let name = format!("notice {notice} of {one} #{number}");
        let line = self.line(name, Kind::Notice, others[0]);
        self.carry(self.data(self.rank), line, payload.len());
        self.write(line);
        let mut traffic = self.traffic.borrow_mut();
        for &reader in others {
            let parcels = traffic.posts.entry((notice, reader)).or_default();
            parcels.push_back((line, payload.to_vec()));
        }
        Ok(())
    }

    fn read(&mut self, line: usize, payload: &mut [u8]) -> Result<(), Stuck> {
        let (notice, rank) = (self.shared.reads[line], self.rank);
        let one = self.groups.notices()[notice].one;
        let (line, bytes) = self.take(
            |traffic| traffic.posts.entry((notice, rank)).or_default(),
            payload.len(),
            || self.line(format!("notice {notice} of {one}"), Kind::Notice, rank),
        )?;
        self.carry(line, self.data(self.rank), bytes.len());
        payload.copy_from_slice(&bytes);
        Ok(())
    }

    fn add(&mut self, line: usize) -> Result<(), Stuck> {
        let tally = self.shared.adds[line];
        let home = self.groups.tallies()[tally].one;
        let line = self.line(format!("tally {tally} of {home}"), Kind::Tally, home);
        self.world.borrow_mut().ledger.add(self.rank, line, None);
        Ok(())
    }

    fn collect(&mut self, line: usize) -> Result<(), Stuck> {
        let tally = self.shared.collects[line];
        let Group { one, others } = &self.groups.tallies()[tally];
        let line = self.line(format!("tally {tally} of {one}"), Kind::Tally, *one);
        let heard = self.heard.entry(line).or_insert(0);
        *heard += others.len();
        let heard = *heard;
        self.await_value(line, heard);
        Ok(())
    }

    fn view<'b>(&self, window: &'b Self::Window<'_>, range: Range<usize>) -> &'b [u8] {
        &window[range]
    }

    fn own<'b>(
        &mut self,
        window: &'b mut Self::Window<'_>,
        range: Range<usize>,
    ) -> Result<&'b mut [u8], Stuck> {
        let part = &mut window[range];
        self.get_back(&addresses(part));
        Ok(part)
    }

    fn lend(
        &mut self,
        window: &Self::Window<'_>,
        peers: impl IntoIterator<Item = usize>,
        range: Range<usize>,
    ) -> Result<(), Stuck> {
        let part = &window[range];
        for peer in peers {
            let number = self.number("loan", self.rank, peer);
            let offer = format!("offer {} → {peer} #{number}", self.rank);
            let offer = self.line(offer, Kind::Flag, peer);
            let back = format!("return {peer} → {} #{number}", self.rank);
            let back = self.line(back, Kind::Flag, self.rank);
            self.write(offer);
            self.lent.push(Out {
                bytes: addresses(part),
                back,
            });
            let mut traffic = self.traffic.borrow_mut();
            let parcels = traffic.loans.entry((self.rank, peer)).or_default();
            parcels.push_back((offer, part.to_vec()));
        }
        Ok(())
    }

    fn borrow(
        &mut self,
        peer: usize,
        len: usize,
        mut each: impl FnMut(usize, &[u8]),
    ) -> Result<(), Stuck> {
        let pair = (peer, self.rank);
        let (_, bytes) = self.take(
            |traffic| traffic.loans.entry(pair).or_default(),
            len,
            || {
                self.line(
                    format!("offer {peer} → {}", self.rank),
                    Kind::Flag,
                    self.rank,
                )
            },
        )?;
        if len > 0 {
            let lines = len.div_ceil(DATA_LINE_BYTES);
            self.copy(self.data(peer), self.data(self.rank), lines);
        }
        each(0, &bytes);
        let number = self.number("return", self.rank, peer);
        let back = format!("return {} → {peer} #{number}", self.rank);
        self.write(self.line(back, Kind::Flag, peer));
        Ok(())
    }

    fn settle(&mut self) -> Result<(), Stuck> {
        for out in std::mem::take(&mut self.lent) {
            self.await_value(out.back, 1);
        }
        Ok(())
    }
}

impl Open for Symbolic<'_> {
    fn open<'w>(&mut self, bytes: &'w mut [u8], _written: bool) -> Self::Window<'w> {
        bytes
    }
}

/// Runs an algorithm over [`Fabric`] once on each of `n` ranks, which share the lines of `groups`, and
/// takes its graph down.
///
/// # Errors
///
/// [`Stuck`] where ranks wait for what nobody does, or take another length than they are given.
///
/// # Panics
///
/// With the algorithm's own panic.
///
/// # Cost
///
/// A stack of 128 KiB for each rank, of which pages are used as needed; linear in the number of acts
/// and of bytes.
///
/// # Examples
///
/// ```
/// use corecast_coll::{Groups, Route, barrier};
/// use corecast_plan::Tree;
/// use corecast_sim::symbolic::{Analysis, Reading, Seats, record};
///
/// let routes = Route::all(&Tree::from_children(0, vec![vec![1], vec![]])?);
/// let graph = record(2, &Groups::new(2), |fabric, rank| {
///     barrier::tree(fabric, &routes[rank], &routes[rank])
/// })?;
/// let seats = Seats::sandy_bridge(2);
/// let bounds = Analysis::new(&graph, &seats, &Reading::default()).bounds();
/// // Two messages, one after the other: R_I + R_R each, with stealing R_I + 2·R_R.
/// assert_eq!((bounds.t_min, bounds.t_max), (210.0, 280.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn record(
    n: usize,
    groups: &Groups,
    body: impl Fn(&mut Symbolic<'_>, usize) -> Result<(), Stuck>,
) -> Result<Graph, Stuck> {
    let world = RefCell::new(World::new(n));
    let traffic = RefCell::new(Traffic::default());
    let mut shared: Vec<Shared> = (0..n).map(|_| Shared::default()).collect();
    for (number, group) in groups.notices().iter().enumerate() {
        shared[group.one].posts.push(number);
        for &reader in &group.others {
            shared[reader].reads.push(number);
        }
    }
    for (number, group) in groups.tallies().iter().enumerate() {
        shared[group.one].collects.push(number);
        for &adder in &group.others {
            shared[adder].adds.push(number);
        }
    }
    let shared = RefCell::new(shared);
    let ended = run(&world, n, |rank| {
        let mut fabric = Symbolic {
            rank,
            size: n,
            world: &world,
            traffic: &traffic,
            groups,
            shared: std::mem::take(&mut shared.borrow_mut()[rank]),
            lent: Vec::new(),
            heard: HashMap::new(),
        };
        // A failure is in the traffic; whoever waits for this rank is told of that one.
        let _ = body(&mut fabric, rank);
    });
    match traffic.into_inner().failure {
        Some(failure) => Err(failure),
        None => ended.map(|()| world.into_inner().ledger.into_graph()),
    }
}

/// Runs a call of any collective, and takes its graph down.
///
/// # Errors
///
/// As [`record`].
///
/// # Cost
///
/// As [`record`].
///
/// # Examples
///
/// ```
/// use corecast_coll::Plans;
/// use corecast_plan::Tree;
/// use corecast_sim::drive::{Call, Collective, Job};
/// use corecast_sim::symbolic::{Analysis, Reading, Seats, record_job};
///
/// let plans = Plans::of_tree(&Tree::from_children(0, vec![vec![1], vec![]])?);
/// let call = Call::new(Collective::Broadcast, "messages", 0, 56)?;
/// let graph = record_job(&Job::new(&call, &plans)?)?;
/// let bounds = Analysis::new(&graph, &Seats::sandy_bridge(2), &Reading::default()).bounds();
/// // R_L + R_I to copy into the flag's line, R_R for it, R_L to copy out of it.
/// assert!((bounds.t_min - (2.3 + 70.0 + 35.0 + 2.3)).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn record_job(job: &Job) -> Result<Graph, Stuck> {
    record(job.ranks(), job.groups(), |fabric, _| {
        job.run(fabric, &Bytes::new(|_| ())).map(|_| ())
    })
}
