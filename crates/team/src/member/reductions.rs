//! Operations that give all members one member's data, or combine those of all: broadcast, reduce, allreduce.

use super::element_size::{assert_fits, element_size, fits};
use super::{Amid, Member};
use crate::failure::Failure;
use crate::hardware::{ExchangeStage, Word};
use bytemuck::Pod;
use corecast_collectives::Collective;
use corecast_collectives::combine::{Combine, On};
use corecast_collectives::operator::Operator;
use corecast_collectives::{allreduce, broadcast, reduce};
use corecast_wire::Fabric;
use std::panic::Location;

impl Member {
    /// Gives `root`'s `data` to every member. All have the same number of elements.
    ///
    /// Broadcasts are totally ordered: every member gets them in the order in which they were called, even if
    /// their roots differ.
    ///
    /// # Errors
    ///
    /// [`Failure`]; `data` may then be partly overwritten.
    ///
    /// # Panics
    ///
    /// If `root` is outside of the team.
    ///
    /// # Cost
    ///
    /// See [`broadcast::tree`](corecast_collectives::broadcast::tree); data longer than a message are lent, see [`broadcast::lent`](corecast_collectives::broadcast::lent).
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_team::{Plans, Team};
    /// # let machine = corecast_model::synthetic("core:3").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// let team = Team::new(plans)?;
    /// team.run(|member| {
    ///     let mut data = [0.0; 4];
    ///     if member.rank() == 2 {
    ///         data = [1.0, 2.0, 3.0, 4.0];
    ///     }
    ///     member.broadcast(2, &mut data).unwrap();
    ///     assert_eq!(data, [1.0, 2.0, 3.0, 4.0]);
    /// });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn broadcast<T: Pod>(&mut self, root: usize, data: &mut [T]) -> Result<(), Failure> {
        self.begin(
            Collective::Broadcast,
            root,
            Some(size_of_val(data)),
            Location::caller(),
        )?;
        let (data, element) = (bytemuck::cast_slice_mut(data), element_size::<T>());
        if self.tracker.is_recorded() {
            return self.recorded_broadcast(root, data, element);
        }
        broadcast::start(&mut self.context, root, data, element)
    }

    /// Apart, as a recorded barrier is.
    #[cold]
    #[inline(never)]
    fn recorded_broadcast(
        &mut self,
        root: usize,
        data: &mut [u8],
        element: usize,
    ) -> Result<(), Failure> {
        let ended = broadcast::start(&mut self.context, root, data, element);
        self.end(ended)
    }

    /// [`broadcast`](Self::broadcast) of one value: returns `root`'s.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Panics
    ///
    /// If `root` is outside of the team.
    #[inline]
    #[track_caller]
    pub fn broadcast_value<T: Pod>(&mut self, root: usize, mut value: T) -> Result<T, Failure> {
        self.broadcast(root, std::slice::from_mut(&mut value))?;
        Ok(value)
    }

    /// Combines the members' `data` element by element into that of `root`; on other ranks `data`
    /// stays as it is. All have the same number of elements.
    ///
    /// `operator` must be associative and commutative up to what the caller tolerates. Values are
    /// combined in an order that depends on the plan and the root alone: a team gives the same
    /// bits each time.
    ///
    /// # Errors
    ///
    /// [`Failure`]; `root`'s `data` may then hold partial results.
    ///
    /// # Panics
    ///
    /// If `root` is outside of the team, or an element has an alignment above 16.
    ///
    /// # Cost
    ///
    /// See [`reduce::tree`](corecast_collectives::reduce::tree); data longer than a message are lent, see [`reduce::lent`](corecast_collectives::reduce::lent).
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_team::{Plans, Team};
    /// # let machine = corecast_model::synthetic("core:3").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// let team = Team::new(plans)?;
    /// let results = team.run(|member| {
    ///     let mut data = [member.rank() as i32, 10 * member.rank() as i32];
    ///     member.reduce(1, &mut data, i32::max).unwrap();
    ///     data
    /// });
    /// assert_eq!(results, [[0, 0], [2, 20], [2, 20]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn reduce<T: Pod>(
        &mut self,
        root: usize,
        data: &mut [T],
        operator: impl Operator<T>,
    ) -> Result<(), Failure> {
        self.begin(
            Collective::Reduce,
            root,
            Some(size_of_val(data)),
            Location::caller(),
        )?;
        let amid = Amid(self);
        assert_fits::<T>();
        let combine = On::<T, _>::new(&operator);
        let ended = reduce::start(
            &mut amid.0.context,
            root,
            bytemuck::cast_slice_mut(data),
            &combine,
        );
        amid.end(ended)
    }

    /// [`reduce`](Self::reduce) of one value: `Some` for `root`, `None` for the others.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Panics
    ///
    /// In the same cases as [`reduce`](Self::reduce).
    #[inline]
    #[track_caller]
    pub fn reduce_value<T: Pod>(
        &mut self,
        root: usize,
        mut value: T,
        operator: impl Operator<T>,
    ) -> Result<Option<T>, Failure> {
        self.reduce(root, std::slice::from_mut(&mut value), operator)?;
        Ok((self.rank() == root).then_some(value))
    }

    /// Combines the members' `data` element by element, and gives all members the result, with the same bits.
    /// Otherwise it is like [`reduce`](Self::reduce).
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
    /// See [`allreduce::tree`](corecast_collectives::allreduce::tree); two ranks use [`allreduce::exchange`](corecast_collectives::allreduce::exchange); by length and number of ranks also
    /// [`allreduce::owners`](corecast_collectives::allreduce::owners) and others.
    #[inline]
    #[track_caller]
    pub fn allreduce<T: Pod>(
        &mut self,
        data: &mut [T],
        operator: impl Operator<T>,
    ) -> Result<(), Failure> {
        let (site, data) = (Location::caller(), bytemuck::cast_slice_mut(data));
        let combine = On::<T, _>::new(&operator);
        if fits::<T>() {
            match self.allreduce_word(data, &combine, site) {
                None => {}
                Some(ExchangeStage::Done) => return Ok(()),
                Some(met) => return self.allreduce_word_late(data, &combine, site, met),
            }
        }
        self.begin(Collective::Allreduce, 0, Some(data.len()), site)?;
        let amid = Amid(self);
        assert_fits::<T>();
        let ended = allreduce::start(&mut amid.0.context, data, &combine);
        amid.end(ended)
    }

    /// Begins and mostly ends an allreduction that is one exchange of words between two ranks. `None` if it is not, or nothing was
    /// done.
    #[inline(always)]
    pub(super) fn allreduce_word(
        &mut self,
        data: &mut [u8],
        combine: &(impl Combine + ?Sized),
        site: &'static Location<'static>,
    ) -> Option<ExchangeStage> {
        if !self.is_pair || !allreduce::is_word(&self.context, data.len()) {
            return None;
        }
        let mut room = 0;
        let mut word = Word::new(data, &mut room);
        let (kind, fabric) = (Collective::Allreduce, &mut self.context.fabric);
        let met = self.tracker.exchange_words(fabric, kind, site, &mut word)?;
        if met == ExchangeStage::Done {
            let Word { theirs, .. } = word;
            self.combine_word(data, theirs, combine, site);
        }
        Some(met)
    }

    /// Ends what [`allreduce_word`](Self::allreduce_word) has begun.
    #[cold]
    #[inline(never)]
    pub(super) fn allreduce_word_late(
        &mut self,
        data: &mut [u8],
        combine: &dyn Combine,
        site: &'static Location<'static>,
        met: ExchangeStage,
    ) -> Result<(), Failure> {
        let mut room = 0;
        let mut word = Word::new(data, &mut room);
        let (kind, fabric) = (Collective::Allreduce, &mut self.context.fabric);
        let met = (met, Some(&mut word));
        self.tracker.end_exchange(fabric, kind, site, met)?;
        let Word { theirs, .. } = word;
        self.combine_word(data, theirs, combine, site);
        Ok(())
    }

    /// The part of such an allreduction that may panic.
    #[inline(always)]
    fn combine_word(
        &mut self,
        data: &mut [u8],
        theirs: &[u8],
        combine: &(impl Combine + ?Sized),
        site: &'static Location<'static>,
    ) {
        allreduce::ran_word();
        let amid = AmidExchange {
            bytes: data.len(),
            site,
            amid: Amid(self),
        };
        let rank = amid.amid.0.context.fabric.rank();
        allreduce::combine_two(rank, data, theirs, combine);
        std::mem::forget(amid);
    }

    /// [`allreduce`](Self::allreduce) of one value.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Panics
    ///
    /// In the same cases as [`allreduce`](Self::allreduce).
    #[inline]
    #[track_caller]
    pub fn allreduce_value<T: Pod>(
        &mut self,
        mut value: T,
        operator: impl Operator<T>,
    ) -> Result<T, Failure> {
        self.allreduce(std::slice::from_mut(&mut value), operator)?;
        Ok(value)
    }
}

/// [`Amid`] an allreduction that is an exchange, of which nothing was noted yet.
struct AmidExchange<'m> {
    amid: Amid<'m>,
    bytes: usize,
    site: &'static Location<'static>,
}

impl Drop for AmidExchange<'_> {
    #[cold]
    fn drop(&mut self) {
        let Member {
            tracker, context, ..
        } = &mut *self.amid.0;
        let call = &mut context.fabric.call;
        tracker.note_exchange(call, Collective::Allreduce, self.site, Some(self.bytes));
    }
}
