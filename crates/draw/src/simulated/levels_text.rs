//! The levels of several hosts in the terminal: a sign for each part.
//!
//! ```text
//! between hosts       cards, out  █ ▓ · ·      busiest 43.1 %: card 0 of host 0, out
//! between NUMA nodes  ports       █░ ·· ·· ··  busiest 2.0 %: port of region 0
//! ```

use std::fmt::Write;

use owo_colors::OwoColorize;

use super::levels::{Levels, Row};
use crate::palette::{Depth, Screen, heat};

/// Columns of a row before its signs, and the most that are kept free for what is said behind them.
const LABEL: usize = 32;
const TOLD: usize = 50;

impl Levels {
    /// A line for each kind of part with a sign for each of them, hosts from left to right: shades, or colours where the screen
    /// has some. Where that is too wide, neighbours share a sign, which is that of the busiest of them.
    #[must_use]
    pub fn text(&self, screen: Screen) -> String {
        let room = screen.columns.saturating_sub(LABEL + TOLD).max(8);
        let signs: Vec<Vec<Option<f64>>> = self.rows.iter().map(|row| signs(row, room)).collect();
        let width = signs.iter().map(Vec::len).max().unwrap_or(0);
        let mut out = String::new();
        for (row, signs) in self.rows.iter().zip(&signs) {
            let _ = write!(out, "{:20}{:12}", row.level, row.kind);
            for sign in signs {
                let _ = match sign {
                    None => write!(out, " "),
                    Some(share) if screen.depth == Depth::None => write!(out, "{}", shade(*share)),
                    Some(share) => write!(out, "{}", ' '.style(screen.on(heat(*share)))),
                };
            }
            let gap = width - signs.len() + 2;
            let _ = writeln!(out, "{:gap$}{}", "", row.told());
        }
        out
    }
}

/// The shares of a row's parts with a gap between hosts, in at most `room` places.
fn signs(row: &Row, room: usize) -> Vec<Option<f64>> {
    let of_host =
        |cells: &Vec<_>| -> Vec<f64> { cells.iter().map(|cell| row.share(cell)).collect() };
    let hosts: Vec<Vec<f64>> = row.hosts.iter().map(of_host).collect();
    let apart: usize = hosts.iter().map(|cells| cells.len() + 1).sum();
    if apart <= room + 1 {
        let mut signs = Vec::new();
        for cells in hosts {
            signs.extend(cells.into_iter().map(Some));
            signs.push(None);
        }
        signs.pop();
        return signs;
    }
    let all = hosts.concat();
    let shared = all.len().div_ceil(room).max(1);
    let most = |cells: &[f64]| Some(cells.iter().copied().fold(0.0, f64::max));
    all.chunks(shared).map(most).collect()
}

/// A sign that gets denser with the share; a dot for a part that had nothing to do.
fn shade(share: f64) -> char {
    match share {
        0.0 => '·',
        share if share < 0.25 => '░',
        share if share < 0.5 => '▒',
        share if share < 0.75 => '▓',
        _ => '█',
    }
}
