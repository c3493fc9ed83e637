//! The four primitives of cache-line-aware design, in which an algorithm says line by line what it does.
//!
//! Ramos and Hoefler (CLa §2.4) write algorithms in `cl_copy`, `cl_wait`, `cl_write` and `cl_add`, because these say
//! which cache lines move, and nothing else costs. [`CacheLines`] has the four. An algorithm over it is written once,
//! and runs wherever the trait is implemented:
//!
//! | implementation | a line is | the result |
//! | --- | --- | --- |
//! | a team of threads or processes | a [`SharedLine`] in the team's memory | the data, and the time that it took here |
//! | a machine in virtual time | a line of that machine | the data, and the time that it would take there |
//! | the symbolic model | a line in a graph | the data, the graph, and bounds of the time |
//!
//! Compared with [`Fabric`](crate::Fabric), the interface of the collectives, it is a level below: an operation of a
//! `Fabric` is one or several primitives. It is for algorithms whose lines are laid out by hand: payload in the flag's
//! line, one line for many, private lines that others read. It has no flow control and no messages.
//!
//! An algorithm has three parts: a [`LineSet`] with its lines, a function over [`CacheLines`] that each rank calls, and
//! the *round* in which it is called. Lines keep their values from round to round and values only grow, so an algorithm
//! that is to run again writes and awaits values that grow with the round.

mod rounds;
mod set;
mod shared;

pub use rounds::Rounds;
pub use set::{LineId, LineKind, LineSet, LineUse};
pub use shared::{PayloadLine, SharedLine};

/// Words of payload in a line: all of a line of 64 bytes but the first, which holds its value.
pub const PAYLOAD_WORDS: usize = 7;

/// The payload of a line.
pub type Payload = [u64; PAYLOAD_WORDS];

/// The sum of two payloads, word by word, which wraps around: what [`CacheLines::add_line`] makes.
#[inline]
pub fn sum(own: Payload, other: Payload) -> Payload {
    core::array::from_fn(|word| own[word].wrapping_add(other[word]))
}

/// What one rank does to the lines of an algorithm: the four primitives, and access to its own data.
///
/// A line has a *value*, which ranks write, add to and wait for, and a *payload* of [`PAYLOAD_WORDS`] words, which they
/// copy and sum up. A wait for a value also brings the payload that its writer put into the line before, and everything
/// else that the writer did.
///
/// **Rules of an algorithm.** Values of a line only grow. A rank writes, adds to and waits for lines in which its
/// [`LineSet`] gives it that part. Payload is read after a wait that follows its last change, and changed after a wait
/// that follows its last read. So nobody reads what another one writes at the same time; an algorithm that breaks this
/// gets wrong data, and nothing worse.
///
/// # Source
///
/// CLa §2.4. `cl_wait` has the comparison "at least" here, since a rank that polls late may find a later value.
///
/// # Examples
///
/// Figure 8a, one-to-many over the same line, with data in the line of the flag (§4.1).
///
/// ```
/// use corecast_wire::cache_lines::{CacheLines, LineId};
///
/// fn tell<L: CacheLines>(lines: &mut L, (data, flag): (LineId, LineId), round: u64) -> Result<(), L::Error> {
///     if lines.rank() == 0 {
///         lines.copy(data, flag, 1);
///         lines.write(flag, round);
///     } else {
///         lines.wait(flag, round)?;
///         lines.copy(flag, data, 1);
///     }
///     Ok(())
/// }
/// ```
pub trait CacheLines {
    /// Why a wait ended without the value.
    type Error;

    /// This rank.
    fn rank(&self) -> usize;

    /// `cl_copy`: copies the payload of so many lines, and leaves their values as they are.
    fn copy(&mut self, from: LineId, to: LineId, lines: usize);

    /// `cl_wait`: polls a line until its value is at least `value`.
    ///
    /// # Errors
    ///
    /// The implementation's own error, for example when a rank that writes the line is lost.
    fn wait(&mut self, line: LineId, value: u64) -> Result<(), Self::Error>;

    /// `cl_write`: stores a value. No other rank changes the value at the same time.
    fn write(&mut self, line: LineId, value: u64);

    /// `cl_add` of a constant to a value. Any number of ranks may add at the same time.
    fn add(&mut self, line: LineId, value: u64);

    /// `cl_add` of what is read from another line: adds the payload of `from` to that of `line`, word by word. Sums wrap
    /// around.
    fn add_line(&mut self, line: LineId, from: LineId);

    /// The payload of a line of this rank's data, as its program reads it before or after the algorithm.
    fn payload(&self, line: LineId) -> Payload;

    /// Sets the payload of a line of this rank's data, as its program does before the algorithm.
    fn set_payload(&mut self, line: LineId, payload: Payload);
}
