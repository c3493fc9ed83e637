//! Heat maps for the terminal, in the manner of core-to-core-latency.
//!
//! ```text
//! send, cycles (row sends to column)
//!         0     1     2
//!   0     -  57±3  58±2
//!   1  57±2     -  61±4
//! ```
//!
//! The widest form that fits is used: `57±3`, then `57`, then blocks of two columns and of one;
//! where even these do not fit, neighbouring threads are merged.

use std::fmt::Write;

use owo_colors::OwoColorize;

use super::grid::{Grid, Summary, position};
use crate::palette::{Depth, Screen, heat};

/// The whole drawing of `grid`: heading, matrix, summary line.
#[must_use]
pub fn text(grid: &Grid, hint: &str, screen: Screen) -> String {
    let mut out = String::new();
    let heading = format!("{}, {}", grid.title, grid.unit);
    let _ = writeln!(
        out,
        "{} {}",
        heading.style(screen.bold()),
        format!("({hint})").style(screen.dim())
    );
    let form = Form::widest(grid, screen);
    let shown = if let Form::Blocks { rows, .. } = form {
        grid.coarse(rows)
    } else {
        grid.clone()
    };
    let triangle = shown.merged == 1 && shown.is_symmetric();
    header(&mut out, &shown, form, screen);
    let range = grid.range();
    let n = shown.len();
    for i in 0..n {
        let label = format!("{:>LABEL$} ", shown.labels[i]);
        let _ = write!(out, "{}", label.style(screen.numa(shown.numa[i])));
        for j in 0..if triangle { i + 1 } else { n } {
            out.push_str(&cell(&shown, i, j, range, form, screen));
        }
        out.push('\n');
    }
    if shown.merged > 1 {
        let k = shown.merged;
        let _ = writeln!(
            out,
            "each cell is the mean of {k} x {k} threads; rows are named by the first"
        );
    }
    if let Form::Blocks { .. } = form {
        legend(&mut out, range, grid.decimals, screen);
    }
    if let Some(s) = grid.summary() {
        let _ = writeln!(out, "{}", summary_line(grid, &s));
    }
    out
}

/// The summary, such as `minimum 52 (3 to 7)   mean 113   maximum 240 (0 to 31)`.
fn summary_line(grid: &Grid, s: &Summary) -> String {
    let d = grid.decimals;
    let pair =
        |(_, i, j): (f64, usize, usize)| format!("({} to {})", grid.labels[i], grid.labels[j]);
    format!(
        "minimum {:.d$} {}   mean {:.d$}   maximum {:.d$} {}",
        s.least.0,
        pair(s.least),
        s.mean,
        s.greatest.0,
        pair(s.greatest)
    )
}

/// Columns of a row's name, without the blank after it.
const LABEL: usize = 4;

/// The form of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A number with the half width of its interval, such as `57±3`.
    Spread { width: usize },
    /// A number, such as `57`.
    Mean { width: usize },
    /// A coloured or shaded block.
    Blocks { width: usize, rows: usize },
}

impl Form {
    /// The most detailed form of `grid` that `screen` has room for.
    fn widest(grid: &Grid, screen: Screen) -> Form {
        let n = grid.len();
        let room = screen.columns.saturating_sub(LABEL + 1);
        let widest = |text: &dyn Fn(usize, usize) -> String| {
            let cells = (0..n * n).map(|k| text(k / n, k % n).chars().count());
            cells.fold(grid.label_digits(), usize::max) + 1
        };
        if grid.has_spread() {
            let width = widest(&|i, j| with_spread(grid, i, j));
            if width * n <= room {
                return Form::Spread { width };
            }
        }
        let width = widest(&|i, j| alone(grid, i, j));
        if width * n <= room {
            return Form::Mean { width };
        }
        let width = if 2 * n <= room { 2 } else { 1 };
        Form::Blocks {
            width,
            rows: (room / width).clamp(1, 128),
        }
    }
}

/// The column names: upright where they fit, else their digits one below the other.
fn header(out: &mut String, grid: &Grid, form: Form, screen: Screen) {
    let indent = " ".repeat(LABEL + 1);
    match form {
        Form::Spread { width } | Form::Mean { width } => {
            out.push_str(&indent);
            for (label, &numa) in grid.labels.iter().zip(&grid.numa) {
                let _ = write!(
                    out,
                    "{}",
                    format!("{label:>width$}").style(screen.numa(numa))
                );
            }
            out.push('\n');
        }
        Form::Blocks { width, .. } => {
            let digits = grid.label_digits();
            for k in 0..digits {
                out.push_str(&indent);
                for (label, &numa) in grid.labels.iter().zip(&grid.numa) {
                    let name = format!("{label:>digits$}");
                    let digit = format!("{:<width$}", &name[k..=k]);
                    let _ = write!(out, "{}", digit.style(screen.numa(numa)));
                }
                out.push('\n');
            }
        }
    }
}

/// One cell, coloured.
fn cell(grid: &Grid, i: usize, j: usize, range: (f64, f64), form: Form, screen: Screen) -> String {
    let text = match form {
        Form::Spread { width } => format!("{:>width$}", with_spread(grid, i, j)),
        Form::Mean { width } => format!("{:>width$}", alone(grid, i, j)),
        Form::Blocks { width, .. } => match grid.get(i, j) {
            Some(v) if screen.depth == Depth::None => {
                shade(position(v, range)).to_string().repeat(width)
            }
            Some(_) => " ".repeat(width),
            None => format!("{:<width$}", "."),
        },
    };
    match grid.get(i, j) {
        Some(v) => text.style(screen.on(heat(position(v, range)))).to_string(),
        None => text,
    }
}

/// The entry as a number.
fn alone(grid: &Grid, i: usize, j: usize) -> String {
    match grid.get(i, j) {
        Some(v) => format!("{v:.*}", grid.decimals),
        None => "-".to_owned(),
    }
}

/// The entry and the half width of its interval.
fn with_spread(grid: &Grid, i: usize, j: usize) -> String {
    match grid.spread(i, j) {
        Some(s) if grid.get(i, j).is_some() => {
            format!("{}±{s:.*}", alone(grid, i, j), grid.decimals)
        }
        _ => alone(grid, i, j),
    }
}

/// A character that gets denser with `x`.
fn shade(x: f64) -> char {
    const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];
    SHADES[((x * SHADES.len() as f64) as usize).min(SHADES.len() - 1)]
}

/// The scale below a drawing without numbers.
fn legend(out: &mut String, range: (f64, f64), decimals: usize, screen: Screen) {
    const STEPS: usize = 20;
    let _ = write!(out, "{:.decimals$} ", range.0);
    for k in 0..STEPS {
        let x = k as f64 / (STEPS - 1) as f64;
        let c = if screen.depth == Depth::None {
            shade(x)
        } else {
            ' '
        };
        let _ = write!(out, "{}", c.style(screen.on(heat(x))));
    }
    let _ = writeln!(out, " {:.decimals$} and above", range.1);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(n: u32, cost: impl Fn(usize, usize) -> f64) -> Grid {
        Grid::new(
            "send",
            "ns",
            (0..n).collect(),
            vec![0; n as usize],
            cost,
            None,
        )
    }

    fn plain(columns: usize) -> Screen {
        Screen {
            columns,
            depth: Depth::None,
        }
    }

    #[test]
    fn numbers_then_blocks_then_merged_blocks() {
        let g = grid(40, |i, j| (100 * i + j) as f64);
        let widest = |c| {
            text(&g, "row to column", plain(c))
                .lines()
                .map(|l| l.chars().count())
                .max()
        };
        for columns in [60, 90, 120, 220, 300] {
            assert!(widest(columns).unwrap() <= columns.max(75), "{columns}");
        }
        assert!(text(&g, "", plain(300)).contains("3938"));
        assert!(text(&g, "", plain(90)).contains("and above"));
        assert!(text(&g, "", plain(30)).contains("mean of 2 x 2"));
    }

    #[test]
    fn a_symmetric_matrix_is_a_triangle_with_intervals() {
        let cost = |i: usize, j: usize| (i + j) as f64 * 100.0;
        let spread = |_: usize, _: usize| 3.0;
        let g = Grid::new(
            "round trip",
            "ns",
            vec![4, 6, 9],
            vec![0; 3],
            cost,
            Some(&spread),
        );
        let text = text(&g, "both ways", plain(80));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[2].trim(), "4      -");
        assert_eq!(lines[4].trim(), "9  200±3 300±3     -");
        assert_eq!(
            lines[5],
            "minimum 100 (4 to 6)   mean 200   maximum 300 (9 to 6)"
        );
    }
}
