//! Reductions whose results differ from rank to rank: reduce_scatter, scan, exscan.

use super::{Amid, Member, bodies};
use crate::failure::Failure;
use bytemuck::Pod;
use corecast_collectives::Collective;
use corecast_collectives::operator::Operator;
use corecast_collectives::scan::Upto;
use std::panic::Location;

impl Member {
    /// Combines the `send` of all ranks element by element, and gives each rank one block of the result. The
    /// blocks are as equal in length as possible, see [`block`](corecast_collectives::pipeline::block). All
    /// ranks give the same number of elements.
    ///
    /// Operators are as for [`reduce`](Self::reduce). Those that need rank order get it, and deterministic
    /// teams fix the order of reduction of all of them.
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
    /// See [`reduce_scatter::owners`](corecast_collectives::reduce_scatter::owners) and [`reduce_scatter::owners_ordered`](corecast_collectives::reduce_scatter::owners_ordered); on ranks that are not all
    /// linked [`reduce_scatter::ring`](corecast_collectives::reduce_scatter::ring), and where the order must be kept a reduction for each rank.
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_team::{Plans, Team};
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
        self.begin(
            Collective::ReduceScatter,
            0,
            Some(size_of_val(send)),
            Location::caller(),
        )?;
        let amid = Amid(self);
        let ended = bodies::reduce_scatter(&mut amid.0.context, send, recv, &operator);
        amid.end(ended)
    }

    /// [`reduce_scatter`](Self::reduce_scatter) into blocks of `counts[r]` elements for each rank r, side by
    /// side. All ranks give the same counts.
    ///
    /// # Errors
    ///
    /// [`Failure`]; [`Failure::Length`] where ranks do not agree about a count.
    ///
    /// # Panics
    ///
    /// If there is not one count for each rank, `send` is not as long as all blocks together, `recv` is not as
    /// long as this rank's block, or an element has an alignment above 16.
    #[track_caller]
    pub fn reduce_scatterv<T: Pod>(
        &mut self,
        send: &[T],
        counts: &[usize],
        recv: &mut [T],
        operator: impl Operator<T>,
    ) -> Result<(), Failure> {
        self.begin(Collective::ReduceScatterv, 0, None, Location::caller())?;
        let amid = Amid(self);
        let ended = bodies::reduce_scatterv(&mut amid.0.context, send, counts, recv, &operator);
        amid.end(ended)
    }

    /// Combines the `data` of all ranks up to this one, in rank order, into this rank's `data`. All ranks give
    /// the same number of elements.
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
    /// See [`scan::doubling`](corecast_collectives::scan::doubling) for what fits a message, [`scan::chain`](corecast_collectives::scan::chain) for more, and for deterministic
    /// teams always.
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_team::{Plans, Team};
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
        self.begin(
            Collective::Scan,
            0,
            Some(size_of_val(data)),
            Location::caller(),
        )?;
        let amid = Amid(self);
        let ended = bodies::scan(&mut amid.0.context, data, Upto::Own, &operator);
        amid.end(ended)
    }

    /// Combines the `data` of all ranks before this one, in rank order, into this rank's `data`. The `data` of
    /// rank 0 stay as they are. Otherwise it is like [`scan`](Self::scan).
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
        self.begin(
            Collective::Exscan,
            0,
            Some(size_of_val(data)),
            Location::caller(),
        )?;
        let amid = Amid(self);
        let ended = bodies::scan(&mut amid.0.context, data, Upto::Before, &operator);
        amid.end(ended)
    }
}
