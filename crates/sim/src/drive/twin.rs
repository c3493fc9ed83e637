//! What a call must give, computed by one loop over all ranks.

use super::{Collective, Job, given};

impl Job {
    /// What [`run`](Job::run) must have given on `rank`.
    ///
    /// # Cost
    ///
    /// Of sums, a pass over the bytes of all ranks.
    pub fn expected(&self, rank: usize) -> Vec<u8> {
        let (n, len, root) = (self.n, self.call.bytes, self.call.root);
        let at_root = |data: Vec<u8>| if rank == root { data } else { Vec::new() };
        let all = || (0..n).flat_map(|rank| given(rank, len)).collect();
        match self.call.collective {
            Collective::Barrier => Vec::new(),
            Collective::Broadcast => given(root, len),
            Collective::Scatter => given(root, len)[self.block()(rank)].to_vec(),
            Collective::Gather => at_root(all()),
            Collective::Allgather => all(),
            Collective::Alltoall => {
                let each = len / n;
                let from = |peer| given(peer, n * each)[rank * each..(rank + 1) * each].to_vec();
                (0..n).flat_map(from).collect()
            }
            Collective::Reduce => at_root(sum(0..n, len)),
            Collective::Allreduce => sum(0..n, len),
            Collective::ReduceScatter => sum(0..n, len)[self.block()(rank)].to_vec(),
            Collective::Scan => sum(0..rank + 1, len),
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
