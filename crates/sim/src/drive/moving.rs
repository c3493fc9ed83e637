//! Collectives that move data.

use super::{Job, Open, given};
use corecast_collectives::{
    Fragments, Way, allgather, alltoall, broadcast, fragments, gather, scatter,
};
use corecast_wire::notice::NOTICE_PAYLOAD_BYTES;
use std::ops::Range;

impl Job {
    /// How parts go from rank to rank.
    pub(super) fn way(&self) -> Way {
        match self.call.algorithm.as_str() {
            "push" => Way::push(self.message_bytes, 1),
            "pull" => Way::pull(self.message_bytes, 1),
            _ => Way::fitting(self.message_bytes, 1),
        }
    }

    /// Fragments of long data, by the algorithm's name.
    pub(super) fn fragments(&self) -> Fragments {
        match self.call.algorithm.as_str() {
            "whole" => Fragments::Whole,
            "dynamic" => Fragments::DYNAMIC,
            _ => Fragments::FIXED,
        }
    }

    /// The block of a rank, of the call's bytes.
    pub(super) fn block(&self) -> impl Fn(usize) -> Range<usize> + Copy {
        let (len, n) = (self.call.bytes, self.n);
        move |rank| fragments::block(len, 1, n, rank)
    }

    /// Whether two ranks share a package.
    fn near(&self, a: usize, b: usize) -> bool {
        self.near[a] == self.near[b]
    }

    pub(super) fn broadcast<F: Open>(&self, fabric: &mut F) -> Result<Vec<u8>, F::Error> {
        let (rank, root, len) = (fabric.rank(), self.call.root, self.call.bytes);
        let mut data = match rank == root {
            true => given(root, len),
            false => vec![0; len],
        };
        let lines = || Fragments::Fixed(NOTICE_PAYLOAD_BYTES).of(len, 1);
        let shape = (len, 1);
        match self.call.algorithm.as_str() {
            "messages" => {
                for part in Fragments::Fixed(self.message_bytes).of(len, 1) {
                    broadcast::tree(fabric, &self.broadcast[rank], root, &mut data[part])?;
                }
            }
            "line" => {
                for part in lines() {
                    broadcast::line(fabric, &self.all_lines[rank], root, &mut data[part])?;
                }
            }
            "groups" => {
                for part in lines() {
                    broadcast::groups(fabric, &self.fan_out[rank], &mut data[part])?;
                }
            }
            name => {
                let mut window = fabric.open(&mut data, rank == root);
                let (window, fixed) = (&mut window, Fragments::FIXED);
                match name {
                    "binomial" => broadcast::binomial(fabric, root, window, shape, fixed),
                    "chain" => broadcast::chain(fabric, root, window, shape, fixed),
                    "scattered" => broadcast::scattered(fabric, root, window, shape, self.way()),
                    _ => {
                        let route = &self.broadcast[rank];
                        broadcast::lent(fabric, route, root, window, shape, self.fragments())
                    }
                }?;
            }
        }
        Ok(data)
    }

    pub(super) fn scatter<F: Open>(&self, fabric: &mut F) -> Result<Vec<u8>, F::Error> {
        let (rank, root, n) = (fabric.rank(), self.call.root, self.n);
        let block = self.block();
        let mut send = match rank == root {
            true => given(root, self.call.bytes),
            false => Vec::new(),
        };
        let mut recv = vec![0; block(rank).len()];
        match self.call.algorithm.as_str() {
            "binomial" => {
                let size = self.around();
                let mut room = vec![0; size(subtree((rank + n - root) % n, n))];
                let mut scratch = fabric.open(&mut room, false);
                let (scratch, recv) = (&mut scratch, &mut recv[..]);
                scatter::binomial(fabric, root, &send, block, scratch, recv, size, self.way())?;
            }
            "token" => {
                let near = self.near(rank, root);
                let window = &fabric.open(&mut send, true);
                let shape = (1, scatter::TOKEN_BYTES);
                scatter::token_ring(fabric, root, window, block, &mut recv, near, shape)?;
            }
            _ => {
                let window = &fabric.open(&mut send, true);
                scatter::direct(fabric, root, window, block, &mut recv, self.way())?;
            }
        }
        Ok(recv)
    }

    /// Bytes of the blocks of ranks that are counted from the root.
    fn around(&self) -> impl Fn(Range<usize>) -> usize + Copy {
        let (block, n, root) = (self.block(), self.n, self.call.root);
        move |ranks: Range<usize>| ranks.map(|v| block((v + root) % n).len()).sum()
    }

    pub(super) fn gather<F: Open>(&self, fabric: &mut F) -> Result<Vec<u8>, F::Error> {
        let (rank, root, n, len) = (fabric.rank(), self.call.root, self.n, self.call.bytes);
        let mut mine = given(rank, len);
        let mut all = match rank == root {
            true => vec![0; n * len],
            false => Vec::new(),
        };
        let part = |rank: usize| rank * len..(rank + 1) * len;
        match self.call.algorithm.as_str() {
            "binomial" => {
                let size = |ranks: Range<usize>| ranks.len() * len;
                let mut room = vec![0; size(subtree((rank + n - root) % n, n))];
                let mut scratch = fabric.open(&mut room, false);
                let (scratch, all) = (&mut scratch, &mut all[..]);
                gather::binomial(fabric, root, &mine, scratch, all, part, size, self.way())?;
            }
            "token" => {
                let near = self.near(rank, root);
                let give = (&fabric.open(&mut mine, true), len);
                let shape = (1, scatter::TOKEN_BYTES);
                gather::token_ring(fabric, root, give, &mut all, part, near, shape)?;
            }
            _ => {
                let give = (&fabric.open(&mut mine, true), len);
                gather::direct(fabric, root, give, &mut all, part, self.way())?;
            }
        }
        Ok(all)
    }

    pub(super) fn allgather<F: Open>(&self, fabric: &mut F) -> Result<Vec<u8>, F::Error> {
        let (rank, n, len) = (fabric.rank(), self.n, self.call.bytes);
        let mut mine = given(rank, len);
        let mut all = vec![0; n * len];
        let part = |rank: usize| rank * len..(rank + 1) * len;
        all[part(rank)].copy_from_slice(&mine);
        match self.call.algorithm.as_str() {
            "direct" => {
                let give = (&fabric.open(&mut mine, true), len);
                allgather::direct(fabric, give, &mut all, part, self.way())?;
            }
            "ring" => {
                let window = &mut fabric.open(&mut all, true);
                allgather::ring(fabric, window, part, rank, self.way())?;
            }
            _ => {
                let window = &mut fabric.open(&mut all, true);
                allgather::bruck(fabric, window, len, self.way())?;
            }
        }
        Ok(all)
    }

    pub(super) fn alltoall<F: Open>(&self, fabric: &mut F) -> Result<Vec<u8>, F::Error> {
        let (rank, n, len) = (fabric.rank(), self.n, self.call.bytes);
        // Parts of one length, as alltoall has them.
        let each = len / n;
        let part = |rank: usize| rank * each..(rank + 1) * each;
        let mut send = given(rank, n * each);
        let mut recv = vec![0; n * each];
        match self.call.algorithm.as_str() {
            "direct" => {
                let window = &fabric.open(&mut send, true);
                alltoall::direct(fabric, window, part, &mut recv, part, self.way())?;
            }
            _ => {
                let mut room = vec![0; 3 * n * each];
                let scratch = (&mut fabric.open(&mut room, false), each);
                alltoall::bruck(fabric, &send, part, &mut recv, part, scratch, self.way())?;
            }
        }
        Ok(recv)
    }
}

/// The ranks that `v` passes blocks on to and itself, in a binomial tree and counted from the root.
fn subtree(v: usize, n: usize) -> Range<usize> {
    match v {
        0 => 0..n,
        _ => v..(v + (v & v.wrapping_neg())).min(n),
    }
}
