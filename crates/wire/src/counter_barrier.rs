//! A line to which all of a group add, and which all of them watch until everybody has.

use crate::park::Parker;
use crate::segment::LineRef;
use crate::sync::{mutated, order};
use crate::{ArrivalCounter, FenceKind, Line};

/// One member's end of a counter barrier: a counter barrier without a master. Whoever comes last lets all others go, with
/// the very addition by which it comes, and goes on at once: nobody has to run first who only passes the news
/// on, which counts where members share cores.
///
/// What members add is up to them, and so is how the sum tells that all have come. Sums of one counter barrier
/// differ from those of the next, and a member that goes on may have added to that one already: whoever
/// waits asks for a sum *or more*.
///
/// **Invariant:** nothing but additions writes the line, and each continues the release of those before
/// it. So whoever sees a sum, by its own addition or by a look, sees what each of those who added to it did
/// before.
///
/// Nothing here waits: whoever does looks at [`sum`](Self::sum) by the wait strategy, with
/// [`broadcast_ring::token`](crate::broadcast_ring::token) of the counter barrier's number.
#[derive(Debug)]
pub struct CounterBarrier {
    counter: LineRef<ArrivalCounter>,
    others: Box<[LineRef<Line<Parker>>]>,
    token: u32,
    fence: FenceKind,
}

impl CounterBarrier {
    /// An end of counter barrier number `number`, which tells it from every broadcast ring, arrival counter and other counter barrier that shares a
    /// parker with it. `others` are where the other members sleep.
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

    /// Adds. Returns the sum, by which the last one knows that it is the last: then all see what all did before,
    /// it must [`wake`](Self::wake) the others, and need not look.
    ///
    /// # Cost
    ///
    /// One line taken from whoever added before, or from those who watch it.
    #[inline(always)]
    pub fn come(&self, value: u64) -> u64 {
        let order = match mutated!(MeetUnseen) {
            true => order::count(),
            false => order::arrive_and_wait(),
        };
        // AcqRel: synchronises with the additions before it, and with the load in `ArrivalCounter::sum`.
        self.counter.add_by(value, order)
    }

    /// What was added so far.
    ///
    /// # Cost
    ///
    /// One line read when somebody has added.
    #[inline(always)]
    pub fn sum(&self) -> u64 {
        self.counter.sum()
    }

    /// Wakes those who sleep for this counter barrier.
    ///
    /// # Cost
    ///
    /// One load for each of them, of a line that is shared while it runs; a system call for each that sleeps.
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
