//! The lanes of a fold: how a local array becomes one element in an order that is the same on every machine.
//!
//! [`Operator::fold`](super::Operator::fold) says which element goes to which lane; this file joins the lanes.

/// Lanes of a [`fold`](super::Operator::fold): enough for the compiler to make vectors of the loop over them for
/// every element type, and few enough to stay in the first cache.
pub const LANES: usize = 256;

/// Elements longer than this (in bytes) are folded from left to right, so that the lanes take no
/// more than 4 KiB of the stack.
pub const LANE_BYTES_MAX: usize = 16;

/// Joins the upper half of the lanes to the lower one until one is left. Up to [`LANES`] lanes.
#[inline(always)]
pub(super) fn halve<W>(lanes: &mut [W], join: impl Fn(&mut [W], &[W])) {
    debug_assert!(lanes.len() <= LANES);
    let mut half = LANES / 2;
    let mut used = lanes.len();
    while half > 0 {
        if used > half {
            let (low, high) = lanes[..used].split_at_mut(half);
            join(&mut low[..high.len()], high);
            used = half;
        }
        half /= 2;
    }
}
