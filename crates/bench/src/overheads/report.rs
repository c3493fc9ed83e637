//! Overheads as a table and as JSON.

use super::{Construct, DELAY_NS};
use crate::comparison::{Comparison, Entry, Status};
use crate::engine::Role;
use crate::stats::{Interval, Ratio, Summary, paired_ratio};
use crate::table::{align, known, places, range, with_interval};
use corecast_model::words::digits;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Version of [`Report`]. It rises when a field changes meaning or goes away.
pub const SCHEMA: u32 = 1;

/// Standard deviations from the mean beyond which EPCC counts a round as an outlier.
const OUTLIER: f64 = 3.0;

/// All constructs that were raced. Times are nanoseconds per construct.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Always `overheads`.
    pub kind: String,
    /// Nominal length of a delay.
    pub delay_ns: u64,
    /// Number of ranks.
    pub ranks: usize,
    /// Where the ranks ran.
    #[serde(rename = "seats")]
    pub placements: String,
    /// Whether ranks had to share PUs.
    pub oversubscribed: bool,
    /// One per construct.
    pub constructs: Vec<Table>,
    /// Notes for the reader on all constructs.
    pub notes: Vec<String>,
}

/// The outcome of one construct.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The construct.
    pub construct: Construct,
    /// Time of the bare delay.
    pub reference_ns: Option<Summary>,
    /// Rounds, EPCC's outer repetitions.
    pub rounds: usize,
    /// Name and setting of the peer with the least median overhead.
    pub best_peer: Option<(String, String)>,
    /// One per entrant.
    pub entries: Vec<Overhead>,
    /// Notes for the reader on this construct.
    pub notes: Vec<String>,
}

/// The outcome of one entrant of a construct.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overhead {
    /// Name.
    pub name: String,
    /// Role of the entrant.
    pub role: Role,
    /// How it was set up.
    pub setting: String,
    /// `timed`, `skipped` or `failed`.
    pub status: String,
    /// Why it was skipped or failed.
    pub reason: Option<String>,
    /// Mean overhead, as EPCC reports it.
    pub mean_ns: Option<f64>,
    /// Its standard deviation over the rounds.
    pub sd_ns: Option<f64>,
    /// Rounds further from the mean than three standard deviations.
    pub outliers: usize,
    /// Median overhead.
    pub median_ns: Option<f64>,
    /// Its 95 % interval.
    pub interval_ns: Option<Interval>,
    /// Ratio to the overhead of the best peer, over the rounds in which the latter is positive.
    pub ratio_to_best_peer: Option<Ratio>,
}

impl Overhead {
    /// The outcome of an entrant with these overheads by round.
    fn of(entry: &Entry, overheads: &[Option<f64>]) -> Overhead {
        let all: Vec<f64> = overheads.iter().flatten().copied().collect();
        let mean = mean(&all);
        let sd = mean.and_then(|mean| deviation(&all, mean));
        let far = |x: &&f64| {
            mean.zip(sd)
                .is_some_and(|(m, sd)| (**x - m).abs() > OUTLIER * sd)
        };
        let summary = Summary::of(&all);
        Overhead {
            name: entry.name.clone(),
            role: entry.role,
            setting: entry.setting.clone(),
            status: entry.status.word_at_end().to_owned(),
            reason: entry.status.reason().map(str::to_owned),
            mean_ns: mean,
            sd_ns: sd,
            outliers: all.iter().filter(far).count(),
            median_ns: summary.map(|s| s.median),
            interval_ns: summary.map(|s| s.interval),
            ratio_to_best_peer: None,
        }
    }
}

fn mean(all: &[f64]) -> Option<f64> {
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

fn deviation(all: &[f64], mean: f64) -> Option<f64> {
    let squares: f64 = all.iter().map(|x| (x - mean).powi(2)).sum();
    (all.len() > 1).then(|| (squares / (all.len() - 1) as f64).sqrt())
}

/// Overheads by round: times less the reference of the same round. A program has replaced its own
/// reference by the nominal length, which is subtracted here.
fn overheads(entry: &Entry, reference: &Entry) -> Vec<Option<f64>> {
    if entry.status != Status::Timed {
        return Vec::new();
    }
    let program = entry.batch == 0;
    let rounds = entry.samples.iter().zip(&reference.samples);
    rounds
        .map(|(time, reference)| match program {
            true => time.map(|time| time - DELAY_NS as f64),
            false => time
                .zip(*reference)
                .map(|(time, reference)| time - reference),
        })
        .collect()
}

impl Table {
    /// The overheads of a race of `construct`, whose first entry is the reference.
    ///
    /// # Panics
    ///
    /// If there is no entry.
    pub fn of(construct: Construct, race: &Comparison) -> Table {
        let (reference, entries) = race.entries.split_first().expect("a reference");
        let rounds: Vec<_> = entries.iter().map(|e| overheads(e, reference)).collect();
        let mut all: Vec<Overhead> = entries
            .iter()
            .zip(&rounds)
            .map(|(entry, rounds)| Overhead::of(entry, rounds))
            .collect();
        let peers = (0..all.len()).filter(|&at| all[at].role == Role::Peer);
        let best = peers
            .filter_map(|at| Some((at, all[at].median_ns?)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(at, _)| at);
        if let Some(best) = best {
            let some = |x: &Option<f64>| x.filter(|&x| x > 0.0);
            let base: Vec<Option<f64>> = rounds[best].iter().map(some).collect();
            for (overhead, rounds) in all.iter_mut().zip(&rounds) {
                if rounds.len() == base.len() {
                    overhead.ratio_to_best_peer = paired_ratio(rounds, &base);
                }
            }
        }
        Table {
            construct,
            reference_ns: reference.summary(),
            rounds: race.rounds,
            best_peer: best.map(|at| (all[at].name.clone(), all[at].setting.clone())),
            entries: all,
            notes: race.notes.clone(),
        }
    }

    /// The entry of `name` with the least median: its best setting.
    fn best(&self, name: &str) -> Option<&Overhead> {
        let entries = self.entries.iter().filter(|e| e.name == name);
        let timed = entries.filter_map(|e| Some((e.median_ns?, e)));
        timed.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, e)| e)
    }
}

impl Report {
    /// The report of all constructs, raced on the same placements.
    ///
    /// # Panics
    ///
    /// If there is no race.
    pub fn of(races: &[(Construct, Comparison)]) -> Report {
        let (_, first) = races.first().expect("a construct");
        Report {
            schema: SCHEMA,
            kind: "overheads".to_owned(),
            delay_ns: DELAY_NS,
            ranks: first.ranks,
            placements: first.placements.clone(),
            oversubscribed: first.oversubscribed,
            constructs: races.iter().map(|(c, race)| Table::of(*c, race)).collect(),
            notes: Vec::new(),
        }
    }

    /// Adds a note for the reader.
    pub fn say(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Renders a table with median and standard deviation of every entrant, each at its best setting
    /// for the construct, and the ratio of Corecast's best to the best peer. With `every`, tables of
    /// all settings follow, with means, which one bad round in a hundred moves far.
    pub fn render(&self, every: bool) -> String {
        let mut names: Vec<&str> = Vec::new();
        for entry in self.constructs.iter().flat_map(|table| &table.entries) {
            if !names.contains(&entry.name.as_str()) {
                names.push(&entry.name);
            }
        }
        let header = self.constructs.iter().map(|t| t.construct.to_string());
        let header = ["name".to_owned()].into_iter().chain(header);
        let mut rows: Vec<Vec<String>> = vec![header.chain([String::new()]).collect()];
        for name in names {
            let cells = self.constructs.iter().map(|table| cell(table.best(name)));
            let row = [name.to_owned()].into_iter().chain(cells);
            rows.push(row.chain([String::new()]).collect());
        }
        let ratios = self.constructs.iter().map(|table| {
            let own = table.entries.iter().filter(|e| e.role == Role::Corecast);
            let own = own.filter_map(|e| Some((e.median_ns?, e.ratio_to_best_peer?)));
            let best = own.min_by(|a, b| a.0.total_cmp(&b.0));
            known(best.map(|(_, ratio)| ratio), with_interval)
        });
        let ratios = ["corecast / best peer".to_owned()]
            .into_iter()
            .chain(ratios);
        rows.push(ratios.chain([String::new()]).collect());
        let mut text = String::new();
        let _ = writeln!(
            text,
            "overheads: {} ranks on {}, around delays of {} ns; median (standard deviation) in ns, each at its best setting",
            self.ranks,
            places(&self.placements, self.oversubscribed),
            self.delay_ns,
        );
        align(&mut text, &rows);
        for table in &self.constructs {
            if let Some((name, setting)) = &table.best_peer {
                let _ = writeln!(text, "best peer of {}: {name} ({setting})", table.construct);
            }
        }
        if every {
            self.settings(&mut text);
        }
        for table in &self.constructs {
            for entry in &table.entries {
                if let Some(reason) = &entry.reason {
                    let word = entry.status.to_uppercase();
                    let (name, construct) = (&entry.name, table.construct);
                    let _ = writeln!(text, "{word} {name}, {construct}: {reason}");
                }
            }
            for note in &table.notes {
                let _ = writeln!(text, "note, {}: {note}", table.construct);
            }
        }
        for note in &self.notes {
            let _ = writeln!(text, "note: {note}");
        }
        text
    }

    /// Appends a table of every setting for each construct.
    fn settings(&self, text: &mut String) {
        for table in &self.constructs {
            let header = [table.construct.name(), "mean", "sd", "outliers", "median"];
            let header = header
                .into_iter()
                .chain(["95 % interval", "/ best peer", "setting"]);
            let mut rows: Vec<Vec<String>> = vec![header.map(str::to_owned).collect()];
            for entry in &table.entries {
                rows.push(vec![
                    entry.name.clone(),
                    known(entry.mean_ns, signed),
                    known(entry.sd_ns, signed),
                    entry.outliers.to_string(),
                    known(entry.median_ns, signed),
                    known(entry.interval_ns, |interval| range(interval, signed)),
                    known(entry.ratio_to_best_peer, with_interval),
                    entry.setting.clone(),
                ]);
            }
            text.push('\n');
            align(text, &rows);
        }
    }
}

fn cell(entry: Option<&Overhead>) -> String {
    let found = entry.and_then(|entry| Some((entry.median_ns?, entry.sd_ns?)));
    known(found, |(median, sd)| {
        format!("{} ({})", signed(median), digits(sd))
    })
}

/// A number with its sign: an overhead is negative if the reference was slow in its round.
fn signed(x: f64) -> String {
    match x < 0.0 {
        true => format!("-{}", digits(-x)),
        false => digits(x),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::made;

    fn entry(name: &str, role: Role, batch: u64, samples: &[f64]) -> Entry {
        Entry {
            batch,
            ..made::entry(name, role, samples)
        }
    }

    fn race() -> Comparison {
        made::comparison(vec![
            entry("reference", Role::Floor, 9, &[100.0, 200.0, 110.0]),
            entry("corecast", Role::Corecast, 9, &[150.0, 260.0, 150.0]),
            entry("std", Role::Peer, 9, &[300.0, 400.0, 310.0]),
            entry("gomp", Role::Peer, 0, &[200.0, 220.0, 180.0]),
        ])
    }

    #[test]
    fn overheads_are_what_is_left_of_the_same_round() {
        let table = Table::of(Construct::Barrier, &race());
        let [own, std, gomp] = &table.entries[..] else {
            panic!("{table:?}");
        };
        // The overheads are 50, 60 and 40 ns.
        assert_eq!((own.mean_ns, own.sd_ns), (Some(50.0), Some(10.0)));
        assert_eq!((own.median_ns, own.outliers), (Some(50.0), 0));
        // The slow round was slow for the reference too.
        assert_eq!((std.mean_ns, std.sd_ns), (Some(200.0), Some(0.0)));
        // A program has replaced its own reference by 100 ns.
        assert_eq!((gomp.mean_ns, gomp.median_ns), (Some(100.0), Some(100.0)));
        assert_eq!(table.best_peer, Some(("gomp".to_owned(), String::new())));
        // 50 / 100, 60 / 120, 40 / 80.
        assert_eq!(own.ratio_to_best_peer.unwrap().median, 0.5);
    }

    #[test]
    fn rounds_far_from_the_mean_are_counted() {
        let mut samples = vec![10.0; 40];
        samples[7] = 1000.0;
        let entry = entry("x", Role::Peer, 1, &[]);
        let rounds: Vec<_> = samples.into_iter().map(Some).collect();
        assert_eq!(Overhead::of(&entry, &rounds).outliers, 1);
        assert_eq!(Overhead::of(&entry, &[]).mean_ns, None);
    }

    #[test]
    fn tables_have_a_column_for_each_construct() {
        let mut failed = race();
        failed.entries[2].status = Status::Failed("hangs".to_owned());
        let report = Report::of(&[(Construct::Barrier, race()), (Construct::Single, failed)]);
        let text = report.render(false);
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        assert_eq!(
            lines[1..6],
            [
                "name                            barrier             single",
                "corecast                    50.0 (10.0)        50.0 (10.0)",
                "std                          200 (0.00)                  -",
                "gomp                         100 (20.0)         100 (20.0)",
                "corecast / best peer  0.50 (0.50..0.50)  0.50 (0.50..0.50)",
            ],
            "{text}"
        );
        assert!(text.contains("FAILED std, single: hangs"), "{text}");
        assert!(report.render(true).contains("95 % interval"));
        let json = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
    }
}
