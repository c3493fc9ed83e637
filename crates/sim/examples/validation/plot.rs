//! Curves as SVG: small pictures beside each other, each with its own axes.

use std::fmt::Write;

const WIDTH: f64 = 250.0;
const HEIGHT: f64 = 150.0;
const LEFT: f64 = 52.0;
const TOP: f64 = 26.0;
const RIGHT: f64 = 14.0;
const BOTTOM: f64 = 34.0;
const HEAD: f64 = 44.0;

/// How a curve looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pen {
    Line(&'static str),
    Dashes(&'static str),
    Dots(&'static str),
}

/// A curve: points by x.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    pub(crate) pen: Pen,
    pub(crate) points: Vec<(f64, f64)>,
}

/// A small picture.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) title: String,
    /// What lies between two curves is grey.
    pub(crate) band: Option<[Vec<(f64, f64)>; 2]>,
    pub(crate) curves: Vec<Curve>,
}

impl Panel {
    /// All points.
    fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let band = self.band.iter().flatten().flatten();
        let curves = self.curves.iter().flat_map(|curve| &curve.points);
        band.chain(curves).copied()
    }
}

/// What is above and below all pictures.
pub(crate) struct Labels<'a> {
    pub(crate) title: &'a str,
    /// What the pens mean.
    pub(crate) legend: &'a [(Pen, &'a str)],
    pub(crate) x: &'a str,
    pub(crate) y: &'a str,
}

/// Pictures in rows of so many.
pub(crate) fn panels(labels: &Labels<'_>, columns: usize, panels: &[Panel]) -> String {
    let (wide, high) = (LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM);
    let rows = panels.len().div_ceil(columns);
    let (width, height) = (wide * columns as f64, HEAD + high * rows as f64);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"10\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"8\" y=\"18\" font-size=\"13\">{}</text>\n",
        escaped(labels.title)
    );
    let mut x = 8.0;
    for &(pen, name) in labels.legend {
        let _ = writeln!(
            text,
            "<path d=\"M{x} 33h24\" {}/><text x=\"{}\" y=\"36\">{}</text>",
            stroke(pen),
            x + 28.0,
            escaped(name)
        );
        x += 44.0 + 6.0 * name.chars().count() as f64;
    }
    for (index, panel) in panels.iter().enumerate() {
        let (column, row) = (index % columns, index / columns);
        let corner = (wide * column as f64 + LEFT, HEAD + high * row as f64 + TOP);
        draw(&mut text, panel, corner, labels);
    }
    text.push_str("</svg>\n");
    text
}

fn draw(text: &mut String, panel: &Panel, (left, top): (f64, f64), labels: &Labels<'_>) {
    let least = |(a, b): (f64, f64), (x, y): (f64, f64)| (a.min(x), b.max(y));
    let (first, highest) = panel.points().fold((f64::INFINITY, 0.0), least);
    let last = panel.points().map(|(x, _)| x).fold(first, f64::max);
    let (x_step, y_step) = (step(last - first, 6.0), step(highest, 4.0));
    let scale = |(x, y): (f64, f64)| {
        let along = (x - first) / (last - first).max(1e-9);
        (
            left + along * WIDTH,
            top + HEIGHT - y / highest.max(1e-9) * HEIGHT,
        )
    };
    let _ = writeln!(
        text,
        "<text x=\"{left}\" y=\"{}\" font-size=\"11\">{}</text>",
        top - 8.0,
        escaped(&panel.title)
    );
    let mut mark = 0.0;
    while mark <= highest {
        let (_, y) = scale((first, mark));
        let _ = writeln!(
            text,
            "<path d=\"M{left} {y:.1}h{WIDTH}\" stroke=\"#e2e8f0\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{mark}</text>",
            left - 4.0,
            y + 3.0
        );
        mark += y_step;
    }
    let mut mark = (first / x_step).ceil() * x_step;
    while mark <= last {
        let (x, _) = scale((mark, 0.0));
        let _ = writeln!(
            text,
            "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{mark}</text>",
            top + HEIGHT + 13.0
        );
        mark += x_step;
    }
    if let Some([low, high]) = &panel.band {
        let there = low.iter().copied().map(scale);
        let back = high.iter().rev().copied().map(scale);
        let way: Vec<String> = there
            .chain(back)
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        let _ = writeln!(
            text,
            "<polygon points=\"{}\" fill=\"#edf2f7\"/>",
            way.join(" ")
        );
    }
    for curve in &panel.curves {
        let way: Vec<String> = curve
            .points
            .iter()
            .map(|&point| scale(point))
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        let _ = writeln!(
            text,
            "<polyline points=\"{}\" {}/>",
            way.join(" "),
            stroke(curve.pen)
        );
    }
    let _ = writeln!(
        text,
        "<rect x=\"{left}\" y=\"{top}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"none\" stroke=\"#718096\"/>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
         <text transform=\"translate({} {}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        left + WIDTH / 2.0,
        top + HEIGHT + 26.0,
        escaped(labels.x),
        left - 40.0,
        top + HEIGHT / 2.0,
        escaped(labels.y)
    );
}

/// A round step with which `range` has about so many marks.
fn step(range: f64, marks: f64) -> f64 {
    let mut step = 1.0;
    // Ranges here are above one: whole steps are enough.
    loop {
        for factor in [1.0, 2.0, 5.0] {
            if range / (step * factor) <= marks {
                return step * factor;
            }
        }
        step *= 10.0;
    }
}

fn stroke(pen: Pen) -> String {
    let (colour, more) = match pen {
        Pen::Line(colour) => (colour, ""),
        Pen::Dashes(colour) => (colour, " stroke-dasharray=\"5 3\""),
        Pen::Dots(colour) => (colour, " stroke-dasharray=\"1.5 2.5\""),
    };
    format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.4\"{more}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
