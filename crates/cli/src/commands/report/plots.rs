//! The pictures of races as SVG.

use corecast_bench::Role;
use corecast_bench::table::digits;
use plotters::prelude::*;
use plotters::style::FontStyle;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::draw::boxes::size as bytes;
use crate::draw::time;

/// Width and height of a plot of curves, and the room for its legend at the right, in pixels.
const CURVES: (u32, u32) = (760, 380);
const LEGEND: u32 = 190;

/// Of a plot of points.
const SQUARE: (u32, u32) = (460, 420);

/// Height of a bar with the space around it, and the room left and right of the bars.
const BAR: u32 = 20;
const BAR_LABEL: u32 = 250;
const BAR_NOTE: u32 = 190;

const INK: RGBColor = RGBColor(45, 55, 72);
const AXIS: RGBColor = RGBColor(113, 128, 150);
const GRID: RGBColor = RGBColor(226, 232, 240);
/// Colours that the colour-blind can tell apart (Okabe and Ito); the first two are Corecast's.
const OURS: [RGBColor; 2] = [RGBColor(0, 114, 178), RGBColor(86, 180, 233)];
const FLOOR: RGBColor = RGBColor(140, 140, 140);
const PEERS: [RGBColor; 6] = [
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(128, 60, 20),
    RGBColor(90, 70, 160),
];

/// A measured time and its interval, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// The times of one who took part.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pub(super) name: String,
    pub(super) role: Role,
    /// By x.
    pub(super) points: Vec<Point>,
}

/// What the times are over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Across {
    Bytes,
    Ranks,
}

/// One bar, with its interval and a word at its right.
#[derive(Clone, Debug)]
pub(super) struct Bar {
    pub(super) label: String,
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) note: String,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Curves with logarithmic axes, and a legend.
pub(super) fn curves(title: &str, across: Across, series: &[Series]) -> String {
    picture(CURVES, |area| {
        let (plot, legend) = area.split_horizontally(CURVES.0 - LEGEND);
        let points = || series.iter().flat_map(|one| &one.points);
        let x = span(points().map(|point| point.x), 1.15);
        let y = span(points().flat_map(|point| [point.low, point.high]), 1.3);
        let mut chart = ChartBuilder::on(&plot)
            .caption(title, font(15))
            .margin(8)
            .x_label_area_size(40)
            .y_label_area_size(58)
            .build_cartesian_2d((x.0..x.1).log_scale(), (y.0..y.1).log_scale())?;
        let x_label = |x: &f64| match across {
            Across::Bytes => bytes(x.round() as u64),
            Across::Ranks => format!("{x:.0}"),
        };
        let mut ticks: Vec<f64> = points().map(|point| point.x).collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        chart
            .configure_mesh()
            .disable_x_mesh()
            .disable_x_axis()
            .y_labels(8)
            .max_light_lines(0)
            .bold_line_style(GRID)
            .axis_style(AXIS)
            .label_style(font(11))
            .axis_desc_style(font(11))
            .y_desc("time, median")
            .y_label_formatter(&|ns| time(*ns))
            .draw()?;
        // Labels where something was measured, and nowhere else.
        let under = font(11).pos(Pos::new(HPos::Center, VPos::Top));
        let ((left, bottom), (right, _)) = (
            chart.backend_coord(&(x.0, y.0)),
            chart.backend_coord(&(x.1, y.0)),
        );
        area.draw(&PathElement::new([(left, bottom), (right, bottom)], AXIS))?;
        let name = match across {
            Across::Bytes => "bytes of a block",
            Across::Ranks => "ranks",
        };
        let middle = ((left + right) / 2, bottom + 24);
        area.draw(&Text::new(name, middle, under.clone()))?;
        for &tick in &ticks {
            let (at, bottom) = chart.backend_coord(&(tick, y.0));
            area.draw(&PathElement::new([(at, bottom), (at, bottom + 4)], AXIS))?;
            area.draw(&Text::new(x_label(&tick), (at, bottom + 6), under.clone()))?;
        }
        let (mut ours, mut peers, mut line) = (0, 0, 0);
        for one in series {
            let colour = match one.role {
                Role::Floor => FLOOR,
                Role::Corecast => next(&OURS, &mut ours),
                Role::Peer => next(&PEERS, &mut peers),
            };
            let width = if one.role == Role::Corecast { 3 } else { 1 };
            let stroke = colour.stroke_width(width);
            let way = one.points.iter().map(|point| (point.x, point.y));
            chart.draw_series(LineSeries::new(way, stroke))?;
            for point in &one.points {
                let interval = [(point.x, point.low), (point.x, point.high)];
                chart.draw_series([PathElement::new(interval, colour.stroke_width(1))])?;
                chart.draw_series([Circle::new((point.x, point.y), 3, colour.filled())])?;
            }
            let at = 44 + 20 * line;
            legend.draw(&PathElement::new([(6, at), (28, at)], stroke))?;
            let middle = font(12).pos(Pos::new(HPos::Left, VPos::Center));
            legend.draw(&Text::new(one.name.clone(), (34, at), middle))?;
            line += 1;
        }
        Ok(())
    })
}

/// Bars over a logarithmic axis, from 1 to either side.
pub(super) fn bars(title: &str, bars: &[Bar]) -> String {
    let height = 76 + BAR * bars.len() as u32;
    picture((900, height), |area| {
        let values = bars.iter().flat_map(|bar| [bar.low, bar.high, bar.value]);
        let (low, high) = span(values.chain([0.5, 1.25]), 1.1);
        let wide = f64::from(900 - BAR_LABEL - BAR_NOTE);
        let at = |value: f64| {
            let part = (value.max(low) / low).ln() / (high / low).ln();
            BAR_LABEL as i32 + (part.clamp(0.0, 1.0) * wide) as i32
        };
        area.draw(&Text::new(title.to_owned(), (8, 8), font(15)))?;
        let (top, bottom) = (48, 48 + (BAR as usize * bars.len()) as i32);
        let over = font(11).pos(Pos::new(HPos::Center, VPos::Bottom));
        for tick in [
            0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0,
        ] {
            if (low..=high).contains(&tick) {
                let line = if tick == 1.0 { INK } else { GRID };
                area.draw(&PathElement::new(
                    [(at(tick), top), (at(tick), bottom)],
                    line,
                ))?;
                area.draw(&Text::new(digits(tick), (at(tick), top - 4), over.clone()))?;
            }
        }
        let left = font(11).pos(Pos::new(HPos::Left, VPos::Center));
        let right = font(11).pos(Pos::new(HPos::Right, VPos::Center));
        for (row, bar) in bars.iter().enumerate() {
            let y = top + (BAR as usize * row) as i32 + BAR as i32 / 2;
            // Only what lies wholly on one side is called faster, or slower.
            let colour = match (bar.low, bar.high) {
                (_, high) if high < 1.0 => OURS[0],
                (low, _) if low > 1.0 => PEERS[0],
                _ => FLOOR,
            };
            let (a, b) = (at(1.0).min(at(bar.value)), at(1.0).max(at(bar.value)));
            area.draw(&Rectangle::new(
                [(a, y - 6), (b.max(a + 1), y + 6)],
                colour.filled(),
            ))?;
            area.draw(&PathElement::new(
                [(at(bar.low), y), (at(bar.high), y)],
                INK,
            ))?;
            let label = (BAR_LABEL as i32 - 8, y);
            area.draw(&Text::new(bar.label.clone(), label, right.clone()))?;
            let note = format!("{}  {}", digits(bar.value), bar.note);
            area.draw(&Text::new(
                note,
                (900 - BAR_NOTE as i32 + 8, y),
                left.clone(),
            ))?;
        }
        Ok(())
    })
}

/// Points of what was measured and what was said, with the line where both are the same.
pub(super) fn against(title: &str, points: &[(f64, f64)]) -> String {
    picture(SQUARE, |area| {
        let (low, high) = span(points.iter().flat_map(|&(x, y)| [x, y]), 1.3);
        let mut chart = ChartBuilder::on(area)
            .caption(title, font(15))
            .margin(8)
            .margin_right(20)
            .x_label_area_size(40)
            .y_label_area_size(58)
            .build_cartesian_2d((low..high).log_scale(), (low..high).log_scale())?;
        chart
            .configure_mesh()
            .x_labels(5)
            .y_labels(8)
            .max_light_lines(0)
            .bold_line_style(GRID)
            .axis_style(AXIS)
            .label_style(font(11))
            .axis_desc_style(font(11))
            .x_desc("measured")
            .y_desc("simulated")
            .x_label_formatter(&|ns| time(*ns))
            .y_label_formatter(&|ns| time(*ns))
            .draw()?;
        chart.draw_series(LineSeries::new([(low, low), (high, high)], INK))?;
        let dots = points
            .iter()
            .map(|&at| Circle::new(at, 4, OURS[0].mix(0.7).filled()));
        chart.draw_series(dots)?;
        Ok(())
    })
}

fn picture(size: (u32, u32), draw: impl FnOnce(&Area<'_>) -> Drawn) -> String {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let drawn = area.fill(&WHITE).map_err(Into::into);
        let drawn = drawn.and_then(|()| draw(&area));
        drawn.expect("a string takes all");
        area.present().expect("a string takes all");
    }
    text
}

/// The least and the greatest, so many times farther; from 1 to 10 where there is nothing.
fn span(values: impl Iterator<Item = f64>, room: f64) -> (f64, f64) {
    let known = values.filter(|value| value.is_finite() && *value > 0.0);
    let wider = |(low, high): (f64, f64), value: f64| (low.min(value), high.max(value));
    match known.fold((f64::INFINITY, 0.0), wider) {
        (low, high) if low <= high => (low / room, high * room),
        _ => (1.0, 10.0),
    }
}

fn next(colours: &[RGBColor], used: &mut usize) -> RGBColor {
    *used += 1;
    colours[(*used - 1) % colours.len()]
}

fn font(size: i32) -> TextStyle<'static> {
    FontDesc::new(FontFamily::SansSerif, f64::from(size), FontStyle::Normal).color(&INK)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(x: f64, y: f64) -> Point {
        Point {
            x,
            y,
            low: 0.9 * y,
            high: 1.1 * y,
        }
    }

    #[test]
    fn pictures_are_well_formed_and_show_what_they_were_given() {
        let series = |name: &str, role| Series {
            name: name.to_owned(),
            role,
            points: vec![point(8.0, 300.0), point(4096.0, 2_000.0)],
        };
        let all = [
            series("Corecast & <co>", Role::Corecast),
            series("floor", Role::Floor),
            series("somebody", Role::Peer),
        ];
        let bar = |label: &str, value: f64| Bar {
            label: label.to_owned(),
            value,
            low: 0.9 * value,
            high: 1.1 * value,
            note: "somebody".to_owned(),
        };
        let pictures = [
            curves("a title", Across::Bytes, &all),
            curves("a title", Across::Ranks, &all[..1]),
            curves("nothing", Across::Ranks, &[]),
            bars(
                "bars",
                &[bar("first", 0.3), bar("second", 1.0), bar("third", 40.0)],
            ),
            against("points", &[(1e2, 1e3), (1e9, 1e6)]),
        ];
        for text in &pictures {
            let document = roxmltree::Document::parse(text).unwrap();
            assert_eq!(document.root_element().tag_name().name(), "svg");
            for node in document.descendants().filter(|node| node.is_element()) {
                for attribute in node.attributes() {
                    assert!(!attribute.value().contains("NaN"), "{text}");
                }
            }
        }
        assert!(
            pictures[0].contains("4.0 KiB") || pictures[0].contains("4 KiB"),
            "{}",
            pictures[0]
        );
        assert!(pictures[0].contains("Corecast &amp; &lt;co&gt;"));
        // Two points of each curve.
        assert_eq!(pictures[0].matches("<circle").count(), 6);
        assert_eq!(pictures[3].matches("<rect").count(), 1 + 3);
    }

    #[test]
    fn times_are_short() {
        assert_eq!(time(140.6), format!("{} ns", digits(140.6)));
        assert!(
            time(2_500.0).ends_with("µs") && time(3e7).ends_with("ms") && time(2e9).ends_with(" s")
        );
    }
}
