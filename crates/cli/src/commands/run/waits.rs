//! How long a program's threads waited at barriers, and where: for others, and for the barrier itself.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use addr2line::{Loader, demangle_auto};
use anyhow::{Context, Result};
use comfy_table::{CellAlignment, Table, presets};
use corecast_openmp::record::{Kind, Object, Record, SCHEMA, Wait};
use object::{Object as _, ObjectSegment};
use serde::Serialize;

use crate::options::Global;
use corecast_model::words::time;

/// Places that are shown without `--verbose`.
const SHOWN: usize = 20;

/// What is known of all processes.
#[derive(Debug, Serialize)]
struct Report {
    schema: u32,
    processes: Vec<Process>,
}

/// A process's waits, the longest first.
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
    place: Place,
    kind: Kind,
    times: u64,
    own: u64,
    imbalance_ns: u64,
    mechanism_ns: u64,
    longest_ns: u64,
}

/// A place in a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Place {
    function: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    /// Where none of these is known.
    address: Option<String>,
}

/// Says on standard error what the program's processes have left in `folder`.
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
    let mut places = Places::default();
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
    fn of(record: &Record, places: &mut Places) -> Self {
        // Places of which only a name is known fall together.
        let mut rows: BTreeMap<(Place, Kind), Row> = BTreeMap::new();
        for wait in &record.waits {
            let place = places.find(&record.objects, wait);
            let row = rows.entry((place.clone(), wait.kind)).or_insert(Row {
                place,
                kind: wait.kind,
                times: 0,
                own: 0,
                imbalance_ns: 0,
                mechanism_ns: 0,
                longest_ns: 0,
            });
            row.times += wait.times;
            row.own += wait.own;
            row.imbalance_ns += wait.imbalance_ns;
            row.mechanism_ns += wait.mechanism_ns;
            row.longest_ns = row.longest_ns.max(wait.longest_ns);
        }
        let mut waits: Vec<Row> = rows.into_values().collect();
        waits.sort_by_key(|row| std::cmp::Reverse(row.sum()));
        Self {
            program: record.program.clone(),
            process: record.process,
            seconds: record.seconds,
            threads: record.threads,
            in_regions_ns: record.in_regions_ns,
            imbalance_ns: waits.iter().map(|row| row.imbalance_ns).sum(),
            mechanism_ns: waits.iter().map(|row| row.mechanism_ns).sum(),
            waits,
        }
    }

    /// A part of the time that all threads have spent in regions.
    fn share(&self, ns: u64) -> String {
        match self.in_regions_ns {
            0 => "–".to_owned(),
            all => format!("{:.1} %", 100.0 * ns as f64 / all as f64),
        }
    }
}

impl Row {
    fn sum(&self) -> u64 {
        self.imbalance_ns + self.mechanism_ns
    }
}

impl Report {
    fn text(&self, all: bool) -> String {
        let mut text = String::new();
        if self.processes.is_empty() {
            return "corecast: no waits: the program ran no parallel region of an OpenMP run-time that can be reached, or was \
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
                row.times.to_string(),
                match row.kind {
                    Kind::Region => "–".to_owned(),
                    _ => format!("{:.0} %", 100.0 * row.own as f64 / row.times.max(1) as f64),
                },
                time(row.imbalance_ns as f64),
                time(row.mechanism_ns as f64),
                self.share(row.sum()),
                time(row.longest_ns as f64),
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

impl Place {
    fn words(&self) -> String {
        let at = match (&self.file, self.line) {
            (Some(file), Some(line)) => {
                let name = file.rsplit('/').next().unwrap_or(file);
                Some(format!("{name}:{line}"))
            }
            _ => None,
        };
        match (at, &self.function, &self.address) {
            (Some(at), Some(function), _) => format!("{at} {function}"),
            (Some(at), None, _) => at,
            (None, Some(function), Some(address)) => format!("{function} {address}"),
            (None, Some(function), None) => function.clone(),
            (None, None, address) => address.clone().unwrap_or_default(),
        }
    }
}

/// Files that were looked into.
#[derive(Default)]
struct Places(HashMap<String, Option<File>>);

struct File {
    symbols: Loader,
    /// Where its first segment wants to lie.
    first: u64,
}

impl File {
    fn open(path: &str) -> Option<Self> {
        let bytes = fs::read(path).ok()?;
        let file = object::File::parse(&*bytes).ok()?;
        Some(Self {
            symbols: Loader::new(path).ok()?,
            first: file.segments().map(|segment| segment.address()).min()?,
        })
    }
}

impl Places {
    fn find(&mut self, objects: &[Object], wait: &Wait) -> Place {
        let unknown = |address: String| Place {
            address: Some(address),
            ..Place::default()
        };
        let Some(object) = wait.object.and_then(|at| objects.get(at)) else {
            return unknown(format!("{:#x}", wait.address));
        };
        let within = wait.address.saturating_sub(object.base);
        let name = object.path.rsplit('/').next().unwrap_or(&object.path);
        let address = format!("{name}+{within:#x}");
        let file = self.0.entry(object.path.clone());
        let Some(file) = file.or_insert_with(|| File::open(&object.path)) else {
            return unknown(address);
        };
        // An address to return to is that of the next instruction; where code begins it is its own.
        let back = u64::from(wait.kind != Kind::Region);
        let at = (file.first & !0xfff) + within - back.min(within);
        let location = file.symbols.find_location(at).ok().flatten();
        let function = function(&file.symbols, at);
        Place {
            file: location
                .as_ref()
                .and_then(|location| Some(location.file?.to_owned())),
            line: location.as_ref().and_then(|location| location.line),
            address: match location.and_then(|location| location.line) {
                Some(_) => None,
                None => Some(address),
            },
            function,
        }
    }
}

/// The function around an address, as its programmer named it.
fn function(symbols: &Loader, at: u64) -> Option<String> {
    let name = before_outlining(symbols.find_symbol(at)?);
    (!name.is_empty()).then(|| demangle_auto(Cow::Borrowed(name), None).into_owned())
}

/// Without what compilers add to the name of a function for the regions in it; some forget the name.
fn before_outlining(name: &str) -> &str {
    let marks = ["._omp_fn", ".omp_outlined", "..omp_par"];
    let starts = marks.map(|mark| name.find(mark).unwrap_or(name.len()));
    &name[..starts.into_iter().min().unwrap_or(name.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_named_as_in_the_source() {
        for (name, expected) in [
            ("solve._omp_fn.3", "solve"),
            ("solve.omp_outlined.7", "solve"),
            (".omp_outlined._debug__", ""),
            ("plain", "plain"),
        ] {
            assert_eq!(before_outlining(name), expected);
        }
    }
}
