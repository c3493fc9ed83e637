//! Operations that move data: scatter, gather, allgather, all-to-all.

use super::{Member, bodies};
use crate::failure::Failure;
use bytemuck::Pod;
use corecast_collectives::Collective;
use corecast_collectives::Parts;
use std::panic::Location;

impl Member {
    /// Gives each rank its part of `root`'s `send`: as many elements as `recv` has, in rank order.
    /// Other ranks give `None`.
    ///
    /// # Errors
    ///
    /// [`Failure`]; `recv` may then be partly overwritten.
    ///
    /// # Panics
    ///
    /// If `root` is outside of the team, or its `send` is not as long as all parts together.
    ///
    /// # Cost
    ///
    /// See [`scatter::direct`](corecast_collectives::scatter::direct); on ranks that are not all linked [`scatter::binomial`](corecast_collectives::scatter::binomial), which allocates
    /// for more than its scratch.
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_team::{Plans, Team};
    /// # let machine = corecast_model::synthetic("core:3").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// let team = Team::new(plans)?;
    /// let parts = team.run(|member| {
    ///     let all = [10, 11, 20, 21, 30, 31];
    ///     let mut mine = [0; 2];
    ///     let send = (member.rank() == 1).then_some(&all[..]);
    ///     member.scatter(1, send, &mut mine).map(|()| mine)
    /// });
    /// assert_eq!(parts, [Ok([10, 11]), Ok([20, 21]), Ok([30, 31])]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn scatter<T: Pod>(
        &mut self,
        root: usize,
        send: Option<&[T]>,
        recv: &mut [T],
    ) -> Result<(), Failure> {
        self.begin(
            Collective::Scatter,
            root,
            Some(size_of_val(recv)),
            Location::caller(),
        )?;
        let ended = bodies::scatter(&mut self.context, root, send, recv);
        self.end(ended)
    }

    /// [`scatter`](Self::scatter) of parts of any lengths, which `root` gives. `recv` is as long as this rank's
    /// part.
    ///
    /// # Errors
    ///
    /// [`Failure`]; [`Failure::Length`] where `recv` is not as long as the part.
    ///
    /// # Panics
    ///
    /// If `root` is outside of the team, or a part outside of its `send`.
    ///
    /// # Cost
    ///
    /// The cost of [`scatter`](Self::scatter); on ranks that are not all linked, also a broadcast of the lengths.
    #[track_caller]
    pub fn scatterv<T: Pod>(
        &mut self,
        root: usize,
        send: Option<(&[T], Parts<'_>)>,
        recv: &mut [T],
    ) -> Result<(), Failure> {
        self.begin(Collective::Scatterv, root, None, Location::caller())?;
        let ended = bodies::scatterv(&mut self.context, root, send, recv);
        self.end(ended)
    }

    /// Gives the `send` of all ranks to `root`'s `recv`, side by side in rank order. All ranks give the same
    /// number of elements; ranks other than the root give `None` for `recv`.
    ///
    /// # Errors
    ///
    /// [`Failure`]; `recv` may then be partly overwritten.
    ///
    /// # Panics
    ///
    /// If `root` is outside of the team, or its `recv` is not as long as all parts together.
    ///
    /// # Cost
    ///
    /// See [`gather::direct`](corecast_collectives::gather::direct); on ranks that are not all linked [`gather::binomial`](corecast_collectives::gather::binomial), which allocates for
    /// more than its scratch.
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_team::{Plans, Team};
    /// # let machine = corecast_model::synthetic("core:3").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// let team = Team::new(plans)?;
    /// let gathered = team.run(|member| {
    ///     let mut all = [0; 3];
    ///     let recv = (member.rank() == 2).then_some(&mut all[..]);
    ///     member.gather(2, &[member.rank() + 5], recv).map(|()| all)
    /// });
    /// assert_eq!(gathered, [Ok([0, 0, 0]), Ok([0, 0, 0]), Ok([5, 6, 7])]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn gather<T: Pod>(
        &mut self,
        root: usize,
        send: &[T],
        recv: Option<&mut [T]>,
    ) -> Result<(), Failure> {
        self.begin(
            Collective::Gather,
            root,
            Some(size_of_val(send)),
            Location::caller(),
        )?;
        let ended = bodies::gather(&mut self.context, root, send, recv);
        self.end(ended)
    }

    /// [`gather`](Self::gather) of parts of any lengths, which lie in `recv` where `root` says.
    ///
    /// # Errors
    ///
    /// [`Failure`]; [`Failure::Length`] where a rank gives another number of elements than the root
    /// wants.
    ///
    /// # Panics
    ///
    /// If `root` is outside of the team, or parts overlap or are outside of its `recv`.
    ///
    /// # Cost
    ///
    /// The cost of [`gather`](Self::gather); on ranks that are not all linked, also a broadcast of the lengths.
    #[track_caller]
    pub fn gatherv<T: Pod>(
        &mut self,
        root: usize,
        send: &[T],
        recv: Option<(&mut [T], Parts<'_>)>,
    ) -> Result<(), Failure> {
        self.begin(Collective::Gatherv, root, None, Location::caller())?;
        let ended = bodies::gatherv(&mut self.context, root, send, recv);
        self.end(ended)
    }

    /// Gives the `send` of all ranks to the `recv` of all ranks, side by side in rank order. All ranks give the
    /// same number of elements.
    ///
    /// # Errors
    ///
    /// [`Failure`]; `recv` may then be partly overwritten.
    ///
    /// # Panics
    ///
    /// If `recv` is not as long as all parts together.
    ///
    /// # Cost
    ///
    /// See [`allgather::direct`](corecast_collectives::allgather::direct); on ranks that are not all linked [`allgather::bruck`](corecast_collectives::allgather::bruck) and
    /// [`allgather::ring`](corecast_collectives::allgather::ring).
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_team::{Plans, Team};
    /// # let machine = corecast_model::synthetic("core:3").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// let team = Team::new(plans)?;
    /// team.run(|member| {
    ///     let mut all = [0; 3];
    ///     member.allgather(&[member.rank() + 5], &mut all).unwrap();
    ///     assert_eq!(all, [5, 6, 7]);
    /// });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn allgather<T: Pod>(&mut self, send: &[T], recv: &mut [T]) -> Result<(), Failure> {
        self.begin(
            Collective::Allgather,
            0,
            Some(size_of_val(send)),
            Location::caller(),
        )?;
        let ended = bodies::allgather(&mut self.context, send, recv);
        self.end(ended)
    }

    /// [`allgather`](Self::allgather) of parts of any lengths: all ranks give the same counts, and each
    /// says where it wants the parts.
    ///
    /// # Errors
    ///
    /// [`Failure`]; [`Failure::Length`] where ranks do not agree about a count.
    ///
    /// # Panics
    ///
    /// If parts overlap or are outside of `recv`, or this rank's part is not as long as `send`.
    #[track_caller]
    pub fn allgatherv<T: Pod>(
        &mut self,
        send: &[T],
        recv: &mut [T],
        parts: Parts<'_>,
    ) -> Result<(), Failure> {
        self.begin(Collective::Allgatherv, 0, None, Location::caller())?;
        let ended = bodies::allgatherv(&mut self.context, send, recv, parts);
        self.end(ended)
    }

    /// Gives part r of each rank's `send` to rank r, which has these parts side by side in rank order in
    /// `recv`. All parts have the same number of elements.
    ///
    /// # Errors
    ///
    /// [`Failure`]; `recv` may then be partly overwritten.
    ///
    /// # Panics
    ///
    /// If `send` and `recv` differ in length, or cannot be cut into one part for each rank.
    ///
    /// # Cost
    ///
    /// See [`alltoall::direct`](corecast_collectives::alltoall::direct); on ranks that are not all linked [`alltoall::bruck`](corecast_collectives::alltoall::bruck).
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_team::{Plans, Team};
    /// # let machine = corecast_model::synthetic("core:3").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// let team = Team::new(plans)?;
    /// let turned = team.run(|member| {
    ///     let mine = [0, 1, 2].map(|to| 10 * member.rank() + to);
    ///     let mut all = [0; 3];
    ///     member.alltoall(&mine, &mut all).map(|()| all)
    /// });
    /// assert_eq!(turned, [Ok([0, 10, 20]), Ok([1, 11, 21]), Ok([2, 12, 22])]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn alltoall<T: Pod>(&mut self, send: &[T], recv: &mut [T]) -> Result<(), Failure> {
        self.begin(
            Collective::Alltoall,
            0,
            Some(size_of_val(send)),
            Location::caller(),
        )?;
        let ended = bodies::alltoall(&mut self.context, send, recv);
        self.end(ended)
    }

    /// [`alltoall`](Self::alltoall) of parts of any lengths: `give` says where in `send` the parts for the
    /// others are, `take` where in `recv` this rank wants theirs.
    ///
    /// # Errors
    ///
    /// [`Failure`]; [`Failure::Length`] where a rank takes another number of elements than it is given.
    ///
    /// # Panics
    ///
    /// If parts are outside of their buffers or overlap in `recv`, or this rank's own two differ in
    /// length.
    ///
    /// # Cost
    ///
    /// See [`alltoall::direct`](corecast_collectives::alltoall::direct); on ranks that are not all linked [`alltoall::bruck`](corecast_collectives::alltoall::bruck), as if all parts
    /// were as long as the longest.
    #[track_caller]
    pub fn alltoallv<T: Pod>(
        &mut self,
        (send, give): (&[T], Parts<'_>),
        (recv, take): (&mut [T], Parts<'_>),
    ) -> Result<(), Failure> {
        self.begin(Collective::Alltoallv, 0, None, Location::caller())?;
        let ended = bodies::alltoallv(&mut self.context, (send, give), (recv, take));
        self.end(ended)
    }
}
