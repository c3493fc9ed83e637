//! The tables of the five papers that Corecast follows, with those that this document does not have and why.

use crate::document::{Content, table};

/// A table of a paper.
pub struct PaperTable {
    /// The first author, and the name of what the paper describes.
    pub paper: &'static str,
    /// Its number.
    pub number: usize,
    /// What it has.
    pub what: &'static str,
    /// Where its figures are in this project.
    pub place: TablePlace,
}

/// Where the figures of a table are.
#[derive(Clone, Copy)]
pub enum TablePlace {
    /// In the section of this document that has the title.
    Section(&'static str),
    /// Not in this document: a test or a page compares them or uses them, as the sentence says.
    Elsewhere {
        /// The file, from the root of the repository.
        file: &'static str,
        /// What it does with them.
        how: &'static str,
    },
    /// Nowhere, for the reason that the sentence says.
    Nowhere(&'static str),
}

use TablePlace::{Elsewhere, Nowhere, Section};

const SMELT: &str = "Kaestle (Smelt)";
const CLA: &str = "Ramos (CLa)";
const TUNING: &str = "Nishtala (tuning)";
const NUMA: &str = "Mallon (NUMA clusters)";
const HOME: &str = "Mencagli (home-forwarding)";

const fn row(
    paper: &'static str,
    number: usize,
    what: &'static str,
    place: TablePlace,
) -> PaperTable {
    PaperTable {
        paper,
        number,
        what,
        place,
    }
}

const EQUATIONS: TablePlace = Elsewhere {
    file: "crates/validation/tests/it/equations/synchronisation.rs",
    how: "holds each equation for both machines",
};

const FITTED: TablePlace = Elsewhere {
    file: "crates/validation/tests/it/cla.rs",
    how: "holds that the simulated machines, which are fitted to them, give them back",
};

const LOADS_AND_STORES: TablePlace = Elsewhere {
    file: "crates/validation/tests/it/sandybridge.rs",
    how: "holds that single loads and stores take as long",
};

const TILES: TablePlace = Elsewhere {
    file: "crates/validation/tests/it/tilepro64.rs",
    how: "holds that single loads and stores take as long",
};

/// All tables, in the order of the papers.
pub const TABLES: &[PaperTable] = &[
    row(SMELT, 1, "the machines", Nowhere("it has no results")),
    row(
        SMELT,
        2,
        "EPCC's OpenMP benchmark",
        Nowhere(
            "pairwise costs of its machines were not published, and OpenMP regions are not simulated; `docs/openmp.md` measures them",
        ),
    ),
    row(
        SMELT,
        3,
        "barriers of 16 to 64 threads",
        Nowhere(
            "pairwise costs of two of its three machines were not published, and of the third without SMT siblings; `docs/larger-machines.md` says how to measure the figure",
        ),
    ),
    row(
        SMELT,
        4,
        "Streamcluster",
        Nowhere("the application is not simulated; `docs/applications.md` measures it"),
    ),
    row(CLA, 1, "transfers of one line", FITTED),
    row(CLA, 2, "contention", FITTED),
    row(CLA, 3, "several lines, Sandy Bridge", FITTED),
    row(CLA, 4, "several lines, Xeon Phi", FITTED),
    row(CLA, 5, "models of many to one", EQUATIONS),
    row(CLA, 6, "models of one to many", EQUATIONS),
    row(TUNING, 1, "the machines", Nowhere("it has no results")),
    row(
        TUNING,
        2,
        "reduction of 8 KiB, loose and strict, by radix",
        Nowhere("costs of its machines were not published; `corecast bench --sync` races both"),
    ),
    row(
        NUMA,
        1,
        "the algorithms",
        Nowhere("it has no results; `docs/algorithms.md` names what runs"),
    ),
    row(
        NUMA,
        2,
        "bandwidth of pull with and without fragments, 128 to 4,096 cores",
        Section("NUMA clusters"),
    ),
    row(HOME, 1, "loads, Intel", LOADS_AND_STORES),
    row(HOME, 2, "loads, TILEPro64", TILES),
    row(HOME, 3, "stores, Intel", LOADS_AND_STORES),
    row(HOME, 4, "stores, TILEPro64", TILES),
    row(
        HOME,
        5,
        "rdy-ack interface",
        Section("Messages on TILEPro64"),
    ),
    row(
        HOME,
        6,
        "farm: service times (speedups follow from them)",
        Section("Farm and map on TILEPro64"),
    ),
    row(
        HOME,
        7,
        "map: service times (speedups follow from them)",
        Section("Farm and map on TILEPro64"),
    ),
];

/// The section of docs/validation.md.
pub fn section() -> Content {
    let (here, absent): (Vec<_>, Vec<_>) = TABLES
        .iter()
        .partition(|table| matches!(table.place, Section(_)));
    let cells = |one: &&PaperTable| {
        let place = match one.place {
            Section(title) => format!("section *{title}*"),
            Elsewhere { file, how } => format!("`{file}` {how}"),
            Nowhere(why) => why.to_owned(),
        };
        [
            one.paper.to_owned(),
            one.number.to_string(),
            one.what.to_owned(),
            place,
        ]
    };
    format!(
        "\
The papers have {} tables, of which this document has {}:

{}
These {} are not in it:

{}",
        TABLES.len(),
        here.len(),
        table(["paper", "table", "what", "where"], here.iter().map(cells)),
        absent.len(),
        table(
            ["paper", "table", "what", "where, or why not"],
            absent.iter().map(cells)
        ),
    )
    .into()
}
