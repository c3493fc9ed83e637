//! The levels of several hosts as SVG: a cell for each part.

use svg::Node;

use super::levels::Levels;
use crate::canvas::{self, rectangle, text, with_hint};
use crate::palette::{Rgb, heat};

/// Lengths in pixels: where cells begin, the room that they have, and that of what is said behind them; the height of a row and of
/// a cell; the gap between hosts.
const LEFT: f64 = 210.0;
const WIDTH: f64 = 640.0;
const NOTE: f64 = 290.0;
const TOP: f64 = 44.0;
const ROW: f64 = 30.0;
const CELL: f64 = 18.0;
const GAP: f64 = 4.0;

/// The colour of a part that had nothing to do.
const IDLE: Rgb = Rgb(237, 242, 247);

impl Levels {
    /// A row for each kind of part with a cell for each of them, hosts from left to right; a hint on each names the part, its
    /// requests and its share of the time. Colours go up to the busiest part of the row.
    #[must_use]
    pub fn svg(&self, title: &str) -> String {
        let height = TOP + ROW * self.rows.len() as f64 + 30.0;
        let width = (LEFT + WIDTH + NOTE).max(16.0 + canvas::width_of(title, 13.0));
        let mut picture =
            canvas::document(width, height, title).add(text(title, 8.0, 20.0).set("font-size", 13));
        for (number, row) in self.rows.iter().enumerate() {
            let y = TOP + ROW * number as f64;
            let label = format!("{}: {}", row.level, row.kind);
            let base = y + CELL / 2.0 + 4.0;
            picture.append(text(&label, LEFT - 10.0, base).set("text-anchor", "end"));
            // A host has its share of the width, and a gap of it as long as that leaves something.
            let host_width = WIDTH / row.hosts.len().max(1) as f64;
            let gap = GAP.min(host_width / 4.0);
            for (host, cells) in row.hosts.iter().enumerate() {
                let cell_width = (host_width - gap) / cells.len().max(1) as f64;
                for (at, cell) in cells.iter().enumerate() {
                    let x = LEFT + host_width * host as f64 + cell_width * at as f64;
                    let colour = match cell.busy > 0.0 {
                        true => heat(row.share(cell)),
                        false => IDLE,
                    };
                    let hint = format!(
                        "{}: {} requests, busy for {:.1} %",
                        cell.name,
                        cell.served,
                        100.0 * cell.busy
                    );
                    // Neighbours are told apart by a line of the ground where there is room for it.
                    let inner = if cell_width > 3.0 {
                        cell_width - 1.0
                    } else {
                        cell_width
                    };
                    let block = rectangle(x, y, inner, CELL).set("fill", colour.hex());
                    picture.append(with_hint(block, &hint));
                }
            }
            picture.append(text(&row.told(), LEFT + WIDTH + 8.0, base));
        }
        let below = TOP + ROW * self.rows.len() as f64 + 14.0;
        let legend = "hosts from left to right; grey: nothing to do; dark to bright: up to the busiest part of the row";
        picture.append(text(legend, LEFT, below));
        canvas::finish(&picture)
    }
}
