//! Plots predicted times over measured times.

use corecast_model::words::time;
use svg::Node;

use super::axes::{Axis, Frame, INK, ink, span};
use crate::canvas::{self, dot, line, with_hint};
use crate::palette::OURS;

/// Width and height of the picture, in pixels.
const SIZE: (f64, f64) = (460.0, 420.0);

/// Points of a measured and a predicted time in nanoseconds, over logarithmic axes, with the line on which
/// both are equal.
#[must_use]
pub fn against(title: &str, points: &[(f64, f64)]) -> String {
    let (low, high) = span(points.iter().flat_map(|&(x, y)| [x, y]), 1.3);
    let frame = Frame {
        x: Axis::logarithmic(low, high, 66.0, SIZE.0 - 20.0),
        y: Axis::logarithmic(low, high, SIZE.1 - 48.0, 34.0),
        x_name: "measured",
        y_name: "simulated",
        size: 11.0,
    };
    let labels = |axis: &Axis, about| -> Vec<_> {
        let ticks = axis.ticks(about).into_iter();
        ticks.map(|ns| (ns, time(ns))).collect()
    };
    let mut picture = canvas::document(SIZE.0, SIZE.1, title);
    picture.append(ink(title, SIZE.0 / 2.0, 20.0, 15.0).set("text-anchor", "middle"));
    frame.draw_y(&mut picture, &labels(&frame.y, 8), 54.0);
    frame.draw_x(&mut picture, &labels(&frame.x, 5));
    let diagonal = line(frame.at((low, low)), frame.at((high, high)));
    picture.append(diagonal.set("stroke", INK.hex()));
    for &(measured, simulated) in points {
        let dot = dot(frame.at((measured, simulated)), 4.0, OURS[0]).set("opacity", 0.7);
        let hint = format!("measured {}, simulated {}", time(measured), time(simulated));
        picture.append(with_hint(dot, &hint));
    }
    canvas::finish(&picture)
}
