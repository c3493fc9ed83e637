//! Taking turns outside of the timed sections.

use corecast_wire::{Flag, LineRef, arch, ending};

/// The value of a flag whose raiser has left.
const LEFT: u64 = u64::MAX;

/// Polls before the thread yields its CPU: about 100 µs, longer than any batch.
const POLLS: u32 = 2_000;

/// The other thread has left in the middle of a lap, or takes long and this process was asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OtherLeft;

/// One side of a pair of flags, each raised by one thread and read by the other.
#[derive(Debug)]
pub(super) struct TurnFlags {
    /// The flag that this thread raises, on the other's NUMA node.
    theirs: LineRef<Flag>,
    /// The flag that the other thread raises, on this thread's NUMA node.
    mine: LineRef<Flag>,
    passed: u64,
    awaited: u64,
}

impl TurnFlags {
    pub(super) fn new(mine: LineRef<Flag>, theirs: LineRef<Flag>) -> Self {
        Self {
            theirs,
            mine,
            passed: 0,
            awaited: 0,
        }
    }

    /// Gives the turn to the other thread.
    #[inline(always)]
    pub(super) fn pass(&mut self) {
        self.passed += 1;
        self.theirs.raise(self.passed);
    }

    /// Whether the other thread has left, or shall: this process was asked to end.
    pub(super) fn is_alone(&self) -> bool {
        self.mine.seq() == LEFT || ending::is_asked()
    }

    /// Waits until the other thread gives the turn once more.
    #[inline(always)]
    pub(super) fn wait(&mut self) -> Result<(), OtherLeft> {
        self.awaited += 1;
        let mut polls = 0;
        loop {
            match self.mine.seq() {
                LEFT => return Err(OtherLeft),
                seq if seq >= self.awaited => return Ok(()),
                _ if polls < POLLS => {
                    polls += 1;
                    // An SMT sibling that is being timed needs the core more than this poll does.
                    arch::relax();
                }
                _ if ending::is_asked() => return Err(OtherLeft),
                _ => std::thread::yield_now(),
            }
        }
    }
}

impl Drop for TurnFlags {
    fn drop(&mut self) {
        self.theirs.raise(LEFT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_wire::Segment;

    fn both() -> (TurnFlags, TurnFlags) {
        let flag = || Segment::one::<Flag>(None).unwrap();
        let (a, b) = (flag(), flag());
        (TurnFlags::new(a.clone(), b.clone()), TurnFlags::new(b, a))
    }

    #[test]
    fn turns_alternate() {
        let (mut a, mut b) = both();
        let other = std::thread::spawn(move || {
            for _ in 0..100 {
                b.wait().unwrap();
                b.pass();
            }
            // Stays until the last turn was seen.
            b.wait().unwrap_err();
        });
        for _ in 0..100 {
            a.pass();
            a.wait().unwrap();
        }
        drop(a);
        other.join().unwrap();
    }

    #[test]
    fn a_partner_that_leaves_ends_the_wait() {
        let (mut a, b) = both();
        std::thread::scope(|scope| {
            assert!(!a.is_alone());
            scope.spawn(move || drop(b));
            assert_eq!(a.wait(), Err(OtherLeft));
            assert!(a.is_alone());
        });
    }
}
