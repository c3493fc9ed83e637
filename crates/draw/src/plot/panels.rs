//! Small plots in rows, each with its own axes.

use svg::Node;
use svg::node::element::{Group, Polygon, Polyline};

use super::axes::{Axis, Frame, ink};
use crate::canvas::{self, dot, line, way, width_of};
use crate::palette::Rgb;

/// Width and height of a small plot, in pixels.
const SIZE: (f64, f64) = (320.0, 220.0);
/// Height of the title and the legend above all plots.
const HEAD: f64 = 48.0;
/// The colour of a band.
const BAND: Rgb = Rgb(237, 242, 247);

/// The look of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pen {
    /// A thick line.
    Line(Rgb),
    /// A thin line.
    Thin(Rgb),
    /// A dot for each point.
    Points(Rgb),
}

/// A curve through points.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The look of the curve.
    pub pen: Pen,
    /// Its points, in order of x.
    pub points: Vec<(f64, f64)>,
}

/// A small plot.
#[derive(Clone, Debug)]
pub struct Panel {
    /// The title above it.
    pub title: String,
    /// Two curves between which the plot is grey.
    pub band: Option<[Vec<(f64, f64)>; 2]>,
    /// Its curves, the last one on top.
    pub curves: Vec<Curve>,
}

impl Panel {
    /// All points of the band and of the curves.
    fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let band = self.band.iter().flatten().flatten();
        let curves = self.curves.iter().flat_map(|curve| &curve.points);
        band.chain(curves).copied()
    }
}

/// The title, the legend, and the names of the axes of all small plots.
#[derive(Clone, Copy, Debug)]
pub struct Labels<'a> {
    /// The title above all plots.
    pub title: &'a str,
    /// The pens with their meanings.
    pub legend: &'a [(Pen, &'a str)],
    /// The name of this axis.
    pub x: &'a str,
    /// The name of this axis.
    pub y: &'a str,
}

/// Small plots in rows of `columns`.
#[must_use]
pub fn panels(labels: &Labels<'_>, columns: usize, panels: &[Panel]) -> String {
    let rows = panels.len().div_ceil(columns);
    let (width, height) = (SIZE.0 * columns as f64, HEAD + SIZE.1 * rows as f64);
    let mut picture = canvas::document(width, height, labels.title);
    picture.append(ink(labels.title, 8.0, 20.0, 14.0));
    let mut x = 8.0;
    for &(pen, name) in labels.legend {
        match pen {
            Pen::Points(colour) => picture.append(dot((x + 12.0, 36.0), 2.0, colour)),
            Pen::Line(colour) | Pen::Thin(colour) => {
                let mark = line((x, 36.0), (x + 24.0, 36.0)).set("stroke", colour.hex());
                picture.append(mark.set("stroke-width", pen.width()));
            }
        }
        picture.append(ink(name, x + 30.0, 40.0, 11.0));
        x += 48.0 + width_of(name, 11.0);
    }
    for (k, panel) in panels.iter().enumerate() {
        let left = SIZE.0 * (k % columns) as f64;
        let top = HEAD + SIZE.1 * (k / columns) as f64;
        let place = format!("translate({left},{top})");
        picture.append(draw(panel, labels).set("transform", place));
    }
    canvas::finish(&picture)
}

/// Draws one plot, with its upper left corner at the origin.
fn draw(panel: &Panel, labels: &Labels<'_>) -> Group {
    let wider = |(a, b): (f64, f64), (x, y): (f64, f64)| (a.min(x), b.max(y));
    let (first, highest) = panel.points().fold((f64::INFINITY, 0.0), wider);
    let last = panel.points().map(|(x, _)| x).fold(first, f64::max);
    let frame = Frame {
        x: Axis::linear(first, last, 56.0, SIZE.0 - 14.0),
        y: Axis::linear(0.0, 1.05 * highest, SIZE.1 - 34.0, 24.0),
        x_name: labels.x,
        y_name: labels.y,
        size: 10.0,
    };
    let x_labels = frame.x.ticks(7).into_iter().map(|x| (x, format!("{x:.0}")));
    let digits = usize::from(highest < 10.0);
    let y_labels = frame
        .y
        .ticks(5)
        .into_iter()
        .map(|y| (y, format!("{y:.digits$}")));
    let mut plot = Group::new();
    let middle = (56.0 + SIZE.0 - 14.0) / 2.0;
    plot.append(ink(&panel.title, middle, 16.0, 12.0).set("text-anchor", "middle"));
    frame.draw_y(&mut plot, &y_labels.collect::<Vec<_>>(), 42.0);
    if let Some([low, high]) = &panel.band {
        let points = low.iter().chain(high.iter().rev());
        let band = Polygon::new().set("points", way(points.map(|&point| frame.at(point))));
        plot.append(band.set("fill", BAND.hex()));
    }
    for curve in &panel.curves {
        let points = curve.points.iter().map(|&point| frame.at(point));
        match curve.pen {
            Pen::Points(colour) => points.for_each(|at| plot.append(dot(at, 2.0, colour))),
            Pen::Line(colour) | Pen::Thin(colour) => {
                let line = Polyline::new()
                    .set("points", way(points))
                    .set("fill", "none")
                    .set("stroke", colour.hex());
                plot.append(line.set("stroke-width", curve.pen.width()));
            }
        }
    }
    frame.draw_x(&mut plot, &x_labels.collect::<Vec<_>>());
    plot
}

impl Pen {
    fn width(self) -> u32 {
        match self {
            Pen::Line(_) => 2,
            Pen::Thin(_) | Pen::Points(_) => 1,
        }
    }
}
