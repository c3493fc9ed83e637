//! The ranks of one host: a team, or a single rank.

use corecast::{Combine, Failure, Member, Parts};
use corecast_wire::copy;

/// This rank's part of its host's team; `None` where it is alone there.
pub(crate) struct Node(pub(crate) Option<Member>);

impl Node {
    pub(crate) fn barrier(&mut self) -> Result<(), Failure> {
        self.0.as_mut().map_or(Ok(()), Member::barrier)
    }

    pub(crate) fn broadcast(&mut self, root: usize, data: &mut [u8]) -> Result<(), Failure> {
        match &mut self.0 {
            Some(team) if !data.is_empty() => team.broadcast(root, data),
            _ => Ok(()),
        }
    }

    /// The result is at the root; what others give stays as it is.
    pub(crate) fn reduce(
        &mut self,
        root: usize,
        data: &mut [u8],
        combine: &dyn Combine,
    ) -> Result<(), Failure> {
        match &mut self.0 {
            Some(team) => team.reduce_by(root, data, combine),
            None => Ok(()),
        }
    }

    pub(crate) fn scan(&mut self, data: &mut [u8], combine: &dyn Combine) -> Result<(), Failure> {
        match &mut self.0 {
            Some(team) => team.scan_by(data, combine),
            None => Ok(()),
        }
    }

    pub(crate) fn exscan(&mut self, data: &mut [u8], combine: &dyn Combine) -> Result<(), Failure> {
        match &mut self.0 {
            Some(team) => team.exscan_by(data, combine),
            None => Ok(()),
        }
    }

    /// Gathers parts whose lengths the root knows, one after the other.
    pub(crate) fn gather(
        &mut self,
        root: usize,
        send: &[u8],
        recv: Option<(&mut [u8], &[usize])>,
    ) -> Result<(), Failure> {
        match (&mut self.0, recv) {
            (None, recv) => {
                copy::slice(recv.expect("it is the root").0, send);
                Ok(())
            }
            (Some(team), None) => team.gatherv(root, send, None),
            (Some(team), Some((recv, lens))) => {
                let begins = begins(lens);
                team.gatherv(root, send, Some((recv, Parts::new(lens, &begins))))
            }
        }
    }

    /// Scatters parts whose lengths the root knows, one after the other.
    pub(crate) fn scatter(
        &mut self,
        root: usize,
        send: Option<(&[u8], &[usize])>,
        recv: &mut [u8],
    ) -> Result<(), Failure> {
        match (&mut self.0, send) {
            (None, send) => {
                copy::slice(recv, send.expect("it is the root").0);
                Ok(())
            }
            (Some(team), None) => team.scatterv(root, None, recv),
            (Some(team), Some((send, lens))) => {
                let begins = begins(lens);
                team.scatterv(root, Some((send, Parts::new(lens, &begins))), recv)
            }
        }
    }

    /// Gathers as many numbers of every rank; the root's result has those of all ranks, others' is empty.
    pub(crate) fn gather_numbers(
        &mut self,
        root: usize,
        own: &[u64],
        ranks: usize,
        is_root: bool,
    ) -> Result<Vec<u64>, Failure> {
        let mut all = vec![0; if is_root { own.len() * ranks } else { 0 }];
        match &mut self.0 {
            None => all.copy_from_slice(own),
            Some(team) => team.gather(root, own, is_root.then_some(&mut all[..]))?,
        }
        Ok(all)
    }
}

/// Where parts begin that lie one after the other.
pub(crate) fn begins(lens: &[usize]) -> Vec<usize> {
    let next = |begin: &mut usize, len: &usize| Some(std::mem::replace(begin, *begin + len));
    lens.iter().scan(0, next).collect()
}
