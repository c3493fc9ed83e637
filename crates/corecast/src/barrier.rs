//! A barrier for any threads, without a team.

use corecast_machine::Discovery;
use corecast_wire::phase_barrier::{Arrival, PhaseBarrier, TooMany};
use corecast_wire::{WaitConfig, WaitCosts};
use std::fmt;
use std::sync::OnceLock;

use crate::costs;
use crate::error::Error;
use crate::store::Store;
use crate::waits::Waits;

/// A barrier of threads that need no rank: any thread may arrive, and the number that is expected may shrink.
/// The interface is that of C++20's `std::barrier`, and threads wait as members of a team do.
///
/// The barriers of a [`Team`](crate::Team) are planned for its machine, notice members that are gone, and reach
/// other processes. This one is for programs whose threads come and go, and for those that use a `std::barrier`
/// already.
///
/// # Examples
///
/// ```
/// use corecast::Barrier;
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// let come = AtomicUsize::new(0);
/// let rounds = AtomicUsize::new(0);
/// let barrier = Barrier::with_completion(3, || {
///     rounds.fetch_add(1, Ordering::Relaxed);
/// })?;
/// std::thread::scope(|scope| {
///     for _ in 0..3 {
///         scope.spawn(|| {
///             come.fetch_add(1, Ordering::Relaxed);
///             barrier.arrive_and_wait().unwrap();
///             assert_eq!(come.load(Ordering::Relaxed), 3);
///             // The next phase needs nobody to wait.
///             barrier.arrive_and_drop().unwrap();
///         });
///     }
/// });
/// assert_eq!(rounds.into_inner(), 2);
/// # Ok::<(), corecast::Error>(())
/// ```
pub struct Barrier<F = fn()> {
    phase_barrier: PhaseBarrier,
    complete: F,
}

impl<F> fmt::Debug for Barrier<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Barrier");
        text.field("phase_barrier", &self.phase_barrier)
            .finish_non_exhaustive()
    }
}

impl Barrier {
    /// The most threads that a barrier can expect.
    pub const MOST: usize = PhaseBarrier::MOST as usize;

    /// A barrier of `expected` threads in each phase. Threads wait as fits the machine and their number, or as
    /// `CORECAST_WAIT` says.
    ///
    /// # Errors
    ///
    /// [`Error::Wait`] for a `CORECAST_WAIT` that cannot be read.
    ///
    /// # Panics
    ///
    /// If `expected` is above [`Barrier::MOST`].
    pub fn new(expected: usize) -> Result<Self, Error> {
        Self::with_completion(expected, || ())
    }
}

impl<F: Fn()> Barrier<F> {
    /// A barrier of `expected` threads; the last one of each phase runs `complete` before any goes on.
    ///
    /// # Errors
    ///
    /// [`Error::Wait`] for a `CORECAST_WAIT` that cannot be read.
    ///
    /// # Panics
    ///
    /// If `expected` is above [`Barrier::MOST`].
    pub fn with_completion(expected: usize, complete: F) -> Result<Self, Error> {
        Ok(Self::with_wait_config(
            expected,
            wait_config(expected)?,
            complete,
        ))
    }

    /// A barrier of `expected` threads that wait by `wait_config`; the last one of each phase runs `complete`.
    ///
    /// # Panics
    ///
    /// If `expected` is above [`Barrier::MOST`].
    pub fn with_wait_config(expected: usize, wait_config: WaitConfig, complete: F) -> Self {
        let most = PhaseBarrier::MOST;
        let fitting = u32::try_from(expected)
            .ok()
            .filter(|&number| number <= most);
        let Some(expected) = fitting else {
            panic!("a barrier of {expected}: at most {most} can be expected");
        };
        let phase_barrier = PhaseBarrier::new(expected, wait_config);
        Self {
            phase_barrier,
            complete,
        }
    }

    /// Arrives without waiting. [`wait`](Self::wait) with the returned value waits for the end of the phase.
    ///
    /// # Errors
    ///
    /// [`TooMany`] if more arrive than are expected; the call then has no effect.
    ///
    /// # Panics
    ///
    /// If `arrivals` is 0.
    ///
    /// # Cost
    ///
    /// One transfer of a cache line, from the thread that arrived before.
    #[inline]
    pub fn arrive(&self, arrivals: u32) -> Result<Arrival, TooMany> {
        self.phase_barrier.arrive(arrivals, &self.complete)
    }

    /// Waits until the phase of `arrival`, which is the current one or the one before, is over.
    #[inline]
    pub fn wait(&self, arrival: Arrival) {
        self.phase_barrier.wait(arrival);
    }

    /// Arrives and waits until the phase is over.
    ///
    /// # Errors
    ///
    /// The errors of [`arrive`](Self::arrive).
    #[inline]
    pub fn arrive_and_wait(&self) -> Result<(), TooMany> {
        let arrival = self.arrive(1)?;
        self.wait(arrival);
        Ok(())
    }

    /// Arrives, and lowers the number of expected threads by one from the next phase on.
    ///
    /// # Errors
    ///
    /// The errors of [`arrive`](Self::arrive).
    pub fn arrive_and_drop(&self) -> Result<(), TooMany> {
        self.phase_barrier.arrive_and_drop(&self.complete)
    }
}

/// The waits of `expected` threads on this machine.
fn wait_config(expected: usize) -> Result<WaitConfig, Error> {
    /// Discovery runs once, since a program may have many barriers.
    static HERE: OnceLock<(Discovery, Option<WaitCosts>)> = OnceLock::new();
    let (here, costs) = HERE.get_or_init(|| {
        let here = corecast_machine::discover();
        let (file, _) = costs::here(&Store::standard(), &here);
        let costs = costs::of_waits(&file);
        (here, costs)
    });
    let waits = Waits::of_team(expected, here, *costs).by_environment()?;
    Ok(waits.as_wait_config())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "at most 2147483647 can be expected")]
    fn not_more_than_fit() {
        let _ = Barrier::new(Barrier::MOST + 1);
    }

    #[test]
    fn too_many_are_told() {
        let barrier = Barrier::new(2).unwrap();
        assert!(barrier.arrive(3).is_err());
        let arrival = barrier.arrive(2).unwrap();
        barrier.wait(arrival);
        barrier.arrive_and_drop().unwrap();
        barrier.arrive_and_drop().unwrap();
        let too_many = barrier.arrive_and_wait().unwrap_err();
        assert!(
            too_many.to_string().contains("1 arrive where 0"),
            "{too_many}"
        );
    }
}
