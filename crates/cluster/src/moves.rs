//! Operations that move data. Ranks of a host give theirs to the one that acts for it, and it passes on those of all.

use crate::error::ClusterError;
use crate::member::{Acting, ClusterMember, Part};
use crate::node::begins;
use corecast::{Failure, Parts};
use corecast_collectives::{allgather, alltoall, gather, scatter};
use corecast_network::Network;
use corecast_wire::copy;
use std::ops::Range;

/// Blocks of bytes, one after the other.
struct Blocks {
    lens: Vec<usize>,
    begins: Vec<usize>,
}

impl Blocks {
    fn new(lens: impl IntoIterator<Item = usize>) -> Self {
        let lens: Vec<usize> = lens.into_iter().collect();
        let begins = begins(&lens);
        Self { lens, begins }
    }

    fn len(&self) -> usize {
        self.lens.iter().sum()
    }

    fn range(&self) -> impl Fn(usize) -> Range<usize> + Copy {
        |index| self.begins[index]..self.begins[index] + self.lens[index]
    }
}

impl<N: Network> ClusterMember<N> {
    /// Gathers a part of each rank at the root, which alone gives the place of each part.
    ///
    /// # Errors
    ///
    /// [`ClusterError`].
    ///
    /// # Panics
    ///
    /// If the root gives no room, or others do.
    #[track_caller]
    pub fn gatherv(
        &mut self,
        root: usize,
        send: &[u8],
        recv: Option<(&mut [u8], Parts<'_>)>,
    ) -> Result<(), ClusterError<N::Error>> {
        let (part, hosts) = (self.begin(Acting::Root(root)), self.hosts.clone());
        assert_eq!(recv.is_some(), self.rank == root, "the root gives the room");
        let own = self.lens_of_host(part, send.len())?;
        let mut gathered = self.buffers.get(own.len());
        let room = part.acts.then_some((&mut gathered[..], &own.lens[..]));
        self.node.gather(part.leader, send, room)?;
        // By hosts, at the root.
        let all = Blocks::new(hosts.by_host().map(|rank| match &recv {
            Some((_, parts)) => parts.of(rank).len(),
            None => 0,
        }));
        let blocks = self.by_hosts(&all.lens);
        let mut incoming = self.buffers.get(all.len());
        self.between_hosts(part, |network| {
            let host = hosts.host_of(root);
            gather::start_parts(network, host, &gathered, &mut incoming, blocks.range(), 1)
        })?;
        if let Some((recv, parts)) = recv {
            for (index, rank) in hosts.by_host().enumerate() {
                copy::slice(&mut recv[parts.of(rank)], &incoming[all.range()(index)]);
            }
        }
        self.end()?;
        self.buffers.give_back([gathered, incoming]);
        Ok(())
    }

    /// Scatters parts of the root's data, which alone knows where they are.
    ///
    /// # Errors
    ///
    /// [`ClusterError`].
    ///
    /// # Panics
    ///
    /// If the root gives no data, or others do.
    #[track_caller]
    pub fn scatterv(
        &mut self,
        root: usize,
        send: Option<(&[u8], Parts<'_>)>,
        recv: &mut [u8],
    ) -> Result<(), ClusterError<N::Error>> {
        let (part, hosts) = (self.begin(Acting::Root(root)), self.hosts.clone());
        assert_eq!(send.is_some(), self.rank == root, "the root gives the data");
        let own = self.lens_of_host(part, recv.len())?;
        let mut lens = vec![0; hosts.size()];
        let all = send.map_or(0, |(send, _)| send.len());
        let mut outgoing = self.buffers.empty(all);
        if let Some((send, parts)) = send {
            for (index, rank) in hosts.by_host().enumerate() {
                outgoing.extend_from_slice(&send[parts.of(rank)]);
                lens[index] = parts.of(rank).len();
            }
        }
        let blocks = self.by_hosts(&lens);
        let mut gathered = self.buffers.get(own.len());
        self.between_hosts(part, |network| {
            let host = hosts.host_of(root);
            scatter::start_parts(network, host, &outgoing, blocks.range(), &mut gathered, 1)
        })?;
        let parts = part.acts.then_some((&gathered[..], &own.lens[..]));
        self.node.scatter(part.leader, parts, recv)?;
        self.end()?;
        self.buffers.give_back([outgoing, gathered]);
        Ok(())
    }

    /// Gathers a part of each rank on all ranks, which all know the place of each part.
    ///
    /// # Errors
    ///
    /// [`ClusterError`].
    #[track_caller]
    pub fn allgatherv(
        &mut self,
        send: &[u8],
        recv: &mut [u8],
        parts: Parts<'_>,
    ) -> Result<(), ClusterError<N::Error>> {
        let (part, hosts) = (self.begin(Acting::Leaders), self.hosts.clone());
        let all = Blocks::new(hosts.by_host().map(|rank| parts.of(rank).len()));
        let blocks = self.by_hosts(&all.lens);
        let own = blocks.range()(self.host);
        let mut incoming = self.buffers.get(all.len());
        let lens: Vec<usize> = hosts
            .ranks(self.host)
            .iter()
            .map(|&rank| parts.of(rank).len())
            .collect();
        let mut gathered = self.buffers.get(if part.acts { own.len() } else { 0 });
        let room = part.acts.then_some((&mut gathered[..], &lens[..]));
        self.node.gather(part.leader, send, room)?;
        self.between_hosts(part, |network| {
            allgather::start_parts(network, &gathered, &mut incoming, blocks.range(), 1)
        })?;
        for segment in self.segments(incoming.len(), 1) {
            self.node.broadcast(part.leader, &mut incoming[segment])?;
        }
        for (index, rank) in hosts.by_host().enumerate() {
            copy::slice(&mut recv[parts.of(rank)], &incoming[all.range()(index)]);
        }
        self.end()?;
        self.buffers.give_back([gathered, incoming]);
        Ok(())
    }

    /// Gives each rank its part of every rank's data.
    ///
    /// # Errors
    ///
    /// [`ClusterError`].
    #[track_caller]
    pub fn alltoallv(
        &mut self,
        (send, give): (&[u8], Parts<'_>),
        (recv, take): (&mut [u8], Parts<'_>),
    ) -> Result<(), ClusterError<N::Error>> {
        let (part, hosts) = (self.begin(Acting::Leaders), self.hosts.clone());
        let (n, here) = (hosts.size(), hosts.ranks(self.host).len());
        // What each rank of this host gives to all ranks, by their hosts, and takes from all ranks, by theirs.
        let lens = |parts: Parts<'_>| -> Vec<usize> {
            hosts.by_host().map(|rank| parts.of(rank).len()).collect()
        };
        let (give_lens, take_lens) = (lens(give), lens(take));
        let numbers = give_lens.iter().chain(&take_lens).map(|&len| len as u64);
        let numbers: Vec<u64> = numbers.collect();
        let all = self
            .node
            .gather_numbers(part.leader, &numbers, here, part.acts)?;
        let number = |place: usize, at: usize| match part.acts {
            true => all[2 * n * place + at] as usize,
            false => 0,
        };
        let given = |place: usize, to: usize| number(place, to);
        let taken = |place: usize, from: usize| number(place, n + from);
        let sum = |len: &dyn Fn(usize) -> usize| -> usize { (0..n).map(len).sum() };
        // From each rank of this host, in the order of receivers.
        let mut dense = self.buffers.empty(send.len());
        for rank in hosts.by_host() {
            dense.extend_from_slice(&send[give.of(rank)]);
        }
        let from = Blocks::new((0..here).map(|place| sum(&|to| given(place, to))));
        let mut gathered = self.buffers.get(from.len());
        let room = part.acts.then_some((&mut gathered[..], &from.lens[..]));
        self.node.gather(part.leader, &dense, room)?;
        // To each host, in the order of senders.
        let ranges = self.ranges_of_hosts();
        let between = |len: &dyn Fn(usize, usize) -> usize| {
            Blocks::new(ranges.iter().map(|ranks| {
                let of = |place: usize| -> usize { ranks.clone().map(|at| len(place, at)).sum() };
                (0..here).map(of).sum()
            }))
        };
        let (out, into) = (between(&given), between(&taken));
        let mut outgoing = self.buffers.empty(out.len());
        for ranks in &ranges {
            for place in 0..here {
                let skipped: usize = (0..ranks.start).map(|to| given(place, to)).sum();
                let len: usize = ranks.clone().map(|to| given(place, to)).sum();
                let begin = from.begins[place] + skipped;
                outgoing.extend_from_slice(&gathered[begin..begin + len]);
            }
        }
        let mut incoming = self.buffers.get(into.len());
        self.between_hosts(part, |network| {
            let (out, into) = (out.range(), into.range());
            alltoall::start_parts(network, &outgoing, out, &mut incoming, into, 1)
        })?;
        // From a host, sender by sender, receiver by receiver: to each receiver, in the order of senders.
        let to = Blocks::new((0..here).map(|place| sum(&|from| taken(place, from))));
        let mut scattered = self.buffers.get(to.len());
        let mut ends = to.begins.clone();
        let mut at = 0;
        for sender in 0..n {
            for (place, end) in ends.iter_mut().enumerate() {
                let len = taken(place, sender);
                copy::slice(&mut scattered[*end..*end + len], &incoming[at..at + len]);
                (at, *end) = (at + len, *end + len);
            }
        }
        let own = Blocks::new(take_lens);
        let mut mine = self.buffers.get(own.len());
        let parts = part.acts.then_some((&scattered[..], &to.lens[..]));
        self.node.scatter(part.leader, parts, &mut mine)?;
        for (index, rank) in hosts.by_host().enumerate() {
            copy::slice(&mut recv[take.of(rank)], &mine[own.range()(index)]);
        }
        self.end()?;
        let own = [dense, gathered, outgoing, incoming, scattered, mine];
        self.buffers.give_back(own);
        Ok(())
    }

    /// The lengths that the ranks of this host name, on the one that acts for it; elsewhere none.
    fn lens_of_host(&mut self, part: Part, len: usize) -> Result<Blocks, Failure> {
        let ranks = self.hosts.ranks(self.host).len();
        let all = self
            .node
            .gather_numbers(part.leader, &[len as u64], ranks, part.acts)?;
        Ok(Blocks::new(all.into_iter().map(|len| len as usize)))
    }

    /// The blocks of hosts, from the lengths of ranks' blocks in the order of hosts.
    fn by_hosts(&self, lens: &[usize]) -> Blocks {
        let ranges = self.ranges_of_hosts();
        Blocks::new(ranges.into_iter().map(|ranks| lens[ranks].iter().sum()))
    }

    /// The ranks of each host, by their places in the order of hosts.
    fn ranges_of_hosts(&self) -> Vec<Range<usize>> {
        let hosts = (0..self.hosts.len()).map(|host| self.hosts.ranks(host).len());
        let blocks = Blocks::new(hosts);
        (0..self.hosts.len()).map(blocks.range()).collect()
    }
}
