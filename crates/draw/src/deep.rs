//! A measurement in depth as tables, in the form of the papers' tables.

use std::collections::BTreeMap;
use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};
use corecast_model::Deep;
use corecast_model::deep::{Access, Curve, CurveKind, Figure, Fit, Level, Near, State};
use corecast_probe::deep::together;
use owo_colors::OwoColorize;

use crate::palette::Screen;
use crate::table::table;

/// All tables of a measurement, or those of latencies alone.
#[must_use]
pub fn text(name: &str, found: &Deep, all: bool, screen: Screen) -> String {
    let mut out = format!("{name}\n");
    for (access, title) in [
        (Access::Read, "read latency, ns"),
        (Access::Write, "synchronous write latency, ns"),
    ] {
        latencies(&mut out, found, access, title);
    }
    if all {
        parameters(&mut out, found);
        for kind in [
            CurveKind::Lines,
            CurveKind::Contention,
            CurveKind::Congestion,
        ] {
            curves(&mut out, found, kind);
        }
        readers(&mut out, found);
        quantities(&mut out, found);
    }
    circumstances(&mut out, found, all, screen);
    out
}

/// A time and the half width of its interval, with as many digits as are significant.
pub fn figure(figure: &Figure) -> String {
    let digits = usize::from(figure.value < 100.0) + usize::from(figure.value < 10.0);
    format!("{:.digits$} ±{:.digits$}", figure.value, figure.half_width)
}

/// A table with a row for each place and state, and a column for each level, as Tables 1 to 4 of Mencagli and others.
fn latencies(out: &mut String, found: &Deep, access: Access, title: &str) {
    let mut groups: BTreeMap<(Near, State, Level), Vec<Figure>> = BTreeMap::new();
    for latency in found.latencies.iter().filter(|one| one.access == access) {
        let key = (latency.near, latency.state, latency.level);
        groups.entry(key).or_default().push(latency.ns);
    }
    if groups.is_empty() {
        return;
    }
    let mut levels: Vec<Level> = groups.keys().map(|&(_, _, level)| level).collect();
    levels.sort_unstable();
    levels.dedup();
    let mut rows: Vec<(Near, State)> = groups
        .keys()
        .map(|&(near, state, _)| (near, state))
        .collect();
    rows.dedup();
    let header = ["place".to_owned(), "state".to_owned()].into_iter();
    let header = header.chain(levels.iter().map(Level::to_string));
    let mut table = table(header, 2..2 + levels.len());
    let mut last = None;
    for (near, state) in rows {
        let place = match last.replace(near) {
            Some(before) if before == near => String::new(),
            _ => near.to_string(),
        };
        let cell = |level: &Level| {
            let figures = groups.get(&(near, state, *level));
            figures
                .and_then(|figures| together(figures))
                .map_or(String::new(), |all| figure(&all))
        };
        let cells = levels.iter().map(cell);
        table.add_row([place, state.name().to_owned()].into_iter().chain(cells));
    }
    let _ = writeln!(out, "\n{title}\n{table}");
}

fn parameters(out: &mut String, found: &Deep) {
    if found.parameters.is_empty() {
        return;
    }
    let _ = writeln!(out, "\none line, ns");
    for (name, value) in &found.parameters {
        let meaning = match name.as_str() {
            "R_L" => "cached on the same core",
            "R_R" => "cached on another core of the package",
            "R_Q" => "cached in another package",
            "R_I" => "cached nowhere, own NUMA node",
            "R_QI" => "cached nowhere, other NUMA node",
            _ => "",
        };
        let _ = writeln!(out, " {name:<5} {:>14}  {meaning}", figure(value));
    }
}

/// A row of a table of fits: its name, and its cell for a fit.
type Row<'a> = (&'a str, fn(&Fit) -> Option<String>);

/// A table for each place: a column for each state, a row for each number of lines, readers or pairs, and the fits of
/// CLa's models below.
fn curves(out: &mut String, found: &Deep, kind: CurveKind) {
    let of_kind = || found.curves.iter().filter(|curve| curve.kind == kind);
    let mut places: Vec<Near> = of_kind().map(|curve| curve.near).collect();
    places.sort_unstable();
    places.dedup();
    let (title, count) = match kind {
        CurveKind::Lines => ("copy of several lines of another thread", "lines"),
        CurveKind::Contention => (
            "threads that read one line at once, the last of them",
            "readers",
        ),
        CurveKind::Congestion => (
            "pairs that move lines of their own at once, a line",
            "pairs",
        ),
    };
    for near in places {
        let curves: Vec<&Curve> = of_kind().filter(|curve| curve.near == near).collect();
        let states = curves.iter().map(|curve| curve.state.name().to_owned());
        let header = [count.to_owned()].into_iter().chain(states);
        let mut table = table(header, 1..1 + curves.len());
        let mut xs: Vec<u32> = curves
            .iter()
            .flat_map(|curve| &curve.points)
            .map(|p| p.x)
            .collect();
        xs.sort_unstable();
        xs.dedup();
        for x in xs {
            let cell = |curve: &&Curve| {
                let point = curve.points.iter().find(|point| point.x == x);
                point.map_or(String::new(), |point| figure(&point.ns))
            };
            table.add_row([x.to_string()].into_iter().chain(curves.iter().map(cell)));
        }
        let each = format!("each of the {count}");
        let rows: [Row<'_>; 4] = [
            ("fit: base", |fit| Some(figure(&fit.base))),
            (&each, |fit| Some(figure(&fit.slope))),
            ("less, over their number", |fit| {
                fit.inverse.as_ref().map(figure)
            }),
            ("farthest point", |fit| {
                Some(format!("{:.0} %", 100.0 * fit.misfit))
            }),
        ];
        for (name, row) in rows {
            let cell = |curve: &&Curve| curve.fit.as_ref().and_then(row).unwrap_or_default();
            let cells: Vec<String> = curves.iter().map(cell).collect();
            if cells.iter().any(|cell| !cell.is_empty()) {
                table.add_row([name.to_owned()].into_iter().chain(cells));
            }
        }
        let _ = writeln!(out, "\n{title}, {near}, ns\n{table}");
    }
}

/// A table of how early each reader sees a write.
fn readers(out: &mut String, found: &Deep) {
    let Some(of) = found.readers.first().map(|reader| reader.of) else {
        return;
    };
    let mut order: Vec<_> = found.readers.iter().collect();
    order.sort_by(|a, b| a.place.total_cmp(&b.place));
    let mut table = table(["PU", "place", "is first", "mean place", "after, ns"], 2..5);
    for reader in order {
        table.add_row([
            reader.by.to_string(),
            reader.near.to_string(),
            format!("{:.0} %", 100.0 * reader.first),
            format!("{:.1}", reader.place),
            figure(&reader.ns),
        ]);
    }
    let _ = writeln!(
        out,
        "\nwho sees a write of PU {of} first, of all that poll the line\n{table}"
    );
}

fn quantities(out: &mut String, found: &Deep) {
    if found.quantities.is_empty() {
        return;
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    for quantity in &found.quantities {
        table.add_row([
            quantity.name.clone(),
            figure(&quantity.figure),
            quantity.unit.clone(),
        ]);
    }
    if let Some(column) = table.column_mut(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let _ = writeln!(out, "\nstores, waits and copies\n{table}");
}

/// The conditions of the measurement: clock, drift, stolen time, notes, and the parts that are left to measure.
fn circumstances(out: &mut String, found: &Deep, all: bool, screen: Screen) {
    let clock = &found.clock;
    let _ = writeln!(
        out,
        "\n{}, {:.4} ticks a ns; drift of the cores {:.1} %, stolen time {:.2} %; {} pages; {:.1} s",
        clock.counter,
        clock.ticks_per_ns,
        100.0 * clock.drift,
        100.0 * clock.steal,
        if clock.huge_pages { "huge" } else { "small" },
        found.seconds
    );
    for note in &found.notes {
        let _ = writeln!(out, "{}", format!("note: {note}").style(screen.dim()));
    }
    let left = match all {
        true => found.left.len(),
        false => found
            .left
            .iter()
            .filter(|name| name.starts_with("latency"))
            .count(),
    };
    if left > 0 {
        let _ = writeln!(
            out,
            "{left} parts are left: the same command goes on with them"
        );
    }
}
