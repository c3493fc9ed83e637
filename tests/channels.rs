//! A fabric made of the standard library's channels, that counts what goes through it. A test program takes this file in by its
//! path.

use corecast_collectives::Groups;
use corecast_wire::Fabric;
use std::convert::Infallible;
use std::ops::{Add, Range};
use std::sync::mpsc::{Receiver, Sender, channel};

/// What a fabric has sent, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) notifications: usize,
    pub(crate) messages: usize,
    pub(crate) loans: usize,
    /// Reads of published lines.
    pub(crate) reads: usize,
    /// Additions to lines, and what it takes to wait at one.
    pub(crate) additions: usize,
    /// Bytes of messages, of loans that were read or filled, and of published lines that were read.
    pub(crate) bytes: usize,
}

impl Add for Sent {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            notifications: self.notifications + other.notifications,
            messages: self.messages + other.messages,
            loans: self.loans + other.loans,
            reads: self.reads + other.reads,
            additions: self.additions + other.additions,
            bytes: self.bytes + other.bytes,
        }
    }
}

/// Ends of channels to or from one peer: notifications, messages, loans, loans that were filled.
type Out = [Sender<Vec<u8>>; 4];
type Into = [Receiver<Vec<u8>>; 4];

/// One rank's ends of all channels.
pub(crate) struct Channels {
    pub(crate) rank: usize,
    message_bytes: usize,
    out: Vec<Out>,
    into: Vec<Into>,
    publishes: Vec<Vec<Sender<Vec<u8>>>>,
    reads: Vec<Receiver<Vec<u8>>>,
    adds: Vec<Sender<()>>,
    /// The lines that this rank collects, each with the number of ranks that add to it.
    collects: Vec<(Receiver<()>, usize)>,
    /// The ends of counter barriers, to the others and from them.
    barrier_ends: Vec<(Vec<Sender<()>>, Receiver<()>)>,
    pub(crate) sent: Sent,
}

impl Channels {
    /// The ends of `n` ranks of which these groups share lines, with messages of up to so many bytes.
    pub(crate) fn all(n: usize, groups: &Groups, message_bytes: usize) -> Vec<Self> {
        let mut fabrics: Vec<Self> = (0..n)
            .map(|rank| Self {
                rank,
                message_bytes,
                out: Vec::new(),
                into: Vec::new(),
                publishes: Vec::new(),
                reads: Vec::new(),
                adds: Vec::new(),
                collects: Vec::new(),
                barrier_ends: Vec::new(),
                sent: Sent::default(),
            })
            .collect();
        for from in 0..n {
            for to in 0..n {
                let ends = [channel(), channel(), channel(), channel()];
                let [(a, w), (b, x), (c, y), (d, z)] = ends;
                fabrics[from].out.push([a, b, c, d]);
                fabrics[to].into.push([w, x, y, z]);
            }
        }
        for group in groups.rings() {
            let (ends, lines): (Vec<_>, Vec<_>) = group.others.iter().map(|_| channel()).unzip();
            fabrics[group.one].publishes.push(ends);
            for (&reader, line) in group.others.iter().zip(lines) {
                fabrics[reader].reads.push(line);
            }
        }
        for group in groups.counters() {
            let (end, line) = channel();
            let members = group.others.len();
            fabrics[group.one].collects.push((line, members));
            for &adder in &group.others {
                fabrics[adder].adds.push(end.clone());
            }
        }
        for ranks in groups.counter_barriers() {
            let (ends, lines): (Vec<_>, Vec<_>) = ranks.iter().map(|_| channel()).unzip();
            for (place, line) in lines.into_iter().enumerate() {
                let others = (0..ranks.len()).filter(|&other| other != place);
                let others = others.map(|other| ends[other].clone()).collect();
                fabrics[ranks[place]].barrier_ends.push((others, line));
            }
        }
        fabrics
    }

    /// Asserts that this rank has received all that was sent to it.
    pub(crate) fn assert_received(&self) {
        let mut ends = self.into.iter().flatten();
        assert!(ends.all(|end| end.try_recv().is_err()), "nobody heard it");
        let mut lines = self.reads.iter();
        assert!(lines.all(|line| line.try_recv().is_err()), "nobody read it");
        let mut lines = self.collects.iter();
        assert!(lines.all(|(line, _)| line.try_recv().is_err()), "too many");
        let mut lines = self.barrier_ends.iter();
        assert!(lines.all(|(_, line)| line.try_recv().is_err()), "too many");
    }
}

impl Fabric for Channels {
    type Error = Infallible;
    type Window<'w> = &'w mut [u8];

    corecast_wire::windows_lent_as_copies!();

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.out.len()
    }

    fn notify(&mut self, peer: usize) -> Result<(), Infallible> {
        self.sent.notifications += 1;
        self.out[peer][0].send(Vec::new()).unwrap();
        Ok(())
    }

    fn wait(&mut self, peer: usize) -> Result<(), Infallible> {
        assert!(self.into[peer][0].recv().unwrap().is_empty());
        Ok(())
    }

    fn send(&mut self, peer: usize, payload: &[u8]) -> Result<(), Infallible> {
        self.sent.messages += 1;
        self.sent.bytes += payload.len();
        self.out[peer][1].send(payload.to_vec()).unwrap();
        Ok(())
    }

    fn receive(&mut self, peer: usize, payload: &mut [u8]) -> Result<(), Infallible> {
        payload.copy_from_slice(&self.into[peer][1].recv().unwrap());
        Ok(())
    }

    fn publish(&mut self, line: usize, payload: &[u8]) -> Result<(), Infallible> {
        for reader in &self.publishes[line] {
            reader.send(payload.to_vec()).unwrap();
        }
        Ok(())
    }

    fn read(&mut self, line: usize, payload: &mut [u8]) -> Result<(), Infallible> {
        self.sent.reads += 1;
        self.sent.bytes += payload.len();
        payload.copy_from_slice(&self.reads[line].recv().unwrap());
        Ok(())
    }

    fn add(&mut self, line: usize) -> Result<(), Infallible> {
        self.sent.additions += 1;
        self.adds[line].send(()).unwrap();
        Ok(())
    }

    fn collect(&mut self, line: usize) -> Result<(), Infallible> {
        let (line, members) = &self.collects[line];
        (0..*members).for_each(|_| line.recv().unwrap());
        Ok(())
    }

    fn arrive_and_wait(&mut self, line: usize) -> Result<(), Infallible> {
        // An addition and a read. The rank that comes last does not read; rank 0 stands for it
        // here.
        self.sent.additions += 1 + usize::from(self.rank > 0);
        let (others, line) = &self.barrier_ends[line];
        others.iter().for_each(|other| other.send(()).unwrap());
        others.iter().for_each(|_| line.recv().unwrap());
        Ok(())
    }

    fn message_bytes_max(&self) -> usize {
        self.message_bytes
    }

    fn publish_bytes_max(&self, _line: usize) -> usize {
        usize::MAX
    }

    fn wrong_length(&self, peer: usize, sent: usize, expected: usize) -> Infallible {
        panic!("{sent} bytes of rank {peer} where {expected} are expected")
    }

    fn lend(
        &mut self,
        window: &Self::Window<'_>,
        peers: impl IntoIterator<Item = usize>,
        range: Range<usize>,
    ) -> Result<(), Infallible> {
        for peer in peers {
            self.sent.loans += 1;
            self.out[peer][2]
                .send(window[range.clone()].to_vec())
                .unwrap();
        }
        Ok(())
    }

    fn borrow(
        &mut self,
        peer: usize,
        len: usize,
        mut consume: impl FnMut(usize, &[u8]),
    ) -> Result<(), Infallible> {
        let lent = self.into[peer][2].recv().unwrap();
        assert_eq!(lent.len(), len);
        self.sent.bytes += len;
        // A fabric may give a loan in several pieces; this one gives two.
        let (header, back) = lent.split_at(len / 2);
        consume(0, header);
        consume(header.len(), back);
        Ok(())
    }

    fn dismiss(&mut self, peer: usize, len: usize) -> Result<(), Infallible> {
        assert_eq!(self.into[peer][2].recv().unwrap().len(), len);
        Ok(())
    }

    fn lend_to_fill(
        &mut self,
        window: &mut Self::Window<'_>,
        peer: usize,
        range: Range<usize>,
    ) -> Result<(), Infallible> {
        self.lend(window, [peer], range.clone())?;
        window[range].copy_from_slice(&self.into[peer][3].recv().unwrap());
        Ok(())
    }

    fn fill(
        &mut self,
        peer: usize,
        len: usize,
        body: impl FnOnce(&mut Self, &mut [u8]) -> Result<(), Infallible>,
    ) -> Result<(), Infallible> {
        let mut part = self.into[peer][2].recv().unwrap();
        assert_eq!(part.len(), len);
        self.sent.bytes += len;
        body(self, &mut part)?;
        self.out[peer][3].send(part).unwrap();
        Ok(())
    }
}
