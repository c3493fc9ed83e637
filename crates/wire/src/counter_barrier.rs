//! Lines to which many members of a group add: an arrival counter, whose sum one member reads, and a counter barrier,
//! whose sum all watch until it is complete.

use crate::hardware_wait::Monitored;
use crate::park::Parker;
use crate::segment::{LineRef, Lines};
use crate::sync::{AtomicU64, Ordering, mutated, order};
use crate::{FenceKind, Line};

/// CLa's many-to-one synchronisation over the *same line* (§3.1): every member takes the line once to
/// add to it, and the reader fetches it once when all have.
///
/// The members decide what they add; the sum wraps around.
///
/// **Invariant:** only additions write the line, and each continues the release sequence of those
/// before it. So a reader of a sum sees what each member that added to it did before.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct ArrivalCounter {
    sum: AtomicU64,
}

// SAFETY: one atomic integer, of which any value is valid; zero is its default, no Drop.
unsafe impl Lines for ArrivalCounter {}

impl ArrivalCounter {
    /// Adds `value` and returns the sum. A reader of the sum sees what the caller did before. The sum
    /// tells the last member of a group that it is the last, and has to wake the reader.
    ///
    /// # Cost
    ///
    /// One transfer of a cache line, from the member that added before.
    #[inline(always)]
    pub fn add(&self, value: u64) -> u64 {
        // Release: synchronises with the load in `sum`.
        self.add_by(value, order::count())
    }

    #[inline(always)]
    pub(crate) fn add_by(&self, value: u64, order: Ordering) -> u64 {
        self.sum.fetch_add(value, order).wrapping_add(value)
    }

    /// The sum of all additions so far.
    #[inline(always)]
    pub fn sum(&self) -> u64 {
        // Acquire: synchronises with the additions in `add`.
        self.sum.load(order::total())
    }

    /// The word whose write ends a wait for the sum.
    #[inline(always)]
    pub fn monitored(&self) -> Monitored<'_> {
        Monitored::new(&self.sum)
    }
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<ArrivalCounter>() == crate::line::PAIR_BYTES);

/// One member's end of a counter barrier, which has no master. The last addition releases all others, and its
/// member goes on at once. No member has to run only to pass a release on, which matters where they share cores.
///
/// The members decide what they add and which sum means that all have come. The sum grows from one barrier to the
/// next, and a member that goes on may already have added for the next one. So members wait until the sum is the
/// expected one *or more*.
///
/// **Invariant:** only additions write the line, and each continues the release sequence of those before it.
/// So a member that sees a sum, by its own addition or by a load, also sees what each member that added to it
/// did before.
///
/// No method waits. A member waits for [`sum`](Self::sum) by its wait strategy, with the token
/// [`broadcast_ring::token`](crate::broadcast_ring::token) of the counter barrier's number.
#[derive(Debug)]
pub struct CounterBarrier {
    counter: LineRef<ArrivalCounter>,
    others: Box<[LineRef<Line<Parker>>]>,
    token: u32,
    fence: FenceKind,
}

impl CounterBarrier {
    /// An end of counter barrier `number`. No broadcast ring, arrival counter or other counter barrier that shares
    /// a parker with it has that number. `others` are the parkers of the other members.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_wire::{WaitStrategy, Line, LineRef, CounterBarrier, Parker, WaitConfig, Segment, ArrivalCounter};
    /// use corecast_wire::{fence_kind, broadcast_ring};
    ///
    /// let counter: LineRef<ArrivalCounter> = Segment::one(None)?;
    /// let wait_strategies: Vec<WaitStrategy> = [Segment::one::<Line<Parker>>(None)?, Segment::one(None)?]
    ///     .into_iter()
    ///     .map(|bell| WaitStrategy::new(WaitConfig::BALANCED, bell))
    ///     .collect();
    /// let bells = [1, 0].map(|other: usize| wait_strategies[other].parker().clone());
    /// let ends = bells.map(|other| CounterBarrier::new(0, counter.clone(), [other].into(), fence_kind()));
    /// std::thread::scope(|scope| {
    ///     for (end, wait_strategy) in ends.iter().zip(wait_strategies) {
    ///         scope.spawn(move || {
    ///             for counter_barrier in 1..=100 {
    ///                 let all = 2 * counter_barrier;
    ///                 if end.come(1) == all {
    ///                     end.wake();
    ///                 } else {
    ///                     wait_strategy.wait(broadcast_ring::token(0), || Some(end.sum()).filter(|&sum| sum >= all));
    ///                 }
    ///             }
    ///         });
    ///     }
    /// });
    /// # Ok::<(), corecast_wire::SegmentError>(())
    /// ```
    pub fn new(
        number: u32,
        counter: LineRef<ArrivalCounter>,
        others: Box<[LineRef<Line<Parker>>]>,
        fence: FenceKind,
    ) -> Self {
        let token = crate::broadcast_ring::token(number);
        Self {
            counter,
            others,
            token,
            fence,
        }
    }

    /// Adds `value` and returns the sum. The member whose sum is complete is the last: it sees what all did
    /// before, need not wait, and must [`wake`](Self::wake) the others.
    ///
    /// # Cost
    ///
    /// One transfer of the line, from the member that added before or from those that watch it.
    #[inline(always)]
    pub fn come(&self, value: u64) -> u64 {
        let order = match mutated!(MeetUnseen) {
            true => order::count(),
            false => order::arrive_and_wait(),
        };
        // AcqRel: synchronises with the additions before it, and with the load in `ArrivalCounter::sum`.
        self.counter.add_by(value, order)
    }

    /// The sum of all additions so far.
    ///
    /// # Cost
    ///
    /// One read of the line after each addition.
    #[inline(always)]
    pub fn sum(&self) -> u64 {
        self.counter.sum()
    }

    /// [`ArrivalCounter::monitored`].
    #[inline(always)]
    pub fn monitored(&self) -> Monitored<'_> {
        self.counter.monitored()
    }

    /// Wakes the members that sleep for this counter barrier.
    ///
    /// # Cost
    ///
    /// One load of each other member's parker, whose line is shared while that member runs; a system call for each
    /// one that sleeps.
    #[inline(always)]
    pub fn wake(&self) {
        for bell in &self.others {
            bell.wake_for(self.token, self.fence);
            if mutated!(OneMemberWakes) {
                break;
            }
        }
    }
}
