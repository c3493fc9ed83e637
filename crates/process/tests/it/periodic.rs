//! Long data whose reference is short, as tests are not optimised.

/// After so many elements data repeat. It is a prime number, so no two chunks that differ in place hold the same.
pub(crate) const PERIOD: usize = 1021;

/// Repeats `period` until there are `len` elements. It has these already, or [`PERIOD`].
pub(crate) fn repeated<T: Copy>(mut period: Vec<T>, len: usize) -> Vec<T> {
    assert_eq!(period.len(), len.min(PERIOD));
    while period.len() < len {
        let more = period.len().min(len - period.len());
        period.extend_from_within(..more);
    }
    period
}

/// All parts, one after another.
pub(crate) fn joined<T: Copy>(parts: impl Iterator<Item = Vec<T>>) -> Vec<T> {
    parts.collect::<Vec<_>>().concat()
}
