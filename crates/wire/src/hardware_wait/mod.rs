//! Waiting in the processor: the instructions by which a hardware thread waits for a write of a line, without the
//! system. It leaves execution units and power to its SMT sibling meanwhile, and the memory to those who write.
//!
//! | file | what |
//! | --- | --- |
//! | `features.rs` | what a processor says that it has, and which instruction that is |
//! | `x86_64.rs`, `aarch64.rs`, `none.rs` | the instructions, as stable Rust has no functions for them |
//! | `count.rs` | how many waits came so far |
//!
//! A wait *arms* the monitor of a line, looks, and then waits for a write. A write before the look is seen by the look, a
//! write after it ends the wait. Every wait may end for no reason, so whoever waits looks again; and it has a deadline,
//! so an event that writes another line is late, but never lost. No protocol relies on these instructions.
//!
//! Models, simulations and `--cfg corecast_generic_arch` have no wait instruction.

#[cfg(not(any(loom, corecast_simulated)))]
mod count;
mod features;

#[cfg(all(
    target_arch = "aarch64",
    not(any(corecast_generic_arch, corecast_simulated, loom))
))]
#[path = "aarch64.rs"]
mod imp;
#[cfg(any(
    corecast_generic_arch,
    corecast_simulated,
    loom,
    not(any(target_arch = "x86_64", target_arch = "aarch64"))
))]
#[path = "none.rs"]
mod imp;
#[cfg(all(
    target_arch = "x86_64",
    not(any(corecast_generic_arch, corecast_simulated, loom))
))]
#[path = "x86_64.rs"]
mod imp;

#[cfg(not(any(loom, corecast_simulated)))]
pub(crate) use count::came;
pub use features::{Cpuid, Hwcap, WaitInstruction};

use crate::sync::AtomicU64;
use std::sync::OnceLock;

/// A word for whose writes a thread can wait in the processor. All that the look of that wait depends on is in the word
/// or in its line.
#[derive(Clone, Copy, Debug)]
pub struct Monitored<'a>(&'a AtomicU64);

impl<'a> Monitored<'a> {
    /// Makes the writes of `word` end a wait.
    #[inline(always)]
    pub fn new(word: &'a AtomicU64) -> Self {
        Self(word)
    }

    fn address(self) -> *const u8 {
        std::ptr::from_ref(self.0).cast()
    }
}

/// The wait instruction of this processor. Whoever has one has seen that the processor has it.
///
/// # Examples
///
/// ```
/// use corecast_wire::hardware_wait::{self, HardwareWait};
///
/// match HardwareWait::here() {
///     Some(found) => println!("this CPU waits by {}", found.instruction().name()),
///     None => println!("{}", hardware_wait::MISSING),
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HardwareWait(WaitInstruction);

/// Why [`HardwareWait::here`] finds nothing, where it does, in a clause.
pub const MISSING: &str = imp::MISSING;

impl HardwareWait {
    /// The instruction of the processor that this program runs on; `None` if it has none, or none that ends in time.
    ///
    /// # Cost
    ///
    /// A few microseconds at the first call, since hypervisors answer CPUID themselves; a load afterwards.
    pub fn here() -> Option<Self> {
        static HERE: OnceLock<Option<HardwareWait>> = OnceLock::new();
        *HERE.get_or_init(|| imp::instruction().map(Self))
    }

    /// What tests have in place of an instruction.
    #[cfg(test)]
    pub(crate) fn pretended() -> Self {
        Self(WaitInstruction::Pretended)
    }

    /// The instruction.
    pub fn instruction(self) -> WaitInstruction {
        self.0
    }

    /// Returns what `look` finds once the line of `word` is monitored. If that is nothing, waits for a write of the line,
    /// until [`cycles`](crate::arch::cycles) reads `deadline`, or less long. `wfe` may end some 100 µs late.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_wire::arch;
    /// use corecast_wire::hardware_wait::{HardwareWait, Monitored};
    /// use corecast_wire::sync::{AtomicU64, Ordering};
    ///
    /// let word = AtomicU64::new(1);
    /// let look = || Some(word.load(Ordering::Acquire)).filter(|&word| word > 0);
    /// if let Some(hardware_wait) = HardwareWait::here() {
    ///     let found = hardware_wait.wait_for(Monitored::new(&word), arch::cycles() + 1000, look);
    ///     assert_eq!(found, Some(1));
    /// }
    /// ```
    #[inline]
    pub fn wait_for<T>(
        self,
        word: Monitored<'_>,
        deadline: u64,
        look: impl FnOnce() -> Option<T>,
    ) -> Option<T> {
        #[cfg(test)]
        if self.0 == WaitInstruction::Pretended {
            return pretend(word, deadline, look);
        }
        // SAFETY: this value exists only where the processor has the instruction; the word is borrowed.
        unsafe { imp::arm(self.0, word.address()) };
        let found = look();
        if found.is_none() {
            // SAFETY: as above.
            unsafe { imp::wait(self.0, deadline) };
        }
        found
    }

    /// Waits until [`cycles`](crate::arch::cycles) reads `deadline`, or less long. An instruction that does not
    /// [keep deadlines](WaitInstruction::keeps_deadlines) waits for any event.
    #[inline]
    pub fn wait_until(self, deadline: u64) {
        #[cfg(test)]
        if self.0 == WaitInstruction::Pretended {
            let word = AtomicU64::new(0);
            let _ = pretend(Monitored(&word), deadline, || None::<()>);
            return;
        }
        // SAFETY: this value exists only where the processor has the instruction.
        unsafe { imp::wait_until(self.0, deadline) };
    }
}

/// How many waits of this process came to their hardware phase so far.
///
/// # Examples
///
/// ```
/// use corecast_wire::hardware_wait::{self, HardwareWait};
///
/// if HardwareWait::here().is_none() {
///     assert_eq!(hardware_wait::waits(), 0);
/// }
/// ```
pub fn waits() -> u64 {
    #[cfg(not(any(loom, corecast_simulated)))]
    return count::sum();
    #[cfg(any(loom, corecast_simulated))]
    0
}

/// Waits as an instruction does: for a change of the word, or the deadline.
#[cfg(test)]
fn pretend<T>(word: Monitored<'_>, deadline: u64, look: impl FnOnce() -> Option<T>) -> Option<T> {
    use crate::sync::Ordering;
    // Acquire: the look comes after it, as after an instruction that arms a monitor.
    let armed = word.0.load(Ordering::Acquire);
    let found = look();
    // A deadline that has passed is far away in wrapping numbers.
    let left = || deadline.wrapping_sub(crate::arch::cycles()) as i64;
    // Acquire: the look of whoever waits comes after it.
    while found.is_none() && left() > 0 && word.0.load(Ordering::Acquire) == armed {
        std::thread::yield_now();
    }
    found
}

#[cfg(all(test, not(any(loom, corecast_simulated))))]
mod tests;
