//! Which unit to count time in.

/// A loss that makes a longer grain not worth less.
const LOSS_BY_THE_WAY: f64 = 1e-3;

/// The longest grain, not shorter than `shortest`, that loses little of these costs when they are
/// rounded down to multiples of it; a common divisor loses nothing.
///
/// At a good grain some cost is a whole multiple, so only those are looked at. A machine whose
/// costs are noise on a few round numbers has a grain near their common divisor.
pub(super) fn length(costs: &[f64], shortest: f64) -> f64 {
    let costs: Vec<f64> = costs
        .iter()
        .copied()
        .filter(|c| c.is_finite() && *c > 0.0)
        .collect();
    let mut tried: Vec<(f64, f64)> = Vec::new();
    for &cost in &costs {
        // Few costs are longer than thousands of grains; those have multiples enough.
        let most = (cost / shortest).min(4096.0) as u32;
        for count in 1..=most {
            let grain = cost / f64::from(count);
            tried.push((grain, loss(&costs, grain)));
        }
    }
    let least = tried.iter().map(|t| t.1).fold(f64::INFINITY, f64::min);
    let good = tried.iter().filter(|t| t.1 <= least + LOSS_BY_THE_WAY);
    good.map(|t| t.0).fold(shortest, f64::max)
}

/// The mean share that rounding takes from a cost.
fn loss(costs: &[f64], grain: f64) -> f64 {
    let share = |&cost: &f64| 1.0 - down(cost, grain) as f64 * grain / cost;
    costs.iter().map(share).sum::<f64>() / costs.len() as f64
}

/// The cost in grains, rounded down.
///
/// An exact multiple is not lost to the rounding of the division, and the result never exceeds the
/// cost: the product is compared with it.
pub(super) fn down(cost: f64, grain: f64) -> usize {
    let near = (cost / grain).round();
    if near * grain <= cost {
        near as usize
    } else {
        (near as usize).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_costs_have_their_divisor() {
        assert_eq!(
            length(&[60.0, 280.0, 120.0, 570.0, 200.0, 950.0], 4.0),
            10.0
        );
        let noisy = [58.21, 271.8, 116.5, 553.2, 194.02, 922.0];
        let grain = length(&noisy, 4.0);
        assert!((9.5..9.9).contains(&grain), "{grain}");
        assert!(loss(&noisy, grain) < 0.004);
    }

    #[test]
    fn nothing_is_rounded_up() {
        for cost in [0.0, 0.1, 0.3, 1.0, 59.999_999_999, 60.0, 1e12] {
            for grain in [0.1, 0.3, 1.0, 7.0, 60.0] {
                let count = down(cost, grain) as f64;
                assert!(count * grain <= cost && (count + 1.001) * grain > cost);
            }
        }
    }
}
