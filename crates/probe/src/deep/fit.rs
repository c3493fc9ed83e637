//! Fits of curves to measured points, with the uncertainty that the points leave. Pure.
//!
//! Models are CLa's: `b + c·n` (Equations 2 and 4) and `b + c·n − a/n` (Equations 3 and 5). Errors count as
//! parts of the time, since the longest times would decide all otherwise. A point may be wrong altogether, as
//! when the machine did something else meanwhile, or when lines no longer fit a cache. So the fit is Rousseeuw's
//! (*Robust Regression and Outlier Detection*, 1987): of all curves through as few points as fix one, that
//! is taken to which a majority of points is nearest; what is far from it is left out of a common fit by least
//! squares.
//!
//! A coefficient's half width is the larger of two: what the points' own intervals leave open, and what their
//! distances from the curve say by Student's t.

use corecast_model::deep::{Figure, Fit, Point};

use crate::estimate::sorted;

/// Points farther from the first curve than so many standard deviations are left out.
const CUT: f64 = 2.5;

/// No point is left out for being off by less than this part of itself: models are models.
const TOLERANCE: f64 = 0.05;

/// The resolution in nanoseconds: a time of 0 must not outweigh all others.
const FLOOR: f64 = 0.01;

/// Upper 97.5 % points of Student's t by degrees of freedom, from 1.
const STUDENT: [f64; 10] = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23];

fn student(freedom: usize) -> f64 {
    match freedom {
        0 => f64::INFINITY,
        _ => STUDENT.get(freedom - 1).copied().unwrap_or(2.1),
    }
}

/// Fits `base + slope·x` to points with at least two different x.
pub(super) fn line(points: &[Point]) -> Option<Fit> {
    Model::<2>::fit(points).map(|model| model.described(points))
}

/// Fits [`line`], or `base + slope·x − inverse/x` where that is nearer by more than chance.
pub(super) fn line_or_curve(points: &[Point]) -> Option<Fit> {
    let straight = Model::<2>::fit(points)?;
    let simple = straight.described(points);
    // With one point more than coefficients the comparison is empty.
    if points.len() < 5 || straight.farthest(points) <= TOLERANCE {
        return Some(simple);
    }
    let Some(bent) = Model::<3>::fit(points) else {
        return Some(simple);
    };
    let (far, near) = (straight.squares(&bent.kept), bent.squares(&bent.kept));
    let freedom = bent.kept.len().saturating_sub(3);
    let enough = student(freedom).powi(2) / freedom.max(1) as f64;
    // The curve must not be nearer to most points at the price of being far from the others.
    let no_farther = bent.farthest(points) <= straight.farthest(points);
    if no_farther && far - near > enough * near {
        Some(bent.described(points))
    } else {
        Some(simple)
    }
}

/// Coefficients of the first P of 1, x, −1/x.
struct Model<const P: usize> {
    coefficients: [f64; P],
    half_widths: [f64; P],
    /// The points that it goes through.
    kept: Vec<Point>,
}

fn terms<const P: usize>(x: f64) -> [f64; P] {
    let all = [1.0, x, -1.0 / x];
    std::array::from_fn(|term| all[term])
}

fn at<const P: usize>(coefficients: &[f64; P], x: f64) -> f64 {
    let terms = terms::<P>(x);
    coefficients
        .iter()
        .zip(terms)
        .map(|(c, term)| c * term)
        .sum()
}

/// Returns the point's distance from the curve, as a part of the point.
fn distance<const P: usize>(coefficients: &[f64; P], point: &Point) -> f64 {
    let y = point.ns.value;
    (at(coefficients, f64::from(point.x)) - y).abs() / y.max(FLOOR)
}

impl<const P: usize> Model<P> {
    fn fit(points: &[Point]) -> Option<Self> {
        let n = points.len();
        if n < P {
            return None;
        }
        let first = nearest_to_most::<P>(points)?;
        let distances: Vec<f64> = points.iter().map(|p| distance(&first, p)).collect();
        let far = sorted(&distances)[majority::<P>(n) - 1];
        // The standard deviation that such a majority stands for, of normal errors.
        let spread = 1.4826 * (1.0 + 5.0 / (n - P).max(1) as f64) * far;
        let cut = (CUT * spread).max(TOLERANCE);
        let near = points.iter().zip(distances).filter(|(_, far)| *far <= cut);
        least_squares(near.map(|(&point, _)| point).collect())
    }

    fn squares(&self, points: &[Point]) -> f64 {
        points
            .iter()
            .map(|point| distance(&self.coefficients, point).powi(2))
            .sum()
    }

    fn farthest(&self, points: &[Point]) -> f64 {
        let distances = points
            .iter()
            .map(|point| distance(&self.coefficients, point));
        distances.fold(0.0, f64::max)
    }

    fn described(&self, points: &[Point]) -> Fit {
        let figure = |term: usize| Figure {
            value: self.coefficients[term],
            half_width: self.half_widths[term],
            samples: self.kept.len() as u64,
        };
        Fit {
            base: figure(0),
            slope: figure(1),
            inverse: (P > 2).then(|| figure(P - 1)),
            misfit: self.farthest(points),
        }
    }
}

/// Returns how many of `n` points a curve through P of them has to be near.
fn majority<const P: usize>(n: usize) -> usize {
    (n + P).div_ceil(2).min(n)
}

/// Returns, of all curves through P of the points, the one whose farthest point of a majority is nearest.
fn nearest_to_most<const P: usize>(points: &[Point]) -> Option<[f64; P]> {
    let n = points.len();
    let mut best: Option<(f64, [f64; P])> = None;
    let mut chosen: [usize; P] = std::array::from_fn(|k| k);
    loop {
        let mut rows = [[0.0; P]; P];
        let mut values = [0.0; P];
        for (k, &point) in chosen.iter().enumerate() {
            rows[k] = terms(f64::from(points[point].x));
            values[k] = points[point].ns.value;
        }
        if let Some(inverse) = inverted(rows) {
            let coefficients = times(&inverse, &values);
            let distances: Vec<f64> = points.iter().map(|p| distance(&coefficients, p)).collect();
            let far = sorted(&distances)[majority::<P>(n) - 1];
            if best.is_none_or(|(least, _)| far < least) {
                best = Some((far, coefficients));
            }
        }
        // The next choice in lexicographic order.
        let Some(k) = (0..P).rev().find(|&k| chosen[k] < n - P + k) else {
            return best.map(|(_, coefficients)| coefficients);
        };
        chosen[k] += 1;
        for later in k + 1..P {
            chosen[later] = chosen[later - 1] + 1;
        }
    }
}

/// Fits a curve by least squares of relative errors.
fn least_squares<const P: usize>(kept: Vec<Point>) -> Option<Model<P>> {
    let weight = |point: &Point| point.ns.value.max(FLOOR).powi(-2);
    let mut normal = [[0.0; P]; P];
    let mut right = [0.0; P];
    for point in &kept {
        let (terms, w) = (terms::<P>(f64::from(point.x)), weight(point));
        for i in 0..P {
            right[i] += w * terms[i] * point.ns.value;
            for j in 0..P {
                normal[i][j] += w * terms[i] * terms[j];
            }
        }
    }
    let inverse = inverted(normal)?;
    let coefficients = times(&inverse, &right);
    let model = Model {
        coefficients,
        half_widths: [0.0; P],
        kept,
    };
    let freedom = model.kept.len().saturating_sub(P);
    // Without a point to spare the distances say nothing.
    let scatter = match freedom {
        0 => 0.0,
        _ => student(freedom).powi(2) * model.squares(&model.kept) / freedom as f64,
    };
    let half_widths = std::array::from_fn(|i| {
        let by_distance = scatter * inverse[i][i];
        let by_interval: f64 = model
            .kept
            .iter()
            .map(|point| {
                let (terms, w) = (terms::<P>(f64::from(point.x)), weight(point));
                let share: f64 = (0..P).map(|j| inverse[i][j] * w * terms[j]).sum();
                (share * point.ns.half_width).powi(2)
            })
            .sum();
        by_distance.max(by_interval).max(0.0).sqrt()
    });
    Some(Model {
        half_widths,
        ..model
    })
}

fn times<const P: usize>(matrix: &[[f64; P]; P], vector: &[f64; P]) -> [f64; P] {
    std::array::from_fn(|i| matrix[i].iter().zip(vector).map(|(a, b)| a * b).sum())
}

/// Returns the inverse by elimination with pivots; `None` where there is none.
fn inverted<const P: usize>(mut rows: [[f64; P]; P]) -> Option<[[f64; P]; P]> {
    let mut inverse = [[0.0; P]; P];
    for (i, row) in inverse.iter_mut().enumerate() {
        row[i] = 1.0;
    }
    let largest = rows.iter().flatten().fold(0.0_f64, |a, b| a.max(b.abs()));
    for column in 0..P {
        let pivot =
            (column..P).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))?;
        rows.swap(column, pivot);
        inverse.swap(column, pivot);
        let by = rows[column][column];
        if by.is_nan() || by.abs() <= 1e-12 * largest {
            return None;
        }
        for k in 0..P {
            rows[column][k] /= by;
            inverse[column][k] /= by;
        }
        for row in (0..P).filter(|&row| row != column) {
            let factor = rows[row][column];
            for k in 0..P {
                rows[row][k] -= factor * rows[column][k];
                inverse[row][k] -= factor * inverse[column][k];
            }
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests;
