//! Writes docs/validation.md anew: the predictions of the simulator and of the symbolic model, beside measured and
//! published results; and docs/defaults.md: what teams run where nothing was measured, beside the best on simulated machines.
//! Every run writes the same bytes.
//!
//! ```text
//! cargo run --release -p corecast-validation
//! cargo run --release -p corecast-validation -- --check
//! ```
//!
//! The second form writes nothing, and fails where a document differs from what would be written. With `-- --only TITLE` that
//! section alone is written. A section whose references are missing stays as it is, and is a failure where
//! `CORECAST_REQUIRE_REFERENCES` is `1`.
#![forbid(unsafe_code)]

use corecast_validation::defaults;
use corecast_validation::document::{Content, Page, Section};
use corecast_validation::sections::{
    agreement, cla, clusters, farm, here, papers, queueing, smelt, table5,
};
use std::panic::resume_unwind;
use std::path::Path;
use std::process::ExitCode;
use std::thread::{self, ScopedJoinHandle};

/// The sections, in the order of the document. A new section is a module and an entry here.
const SECTIONS: &[Section] = &[
    Section {
        title: "Trees on measured machines",
        make: smelt::section,
    },
    Section {
        title: "Agreement over trees",
        make: agreement::section,
    },
    Section {
        title: "Cache line aware algorithms",
        make: cla::section,
    },
    Section {
        title: "Messages on TILEPro64",
        make: table5::section,
    },
    Section {
        title: "Farm and map on TILEPro64",
        make: farm::section,
    },
    Section {
        title: "NUMA clusters",
        make: clusters::section,
    },
    Section {
        title: "This machine",
        make: here::section,
    },
    Section {
        title: "Queues",
        make: queueing::section,
    },
    Section {
        title: "Tables of the papers",
        make: papers::section,
    },
];

const HEAD: &str = "\
# Validation

What the [simulator](simulator.md) and the [symbolic model](symbolic.md) say, beside what was measured or published.
Written by `cargo run --release -p corecast-validation`; with `-- --check` it says whether this file is
what would be written, which CI does. Each section is a file in `crates/validation/src/sections`.
";

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut arguments = std::env::args().skip(1);
    let (check, only) = match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => (false, None),
        (Some("--check"), None) => (true, None),
        (Some("--only"), Some(title)) if SECTIONS.iter().any(|one| one.title == title) => {
            (false, Some(title))
        }
        (Some(other), _) => {
            eprintln!(
                "{other:?} is not known: nothing writes docs/validation.md and docs/defaults.md, --only TITLE one section of the first, --check compares both"
            );
            return ExitCode::from(2);
        }
    };
    // The first thing that runs, since the peak of memory only grows.
    if let Some(kib) = clusters::kib_of_a_rank()
        && kib > clusters::KIB_OF_A_RANK_MAX
    {
        eprintln!("4,096 simulated ranks take {kib} KiB each: at most 64 are allowed");
        return ExitCode::FAILURE;
    }
    let required = std::env::var("CORECAST_REQUIRE_REFERENCES").is_ok_and(|value| value == "1");
    let old = std::fs::read_to_string(folder.join("validation.md")).unwrap_or_default();
    let mut page = Page::new(HEAD, &old);
    let chosen = |title| only.as_ref().is_none_or(|only| only == title);
    // Side by side, since most of them run one thread.
    let (contents, defaults) = thread::scope(|scope| {
        let defaults = only.is_none().then(|| scope.spawn(defaults::report));
        let make = |section: &Section| chosen(section.title).then(|| scope.spawn(section.make));
        let made: Vec<_> = SECTIONS.iter().map(make).collect();
        let contents: Vec<_> = made.into_iter().map(|one| one.map(of)).collect();
        (contents, defaults.map(of))
    });
    for (section, content) in SECTIONS.iter().zip(contents) {
        match content {
            None => page.keep(section.title),
            Some(Content::Made { text, pictures }) => page.add(section.title, &text, pictures),
            Some(Content::Skipped { why }) if required => {
                eprintln!(
                    "CORECAST_REQUIRE_REFERENCES is set: {}: {why}",
                    section.title
                );
                return ExitCode::FAILURE;
            }
            Some(Content::Skipped { why }) => {
                println!("SKIPPED: {}: {why}", section.title);
                page.keep(section.title);
            }
        }
    }
    if let Some(text) = defaults {
        page.add_beside("defaults.md", text);
    }
    match page.flush(&folder, check) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// What a thread has made; its panic goes on here.
fn of<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}
