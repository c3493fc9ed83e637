//! The length of the steps in which costs are counted.

/// A common divisor of all finite costs if one is at least `shortest`, which is the result otherwise.
///
/// Costs count as decimal fractions, of up to three places, from which they differ by at most this
/// share of themselves.
pub(crate) fn measure(costs: &[f64], shortest: f64, slack: f64) -> f64 {
    let finite = || costs.iter().copied().filter(|cost| cost.is_finite());
    for scale in [1.0, 10.0, 100.0, 1000.0] {
        let whole = |c: f64| (c * scale).round();
        if finite().all(|c| (whole(c) / scale - c).abs() <= slack * c && whole(c) < 1e9) {
            let divisor = finite().fold(0, |a, c| gcd(a, whole(c) as u64)) as f64 / scale;
            if divisor >= shortest {
                return divisor;
            }
        }
    }
    shortest
}

/// The greatest common divisor.
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
