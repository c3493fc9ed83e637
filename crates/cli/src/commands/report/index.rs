//! Lists all machines whose data are in a folder.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use maud::html;

use super::data::Data;
use super::page::frame;

/// A machine in the list.
pub(super) struct Listed {
    stem: String,
    name: String,
    cpu: String,
    threads: usize,
    races: usize,
    when: String,
}

/// The machines of a folder.
pub(super) struct Folder {
    /// The machines in order of their names.
    pub(super) machines: Vec<Listed>,
    /// Files whose data cannot be read, with the reason.
    pub(super) unusable: Vec<(PathBuf, String)>,
}

/// The machines in `folder`.
///
/// # Errors
///
/// The folder cannot be read.
pub(super) fn listed(folder: &Path) -> Result<Folder> {
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("cannot read folder {folder:?}"))?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    paths.sort();
    let mut found = Folder {
        machines: Vec::new(),
        unusable: Vec::new(),
    };
    for path in paths {
        match Data::read(&path) {
            Ok(data) => found.machines.push(machine(&data)),
            Err(error) => found.unusable.push((path, format!("{error:#}"))),
        }
    }
    found
        .machines
        .sort_by(|a, b| (&a.name, &a.stem).cmp(&(&b.name, &b.stem)));
    Ok(found)
}

fn machine(data: &Data) -> Listed {
    let machine = data.machine.machine();
    Listed {
        stem: data.stem(),
        name: machine.name.clone(),
        cpu: machine.cpu.clone().unwrap_or_default(),
        threads: machine.pus.len(),
        races: data.comparisons.len(),
        when: data.when.clone(),
    }
}

/// The list as HTML.
pub(super) fn draw(machines: &[Listed]) -> String {
    let title = "Corecast: machines";
    let page = frame(
        title,
        &html! {
            header { h1 { (title) } }
            div.wide { table {
                thead { tr { th { "machine" } th { "processor" } th { "hardware threads" } th { "races" } th { "when" } } }
                tbody { @for machine in machines { tr {
                    th scope="row" { a href={ (machine.stem) ".html" } { (machine.name) } }
                    td { (machine.cpu) } td { (machine.threads) } td { (machine.races) } td { (machine.when) }
                } } }
            } }
        },
    );
    page.into_string()
}
