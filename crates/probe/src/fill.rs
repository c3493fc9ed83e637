//! The step from measured pairs to full matrices. Pure.

use std::collections::HashMap;

use corecast_model::Matrix;

use crate::class::Class;
use crate::estimate::{median, sorted};
use crate::{Costs, Estimate, PairCosts, Schedule};

/// The costs of the measured pairs, by positions.
pub(crate) type MeasuredPairs = HashMap<(usize, usize), PairCosts>;

/// Returns one quantity for every ordered pair: the measured value, or else the median of its
/// class.
///
/// The half width of a filled entry reaches from the class's median to the farthest of its
/// measured members, their own half widths included.
pub(crate) fn costs(
    n: usize,
    schedule: &Schedule,
    measured: &MeasuredPairs,
    quantity: impl Fn(&PairCosts) -> Estimate,
) -> Costs {
    let filler = schedule
        .classes
        .as_ref()
        .map(|classes| class_medians(n, classes, measured, &quantity));
    let at = |i: usize, j: usize| -> (f64, f64) {
        if i == j {
            return (0.0, 0.0);
        }
        if let Some(costs) = measured.get(&(i, j)) {
            let estimate = quantity(costs);
            return (estimate.median, estimate.half_width);
        }
        let (classes, medians) = (schedule.classes.as_ref(), filler.as_ref());
        let found = classes
            .zip(medians)
            .and_then(|(classes, medians)| medians.get(&classes[i * n + j]));
        *found.expect("the schedule measures every pair or some of every class")
    };
    Costs {
        ns: Matrix::from_fn(n, |i, j| at(i, j).0),
        half_width_ns: Matrix::from_fn(n, |i, j| at(i, j).1),
    }
}

/// Whether a pair of every class of the schedule is measured, so that all others can be filled in.
pub(crate) fn suffices(n: usize, schedule: &Schedule, measured: &MeasuredPairs) -> bool {
    let Some(classes) = &schedule.classes else {
        return false;
    };
    let at = |&(i, j): &(usize, usize)| classes[i * n + j];
    let seen: Vec<Class> = measured.keys().map(at).collect();
    schedule.pairs.iter().all(|pair| seen.contains(&at(pair)))
}

fn class_medians(
    n: usize,
    classes: &[Class],
    measured: &MeasuredPairs,
    quantity: &impl Fn(&PairCosts) -> Estimate,
) -> HashMap<Class, (f64, f64)> {
    let mut members: HashMap<Class, Vec<Estimate>> = HashMap::new();
    for (&(i, j), costs) in measured {
        members
            .entry(classes[i * n + j])
            .or_default()
            .push(quantity(costs));
    }
    members
        .into_iter()
        .map(|(class, estimates)| {
            let medians: Vec<f64> = estimates.iter().map(|e| e.median).collect();
            let middle = median(&sorted(&medians)).expect("a class with a member");
            let reach = estimates
                .iter()
                .map(|e| (e.median - middle).abs() + e.half_width)
                .fold(0.0, f64::max);
            (class, (middle, reach))
        })
        .collect()
}
