//! The operations of [`Member`](super::Member) that move data or scan them, in flight.

use super::bodies;
use super::overlap::{Overlap, Request};
use crate::failure::Failure;
#[cfg(doc)]
use crate::member::Member;
use bytemuck::Pod;
use corecast_collectives::Collective;
use corecast_collectives::Parts;
use corecast_collectives::operator::Operator;
use corecast_collectives::scan::Upto;
use std::panic::Location;

impl<'scope, 'env> Overlap<'scope, 'env> {
    /// Starts [`Member::scatter`] as an operation in flight.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// In the same cases as [`Member::scatter`].
    #[track_caller]
    pub fn scatter<T: Pod>(
        &self,
        root: usize,
        send: Option<&'scope [T]>,
        recv: &'scope mut [T],
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(
            Collective::Scatter,
            root,
            Some(size_of_val(recv)),
            Location::caller(),
            move |context| bodies::scatter(context, root, send, recv),
        )
    }

    /// Starts [`Member::scatterv`] as an operation in flight.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// In the same cases as [`Member::scatterv`].
    #[track_caller]
    pub fn scatterv<T: Pod>(
        &self,
        root: usize,
        send: Option<(&'scope [T], Parts<'scope>)>,
        recv: &'scope mut [T],
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(
            Collective::Scatterv,
            root,
            None,
            Location::caller(),
            move |context| bodies::scatterv(context, root, send, recv),
        )
    }

    /// Starts [`Member::gather`] as an operation in flight.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// In the same cases as [`Member::gather`].
    #[track_caller]
    pub fn gather<T: Pod>(
        &self,
        root: usize,
        send: &'scope [T],
        recv: Option<&'scope mut [T]>,
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(
            Collective::Gather,
            root,
            Some(size_of_val(send)),
            Location::caller(),
            move |context| bodies::gather(context, root, send, recv),
        )
    }

    /// Starts [`Member::gatherv`] as an operation in flight.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// In the same cases as [`Member::gatherv`].
    #[track_caller]
    pub fn gatherv<T: Pod>(
        &self,
        root: usize,
        send: &'scope [T],
        recv: Option<(&'scope mut [T], Parts<'scope>)>,
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(
            Collective::Gatherv,
            root,
            None,
            Location::caller(),
            move |context| bodies::gatherv(context, root, send, recv),
        )
    }

    /// Starts [`Member::allgather`] as an operation in flight.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// In the same cases as [`Member::allgather`].
    #[track_caller]
    pub fn allgather<T: Pod>(
        &self,
        send: &'scope [T],
        recv: &'scope mut [T],
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(
            Collective::Allgather,
            0,
            Some(size_of_val(send)),
            Location::caller(),
            move |context| bodies::allgather(context, send, recv),
        )
    }

    /// Starts [`Member::allgatherv`] as an operation in flight.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// In the same cases as [`Member::allgatherv`].
    #[track_caller]
    pub fn allgatherv<T: Pod>(
        &self,
        send: &'scope [T],
        recv: &'scope mut [T],
        parts: Parts<'scope>,
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(
            Collective::Allgatherv,
            0,
            None,
            Location::caller(),
            move |context| bodies::allgatherv(context, send, recv, parts),
        )
    }

    /// Starts [`Member::alltoall`] as an operation in flight.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// In the same cases as [`Member::alltoall`].
    #[track_caller]
    pub fn alltoall<T: Pod>(
        &self,
        send: &'scope [T],
        recv: &'scope mut [T],
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(
            Collective::Alltoall,
            0,
            Some(size_of_val(send)),
            Location::caller(),
            move |context| bodies::alltoall(context, send, recv),
        )
    }

    /// Starts [`Member::alltoallv`] as an operation in flight.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// In the same cases as [`Member::alltoallv`].
    #[track_caller]
    pub fn alltoallv<T: Pod>(
        &self,
        (send, give): (&'scope [T], Parts<'scope>),
        (recv, take): (&'scope mut [T], Parts<'scope>),
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(
            Collective::Alltoallv,
            0,
            None,
            Location::caller(),
            move |context| bodies::alltoallv(context, (send, give), (recv, take)),
        )
    }

    /// Starts [`Member::reduce_scatter`] as an operation in flight.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// In the same cases as [`Member::reduce_scatter`].
    #[track_caller]
    pub fn reduce_scatter<T: Pod>(
        &self,
        send: &'scope [T],
        recv: &'scope mut [T],
        operator: &'scope impl Operator<T>,
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(
            Collective::ReduceScatter,
            0,
            Some(size_of_val(send)),
            Location::caller(),
            move |context| bodies::reduce_scatter(context, send, recv, operator),
        )
    }

    /// Starts [`Member::reduce_scatterv`] as an operation in flight.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// In the same cases as [`Member::reduce_scatterv`].
    #[track_caller]
    pub fn reduce_scatterv<T: Pod>(
        &self,
        send: &'scope [T],
        counts: &'scope [usize],
        recv: &'scope mut [T],
        operator: &'scope impl Operator<T>,
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(
            Collective::ReduceScatterv,
            0,
            None,
            Location::caller(),
            move |context| bodies::reduce_scatterv(context, send, counts, recv, operator),
        )
    }

    /// Starts [`Member::scan`] as an operation in flight.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// In the same cases as [`Member::scan`].
    #[track_caller]
    pub fn scan<T: Pod>(
        &self,
        data: &'scope mut [T],
        operator: &'scope impl Operator<T>,
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(
            Collective::Scan,
            0,
            Some(size_of_val(data)),
            Location::caller(),
            move |context| bodies::scan(context, data, Upto::Own, operator),
        )
    }

    /// Starts [`Member::exscan`] as an operation in flight.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// In the same cases as [`Member::exscan`].
    #[track_caller]
    pub fn exscan<T: Pod>(
        &self,
        data: &'scope mut [T],
        operator: &'scope impl Operator<T>,
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(
            Collective::Exscan,
            0,
            Some(size_of_val(data)),
            Location::caller(),
            move |context| bodies::scan(context, data, Upto::Before, operator),
        )
    }
}
