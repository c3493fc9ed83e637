//! Axes map values to places in a picture, and choose round values for labels.
//!
//! ```text
//!  top ┬            Axis::linear(0.0, 9.0, bottom, top)
//!      │            at(0.0) = bottom, at(9.0) = top
//!      │
//!      └────────
//! bottom        right
//! ```

use svg::Node;
use svg::node::element::Text;

use crate::canvas::{line, text};
use crate::palette::Rgb;

/// The colour of text.
pub(super) const INK: Rgb = Rgb(45, 55, 72);
/// The colour of axes.
pub(super) const AXIS: Rgb = Rgb(113, 128, 150);
/// The colour of lines from ticks through the plot.
pub(super) const GRID: Rgb = Rgb(226, 232, 240);

/// Maps values to coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    first: f64,
    last: f64,
    from: f64,
    to: f64,
    logarithmic: bool,
}

impl Axis {
    /// An axis from the value `first` at coordinate `from` to the value `last` at coordinate `to`.
    pub(super) fn linear(first: f64, last: f64, from: f64, to: f64) -> Self {
        Self {
            first,
            last,
            from,
            to,
            logarithmic: false,
        }
    }

    /// An axis on which equal ratios are equally long; both values are above 0.
    pub(super) fn logarithmic(first: f64, last: f64, from: f64, to: f64) -> Self {
        debug_assert!(first > 0.0 && last > 0.0);
        Self {
            logarithmic: true,
            ..Self::linear(first, last, from, to)
        }
    }

    /// The coordinate of a value; values beyond an end have the coordinate of that end.
    pub(super) fn at(&self, value: f64) -> f64 {
        let part = match self.logarithmic {
            true => {
                (value.max(f64::MIN_POSITIVE) / self.first).ln() / (self.last / self.first).ln()
            }
            false => (value - self.first) / (self.last - self.first),
        };
        let part = if part.is_finite() {
            part.clamp(0.0, 1.0)
        } else {
            0.0
        };
        self.from + part * (self.to - self.from)
    }

    /// Both ends, as coordinates.
    pub(super) fn ends(&self) -> (f64, f64) {
        (self.from, self.to)
    }

    /// Round values within the axis, about `about` of them.
    pub(super) fn ticks(&self, about: usize) -> Vec<f64> {
        match self.logarithmic {
            true => ratios(self.first, self.last, about),
            false => {
                let ticks = ticks(self.first, self.last, about);
                ticks.into_iter().map(|(value, _)| value).collect()
            }
        }
    }
}

/// Two axes with their lines, labels and names.
pub(super) struct Frame<'a> {
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) x_name: &'a str,
    pub(super) y_name: &'a str,
    /// Size of labels and names.
    pub(super) size: f64,
}

impl Frame<'_> {
    /// The coordinates of a point.
    pub(super) fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x.at(x), self.y.at(y))
    }

    /// Draws the horizontal axis with a label at each of these values for which there is room.
    pub(super) fn draw_x(&self, picture: &mut impl Node, labels: &[(f64, String)]) {
        let ((left, right), (bottom, _)) = (self.x.ends(), self.y.ends());
        picture.append(line((left, bottom), (right, bottom)).set("stroke", AXIS.hex()));
        let mut free = f64::NEG_INFINITY;
        for (value, label) in labels {
            let x = self.x.at(*value);
            picture.append(line((x, bottom), (x, bottom + 4.0)).set("stroke", AXIS.hex()));
            let half = crate::canvas::width_of(label, self.size) / 2.0;
            if x - half < free {
                continue;
            }
            free = x + half + 2.0;
            let label = ink(label, x, bottom + 5.0 + self.size, self.size);
            picture.append(label.set("text-anchor", "middle"));
        }
        let middle = (left + right) / 2.0;
        let name = ink(
            self.x_name,
            middle,
            bottom + 9.0 + 2.0 * self.size,
            self.size,
        );
        picture.append(name.set("text-anchor", "middle"));
    }

    /// Draws the vertical axis with a label and a line through the plot at each of these values. The axis's name is
    /// written upwards, at the distance `name` to the left.
    pub(super) fn draw_y(&self, picture: &mut impl Node, labels: &[(f64, String)], name: f64) {
        let ((left, right), (bottom, top)) = (self.x.ends(), self.y.ends());
        for (value, label) in labels {
            let y = self.y.at(*value);
            picture.append(line((left, y), (right, y)).set("stroke", GRID.hex()));
            let label = ink(label, left - 5.0, y + 0.35 * self.size, self.size);
            picture.append(label.set("text-anchor", "end"));
        }
        picture.append(line((left, bottom), (left, top)).set("stroke", AXIS.hex()));
        let (x, y) = (left - name, (top + bottom) / 2.0);
        let name = ink(self.y_name, x, y, self.size).set("text-anchor", "middle");
        picture.append(name.set("transform", format!("rotate(-90 {x} {y})")));
    }
}

/// A line of text in the colour of all text of plots.
pub(super) fn ink(content: &str, x: f64, y: f64, size: f64) -> Text {
    text(content, x, y)
        .set("font-size", size)
        .set("fill", INK.hex())
}

/// Round values from `first` to `last`, about `about` of them, as numbers and as text.
pub(crate) fn ticks(first: f64, last: f64, about: usize) -> Vec<(f64, String)> {
    let rough = (last - first) / about.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    if !power.is_normal() {
        return vec![(first, format!("{first:.0}"))];
    }
    let step = [1.0, 2.0, 5.0]
        .into_iter()
        .map(|k| k * power)
        .find(|&step| step >= rough)
        .unwrap_or(10.0 * power);
    let digits = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
    let begin = (first / step).ceil();
    (0..)
        .map(|k| (begin + f64::from(k)) * step)
        .take_while(|&t| t <= last)
        // A span below the resolution of the numbers would never end.
        .take(4 * about + 2)
        .map(|t| (t, format!("{t:.digits$}")))
        .collect()
}

/// Values 1, 2 and 5 times powers of ten from `first` to `last`, or only powers of ten, or every k-th of them, so
/// that there are at most `about` of them or a few more.
fn ratios(first: f64, last: f64, about: usize) -> Vec<f64> {
    let powers = first.log10().floor() as i32..=last.log10().ceil() as i32;
    let of = |factors: &[f64], every: i32| -> Vec<f64> {
        let powers = powers.clone().filter(|power| power % every == 0);
        let all = powers.flat_map(|power| factors.iter().map(move |k| k * 10f64.powi(power)));
        all.filter(|value| (first..=last).contains(value)).collect()
    };
    let fine = of(&[1.0, 2.0, 5.0], 1);
    if fine.len() <= about {
        return fine;
    }
    let every = powers.clone().count().div_ceil(about.max(1)).max(1);
    of(&[1.0], every as i32)
}

/// The least value divided by `room`, and the greatest times `room`; 1 and 10 where no value is above 0.
pub(super) fn span(values: impl Iterator<Item = f64>, room: f64) -> (f64, f64) {
    let known = values.filter(|value| value.is_finite() && *value > 0.0);
    let wider = |(low, high): (f64, f64), value: f64| (low.min(value), high.max(value));
    match known.fold((f64::INFINITY, 0.0), wider) {
        (low, high) if low <= high => (low / room, high * room),
        _ => (1.0, 10.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        let text = |first, last| -> Vec<String> {
            let ticks = ticks(first, last, 6);
            ticks.into_iter().map(|(_, text)| text).collect()
        };
        assert_eq!(text(0.0, 265.0), ["0", "50", "100", "150", "200", "250"]);
        assert_eq!(text(150.0, 280.0), ["150", "200", "250"]);
        assert_eq!(text(0.0, 0.5), ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(text(0.0, 0.0), ["0"]);
        assert!(text(1e15, 1e15 + 0.1).len() < 30);
    }

    #[test]
    fn ticks_of_ratios_are_round_and_few() {
        assert_eq!(ratios(90.0, 2_100.0, 8), [100.0, 200.0, 500.0, 1e3, 2e3]);
        assert_eq!(ratios(90.0, 2e6, 8), [1e2, 1e3, 1e4, 1e5, 1e6]);
        assert!(ratios(1e-9, 1e12, 8).len() <= 8);
    }

    #[test]
    fn axes_keep_order_and_stay_within_their_ends() {
        let linear = Axis::linear(0.0, 10.0, 200.0, 100.0);
        assert_eq!(
            (linear.at(0.0), linear.at(5.0), linear.at(20.0)),
            (200.0, 150.0, 100.0)
        );
        let ratios = Axis::logarithmic(1.0, 100.0, 0.0, 50.0);
        assert_eq!(
            (ratios.at(0.0), ratios.at(1.0), ratios.at(1e9)),
            (0.0, 0.0, 50.0)
        );
        assert!((ratios.at(10.0) - 25.0).abs() < 1e-9);
        assert_eq!(Axis::linear(1.0, 1.0, 7.0, 9.0).at(1.0), 7.0);
    }
}
