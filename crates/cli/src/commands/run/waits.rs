//! Shows how long a program's threads and ranks waited, and where: for others, and for the operation itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use comfy_table::{ColumnConstraint, Table};
use corecast::record::{Kind, Record, Sums};
use serde::Serialize;
use tempfile::TempDir;

use super::locations::{Location, Locations};
use crate::options::Global;
use corecast_model::words::time;

/// The version of [`Report`]'s form. Fields that are new do not change it.
const SCHEMA: u32 = 1;
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
    /// How many processes these are.
    #[serde(skip)]
    count: usize,
    seconds: f64,
    threads: usize,
    in_regions_ns: u64,
    imbalance_ns: u64,
    mechanism_ns: u64,
    unsplit_ns: u64,
    waits: Vec<Row>,
}

/// The waits at one place.
#[derive(Debug, Serialize)]
struct Row {
    place: Location,
    kind: Kind,
    #[serde(flatten)]
    sums: Sums,
    /// For calls of teams and of MPI, the ranks that make up the sums.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ranks: Vec<OfRank>,
}

/// A rank's part of the waits at a place.
#[derive(Debug, Serialize)]
struct OfRank {
    rank: usize,
    #[serde(flatten)]
    sums: Sums,
}

/// Makes a folder where programs write their records.
pub(super) fn folder() -> Result<TempDir> {
    tempfile::tempdir().context("cannot make a folder for what is measured")
}

/// Prints to standard error the waits that the program's processes have recorded in `folder`: as text, those of one program
/// together, unless it shall be verbose.
pub(super) fn explain(global: &Global, folder: &Path) -> Result<()> {
    let all = global.verbose > 0;
    let report = Report::of(read(folder)?, !global.json && !all);
    let text = match global.json {
        true => serde_json::to_string(&report)? + "\n",
        false => report.text(all),
    };
    anstream::eprint!("{text}");
    Ok(())
}

fn read(folder: &Path) -> Result<Vec<Record>> {
    let quoted = || format!("cannot read {}", folder.display());
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let text = fs::read(entry.with_context(quoted)?.path()).with_context(quoted)?;
        serde_json::from_slice(&text).with_context(quoted)
    };
    let entries = fs::read_dir(folder).with_context(quoted)?;
    entries.map(read).collect()
}

impl Report {
    /// The waits by process, or those of a program's processes `together`.
    fn of(records: Vec<Record>, together: bool) -> Self {
        let mut places = Locations::default();
        let mut groups: BTreeMap<(String, u32), Vec<Record>> = BTreeMap::new();
        for record in records {
            let group = match together {
                true => (record.program.clone(), 0),
                false => (String::new(), record.process),
            };
            groups.entry(group).or_default().push(record);
        }
        let process = |records: &Vec<Record>| Process::of(records, &mut places);
        Self {
            schema: SCHEMA,
            processes: groups.values().map(process).collect(),
        }
    }
}

impl Process {
    /// The process that wrote these records, at least one: of its OpenMP threads, and of its teams; or all processes of a
    /// program as if they were one.
    fn of(records: &[Record], places: &mut Locations) -> Self {
        // Places with the same name are added up.
        let mut rows: BTreeMap<(Location, Kind), (Sums, BTreeMap<usize, Sums>)> = BTreeMap::new();
        for record in records {
            for wait in &record.waits {
                let place = places.find(&record.objects, wait);
                let (sums, ranks) = rows.entry((place, wait.kind)).or_default();
                *sums += wait.sums;
                if let Some(rank) = wait.place.rank() {
                    *ranks.entry(rank).or_default() += wait.sums;
                }
            }
        }
        let of_rank = |(rank, sums)| OfRank { rank, sums };
        let row = |((place, kind), (sums, ranks)): ((_, _), (_, BTreeMap<_, _>))| Row {
            place,
            kind,
            sums,
            ranks: ranks.into_iter().map(of_rank).collect(),
        };
        let mut waits: Vec<Row> = rows.into_iter().map(row).collect();
        waits.sort_by_key(|row| std::cmp::Reverse(row.sums.time_ns()));
        let seconds = records.iter().map(|record| record.seconds);
        let threads = records.iter().map(|record| record.threads);
        Self {
            program: records[0].program.clone(),
            process: records[0].process,
            count: BTreeSet::from_iter(records.iter().map(|record| record.process)).len(),
            seconds: seconds.fold(0.0, f64::max),
            threads: threads.max().unwrap_or(0),
            in_regions_ns: records.iter().map(|record| record.in_regions_ns).sum(),
            unsplit_ns: waits.iter().map(|row| row.sums.unsplit_ns).sum(),
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
    /// The rank that waits for others clearly less than ranks do on average, if there is one.
    fn least(&self) -> Option<usize> {
        let (ranks, all) = (self.ranks.len() as u64, self.sums.imbalance_ns);
        let least = self.ranks.iter().min_by_key(|of| of.sums.imbalance_ns)?;
        let clear = ranks > 1 && 2 * ranks * least.sums.imbalance_ns < all;
        clear.then_some(least.rank)
    }
}

impl Report {
    fn text(&self, all: bool) -> String {
        let mut text = String::new();
        if self.processes.is_empty() {
            return "corecast: no waits: the program ran no parallel region of an OpenMP runtime that can be reached and no \
                    team of Corecast's, or was killed before it could say\n"
                .to_owned();
        }
        let shown = if all { usize::MAX } else { SHOWN };
        for process in &self.processes {
            let waited = process.imbalance_ns + process.mechanism_ns + process.unsplit_ns;
            let _ = writeln!(
                text,
                "corecast: {}{} ran for {}; {}, together {} in {}, of which\n\
                 waiting {} ({}): for others {} ({}), for {}s {} ({}){}\n",
                match process.count {
                    1 => String::new(),
                    count => format!("{count} processes of "),
                },
                process.program,
                time(process.seconds * 1e9),
                match (process.threads, process.count) {
                    (1, 1) => "one thread".to_owned(),
                    (1, _) => "one thread each".to_owned(),
                    (threads, _) => format!("up to {threads} threads"),
                },
                time(process.in_regions_ns as f64),
                process.whole(),
                time(waited as f64),
                process.share(waited),
                time(process.imbalance_ns as f64),
                process.share(process.imbalance_ns),
                process.mechanism(),
                time(process.mechanism_ns as f64),
                process.share(process.mechanism_ns),
                match process.unsplit_ns {
                    0 => String::new(),
                    rest => format!(
                        ", not split {} ({})",
                        time(rest as f64),
                        process.share(rest)
                    ),
                },
            );
            let _ = writeln!(text, "{}", process.table(shown));
            if let Some(rest) = process.waits.get(shown..).filter(|rest| !rest.is_empty()) {
                let sum: u64 = rest.iter().map(|row| row.sums.time_ns()).sum();
                let _ = writeln!(
                    text,
                    "and {} places more, together {}: -v shows them",
                    rest.len(),
                    time(sum as f64)
                );
            }
        }
        text += match self.processes.iter().any(Process::has_teams) {
            false => {
                "\nfor others: until the last thread has come, so uneven work or a thread without a CPU; barrier: from then \
                 until a thread goes on\n"
            }
            true => {
                "\nfor others: until the last rank has come that the call depends on, so uneven work or a rank without a CPU; \
                 operation: from then until the call returns\n"
            }
        };
        if self
            .processes
            .iter()
            .any(|process| process.names_least(shown))
        {
            text += "waits least: the rank that waits for others less than half as long as ranks do on average, so that often \
                     others wait for it\n";
        }
        if self.processes.iter().any(|process| process.unsplit_ns > 0) {
            text += "not split: operations in flight or failed, those whose arrivals are not known any more, and calls that MPI \
                     ran or that went between hosts\n";
        }
        text
    }
}

impl Process {
    fn has_teams(&self) -> bool {
        self.waits.iter().any(|row| !row.ranks.is_empty())
    }

    /// Where the threads spent the time of which waits are a share.
    fn whole(&self) -> &'static str {
        match self.waits.iter().all(|row| !row.ranks.is_empty()) {
            true => "teams",
            false if self.has_teams() => "regions and teams",
            false => "regions",
        }
    }

    /// What another barrier, or a faster operation, could reduce.
    fn mechanism(&self) -> &'static str {
        match self.has_teams() {
            true => "operation",
            false => "barrier",
        }
    }

    /// Whether one of the first `shown` places has a rank that waits least.
    fn names_least(&self, shown: usize) -> bool {
        let mut rows = self.waits.iter().take(shown);
        rows.any(|row| row.least().is_some())
    }

    fn table(&self, shown: usize) -> Table {
        let whole = format!("of {}", self.whole());
        let header = [
            "where",
            "what",
            "waits",
            "Corecast's",
            "for others",
            self.mechanism(),
            "not split",
            &whole,
            "longest",
            "waits least",
        ];
        let mut table = corecast_draw::table(header, 2..header.len());
        // Only teams have waits that are not split.
        let unsplit = self.waits.iter().any(|row| row.sums.unsplit > 0);
        for row in self.waits.iter().take(shown) {
            table.add_row([
                row.place.words(),
                row.kind.to_string(),
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
                match row.sums.unsplit {
                    0 => "–".to_owned(),
                    _ => time(row.sums.unsplit_ns as f64),
                },
                self.share(row.sums.time_ns()),
                time(row.sums.longest_ns as f64),
                match row.least() {
                    None => "–".to_owned(),
                    Some(rank) => format!("rank {rank}"),
                },
            ]);
        }
        if let Some(column) = table.column_mut(6)
            && !unsplit
        {
            column.set_constraint(ColumnConstraint::Hidden);
        }
        if let Some(column) = table.column_mut(9)
            && !self.names_least(shown)
        {
            column.set_constraint(ColumnConstraint::Hidden);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast::record::{Place, Wait};

    /// The record of a process of one rank that has waited for others for so long.
    fn record(rank: usize, imbalance_ns: u64) -> Record {
        let call = |line, imbalance_ns| Wait {
            place: Place::Call {
                file: "src/solve.rs".into(),
                line,
                column: 5,
                rank,
            },
            kind: Kind::BARRIER,
            sums: Sums::of(true, imbalance_ns, 10),
        };
        Record {
            schema: corecast::record::SCHEMA,
            program: "/bin/solve".into(),
            process: 100 + rank as u32,
            seconds: 1.0,
            threads: 1,
            in_regions_ns: 10_000,
            objects: Vec::new(),
            waits: vec![call(7, imbalance_ns), call(9, 30)],
        }
    }

    #[test]
    fn processes_of_a_program_are_one_table_that_names_who_waits_least() {
        let records = vec![record(0, 900), record(1, 700), record(2, 20)];
        let together = Report::of(records.clone(), true);
        let [all] = &together.processes[..] else {
            panic!("{together:?}");
        };
        let places: Vec<_> = all
            .waits
            .iter()
            .map(|row| (row.sums.times, row.sums.imbalance_ns, row.least()))
            .collect();
        assert_eq!(places, [(3, 1620, Some(2)), (3, 90, None)]);
        assert_eq!((all.in_regions_ns, all.imbalance_ns), (30_000, 1710));
        let text = together.text(false);
        assert!(text.contains("3 processes of /bin/solve"), "{text}");
        assert_eq!(text.matches("solve.rs:7:5").count(), 1, "{text}");
        assert_eq!(text.matches("rank 2").count(), 1, "{text}");
        let each = Report::of(records, false).text(true);
        assert_eq!(each.matches("solve.rs:7:5").count(), 3, "{each}");
        assert!(!each.contains("waits least"), "{each}");
    }
}
