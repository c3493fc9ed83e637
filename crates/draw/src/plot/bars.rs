//! Bars of ratios over a logarithmic axis, from 1 to either side.

use corecast_model::words::digits;
use svg::Node;

use super::axes::{Axis, GRID, INK, ink, span};
use crate::canvas::{self, line, rectangle, with_hint};
use crate::palette::{OTHERS, OURS, REFERENCE};

/// Lengths in pixels: the picture's width, the height of a bar with the space around it, and the room left and right
/// of the bars.
const WIDTH: f64 = 900.0;
const BAR: f64 = 20.0;
const LABEL: f64 = 250.0;
const NOTE: f64 = 190.0;

/// One ratio with its interval.
#[derive(Clone, Debug)]
pub struct Bar {
    /// The name of what was compared, at the left.
    pub label: String,
    /// The ratio.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// The name of what it was compared with, at the right.
    pub note: String,
}

/// A bar for each ratio. Bars whose whole interval is below 1 have one colour, those above 1 another, and the
/// others are grey.
#[must_use]
pub fn bars(title: &str, bars: &[Bar]) -> String {
    let values = bars.iter().flat_map(|bar| [bar.low, bar.high, bar.value]);
    let (low, high) = span(values.chain([0.5, 1.25]), 1.1);
    let axis = Axis::logarithmic(low, high, LABEL, WIDTH - NOTE);
    let (top, bottom) = (48.0, 48.0 + BAR * bars.len() as f64);
    let mut picture =
        canvas::document(WIDTH, bottom + 28.0, title).add(ink(title, 8.0, 20.0, 15.0));
    for tick in axis.ticks(14) {
        let (x, colour) = (axis.at(tick), if tick == 1.0 { INK } else { GRID });
        picture.append(line((x, top), (x, bottom)).set("stroke", colour.hex()));
        let label = ink(&digits(tick), x, top - 6.0, 11.0);
        picture.append(label.set("text-anchor", "middle"));
    }
    for (row, bar) in bars.iter().enumerate() {
        let y = top + BAR * (row as f64 + 0.5);
        let colour = match (bar.low, bar.high) {
            (_, high) if high < 1.0 => OURS[0],
            (low, _) if low > 1.0 => OTHERS[0],
            _ => REFERENCE,
        };
        let (one, value) = (axis.at(1.0), axis.at(bar.value));
        let block = rectangle(one.min(value), y - 6.0, (value - one).abs().max(1.0), 12.0);
        let hint = format!("{} to {}", digits(bar.low), digits(bar.high));
        picture.append(with_hint(block.set("fill", colour.hex()), &hint));
        let interval = line((axis.at(bar.low), y), (axis.at(bar.high), y));
        picture.append(interval.set("stroke", INK.hex()));
        let label = ink(&bar.label, LABEL - 8.0, y + 4.0, 11.0);
        picture.append(label.set("text-anchor", "end"));
        let note = format!("{}  {}", digits(bar.value), bar.note);
        picture.append(ink(&note, WIDTH - NOTE + 8.0, y + 4.0, 11.0));
    }
    canvas::finish(&picture)
}
