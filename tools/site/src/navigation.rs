//! The pages that the sidebar lists, in order.
//!
//! The links from page to page follow this order. The guide and everything in `docs/` are found in the file system, and
//! a document that no section names is listed at the end, so none is forgotten.

use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::path::Path;

/// The sections after the guide, with their documents.
const SECTIONS: &[(&str, &[&str])] = &[
    (
        "Use",
        &[
            "docs/collectives.md",
            "docs/commands.md",
            "docs/c.md",
            "docs/openmp.md",
            "docs/mpi.md",
            "docs/store.md",
            "docs/waits.md",
            "docs/agreement.md",
            "docs/environment.md",
            "docs/doctor.md",
            "docs/platforms.md",
        ],
    ),
    (
        "Measure",
        &[
            "docs/bench.md",
            "docs/applications.md",
            "docs/probe.md",
            "docs/tuning.md",
            "docs/report.md",
            "docs/larger-machines.md",
            "benches/README.md",
        ],
    ),
    (
        "How it works",
        &[
            "ARCHITECTURE.md",
            "docs/algorithms.md",
            "docs/planner.md",
            "docs/consensus.md",
            "docs/simulator.md",
            "docs/symbolic.md",
            "docs/choices.md",
            "docs/defaults.md",
            "docs/validation.md",
            "docs/glossary.md",
        ],
    ),
    (
        "Project",
        &[
            "CHANGELOG.md",
            "CONTRIBUTING.md",
            "docs/testing.md",
            "SECURITY.md",
        ],
    ),
];

/// A part of the sidebar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// Its documents, by their paths in the repository.
    pub documents: Vec<String>,
}

/// All sections, with the documents that exist.
///
/// # Errors
///
/// `docs/` or `docs/guide/` cannot be read.
pub fn sections(root: &Path) -> Result<Vec<Section>> {
    let mut sections = vec![
        section("Start", ["README.md".to_owned()]),
        section("Guide", markdown_in(root, "docs/guide")?),
    ];
    for (title, documents) in SECTIONS {
        let there = documents.iter().filter(|path| root.join(path).is_file());
        sections.push(section(title, there.map(|&path| path.to_owned())));
    }
    let named: BTreeSet<&str> = SECTIONS.iter().flat_map(|(_, d)| *d).copied().collect();
    let mut others = markdown_in(root, "docs")?;
    others.retain(|path| !named.contains(path.as_str()));
    sections.push(section("More", others));
    sections.retain(|section| !section.documents.is_empty());
    Ok(sections)
}

fn section(title: &str, documents: impl IntoIterator<Item = String>) -> Section {
    Section {
        title: title.to_owned(),
        documents: documents.into_iter().collect(),
    }
}

/// The Markdown files of a folder, by name, `README.md` first.
fn markdown_in(root: &Path, folder: &str) -> Result<Vec<String>> {
    let mut names: Vec<String> = std::fs::read_dir(root.join(folder))
        .with_context(|| format!("{folder} cannot be read below {}", root.display()))?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<_>>()?;
    names.retain(|name| name.ends_with(".md"));
    names.sort_by_key(|name| (name != "README.md", name.clone()));
    Ok(names
        .into_iter()
        .map(|name| format!("{folder}/{name}"))
        .collect())
}
