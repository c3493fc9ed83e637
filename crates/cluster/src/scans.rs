//! Scans: within a host, then over the hosts' results, which every rank but those of the first host puts before its own.

use crate::error::ClusterError;
use crate::member::{Acting, ClusterMember, Ended, Part};
use crate::reductions::copied;
use corecast::Combine;
use corecast_collectives::scan::{self, Upto};
use corecast_network::Network;
use corecast_wire::copy;

impl<N: Network> ClusterMember<N> {
    /// Combines the data of all ranks up to this one.
    ///
    /// # Errors
    ///
    /// [`ClusterError`].
    ///
    /// # Panics
    ///
    /// If hosts do [not keep the order](Self::keeps_order) of ranks.
    #[track_caller]
    pub fn scan_by(
        &mut self,
        data: &mut [u8],
        combine: &dyn Combine,
    ) -> Result<(), ClusterError<N::Error>> {
        let part = self.begin_scan();
        self.node.scan(data, combine)?;
        let mut room = Vec::new();
        let total = copied(&mut room, data);
        self.before_this_host(part, total, combine)?;
        if self.host > 0 {
            combine.combine_left(data, total);
        }
        self.end()
    }

    /// Combines the data of all ranks before this one. Those of the first rank are undefined afterwards.
    ///
    /// # Errors
    ///
    /// As [`scan_by`](Self::scan_by).
    ///
    /// # Panics
    ///
    /// As [`scan_by`](Self::scan_by).
    #[track_caller]
    pub fn exscan_by(
        &mut self,
        data: &mut [u8],
        combine: &dyn Combine,
    ) -> Result<(), ClusterError<N::Error>> {
        let part = self.begin_scan();
        let mut room = Vec::new();
        let total = copied(&mut room, data);
        self.node.exscan(data, combine)?;
        let is_first = self.hosts.place_of(self.rank) == 0;
        if !is_first {
            combine.combine_left(total, data);
        }
        self.before_this_host(part, total, combine)?;
        match (self.host, is_first) {
            (0, _) => {}
            (_, true) => copy::slice(data, total),
            (_, false) => combine.combine_left(data, total),
        }
        self.end()
    }

    #[track_caller]
    fn begin_scan(&mut self) -> Part {
        assert!(
            self.keeps_order(),
            "hosts whose ranks take turns have no results to scan: ask `keeps_order`"
        );
        self.begin(Acting::Last)
    }

    /// Turns the last rank's `total` of a host, which others' rooms need not have, into that of all hosts before it, on all of
    /// its ranks.
    fn before_this_host(
        &mut self,
        part: Part,
        total: &mut [u8],
        combine: &dyn Combine,
    ) -> Ended<N> {
        self.between_hosts(part, |network| {
            scan::start(network, total, Upto::Before, &combine)
        })?;
        if self.host > 0 {
            self.node.broadcast(part.leader, total)?;
        }
        Ok(())
    }
}
