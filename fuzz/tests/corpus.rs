//! Replays the corpus without the fuzzer: every input that was ever interesting.

use std::path::{Path, PathBuf};

use corecast_fuzz::TARGETS;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

#[test]
fn every_input_of_the_corpus_passes() {
    for (name, target) in TARGETS {
        let folder = corpus().join(name);
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{folder:?}: {e}"));
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        assert!(paths.len() >= 10, "{folder:?} has {} files", paths.len());
        for path in paths {
            let bytes = std::fs::read(&path).unwrap();
            if std::panic::catch_unwind(|| target(&bytes)).is_err() {
                panic!("{name} fails on {path:?}");
            }
        }
    }
}

#[test]
fn the_corpus_stays_small() {
    let (mut files, mut bytes) = (0, 0);
    for (name, _) in TARGETS {
        for entry in std::fs::read_dir(corpus().join(name)).unwrap() {
            files += 1;
            bytes += entry.unwrap().metadata().unwrap().len();
        }
    }
    assert!(
        files < 500 && bytes < 1 << 20,
        "{files} files, {bytes} bytes"
    );
}

/// Cut anywhere and with any byte changed: the neighbours of what is known to be interesting.
#[test]
fn neighbours_of_the_corpus_pass() {
    for (name, target) in TARGETS {
        for entry in std::fs::read_dir(corpus().join(name)).unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            let step = (bytes.len() / 4).max(1);
            for at in (0..bytes.len()).step_by(step) {
                target(&bytes[..at]);
                let mut changed = bytes.clone();
                changed[at] ^= 1 << (at % 7);
                target(&changed);
            }
        }
    }
}
