//! The wait strategy of a thread: it spins, has the CPU wait, then yields, then sleeps, as an event may come at once or
//! in an hour.
//!
//! ```text
//!  look ──► spin, with the CPU's pause ──► wait in the CPU ──► yield ──► park ──┐
//!                      (ns)                     (ns)            (ns)     ▲      │ woken, or the limit passed
//!                                                                        └──────┘
//! ```
//!
//! The second phase is empty unless the CPU has an instruction that waits for a line to be written, see
//! [`hardware_wait`](crate::hardware_wait), and its costs were measured. It keeps the CPU, as spinning does.
//!
//! A thread that shares its hardware thread does not spin, unless such waits have shown that the thread it waits for probably runs
//! at this moment. Then it spins for as long as a context switch takes, see [`WaitStrategy::soon`].
//!
//! Every phase looks before it ends, so a wait that ends early costs what a bare spin costs. Where
//! more threads wait than there are hardware threads, spinning only keeps the CPU from the threads that
//! are waited for, so the first phase is empty.
//!
//! Yields that return late have given the CPU to a thread that computes; where most of their time goes that way, the next waits skip
//! that phase.
//!
//! There is no phase of spinning *without* the pause instruction: on x86-64 `pause` makes the
//! reaction faster, not slower, because a loop of bare loads has to be undone when the line comes
//! (one-way message over UMP 1.00 ± 0.05 of the floor with it and 1.04 ± 0.03 without, 8 bytes, 16
//! slots), and it lets a sender get ahead, so that a stream of messages costs half (7.5 against
//! 13.4 ns per line). 2-core KVM guest, Xeon at 2.5 GHz, November 2026; `benches/queues`.

use crate::Line;
use crate::arch;
use crate::fence::{FenceKind, fence_kind};
#[cfg(not(any(loom, corecast_simulated)))]
use crate::hardware_wait::HardwareWait;
use crate::hardware_wait::Monitored;
use crate::park::Parker;
pub use crate::poll_clock::PollClock;
use crate::segment::LineRef;
pub use crate::wait_config::{WaitConfig, WaitCosts};
use short_spins::ShortSpins;
use std::time::Duration;
use turns::Turns;

#[cfg(not(any(loom, corecast_simulated)))]
mod hardware_phase;
#[cfg_attr(loom, allow(dead_code, reason = "a model has no time to spin"))]
mod short_spins;
#[cfg_attr(loom, allow(dead_code, reason = "models do not yield"))]
mod turns;

/// A condition that ends a wait early, such as the death of a peer.
pub trait Watch {
    /// The reason why it ended.
    type Error;

    /// Is called once in eight yields, once per sleep, between two spins, and some ten times a millisecond while the CPU
    /// waits, but never while spinning. `waited` counts from the end of the first phase, and is zero while the CPU waits
    /// and while the thread yields.
    ///
    /// # Errors
    ///
    /// The reason why further waiting is useless.
    fn check(&mut self, waited: Duration) -> Result<(), Self::Error>;

    /// How long a thread may sleep until the next check: for watches that end a wait at a time.
    fn longest_nap(&self) -> Duration {
        LONGEST_NAP
    }
}

/// A watch that never ends the wait.
#[derive(Clone, Copy, Debug)]
pub struct Patient;

impl Watch for Patient {
    type Error = std::convert::Infallible;

    #[inline]
    fn check(&mut self, _slept: Duration) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// The wait strategy of one thread: the phases of its waits, and the parker that it sleeps on.
#[derive(Clone, Debug)]
#[cfg_attr(loom, allow(dead_code, reason = "a model has no time to spin"))]
pub struct WaitStrategy {
    pace: Pace,
    /// Whether its waits yield.
    turns: Turns,
    /// Whether they spin for a moment before.
    short_spins: ShortSpins,
    /// What the thread calls while it waits for long.
    meanwhile: Option<fn()>,
    fence: FenceKind,
    parker: LineRef<Line<Parker>>,
}

/// The phases of a wait before it sleeps, in ticks.
#[derive(Clone, Debug)]
#[cfg_attr(loom, allow(dead_code, reason = "a model has no time to spin"))]
pub(crate) struct Pace {
    spin_ticks: u64,
    /// The phase in which the CPU waits, where it can.
    #[cfg(not(any(loom, corecast_simulated)))]
    hardware: Option<hardware_phase::HardwarePhase>,
    yield_ticks: u64,
    /// The time that [`WaitStrategy::soon`] looks; 0: it does not.
    soon_ticks: u64,
    park: bool,
    /// A yield that takes longer has returned late.
    turn_ticks_max: u64,
}

/// The number of polls between two reads of the cycle counter. They take some 0.8 µs.
#[cfg(not(loom))]
const POLLS_PER_LOOK: u32 = 16;

/// The same in a spin that lasts as long as a context switch.
#[cfg(not(loom))]
const POLLS_PER_LOOK_SOON: u32 = 2;

/// A yield that takes longer may have given the CPU to a thread that computes, which keeps it for a time slice of 1 to 4 ms. Beside
/// two busy loops on two CPUs, 120,000 messages and their waits take 1.1 s where such waits sleep, and 16.8 s where they do not
/// (tests `every_message_arrives_once_whole_and_in_order` and `oversubscribed_pairs_make_progress` of `tests/it/queue.rs`;
/// 2-core KVM guest, Xeon at 2.5 GHz, November 2026).
const TURN_NS_MAX: u32 = 500_000;

/// Yields between two looks at a watch, which reads lines that others write in each operation and then have to take
/// back: four unpinned ranks on two CPUs lose 0.4 of 3.7 us a barrier by a look at each yield.
#[cfg(not(loom))]
const YIELDS_PER_CHECK: u32 = 8;

/// First sleep between two checks of a [`Watch`]; each further one is twice as long.
const FIRST_NAP: Duration = Duration::from_millis(20);

/// Longest sleep between two checks. Thirty wake-ups a minute are no load.
const LONGEST_NAP: Duration = Duration::from_secs(2);

/// Sleep between two calls of what a thread does meanwhile. Others wait for what it does, and a thousand calls a second
/// take a hundredth of a CPU.
const MEANWHILE_NAP: Duration = Duration::from_millis(1);

/// A watch, and what the thread calls before each look at it.
struct Meanwhile<W>(W, Option<fn()>);

impl<W: Watch> Watch for Meanwhile<W> {
    type Error = W::Error;

    #[inline]
    fn check(&mut self, waited: Duration) -> Result<(), W::Error> {
        if let Some(call) = self.1 {
            call();
        }
        self.0.check(waited)
    }

    fn longest_nap(&self) -> Duration {
        self.0.longest_nap()
    }
}

#[cfg(not(loom))]
thread_local! {
    /// [`WaitStrategy::turns`] of waits that have no wait strategy of their own.
    static TURNS: Turns = const { Turns::new() };
}

impl Pace {
    pub(crate) fn new(wait_config: WaitConfig) -> Self {
        #[cfg(not(any(loom, corecast_simulated)))]
        if wait_config.hardware_ns > 0
            && let Some(hardware_wait) = HardwareWait::here()
        {
            return Self::with_hardware(wait_config, hardware_wait);
        }
        Self::without_hardware(wait_config)
    }

    /// The phases on a CPU that waits by this instruction.
    #[cfg(not(any(loom, corecast_simulated)))]
    pub(crate) fn with_hardware(wait_config: WaitConfig, hardware_wait: HardwareWait) -> Self {
        let WaitConfig {
            spin_ns,
            hardware_ns,
            ..
        } = wait_config;
        let ticks = |ns: u32| (f64::from(ns) * arch::cycles_per_ns()) as u64;
        let phase = hardware_phase::HardwarePhase::new(hardware_wait, spin_ns, hardware_ns, ticks);
        let others = WaitConfig {
            hardware_ns: 0,
            ..wait_config
        };
        Self {
            hardware: Some(phase),
            ..Self::without_hardware(others)
        }
    }

    /// The phases on a CPU without a wait instruction, which polls instead.
    fn without_hardware(wait_config: WaitConfig) -> Self {
        let rate = arch::cycles_per_ns();
        let ticks = |ns: u32| (f64::from(ns) * rate) as u64;
        let spin_ns = wait_config.spin_ns.saturating_add(wait_config.hardware_ns);
        let spin_ticks = ticks(spin_ns);
        // A wait that never sleeps looks in one of its first two phases, or never.
        let least = u64::from(spin_ticks == 0 && !wait_config.park);
        Self {
            spin_ticks,
            #[cfg(not(any(loom, corecast_simulated)))]
            hardware: None,
            yield_ticks: ticks(wait_config.yield_ns).max(least),
            soon_ticks: ticks(wait_config.short_spin_ns()),
            park: wait_config.park,
            turn_ticks_max: ticks(TURN_NS_MAX),
        }
    }

    /// The first phase of a wait: `None` when it is over. Small, and inlined where it waits, because
    /// the instructions between an arrival and the reaction to it are part of every latency.
    #[inline(always)]
    pub(crate) fn spin<T>(&self, look: impl FnMut() -> Option<T>) -> Option<T> {
        #[cfg(not(loom))]
        if self.spin_ticks > 0 && !crate::fiber::is_inside() {
            // Most waits end before the clock is read.
            return poll::<_, POLLS_PER_LOOK>(None, self.spin_ticks, look);
        }
        #[cfg(loom)]
        drop(look);
        None
    }

    /// Looks for as long as a context switch takes. Reads the clock first, as two rows of polls would take longer than that.
    #[cfg(not(loom))]
    #[inline(always)]
    fn soon<T>(&self, look: impl FnMut() -> Option<T>) -> Option<T> {
        poll::<_, POLLS_PER_LOOK_SOON>(Some(arch::cycles()), self.soon_ticks, look)
    }

    /// The phase in which the CPU waits, for the line of `word` where that is known; `None` when it is over, or there is
    /// none.
    #[cfg(not(any(loom, corecast_simulated)))]
    #[inline(always)]
    fn wait_in_hardware<T, W: Watch>(
        &self,
        word: Option<Monitored<'_>>,
        watch: &mut W,
        look: &mut impl FnMut() -> Option<T>,
    ) -> Option<Result<T, W::Error>> {
        let phase = self.hardware.as_ref()?;
        phase.wait(word, look, || watch.check(Duration::ZERO))
    }

    /// Simulated CPUs do not wait: their phase before has been longer.
    #[cfg(corecast_simulated)]
    fn wait_in_hardware<T, W: Watch>(
        &self,
        _word: Option<Monitored<'_>>,
        _watch: &mut W,
        _look: &mut impl FnMut() -> Option<T>,
    ) -> Option<Result<T, W::Error>> {
        None
    }

    /// The phases after the first one of a thread without a parker of its own, which looks at `word`. Returns `false`
    /// when it is time to sleep; a configuration that never sleeps goes through the phases again.
    #[cfg(not(loom))]
    pub(crate) fn take_turns(&self, word: Monitored<'_>, mut done: impl FnMut() -> bool) -> bool {
        TURNS.with(|turns| {
            loop {
                let mut look = || done().then_some(());
                if let Some(Ok(())) = self.wait_in_hardware(Some(word), &mut Patient, &mut look) {
                    return true;
                }
                if let Some(Ok(())) = self.take_turns_watched(turns, &mut Patient, look) {
                    return true;
                }
                if self.park {
                    return false;
                }
                if self.spin(|| done().then_some(())).is_some() {
                    return true;
                }
            }
        })
    }

    /// Models do not yield: loom explores the path that parks instead.
    #[cfg(loom)]
    pub(crate) fn take_turns(&self, _word: Monitored<'_>, _done: impl FnMut() -> bool) -> bool {
        false
    }

    /// The phase in which the thread yields; `None` when it is over.
    #[cfg(not(loom))]
    #[inline]
    fn take_turns_watched<T, W: Watch>(
        &self,
        turns: &Turns,
        watch: &mut W,
        mut look: impl FnMut() -> Option<T>,
    ) -> Option<Result<T, W::Error>> {
        if self.park && turns.sleep_at_once() {
            return None;
        }
        let start = arch::cycles();
        let (mut before, mut late, mut yields) = (start, 0, 0_u32);
        let mut ended = None;
        while ended.is_none() && before.wrapping_sub(start) < self.yield_ticks {
            crate::sync::yield_now();
            let after = arch::cycles();
            let turn = after.wrapping_sub(before);
            late += if turn > self.turn_ticks_max { turn } else { 0 };
            before = after;
            ended = look().map(Ok);
            yields += 1;
            if ended.is_none() && yields.is_multiple_of(YIELDS_PER_CHECK) {
                ended = watch.check(Duration::ZERO).err().map(Err);
            }
        }
        turns.note(before.wrapping_sub(start), late, self.turn_ticks_max);
        ended
    }
}

impl WaitStrategy {
    /// A wait strategy for the owner of `parker`, which only threads of this process wake.
    pub fn new(wait_config: WaitConfig, parker: LineRef<Line<Parker>>) -> Self {
        Self::with_fence(wait_config, parker, fence_kind())
    }

    /// A wait strategy whose wakers use `fence` too: a shared kind where they may be other processes.
    pub fn with_fence(
        wait_config: WaitConfig,
        parker: LineRef<Line<Parker>>,
        fence: FenceKind,
    ) -> Self {
        Self {
            pace: Pace::new(wait_config),
            turns: Turns::new(),
            short_spins: ShortSpins::new(),
            meanwhile: None,
            fence,
            parker,
        }
    }

    /// Calls `meanwhile` while a wait is long: as often as it looks at its watch, and at least once a millisecond while it
    /// sleeps. It is for threads on whose progress others may depend that this wait knows nothing of, such as those of a
    /// message-passing library.
    pub fn calling(self, meanwhile: Option<fn()>) -> Self {
        Self { meanwhile, ..self }
    }

    /// The kind of fence that wakers of this wait strategy's parker need.
    #[inline(always)]
    pub fn fence(&self) -> FenceKind {
        self.fence
    }

    /// The parker on which the thread sleeps.
    pub fn parker(&self) -> &LineRef<Line<Parker>> {
        &self.parker
    }

    /// Waits until `look` finds something.
    #[inline(always)]
    pub fn wait<T>(&self, token: u32, mut look: impl FnMut() -> Option<T>) -> T {
        match self.wait_watched(token, || Patient, &mut look) {
            Ok(found) => found,
            Err(never) => match never {},
        }
    }

    /// Waits until `look` finds something or the watch ends the wait. The watch is made when the wait
    /// becomes long.
    ///
    /// A thread that makes `look` succeed must call [`Parker::wake_for`] with the same `token` on this wait
    /// strategy's parker afterwards.
    ///
    /// # Errors
    ///
    /// Those of `watch`.
    ///
    /// # Cost
    ///
    /// One look when it succeeds at once.
    #[inline(always)]
    pub fn wait_watched<T, W: Watch>(
        &self,
        token: u32,
        watch: impl FnOnce() -> W,
        look: impl FnMut() -> Option<T>,
    ) -> Result<T, W::Error> {
        self.wait_watched_at(None, token, watch, look)
    }

    /// [`wait_watched`](Self::wait_watched) whose look depends on one line: a write of it ends a wait in the CPU at once.
    ///
    /// # Errors
    ///
    /// Those of `watch`.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_wire::wait::Patient;
    /// use corecast_wire::{Flag, Line, LineRef, Parker, Segment, WaitConfig, WaitStrategy};
    ///
    /// let flag: LineRef<Flag> = Segment::one(None)?;
    /// let bell: LineRef<Line<Parker>> = Segment::one(None)?;
    /// let wait_strategy = WaitStrategy::new(WaitConfig::BALANCED, bell.clone());
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| {
    ///         flag.raise(1);
    ///         bell.wake_for(7, corecast_wire::fence_kind());
    ///     });
    ///     let (word, look) = (flag.monitored(), || Some(flag.seq()).filter(|&seq| seq > 0));
    ///     let Ok(seq) = wait_strategy.wait_watched_at(Some(word), 7, || Patient, look);
    ///     assert_eq!(seq, 1);
    /// });
    /// # Ok::<(), corecast_wire::SegmentError>(())
    /// ```
    #[inline(always)]
    pub fn wait_watched_at<T, W: Watch>(
        &self,
        word: Option<Monitored<'_>>,
        token: u32,
        watch: impl FnOnce() -> W,
        mut look: impl FnMut() -> Option<T>,
    ) -> Result<T, W::Error> {
        match self.briefly(&mut look) {
            Some(found) => Ok(found),
            None => self.wait_long(word, token, watch(), &mut look),
        }
    }

    /// The first phase of a wait: `None` when it is over.
    #[inline(always)]
    pub(crate) fn spin<T>(&self, look: impl FnMut() -> Option<T>) -> Option<T> {
        self.pace.spin(look)
    }

    /// Looks once, and then through the first phase of a wait: `None` when that is over. Whoever waits on then gives
    /// [`wait_long`](Self::wait_long) a look of its own: the processor would keep one that both shared in memory.
    #[inline(always)]
    pub fn briefly<T>(&self, look: impl FnMut() -> Option<T>) -> Option<T> {
        self.briefly_after(|| (), look)
    }

    /// [`briefly`](Self::briefly), with `before` right before each look but the first one.
    #[inline(always)]
    pub fn briefly_after<T>(
        &self,
        mut before: impl FnMut(),
        mut look: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        // A `match`, because `or_else` is not always inlined, and a call here costs every message.
        match look() {
            None => self.spin(|| {
                before();
                look()
            }),
            found => found,
        }
    }

    /// Looks for as long as a switch to another thread takes, if waits with this token and after such a wait as the last one have
    /// mostly ended that way. It is for waits that do not spin, as ranks share hardware threads, but may end soon, as
    /// whoever is waited for may be running: yielding would cost a switch to another thread and one back. It does
    /// nothing where the wait spins anyway or sleeps at once, nor on a fiber.
    #[inline(always)]
    pub fn soon<T>(&self, token: u32, look: impl FnMut() -> Option<T>) -> Option<T> {
        #[cfg(not(loom))]
        if self.pace.soon_ticks > 0 && !crate::fiber::is_inside() {
            return self.short_spins.run(token, || self.pace.soon(look));
        }
        #[cfg(loom)]
        drop((token, look));
        None
    }

    /// The later phases of a wait that did not end in its first phase: [`soon`](Self::soon), and then
    /// [`give_way`](Self::give_way).
    ///
    /// # Errors
    ///
    /// Those of `watch`.
    #[cold]
    #[inline(never)]
    pub fn wait_long<T, W: Watch>(
        &self,
        word: Option<Monitored<'_>>,
        token: u32,
        watch: W,
        look: &mut impl FnMut() -> Option<T>,
    ) -> Result<T, W::Error> {
        match self.soon(token, &mut *look) {
            Some(found) => Ok(found),
            None => self.give_way(word, token, watch, look),
        }
    }

    /// The phases of a wait after those that spin: for whoever knows that those it waits for do not run at this moment.
    ///
    /// # Errors
    ///
    /// Those of `watch`.
    #[cfg(not(loom))]
    #[cold]
    #[inline(never)]
    pub fn give_way<T, W: Watch>(
        &self,
        word: Option<Monitored<'_>>,
        token: u32,
        watch: W,
        look: &mut impl FnMut() -> Option<T>,
    ) -> Result<T, W::Error> {
        if crate::fiber::is_inside() {
            return suspend_until(watch, look);
        }
        let mut watch = Meanwhile(watch, self.meanwhile);
        let since = crate::sync::Instant::now();
        loop {
            if let Some(ended) = self.pace.wait_in_hardware(word, &mut watch, &mut *look) {
                return ended;
            }
            let turns = self
                .pace
                .take_turns_watched(&self.turns, &mut watch, &mut *look);
            if let Some(ended) = turns {
                return ended;
            }
            if self.pace.park {
                return self.sleep(token, watch, look, || since.elapsed());
            }
            watch.check(since.elapsed())?;
            if let Some(found) = self.spin(&mut *look) {
                return Ok(found);
            }
        }
    }

    /// Models neither spin nor yield, and have no time: a wait that is not over sleeps.
    ///
    /// # Errors
    ///
    /// Those of `watch`.
    #[cfg(loom)]
    pub fn give_way<T, W: Watch>(
        &self,
        _word: Option<Monitored<'_>>,
        token: u32,
        watch: W,
        look: &mut impl FnMut() -> Option<T>,
    ) -> Result<T, W::Error> {
        if crate::fiber::is_inside() {
            return suspend_until(watch, look);
        }
        self.sleep(token, Meanwhile(watch, None), look, || Duration::ZERO)
    }

    /// The last phase of a wait. `waited` says how long it has lasted.
    fn sleep<T, W: Watch>(
        &self,
        token: u32,
        mut watch: Meanwhile<W>,
        look: &mut impl FnMut() -> Option<T>,
        waited: impl Fn() -> Duration,
    ) -> Result<T, W::Error> {
        let (mut nap, longest) = match watch.1 {
            None => (FIRST_NAP, LONGEST_NAP),
            Some(_) => (MEANWHILE_NAP, MEANWHILE_NAP),
        };
        loop {
            let slept = waited();
            let limit = nap.min(watch.longest_nap());
            // The watch is part of the last look, because its news wake the same parker.
            let ended = self
                .parker
                .park(token, self.fence, Some(limit), || match look() {
                    Some(found) => Some(Ok(found)),
                    None => watch.check(slept).err().map(Err),
                });
            if let Some(ended) = ended {
                return ended;
            }
            if let Some(found) = look() {
                return Ok(found);
            }
            nap = (nap * 2).min(longest);
        }
    }
}

/// Polls for this many ticks of the counter, with the CPU's pause instruction between two polls, and looks at the counter after each
/// row of them. The ticks count from `start`, or from the end of the first row.
#[cfg(not(loom))]
#[inline(always)]
fn poll<T, const POLLS: u32>(
    mut start: Option<u64>,
    ticks: u64,
    mut look: impl FnMut() -> Option<T>,
) -> Option<T> {
    loop {
        for _ in 0..POLLS {
            arch::relax();
            if let Some(found) = look() {
                return Some(found);
            }
        }
        let now = arch::cycles();
        if now.wrapping_sub(*start.get_or_insert(now)) >= ticks {
            return None;
        }
    }
}

/// A wait on a fiber: the thread does other things between two looks.
#[cold]
#[inline(never)]
fn suspend_until<T, W: Watch>(
    mut watch: W,
    look: &mut impl FnMut() -> Option<T>,
) -> Result<T, W::Error> {
    let mut ended = None;
    let was_fiber = crate::fiber::suspend_until(|resumed_for| {
        ended = look().map(Ok);
        if let (None, crate::fiber::Look::Long(waited)) = (&ended, resumed_for) {
            ended = watch.check(waited).err().map(Err);
        }
        ended.is_some()
    });
    debug_assert!(was_fiber, "the caller has seen that this is a fiber");
    ended.expect("a fiber goes on when its wait has ended")
}
