//! Heat maps as SVG of bounded size: one panel per matrix, each with axes, scale and summary.
//!
//! A picture of two matrices is at most 1,240 × 700 units and has at most 96 × 96 cells per panel: on larger machines
//! neighbouring threads are merged.

use svg::Node;
use svg::node::element::{Group, Text};

use super::grid::{Grid, position};
use crate::canvas::{self, line, rectangle, round, with_hint};
use crate::palette::{Rgb, category, heat};

/// Side of a matrix.
const SIDE: f64 = 480.0;
/// Room left of a matrix for the row names.
const LEFT: f64 = 64.0;
/// Room right of a matrix.
const RIGHT: f64 = 36.0;
/// Room above a matrix for headings and column names.
const TOP: f64 = 104.0;
/// Room below a matrix for the scale.
const BOTTOM: f64 = 96.0;
/// Most cells per side.
const CELLS: usize = 96;
/// Width of a digit in units of the font size, as in DejaVu, the widest font in common use.
const GLYPH: f64 = 0.64;

/// The picture of `grids` side by side under one `title`.
#[must_use]
pub fn svg(title: &str, grids: &[&Grid]) -> String {
    let panel = LEFT + SIDE + RIGHT;
    let (width, height) = (panel * grids.len() as f64, TOP + SIDE + BOTTOM);
    let mut picture = canvas::document(width, height, title)
        .set("fill", "#222222")
        .add(text(title, LEFT, 28.0, 18.0, "start").set("font-weight", "bold"));
    for (k, grid) in grids.iter().enumerate() {
        let place = format!("translate({},0)", k as f64 * panel);
        picture = picture.add(one_panel(grid).set("transform", place));
    }
    canvas::finish(&picture)
}

/// The look that all cells of a panel share.
#[derive(Clone, Copy)]
struct Look {
    /// Side of a cell.
    cell: f64,
    /// The range of costs that the colours span.
    range: (f64, f64),
    /// Font size of the numbers; numbers that would be too small are left out.
    size: f64,
}

/// One matrix with everything around it.
fn one_panel(grid: &Grid) -> Group {
    let shown = grid.coarse(CELLS);
    let n = shown.len().max(1);
    let cell = SIDE / n as f64;
    let range = grid.range();
    let widest = grid
        .summary()
        .map_or(1, |s| format!("{:.*}", grid.decimals, s.greatest.0).len());
    let size = (0.82 * cell / (GLYPH * widest as f64)).min(14.0);
    let look = Look { cell, range, size };
    let mut group = Group::new().add(
        text(
            &format!("{}, {}", grid.title, grid.unit),
            LEFT,
            52.0,
            15.0,
            "start",
        )
        .set("font-weight", "bold"),
    );
    for i in 0..shown.len() {
        for j in 0..shown.len() {
            add_cell(&mut group, &shown, (i, j), look);
        }
    }
    add_axes(&mut group, &shown, cell);
    add_boundaries(&mut group, &shown, cell);
    add_scale(&mut group, grid, range);
    if shown.merged > 1 {
        let note = format!("each cell is the mean of {0} x {0} threads", shown.merged);
        group = group.add(text(&note, LEFT + SIDE, 52.0, 11.0, "end"));
    }
    group
}

/// The cell of row `at.0`, column `at.1`, with its number where there is room.
fn add_cell(group: &mut Group, grid: &Grid, at: (usize, usize), look: Look) {
    let Look { cell, range, size } = look;
    let (x, y) = (LEFT + at.1 as f64 * cell, TOP + at.0 as f64 * cell);
    let value = grid.get(at.0, at.1);
    let colour = value.map_or(Rgb(238, 238, 238), |v| heat(position(v, range)));
    // A cell is a little larger than its place, since renderers show seams otherwise.
    let square = rectangle(x, y, cell + 0.2, cell + 0.2).set("fill", colour.hex());
    let Some(value) = value else {
        group.append(square);
        return;
    };
    let number = format!("{value:.*}", grid.decimals);
    let spread = grid
        .spread(at.0, at.1)
        .map_or(String::new(), |s| format!(" ± {s:.*}", grid.decimals));
    let (from, to) = (grid.labels[at.0], grid.labels[at.1]);
    let hint = format!("{from} to {to}: {number}{spread} {}", grid.unit);
    group.append(with_hint(square, &hint));
    if size >= 6.5 {
        let label = text(
            &number,
            x + cell / 2.0,
            y + cell / 2.0 + 0.36 * size,
            size,
            "middle",
        );
        group.append(
            label
                .set("fill", colour.ink().hex())
                .set("pointer-events", "none"),
        );
    }
}

/// Adds the names of rows and columns, only every k-th where all would overlap.
fn add_axes(group: &mut Group, grid: &Grid, cell: f64) {
    let digits = grid.label_digits() as f64;
    let size = 11.0f64.min(cell.max(9.0));
    let every = |needed: f64| ((needed / cell).ceil() as usize).max(1);
    let (rows, columns) = (every(size + 1.0), every(GLYPH * size * digits + 4.0));
    for (k, label) in grid.labels.iter().enumerate() {
        let middle = (k as f64 + 0.5) * cell;
        if k % rows == 0 {
            let y = TOP + middle + 0.36 * size;
            group.append(text(&label.to_string(), LEFT - 6.0, y, size, "end"));
        }
        if k % columns == 0 {
            group.append(text(
                &label.to_string(),
                LEFT + middle,
                TOP - 6.0,
                size,
                "middle",
            ));
        }
    }
    group.append(text("to", LEFT + SIDE + 8.0, TOP - 6.0, 11.0, "start").set("fill", "#555555"));
    group.append(text("from", LEFT - 6.0, TOP - 6.0, 11.0, "end").set("fill", "#555555"));
}

/// Adds lines between NUMA nodes, and a coloured bar with the node's number above its columns.
fn add_boundaries(group: &mut Group, grid: &Grid, cell: f64) {
    let mut starts: Vec<usize> = (0..grid.len())
        .filter(|&k| k == 0 || grid.numa[k] != grid.numa[k - 1])
        .collect();
    if starts.len() < 2 {
        return;
    }
    starts.push(grid.len());
    for run in starts.windows(2) {
        let (from, to) = (run[0] as f64 * cell, run[1] as f64 * cell);
        let numa = grid.numa[run[0]];
        let bar = rectangle(
            LEFT + from + 1.0,
            TOP - 22.0,
            (to - from - 2.0).max(0.5),
            3.0,
        )
        .set("fill", category(numa).hex());
        group.append(bar);
        let name = if to - from > 52.0 {
            format!("NUMA {numa}")
        } else {
            numa.to_string()
        };
        if to - from > 18.0 {
            group.append(text(
                &name,
                LEFT + (from + to) / 2.0,
                TOP - 26.0,
                10.0,
                "middle",
            ));
        }
        if from > 0.0 && to - from > 6.0 {
            let (x, y) = (LEFT + from, TOP + from);
            for boundary in [
                line((x, TOP), (x, TOP + SIDE)),
                line((LEFT, y), (LEFT + SIDE, y)),
            ] {
                group.append(boundary.set("stroke", "#ffffff").set("stroke-width", 1.5));
            }
        }
    }
}

/// Adds the colour scale with its ends, and the summary below it.
fn add_scale(group: &mut Group, grid: &Grid, range: (f64, f64)) {
    const STEPS: usize = 64;
    let y = TOP + SIDE + 20.0;
    let step = SIDE / STEPS as f64;
    for k in 0..STEPS {
        let colour = heat(k as f64 / (STEPS - 1) as f64);
        let bar = rectangle(LEFT + k as f64 * step, y, step + 0.2, 12.0).set("fill", colour.hex());
        group.append(bar);
    }
    let d = grid.decimals;
    let Some(s) = grid.summary() else {
        return;
    };
    let clipped = if s.greatest.0 > range.1 {
        " and above"
    } else {
        ""
    };
    let marks = [
        (0.0, format!("{:.d$}", range.0), "start"),
        (0.5, format!("{:.d$}", (range.0 + range.1) / 2.0), "middle"),
        (
            1.0,
            format!("{:.d$}{clipped} {}", range.1, grid.unit),
            "end",
        ),
    ];
    for (at, label, anchor) in marks {
        group.append(text(&label, LEFT + at * SIDE, y + 28.0, 12.0, anchor));
    }
    let summary = format!(
        "minimum {:.d$}, mean {:.d$}, maximum {:.d$}",
        s.least.0, s.mean, s.greatest.0
    );
    group.append(text(&summary, LEFT, y + 52.0, 12.0, "start"));
}

/// A line of text.
fn text(content: &str, x: f64, y: f64, size: f64, anchor: &str) -> Text {
    canvas::text(content, x, y)
        .set("font-size", round(size))
        .set("text-anchor", anchor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_is_bounded_whatever_the_machine() {
        for n in [0, 1, 2, 48, 600] {
            let cost = |i: usize, j: usize| ((i * 7 + j * 3) % 101) as f64;
            let grid = Grid::new(
                "send",
                "ns",
                (0..n).collect(),
                (0..n).map(|k| k / 24).collect(),
                cost,
                None,
            );
            let picture = svg("x & <y>", &[&grid, &grid]);
            assert!(picture.len() < 5_000_000, "{n}: {}", picture.len());
            let tree = roxmltree::Document::parse(&picture).unwrap();
            let width: f64 = tree
                .root_element()
                .attribute("width")
                .unwrap()
                .parse()
                .unwrap();
            assert!(width <= 1240.0);
            assert!(!picture.contains("NaN"));
        }
    }
}
