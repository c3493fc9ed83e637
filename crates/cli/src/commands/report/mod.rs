//! `corecast report`: writes the whole comparison on this machine, with its pictures, as a static page.
//!
//! ```text
//! races ──► data (JSON) ──► facts ──► plots (SVG) ──► page (HTML), index
//!              ▲
//!  --from ─────┘
//! ```
//!
//! The folder holds for each machine a self-contained page, its data and its pictures, and an index of all machines
//! whose data are in the folder. `--from` makes a page anew from its data alone.

mod data;
mod facts;
mod index;
mod page;
mod races;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;

use crate::options::Global;
use crate::{failure, output, source};
use data::Data;

/// Arguments of `corecast report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Folder for pages, data and pictures
    #[arg(short, long, value_name = "FOLDER", default_value = "corecast-report")]
    output: PathBuf,

    /// Race nothing: show these data of an earlier report, of whatever machine
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quick", "no_peers", "machine"])]
    from: Vec<PathBuf>,

    /// Few sizes and a fraction of a second for each race: intervals will be wide
    #[arg(long, conflicts_with = "machine")]
    quick: bool,

    /// Corecast and the floor alone
    #[arg(long, conflicts_with = "machine")]
    no_peers: bool,
}

/// The output of `--json`.
#[derive(Serialize)]
struct Written {
    schema: u32,
    /// The page of each machine.
    pages: Vec<PathBuf>,
    /// The list of all machines in the folder.
    index: PathBuf,
}

/// Runs the command.
pub(crate) fn run(global: &Global, args: &ReportArgs) -> Result<ExitCode> {
    let mut all = Vec::new();
    for path in &args.from {
        all.push(Data::read(path)?);
    }
    if all.is_empty() {
        all.push(match &global.machine {
            // Another machine cannot race, but its costs and plans can be shown.
            Some(name) => Data::of_machine(&source::open(Some(name))?, Vec::new()),
            None => {
                let found = races::run(global, args.quick, args.no_peers)?;
                Data::of_machine(&source::open(None)?, found)
            }
        });
    }
    let folder = &args.output;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make folder {folder:?}"))?;
    let mut pages = Vec::new();
    for data in &all {
        pages.push(write(folder, data)?);
    }
    let index = folder.join("index.html");
    let listed = index::listed(folder)?;
    for (path, why) in &listed.unusable {
        failure::warn(&format!(
            "{} is left out of the index: {why}",
            path.display()
        ));
    }
    replace(&index, &index::draw(&listed.machines))?;
    if global.json {
        output::json(&Written {
            schema: 1,
            pages,
            index,
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for page in &pages {
        text.push_str(&format!("{}\n", page.display()));
    }
    let machines = listed.machines.len();
    text.push_str(&format!(
        "{}: {}\n",
        index.display(),
        corecast_model::words::count(machines, "machine")
    ));
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes page, data and pictures of one machine.
fn write(folder: &Path, data: &Data) -> Result<PathBuf> {
    let facts = facts::Facts::of(data)?;
    let stem = data.stem();
    for figure in &facts.figures {
        let name = format!("{stem}-{}.svg", figure.name);
        replace(&folder.join(name), &figure.svg)?;
    }
    replace(&folder.join(format!("{stem}.json")), &data.to_json())?;
    let path = folder.join(format!("{stem}.html"));
    replace(&path, &page::draw(&facts))?;
    Ok(path)
}

fn replace(path: &Path, text: &str) -> Result<()> {
    let Some(name) = path.to_str() else {
        bail!("{path:?} is no text: name a folder in UTF-8");
    };
    output::replace(name, text)
}
