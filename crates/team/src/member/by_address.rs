//! Reductions whose element type is known only at run time, for bindings to other languages.
//!
//! One copy of each collective serves all operators, which are called by their address. An operator's
//! [`element_size`](Combine::element_size) says how long an element is; its slices are aligned to the multiples
//! of it at which they lie, up to 16. A length that is no whole number of elements is the caller's mistake and
//! panics.

use super::bodies::{assert_counts, block_of};
use super::{Amid, Member, Overlap, Request};
use crate::OpContext;
use crate::failure::Failure;
use crate::hardware::ExchangeStage;
use corecast_collectives::Collective;
use corecast_collectives::combine::Combine;
use corecast_collectives::pipeline::block;
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
    /// In the same cases as [`reduce`](Self::reduce), and if the bytes are no whole number of elements.
    ///
    /// # Cost
    ///
    /// The cost of [`reduce`](Self::reduce), and an indirect call for each slice that is combined.
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
        self.begin(
            Collective::Reduce,
            root,
            Some(data.len()),
            Location::caller(),
        )?;
        let amid = Amid(self);
        let ended = reduce(&mut amid.0.context, root, data, combine);
        amid.end(ended)
    }

    /// [`allreduce`](Self::allreduce) of plain bytes.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Panics
    ///
    /// In the same cases as [`allreduce`](Self::allreduce), and if the bytes are no whole number of elements.
    #[track_caller]
    pub fn allreduce_by(&mut self, data: &mut [u8], combine: &dyn Combine) -> Result<(), Failure> {
        let site = Location::caller();
        // Others panic below, within the operation.
        let whole = data.len().is_multiple_of(combine.element_size());
        if whole {
            match self.allreduce_word(data, combine, site) {
                None => {}
                Some(ExchangeStage::Done) => return Ok(()),
                Some(met) => return self.allreduce_word_late(data, combine, site, met),
            }
        }
        self.begin(Collective::Allreduce, 0, Some(data.len()), site)?;
        let amid = Amid(self);
        let ended = allreduce(&mut amid.0.context, data, combine);
        amid.end(ended)
    }

    /// [`reduce_scatter`](Self::reduce_scatter) of plain bytes.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Panics
    ///
    /// In the same cases as [`reduce_scatter`](Self::reduce_scatter), and if the bytes are no whole number of
    /// elements.
    #[track_caller]
    pub fn reduce_scatter_by(
        &mut self,
        send: &[u8],
        recv: &mut [u8],
        combine: &dyn Combine,
    ) -> Result<(), Failure> {
        self.begin(
            Collective::ReduceScatter,
            0,
            Some(send.len()),
            Location::caller(),
        )?;
        let amid = Amid(self);
        let ended = reduce_scatter(&mut amid.0.context, send, recv, combine);
        amid.end(ended)
    }

    /// [`reduce_scatterv`](Self::reduce_scatterv) of plain bytes.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Panics
    ///
    /// In the same cases as [`reduce_scatterv`](Self::reduce_scatterv), and if the bytes are no whole number of
    /// elements.
    #[track_caller]
    pub fn reduce_scatterv_by(
        &mut self,
        send: &[u8],
        counts: &[usize],
        recv: &mut [u8],
        combine: &dyn Combine,
    ) -> Result<(), Failure> {
        self.begin(Collective::ReduceScatterv, 0, None, Location::caller())?;
        let amid = Amid(self);
        let ended = reduce_scatterv(&mut amid.0.context, send, counts, recv, combine);
        amid.end(ended)
    }

    /// [`scan`](Self::scan) of plain bytes.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Panics
    ///
    /// In the same cases as [`scan`](Self::scan), and if the bytes are no whole number of elements.
    #[track_caller]
    pub fn scan_by(&mut self, data: &mut [u8], combine: &dyn Combine) -> Result<(), Failure> {
        self.begin(Collective::Scan, 0, Some(data.len()), Location::caller())?;
        let amid = Amid(self);
        let ended = scan(&mut amid.0.context, data, Upto::Own, combine);
        amid.end(ended)
    }

    /// [`exscan`](Self::exscan) of plain bytes.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Panics
    ///
    /// In the same cases as [`exscan`](Self::exscan), and if the bytes are no whole number of elements.
    #[track_caller]
    pub fn exscan_by(&mut self, data: &mut [u8], combine: &dyn Combine) -> Result<(), Failure> {
        self.begin(Collective::Exscan, 0, Some(data.len()), Location::caller())?;
        let amid = Amid(self);
        let ended = scan(&mut amid.0.context, data, Upto::Before, combine);
        amid.end(ended)
    }
}

impl<'scope, 'env> Overlap<'scope, 'env> {
    /// Starts [`Member::reduce_by`] as an operation in flight.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// In the same cases as [`Member::reduce_by`].
    #[track_caller]
    pub fn reduce_by(
        &self,
        root: usize,
        data: &'scope mut [u8],
        combine: &'scope dyn Combine,
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(
            Collective::Reduce,
            root,
            Some(data.len()),
            Location::caller(),
            move |context| reduce(context, root, data, combine),
        )
    }

    /// Starts [`Member::allreduce_by`] as an operation in flight.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// In the same cases as [`Member::allreduce_by`].
    #[track_caller]
    pub fn allreduce_by(
        &self,
        data: &'scope mut [u8],
        combine: &'scope dyn Combine,
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(
            Collective::Allreduce,
            0,
            Some(data.len()),
            Location::caller(),
            move |context| allreduce(context, data, combine),
        )
    }

    /// Starts [`Member::reduce_scatter_by`] as an operation in flight.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// In the same cases as [`Member::reduce_scatter_by`].
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
            Some(send.len()),
            Location::caller(),
            move |context| reduce_scatter(context, send, recv, combine),
        )
    }

    /// Starts [`Member::reduce_scatterv_by`] as an operation in flight.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// In the same cases as [`Member::reduce_scatterv_by`].
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
            None,
            Location::caller(),
            move |context| reduce_scatterv(context, send, counts, recv, combine),
        )
    }

    /// Starts [`Member::scan_by`] as an operation in flight.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// In the same cases as [`Member::scan_by`].
    #[track_caller]
    pub fn scan_by(
        &self,
        data: &'scope mut [u8],
        combine: &'scope dyn Combine,
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(
            Collective::Scan,
            0,
            Some(data.len()),
            Location::caller(),
            move |context| scan(context, data, Upto::Own, combine),
        )
    }

    /// Starts [`Member::exscan_by`] as an operation in flight.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// In the same cases as [`Member::exscan_by`].
    #[track_caller]
    pub fn exscan_by(
        &self,
        data: &'scope mut [u8],
        combine: &'scope dyn Combine,
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(
            Collective::Exscan,
            0,
            Some(data.len()),
            Location::caller(),
            move |context| scan(context, data, Upto::Before, combine),
        )
    }
}

/// The number of elements in `bytes` bytes. Panics if that is no whole number.
#[track_caller]
fn whole(bytes: usize, combine: &dyn Combine) -> usize {
    let element_size = combine.element_size();
    assert!(
        bytes.is_multiple_of(element_size),
        "{bytes} bytes are no whole number of elements of {element_size}"
    );
    bytes / element_size
}

#[track_caller]
fn reduce(
    context: &mut OpContext,
    root: usize,
    data: &mut [u8],
    combine: &dyn Combine,
) -> Result<(), Failure> {
    whole(data.len(), combine);
    one::start(context, root, data, &combine)
}

#[track_caller]
fn allreduce(
    context: &mut OpContext,
    data: &mut [u8],
    combine: &dyn Combine,
) -> Result<(), Failure> {
    whole(data.len(), combine);
    all::start(context, data, &combine)
}

#[track_caller]
fn reduce_scatter(
    context: &mut OpContext,
    send: &[u8],
    recv: &mut [u8],
    combine: &dyn Combine,
) -> Result<(), Failure> {
    whole(send.len(), combine);
    let (element_size, n, rank) = (
        combine.element_size(),
        context.fabric.size(),
        context.fabric.rank(),
    );
    let len = send.len();
    let part = |rank: usize| block(len, element_size, n, rank);
    let (expected, given) = (part(rank).len(), recv.len());
    assert!(
        given == expected,
        "`recv` has {given} bytes, the block of rank {rank} {expected}"
    );
    scattered::start(context, send, part, recv, &combine)
}

#[track_caller]
fn reduce_scatterv(
    context: &mut OpContext,
    send: &[u8],
    counts: &[usize],
    recv: &mut [u8],
    combine: &dyn Combine,
) -> Result<(), Failure> {
    let (element_size, rank) = (combine.element_size(), context.fabric.rank());
    assert_counts(counts, context.fabric.size(), whole(send.len(), combine));
    let (expected, given) = (counts[rank] * element_size, recv.len());
    assert!(
        given == expected,
        "`recv` has {given} bytes, the block of rank {rank} {expected}"
    );
    scattered::start(
        context,
        send,
        block_of(counts, element_size),
        recv,
        &combine,
    )
}

#[track_caller]
fn scan(
    context: &mut OpContext,
    data: &mut [u8],
    upto: Upto,
    combine: &dyn Combine,
) -> Result<(), Failure> {
    whole(data.len(), combine);
    prefix::start(context, data, upto, &combine)
}
