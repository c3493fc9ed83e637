//! k-nomial trees: the binomial tree with another radix (Nishtala and Yelick, HotPar 2009, §2.2).

use super::turned;
use crate::tree::Tree;

/// The k-nomial tree of any radix from 2 and any number of members; radix 2 is the binomial tree.
///
/// Positions are numbers in base k. A position's parent is itself with the lowest digit that is
/// not 0 set to 0; so it serves the positions that differ from it in one digit below that one. Higher
/// digits are served first, because they have more below them.
///
/// ```text
///    radix 2, 8 members          radix 3, 9 members
///           0                            0
///        ╱  │  ╲                   ╱   ╱   ╲   ╲
///       4   2   1                 3   6     1   2
///      ╱ ╲  │                    ╱ ╲ ╱ ╲
///     6   5 3                   4  5 7  8
///     │
///     7
/// ```
///
/// # Panics
///
/// When the radix is below 2, or the root outside of the team.
///
/// # Cost
///
/// Depth ⌈log_k n⌉; a member serves at most (k − 1) · ⌈log_k n⌉ others.
#[must_use]
pub fn knomial(n: usize, root: usize, radix: usize) -> Tree {
    assert!(
        radix >= 2,
        "a k-nomial tree has a radix of at least 2, not {radix}"
    );
    turned(n, root, |v| {
        let mut lists = Vec::new();
        let mut place = 1;
        // Digits from the lowest up to, and not including, the first that is not 0. Past n there
        // is nobody left to serve, whatever the digit.
        while place < n && (v / place).is_multiple_of(radix) {
            let digits = 1..radix;
            lists.push(
                digits
                    .map(move |digit| v.saturating_add(digit.saturating_mul(place)))
                    .take_while(move |&c| c < n),
            );
            place = place.saturating_mul(radix);
        }
        lists.into_iter().rev().flatten()
    })
}
