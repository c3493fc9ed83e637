//! Reductions of which each rank gets something else: reduce_scatter, scan, exscan.

use super::{Member, assert_fits};
use crate::combine::{Combine, On};
use crate::failure::Failure;
use crate::fragments::block;
use crate::operation::Kind;
use crate::operator::Operator;
use crate::scan::Upto;
use crate::{reduce_scatter, scan};
use bytemuck::{Pod, cast_slice, cast_slice_mut};
use std::panic::Location;

impl Member {
    /// Combines everybody's `send` element by element, and gives each rank a block: as nearly equal ones
    /// as there are, [`fragments::block`](crate::fragments::block). All have as many elements.
    ///
    /// Operators as for [`reduce`](Self::reduce); their order is kept where it must be, and deterministic
    /// teams set the brackets of all reductions.
    ///
    /// # Errors
    ///
    /// [`Failure`]; `recv` may then hold partial results.
    ///
    /// # Panics
    ///
    /// If `recv` is not as long as this rank's block, or an element has an alignment above 16.
    ///
    /// # Cost
    ///
    /// See [`reduce_scatter::owners`] and [`reduce_scatter::owners_ordered`]; on ranks that are not all
    /// linked [`reduce_scatter::ring`], and where the order must be kept a reduction for each rank.
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_coll::{Plans, Team};
    /// # let machine = corecast_model::synthetic("core:3").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// let team = Team::new(plans)?;
    /// let blocks = team.run(|member| {
    ///     let mut mine = [0];
    ///     let data = [1, 2, 3].map(|x| x * (member.rank() + 1));
    ///     member.reduce_scatter(&data, &mut mine, |a, b| a + b).map(|()| mine)
    /// });
    /// assert_eq!(blocks, [Ok([6]), Ok([12]), Ok([18])]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn reduce_scatter<T: Pod>(
        &mut self,
        send: &[T],
        recv: &mut [T],
        operator: impl Operator<T>,
    ) -> Result<(), Failure> {
        self.begin(Kind::ReduceScatter, 0, Location::caller())?;
        assert_fits::<T>();
        let combine = On::<T, _>::new(&operator);
        let (grain, n, rank) = (combine.grain(), self.size(), self.rank());
        let send: &[u8] = cast_slice(send);
        let len = send.len();
        let part = |rank: usize| block(len, grain, n, rank);
        let (expected, given) = (part(rank).len() / grain, recv.len());
        assert!(
            size_of::<T>() == 0 || given == expected,
            "`recv` has {given} elements, the block of rank {rank} {expected}"
        );
        reduce_scatter::run(&mut self.lane, send, part, cast_slice_mut(recv), &combine)
    }

    /// [`reduce_scatter`](Self::reduce_scatter) into blocks of `counts[r]` elements for each rank r, side
    /// by side. All give the same counts.
    ///
    /// # Errors
    ///
    /// [`Failure`]; [`Failure::Length`] where ranks do not agree about a count.
    ///
    /// # Panics
    ///
    /// If there is not one count for each rank, `send` is not as long as all of them, `recv` not as long as
    /// this rank's, or an element has an alignment above 16.
    #[track_caller]
    pub fn reduce_scatterv<T: Pod>(
        &mut self,
        send: &[T],
        counts: &[usize],
        recv: &mut [T],
        operator: impl Operator<T>,
    ) -> Result<(), Failure> {
        self.begin(Kind::ReduceScatterv, 0, Location::caller())?;
        assert_fits::<T>();
        let (n, rank) = (self.size(), self.rank());
        let (ranks, len, given) = (counts.len(), send.len(), recv.len());
        assert!(ranks == n, "counts for {ranks} ranks in a team of {n}");
        let all = counts
            .iter()
            .try_fold(0usize, |sum, &count| sum.checked_add(count));
        assert!(all == Some(len), "blocks of {counts:?} of {len} elements");
        assert!(
            given == counts[rank],
            "`recv` has {given} elements, the block of rank {rank} {}",
            counts[rank]
        );
        let bytes = size_of::<T>();
        let part = |rank: usize| {
            let start: usize = counts[..rank].iter().sum();
            start * bytes..(start + counts[rank]) * bytes
        };
        let combine = On::<T, _>::new(&operator);
        let (send, recv) = (cast_slice(send), cast_slice_mut(recv));
        reduce_scatter::run(&mut self.lane, send, part, recv, &combine)
    }

    /// Combines the `data` of all ranks up to this one, in rank order, into this one's. All have as many
    /// elements.
    ///
    /// # Errors
    ///
    /// [`Failure`]; `data` may then hold partial results.
    ///
    /// # Panics
    ///
    /// If an element has an alignment above 16.
    ///
    /// # Cost
    ///
    /// See [`scan::doubling`] for what fits a message, [`scan::chain`] for more, and for deterministic
    /// teams always.
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_coll::{Plans, Team};
    /// # let machine = corecast_model::synthetic("core:4").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// let team = Team::new(plans)?;
    /// let sums = team.run(|member| {
    ///     let (mut upto, mut before) = ([member.rank() + 1], [member.rank() + 1]);
    ///     member.scan(&mut upto, |a, b| a + b).unwrap();
    ///     member.exscan(&mut before, |a, b| a + b).unwrap();
    ///     (upto[0], before[0])
    /// });
    /// assert_eq!(sums, [(1, 1), (3, 1), (6, 3), (10, 6)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn scan<T: Pod>(
        &mut self,
        data: &mut [T],
        operator: impl Operator<T>,
    ) -> Result<(), Failure> {
        self.begin(Kind::Scan, 0, Location::caller())?;
        assert_fits::<T>();
        let combine = On::<T, _>::new(&operator);
        scan::run(&mut self.lane, cast_slice_mut(data), Upto::Own, &combine)
    }

    /// Combines the `data` of all ranks before this one, in rank order, into this one's. Those of rank 0
    /// stay as they are. Otherwise as [`scan`](Self::scan).
    ///
    /// # Errors
    ///
    /// [`Failure`]; `data` may then hold partial results.
    ///
    /// # Panics
    ///
    /// If an element has an alignment above 16.
    #[inline]
    #[track_caller]
    pub fn exscan<T: Pod>(
        &mut self,
        data: &mut [T],
        operator: impl Operator<T>,
    ) -> Result<(), Failure> {
        self.begin(Kind::Exscan, 0, Location::caller())?;
        assert_fits::<T>();
        let combine = On::<T, _>::new(&operator);
        scan::run(&mut self.lane, cast_slice_mut(data), Upto::Before, &combine)
    }
}
