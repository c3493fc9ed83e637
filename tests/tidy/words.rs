//! The words of the house: what is not said, and what is said instead.
//!
//! A further word is a further entry of [`WORDS`], a further name that is no longer used one of [`OLD_NAMES`].

use crate::{files, is_of_this_test, lines, none};

/// A word that is not used.
struct Word {
    /// In small letters; found inside of longer words too.
    word: &'static str,
    /// What to say.
    instead: &'static str,
    /// Files in which it may stand all the same.
    allowed: &'static [&'static str],
}

const fn word(word: &'static str, instead: &'static str, allowed: &'static [&'static str]) -> Word {
    Word {
        word,
        instead,
        allowed,
    }
}

const WORDS: &[Word] = &[
    word(
        "communicator",
        "team",
        &[
            "docs/glossary.md",
            "docs/mpi.md",
            "adapters/mpi/",
            "crates/network/",
        ],
    ),
    // A test of the refusal of this very word; a peer's own variable; MPI's own names.
    word(
        "bcast",
        "broadcast",
        &[
            "crates/plan/src/operation.rs",
            "benches/records/2026-11-22-collectives.md",
            "adapters/mpi/src/",
            "crates/network/src/functions.rs",
            "docs/mpi.md",
            "adapters/mpi/tests/",
        ],
    ),
    word(
        "tree node",
        "member, parent, child, leaf",
        &["docs/glossary.md"],
    ),
    word("hyperthread", "SMT sibling, PU", &[]),
    word("whilst", "while", &[]),
    word("utilize", "use", &[]),
    word("blazing", "a ratio to the floor", &[]),
    word("state-of-the-art", "the peer's name", &[]),
];

#[test]
fn words_are_the_houses_own() {
    let files = files(&[".rs", ".md", ".toml"]);
    for Word {
        word,
        instead,
        allowed,
    } in WORDS
    {
        let offences = lines(&files, |path, line| {
            let may = allowed.iter().any(|begin| path.starts_with(begin));
            !is_of_this_test(path) && !may && line.to_lowercase().contains(word)
        });
        none(
            &format!("\"{word}\" is not our word, say {instead}"),
            offences,
        );
    }
}

/// A name that items of this project had before they took the field's.
struct OldName {
    /// The whole identifier or word, with its case.
    name: &'static str,
    /// The name of today.
    instead: &'static str,
    /// Beginnings of paths in which it may stand: another thing of that name, or a value that programs read.
    allowed: &'static [&'static str],
}

const fn old(
    name: &'static str,
    instead: &'static str,
    allowed: &'static [&'static str],
) -> OldName {
    OldName {
        name,
        instead,
        allowed,
    }
}

/// Records of measurements and the changelog quote the names of their day.
const QUOTING: &[&str] = &["CHANGELOG.md", "benches/records/"];

const OLD_NAMES: &[OldName] = &[
    old("Governor", "WaitStrategy", &[]),
    old("Policy", "WaitConfig", &[]),
    old("Diary", "OpHistory", &[]),
    old("diary", "operation history", &[]),
    old("diaries", "operation histories", &[]),
    old("Outbox", "BounceBuffer", &[]),
    old("outbox", "bounce buffer", &[]),
    old("outboxes", "bounce buffers", &[]),
    old("Shelf", "EagerBuffer", &[]),
    old("shelf", "eager buffer", &[]),
    old("shelves", "eager buffers", &[]),
    old("Desk", "Endpoint", &[]),
    old("desk", "endpoint", &[]),
    old("desks", "endpoints", &[]),
    old("Offer", "Descriptor", &[]),
    old("OFFERS", "DESCRIPTORS", &[]),
    old("Staged", "PipelinedCopy", &[]),
    old(
        "Brackets",
        "ReductionOrder",
        &["crates/collectives/src/scan/"],
    ),
    old("Fragments", "PipelineSegments", &[]),
    old("HostGuard", "RendezvousServer", &[]),
    old("HostGone", "ServerGone", &[]),
    old("Party", "ProcessGroup", &[]),
    old("parties", "process groups", &[]),
    old("FrontError", "SegmentHeaderError", &[]),
    old("Keeper", "PeerMonitor", &[]),
    old("keeper", "peer monitor", &[]),
    old("keepers", "peer monitors", &[]),
    old("founder", "creator", &[]),
    old("founders", "creators", &[]),
    old("Lane", "OpContext", &["crates/draw/"]),
    old("Board", "TeamState", &[]),
    old("Notice", "BroadcastRing", &[]),
    old("NOTICE_SLOTS", "RING_SLOTS", &[]),
    old("NoticeRelaxed", "RingReadRelaxed", &[]),
    old("Tally", "ArrivalCounter", &["adapters/openmp/"]),
    old("tallies", "arrival counters", &["adapters/openmp/"]),
    old("Meeting", "CounterBarrier, SyncBackend", &[]),
    old("Gate", "PhaseBarrier", &[]),
    old("gates", "phase barriers", &[]),
    old("Wish", "Preferences, TuneRequest, PlanRequest", &[]),
    old("WishError", "SelectionError", &[]),
    old("wishes", "requests, preferences", &[]),
    old("Seat", "CpuPlacement, ContextSlot, FiberSlot", &[]),
    old("Homes", "NumaPlacement", &[]),
    // A value that programs read, the name of a setting's column, and the fields that carry them.
    old(
        "crowded",
        "oversubscribed",
        &[
            "crates/bench/src/peers/",
            "crates/bench/src/sized/conditions.rs",
            "crates/corecast/",
            "crates/tune/",
        ],
    ),
    old("CROWDED", "OVERSUBSCRIBED", &[]),
    old("Judge", "SequentialTest, Oracle", &[]),
    old("Menu", "SearchSpace", &[]),
    old("menu", "search space", &[]),
    old("wealth", "martingale", &[]),
    old("Twin", "Reference", &[]),
    old("twins", "references", &[]),
    old("Spoilt", "Corrupt", &[]),
    old("spoilt", "corrupt", &[]),
    old("CalledOff", "Cancelled", &[]),
    old("call_off", "cancel", &[]),
    old("called off", "cancelled", &[]),
    old("run-time", "runtime", &[]),
];

/// Whether `name` stands in `line` by itself, not inside of a longer name.
fn stands_alone(line: &str, name: &str) -> bool {
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(name).any(|(at, _)| {
        !joins(line[..at].chars().next_back()) && !joins(line[at + name.len()..].chars().next())
    })
}

/// The lines of `files` in which the old name stands and may not.
fn offences(files: &[(String, String)], old: &OldName) -> Vec<String> {
    lines(files, |path, line| {
        let may = |begin: &&str| path.starts_with(*begin);
        !is_of_this_test(path)
            && !QUOTING.iter().chain(old.allowed).any(may)
            && stands_alone(line, old.name)
    })
}

#[test]
fn old_names_do_not_come_back() {
    let files = files(&[".rs", ".md", ".toml", ".h"]);
    for old in OLD_NAMES {
        none(
            &format!("\"{}\" is {} now", old.name, old.instead),
            offences(&files, old),
        );
    }
}

#[test]
fn a_seeded_old_name_is_found_wherever_it_may_not_stand() {
    for old in OLD_NAMES {
        let line = format!("let x = ({}, 1);", old.name);
        let longer = format!("let x = (a_{0}, {0}_b, Re{0});", old.name);
        let text = format!("{line}\n{longer}\n");
        let place = |path: &str| vec![(path.to_owned(), text.clone())];
        let found = offences(&place("crates/none/src/lib.rs"), old);
        assert_eq!(found, [format!("crates/none/src/lib.rs:1: {line}")]);
        for begin in QUOTING.iter().chain(old.allowed) {
            assert!(offences(&place(begin), old).is_empty(), "{begin}");
        }
    }
}
