//! Layer 3: one rank of a communicator, whose members are a team on one host, or several hosts'.

use corecast::operator::{Element, Max, Named, erased};
use corecast::{Combine, Member, Parts};
use corecast_cluster::{ClusterError, ClusterMember};
use corecast_network::{MpiFabric, NetworkError};
use std::num::NonZeroUsize;

/// Why a collective that was taken over has failed.
pub(crate) type Fault = ClusterError<NetworkError>;

/// One rank of a communicator, and what it calls. Operations work on bytes.
#[expect(
    clippy::large_enum_variant,
    reason = "one for each team, and the smaller one is on the fast way"
)]
pub(crate) enum Ranks {
    /// All on this host.
    Host(Member),
    /// On several hosts.
    Hosts(ClusterMember<MpiFabric>),
}

/// Parts of `len` bytes each, one after the other.
struct Equal(Vec<usize>, Vec<usize>);

impl Equal {
    fn new(ranks: usize, len: usize) -> Self {
        Self(
            vec![len; ranks],
            (0..ranks).map(|rank| rank * len).collect(),
        )
    }

    fn parts(&self) -> Parts<'_> {
        Parts::new(&self.0, &self.1)
    }
}

impl Ranks {
    /// Has the record name the program's call, which returns to this address. Calls between hosts are not split, and noted
    /// elsewhere.
    pub(crate) fn set_caller(&mut self, caller: NonZeroUsize) {
        if let Self::Host(team) = self {
            team.set_caller(Some(caller));
        }
    }

    /// Whether operators that keep the order of ranks can run on it, and scans.
    #[inline]
    pub(crate) fn keeps_order(&self) -> bool {
        match self {
            Self::Host(_) => true,
            Self::Hosts(ranks) => ranks.keeps_order(),
        }
    }

    /// Whether they are on several hosts.
    #[inline]
    pub(crate) fn is_spread(&self) -> bool {
        matches!(self, Self::Hosts(_))
    }

    /// Whether each of them is alone on its host, so that no memory is shared.
    #[inline]
    pub(crate) fn is_each_alone(&self) -> bool {
        match self {
            Self::Host(_) => false,
            Self::Hosts(ranks) => ranks.hosts().len() == ranks.hosts().size(),
        }
    }

    #[inline]
    pub(crate) fn barrier(&mut self) -> Result<(), Fault> {
        match self {
            Self::Host(team) => Ok(team.barrier()?),
            Self::Hosts(ranks) => ranks.barrier(),
        }
    }

    #[inline]
    pub(crate) fn broadcast(&mut self, root: usize, data: &mut [u8]) -> Result<(), Fault> {
        match self {
            Self::Host(team) => Ok(team.broadcast(root, data)?),
            Self::Hosts(ranks) => ranks.broadcast(root, data),
        }
    }

    pub(crate) fn gather(
        &mut self,
        root: usize,
        send: &[u8],
        recv: Option<&mut [u8]>,
    ) -> Result<(), Fault> {
        match self {
            Self::Host(team) => Ok(team.gather(root, send, recv)?),
            Self::Hosts(ranks) => {
                let equal = Equal::new(ranks.hosts().size(), send.len());
                ranks.gatherv(root, send, recv.map(|recv| (recv, equal.parts())))
            }
        }
    }

    pub(crate) fn gatherv(
        &mut self,
        root: usize,
        send: &[u8],
        recv: Option<(&mut [u8], Parts<'_>)>,
    ) -> Result<(), Fault> {
        match self {
            Self::Host(team) => Ok(team.gatherv(root, send, recv)?),
            Self::Hosts(ranks) => ranks.gatherv(root, send, recv),
        }
    }

    pub(crate) fn scatter(
        &mut self,
        root: usize,
        send: Option<&[u8]>,
        recv: &mut [u8],
    ) -> Result<(), Fault> {
        match self {
            Self::Host(team) => Ok(team.scatter(root, send, recv)?),
            Self::Hosts(ranks) => {
                let equal = Equal::new(ranks.hosts().size(), recv.len());
                ranks.scatterv(root, send.map(|send| (send, equal.parts())), recv)
            }
        }
    }

    pub(crate) fn scatterv(
        &mut self,
        root: usize,
        send: Option<(&[u8], Parts<'_>)>,
        recv: &mut [u8],
    ) -> Result<(), Fault> {
        match self {
            Self::Host(team) => Ok(team.scatterv(root, send, recv)?),
            Self::Hosts(ranks) => ranks.scatterv(root, send, recv),
        }
    }

    pub(crate) fn allgather(&mut self, send: &[u8], recv: &mut [u8]) -> Result<(), Fault> {
        match self {
            Self::Host(team) => Ok(team.allgather(send, recv)?),
            Self::Hosts(ranks) => {
                let equal = Equal::new(ranks.hosts().size(), send.len());
                ranks.allgatherv(send, recv, equal.parts())
            }
        }
    }

    pub(crate) fn allgatherv(
        &mut self,
        send: &[u8],
        recv: &mut [u8],
        parts: Parts<'_>,
    ) -> Result<(), Fault> {
        match self {
            Self::Host(team) => Ok(team.allgatherv(send, recv, parts)?),
            Self::Hosts(ranks) => ranks.allgatherv(send, recv, parts),
        }
    }

    pub(crate) fn alltoall(&mut self, send: &[u8], recv: &mut [u8]) -> Result<(), Fault> {
        match self {
            Self::Host(team) => Ok(team.alltoall(send, recv)?),
            Self::Hosts(ranks) => {
                let n = ranks.hosts().size();
                let equal = Equal::new(n, send.len() / n);
                ranks.alltoallv((send, equal.parts()), (recv, equal.parts()))
            }
        }
    }

    pub(crate) fn alltoallv(
        &mut self,
        give: (&[u8], Parts<'_>),
        take: (&mut [u8], Parts<'_>),
    ) -> Result<(), Fault> {
        match self {
            Self::Host(team) => Ok(team.alltoallv(give, take)?),
            Self::Hosts(ranks) => ranks.alltoallv(give, take),
        }
    }

    pub(crate) fn reduce_by(
        &mut self,
        root: usize,
        data: &mut [u8],
        by: &dyn Combine,
    ) -> Result<(), Fault> {
        match self {
            Self::Host(team) => Ok(team.reduce_by(root, data, by)?),
            Self::Hosts(ranks) => ranks.reduce_by(root, data, by),
        }
    }

    #[inline]
    pub(crate) fn allreduce_by(&mut self, data: &mut [u8], by: &dyn Combine) -> Result<(), Fault> {
        match self {
            Self::Host(team) => Ok(team.allreduce_by(data, by)?),
            Self::Hosts(ranks) => ranks.allreduce_by(data, by),
        }
    }

    pub(crate) fn scan_by(&mut self, data: &mut [u8], by: &dyn Combine) -> Result<(), Fault> {
        match self {
            Self::Host(team) => Ok(team.scan_by(data, by)?),
            Self::Hosts(ranks) => ranks.scan_by(data, by),
        }
    }

    pub(crate) fn exscan_by(&mut self, data: &mut [u8], by: &dyn Combine) -> Result<(), Fault> {
        match self {
            Self::Host(team) => Ok(team.exscan_by(data, by)?),
            Self::Hosts(ranks) => ranks.exscan_by(data, by),
        }
    }

    pub(crate) fn reduce_scatterv_by(
        &mut self,
        send: &[u8],
        counts: &[usize],
        recv: &mut [u8],
        by: &dyn Combine,
    ) -> Result<(), Fault> {
        match self {
            Self::Host(team) => Ok(team.reduce_scatterv_by(send, counts, recv, by)?),
            Self::Hosts(ranks) => ranks.reduce_scatterv_by(send, counts, recv, by),
        }
    }

    /// The greatest of all ranks' numbers.
    pub(crate) fn greatest(&mut self, numbers: &mut [f64]) -> Result<(), Fault> {
        match self {
            Self::Host(team) => Ok(team.allreduce(numbers, Max)?),
            Self::Hosts(ranks) => {
                let max = erased(Named::Max, Element::F64).expect("floats have a maximum");
                ranks.allreduce_by(bytemuck::cast_slice_mut(numbers), max)
            }
        }
    }
}
