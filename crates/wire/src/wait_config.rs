//! How long a wait spends in each of its phases, for how many ranks on how many hardware threads.

/// The costs of offering the CPU and of sleeping on a machine, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaitCosts {
    /// A yield while nobody else wants the CPU.
    pub yield_ns: f64,
    /// From the waker's call until the sleeper runs.
    pub wake_ns: f64,
    /// The time by which a thread that waits in the CPU is later than one that polls; `None` where the CPU has no wait
    /// instruction, or it was not measured.
    pub hardware_ns: Option<f64>,
}

/// A phase ends when the wait has lasted this many times as long as the next phase can delay its end. So a wait
/// becomes longer by an eighth at most, in return for a CPU that others can use.
pub(crate) const PATIENCE: f64 = 8.0;

/// A switch to another thread takes about one and a half times as long as a yield while nobody else wants the CPU, and two of them are
/// what a wait that polls may save.
const SOON_YIELDS: f64 = 3.0;

/// The time that a wait may spend in each phase before it parks. A wait without any phase, all zero and `park` false,
/// yields between two looks.
///
/// # Examples
///
/// ```
/// use corecast_wire::WaitConfig;
/// assert_eq!(WaitConfig::for_team(2, 2), WaitConfig::BALANCED);
/// assert_eq!(WaitConfig::for_team(8, 2), WaitConfig::OVERSUBSCRIBED);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitConfig {
    /// Polling with the CPU's pause instruction in between, in nanoseconds.
    pub spin_ns: u32,
    /// Waiting in the CPU for a write of the line that is looked at, in nanoseconds, see
    /// [`hardware_wait`](crate::hardware_wait). A CPU without such an instruction polls for this time too.
    pub hardware_ns: u32,
    /// Polling before the CPU is offered, in nanoseconds, by a wait that does not spin, where such polls have mostly ended waits. See
    /// [`WaitStrategy::soon`](crate::WaitStrategy::soon).
    pub soon_ns: u32,
    /// Polling with the CPU offered to others in between, in nanoseconds.
    pub yield_ns: u32,
    /// Whether to sleep after that; otherwise the wait begins again with spinning.
    pub park: bool,
}

impl WaitConfig {
    /// For waiters that have a hardware thread each. Where something else wants the CPU after all, a wait keeps it
    /// from that for three microseconds. A yield to no other thread takes 0.4 µs, which is little against a wait
    /// that has lasted that long.
    ///
    /// Eight ranks that wait by this configuration on two CPUs, without knowing it, take 20 to 60 µs a barrier.
    /// With a spin of 50 µs they take 400 µs (2-core KVM guest, Xeon at 2.5 GHz, November 2026).
    pub const BALANCED: Self = Self {
        spin_ns: 3_000,
        hardware_ns: 0,
        soon_ns: 0,
        yield_ns: 100_000,
        park: true,
    };

    /// For more waiters than hardware threads: a wait gives the CPU away at once, and sleeps when that does not
    /// help. A switch by yielding takes 1.1 µs, sleeping and being woken 4 to 5 µs (same machine), so yielding is
    /// worth some turns.
    ///
    /// Before that it polls for the time of three yields, if that has been worth it. Among four ranks on two CPUs, with 1.3 µs of it,
    /// alltoalls of 8 bytes take 0.75 of the time without, broadcasts 0.77, and with 0.6 µs 0.9 and 1.0; where ranks of eight poll for
    /// as long as their turns take, some 3 µs, allgathers take 1.6 (2-core KVM guest, AMD EPYC, 29 November 2026).
    pub const OVERSUBSCRIBED: Self = Self {
        spin_ns: 0,
        hardware_ns: 0,
        soon_ns: 1_300,
        yield_ns: 200_000,
        park: true,
    };

    /// Never gives the CPU away. It is for threads that own their hardware threads. Lost peers are noticed once in
    /// a millisecond.
    pub const SPIN: Self = Self {
        spin_ns: 1_000_000,
        hardware_ns: 0,
        soon_ns: 0,
        yield_ns: 0,
        park: false,
    };

    /// Sleeps at once, so waits take no CPU time.
    pub const PARK: Self = Self {
        spin_ns: 0,
        hardware_ns: 0,
        soon_ns: 0,
        yield_ns: 0,
        park: true,
    };

    /// The time that a wait polls before it yields, if that has ended waits: 0 where it spins anyway, or does not yield.
    pub const fn short_spin_ns(&self) -> u32 {
        match (self.spin_ns, self.hardware_ns, self.yield_ns) {
            (0, 0, 1..) => self.soon_ns,
            _ => 0,
        }
    }

    /// The configuration for `ranks` threads on `usable` hardware threads (after cpuset and quota), where nothing
    /// was measured.
    pub const fn for_team(ranks: usize, usable: usize) -> Self {
        if ranks <= usable {
            Self::BALANCED
        } else {
            Self::OVERSUBSCRIBED
        }
    }

    /// The configuration for `ranks` threads on `usable` hardware threads by measured costs: no phase begins before
    /// it adds less than an eighth to a wait. Ranks that share a hardware thread do not spin, but for the time of three yields where that
    /// has ended waits: whoever is waited for may come after one switch on another CPU, and yielding costs two here. They yield
    /// the longer the more they are, as each of them may have to be woken in turn.
    ///
    /// Spinning lasts 3 to 20 µs, as waits of 3 µs are no sign that anybody is late, and yielding 20 µs to 2 ms,
    /// whatever was measured. Where waiting in the CPU was measured and is cheaper than a yield, it takes the rest of
    /// that spinning, after half a microsecond at least: a message may take as long. It is no phase of ranks that share
    /// a hardware thread, since it keeps that from the others.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_wire::{WaitConfig, WaitCosts};
    ///
    /// let costs = WaitCosts { yield_ns: 400.0, wake_ns: 10_000.0, hardware_ns: None };
    /// let own = WaitConfig::of_costs(2, 2, costs);
    /// assert_eq!((own.spin_ns, own.yield_ns, own.park), (3_200, 80_000, true));
    /// let shared = WaitConfig::of_costs(8, 2, costs);
    /// assert_eq!((shared.spin_ns, shared.soon_ns, shared.yield_ns), (0, 1_200, 320_000));
    /// let umwait = WaitConfig::of_costs(2, 2, WaitCosts { hardware_ns: Some(100.0), ..costs });
    /// assert_eq!((umwait.spin_ns, umwait.hardware_ns, umwait.yield_ns), (800, 2_400, 80_000));
    /// ```
    #[must_use]
    pub fn of_costs(ranks: usize, usable: usize, costs: WaitCosts) -> Self {
        let turns = ranks.div_ceil(usable.max(1)).max(1);
        // A float cast saturates, and turns NaN into 0.
        let within = |ns: f64, least: u32, most: u32| (ns as u32).clamp(least, most);
        // The CPU is kept for this time.
        let kept = match turns {
            1 => within(PATIENCE * costs.yield_ns, 3_000, 20_000),
            _ => 0,
        };
        let spin_ns = match costs.hardware_ns {
            Some(ns) if kept > 0 => within(PATIENCE * ns, 500, kept),
            _ => kept,
        };
        Self {
            spin_ns,
            hardware_ns: kept - spin_ns,
            soon_ns: match turns {
                1 => 0,
                _ => within(SOON_YIELDS * costs.yield_ns, 300, 5_000),
            },
            yield_ns: within(PATIENCE * costs.wake_ns * turns as f64, 20_000, 2_000_000),
            park: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_in_the_cpu_takes_a_part_of_the_spin_and_never_begins_too_early() {
        let mut random = fastrand::Rng::with_seed(1);
        let odd = [0.0, -1.0, 1e300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        let mut cost = |most: f64| match random.u32(..20) {
            0 => odd[random.usize(..odd.len())],
            _ => most * random.f64(),
        };
        for _ in 0..20_000 {
            let [yield_ns, wake_ns, ns] = [cost(5e3), cost(5e4), cost(1e3)];
            for (ranks, usable) in [(1, 2), (2, 2), (3, 2), (9, 1), (1, 0)] {
                let costs = |hardware_ns| WaitCosts {
                    yield_ns,
                    wake_ns,
                    hardware_ns,
                };
                let polls = WaitConfig::of_costs(ranks, usable, costs(None));
                let waits = WaitConfig::of_costs(ranks, usable, costs(Some(ns)));
                assert_eq!(polls.hardware_ns, 0);
                assert_eq!(waits.spin_ns + waits.hardware_ns, polls.spin_ns);
                assert_eq!((waits.yield_ns, waits.park), (polls.yield_ns, true));
                if waits.hardware_ns > 0 {
                    assert!(ranks <= usable.max(1) && waits.spin_ns >= 500);
                    // The wait has lasted eight times what the phase delays its end, to the nanosecond.
                    let late = if ns.is_nan() { 0.0 } else { ns };
                    assert!(
                        PATIENCE * late < f64::from(waits.spin_ns + 1),
                        "{ns} {waits:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_wait_in_the_cpu_that_costs_as_much_as_a_yield_is_no_phase() {
        let costs = WaitCosts {
            yield_ns: 450.0,
            wake_ns: 2e4,
            hardware_ns: Some(450.0),
        };
        let waits = WaitConfig::of_costs(2, 2, costs);
        assert_eq!((waits.spin_ns, waits.hardware_ns), (3_600, 0));
    }
}
