//! The expected results of a call, computed by one loop over all ranks.

use super::data::{given, parts};
use super::job::Job;
use corecast_collectives::Collective;
use std::borrow::Cow;

/// The expected results of a call, for all ranks.
#[derive(Clone, Debug)]
pub struct Reference<'a> {
    job: &'a Job,
    /// The data of the root or of all ranks, or their sum, where ranks get that or a part of it.
    all: Vec<u8>,
}

impl Job {
    /// The results that [`run`](Job::run) must return.
    ///
    /// # Cost
    ///
    /// A pass over the bytes of all ranks, or of the root if only it contributes.
    pub fn reference(&self) -> Reference<'_> {
        let (n, len, root) = (self.ranks(), self.call().bytes, self.call().root);
        let all = match self.call().collective {
            Collective::Broadcast | Collective::Scatter => given(root, len),
            Collective::Gather | Collective::Allgather => {
                (0..n).flat_map(|rank| given(rank, len)).collect()
            }
            Collective::Reduce | Collective::Allreduce | Collective::ReduceScatter => {
                sum(0..n, len)
            }
            // Each rank has a result of its own, or none.
            _ => Vec::new(),
        };
        Reference { job: self, all }
    }

    /// The result that [`run`](Job::run) must return on `rank`; for several ranks, [`reference`](Self::reference) is
    /// cheaper.
    pub fn expected(&self, rank: usize) -> Vec<u8> {
        self.reference().expected(rank).into_owned()
    }
}

impl Reference<'_> {
    /// The result that rank `rank` must return.
    pub fn expected(&self, rank: usize) -> Cow<'_, [u8]> {
        let (call, n) = (self.job.call(), self.job.ranks());
        let (len, all) = (call.bytes, &self.all[..]);
        match call.collective {
            Collective::Scatter => all[parts(len / n)(rank)].into(),
            Collective::ReduceScatter => all[self.job.block()(rank)].into(),
            Collective::Gather | Collective::Reduce if rank != call.root => (&[][..]).into(),
            Collective::Alltoall => {
                let each = len / n;
                let from = |peer| given(peer, n * each)[parts(each)(rank)].to_vec();
                let parts: Vec<u8> = (0..n).flat_map(from).collect();
                parts.into()
            }
            Collective::Scan => sum(0..rank + 1, len).into(),
            _ => all.into(),
        }
    }
}

fn sum(ranks: std::ops::Range<usize>, len: usize) -> Vec<u8> {
    ranks.fold(vec![0; len], |mut sum: Vec<u8>, rank| {
        let given = given(rank, len);
        sum.iter_mut()
            .zip(given)
            .for_each(|(a, b)| *a = a.wrapping_add(b));
        sum
    })
}
