//! Draws curves as SVG: small panels beside each other, each with its own axes.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Width and height of a panel, in pixels.
const SIZE: (u32, u32) = (320, 220);
/// Height of the title and the legend above all panels.
const HEAD: u32 = 48;

/// How a curve looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlotPen {
    Line(RGBColor),
    Thin(RGBColor),
    Points(RGBColor),
}

/// A curve: points by x.
#[derive(Clone, Debug)]
pub(crate) struct PlotCurve {
    pub(crate) pen: PlotPen,
    pub(crate) points: Vec<(f64, f64)>,
}

/// One panel.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) title: String,
    /// Two curves; the area between them is grey.
    pub(crate) band: Option<[Vec<(f64, f64)>; 2]>,
    pub(crate) curves: Vec<PlotCurve>,
}

impl Panel {
    /// All points.
    fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let band = self.band.iter().flatten().flatten();
        let curves = self.curves.iter().flat_map(|curve| &curve.points);
        band.chain(curves).copied()
    }
}

/// Title, legend and axes of all panels.
pub(crate) struct Labels<'a> {
    pub(crate) title: &'a str,
    /// What the pens mean.
    pub(crate) legend: &'a [(PlotPen, &'a str)],
    pub(crate) x: &'a str,
    pub(crate) y: &'a str,
}

type PlotArea<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type PlotResult = Result<(), Box<dyn std::error::Error>>;

/// Draws panels in rows of `columns`, and returns the SVG.
pub(crate) fn panels(labels: &Labels<'_>, columns: usize, panels: &[Panel]) -> String {
    let rows = panels.len().div_ceil(columns);
    let size = (SIZE.0 * columns as u32, HEAD + SIZE.1 * rows as u32);
    let mut text = String::new();
    draw_all(&mut text, size, (rows, columns), labels, panels).expect("a string takes all");
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn draw_all(
    text: &mut String,
    size: (u32, u32),
    places: (usize, usize),
    labels: &Labels<'_>,
    panels: &[Panel],
) -> PlotResult {
    let all = SVGBackend::with_string(text, size).into_drawing_area();
    all.fill(&WHITE)?;
    let (head, body) = all.split_vertically(HEAD);
    head.draw_text(labels.title, &font(14), (8, 6))?;
    let mut x = 8;
    for &(pen, name) in labels.legend {
        let way = [(x, 36), (x + 12, 36), (x + 24, 36)];
        match pen {
            PlotPen::Points(colour) => head.draw(&Circle::new(way[1], 2, colour.filled()))?,
            PlotPen::Line(_) | PlotPen::Thin(_) => {
                head.draw(&PathElement::new(way, stroke(pen)))?
            }
        }
        head.draw_text(name, &font(11), (x + 30, 30))?;
        x += 48 + 6 * name.chars().count() as i32;
    }
    for (area, panel) in body.split_evenly(places).iter().zip(panels) {
        draw(area, panel, labels)?;
    }
    all.present()?;
    Ok(())
}

fn draw(area: &PlotArea<'_>, panel: &Panel, labels: &Labels<'_>) -> PlotResult {
    let wider = |(a, b): (f64, f64), (x, y): (f64, f64)| (a.min(x), b.max(y));
    let (first, highest) = panel.points().fold((f64::INFINITY, 0.0), wider);
    let last = panel.points().map(|(x, _)| x).fold(first, f64::max);
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, font(12))
        .margin_right(14)
        .margin_left(4)
        .x_label_area_size(34)
        .y_label_area_size(52)
        .build_cartesian_2d(first..last, 0.0..1.05 * highest)?;
    let y_digits = usize::from(highest < 10.0);
    chart
        .configure_mesh()
        .x_labels(7)
        .y_labels(5)
        .disable_x_mesh()
        .max_light_lines(0)
        .bold_line_style(RGBColor(226, 232, 240))
        .axis_style(RGBColor(113, 128, 150))
        .label_style(font(10))
        .axis_desc_style(font(10))
        .x_desc(labels.x)
        .y_desc(labels.y)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y:.y_digits$}"))
        .draw()?;
    if let Some([low, high]) = &panel.band {
        let way: Vec<_> = low.iter().chain(high.iter().rev()).copied().collect();
        let grey = RGBColor(237, 242, 247);
        chart.draw_series([Polygon::new(way, grey.filled())])?;
    }
    for curve in &panel.curves {
        let points = curve.points.iter().copied();
        match curve.pen {
            PlotPen::Points(colour) => {
                chart.draw_series(points.map(|point| Circle::new(point, 2, colour.filled())))?
            }
            pen => chart.draw_series(LineSeries::new(points, stroke(pen)))?,
        };
    }
    Ok(())
}

fn stroke(pen: PlotPen) -> ShapeStyle {
    match pen {
        PlotPen::Line(colour) => colour.stroke_width(2),
        PlotPen::Thin(colour) | PlotPen::Points(colour) => colour.stroke_width(1),
    }
}

fn font(size: u32) -> TextStyle<'static> {
    let colour = RGBColor(45, 55, 72);
    let style = ("sans-serif", size).into_font().color(&colour);
    style.pos(Pos::new(HPos::Left, VPos::Top))
}
