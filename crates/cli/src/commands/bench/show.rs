//! Prints races as tables, in the form of OSU's micro-benchmarks, and as JSON.

use anyhow::Result;
use corecast_bench::comparison::Report;
use corecast_bench::table::{self, Extent};
use corecast_bench::{Comparison, osu, summary};
use corecast_model::Collective;
use corecast_tune::contest::Foreseen;
use serde::Serialize;

use super::algorithms::AlgorithmsArg;
use crate::options::Global;
use crate::output;

/// Several races as `--op all --json` prints them.
#[derive(Serialize)]
struct Reports {
    schema: u32,
    kind: &'static str,
    comparisons: Vec<Row>,
}

/// One race in [`Reports`].
#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    report: Report,
    /// How Corecast's own teams chose.
    algorithms: &'static str,
    /// The machine file that was measured for this race.
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<serde_json::Value>,
}

/// Prints all races, as tables or as JSON.
///
/// # Errors
///
/// The output is closed.
pub(super) fn show(global: &Global, which: AlgorithmsArg, races: &[Foreseen]) -> Result<()> {
    let row = |race: &Foreseen| row(which, race);
    if let (true, [race]) = (global.json, races) {
        return output::json(&row(race)?);
    }
    if global.json {
        return output::json(&Reports {
            schema: corecast_bench::comparison::SCHEMA,
            kind: "comparisons",
            comparisons: races.iter().map(row).collect::<Result<_>>()?,
        });
    }
    let races: Vec<&Comparison> = races.iter().map(|race| &race.comparison).collect();
    let extent = extent(global);
    let tables = races.iter().map(|race| table::render(race, extent));
    let mut tables: Vec<String> = tables.collect();
    for operation in Collective::ALL {
        let of = |race: &&&Comparison| race.task.is_some_and(|task| task.operation == operation);
        let sizes: Vec<&Comparison> = races.iter().filter(of).copied().collect();
        if sizes.len() > 1 {
            tables.push(summary::render(&sizes));
        }
    }
    output::print(&tables.join("\n"))
}

/// Prints all races as OSU's micro-benchmarks do.
///
/// # Errors
///
/// The output is closed.
pub(super) fn show_osu(races: &[Foreseen]) -> Result<()> {
    let mut blocks = Vec::new();
    for operation in Collective::ALL {
        let of = |race: &&Comparison| match race.task {
            Some(task) => task.operation == operation,
            None => race.title == operation.name(),
        };
        let races = races.iter().map(|race| &race.comparison).filter(of);
        let races: Vec<&Comparison> = races.collect();
        if !races.is_empty() {
            blocks.push(osu::render(&races));
        }
    }
    if blocks.is_empty() {
        blocks.extend(races.iter().map(|race| osu::render(&[&race.comparison])));
    }
    output::print(&blocks.join("\n"))
}

fn row(which: AlgorithmsArg, race: &Foreseen) -> Result<Row> {
    let profile = race.profile.as_ref();
    let profile = profile.map(|file| serde_json::from_str(&file.to_json()));
    Ok(Row {
        report: race.comparison.report(),
        algorithms: which.name(),
        profile: profile.transpose()?,
    })
}

/// How much of a race its table shows, by `--verbose`.
pub(crate) fn extent(global: &Global) -> Extent {
    match global.verbose {
        0 => Extent::Best,
        _ => Extent::All,
    }
}
