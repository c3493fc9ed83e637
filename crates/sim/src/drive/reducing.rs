//! Collectives that combine.

use super::{Job, Open, given};
use corecast_collectives::scan::Upto;
use corecast_collectives::{
    Combine, Fragments, allreduce, fragments, reduce, reduce_scatter, scan,
};

impl Job {
    /// Parts of data that go in messages.
    fn messages(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        Fragments::Fixed(self.message_bytes).of(self.call.bytes, 1)
    }

    pub(super) fn reduce<F: Open>(
        &self,
        fabric: &mut F,
        combine: &impl Combine,
    ) -> Result<Vec<u8>, F::Error> {
        let (rank, root, len) = (fabric.rank(), self.call.root, self.call.bytes);
        let mut data = given(rank, len);
        let route = &self.reduce[rank];
        if self.call.algorithm == "messages" {
            let mut incoming = vec![0; self.message_bytes.min(len)];
            for part in self.messages() {
                let incoming = &mut incoming[..part.len()];
                reduce::tree(fabric, route, root, &mut data[part], incoming, combine)?;
            }
        } else {
            let fragments = self.fragments();
            let mut room = vec![0; reduce::SCRATCH_FRAGMENTS * fragments.bytes(len, 1)];
            let window = &mut fabric.open(&mut data, true);
            let buffers = (window, &mut fabric.open(&mut room, false));
            reduce::lent(fabric, route, root, buffers, len, fragments, combine)?;
        }
        match rank == root {
            true => Ok(data),
            false => Ok(Vec::new()),
        }
    }

    pub(super) fn allreduce<F: Open>(
        &self,
        fabric: &mut F,
        combine: &impl Combine,
    ) -> Result<Vec<u8>, F::Error> {
        let (rank, n, len) = (fabric.rank(), self.n, self.call.bytes);
        let mut data = given(rank, len);
        let mut incoming = vec![0; self.message_bytes];
        match self.call.algorithm.as_str() {
            "messages" => {
                let (fan_in, fan_out) = (&self.reduce[rank], &self.broadcast[rank]);
                for part in self.messages() {
                    let (sum, incoming) = (&mut data[part.clone()], &mut incoming[..part.len()]);
                    match n {
                        2 => allreduce::exchange(fabric, sum, incoming, combine)?,
                        _ => allreduce::tree(fabric, fan_in, fan_out, sum, incoming, combine)?,
                    }
                }
            }
            "doubling" => {
                let room = Fragments::FIXED.bytes(len, 1).min(len);
                let mut scratch = vec![0; room];
                for part in Fragments::FIXED.of(len, 1) {
                    let bytes = part.len();
                    let window = &mut fabric.open(&mut data[part], true);
                    let scratch = &mut fabric.open(&mut scratch[..bytes], false);
                    let buffers = (window, scratch, bytes);
                    allreduce::doubling(fabric, buffers, &mut incoming, combine, self.way())?;
                }
            }
            name => {
                let window = &mut fabric.open(&mut data, true);
                let (way, incoming) = (self.way(), &mut incoming[..]);
                match name {
                    "rabenseifner" => {
                        allreduce::rabenseifner(fabric, window, len, incoming, combine, way)
                    }
                    "ring" => allreduce::ring(fabric, window, len, incoming, combine, way),
                    _ => allreduce::owners(fabric, window, len, combine),
                }?;
            }
        }
        Ok(data)
    }

    pub(super) fn reduce_scatter<F: Open>(
        &self,
        fabric: &mut F,
        combine: &impl Combine,
    ) -> Result<Vec<u8>, F::Error> {
        let (rank, n, len) = (fabric.rank(), self.n, self.call.bytes);
        let block = self.block();
        let mut data = given(rank, len);
        let mut incoming = vec![0; self.message_bytes];
        let mut recv = vec![0; block(rank).len()];
        let way = self.way();
        match self.call.algorithm.as_str() {
            "ring" => {
                let longest = fragments::block(len, 1, n, 0).len();
                let mut room = vec![0; 2 * longest];
                let scratch = (&mut fabric.open(&mut room, false), longest);
                let buffers = (scratch, &mut incoming[..]);
                reduce_scatter::ring(fabric, &data, block, &mut recv, buffers, combine, way)?;
            }
            "halving" => {
                let mut room = vec![0; len];
                let scratch = &mut fabric.open(&mut room, false);
                let buffers = (scratch, &mut incoming[..]);
                reduce_scatter::halving(fabric, &data, block, &mut recv, buffers, combine, way)?;
            }
            _ => {
                let window = &fabric.open(&mut data, true);
                let incoming = &mut incoming[..];
                reduce_scatter::owners(fabric, window, block, &mut recv, incoming, combine, way)?;
            }
        }
        Ok(recv)
    }

    pub(super) fn scan<F: Open>(
        &self,
        fabric: &mut F,
        combine: &impl Combine,
    ) -> Result<Vec<u8>, F::Error> {
        let (rank, len) = (fabric.rank(), self.call.bytes);
        let (fragments, way) = (Fragments::FIXED, self.way());
        let room = fragments.bytes(len, 1).min(len);
        let mut data = given(rank, len);
        let mut incoming = vec![0; self.message_bytes];
        let (mut first, mut second) = (vec![0; room], vec![0; room]);
        if self.call.algorithm == "doubling" {
            let first = &mut fabric.open(&mut first, false);
            let second = &mut fabric.open(&mut second, false);
            for part in fragments.of(len, 1) {
                let buffers = (&mut *first, &mut *second, &mut incoming[..]);
                scan::doubling(fabric, &mut data[part], Upto::Own, buffers, combine, way)?;
            }
        } else {
            let mut both = vec![0; 2 * room];
            let scratch = (&mut fabric.open(&mut both, false), room);
            let window = &mut fabric.open(&mut data, true);
            let buffers = (window, scratch, &mut incoming[..]);
            scan::chain(fabric, buffers, len, fragments, Upto::Own, combine, way)?;
        }
        Ok(data)
    }
}
