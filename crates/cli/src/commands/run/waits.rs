//! Shows how long a program's threads waited at barriers, and where: for other threads, and for the barrier itself.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use comfy_table::{CellAlignment, Table, presets};
use corecast_openmp::record::{Kind, Record, SCHEMA, Sums};
use serde::Serialize;

use super::locations::{Location, Locations};
use crate::options::Global;
use corecast_model::words::time;

/// Number of places that are shown without `--verbose`.
const SHOWN: usize = 20;

/// The waits of all processes.
#[derive(Debug, Serialize)]
struct Report {
    schema: u32,
    processes: Vec<Process>,
}

/// The waits of a process, the longest first.
#[derive(Debug, Serialize)]
struct Process {
    program: String,
    process: u32,
    seconds: f64,
    threads: usize,
    in_regions_ns: u64,
    imbalance_ns: u64,
    mechanism_ns: u64,
    waits: Vec<Row>,
}

/// The waits at one place.
#[derive(Debug, Serialize)]
struct Row {
    place: Location,
    kind: Kind,
    #[serde(flatten)]
    sums: Sums,
}

/// Prints to standard error the waits that the program's processes have recorded in `folder`.
pub(super) fn explain(global: &Global, folder: &Path) -> Result<()> {
    let report = Report {
        schema: SCHEMA,
        processes: read(folder)?,
    };
    let text = match global.json {
        true => serde_json::to_string(&report)? + "\n",
        false => report.text(global.verbose > 0),
    };
    anstream::eprint!("{text}");
    Ok(())
}

fn read(folder: &Path) -> Result<Vec<Process>> {
    let quoted = || format!("cannot read {}", folder.display());
    let mut places = Locations::default();
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).with_context(quoted)? {
        let text = fs::read(entry.with_context(quoted)?.path()).with_context(quoted)?;
        let record = serde_json::from_slice::<Record>(&text).with_context(quoted)?;
        all.push(Process::of(&record, &mut places));
    }
    all.sort_by_key(|process| process.process);
    Ok(all)
}

impl Process {
    fn of(record: &Record, places: &mut Locations) -> Self {
        // Places with the same name are added up.
        let mut rows: BTreeMap<(Location, Kind), Sums> = BTreeMap::new();
        for wait in &record.waits {
            let place = places.find(&record.objects, wait);
            *rows.entry((place, wait.kind)).or_default() += wait.sums;
        }
        let row = |((place, kind), sums)| Row { place, kind, sums };
        let mut waits: Vec<Row> = rows.into_iter().map(row).collect();
        waits.sort_by_key(|row| std::cmp::Reverse(row.sum()));
        Self {
            program: record.program.clone(),
            process: record.process,
            seconds: record.seconds,
            threads: record.threads,
            in_regions_ns: record.in_regions_ns,
            imbalance_ns: waits.iter().map(|row| row.sums.imbalance_ns).sum(),
            mechanism_ns: waits.iter().map(|row| row.sums.mechanism_ns).sum(),
            waits,
        }
    }

    /// `ns` as a percentage of the time that all threads have spent in parallel regions.
    fn share(&self, ns: u64) -> String {
        match self.in_regions_ns {
            0 => "–".to_owned(),
            all => format!("{:.1} %", 100.0 * ns as f64 / all as f64),
        }
    }
}

impl Row {
    fn sum(&self) -> u64 {
        self.sums.imbalance_ns + self.sums.mechanism_ns
    }
}

impl Report {
    fn text(&self, all: bool) -> String {
        let mut text = String::new();
        if self.processes.is_empty() {
            return "corecast: no waits: the program ran no parallel region of an OpenMP runtime that can be reached, or was \
                    killed before it could say\n"
                .to_owned();
        }
        for process in &self.processes {
            let waited = process.imbalance_ns + process.mechanism_ns;
            let _ = writeln!(
                text,
                "corecast: {} ran for {}; up to {} threads, together {} in regions, of which\n\
                 waiting {} ({}): for others {} ({}), for barriers {} ({})\n",
                process.program,
                time(process.seconds * 1e9),
                process.threads,
                time(process.in_regions_ns as f64),
                time(waited as f64),
                process.share(waited),
                time(process.imbalance_ns as f64),
                process.share(process.imbalance_ns),
                time(process.mechanism_ns as f64),
                process.share(process.mechanism_ns),
            );
            let shown = if all { usize::MAX } else { SHOWN };
            let _ = writeln!(text, "{}", process.table(shown));
            if let Some(rest) = process.waits.get(shown..).filter(|rest| !rest.is_empty()) {
                let sum: u64 = rest.iter().map(Row::sum).sum();
                let _ = writeln!(
                    text,
                    "and {} places more, together {}: -v shows them",
                    rest.len(),
                    time(sum as f64)
                );
            }
        }
        text += "\nfor others: until the last thread has come, so uneven work or a thread without a CPU; barrier: from then \
                 until a thread goes on\n";
        text
    }
}

impl Process {
    fn table(&self, shown: usize) -> Table {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_header([
            "where",
            "what",
            "waits",
            "Corecast's",
            "for others",
            "barrier",
            "of regions",
            "longest",
        ]);
        for row in self.waits.iter().take(shown) {
            table.add_row([
                row.place.words(),
                words(row.kind).to_owned(),
                row.sums.times.to_string(),
                match row.kind {
                    Kind::Region => "–".to_owned(),
                    _ => format!(
                        "{:.0} %",
                        100.0 * row.sums.own as f64 / row.sums.times.max(1) as f64
                    ),
                },
                time(row.sums.imbalance_ns as f64),
                time(row.sums.mechanism_ns as f64),
                self.share(row.sum()),
                time(row.sums.longest_ns as f64),
            ]);
        }
        for column in table.column_iter_mut().skip(2) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        table
    }
}

fn words(kind: Kind) -> &'static str {
    match kind {
        Kind::Barrier => "barrier",
        Kind::For => "end of for",
        Kind::Sections => "end of sections",
        Kind::Single => "end of single",
        Kind::Region => "end of parallel",
    }
}
