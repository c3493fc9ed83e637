//! Corecast's own format as it lies in the file, before any check.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize};

use super::content::{MachineFile, Measured, numa_of};
use super::error::FileError;
use crate::cluster::Cluster;
use crate::deep::Deep;
use crate::lines::LineCosts;
use crate::machine::Machine;
use crate::messages::Messages;
use crate::pairwise::{CostError, CostModel, Matrix, Unit};

/// The version of the format that [`MachineFile::to_json`] writes.
pub const SCHEMA: u64 = 1;

/// A matrix entry as written. `null` and text are kept, so that an error can name the pair.
pub(super) enum Cell {
    Number(f64),
    Missing,
    Text(String),
}

#[derive(Deserialize)]
struct RawFile {
    machine: Machine,
    threads: Vec<u32>,
    unit: String,
    send: Vec<Vec<Cell>>,
    receive: Vec<Vec<Cell>>,
    #[serde(default)]
    send_interval: Option<Vec<Vec<Cell>>>,
    #[serde(default)]
    receive_interval: Option<Vec<Vec<Cell>>>,
    #[serde(default)]
    lines: Option<RawLines>,
    #[serde(default)]
    measured: Option<Measured>,
    #[serde(default)]
    messages: Option<RawMessages>,
    #[serde(default)]
    deep: Option<Deep>,
    #[serde(default)]
    cluster: Option<Cluster>,
}

/// Fields that were added later are optional.
#[derive(Deserialize)]
struct RawMessages {
    long_bytes: usize,
    one: Vec<Vec<Cell>>,
    long: Vec<Vec<Cell>>,
    alone: Vec<Vec<Cell>>,
    taken: Vec<Vec<Cell>>,
    crossed: Vec<Vec<Cell>>,
    #[serde(default)]
    calls: BTreeMap<String, f64>,
    #[serde(default)]
    combine: f64,
    #[serde(default)]
    copy: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLines {
    write: Cell,
    invalidate: Vec<Cell>,
    transfer: Vec<Cell>,
    base: Vec<Cell>,
    slope: Vec<Cell>,
}

pub(super) fn read(text: &str) -> Result<MachineFile, FileError> {
    let raw: RawFile = serde_json::from_str(text)?;
    let unit = unit(&raw.unit)?;
    raw.machine.validate()?;
    let numa = numa_of(&raw.machine, &raw.threads)?;
    let send = numbers("send", raw.send)?;
    let receive = numbers("receive", raw.receive)?;
    let costs = CostModel::new(unit, send, receive, numa).map_err(|error| match error {
        CostError::Length {
            what: "numa",
            found,
            expected,
        } => CostError::Length {
            what: "threads",
            found,
            expected,
        },
        other => other,
    })?;
    let mut file = MachineFile::new(raw.machine, raw.threads, costs)?;
    file.send_interval = interval("send_interval", raw.send_interval, file.costs.n())?;
    file.receive_interval = interval("receive_interval", raw.receive_interval, file.costs.n())?;
    file.measured = raw.measured;
    if let Some(raw) = raw.messages {
        let n = file.costs.n();
        file = file.with_messages(messages(raw, n)?)?;
    }
    file = file.with_deep(raw.deep)?;
    if let Some(cluster) = raw.cluster {
        file = file.with_cluster(cluster)?;
    }
    match raw.lines {
        Some(raw) => file.with_lines(lines(raw)?),
        None => Ok(file),
    }
}

fn messages(raw: RawMessages, n: usize) -> Result<Messages, CostError> {
    let matrix = |name, rows| Matrix::checked(name, numbers(name, rows)?, n);
    Ok(Messages {
        long_bytes: raw.long_bytes,
        one: matrix("one", raw.one)?,
        long: matrix("long", raw.long)?,
        alone: matrix("alone", raw.alone)?,
        taken: matrix("taken", raw.taken)?,
        crossed: matrix("crossed", raw.crossed)?,
        calls: raw.calls,
        combine: raw.combine,
        copy: raw.copy,
    })
}

fn lines(raw: RawLines) -> Result<LineCosts, CostError> {
    let number = |what: &dyn Fn() -> String, cell: Cell| {
        match cell {
            Cell::Number(value) => Ok(value),
            Cell::Missing => Err("null".to_owned()),
            Cell::Text(text) => Err(format!("{text:?}")),
        }
        .map_err(|value| CostError::BadLine {
            what: what(),
            value,
        })
    };
    let list = |what: &'static str, cells: Vec<Cell>| {
        let cells = cells.into_iter().enumerate();
        let numbers = cells.map(|(class, cell)| number(&|| format!("{what}[{class}]"), cell));
        let numbers: Vec<f64> = numbers.collect::<Result<_, CostError>>()?;
        let found = numbers.len();
        <[f64; 4]>::try_from(numbers).map_err(|_| CostError::LineClasses { what, found })
    };
    Ok(LineCosts {
        write: number(&|| "write".to_owned(), raw.write)?,
        invalidate: list("invalidate", raw.invalidate)?,
        transfer: list("transfer", raw.transfer)?,
        base: list("base", raw.base)?,
        slope: list("slope", raw.slope)?,
    })
}

pub(super) fn unit(name: &str) -> Result<Unit, FileError> {
    match name {
        "cycles" => Ok(Unit::Cycles),
        "ns" => Ok(Unit::Nanoseconds),
        _ => Err(FileError::Unit {
            found: name.to_owned(),
        }),
    }
}

/// Reads rows of numbers. Entries of the diagonal may be anything, because they are not used.
pub(super) fn numbers(
    matrix: &'static str,
    rows: Vec<Vec<Cell>>,
) -> Result<Vec<Vec<f64>>, CostError> {
    let row = |(from, row): (usize, Vec<Cell>)| {
        let cell = |(to, cell): (usize, Cell)| match cell {
            _ if from == to => Ok(0.0),
            Cell::Number(value) => Ok(value),
            Cell::Missing => Err(CostError::Missing { matrix, from, to }),
            Cell::Text(text) => Err(CostError::BadValue {
                matrix,
                from,
                to,
                value: format!("{text:?}"),
            }),
        };
        row.into_iter().enumerate().map(cell).collect()
    };
    rows.into_iter().enumerate().map(row).collect()
}

fn interval(
    name: &'static str,
    rows: Option<Vec<Vec<Cell>>>,
    n: usize,
) -> Result<Option<Matrix>, CostError> {
    let Some(rows) = rows else { return Ok(None) };
    let rows = numbers(name, rows)?;
    Matrix::checked(name, rows, n).map(Some)
}

pub(super) fn write(file: &MachineFile) -> String {
    let mut out = String::from("{\n");
    let _ = writeln!(out, " \"schema\": {SCHEMA},");
    let _ = writeln!(out, " \"machine\": {},", json(&file.machine));
    let _ = writeln!(out, " \"threads\": {},", json(&file.threads));
    if let Some(measured) = &file.measured {
        let _ = writeln!(out, " \"measured\": {},", json(measured));
    }
    let _ = write!(out, " \"unit\": {}", json(&file.costs.unit()));
    if let Some(lines) = file.costs.lines() {
        let _ = write!(out, ",\n \"lines\": {}", json(lines.costs()));
    }
    if let Some(messages) = &file.messages {
        let _ = write!(out, ",\n \"messages\": {}", json(messages));
    }
    if let Some(deep) = &file.deep {
        let _ = write!(out, ",\n \"deep\": {}", json(deep));
    }
    if let Some(cluster) = &file.cluster {
        let _ = write!(out, ",\n \"cluster\": {}", json(cluster));
    }
    let matrices = [
        ("send", Some(file.costs.send_matrix())),
        ("receive", Some(file.costs.receive_matrix())),
        ("send_interval", file.send_interval.as_ref()),
        ("receive_interval", file.receive_interval.as_ref()),
    ];
    for (name, matrix) in matrices {
        let Some(matrix) = matrix else { continue };
        let _ = write!(out, ",\n \"{name}\": [");
        for (i, row) in matrix.rows().enumerate() {
            let _ = write!(out, "{}\n  {}", if i == 0 { "" } else { "," }, json(&row));
        }
        out.push_str("\n ]");
    }
    out.push_str("\n}\n");
    out
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data with finite numbers and text keys")
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CellVisitor;

        impl Visitor<'_> for CellVisitor {
            type Value = Cell;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a cost, a number")
            }
            fn visit_f64<E>(self, value: f64) -> Result<Cell, E> {
                Ok(Cell::Number(value))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Cell, E> {
                Ok(Cell::Number(value as f64))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Cell, E> {
                Ok(Cell::Number(value as f64))
            }
            fn visit_unit<E>(self) -> Result<Cell, E> {
                Ok(Cell::Missing)
            }
            fn visit_str<E>(self, value: &str) -> Result<Cell, E> {
                Ok(Cell::Text(value.to_owned()))
            }
        }

        deserializer.deserialize_any(CellVisitor)
    }
}
