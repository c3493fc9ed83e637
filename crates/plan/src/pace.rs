//! How often a watcher is asked while a plan is prepared.
//!
//! What comes before the first move of a search (bounds, first trees, counts by levels) takes O(n²) and more: seconds
//! at thousands of members. So all of it counts its *steps* and lets the watcher look whenever [`DUE`] of them are
//! done. Where the watcher ends the search, a phase stops at once with what it has, which is a valid bound or tree, or
//! nothing.
//!
//! Steps never decide on a result: a search that nobody ends is the same with any watcher.

use std::ops::ControlFlow;

use crate::progress::{Progress, Watch};

/// Steps between two looks. A step is to look at a cost in a row, or a few additions, about a nanosecond.
pub(crate) const DUE: u64 = 1 << 17;

/// Most steps that a phase counts at once, a few milliseconds.
pub(crate) const AT_ONCE: u64 = 1 << 21;

/// Steps of a look at a cost that is not next to the one before: mostly a cache miss.
pub(crate) const FAR: u64 = 32;

/// Counts steps, and asks a watcher whenever enough are done.
pub(crate) struct Pace<'a> {
    ask: Option<&'a mut dyn FnMut() -> ControlFlow<()>>,
    /// Steps since the last look.
    steps: u64,
    has_ended: bool,
}

impl<'a> Pace<'a> {
    /// Returns a pace that asks for the first time at the first step: the search may be over already.
    pub(crate) fn new(ask: &'a mut dyn FnMut() -> ControlFlow<()>) -> Self {
        Self {
            ask: Some(ask),
            steps: DUE,
            has_ended: false,
        }
    }

    /// Returns a pace that asks when the first steps are due: what has few of them is done without a look.
    pub(crate) fn patient(ask: &'a mut dyn FnMut() -> ControlFlow<()>) -> Self {
        Self {
            steps: 0,
            ..Self::new(ask)
        }
    }

    /// Counts steps. Breaks where the watcher has ended the search.
    pub(crate) fn spend(&mut self, steps: u64) -> ControlFlow<()> {
        debug_assert!(steps <= AT_ONCE, "{steps} steps without a look");
        #[cfg(test)]
        tests::count(steps);
        self.steps += steps;
        match self.steps >= DUE {
            true => self.look(),
            false => self.flow(),
        }
    }

    /// Has the watcher asked now.
    pub(crate) fn look(&mut self) -> ControlFlow<()> {
        self.steps = 0;
        if let Some(ask) = &mut self.ask
            && !self.has_ended
        {
            self.has_ended = ask().is_break();
        }
        self.flow()
    }

    fn flow(&self) -> ControlFlow<()> {
        match self.has_ended {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Whether the watcher has ended the search.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }
}

/// Runs something that nobody watches.
pub(crate) fn unwatched<T>(run: impl FnOnce(&mut Pace<'_>) -> ControlFlow<(), T>) -> T {
    let mut pace = Pace {
        ask: None,
        steps: 0,
        has_ended: false,
    };
    match run(&mut pace) {
        ControlFlow::Continue(found) => found,
        ControlFlow::Break(()) => unreachable!("nobody ends what nobody watches"),
    }
}

/// Runs something at whose looks a watcher sees `known`.
pub(crate) fn watched<T>(
    watch: Watch<'_>,
    known: Progress,
    run: impl FnOnce(&mut Pace<'_>) -> T,
) -> T {
    let mut ask = || watch(&known);
    run(&mut Pace::new(&mut ask))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;
    use std::ops::ControlFlow;

    use super::{DUE, Pace, unwatched};

    thread_local! {
        /// The steps that this thread has counted since [`taken`].
        static STEPS: Cell<u64> = const { Cell::new(0) };
    }

    pub(crate) fn count(steps: u64) {
        STEPS.with(|all| all.set(all.get() + steps));
    }

    /// Returns the steps of this thread since the last call.
    pub(crate) fn taken() -> u64 {
        STEPS.with(|all| all.replace(0))
    }

    #[test]
    fn a_watcher_is_asked_at_the_first_step_and_whenever_it_is_due() {
        let mut looks = 0;
        let mut ask = || {
            looks += 1;
            ControlFlow::Continue(())
        };
        let mut pace = Pace::new(&mut ask);
        for _ in 0..1 + 3 * DUE / 64 {
            assert!(pace.spend(64).is_continue());
        }
        assert_eq!(looks, 4);
    }

    #[test]
    fn an_end_is_final() {
        let mut looks = 0;
        let mut ask = || {
            looks += 1;
            ControlFlow::Break(())
        };
        let mut pace = Pace::new(&mut ask);
        assert!(!pace.has_ended());
        for _ in 0..3 {
            assert!(pace.look().is_break() && pace.has_ended());
        }
        assert_eq!(looks, 1);
        unwatched(|pace| pace.look());
    }
}
