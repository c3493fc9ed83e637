//! The words of the house: what is not said, and what is said instead.
//!
//! A further word is a further entry of [`WORDS`].

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
    word("communicator", "team", &["docs/glossary.md"]),
    // A test of the refusal of this very word; a peer's own variable.
    word(
        "bcast",
        "broadcast",
        &[
            "crates/plan/src/operation.rs",
            "benches/records/2026-11-22-collectives.md",
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
            !is_of_this_test(path) && !allowed.contains(&path) && line.to_lowercase().contains(word)
        });
        none(
            &format!("\"{word}\" is not our word, say {instead}"),
            offences,
        );
    }
}
