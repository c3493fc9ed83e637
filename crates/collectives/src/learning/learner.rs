//! A rank's races, and what they have found.

use super::race::Race;
use corecast_model::Collective;

/// The longest length of the first class, in bytes. Each further class goes on to twice the length.
pub(super) const SHORTEST: usize = 64;

/// Classes of lengths: no slice has more than `isize::MAX` bytes.
pub(super) const CLASSES: usize = (usize::BITS - 1 - SHORTEST.trailing_zeros()) as usize + 1;

/// What a team has learned of an operation at a class of lengths.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Learned {
    /// The operation.
    pub collective: Collective,
    /// The longest length of the class in bytes of a block, as [`Algorithms`](crate::Algorithms) counts them.
    pub up_to: usize,
    /// The fastest algorithm, which runs from now on.
    pub algorithm: &'static str,
    /// The algorithm that ran without a race.
    pub usual: &'static str,
    /// The time of the fastest algorithm over that of the one that it was compared with last.
    pub ratio: f64,
}

/// The state of a class.
#[derive(Clone, Debug)]
pub(super) enum Class {
    /// No call has come.
    New,
    /// Its algorithms race.
    Racing(Box<Race>),
    /// The place of the winner among all algorithms of the operation.
    Known(u8),
}

/// A rank's races, and what they have found.
#[derive(Clone, Debug)]
pub struct Learner {
    pub(super) clock: fn() -> u64,
    pub(super) classes: Vec<Class>,
    pub(super) learned: Vec<Learned>,
}

impl Learner {
    /// A learner that reads the time from `clock`, in any unit. Ranks may have different clocks.
    pub(crate) fn new(clock: fn() -> u64) -> Self {
        Self {
            clock,
            classes: vec![Class::New; Collective::ALL.len() * CLASSES],
            learned: Vec::new(),
        }
    }

    /// What has been learned so far, in that order.
    pub fn learned(&self) -> &[Learned] {
        &self.learned
    }

    /// The class of an operation at a length, and its place in `classes`.
    pub(super) fn class_of(collective: Collective, bytes: usize) -> (usize, usize) {
        let class = class(bytes);
        (class, collective as usize * CLASSES + class)
    }
}

/// The class of a length.
pub(super) fn class(bytes: usize) -> usize {
    let longest = bytes.div_ceil(SHORTEST).next_power_of_two();
    longest.trailing_zeros() as usize
}

/// The longest length of a class.
pub(super) fn longest(class: usize) -> usize {
    SHORTEST << class
}
