//! The choice of the unit in which a count measures time.

/// The greatest loss for which a longer time step is taken.
const LOSS_BY_THE_WAY: f64 = 1e-3;

/// The longest time step, not shorter than `shortest`, that loses little of these costs when they are
/// rounded down to multiples of it; a common divisor loses nothing.
///
/// At a good time step some cost is a whole multiple, so only those are looked at. A machine whose
/// costs are noise on a few round numbers has a time step near their common divisor.
pub(super) fn length(costs: &[f64], shortest: f64) -> f64 {
    let costs: Vec<f64> = costs
        .iter()
        .copied()
        .filter(|c| c.is_finite() && *c > 0.0)
        .collect();
    let mut tried: Vec<(f64, f64)> = Vec::new();
    for &cost in &costs {
        // Few costs are longer than thousands of time steps; those have multiples enough.
        let most = (cost / shortest).min(4096.0) as u32;
        for count in 1..=most {
            let time_step = cost / f64::from(count);
            tried.push((time_step, loss(&costs, time_step)));
        }
    }
    let least = tried.iter().map(|t| t.1).fold(f64::INFINITY, f64::min);
    let good = tried.iter().filter(|t| t.1 <= least + LOSS_BY_THE_WAY);
    good.map(|t| t.0).fold(shortest, f64::max)
}

/// The mean share that rounding takes from a cost.
fn loss(costs: &[f64], time_step: f64) -> f64 {
    let share = |&cost: &f64| 1.0 - down(cost, time_step) as f64 * time_step / cost;
    costs.iter().map(share).sum::<f64>() / costs.len() as f64
}

/// The cost in time steps, rounded down.
///
/// An exact multiple is not lost to the rounding of the division, and the result never exceeds the
/// cost: the product is compared with it.
pub(super) fn down(cost: f64, time_step: f64) -> usize {
    let near = (cost / time_step).round();
    if near * time_step <= cost {
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
        let time_step = length(&noisy, 4.0);
        assert!((9.5..9.9).contains(&time_step), "{time_step}");
        assert!(loss(&noisy, time_step) < 0.004);
    }

    #[test]
    fn nothing_is_rounded_up() {
        for cost in [0.0, 0.1, 0.3, 1.0, 59.999_999_999, 60.0, 1e12] {
            for time_step in [0.1, 0.3, 1.0, 7.0, 60.0] {
                let count = down(cost, time_step) as f64;
                assert!(count * time_step <= cost && (count + 1.001) * time_step > cost);
            }
        }
    }
}
