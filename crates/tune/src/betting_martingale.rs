//! A betting martingale: the capital of a gambler who bets on a coin of unknown bias, round by round.
//!
//! The gambler's gain refutes the hypothesis that the coin shows heads at most half the time. If the hypothesis is
//! true, a gambler who starts with one unit and bets on heads at fair odds ever has more than 1/α with a probability
//! of at most α, whatever his stakes (Ville 1939). The bound holds for all rounds together, so a test may look
//! after each round and stop at any.
//!
//! This gambler spreads his unit evenly over all chances of heads p from 1/2 to 1 and bets each part as is optimal
//! for its p. After `heads` of `tosses` he has
//!
//! ```text
//!      1                                              Σ C(tosses+1, k), k = 0 … heads
//! 2    ∫  (2p)^heads (2(1-p))^(tosses-heads) dp   =   ───────────────────────────────
//!     1/2                                             (tosses+1) · C(tosses, heads)
//! ```
//!
//! Source: Robbins 1970, *Statistical methods related to the law of the iterated logarithm* (mixtures); Ramdas and
//! others 2023, *Game-theoretic statistics and safe anytime-valid inference*.

/// The gambler's capital after `heads` of `tosses`, beginning with 1; infinite where it overflows.
///
/// # Panics
///
/// If there are more heads than tosses.
///
/// # Cost
///
/// Linear in `heads`.
///
/// # Examples
///
/// ```
/// use corecast_tune::betting_martingale::martingale;
///
/// assert_eq!(martingale(0, 0), 1.0);
/// // Nine heads in a row: one chance in 512, and not quite so much is won.
/// assert!((100.0..103.0).contains(&martingale(9, 9)));
/// ```
pub fn martingale(heads: u32, tosses: u32) -> f64 {
    assert!(heads <= tosses, "{heads} heads of {tosses} tosses");
    let after = f64::from(tosses) + 1.0;
    // C(tosses+1, k) / C(tosses, heads), from k = heads down.
    let mut term = after / (after - f64::from(heads));
    let mut sum = term;
    for k in (1..=heads).rev() {
        let k = f64::from(k);
        term *= k / (after + 1.0 - k);
        sum += term;
    }
    sum / after
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The integral by the midpoint rule.
    fn integral(heads: i32, tosses: i32) -> f64 {
        let steps = 20_000;
        let part = |step: i32| {
            let p = 0.5 + (f64::from(step) + 0.5) / f64::from(2 * steps);
            (2.0 * p).powi(heads) * (2.0 * (1.0 - p)).powi(tosses - heads)
        };
        (0..steps).map(part).sum::<f64>() / f64::from(steps)
    }

    #[test]
    fn it_is_the_integral() {
        for tosses in 0..=30 {
            for heads in 0..=tosses {
                let (exact, found) = (
                    integral(heads, tosses),
                    martingale(heads as u32, tosses as u32),
                );
                assert!((found / exact - 1.0).abs() < 1e-4, "{heads} of {tosses}");
            }
        }
    }

    #[test]
    fn a_fair_coin_leaves_it_as_it_is() {
        // The mean of the capital over both outcomes is the capital before the toss.
        for tosses in 0..60 {
            for heads in 0..=tosses {
                let after = f64::midpoint(
                    martingale(heads + 1, tosses + 1),
                    martingale(heads, tosses + 1),
                );
                // This holds for each p, and so for the even spread over p.
                let before = martingale(heads, tosses);
                assert!((after / before - 1.0).abs() < 1e-9, "{heads} of {tosses}");
            }
        }
    }

    #[test]
    fn long_races_neither_overflow_nor_stall() {
        assert!(martingale(500, 500).is_finite() && martingale(500, 500) > 1e100);
        assert!(martingale(0, 5000) > 0.0);
        assert!(martingale(5000, 5000) == f64::INFINITY);
    }
}
