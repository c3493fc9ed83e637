//! Operations that combine data or give them to all.

use crate::error::ClusterError;
use crate::member::{Acting, ClusterMember, Ended, Step};
use corecast::Combine;
use corecast_collectives::context::aligned_room;
use corecast_collectives::{allreduce, broadcast, reduce, reduce_scatter};
use corecast_network::Network;
use corecast_wire::copy;
use std::ops::Range;

/// A copy with the widest alignment of elements.
pub(crate) fn copied<'a>(room: &'a mut Vec<u128>, data: &[u8]) -> &'a mut [u8] {
    let copy = aligned_room(room, data.len());
    copy::slice(copy, data);
    copy
}

impl<N: Network> ClusterMember<N> {
    /// Gives all ranks the root's data. A segment is on its way to other hosts while the one before it is given to the ranks
    /// of a host. Where hosts have [several leaders](crate::Hosts::lanes), each brings a part of long data to those of its number, as in
    /// reductions that are no `reduce_scatter`.
    ///
    /// # Errors
    ///
    /// [`ClusterError`].
    #[track_caller]
    pub fn broadcast(
        &mut self,
        root: usize,
        data: &mut [u8],
    ) -> Result<(), ClusterError<N::Error>> {
        let host = self.hosts.host_of(root);
        for step in self.steps(data.len(), 1) {
            match step.single() {
                Some(segment) => {
                    let (part, data) = (self.begin(Acting::Root(root)), &mut data[segment]);
                    self.between_hosts(part, |network| broadcast::start(network, host, data, 1))?;
                    self.node.broadcast(part.leader, data)?;
                }
                None => self.broadcast_in_lanes(root, data, &step)?,
            }
        }
        self.end()
    }

    /// The leaders of the root's host have all that the others of their number wait for once its ranks have it.
    fn broadcast_in_lanes(&mut self, root: usize, data: &mut [u8], step: &Step) -> Ended<N> {
        let host = self.hosts.host_of(root);
        let is_here = host == self.host;
        if is_here {
            for (_, range) in step.parts() {
                self.node
                    .broadcast(self.hosts.place_of(root), &mut data[range])?;
            }
        }
        for (lane, range) in step.parts() {
            let (part, data) = (self.begin(Acting::Leader(lane)), &mut data[range]);
            self.between_hosts(part, |network| broadcast::start(network, host, data, 1))?;
        }
        match is_here {
            true => Ok(()),
            false => self.give_parts(data, step),
        }
    }

    /// Gives the ranks of this host what its leaders have.
    fn give_parts(&mut self, data: &mut [u8], step: &Step) -> Ended<N> {
        for (lane, range) in step.parts() {
            let leader = self.hosts.leaders(self.host)[lane];
            self.node
                .broadcast(self.hosts.place_of(leader), &mut data[range])?;
        }
        Ok(())
    }

    /// Combines all ranks' data at the root; what others give stays as it is.
    ///
    /// # Errors
    ///
    /// [`ClusterError`].
    ///
    /// # Panics
    ///
    /// If the operator keeps the order of ranks and hosts [do not](Self::keeps_order).
    #[track_caller]
    pub fn reduce_by(
        &mut self,
        root: usize,
        data: &mut [u8],
        combine: &dyn Combine,
    ) -> Result<(), ClusterError<N::Error>> {
        self.assert_order(combine);
        let host = self.hosts.host_of(root);
        let mut room = Vec::new();
        for step in self.steps(data.len(), combine.element_size()) {
            let Some(segment) = step.single() else {
                self.reduce_in_lanes((root, &mut room), data, &step, combine)?;
                continue;
            };
            let part = self.begin(Acting::Root(root));
            let mut data = &mut data[segment];
            if part.acts && self.rank != root {
                data = copied(&mut room, data);
            }
            self.node.reduce(part.leader, data, combine)?;
            self.between_hosts(part, |network| reduce::start(network, host, data, &combine))?;
        }
        self.end()
    }

    /// The leaders of the root's host give it what they have; what they bring themselves is combined in `room`.
    fn reduce_in_lanes(
        &mut self,
        (root, room): (usize, &mut Vec<u128>),
        data: &mut [u8],
        step: &Step,
        combine: &dyn Combine,
    ) -> Ended<N> {
        let (host, here) = (self.hosts.host_of(root), self.hosts.clone());
        let leads = |lane: usize| here.leaders(self.host)[lane] == self.rank;
        let own = step.parts().find(|(lane, _)| leads(*lane));
        let mut own = own.map(|(_, range)| copied(room, &data[range]));
        for (lane, range) in step.parts() {
            let part = self.begin(Acting::Leader(lane));
            match &mut own {
                Some(own) if part.acts => {
                    self.node.reduce(part.leader, own, combine)?;
                }
                _ => self.node.reduce(part.leader, &mut data[range], combine)?,
            }
        }
        if let Some(own) = &mut own {
            let reduced = reduce::start(&mut self.network, host, own, &combine);
            reduced.map_err(ClusterError::Network)?;
        }
        if host != self.host {
            return Ok(());
        }
        let own = own.as_deref().unwrap_or_default();
        let at = here.place_of(root);
        if self.rank != root {
            return Ok(self.node.gather(at, own, None)?);
        }
        let place = |lane: usize| here.place_of(here.leaders(host)[lane]);
        let mut lens = vec![0; here.ranks(host).len()];
        for (lane, range) in step.parts() {
            lens[place(lane)] = range.len();
        }
        let begins = crate::node::begins(&lens);
        let mut all = self.buffers.get(lens.iter().sum());
        self.node.gather(at, own, Some((&mut all, &lens)))?;
        for (lane, range) in step.parts() {
            let from = begins[place(lane)];
            copy::slice(&mut data[range.clone()], &all[from..from + range.len()]);
        }
        self.buffers.give_back([all]);
        Ok(())
    }

    /// Combines all ranks' data on all of them.
    ///
    /// # Errors
    ///
    /// [`ClusterError`].
    ///
    /// # Panics
    ///
    /// As [`reduce_by`](Self::reduce_by).
    #[track_caller]
    pub fn allreduce_by(
        &mut self,
        data: &mut [u8],
        combine: &dyn Combine,
    ) -> Result<(), ClusterError<N::Error>> {
        self.assert_order(combine);
        for step in self.steps(data.len(), combine.element_size()) {
            for (lane, range) in step.parts() {
                let part = self.begin(Acting::Leader(lane));
                self.node.reduce(part.leader, &mut data[range], combine)?;
            }
            for (lane, range) in step.parts() {
                let (part, data) = (self.begin(Acting::Leader(lane)), &mut data[range]);
                self.between_hosts(part, |network| allreduce::start(network, data, &combine))?;
            }
            self.give_parts(data, &step)?;
        }
        self.end()
    }

    /// Combines all ranks' data, of which each gets its block. `counts` are the elements of all blocks.
    ///
    /// # Errors
    ///
    /// [`ClusterError`].
    ///
    /// # Panics
    ///
    /// As [`reduce_by`](Self::reduce_by), and for blocks that are not the data's.
    #[track_caller]
    pub fn reduce_scatterv_by(
        &mut self,
        send: &[u8],
        counts: &[usize],
        recv: &mut [u8],
        combine: &dyn Combine,
    ) -> Result<(), ClusterError<N::Error>> {
        self.assert_order(combine);
        let (part, hosts, element) = (
            self.begin(Acting::Leaders),
            self.hosts.clone(),
            combine.element_size(),
        );
        let lens: Vec<usize> = counts.iter().map(|count| count * element).collect();
        let begins = crate::node::begins(&lens);
        assert_eq!(
            lens.iter().sum::<usize>(),
            send.len(),
            "`send` has all blocks"
        );
        // Blocks of one host lie side by side; node and network work in place.
        let mut room = Vec::new();
        let whole = aligned_room(&mut room, send.len());
        let mut at = 0;
        for rank in hosts.by_host() {
            let block = &send[begins[rank]..][..lens[rank]];
            copy::slice(&mut whole[at..at + block.len()], block);
            at += block.len();
        }
        self.node.reduce(part.leader, whole, combine)?;
        let of_host =
            |host: usize| -> usize { hosts.ranks(host).iter().map(|&rank| lens[rank]).sum() };
        let blocks: Vec<usize> = (0..hosts.len()).map(of_host).collect();
        let starts = crate::node::begins(&blocks);
        let block = |host: usize| -> Range<usize> { starts[host]..starts[host] + blocks[host] };
        let mut own_room = Vec::new();
        let own = aligned_room(&mut own_room, blocks[self.host]);
        self.between_hosts(part, |network| {
            reduce_scatter::start(network, whole, block, own, &combine)
        })?;
        let own_lens: Vec<usize> = hosts
            .ranks(self.host)
            .iter()
            .map(|&rank| lens[rank])
            .collect();
        let send = part.acts.then_some((&*own, &own_lens[..]));
        self.node.scatter(part.leader, send, recv)?;
        self.end()
    }

    #[track_caller]
    pub(crate) fn assert_order(&self, combine: &dyn Combine) {
        assert!(
            !combine.ordered() || self.keeps_order(),
            "hosts whose ranks take turns cannot keep the order of an operator: ask `keeps_order`"
        );
    }
}
