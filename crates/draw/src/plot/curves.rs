//! Curves with intervals over logarithmic axes, with a legend at the right.

use corecast_model::words;
use svg::Node;
use svg::node::element::Polyline;

use super::axes::{Axis, Frame, ink, span};
use crate::canvas::{self, dot, line, way, with_hint};
use crate::palette::Rgb;

/// Width and height of the picture, and the width of its legend, in pixels.
const SIZE: (f64, f64) = (760.0, 380.0);
const LEGEND: f64 = 190.0;

/// A measured time and its interval, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Bytes or ranks, above 0.
    pub x: f64,
    /// The time.
    pub y: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// The times of one contestant.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its colour.
    pub colour: Rgb,
    /// Whether its line is thick.
    pub bold: bool,
    /// Its times, in order of x.
    pub points: Vec<Point>,
}

/// The horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Across {
    /// Bytes of a block.
    Bytes,
    /// Number of ranks of the team.
    Ranks,
}

/// A curve for each series, with labels at the measured values of x.
#[must_use]
pub fn curves(title: &str, across: Across, series: &[Series]) -> String {
    let points = || series.iter().flat_map(|one| &one.points);
    let x = span(points().map(|point| point.x), 1.15);
    let y = span(points().flat_map(|point| [point.low, point.high]), 1.3);
    let frame = Frame {
        x: Axis::logarithmic(x.0, x.1, 66.0, SIZE.0 - LEGEND - 8.0),
        y: Axis::logarithmic(y.0, y.1, SIZE.1 - 48.0, 34.0),
        x_name: match across {
            Across::Bytes => "bytes of a block",
            Across::Ranks => "ranks",
        },
        y_name: "time, median",
        size: 11.0,
    };
    let mut measured: Vec<f64> = points().map(|point| point.x).collect();
    measured.sort_by(f64::total_cmp);
    measured.dedup();
    let x_label = |&x: &f64| match across {
        Across::Bytes => (x, words::bytes(x.round() as u64)),
        Across::Ranks => (x, format!("{x:.0}")),
    };
    let x_labels: Vec<_> = measured.iter().map(x_label).collect();
    let y_label = |ns| (ns, words::time(ns));
    let y_labels: Vec<_> = frame.y.ticks(8).into_iter().map(y_label).collect();
    let mut picture = canvas::document(SIZE.0, SIZE.1, title);
    let middle = (66.0 + SIZE.0 - LEGEND) / 2.0;
    picture.append(ink(title, middle, 20.0, 15.0).set("text-anchor", "middle"));
    frame.draw_y(&mut picture, &y_labels, 54.0);
    frame.draw_x(&mut picture, &x_labels);
    for (row, one) in series.iter().enumerate() {
        let (colour, width) = (one.colour.hex(), if one.bold { 3 } else { 1 });
        let points = one.points.iter().map(|point| frame.at((point.x, point.y)));
        let curve = Polyline::new()
            .set("points", way(points))
            .set("fill", "none")
            .set("stroke", colour.clone())
            .set("stroke-width", width);
        picture.append(curve);
        for point in &one.points {
            let (x, y) = frame.at((point.x, point.y));
            let interval = line((x, frame.y.at(point.low)), (x, frame.y.at(point.high)));
            picture.append(interval.set("stroke", colour.clone()));
            let hint = format!(
                "{}, {}: {} ({} to {})",
                one.name,
                x_label(&point.x).1,
                words::time(point.y),
                words::time(point.low),
                words::time(point.high)
            );
            picture.append(with_hint(dot((x, y), 3.0, one.colour), &hint));
        }
        let (left, y) = (SIZE.0 - LEGEND, 44.0 + 20.0 * row as f64);
        let mark = line((left + 6.0, y), (left + 28.0, y));
        picture.append(mark.set("stroke", colour).set("stroke-width", width));
        picture.append(ink(&one.name, left + 34.0, y + 4.0, 12.0));
    }
    canvas::finish(&picture)
}
