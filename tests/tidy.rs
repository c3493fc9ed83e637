//! The house rules that a program can check.
//!
//! Built as a test of the façade crate; looks at every tracked kind of file in the workspace. The rules that
//! take more than a look at lines are in `tests/tidy/`:
//!
//! | file | what it holds the tree to |
//! | --- | --- |
//! | `words.rs` | the words of the house |
//! | `circles.rs` | inside a crate no two files import each other in a circle |
//! | `layers.rs` | arrows between packages go down only, and the map names them all |

#[path = "tidy/circles.rs"]
mod circles;
#[path = "tidy/imports.rs"]
mod imports;
#[path = "tidy/layers.rs"]
mod layers;
#[path = "tidy/members.rs"]
mod members;
#[path = "tidy/modules.rs"]
mod modules;
#[path = "tidy/small_trees.rs"]
mod small_trees;
#[path = "tidy/words.rs"]
mod words;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The workspace's folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// All files with one of the endings, with their text, by path relative to the root.
fn files(endings: &[&str]) -> Vec<(String, String)> {
    let root = root();
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if !name.starts_with("target") && name != ".git" {
                    folders.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                let text = fs::read_to_string(&path).unwrap();
                let relative = path
                    .strip_prefix(&root)
                    .unwrap()
                    .to_string_lossy()
                    .into_owned();
                found.push((relative, text));
            }
        }
    }
    assert!(found.len() > 5, "too few files below {}", root.display());
    found
}

/// Fails with one line per offence.
#[track_caller]
fn none(rule: &str, offences: Vec<String>) {
    assert!(offences.is_empty(), "{rule}:\n  {}", offences.join("\n  "));
}

/// Places where `bad` holds for a line, as `path:line: text`.
fn lines(files: &[(String, String)], bad: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let mut places = Vec::new();
    for (path, text) in files {
        for (number, line) in text.lines().enumerate() {
            if bad(path, line) {
                places.push(format!("{path}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    places
}

/// The files of this test name what they forbid.
fn is_of_this_test(path: &str) -> bool {
    path == "tests/tidy.rs" || path.starts_with("tests/tidy/")
}

#[test]
fn nothing_is_left_undone() {
    let marks = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("X", "XX"),
        concat!("to", "do!("),
        concat!("unimple", "mented!("),
        concat!("dbg", "!("),
    ];
    let files = files(&[".rs", ".md", ".c", ".cpp", "run"]);
    let offences = lines(&files, |path, line| {
        !is_of_this_test(path) && marks.iter().any(|mark| line.contains(mark))
    });
    none("finish it or file it", offences);
}

#[test]
fn files_are_of_a_size_to_be_read() {
    let offences = files(&[".rs"])
        .into_iter()
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines > 800)
        .map(|(path, lines)| format!("{path}: {lines} lines"))
        .collect();
    none("over 800 lines: more than one idea", offences);
}

#[test]
fn atomics_come_from_the_facade_of_wire() {
    let allowed = |path: &str| {
        path == "crates/wire/src/sync.rs"
            || path == "crates/wire/src/sync/mutant.rs"
            || path == "crates/wire/src/sync/simulated.rs"
            || path == "crates/wire/src/segment.rs"
            || path == "crates/wire/src/fence.rs"
            || path == "crates/wire/src/futex.rs"
            || path.starts_with("crates/bench/")
            // Loaded into programs of others; no wire is in there.
            || path.starts_with("adapters/")
            || path.contains("/tests/")
            || path.contains("/examples/")
            || path.starts_with("benches/")
            || is_of_this_test(path)
    };
    let offences = lines(&files(&[".rs"]), |path, line| {
        let code = line.trim_start();
        !allowed(path) && !code.starts_with("//") && line.contains("sync::atomic")
    });
    none("take atomics from crates/wire/src/sync.rs", offences);
}

#[test]
fn unsafe_code_says_why_it_may() {
    let forms = ["{", "impl", "fn", "trait", "extern"].map(|form| format!("unsafe {form}"));
    let mut offences = Vec::new();
    for (path, text) in files(&[".rs"]) {
        let all: Vec<&str> = text.lines().collect();
        for (number, line) in all.iter().enumerate() {
            let code = line.split("//").next().unwrap();
            // A type of functions promises nothing yet.
            let code = code.replace("unsafe extern \"C-unwind\" fn(", "fn(");
            let code = code.replace("unsafe extern \"C\" fn(", "fn(");
            let is_unsafe = forms.iter().any(|form| code.contains(form.as_str()));
            let near = all[number.saturating_sub(8)..=number].join("\n");
            if is_unsafe
                && !near.contains("SAFETY")
                && !near.contains("# Safety")
                && !is_of_this_test(&path)
            {
                offences.push(format!("{path}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    none("unsafe without a SAFETY note", offences);
}

#[test]
fn unsafe_code_keeps_to_its_rooms() {
    let rooms = [
        "crates/wire/",
        "crates/transfer/",
        "crates/bench/",
        "crates/network/",
    ];
    let mut offences = Vec::new();
    for (path, text) in files(&["lib.rs", "main.rs"]) {
        let is_crate = path.starts_with("crates/") && path.matches('/').count() == 3;
        let exempt = rooms.iter().any(|room| path.starts_with(room));
        if is_crate && !exempt && !text.contains("#![forbid(unsafe_code)]") {
            offences.push(path);
        }
    }
    none("crate without #![forbid(unsafe_code)]", offences);
}

#[test]
fn links_in_documents_lead_somewhere() {
    let root = root();
    let mut offences = Vec::new();
    for (path, text) in files(&[".md"]) {
        let folder = root.join(&path).parent().unwrap().to_owned();
        for part in text.split("](").skip(1) {
            let target = part.split([')', '#', ' ']).next().unwrap();
            let local =
                !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:");
            if local && !folder.join(target).exists() {
                offences.push(format!("{path}: {target}"));
            }
        }
    }
    none("dead links", offences);
}

#[test]
fn files_that_documents_name_are_there() {
    let root = root();
    let rooms = [
        "adapters/",
        "benches/",
        "bindings/",
        "crates/",
        "docs/",
        "fuzz/",
        "tools/",
    ];
    let is_path = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let mut offences = Vec::new();
    for (path, text) in files(&[".md"]) {
        // What was there when a change was made, or a measurement.
        if path == "CHANGELOG.md" || path.starts_with("benches/records/") {
            continue;
        }
        for name in text.split('`').filter(|word| word.chars().all(is_path)) {
            let ours = rooms.iter().any(|room| name.starts_with(room));
            if ours && !root.join(name).exists() {
                offences.push(format!("{path}: {name}"));
            }
        }
    }
    none("no such file", offences);
}

#[test]
fn no_text_knows_the_machine_that_it_was_written_on() {
    let homes = ["home", "root", "Users"].map(|folder| format!("/{folder}/"));
    let files = files(&[".rs", ".md", ".toml", ".c", ".cpp", ".json", "run"]);
    let offences = lines(&files, |path, line| {
        !is_of_this_test(path) && homes.iter().any(|home| line.contains(home.as_str()))
    });
    none("paths of somebody's machine", offences);
}

/// The names of settings in a text.
fn settings(text: &str) -> impl Iterator<Item = String> {
    let name = |rest: &str| {
        let end = rest.find(|c: char| !c.is_ascii_uppercase() && c != '_');
        rest[..end.unwrap_or(rest.len())].to_owned()
    };
    let rests = text.split("CORECAST_").skip(1);
    let names = rests.map(name).filter(|name| !name.is_empty());
    names.collect::<Vec<_>>().into_iter()
}

#[test]
fn every_setting_by_environment_is_documented() {
    let document = fs::read_to_string(root().join("docs/environment.md")).unwrap();
    let named: BTreeSet<String> = settings(&document).collect();
    // As words in quotes, or in front of a command, they are read or set.
    let used = |text: &str| {
        let words = text.split(|c: char| c == '"' || c.is_whitespace());
        let words = words.filter(|word| word.starts_with("CORECAST_"));
        words
            .flat_map(|word| settings(word).next())
            .collect::<Vec<_>>()
    };
    let all: Vec<_> = files(&[".rs", "run"]);
    let all = all.into_iter().filter(|(path, _)| !is_of_this_test(path));
    let (ours, theirs): (Vec<_>, Vec<_>) =
        all.partition(|(path, _)| path.contains("/src/") || path.starts_with(".ci/"));
    let ours: BTreeSet<String> = ours.iter().flat_map(|(_, text)| used(text)).collect();
    let theirs = theirs.iter().flat_map(|(_, text)| used(text)).collect();
    let missing = ours.difference(&named).cloned().collect();
    none("settings that docs/environment.md does not name", missing);
    let unused = &(&named - &ours) - &theirs;
    let unused = unused.into_iter().collect();
    none("settings in docs/environment.md that nobody reads", unused);
}
