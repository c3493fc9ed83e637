//! Reductions whose types of elements are known at run time only: what bindings to other languages call.
//!
//! One copy of each collective serves all operators, which are called by their address. An operator's
//! [`grain`](Combine::grain) says how long an element is; its slices are aligned to the multiples of it
//! at which they lie, up to 16. Lengths that `combine` can do nothing with are the caller's mistake.

use super::bodies::{assert_counts, block_of};
use super::{Member, Overlap, Request};
use crate::Lane;
use crate::failure::Failure;
use corecast_collectives::Collective;
use corecast_collectives::combine::Combine;
use corecast_collectives::fragments::block;
use corecast_collectives::scan::Upto;
use corecast_collectives::{
    allreduce as all, reduce as one, reduce_scatter as scattered, scan as prefix,
};
use corecast_wire::Fabric;
use std::panic::Location;

impl Member {
    /// [`reduce`](Self::reduce) of plain bytes.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Panics
    ///
    /// As [`reduce`](Self::reduce); if the bytes are no whole number of elements.
    ///
    /// # Cost
    ///
    /// As [`reduce`](Self::reduce), and an indirect call for each slice that is combined.
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_team::{Plans, Team};
    /// # let machine = corecast_model::synthetic("core:3").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// use corecast_collectives::operator::{Element, Named, erased};
    ///
    /// let sum = erased(Named::Sum, Element::U16)?;
    /// let team = Team::new(plans)?;
    /// let sums = team.run(|member| {
    ///     let mut data = [1u16, member.rank() as u16];
    ///     member.reduce_by(0, bytemuck::bytes_of_mut(&mut data), sum).map(|()| data)
    /// });
    /// assert_eq!(sums[0], Ok([3, 3]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn reduce_by(
        &mut self,
        root: usize,
        data: &mut [u8],
        combine: &dyn Combine,
    ) -> Result<(), Failure> {
        self.begin(Collective::Reduce, root, Location::caller())?;
        reduce(&mut self.lane, root, data, combine)
    }

    /// [`allreduce`](Self::allreduce) of plain bytes.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Panics
    ///
    /// As [`allreduce`](Self::allreduce); if the bytes are no whole number of elements.
    #[track_caller]
    pub fn allreduce_by(&mut self, data: &mut [u8], combine: &dyn Combine) -> Result<(), Failure> {
        self.begin(Collective::Allreduce, 0, Location::caller())?;
        allreduce(&mut self.lane, data, combine)
    }

    /// [`reduce_scatter`](Self::reduce_scatter) of plain bytes.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Panics
    ///
    /// As [`reduce_scatter`](Self::reduce_scatter); if the bytes are no whole number of elements.
    #[track_caller]
    pub fn reduce_scatter_by(
        &mut self,
        send: &[u8],
        recv: &mut [u8],
        combine: &dyn Combine,
    ) -> Result<(), Failure> {
        self.begin(Collective::ReduceScatter, 0, Location::caller())?;
        reduce_scatter(&mut self.lane, send, recv, combine)
    }

    /// [`reduce_scatterv`](Self::reduce_scatterv) of plain bytes.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Panics
    ///
    /// As [`reduce_scatterv`](Self::reduce_scatterv); if the bytes are no whole number of elements.
    #[track_caller]
    pub fn reduce_scatterv_by(
        &mut self,
        send: &[u8],
        counts: &[usize],
        recv: &mut [u8],
        combine: &dyn Combine,
    ) -> Result<(), Failure> {
        self.begin(Collective::ReduceScatterv, 0, Location::caller())?;
        reduce_scatterv(&mut self.lane, send, counts, recv, combine)
    }

    /// [`scan`](Self::scan) of plain bytes.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Panics
    ///
    /// As [`scan`](Self::scan); if the bytes are no whole number of elements.
    #[track_caller]
    pub fn scan_by(&mut self, data: &mut [u8], combine: &dyn Combine) -> Result<(), Failure> {
        self.begin(Collective::Scan, 0, Location::caller())?;
        scan(&mut self.lane, data, Upto::Own, combine)
    }

    /// [`exscan`](Self::exscan) of plain bytes.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Panics
    ///
    /// As [`exscan`](Self::exscan); if the bytes are no whole number of elements.
    #[track_caller]
    pub fn exscan_by(&mut self, data: &mut [u8], combine: &dyn Combine) -> Result<(), Failure> {
        self.begin(Collective::Exscan, 0, Location::caller())?;
        scan(&mut self.lane, data, Upto::Before, combine)
    }
}

impl<'scope, 'env> Overlap<'scope, 'env> {
    /// [`Member::reduce_by`].
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// As [`Member::reduce_by`].
    #[track_caller]
    pub fn reduce_by(
        &self,
        root: usize,
        data: &'scope mut [u8],
        combine: &'scope dyn Combine,
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(Collective::Reduce, root, Location::caller(), move |lane| {
            reduce(lane, root, data, combine)
        })
    }

    /// [`Member::allreduce_by`].
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// As [`Member::allreduce_by`].
    #[track_caller]
    pub fn allreduce_by(
        &self,
        data: &'scope mut [u8],
        combine: &'scope dyn Combine,
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(Collective::Allreduce, 0, Location::caller(), move |lane| {
            allreduce(lane, data, combine)
        })
    }

    /// [`Member::reduce_scatter_by`].
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// As [`Member::reduce_scatter_by`].
    #[track_caller]
    pub fn reduce_scatter_by(
        &self,
        send: &'scope [u8],
        recv: &'scope mut [u8],
        combine: &'scope dyn Combine,
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(
            Collective::ReduceScatter,
            0,
            Location::caller(),
            move |lane| reduce_scatter(lane, send, recv, combine),
        )
    }

    /// [`Member::reduce_scatterv_by`].
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// As [`Member::reduce_scatterv_by`].
    #[track_caller]
    pub fn reduce_scatterv_by(
        &self,
        send: &'scope [u8],
        counts: &'scope [usize],
        recv: &'scope mut [u8],
        combine: &'scope dyn Combine,
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(
            Collective::ReduceScatterv,
            0,
            Location::caller(),
            move |lane| reduce_scatterv(lane, send, counts, recv, combine),
        )
    }

    /// [`Member::scan_by`].
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// As [`Member::scan_by`].
    #[track_caller]
    pub fn scan_by(
        &self,
        data: &'scope mut [u8],
        combine: &'scope dyn Combine,
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(Collective::Scan, 0, Location::caller(), move |lane| {
            scan(lane, data, Upto::Own, combine)
        })
    }

    /// [`Member::exscan_by`].
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// As [`Member::exscan_by`].
    #[track_caller]
    pub fn exscan_by(
        &self,
        data: &'scope mut [u8],
        combine: &'scope dyn Combine,
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(Collective::Exscan, 0, Location::caller(), move |lane| {
            scan(lane, data, Upto::Before, combine)
        })
    }
}

/// Elements in `bytes`.
#[track_caller]
fn whole(bytes: usize, combine: &dyn Combine) -> usize {
    let grain = combine.grain();
    assert!(
        bytes.is_multiple_of(grain),
        "{bytes} bytes are no whole number of elements of {grain}"
    );
    bytes / grain
}

#[track_caller]
fn reduce(
    lane: &mut Lane,
    root: usize,
    data: &mut [u8],
    combine: &dyn Combine,
) -> Result<(), Failure> {
    whole(data.len(), combine);
    one::start(lane, root, data, &combine)
}

#[track_caller]
fn allreduce(lane: &mut Lane, data: &mut [u8], combine: &dyn Combine) -> Result<(), Failure> {
    whole(data.len(), combine);
    all::start(lane, data, &combine)
}

#[track_caller]
fn reduce_scatter(
    lane: &mut Lane,
    send: &[u8],
    recv: &mut [u8],
    combine: &dyn Combine,
) -> Result<(), Failure> {
    whole(send.len(), combine);
    let (grain, n, rank) = (combine.grain(), lane.fabric.size(), lane.fabric.rank());
    let len = send.len();
    let part = |rank: usize| block(len, grain, n, rank);
    let (expected, given) = (part(rank).len(), recv.len());
    assert!(
        given == expected,
        "`recv` has {given} bytes, the block of rank {rank} {expected}"
    );
    scattered::start(lane, send, part, recv, &combine)
}

#[track_caller]
fn reduce_scatterv(
    lane: &mut Lane,
    send: &[u8],
    counts: &[usize],
    recv: &mut [u8],
    combine: &dyn Combine,
) -> Result<(), Failure> {
    let (grain, rank) = (combine.grain(), lane.fabric.rank());
    assert_counts(counts, lane.fabric.size(), whole(send.len(), combine));
    let (expected, given) = (counts[rank] * grain, recv.len());
    assert!(
        given == expected,
        "`recv` has {given} bytes, the block of rank {rank} {expected}"
    );
    scattered::start(lane, send, block_of(counts, grain), recv, &combine)
}

#[track_caller]
fn scan(
    lane: &mut Lane,
    data: &mut [u8],
    upto: Upto,
    combine: &dyn Combine,
) -> Result<(), Failure> {
    whole(data.len(), combine);
    prefix::start(lane, data, upto, &combine)
}
